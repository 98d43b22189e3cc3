"""Heads that the table signed: `verify --head FILE --table KEYFILE` looks for them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner

from controller.cli import main
from controller.journal.entries import JournalError
from controller.journal.store import STORE_NAME, open_read_only
from controller.journal.verify import verify
from controller.journal.verify.verify_report import VerifyReport
from controller.messages import PublicEvent
from controller.signing import signed_heads
from tests.journal.scripted import TABLE_KEY, Script, rechained, whole_table, write_rows

Write = Callable[[Script], list[PublicEvent]]
SECRET, OTHER = bytes(range(32)), bytes(range(1, 33))


def what(report: VerifyReport) -> str:
    return " | ".join(map(str, report.findings))


def kept(folder: Path, *events: PublicEvent, secret: bytes = SECRET, key: str = TABLE_KEY) -> Path:
    """A file as `watch --heads` keeps it: the heads of these events, signed."""
    path = folder / "heads.jsonl"
    lines = []
    for event in events:
        signed = signed_heads.sign_head(key, event.n, bytes.fromhex(event.head), secret)
        line = json.loads(msgspec.json.encode(signed))
        lines.append(json.dumps(line | {"table": "T01", "table_key": key, "time": event.time}))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """The public certificate of the scripted table."""
    path = tmp_path / "table.key"
    verify_key = signed_heads.verify_key(SECRET).hex()
    path.write_text(
        f'metadata\n    name = "T01"\n    verify = "{verify_key}"\n'
        f'curve\n    public-key = "{TABLE_KEY}"\n',
        encoding="utf-8",
    )
    return path


def test_signed_heads_of_a_right_journal_hold(
    tmp_path: Path, state_dir: Path, written: Write, table: Path
) -> None:
    feed = written(whole_table)
    report = verify(state_dir, kept(tmp_path, feed[3], feed[-1]), table=table)
    assert what(report) == ""
    assert report.signed_heads == 2


def test_a_past_that_was_written_anew_shows_against_a_signed_head(
    tmp_path: Path, state_dir: Path, written: Write, table: Path
) -> None:
    file = kept(tmp_path, *written(whole_table)[-1:])
    with open_read_only(state_dir / STORE_NAME) as rows:
        again = [row._replace(body=row.body.replace(b"12:00", b"13:00")) for row in rows]
    write_rows(state_dir, rechained(again))
    assert "the rows up to here were rewritten" in what(verify(state_dir, file, table=table))


def test_a_head_that_somebody_else_signed_is_found(
    tmp_path: Path, state_dir: Path, written: Write, table: Path
) -> None:
    file = kept(tmp_path, *written(whole_table)[-1:], secret=OTHER)
    assert "is not signed by this table" in what(verify(state_dir, file, table=table))


def test_two_heads_that_were_signed_for_one_entry_are_found(
    tmp_path: Path, state_dir: Path, written: Write, table: Path
) -> None:
    feed = written(whole_table)
    other = msgspec.structs.replace(feed[-1], head="ab" * 32)
    report = verify(state_dir, kept(tmp_path, feed[-1], other), table=table)
    assert f"the table signed two heads of entry {other.n}" in what(report)


def test_heads_of_other_tables_in_one_file_are_passed_over(
    tmp_path: Path, state_dir: Path, written: Write, table: Path
) -> None:
    (last,) = written(whole_table)[-1:]
    other = msgspec.structs.replace(last, n=last.n + 70, head="ab" * 32)
    theirs, own = kept(tmp_path, other, key="x" * 40).read_bytes(), kept(tmp_path, last)
    own.write_bytes(theirs + own.read_bytes())
    assert what(verify(state_dir, own, table=table)) == ""
    assert verify(state_dir, own, table=table).signed_heads == 1


def test_heads_of_other_tables_alone_compare_nothing_and_that_is_said(
    tmp_path: Path, state_dir: Path, written: Write, table: Path
) -> None:
    file = kept(tmp_path, *written(whole_table)[-1:], key="x" * 40)
    assert "none of the kept heads is of the table that it names" in what(verify(state_dir, file))
    with pytest.raises(JournalError, match="none of the kept heads is of the table"):
        verify(state_dir, file, table=table)


def test_a_past_that_was_written_anew_under_another_key_does_not_pass(
    tmp_path: Path, state_dir: Path, written: Write
) -> None:
    """Nobody has the table's certificate at hand: the journal itself says whose it is."""
    file = kept(tmp_path, *written(whole_table)[-1:])
    other = "z" * len(TABLE_KEY)
    with open_read_only(state_dir / STORE_NAME) as rows:
        again = [
            row._replace(body=row.body.replace(_quoted(TABLE_KEY), _quoted(other))) for row in rows
        ]
    del again[1:]  # nothing but the opening need be right
    write_rows(state_dir, rechained(again))
    report = verify(state_dir, file)
    assert what(report) == (
        "journal: none of the kept heads is of the table that it names: its past was rewritten "
        "under another key, or these are another table's heads"
    )
    assert report.signed_heads == 0


