"""Journals that somebody changed, and logs of a feed: findings, never a traceback or a hang."""

import asyncio
import struct
from functools import cache
from pathlib import Path

import msgspec

from controller.journal.entries import ChainBreak, JournalError, StoredRow, walk_chain
from controller.journal.packed_board_events import unpack_events, unpack_opened
from controller.journal.store import STORE_NAME, JournalStore, open_read_only
from controller.journal.verify import verify
from controller.journal.verify.verify_report import VerifyReport
from controller.signing import canonical_json
from tests.fuzz.folders import file, folder
from tests.fuzz.jsonlines import lines_of
from tests.fuzz.refusals import one_line
from tests.fuzz.words import Words
from tests.journal.scripted import ScriptedTable, rechained, write_journal, write_rows

MOST_CHANGES = 40
MOST_OF_A_FINDING = 100_000
"""A finding may name what it found: an entry has up to 65,535 bytes."""


def entries(data: bytes) -> None:
    """Entries with any text, chained anew by somebody with the file in his hands."""
    bodies = [_body(number, line) for number, line in enumerate(lines_of(data), start=1)]
    rows = rechained([StoredRow(n, body, b"") for n, body in enumerate(bodies, start=1)])
    with folder() as state_dir:
        write_rows(state_dir, rows)
        report = verify(state_dir)
    _readable(report)


def _body(number: int, line: object) -> bytes:
    """An entry takes its row's number; what is none stands there as it is."""
    if isinstance(line, dict) and isinstance(line.get("n"), int):
        line["n"] = number
    return canonical_json(line)[:0xFFFF]


def _readable(report: VerifyReport) -> None:
    """Whatever was found can be printed, and told as JSON."""
    for said in (*report.attempts, *report.findings):
        one_line(str(said), MOST_OF_A_FINDING)
    assert report.unprovable_attempts is not None
    msgspec.json.encode(report)


def feed_log(data: bytes) -> None:
    """A file of events as `watch --json` printed them."""
    with file("events.jsonl", data) as path:
        try:
            _readable(verify(path))
        except JournalError as error:
            one_line(error, MOST_OF_A_FINDING)


def spoilt_file(data: bytes) -> None:
    """A right journal's file with bytes changed, put in or cut off: verified, and opened."""
    with folder() as state_dir:
        path = state_dir / STORE_NAME
        path.write_bytes(_spoilt(data))
        _read(path)
        try:
            store = JournalStore.open(state_dir)
        except JournalError as error:
            one_line(error, MOST_OF_A_FINDING)
            return
        try:
            assert not any(isinstance(item, ChainBreak) for item in _chain(store))
        finally:
            store.close()


def _read(path: Path) -> None:
    try:
        _readable(verify(path))
    except JournalError as error:
        one_line(error, MOST_OF_A_FINDING)


def _chain(store: JournalStore) -> list[object]:
    rows = [StoredRow(each.entry.n, each.body, each.head) for each in store.entries()]
    return list(walk_chain(rows))


def _spoilt(data: bytes) -> bytes:
    """The right file after the changes that the input says; or the input alone."""
    words = Words(data)
    if words.byte() == 0xFF:
        return words.rest()
    whole = bytearray(_right_file())
    for _ in range(MOST_CHANGES):
        if not words.more:
            break
        at, what, size = words.number(3) % (len(whole) + 1), words.byte() % 6, words.byte()
        if what < 3:
            put = words.some(size % 16 + 1)
            whole[at : at + len(put)] = put
        elif what == 3:
            whole[at:at] = words.some(size)
        elif what == 4:
            del whole[at : at + size]
        else:
            whole[at : at + 8] = struct.pack(">Q", words.number(8))
    return bytes(whole)


@cache
def _right_file() -> bytes:
    with folder() as at:
        asyncio.run(write_journal(at, _short_life))
        return (at / STORE_NAME).read_bytes()


def _short_life(table: ScriptedTable) -> None:
    table.void("LID_OPENED")


def right_rows() -> list[bytes]:
    """The bodies of a right journal, for the first corpus."""

    def life(table: ScriptedTable) -> None:
        table.void("LID_OPENED")
        table.redeal()
        table.play(open_hands=True)

    with folder() as at:
        asyncio.run(write_journal(at, life))
        with open_read_only(at / STORE_NAME) as rows:
            return [row.body for row in rows]


def wire_groups(data: bytes) -> None:
    """The boards' events out of an entry, and out of an opened record."""
    for line in lines_of(data):
        if isinstance(line, dict):
            try:
                events = unpack_events(line, 7)
            except ValueError:
                continue
            assert all(event.attempt == 7 for event in events)
        elif isinstance(line, list):
            try:
                unpack_opened(line, None)
            except ValueError:
                continue
