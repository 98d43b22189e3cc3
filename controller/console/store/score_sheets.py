"""Stored score sheets: a signed sheet stays readable after its table is removed."""

from collections.abc import Callable
from typing import Any, Final

import msgspec
from sqlalchemy import ColumnElement, Engine, Row, delete, select
from sqlalchemy.exc import SQLAlchemyError

from controller.console.store.database import StoreError, dialect_insert
from controller.console.store.database_schema import SHEETS
from controller.sheet.form import ScoreSheet

MAX_LISTED_MATCHES: Final = 1_000
"""The most matches in a list: more than a day of a large hall."""


class StoredSheet(msgspec.Struct, frozen=True, kw_only=True):
    """A sheet as stored at `kept_ms` (milliseconds since 1970), with `signed` signatures."""

    table: str
    sheet: ScoreSheet
    signed: int
    kept_ms: int


class ScoreSheetStore:
    """The stored sheets. Every call is one transaction, and may block."""

    def __init__(self, engine: Engine, now_ms: Callable[[], int]) -> None:
        self._engine, self._now_ms = engine, now_ms
        self._insert = dialect_insert(engine)(SHEETS).on_conflict_do_nothing()

    def write(self, sheet: ScoreSheet) -> bool:
        """Store a sheet, unless its version is stored with as many signatures. Return whether it
        was stored.

        A sheet without signatures is no evidence yet, so a newer unsigned sheet replaces it. Raises
        StoreError.
        """
        row = {
            "table_id": sheet.table,
            "match_id": sheet.match,
            "start_ms": sheet.start_ms or 0,
            "version": sheet.version,
            "signed": signature_count(sheet),
            "state": sheet.state,
            "event": sheet.event,
            "round": sheet.round,
            "match_no": sheet.match_no,
            "table_no": sheet.table_no,
            "at_ms": self._now_ms(),
            "body": msgspec.json.encode(sheet),
        }
        try:
            with self._engine.begin() as base:
                if not row["signed"]:
                    base.execute(delete(SHEETS).where(*_has_key_of(row)))
                return bool(base.execute(self._insert.returning(SHEETS.c.signed), [row]).all())
        # OverflowError: a number that is too large for the database.
        except (SQLAlchemyError, OverflowError) as error:
            raise StoreError(str(error).partition("\n")[0]) from None

    def newest(self, event: str | None = None) -> list[StoredSheet]:
        """Return the last sheet of each match. The match that was written last comes first."""
        asked = select(SHEETS).order_by(SHEETS.c.at_ms.desc(), SHEETS.c.signed.desc())
        if event is not None:
            asked = asked.where(SHEETS.c.event == event)
        found: dict[tuple[str, str, int], StoredSheet] = {}
        with self._engine.connect() as base:
            for row in base.execute(asked):
                key = row.table_id, row.match_id, row.start_ms
                if key not in found:
                    found[key] = _stored_sheet(row)
                if len(found) == MAX_LISTED_MATCHES:
                    break
        return list(found.values())

    def versions_of(self, match: str, table: str | None = None) -> list[StoredSheet]:
        """Return every sheet of a match, the oldest first. A match may have been at two tables."""
        named: list[ColumnElement[bool]] = [SHEETS.c.match_id == match]
        if table is not None:
            named.append(SHEETS.c.table_id == table)
        asked = (
            select(SHEETS)
            .where(*named)
            .order_by(SHEETS.c.start_ms, SHEETS.c.version, SHEETS.c.signed, SHEETS.c.at_ms)
        )
        with self._engine.connect() as base:
            return [_stored_sheet(row) for row in base.execute(asked)]


def _has_key_of(row: dict[str, Any]) -> list[ColumnElement[bool]]:
    return [column == row[column.name] for column in SHEETS.primary_key.columns]


def signature_count(sheet: ScoreSheet) -> int:
    """Return the number of signatures on the sheet's present version."""
    return sum(line.person is not None for line in sheet.signatures)


def _stored_sheet(row: Row[Any]) -> StoredSheet:
    return StoredSheet(
        table=row.table_id,
        sheet=_SHEET_DECODER.decode(row.body),
        signed=row.signed,
        kept_ms=row.at_ms,
    )


_SHEET_DECODER: Final = msgspec.json.Decoder(ScoreSheet)