def _quoted(text: str) -> bytes:
    return msgspec.json.encode(text)


def test_signed_heads_of_rows_that_are_not_here_are_counted_apart(
    tmp_path: Path, written: Write, table: Path
) -> None:
    feed = written(whole_table)
    file, log = kept(tmp_path, feed[3], feed[8], feed[-1]), tmp_path / "events.jsonl"
    some = [feed[0], *feed[8:12], feed[-1]]
    log.write_bytes(b"".join(msgspec.json.encode(event) + b"\n" for event in some))
    report = verify(log, file, table=table)
    assert (what(report), report.signed_heads, report.heads_apart) == ("", 2, 1)
    args = ["verify", str(log), "--head", str(file), "--table", str(table)]
    assert "2 signed heads compared, 1 of rows that are not here" in (
        CliRunner().invoke(main, args).output
    )


def test_a_journal_of_another_table_is_found_with_the_tables_certificate(
    tmp_path: Path, state_dir: Path, written: Write, table: Path
) -> None:
    written(whole_table)
    table.write_text(table.read_text().replace(TABLE_KEY, "y" * 40))
    assert "rows belong to another table" in what(verify(state_dir, table=table))


def test_signed_heads_without_any_key_to_check_them_with_are_told(
    tmp_path: Path, state_dir: Path, written: Write
) -> None:
    file = kept(tmp_path, *written(whole_table)[-1:])
    assert "no key to check them with" in what(verify(state_dir, file))


def test_the_command_takes_the_tables_certificate(
    tmp_path: Path, state_dir: Path, written: Write, table: Path
) -> None:
    file = kept(tmp_path, *written(whole_table)[-1:])
    args = ["verify", str(state_dir), "--head", str(file), "--table", str(table)]
    right = CliRunner().invoke(main, args)
    assert (right.exit_code, "1 signed head compared" in right.output) == (0, True)
    no_table = CliRunner().invoke(main, [*args[:-1], str(file)])
    assert (no_table.exit_code, no_table.output.count("\n")) == (2, 1)


def test_every_attempt_is_told_whole_as_json(state_dir: Path, written: Write) -> None:
    written(whole_table)
    told: dict[str, Any] = json.loads(
        CliRunner().invoke(main, ["verify", str(state_dir), "--json"]).output
    )
    misdeal, stopped = told["attempts"][1], told["attempts"][3]
    assert misdeal["verdicts"] == [{"reason": "MISSING_CARD", "says": "follows"}]
    assert stopped["verdicts"] == [{"reason": "LID_OPENED", "says": "not shown"}]
    assert misdeal["context"]["match"] == "cup/1"
    assert (misdeal["cut"], stopped["cut"], stopped["uncut"]) == (12, None, True)
    for each in told["attempts"]:
        assert len(each["seed"]) == len(each["commitment"]) == 64
        assert len(each["sequence"]) == 108
