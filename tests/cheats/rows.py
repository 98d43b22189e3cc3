"""Rows of an evening's journal, changed afterwards and chained anew, as whoever owns it can."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from controller.journal.entries import JournalEntry, StoredRow, public_event
from controller.journal.store import STORE_NAME, open_read_only
from controller.journal.verify import verify
from controller.journal.verify.sources import read_source
from controller.journal.verify.verify_report import VerifyReport
from controller.messages import ClientCommand
from controller.signing import canonical_json
from controller.signing.signed_commands import sign_command
from sim.tables.table_in_process import TABLE_KEY
from tests.cheats.changed import keep
from tests.journal.scripted import rechained, write_rows

Rows = list[dict[str, Any]]
Change = Callable[[Rows], None]
SOMEBODY = bytes(range(32))
"""The secret of a key that no roster knows: a verifier knows none either."""


def changed(folder: Path, change: Change) -> tuple[VerifyReport, VerifyReport]:
    """Change the rows of a journal; return what is said of it, and of its feed."""
    with open_read_only(folder / STORE_NAME) as lying:
        rows: Rows = [msgspec.json.decode(row.body) for row in lying]
    change(rows)
    numbered = enumerate(rows, start=1)
    write_rows(folder, rechained([_row(n, row | {"n": n}) for n, row in numbered]))
    told = [one for one in read_source(folder).entries if one.entry.public]
    log = keep(folder / "log", [], [public_event(one, "T01", simulated=True) for one in told])
    return verify(folder), verify(log)


def _row(n: int, row: dict[str, Any]) -> StoredRow:
    fields = JournalEntry.__struct_fields__
    return StoredRow(n, canonical_json({name: row[name] for name in fields}), b"")


def of(rows: Rows, kind: str, attempt: int | None = None, **data: Any) -> dict[str, Any]:
    """Return the first row of a kind, of an attempt, and with this in its data."""
    return next(
        row
        for row in rows
        if row["kind"] == kind
        and attempt in (None, row["attempt"])
        and all(row["data"].get(name) == value for name, value in data.items())
    )


def order(row: dict[str, Any], cmd: str, of: list[int], **more: Any) -> dict[str, Any]:
    """Return the row of an order beside another row, signed by somebody for deal and attempt.

    `boot`: the run that it was given to, if not that of the row.
    """
    role, args, result = more["role"], more.get("args", {}), more.get("result", {})
    named = {"deal": of[0], "attempt": of[1], "boot": more.get("boot", row["boot"])}
    given = sign_command(
        ClientCommand(id=f"{cmd}-{of}", cmd=cmd, args=args, **named), TABLE_KEY, SOMEBODY
    )
    said = {"id": given.id, "key": given.key, "cmd": cmd, "role": role, "who": role}
    said |= {"person": None, "args": args, "of": of, "boot": given.boot, "sig": given.sig}
    said |= {"result": result}
    return row | {"kind": "command", "public": True, "data": said}
