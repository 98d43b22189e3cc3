"""Storage of score sheets. A sheet is stored when its match ends, and again when it changes.

A table has the sheet only as long as it has the match. The console requests the sheet when the
table's state shows a new version, and stores it for later.
"""

import asyncio
from typing import Final

import msgspec

from controller.console.commands.command_dispatcher import CommandDispatcher
from controller.console.request_error import RequestError
from controller.console.store.database import StoreError
from controller.console.store.match_records import ScoreSheetStore
from controller.console.table_snapshots import RunBlocking, Tables, Unsubscribe
from controller.console.view.sheet_page import with_wall_times
from controller.host.loggers import structlog
from controller.sheet.form import ScoreSheet

RETRY_INTERVAL_S: Final = 5.0
"""Seconds until the next request to a table that did not answer."""
_NO_SHEET: Final = "NO_MATCH"
"""The error code of a table without a match."""

_log = structlog.get_logger("console")

SheetVersion = tuple[object, ...]
"""The values that differ between two versions of a sheet."""


class SheetKeeper:
    """A service that requests each finished match's sheet from the table, and stores the sheet.

    `write` runs the calls that store a sheet.
    """

    def __init__(
        self,
        tables: Tables,
        dispatcher: CommandDispatcher,
        sheets: ScoreSheetStore,
        write: RunBlocking,
    ) -> None:
        self._tables, self._dispatcher = tables, dispatcher
        self._sheets, self._write = sheets, write
        self._wanted: dict[str, SheetVersion] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._unsubscribe: Unsubscribe = lambda: None

    def start(self) -> None:
        """Check each table for a finished match, now and after each change of the table."""
        self._unsubscribe = self._tables.on_change(self._check_table)
        for table in self._tables.ids:
            self._check_table(table)

    async def close(self) -> None:
        """Cancel all requests for sheets. The next start of the console repeats them."""
        self._unsubscribe()
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _check_table(self, table: str) -> None:
        try:
            state = self._tables.snapshot(table).state
        except KeyError:  # The table does not belong to the console any more.
            self._wanted.pop(table, None)
            return
        match = None if state is None else state.match
        if match is None or match.verdict is None or match.match is None:
            return
        decided = tuple((one.id, one.state) for one in match.rulings)
        mark: SheetVersion = (match.match, match.start_ms, match.version, len(match.signed))
        mark += (match.verdict, decided)
        if self._wanted.get(table) == mark:
            return
        self._wanted[table] = mark
        if table not in self._tasks:
            self._tasks[table] = asyncio.create_task(self._keep_current(table))

    async def _keep_current(self, table: str) -> None:
        """Request a table's sheet until the newest version is stored, or cannot be obtained."""
        kept: SheetVersion | None = None
        try:
            while (mark := self._wanted.get(table)) is not None and mark != kept:
                if await self._fetch(table, mark):
                    kept = mark
                else:
                    await asyncio.sleep(RETRY_INTERVAL_S)
        finally:
            del self._tasks[table]

    async def _fetch(self, table: str, version: SheetVersion) -> bool:
        """Request and store a table's sheet, and return False if the request must be repeated."""
        try:
            reply = await self._dispatcher.query(table, "sheet")
            if reply.result is None:
                code = "" if reply.error is None else reply.error.code
                # Another reply comes from a program between console and table, not from the table.
                if code != _NO_SHEET:
                    _log.warning("sheet not received", table=table, why=code)
                return code == _NO_SHEET
            sheet = with_wall_times(
                msgspec.convert(reply.result, ScoreSheet), self._tables.snapshot(table).state
            )
            if sheet.table != table:  # A table's statement about another table is not stored.
                _log.warning("a sheet of another table", table=table, other=sheet.table[:24])
                return True
            if sheet.match != version[0]:  # The next match's sheet is requested after its end.
                _log.warning(
                    "match gone before its sheet was stored", table=table, match=version[0]
                )
                return True
            await self._write(lambda: self._sheets.write(sheet))
        except (RequestError, StoreError) as failed:
            _log.warning("sheet not stored", table=table, why=str(failed))
            return False
        except msgspec.ValidationError as error:
            _log.warning("invalid sheet", table=table, why=str(error))
        except KeyError:  # The table does not belong to the console any more.
            self._wanted.pop(table, None)
        except Exception:  # An internal error must not stop the storage of this table's sheets.
            _log.exception("sheet not stored", table=table)
            return False
        return True
