"""`dealtable verify`: a right journal holds, and no change to one goes unseen."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from controller.cli.verify import command
from controller.journal.committer import InlineCommitter
from controller.journal.entries import JournalError, StoredRow, decode, next_head
from controller.journal.journal import Journal
from controller.journal.packed_board_events import GATE, unpack_events
from controller.journal.store import STORE_NAME, JournalStore, open_read_only
from controller.journal.verify import verify
from controller.journal.verify.verify_report import VerifyReport
from controller.messages import PublicEvent
from tests.journal.findings import Write, kept_log, rewritten, setting, what
from tests.journal.scripted import (
    ScriptedTable,
    rechained,
    wall,
    whole_table,
    write_journal,
    write_rows,
)


def test_a_right_journal_has_no_finding(state_dir: Path, written: Write) -> None:
    written(whole_table)
    report = verify(state_dir)
    assert what(report) == ""
    assert report.table == "T01"
    assert report.whole


def test_every_attempt_has_its_grade(state_dir: Path, written: Write) -> None:
    written(whole_table)
    grades = [(each.outcome, each.grade, each.gates) for each in verify(state_dir).attempts]
    assert grades == [
        ("ok", "sequence", True),
        ("misdeal", "sequence", True),
        ("ok", "hands", True),
        ("void", "sequence", True),
        ("ok", "sequence", True),
    ]


def test_an_uncut_deal_is_called_uncut(state_dir: Path, written: Write) -> None:
    written(lambda table: table.play(cut=None))
    (standing,) = verify(state_dir).attempts
    assert standing.uncut
    assert "uncut" in str(standing)


def test_a_void_that_no_record_can_show_is_counted_apart(state_dir: Path, written: Write) -> None:
    written(whole_table)
    assert [each.reasons for each in verify(state_dir).unprovable_attempts] == [["LID_OPENED"]]


def test_a_running_attempt_is_no_finding(state_dir: Path, written: Write) -> None:
    def dealing(table: ScriptedTable) -> None:
        table.play()
        table.commit()

    written(dealing)
    report = verify(state_dir)
    assert what(report) == ""
    assert report.attempts[-1].grade is None


# Bytes, rows and their order.


@given(data=st.data())
def test_any_byte_changed_in_any_column_of_any_row_is_found(
    good_rows: list[StoredRow], tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    at = data.draw(st.integers(0, len(good_rows) - 1), "row")
    row = good_rows[at]
    column = data.draw(st.sampled_from(["n", "body", "head"]), "column")
    packed = row.n.to_bytes(8, "big") if column == "n" else getattr(row, column)
    position = data.draw(st.integers(0, len(packed) - 1), "byte")
    flip = data.draw(st.integers(1, 255), "flip")
    raw = bytearray(packed)
    raw[position] ^= flip
    changed: Any = int.from_bytes(raw, "big", signed=True) if column == "n" else bytes(raw)
    taken = {other.n for other in good_rows if other is not row}
    if changed in taken:
        changed = -1
    rows = [*good_rows[:at], row._replace(**{column: changed}), *good_rows[at + 1 :]]
    folder = tmp_path_factory.mktemp("changed")
    write_rows(folder, rows)
    assert verify(folder).findings


@given(data=st.data())
def test_every_exchange_of_two_rows_is_found(
    good_rows: list[StoredRow], tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    one, other = sorted(
        data.draw(st.lists(st.integers(0, len(good_rows) - 1), min_size=2, max_size=2, unique=True))
    )
    renumbered = data.draw(st.booleans())
    rows = list(good_rows)
    rows[one], rows[other] = good_rows[other], good_rows[one]
    if renumbered:
        rows = [StoredRow(n, row.body, row.head) for n, row in enumerate(rows, start=1)]
    else:
        rows = [
            StoredRow(n, *row[1:]) for n, row in zip(range(1, len(rows) + 1), rows, strict=True)
        ]
    folder = tmp_path_factory.mktemp("exchanged")
    write_rows(folder, rows)
    assert verify(folder).findings


@given(data=st.data())
def test_every_deletion_but_of_the_last_rows_is_found_without_help(
    good_rows: list[StoredRow], tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    first = data.draw(st.integers(0, len(good_rows) - 2))
    last = data.draw(st.integers(first, len(good_rows) - 2))
    rows = [*good_rows[:first], *good_rows[last + 1 :]]
    if data.draw(st.booleans(), "renumbered"):
        rows = [StoredRow(n, row.body, row.head) for n, row in enumerate(rows, start=1)]
    folder = tmp_path_factory.mktemp("deleted")
    write_rows(folder, rows)
    assert verify(folder).findings


@given(data=st.data())
def test_every_insertion_is_found(
    good_rows: list[StoredRow], tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    at = data.draw(st.integers(0, len(good_rows) - 1))
    copied = data.draw(st.sampled_from(good_rows))
    before = good_rows[at - 1].head if at else bytes(32)
    inserted = StoredRow(0, copied.body, next_head(before, copied.body))
    rows = [*good_rows[:at], inserted, *good_rows[at:]]
    rows = [StoredRow(n, row.body, row.head) for n, row in enumerate(rows, start=1)]
    folder = tmp_path_factory.mktemp("inserted")
    write_rows(folder, rows)
    assert verify(folder).findings


def test_an_emptied_journal_is_a_finding(state_dir: Path) -> None:
    write_rows(state_dir, [])
    assert "no entry" in what(verify(state_dir))


def test_a_damaged_file_is_a_finding(state_dir: Path, written: Write) -> None:
    written(whole_table)
    path = state_dir / STORE_NAME
    raw = bytearray(path.read_bytes())
    raw[4096:8192] = bytes(4096)
    path.write_bytes(raw)
    assert "damaged" in what(verify(state_dir))


# Heads that somebody kept.


def test_last_rows_cut_off_show_against_an_event_that_was_kept(
    tmp_path: Path, state_dir: Path, written: Write
) -> None:
    feed = written(whole_table)
    cut_off(state_dir, 3)
    assert verify(state_dir).findings == []
    kept = tmp_path / "kept.json"
    kept.write_bytes(msgspec.json.encode(feed[-1]))
    assert "last rows are missing" in what(verify(state_dir, kept))


@pytest.mark.parametrize("form", ["hex", "state", "pretty"])
def test_last_rows_cut_off_show_against_a_head_alone(
    tmp_path: Path, state_dir: Path, written: Write, form: str
) -> None:
    head = written(whole_table)[-1].head
    kept = tmp_path / "kept"
    state = {"schema": 1, "machine": {}, "seq": 9, "head": head}
    forms = {"hex": head, "state": json.dumps(state), "pretty": json.dumps(state, indent=2)}
    kept.write_text(forms[form] + "\n")
    assert verify(state_dir, kept).findings == []
    cut_off(state_dir, 1)
    assert "last rows are missing" in what(verify(state_dir, kept))


def test_a_kept_event_of_a_journal_written_anew_shows_it(
    tmp_path: Path, state_dir: Path, written: Write
) -> None:
    feed = written(whole_table)
    kept = tmp_path / "kept.json"
    kept.write_bytes(b"\n".join(msgspec.json.encode(event) for event in feed))
    with open_read_only(state_dir / STORE_NAME) as rows:
        again = [row._replace(body=row.body.replace(b"12:00", b"13:00")) for row in rows]
    write_rows(state_dir, rechained(again))
    assert verify(state_dir).findings == []
    assert "rewritten" in what(verify(state_dir, kept))


def test_a_file_without_a_head_is_refused(tmp_path: Path, state_dir: Path, written: Write) -> None:
    written(whole_table)
    kept = tmp_path / "kept"
    for text in ("", "hello\n", "abcd\n", "{}\n"):
        kept.write_text(text)
        with pytest.raises(JournalError, match=r"head|empty"):
            verify(state_dir, kept)


# Somebody who writes the whole chain anew still has to keep to the proofs.


def test_a_pass_that_the_shuffler_had_begun_and_ended_is_no_finding(
    state_dir: Path, written: Write
) -> None:
    def once_more(table: ScriptedTable) -> None:
        table.passes += 1
        table.play()

    written(once_more)
    assert what(verify(state_dir)) == ""


@pytest.mark.parametrize(
    ("kind", "change", "finding"),
    [
        ("revealed", setting("seed", "11" * 32), "does not give the published commitment"),
        ("revealed", setting("seed", "no hex"), "cannot be proved"),
        ("revealed", setting("cut", 40), "is not the players' own"),
        ("cut", setting("cut", 40), "is not the players' own"),
        ("cut", setting("cut", 3), "is not one that profile"),
        ("committed", setting("match", "cup/2"), "does not give the published commitment"),
        ("committed", setting("table_key", "x" * 40), "another table's key"),
        ("committed", setting("deck", {"packs": 1, "jokers": True, "cards": 54}), "rulebook"),
        ("committed", setting("deck", 3), "has no deck"),
        ("verdict", setting("landed", dict.fromkeys("NWSE", 27) | {"tray": 1}), "not right"),
        ("verdict", setting("reasons", ["JAM"]), "a right deal has reasons"),
        ("verdict", setting("outcome", "misdeal"), "without a reason"),
        ("verdict", setting("fed", 107), "the boards' events have 108"),
        ("record", setting("events", []), "other board events"),
        ("shuffled", setting("passes", 2), "3 passes were promised, 2 were done"),
        ("wire", setting("b", "!"), "cannot be proved"),
        ("committed", lambda entry: entry.update(attempt=7), "without seed before it"),
        ("seed", lambda entry: entry.update(public=True), "marked public"),
        ("released", lambda entry: entry.update(kind="begun"), "second begun"),
    ],
)
def test_a_journal_that_lies_is_found_out(
    state_dir: Path,
    written: Write,
    kind: str,
    change: Callable[[dict[str, Any]], None],
    finding: str,
) -> None:
    written(whole_table)
    assert finding in what(rewritten(state_dir, kind, change))


def test_a_card_that_went_to_another_gate_is_found(state_dir: Path, written: Write) -> None:
    def crooked(table: ScriptedTable) -> None:
        card = table.card

        def other(index: int, outlet: int, face: int, back: int = 0) -> Any:
            return card(index, (outlet + 1) % 4 if index in (5, 6) else outlet, face, back)

        table.card = other  # type: ignore[method-assign]
        table.play()

    written(crooked)
    report = verify(state_dir)
    assert "card 5 (place 5) crossed the gate" in what(report)


def test_exchanged_hands_are_found_when_they_are_opened(state_dir: Path, written: Write) -> None:
    def exchange(entry: dict[str, Any]) -> None:
        faces = bytearray.fromhex(entry["data"]["hands"])
        faces[0], faces[-1] = faces[-1], faces[0]
        entry["data"]["hands"] = bytes(faces).hex()

    written(lambda table: table.play(open_hands=True))
    report = rewritten(state_dir, "record", exchange)
    assert "not those that were bound" in what(report)


def test_a_set_that_was_not_right_is_found_when_hands_are_opened(
    state_dir: Path, written: Write
) -> None:
    def crooked(table: ScriptedTable) -> None:
        right = table.faces

        def faces() -> list[int]:
            drawn = right()
            drawn[drawn.index(53)] = 0
            return drawn

        table.faces = faces  # type: ignore[method-assign]
        table.play(open_hands=True)

    written(crooked)
    assert "♠2 × 3, BJ × 1" in what(verify(state_dir))


def test_a_reason_that_does_not_follow_from_the_record_is_a_finding(
    state_dir: Path, written: Write
) -> None:
    def excuse(table: ScriptedTable) -> None:
        order = table.commit()
        faces = table.faces()
        events = [
            event
            for index, face in enumerate(faces, start=1)
            for event in table.card(index, "NWSE".index(order[index - 1]), face)
        ]
        table.give_up(events, "MISSING_CARD", {}, "misdeal")

    written(excuse)
    assert "MISSING_CARD does not follow" in what(verify(state_dir))


def test_a_void_without_its_record_is_a_finding_once_dealing_goes_on(
    state_dir: Path, written: Write
) -> None:
    def silent(table: ScriptedTable) -> None:
        table.commit()
        table.verdict("void", "POWER", N=0, W=0, S=0, E=0)
        table.redeal()
        table.commit()

    written(silent)
    assert "its record is not open" in what(verify(state_dir))


def test_a_deal_dropped_in_silence_is_a_finding(state_dir: Path, written: Write) -> None:
    def again(table: ScriptedTable) -> None:
        table.commit()
        table.redeal()
        table.play()

    written(again)
    assert "attempt 1 has no end" in what(verify(state_dir))


def test_a_number_of_an_attempt_used_again_is_a_finding(state_dir: Path, written: Write) -> None:
    def twice(table: ScriptedTable) -> None:
        table.play()
        table.attempt = 0
        table.commit()

    written(twice)
    assert "second seed" in what(verify(state_dir))


def test_cards_that_moved_before_the_cut_are_a_finding(state_dir: Path, written: Write) -> None:
    def early(table: ScriptedTable) -> None:
        table.deal = table.attempt = 1
        table.step("seed", public=False, box="c2VhbGVk")
        table.record_wire(list(table.card(1, 0, 5)))
        table.step("cut", cut=9)

    written(early)
    assert "moved before its cut" in what(verify(state_dir))


# Events kept from a feed.


def test_events_of_a_feed_are_checked_without_the_journal(tmp_path: Path, written: Write) -> None:
    log = kept_log(tmp_path, written(whole_table))
    report = verify(log)
    assert what(report) == ""
    assert not report.whole
    grades = [(each.grade, each.gates) for each in report.attempts]
    assert grades == [
        ("sequence", True),
        ("sequence", True),
        ("hands", True),
        ("sequence", True),
        ("sequence", True),
    ]


def test_a_listener_who_came_late_or_missed_some_finds_nothing_wrong(
    tmp_path: Path, written: Write
) -> None:
    feed = written(whole_table)
    heard = [event for n, event in enumerate(feed) if n > 4 and n % 5]
    assert what(verify(kept_log(tmp_path, heard))) == ""


@given(data=st.data())
def test_a_changed_event_is_found(
    good_feed: list[PublicEvent], tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    at = data.draw(st.integers(0, len(good_feed) - 1))
    event = good_feed[at]
    change: dict[str, Any] = data.draw(
        st.sampled_from(
            [
                {"kind": "verdict" if event.kind != "verdict" else "cut"},
                {"attempt": 77},
                {"deal": 77},
                {"time": "2026-01-01T12:00:00.001Z"},
                {"data": event.data | {"more": 1}},
                {"prev": "00" * 31 + "01"},
                {"head": "00" * 32},
                {"boot": "beef"},
            ]
        )
    )
    events = [*good_feed[:at], msgspec.structs.replace(event, **change), *good_feed[at + 1 :]]
    assert verify(kept_log(tmp_path_factory.mktemp("log"), events)).findings


def test_events_of_two_tables_are_refused(tmp_path: Path, written: Write) -> None:
    feed = written(whole_table)
    other = msgspec.structs.replace(feed[0], table="T02")
    with pytest.raises(JournalError, match="T01, T02"):
        verify(kept_log(tmp_path, [*feed, other]))


def test_a_stranger_computes_the_heads_as_the_page_says(written: Write) -> None:
    page = Path(next(iter(__import__("controller.journal").journal.__path__))) / "JOURNAL.md"
    code = page.read_text().split("```python\n")[1].split("assert")[0]
    names: dict[str, Any] = {}
    exec(code, names)
    for event in written(whole_table):
        told = json.loads(msgspec.json.encode(event))
        assert names["head"](told) == event.head


# The command.


def test_the_command_says_each_finding_in_one_line_and_exits_1(
    state_dir: Path, written: Write
) -> None:
    written(whole_table)
    right = CliRunner().invoke(command, [str(state_dir)])
    assert (right.exit_code, "all holds" in right.output) == (0, True)
    assert "given up: 2, of these 1 for reasons that no record shows" in right.output
    report = rewritten(state_dir, "revealed", setting("seed", "11" * 32))
    wrong = CliRunner().invoke(command, [str(state_dir)])
    assert wrong.exit_code == 1
    for finding in report.findings:
        assert str(finding) in wrong.output.splitlines()


def test_the_command_prints_its_report_as_json(state_dir: Path, written: Write) -> None:
    written(whole_table)
    result = CliRunner().invoke(command, [str(state_dir), "--json"])
    assert msgspec.json.decode(result.output, type=VerifyReport) == verify(state_dir)


def test_the_command_exits_2_for_what_is_no_journal(tmp_path: Path) -> None:
    (tmp_path / "poem.txt").write_text("no journal\n")
    for path in (tmp_path / "nowhere", tmp_path, tmp_path / "poem.txt"):
        result = CliRunner().invoke(command, [str(path)])
        assert (result.exit_code, result.output.count("\n")) == (2, 1)


def test_checking_a_closed_journal_leaves_nothing_behind(state_dir: Path, written: Write) -> None:
    written(whole_table)
    before = sorted(path.name for path in state_dir.iterdir())
    assert verify(state_dir).findings == []
    assert sorted(path.name for path in state_dir.iterdir()) == before


async def test_a_journal_can_be_checked_while_its_daemon_writes(state_dir: Path) -> None:
    store = JournalStore.open(state_dir)
    journal = Journal(store, InlineCommitter(store), wall=wall, boot="b007")
    table = ScriptedTable(journal, seed=3)
    table.open()
    table.play()
    journal.flush()
    assert verify(state_dir).findings == []
    assert verify(state_dir).entries == journal.last_number
    await journal.close()


def cut_off(state_dir: Path, count: int) -> None:
    with open_read_only(state_dir / STORE_NAME) as rows:
        left = list(rows)[:-count]
    write_rows(state_dir, left)


def test_board_events_are_read_again_as_they_came(good_rows: list[StoredRow]) -> None:
    entries = [decode(row.body) for row in good_rows]
    events = [
        event
        for entry in entries
        if entry.kind == "wire" and entry.attempt == 1
        for event in unpack_events(entry.data, entry.attempt)
    ]
    assert [event.index for event in events if event.code == GATE] == list(range(1, 109))
    assert all(event.look is None for event in events)


@pytest.fixture(scope="session")
def good_feed(tmp_path_factory: pytest.TempPathFactory) -> list[PublicEvent]:
    return asyncio.run(write_journal(tmp_path_factory.mktemp("feed"), whole_table))
