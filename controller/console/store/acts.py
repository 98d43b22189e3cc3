"""What was ordered of whole areas, kept over a restart: which tables were meant, and by whom."""

from typing import Any, Final

import msgspec
from sqlalchemy import Engine, insert, select

from controller.console.store.tables import AREA_ACTION_LOG


class LoggedAreaAction(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that an area's tables were to do: the command, and its order's id by table.

    `unheard`: tables of the area whose present was not known and that were not meant by their last
    word, if there was one: nothing was sent there.
    `at_ms`: when, by the console's clock.
    """

    id: str
    area: str
    act: str
    cmd: str
    args: dict[str, Any] = {}
    person: str
    at_ms: int
    orders: dict[str, str]
    unheard: tuple[str, ...] = ()


class AreaActionLog:
    """All of them. Every call is one transaction, and may block."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def write(self, act: LoggedAreaAction) -> None:
        """Write one down before its first order is sent; its id must be new."""
        row = {"id": act.id, "at_ms": act.at_ms, "body": msgspec.json.encode(act)}
        with self._engine.begin() as base:
            base.execute(insert(AREA_ACTION_LOG).values(row))

    def find(self, action_id: str) -> LoggedAreaAction | None:
        """Return the one of an id; None where there was none."""
        with self._engine.connect() as base:
            body = base.scalar(
                select(AREA_ACTION_LOG.c.body).where(AREA_ACTION_LOG.c.id == action_id)
            )
        return None if body is None else _ACTION_DECODER.decode(body)

    def newest(self, limit: int) -> list[LoggedAreaAction]:
        """Return so many at most, the newest first."""
        asked = (
            select(AREA_ACTION_LOG.c.body)
            .order_by(AREA_ACTION_LOG.c.at_ms.desc(), AREA_ACTION_LOG.c.id)
            .limit(limit)
        )
        with self._engine.connect() as base:
            return [_ACTION_DECODER.decode(body) for body in base.scalars(asked)]


_ACTION_DECODER: Final = msgspec.json.Decoder(LoggedAreaAction)
