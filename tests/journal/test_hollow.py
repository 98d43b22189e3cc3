"""What a journal says must be checkable: reasons, records, looks at hands, names on a screen."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner

from controller.cli.verify import command
from controller.journal.entries import StoredRow, decode, encode
from controller.journal.packed_board_events import (
    JAM,
    STRAY,
    LoggedBoardEvent,
    pack_opened,
    unpack_opened,
)
from controller.journal.store import STORE_NAME, open_read_only
from controller.journal.verify import verify
from tests.journal.findings import Write, rewritten, setting, what
from tests.journal.scripted import ScriptedTable, rechained, whole_table, write_journal, write_rows

AT_LANDING = 3


async def findings(state_dir: Path, script: Callable[[ScriptedTable], None]) -> str:
    await write_journal(state_dir, script)
    return what(verify(state_dir))


# Reasons.


def given_up(table: ScriptedTable) -> None:
    table.play()
    table.void("LID_OPENED")
    table.redeal()
    table.play()


def test_a_word_of_no_catalogue_is_no_reason(state_dir: Path, written: Write) -> None:
    written(given_up)
    assert verify(state_dir).findings == []
    found = what(_void_for(state_dir, ["UNLUCKY_DAY"]))
    assert "attempt 2 was given up for UNLUCKY_DAY: an attempt has no such reason" in found


@pytest.mark.parametrize("name", ["STALE", "CUT_LATE", "STORAGE_FAILED"])
def test_a_refusal_or_a_fault_of_the_machine_is_no_reason(
    state_dir: Path, written: Write, name: str
) -> None:
    written(given_up)
    assert f"was given up for {name}" in what(_void_for(state_dir, [name]))


@pytest.mark.parametrize("name", ["LINE_LOST", "BOARD_SILENT", "NOT_NEEDED", "POWER"])
def test_what_ends_an_attempt_without_a_trace_is_a_reason(
    state_dir: Path, written: Write, name: str
) -> None:
    written(given_up)
    assert _void_for(state_dir, [name]).findings == []


def _void_for(state_dir: Path, reasons: list[str]) -> Any:
    """Say of the attempt that was given up that it was for these reasons."""
    return _changed(
        state_dir,
        lambda entry: entry["kind"] == "verdict" and entry["data"]["outcome"] == "void",
        setting("reasons", reasons),
    )


def _changed(
    state_dir: Path,
    which: Callable[[dict[str, Any]], bool],
    change: Callable[[dict[str, Any]], None],
) -> Any:
    """Change every entry that `which` means, chain all rows anew, verify."""
    rows = []
    with open_read_only(state_dir / STORE_NAME) as lying:
        for row in lying:
            entry = msgspec.json.decode(row.body)
            if which(entry):
                change(entry)
            rows.append(row._replace(body=msgspec.json.encode(entry, order="sorted")))
    write_rows(state_dir, rechained(rows))
    return verify(state_dir)


async def test_hands_that_are_recalled_without_a_reason_are_a_finding(state_dir: Path) -> None:
    def recalled(table: ScriptedTable) -> None:
        table.play(open_hands=True, recalled="COUNT_WRONG")
        table.redeal()
        table.play()

    assert await findings(state_dir, recalled) == ""
    found = what(rewritten(state_dir, "recalled", setting("reasons", [])))
    assert "attempt 1 was recalled without a reason" in found


@pytest.mark.parametrize("reason", [None, "", "  ", 3])
def test_an_uncut_deal_says_why(state_dir: Path, written: Write, reason: object) -> None:
    written(lambda table: table.play(cut=None))

    def change(entry: dict[str, Any]) -> None:
        entry["data"].pop("reason")
        if reason is not None:
            entry["data"]["reason"] = reason

    assert "attempt 1 is uncut without a reason" in what(rewritten(state_dir, "cut", change))


# Records.


@pytest.mark.parametrize("field", ["events", "key", "nonce", "hands"])
@pytest.mark.parametrize("value", [None, 0, ...])
def test_a_record_of_right_hands_has_all_that_opens_them(
    state_dir: Path, written: Write, field: str, value: object
) -> None:
    written(lambda table: table.play(open_hands=True))
    assert verify(state_dir).attempts[0].grade == "hands"

    def change(entry: dict[str, Any]) -> None:
        del entry["data"][field]
        if value is not ...:
            entry["data"][field] = value

    report = rewritten(state_dir, "record", change)
    assert f"the record of attempt 1 lacks {field}" in what(report)
    assert field == "key" or report.attempts[0].grade != "hands"


def test_a_record_of_right_hands_has_the_events_that_they_came_of(
    state_dir: Path, written: Write
) -> None:
    written(lambda table: table.play(open_hands=True))
    report = rewritten(state_dir, "record", setting("events", []))
    assert "the record of attempt 1 lacks events" in what(report)


@pytest.mark.parametrize(("code", "place"), [(STRAY, 4), (JAM, AT_LANDING)])
def test_no_event_stands_in_the_record_alone(
    state_dir: Path, written: Write, code: int, place: int
) -> None:
    written(given_up)

    def change(entry: dict[str, Any]) -> None:
        events = unpack_opened(entry["data"]["events"], 2)
        last = [event for event in events if event.board == "dealer"][-1]
        more = msgspec.structs.replace(last, number=last.number + 1, code=code, place=place)
        entry["data"]["events"] = pack_opened([*events, more])

    report = rewritten(state_dir, "record", change)
    assert "record has other board events than the journal" in what(report)


@pytest.mark.parametrize("total", ["seen", "landed"])
def test_totals_of_a_board_are_those_of_the_journal(
    state_dir: Path, written: Write, total: str
) -> None:
    written(given_up)

    def change(entry: dict[str, Any]) -> None:
        events = unpack_opened(entry["data"]["events"], 2)
        events[7] = msgspec.structs.replace(events[7], **{total: 99})
        entry["data"]["events"] = pack_opened(events)

    report = rewritten(state_dir, "record", change)
    assert "record has other board events than the journal" in what(report)


@pytest.mark.parametrize(("code", "place"), [(STRAY, 2), (JAM, AT_LANDING)])
async def test_a_right_deal_in_which_a_card_went_astray_is_a_finding(
    state_dir: Path, code: int, place: int
) -> None:
    found = await findings(state_dir, lambda table: _with(table, 50, code, place))
    assert "a right deal has" in found
    assert "these hands were not right" in found


async def test_what_falls_behind_the_last_card_is_none_of_the_deal(state_dir: Path) -> None:
    assert await findings(state_dir, lambda table: _with(table, 108, STRAY, 2)) == ""


def _with(table: ScriptedTable, at: int, code: int, place: int) -> None:
    """Deal, and let the dealer board say one thing more behind card `at`."""
    card = table.card

    def and_more(index: int, outlet: int, face: int, back: int = 0) -> Iterator[LoggedBoardEvent]:
        yield from card(index, outlet, face, back)
        if index == at:
            yield table.event("dealer", code, 0, place)

    table.card = and_more  # type: ignore[method-assign]
    table.play()


# Rules and sets.


def test_rules_are_looked_up_by_their_hash(state_dir: Path, written: Write) -> None:
    written(whole_table)
    report = rewritten(state_dir, "committed", setting("profile", "house-rules"))
    assert "rules are called house-rules, and those of this hash are international-000" in what(
        report
    )
    assert report.attempts[0].unknown_rules is None


def test_a_set_has_the_back_that_was_said(state_dir: Path, written: Write) -> None:
    written(whole_table)
    assert "set S1 is dealt with back A: its back was stated to be B" in what(
        rewritten(state_dir, "opened", setting("sets", {"S1": "B"}))
    )


async def test_a_set_may_have_been_given_another_back(state_dir: Path) -> None:
    def laid(table: ScriptedTable) -> None:
        table.write("set_loaded", set="S1", back="A", by="referee")
        table.command("replace_set", "referee", {"set": "S1", "back": "A"})
        table.play()

    assert await findings(state_dir, laid) == ""
    assert what(rewritten(state_dir, "opened", setting("sets", {"S1": "B"}))) == ""


# Looks at hands.

CHIEF, OTHER = "c1" * 32, "c2" * 32


def looked(table: ScriptedTable, key: str = CHIEF, by: str = "Ann Li", **again: Any) -> None:
    """Somebody looks at a hand of deal 1, and `again` says who has it dealt again."""
    _meeting(table, "cup/1")
    table.play(open_hands=True, recalled="ORDERED")
    whose: dict[str, Any] = {"by": "Ann Li (chief key)", "key": CHIEF}
    table.write("opened_hand", bound=True, seat="N", reason="asked", **whose)
    if again.get("cmd"):
        _order(table, key, by, **again)
    else:
        table.write("match", bound=True, event="DealVoided", reason="so", by=by, at_ms=1, **again)


def _meeting(table: ScriptedTable, match: str) -> None:
    hashed = "00" * 32
    said: dict[str, Any] = {"match": match, "meeting": {}, "record": [], "profile": "p"}
    table.write("meeting", **said, profile_hash=hashed, at_ms=1)


def _order(table: ScriptedTable, key: str, who: str, cmd: str, **more: Any) -> None:
    said = {"id": "x", "key": key, "cmd": cmd, "role": "chief", "who": who, "result": {}}
    table.journal.append("command", said | more, deal=None, attempt=None, public=True)


AGAIN: dict[str, tuple[dict[str, Any], bool]] = {
    "his key, and the row has no deal": ({"cmd": "redeal", "by": "-", "of": [1, 1]}, True),
    "his name under another key": ({"cmd": "redeal", "key": OTHER, "of": [1, 1]}, True),
    "his person's name with another key": (
        {"cmd": "redeal", "key": OTHER, "by": "tablet 2", "person": "ann li", "of": [1, 1]},
        True,
    ),
    "his person's word with another key": ({"by": "Ann Li (tablet 2)"}, True),
    "his key's word in another's hand": ({"by": "Bo Wu (CHIEF  key)"}, True),
    "another's word with another key": ({"by": "Bo Wu (tablet 2)"}, False),
    "a void": ({"cmd": "void", "of": [1, 1]}, True),
    "another person": ({"cmd": "redeal", "key": OTHER, "by": "Bo Wu", "of": [1, 1]}, False),
    "a refused order": ({"cmd": "redeal", "of": [1, 1], "refused": "OPENED_BY_YOU"}, False),
    "another deal": ({"cmd": "redeal", "of": [2, 2]}, False),
    "a cut": ({"cmd": "cut", "of": [1, 1]}, False),
    "his word, and no order": ({}, True),
    "his name in other letters": ({"by": " ANN  li"}, True),
    "another's word": ({"by": "Bo Wu"}, False),
    "another's name, by mere word": ({"by": "Bo Wu", "verbal": True}, True),
}


@pytest.mark.parametrize("name", AGAIN)
async def test_who_looked_at_a_hand_cannot_have_it_dealt_again(state_dir: Path, name: str) -> None:
    said, is_wrong = AGAIN[name]
    found = await findings(state_dir, lambda table: looked(table, **said))
    assert ("after a look" in found or "had looked at a hand" in found) is is_wrong


async def test_deal_one_of_the_next_match_is_another_deal(state_dir: Path) -> None:
    def next_match(table: ScriptedTable) -> None:
        _meeting(table, "cup/1")
        table.write("opened_hand", bound=True, seat="N", reason="asked", by="Ann Li", key=CHIEF)
        _meeting(table, "cup/2")
        table.write("match", event="DealVoided", reason="so", by="Ann Li", at_ms=1, bound=True)

    table_deals = _numbered(next_match)
    assert "looked at a hand" not in await findings(state_dir, table_deals)


@pytest.mark.parametrize("times", [1, 2])
async def test_what_a_match_brings_along_happened_elsewhere(state_dir: Path, times: int) -> None:
    """The first of two did; the second is of this table."""

    def came(table: ScriptedTable) -> None:
        _meeting(table, "cup/1")
        table.write("opened_hand", bound=True, seat="N", reason="asked", by="Ann Li", key=CHIEF)
        head = "00" * 32
        moved: dict[str, Any] = {"match": "cup/1", "table": "T02", "n": 1, "head": head}
        table.write("taken_over", **moved, digest=head, events=1, proofs=[], by="Bo Wu", at_ms=1)
        _meeting(table, "cup/1")
        voided: dict[str, Any] = {"event": "DealVoided", "reason": "so", "by": "Ann Li"}
        for _ in range(times):
            table.write("match", bound=True, at_ms=1, **voided)

    found = await findings(state_dir, _numbered(came))
    assert ("looked at a hand" in found) is (times == 2)


def _numbered(script: Callable[[ScriptedTable], None]) -> Callable[[ScriptedTable], None]:
    """Let entries be of deal 1, and of no attempt."""

    def numbered(table: ScriptedTable) -> None:
        def write(kind: str, *, public: bool = True, bound: bool = False, **data: Any) -> None:
            table.journal.append(kind, data, deal=1 if bound else None, attempt=None, public=public)

        table.write = write  # type: ignore[method-assign]
        script(table)

    return numbered


# What is kept back of a match.


@pytest.mark.parametrize("told", [0, 1, 2])
async def test_what_was_kept_back_is_told_before_hands_go_out_again(
    state_dir: Path, told: int
) -> None:
    def keeps(table: ScriptedTable) -> None:
        table.play()
        kept = []
        for card in ("♠2", "♠3"):
            event: dict[str, Any] = {"event": "ReturnLaid", "at_ms": 1000, "card": card}
            table.write("match_kept", public=False, **event)
            kept.append({"n": table.journal.last_number, "event": event})
        table.write("match_told", told=kept[:told])
        table.play()

    found = await findings(state_dir, keeps)
    assert found.count("were not published before the next release") == 2 - told


async def test_what_was_kept_back_of_a_match_that_went_away_is_never_told(state_dir: Path) -> None:
    def goes(table: ScriptedTable) -> None:
        table.play()
        table.write("match_kept", public=False, event="ReturnLaid", at_ms=1000)
        table.write("transferred", match="cup/1", to="T02", to_head=None, by="Ann", at_ms=1000)
        table.play()

    assert "were not published" not in await findings(state_dir, goes)


# What a screen shows, and what nobody can read.


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        ("opened", setting("table", "T01\x07\x1b[2K\njournal of T01: all holds\x9b8m")),
        ("committed", setting("profile", "x\n\x07all holds")),
        (
            "committed",
            lambda entry: entry["data"].update(profile="x\n\x07", profile_hash="11" * 32),
        ),
    ],
)
def test_no_name_in_a_journal_moves_the_cursor(
    state_dir: Path, written: Write, kind: str, change: Callable[[dict[str, Any]], None]
) -> None:
    written(given_up)
    rewritten(state_dir, kind, change)
    told = CliRunner().invoke(command, [str(state_dir)])
    assert not [
        sign for sign in told.output if (sign < " " and sign != "\n") or "\x7f" <= sign < "\xa0"
    ]
    assert len([line for line in told.output.splitlines() if line.startswith("journal of")]) == 1


@pytest.mark.parametrize("depth", [65, 200, 400, 900, 960, 980, 1100, 5000])
def test_data_of_any_depth_end_in_a_report(state_dir: Path, written: Write, depth: int) -> None:
    written(given_up)
    deep = b'{"x":' + b"[" * depth + b"]" * depth + b"}"
    with open_read_only(state_dir / STORE_NAME) as lying:
        rows = list(lying)
    body = rows[0].body
    at = body.index(b'"data":') + len(b'"data":')
    rows[0] = rows[0]._replace(body=body[:at] + deep + body[body.index(b',"deal"') :])
    write_rows(state_dir, rechained(rows))
    told = CliRunner().invoke(command, [str(state_dir)])
    assert told.exit_code == 1
    assert "entry 1: its text" in told.output


def test_an_entry_is_no_deeper_than_whoever_reads_it(good_rows: list[StoredRow]) -> None:
    entry = decode(good_rows[0].body)
    deep: Any = []
    for _ in range(63):
        deep = [deep]
    assert encode(msgspec.structs.replace(entry, data={"x": deep}))
    with pytest.raises(ValueError, match="at most 64 deep"):
        encode(msgspec.structs.replace(entry, data={"x": [deep]}))
