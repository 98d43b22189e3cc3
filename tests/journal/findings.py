"""What `verify` finds in a journal, and journals that are changed for it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from controller.journal.store import STORE_NAME, open_read_only
from controller.journal.verify import verify
from controller.journal.verify.verify_report import VerifyReport
from controller.messages import PublicEvent
from tests.journal.scripted import Script, rechained, write_rows

Write = Callable[[Script], list[PublicEvent]]


def what(report: VerifyReport) -> str:
    """Return the findings of a report in one line."""
    return " | ".join(map(str, report.findings))


def rewritten(state_dir: Path, kind: str, change: Callable[[dict[str, Any]], None]) -> VerifyReport:
    """Change the data of the first entry of a kind, chain all rows anew, verify."""
    rows = []
    changed = False
    with open_read_only(state_dir / STORE_NAME) as lying:
        for row in lying:
            entry = msgspec.json.decode(row.body)
            if entry["kind"] == kind and not changed:
                change(entry)
                changed = True
            rows.append(row._replace(body=msgspec.json.encode(entry, order="sorted")))
    assert changed
    write_rows(state_dir, rechained(rows))
    return verify(state_dir)


def setting(name: str, value: object) -> Callable[[dict[str, Any]], None]:
    """Return a change that sets one value in the data of an entry."""
    return lambda entry: entry["data"].update({name: value})


def kept_log(tmp_path: Path, events: list[PublicEvent]) -> Path:
    """Write what a subscriber of the feed keeps, and return the file."""
    log = tmp_path / "events.jsonl"
    state = b'{"schema":1,"machine":{},"head":"00"}'
    log.write_bytes(b"\n".join([state, *map(msgspec.json.encode, events), b""]))
    return log
