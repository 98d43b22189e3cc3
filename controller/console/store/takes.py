"""Who goes to which table, kept over a restart, so that it calls nobody twice."""

from sqlalchemy import Engine, delete, insert, select

from controller.console.store.tables import CALL_ASSIGNMENTS


class AssignmentStore:
    """Who went where, in the database. Calls may block."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def load(self) -> dict[str, str]:
        """Return who goes, by table."""
        with self._engine.connect() as base:
            return {row.table_id: row.person for row in base.execute(select(CALL_ASSIGNMENTS))}

    def write(self, table: str, person: str | None, at_ms: int) -> None:
        """Write who goes to a table now; None: nobody."""
        with self._engine.begin() as base:
            base.execute(delete(CALL_ASSIGNMENTS).where(CALL_ASSIGNMENTS.c.table_id == table))
            if person is not None:
                row = {"table_id": table, "person": person, "at_ms": at_ms}
                base.execute(insert(CALL_ASSIGNMENTS).values(row))
