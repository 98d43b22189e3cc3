"""A match that outlives its machine: it leaves one table in mid-deal for another (转台)."""

import asyncio
import itertools
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import msgspec
import pytest

from controller.journal.entries import JournalEntry
from controller.journal.store import JournalStore
from controller.journal.verify import verify
from controller.machine.state import table_match as at_play
from controller.machine.state.table_match import TableMatch
from controller.match.reducer import replay_events
from controller.match.transfer_document import pack_document, unpack_document
from controller.messages import AttemptOutcome, ClientCommand, CommandReply, MachinePhase, Role
from controller.rules.profile_files import load_profile
from controller.sheet.form import ScoreSheet
from controller.signing.signed_commands import check_document, sign_document
from controller.signing.signed_heads import verify_key
from sim.mechanics.mechanics_settings import MechanicsSettings
from sim.tables.table_in_process import TABLE_SIGN, TableInProcess, run_table_in_process
from tests.machine.by_hand import drawn_by_hand, exchanged, match_at, played
from tests.machine.stages import all_press, opened, ordered, refused
from tests.machine.transferred_parts import taking
from tests.match.differences import differences, plain
from tests.match.table import INTL, timed

pytestmark = pytest.mark.virtual
CHIEF, REFEREE, TABLE = Role.CHIEF, Role.REFEREE, Role.TABLE
WAY_S = 90.0
"""How long people take from one table to the other."""


class Hall:
    """Tables of one hall, each with a journal of its own."""

    def __init__(self, stack: AsyncExitStack, state_dir: Path, runtime_dir: Path) -> None:
        self._stack, self._state_dir, self._runtime_dir = stack, state_dir, runtime_dir

    def state_dir(self, name: str) -> Path:
        return self._state_dir / name

    async def table(self, name: str, **options: Any) -> TableInProcess:
        """Open a table."""
        folder, runtime = self.state_dir(name), self._runtime_dir / name
        for one in (folder, runtime):
            one.mkdir(mode=0o700, exist_ok=True)
        given: dict[str, Any] = {
            "store": JournalStore.open(folder),
            "state_dir": folder,
            "table_id": name,
        } | options
        at = await self._stack.enter_async_context(
            run_table_in_process(MechanicsSettings(), runtime, **given)
        )
        await at.wait_for_phase(MachinePhase.EMPTY)
        return at


@pytest.fixture
async def hall(tmp_path: Path, runtime_dir: Path) -> AsyncIterator[Hall]:
    async with AsyncExitStack() as stack:
        yield Hall(stack, tmp_path, runtime_dir)


async def released(at: TableInProcess, cut: int = 40) -> None:
    """Let the machine deal the deal that is due, and let all count their hands."""
    await at.wait_for_phase(MachinePhase.EMPTY)
    await ordered(at, REFEREE, "start_deal")
    await at.wait_for_phase(MachinePhase.COMMITTED)
    await ordered(at, TABLE, "cut", n=cut)
    await at.wait_for_state(lambda state: state.match.phase == "held")
    await ordered(at, REFEREE, "release")
    await at.take_hands()
    await all_press(at, "NWSE")


async def parts_of(at: TableInProcess) -> list[dict[str, Any]]:
    """Fetch the document of the match that left."""
    reply = await ordered(at, Role.OBSERVER, "document")
    assert reply.result is not None
    parts = [reply.result]
    for number in range(2, reply.result["parts"] + 1):
        more = (await ordered(at, Role.OBSERVER, "document", part=number)).result
        assert more is not None
        parts.append(more)
    return parts


async def moved(here: TableInProcess, there: TableInProcess, way_s: float = 0.0) -> CommandReply:
    """Carry the match over."""
    await ordered(here, CHIEF, "transfer", table=there.states[-1].table)
    parts = await parts_of(here)
    await asyncio.sleep(way_s)
    for part in parts:
        reply = await ordered(there, CHIEF, "take_over", **taking(part))
    return reply


def table_of(at: TableInProcess) -> str:
    return at.states[-1].table


def entries_of(at: TableInProcess) -> list[JournalEntry]:
    """What stands in a table's journal."""
    return [chained.entry for chained in at.machine.record.journal.entries()]


def folded(at: TableInProcess) -> TableMatch:
    """The match as the journal alone has it."""
    play = TableMatch()
    for entry in entries_of(at):
        play = at_play.fold_match(play, entry, load_profile(INTL))
    return play


def data_of(at: TableInProcess, kind: str) -> dict[str, Any]:
    """What the last public entry of a kind holds."""
    return next(event.data for event in reversed(at.events) if event.kind == kind)


def same(here: TableMatch, there: TableMatch) -> int:
    """Assert that two tables have the same match but for its clock; return how far those differ."""
    assert here.transferred is not None
    assert there.match is not None
    left, came = plain(here.transferred.match), plain(there.match)
    found = list(differences(left, came))
    by_ms = there.match.now_ms - here.transferred.match.now_ms
    assert not [each for each in found if each[2] - each[1] != by_ms]
    return by_ms


STAGES = ("cut", "dealing", "held", "count_check", "tribute", "play", "result", "by_hand")


async def brought_to(at: TableInProcess, stage: str) -> None:
    """Bring the second deal of a match to a phase."""
    await opened(at)
    await drawn_by_hand(at)
    await played(at, "NWS")
    if stage == "by_hand":
        await drawn_by_hand(at)
        return
    if stage == "cut":
        return
    await ordered(at, REFEREE, "start_deal")
    await at.wait_for_phase(MachinePhase.COMMITTED)
    await ordered(at, TABLE, "cut", n=40)
    if stage == "dealing":
        await at.wait_for_state(lambda state: state.machine.fed > 20)
        return
    await at.wait_for_state(lambda state: state.match.phase == "held")
    if stage == "held":
        return
    await ordered(at, REFEREE, "release")
    await at.take_hands()
    if stage == "count_check":
        return
    await all_press(at, "NWSE")
    if match_at(at).phase == "tribute" and stage != "tribute":
        await all_press(at, "E")
        await all_press(at, "N")
    if stage == "result":
        await ordered(at, REFEREE, "result", order=["N", "S"])


@pytest.mark.parametrize(
    "stage",
    [
        pytest.param(stage, marks=() if stage in ("dealing", "tribute") else pytest.mark.slow)
        for stage in STAGES
    ],
)
async def test_a_match_goes_on_at_another_table_as_it_left(hall: Hall, stage: str) -> None:
    rules = timed(INTL)
    here, there = [await hall.table(name, profile=rules) for name in ("T01", "T02")]
    await brought_to(here, stage)
    before = match_at(here)
    answer = await moved(here, there, WAY_S)
    assert answer.result is not None
    after = match_at(there)
    begun = stage in ("count_check", "tribute", "play", "result", "by_hand")
    assert after.phase == (before.phase if begun else "cut")
    assert answer.result == {"match": "M1", "deal": 2, "phase": after.phase}
    assert after.suspended == "transfer"
    assert match_at(here).match is None
    by_ms = same(here.machine.record.match_written, there.machine.record.match_written)
    assert by_ms >= 0
    assert (after.levels, after.by_hand, after.seated) == (
        before.levels,
        before.by_hand,
        before.seated,
    )
    unknown = [call.reason for call in there.states[-1].calls]
    assert ("hands_unknown" in unknown) == (begun and stage != "by_hand")
    await ordered(there, REFEREE, "resume")
    if not begun:
        state = await here.wait_for_state(lambda state: stage == "cut" or bool(state.fairness))
        assert [proof.reasons for proof in state.fairness] == (
            [] if stage == "cut" else [["NOT_NEEDED"]]
        )
        await released(there)
    # The time on the way was lost to the table, and a referee gives it back.
    assert "added_time" in [call.reason for call in there.states[-1].calls]
    await ordered(there, REFEREE, "add_time", seconds=round(WAY_S))
    assert "added_time" not in [call.reason for call in there.states[-1].calls]
    await exchanged_by_referee(there)
    if stage != "result":
        await ordered(there, REFEREE, "result", order=["N", "S"])
    await ordered(there, REFEREE, "confirm")
    assert match_at(there).deal == 3
    sheet = (await ordered(there, Role.OBSERVER, "sheet")).result
    assert sheet is not None
    assert [row["deal"] for row in sheet["deals"]] == [1, 2]


async def exchanged_by_referee(at: TableInProcess) -> None:
    """Bring a deal into play whose hands no machine knows, or which this one does."""
    await all_press(at, "".join(match_at(at).waiting_for) if _counts(at) else "")
    await exchanged(at)
    while match_at(at).phase in ("tribute", "return"):
        tribute = match_at(at).tribute
        assert tribute is not None
        if match_at(at).phase == "return" or match_at(at).waiting_for:
            await all_press(at, match_at(at).waiting_for[0])
        else:
            await ordered(at, REFEREE, "tribute", seat=tribute.payers[0], card="DA")


def _counts(at: TableInProcess) -> bool:
    return match_at(at).phase == "count_check"


async def test_both_journals_name_each_other_and_verify_clean(hall: Hall) -> None:
    here, there = await hall.table("T01"), await hall.table("T02")
    await brought_to(here, "dealing")
    head = there.states[-1].head
    await ordered(here, CHIEF, "transfer", table="T02", head=head)
    for part in await parts_of(here):
        await ordered(there, CHIEF, "take_over", **taking(part))
    went, came = data_of(here, "transferred"), data_of(there, "taken_over")
    assert (went["match"], went["to"], went["to_head"]) == ("M1", "T02", head)
    assert (came["match"], came["table"]) == ("M1", "T01")
    (named,) = [event for event in here.events if event.n == came["n"]]
    assert (named.kind, named.head) == ("transferred", came["head"])
    heads = [chained.head.hex() for chained in there.machine.record.journal.entries()]
    assert head in heads
    assert came["digest"] == (await parts_of(here))[0]["digest"]
    assert [proof["table"] for proof in came["proofs"]] == ["T01"]
    await here.wait_for_state(lambda state: state.fairness[-1].reveal is not None)
    for name in ("T01", "T02"):
        assert verify(hall.state_dir(name)).findings == []


@pytest.mark.slow
async def test_a_match_begins_at_one_table_loses_it_and_ends_at_a_third(hall: Hall) -> None:
    """The machine dies in mid-deal: two deals by hand there, then on to two other tables."""
    first, second, third = [await hall.table(name) for name in ("T01", "T02", "T03")]
    await opened(first)
    await released(first)
    await played(first, "NS")
    first.lay_down()
    await first.load()
    await first.wait_for_phase(MachinePhase.EMPTY)
    await ordered(first, REFEREE, "start_deal")
    await first.wait_for_phase(MachinePhase.COMMITTED)
    await ordered(first, TABLE, "cut", n=40)
    await first.wait_for_state(lambda state: state.machine.fed > 20)
    first.sim.kill("dealer")
    await first.wait_for_state(lambda state: state.machine.phase is MachinePhase.FAULT)
    for order in ("NS", "NS"):
        await drawn_by_hand(first)
        await exchanged(first)
        await played(first, order)
    assert match_at(first).deal == 4
    await moved(first, second, WAY_S)
    await ordered(second, REFEREE, "resume")
    await ordered(second, REFEREE, "add_time", seconds=60)
    await released(second)
    await exchanged_by_referee(second)
    await moved(second, third, WAY_S)
    assert [proof["table"] for proof in data_of(third, "taken_over")["proofs"]] == ["T01"] * 2 + [
        "T02"
    ]
    await ordered(third, REFEREE, "resume")
    await ordered(third, REFEREE, "add_time", seconds=60)
    await played(third, "NS")
    assert match_at(third).levels == {"NS": "A", "EW": "2"}
    await released(third)
    await exchanged_by_referee(third)
    await played(third, "NWS")
    for signer in list(match_at(third).signers):
        await ordered(third, REFEREE, "sign", signer=signer, person=f"person {signer}")
    assert match_at(third).phase == "signed"
    reply = await ordered(third, Role.OBSERVER, "sheet")
    assert reply.result is not None
    assert [row["by_hand"] for row in reply.result["deals"]] == [False, True, True, False, False]
    # What the rules alone make of what happened at all three.
    match = third.machine.record.match_written.match
    assert match is not None
    alone = replay_events(
        match.profile, match.meeting, match.record, third.machine.record.match_written.events
    )
    assert alone == match
    second.lay_down()
    await second.load()
    await second.wait_for_state(lambda state: state.fairness[-1].reveal is not None)
    for name in ("T01", "T02", "T03"):
        assert verify(hall.state_dir(name)).findings == []


async def test_hands_that_are_played_elsewhere_are_not_revealed_before_their_cards_are_back(
    hall: Hall,
) -> None:
    here, there = await hall.table("T01"), await hall.table("T02")
    await opened(here)
    await released(here)
    await moved(here, there)
    await asyncio.sleep(30)
    assert here.states[-1].machine.phase is MachinePhase.RELEASED
    assert here.states[-1].fairness[-1].reveal is None
    assert await refused(here, REFEREE, "start_deal") == "NO_DEAL_DUE"
    here.lay_down()
    await here.load()
    state = await here.wait_for_state(lambda state: state.fairness[-1].reveal is not None)
    assert state.fairness[-1].outcome is AttemptOutcome.OK
    await here.wait_for_phase(MachinePhase.EMPTY)
    assert await refused(here, REFEREE, "release") == "WRONG_PHASE"
    assert verify(hall.state_dir("T01")).findings == []


async def test_only_the_chief_moves_a_match_or_a_referee_by_his_word(hall: Hall) -> None:
    here, there = await hall.table("T01"), await hall.table("T02")
    await opened(here)
    assert await refused(here, REFEREE, "transfer", table="T02") == "NEEDS_CHIEF"
    assert await refused(here, TABLE, "transfer", table="T02") == "WRONG_ROLE"
    assert await refused(here, CHIEF, "transfer", table="T01") == "BAD_COMMAND"
    word = {"verbal": True, "by": "Chen"}
    await ordered(here, REFEREE, "transfer", table="T02", **word)
    assert data_of(here, "transferred")["by"] == "Chen"
    (part,) = await parts_of(here)
    assert await refused(there, REFEREE, "take_over", **taking(part)) == "NEEDS_CHIEF"
    await ordered(there, REFEREE, "take_over", **taking(part), **word)
    assert data_of(there, "taken_over")["by"] == "Chen"


async def test_a_chiefs_word_names_who_carried_the_match_at_both_tables_and_on_the_sheet(
    hall: Hall,
) -> None:
    tables = [await hall.table(name) for name in ("T01", "T02", "T03")]
    await brought_to(tables[0], "result")
    word = {"verbal": True, "by": "Chen"}
    for here, there in itertools.pairwise(tables):
        sent = ClientCommand(
            id="t", cmd="transfer", person="Li Na", args=word | {"table": table_of(there)}
        )
        assert (await here.lasting.submit(here.sign_command(sent, here.signers[REFEREE]))).ok
        (part,) = await parts_of(here)
        taken = ClientCommand(id="o", cmd="take_over", person="Wu Jun", args=word | taking(part))
        assert (await there.lasting.submit(there.sign_command(taken, there.signers[REFEREE]))).ok
        went, came = data_of(here, "transferred"), data_of(there, "taken_over")
        assert (went["by"], went["entered_by"]) == ("Chen", "Li Na (referee)")
        assert (came["by"], came["entered_by"]) == ("Chen", "Wu Jun (referee)")
        assert folded(there) == there.machine.record.match_written
    reply = await ordered(tables[-1], REFEREE, "sheet")
    sheet = msgspec.convert(reply.result, ScoreSheet)
    said = "Chen (chief, by word), entered by Li Na (referee)"
    assert [note.en for note in sheet.notes] == [
        f"moved from table T01 to table T02 ({said})",
        f"moved from table T02 to table T03 ({said})",
    ]
    said = "裁判长Chen（口头），Li Na（裁判员）录入"
    assert sheet.notes[-1].zh == f"由T02台转至T03台（{said}）"
    assert [note.row for note in sheet.notes] == [sheet.versions[-1].rows] * 2


async def test_a_chief_who_moves_a_match_himself_is_named_alone(hall: Hall) -> None:
    here, there = await hall.table("T01"), await hall.table("T02")
    await brought_to(here, "cut")
    await moved(here, there)
    for at, kind in ((here, "transferred"), (there, "taken_over")):
        assert data_of(at, kind)["by"] == "chief"
        assert "entered_by" not in data_of(at, kind)


async def test_why_a_match_may_not_move_is_told_in_chinese(hall: Hall) -> None:
    here, there = await hall.table("T01"), await hall.table("T02")
    await opened(here)
    reply = await here.send_command(CHIEF, "transfer", table="T01")
    assert reply.error is not None
    assert reply.error.message_zh == "命令格式错误：T01，应为另一张台"
    await ordered(here, CHIEF, "transfer", table="T03")
    (part,) = await parts_of(here)
    reply = await there.send_command(CHIEF, "take_over", **taking(part))
    assert reply.error is not None
    assert reply.error.message_zh == "该转台数据不属于本台：M1由T01台转往T03台"


async def test_a_document_for_another_table_or_other_rules_is_refused(hall: Hall) -> None:
    here, there = await hall.table("T01"), await hall.table("T02")
    other = await hall.table("T03", profile=load_profile("bcta-004"))
    await opened(here)
    await ordered(here, CHIEF, "transfer", table="T03")
    (part,) = await parts_of(here)
    assert await refused(there, CHIEF, "take_over", **taking(part)) == "OTHER_MATCH"
    assert await refused(other, CHIEF, "take_over", **taking(part)) == "OTHER_MATCH"
    # It went to the wrong table: it is sent to another one from where it was last.
    await ordered(here, CHIEF, "transfer", table="T02")
    (again,) = await parts_of(here)
    await ordered(there, CHIEF, "take_over", **taking(again))
    assert match_at(there).match == "M1"
    assert "taken_over" not in [event.kind for event in other.events]


async def test_a_table_that_has_a_match_takes_no_other(hall: Hall) -> None:
    here, there = await hall.table("T01"), await hall.table("T02")
    await opened(here)
    await opened(there)
    await ordered(here, CHIEF, "transfer", table="T02")
    (part,) = await parts_of(here)
    assert await refused(there, CHIEF, "take_over", **taking(part)) == "MATCH_OPEN"
    assert match_at(there).suspended is None


async def test_a_table_that_deals_takes_no_match_yet(hall: Hall) -> None:
    here, there = await hall.table("T01"), await hall.table("T02")
    await opened(here)
    await ordered(there, REFEREE, "start_deal")
    await there.wait_for_phase(MachinePhase.COMMITTED)
    await ordered(here, CHIEF, "transfer", table="T02")
    (part,) = await parts_of(here)
    assert await refused(there, CHIEF, "take_over", **taking(part)) == "MACHINE_BUSY"
    await ordered(there, CHIEF, "hold", reason="a match comes")
    await ordered(there, CHIEF, "void", reason="a match comes")
    await there.wait_for_state(lambda state: state.fairness[-1].outcome is AttemptOutcome.VOID)
    await ordered(there, CHIEF, "take_over", **taking(part))


async def test_the_same_orders_again_move_nothing_twice(hall: Hall) -> None:
    here, there = await hall.table("T01"), await hall.table("T02")
    await opened(here)
    order = here.make_command(CHIEF, "transfer", table="T02")
    first = await here.lasting.submit(order)
    assert await here.lasting.submit(order) == first
    fresh = await ordered(here, CHIEF, "transfer", table="T02")
    assert fresh.result == first.result
    (part,) = await parts_of(here)
    order = there.make_command(CHIEF, "take_over", **taking(part))
    taken = await there.lasting.submit(order)
    assert taken.ok
    assert await there.lasting.submit(order) == taken
    again = await ordered(there, CHIEF, "take_over", **taking(part))
    assert again.result == taken.result
    kinds = [event.kind for event in (*here.events, *there.events)]
    assert (kinds.count("transferred"), kinds.count("taken_over")) == (1, 1)
    # Once it is gone from there again, the old document is worth nothing.
    await ordered(there, CHIEF, "transfer", table="T03")
    assert await refused(there, CHIEF, "take_over", **taking(part)) == "OTHER_MATCH"


async def test_a_match_comes_back_to_where_it_was(hall: Hall) -> None:
    here, there = await hall.table("T01"), await hall.table("T02")
    await opened(here)
    await moved(here, there, WAY_S)
    await ordered(there, REFEREE, "resume")
    await drawn_by_hand(there)
    await played(there, "NS")
    await moved(there, here, WAY_S)
    await ordered(here, REFEREE, "resume")
    assert (match_at(here).deal, match_at(here).levels) == (2, {"NS": "5", "EW": "2"})


async def test_parts_come_in_any_order_and_more_than_once(hall: Hall) -> None:
    here, there = await hall.table("T01"), await hall.table("T02")
    await opened(here)
    for number in range(40):  # so that the document is long
        charge = {"offence": "play_out_of_turn", "seat": "NWSE"[number % 4]}
        person = f"{number * 7919 % 1000003:x}" * 9
        await ordered(here, REFEREE, "propose", **charge, person=person)
    await ordered(here, CHIEF, "transfer", table="T02")
    parts = await parts_of(here)
    short = _shorter(parts)
    assert len(short) > 3
    first, last = short[0], short[-1]
    late = [*short[1:-1][::-1], first, first]
    for part in late:
        reply = await ordered(there, CHIEF, "take_over", **taking(part))
        assert reply.result is not None
        assert last["part"] in reply.result["missing"]
    assert match_at(there).match is None
    assert not [event for event in there.events if event.kind in ("taken_over", "command")]
    spoilt = taking(last) | {"text": last["text"][::-1].strip("=") or "A"}
    assert await refused(there, CHIEF, "take_over", **spoilt) == "BAD_COMMAND"
    for part in [last, *late]:  # what was kept of them went with the spoilt one
        reply = await ordered(there, CHIEF, "take_over", **taking(part))
    assert reply.result is not None
    assert reply.result["match"] == "M1"
    assert same(here.machine.record.match_written, there.machine.record.match_written) is not None


def _shorter(parts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The same document in more parts."""
    text = "".join(part["text"] for part in parts)
    size = 500
    cut = [text[at : at + size] for at in range(0, len(text), size)]
    named = {name: parts[0][name] for name in ("digest", "sig")} | {"parts": len(cut)}
    return [named | {"part": number + 1, "text": each} for number, each in enumerate(cut)]


async def test_a_changed_document_is_found_out(hall: Hall) -> None:
    """Whoever changes it must name it otherwise, and its events lead elsewhere."""
    here, there = await hall.table("T01"), await hall.table("T02")
    await brought_to(here, "cut")
    await ordered(here, CHIEF, "transfer", table="T02")
    (part,) = await parts_of(here)
    sent = unpack_document(part["digest"], [part["text"]])
    forged = msgspec.structs.replace(sent, events=sent.events[:-1])
    digest, texts = pack_document(forged)
    said = taking(part) | {"digest": digest, "text": texts[0]}
    assert await refused(there, CHIEF, "take_over", **said) == "BAD_DOCUMENT"
    said |= {"sig": sign_document(digest, TABLE_SIGN)}  # by the table itself, or another version
    assert await refused(there, CHIEF, "take_over", **said) == "BAD_COMMAND"


async def test_a_match_is_taken_from_the_table_alone_whose_key_the_order_names(hall: Hall) -> None:
    """A gateway between can write another document, and sign it with a key of its own."""
    here, there = await hall.table("T01"), await hall.table("T02")
    await brought_to(here, "cut")
    await ordered(here, CHIEF, "transfer", table="T02")
    (part,) = await parts_of(here)
    own = b"G" * 32
    resigned = taking(part) | {"sig": sign_document(part["digest"], own)}
    for said in (resigned, taking(part) | {"verify": verify_key(own).hex()}):
        assert await refused(there, CHIEF, "take_over", **said) == "BAD_DOCUMENT"
    assert match_at(there).match is None
    await ordered(there, CHIEF, "take_over", **taking(part))
    came = data_of(there, "taken_over")
    check_document(came["digest"], came["verify"], came["sig"])
    assert came["verify"] == data_of(here, "opened")["verify"]


async def test_who_moves_a_match_stands_beside_the_key_at_both_tables(hall: Hall) -> None:
    here, there = await hall.table("T01"), await hall.table("T02")
    await brought_to(here, "cut")
    sent = ClientCommand(id="t", cmd="transfer", person="Wu Jun", args={"table": "T02"})
    assert (await here.lasting.submit(here.sign_command(sent, here.signers[CHIEF]))).ok
    (part,) = await parts_of(here)
    taken = ClientCommand(id="t", cmd="take_over", person="Wu Jun", args=taking(part))
    assert (await there.lasting.submit(there.sign_command(taken, there.signers[CHIEF]))).ok
    assert data_of(here, "transferred")["by"] == "Wu Jun (chief)"
    assert data_of(there, "taken_over")["by"] == "Wu Jun (chief)"


async def test_a_table_whose_match_went_still_tells_of_it_after_a_restart(hall: Hall) -> None:
    here, there = await hall.table("T01"), await hall.table("T02")
    await brought_to(here, "play")
    await ordered(here, CHIEF, "transfer", table="T02")
    parts = await parts_of(here)
    await here.lasting.machine.record.sync()
    assert folded(here) == here.machine.record.match_written
    for part in parts:
        await ordered(there, CHIEF, "take_over", **taking(part))
    assert folded(there) == there.machine.record.match_written


async def test_a_match_that_did_not_come_whole_is_not_there(hall: Hall) -> None:
    """A daemon may die between two entries of a match that comes: it is sent again then."""
    here, there = await hall.table("T01"), await hall.table("T02")
    await brought_to(here, "cut")
    await moved(here, there)
    whole = [entry for entry in entries_of(there) if entry.kind != "command"]
    profile = load_profile(INTL)
    seen = set()
    for kept in range(len(whole)):
        play = TableMatch()
        for entry in whole[:kept]:
            play = at_play.fold_match(play, entry, profile)
        seen.add(play.match is None)
        assert play.match is None or kept >= len(whole) - 1 or whole[kept].kind != "match"
        for entry in (entry for entry in whole if entry.kind in ("taken_over", "meeting", "match")):
            play = at_play.fold_match(play, entry, profile)
        assert play.match == there.machine.record.match_written.match
    assert seen == {True} or seen == {True, False}


async def test_there_is_nothing_to_move_without_a_match_or_under_a_signed_sheet(hall: Hall) -> None:
    here = await hall.table("T01")
    assert await refused(here, CHIEF, "transfer", table="T02") == "NO_MATCH"
    assert await refused(here, Role.OBSERVER, "document") == "NO_MATCH"
    await opened(here)
    await ordered(here, CHIEF, "forfeit", side="EW", reason="they went home")
    for signer in list(match_at(here).signers):
        await ordered(here, REFEREE, "sign", signer=signer, person="somebody")
    assert match_at(here).phase == "signed"
    assert await refused(here, CHIEF, "transfer", table="T02") == "WRONG_PHASE"


@pytest.mark.slow
async def test_a_young_table_takes_an_old_match(hall: Hall) -> None:
    """Its clock goes forward, so that no moment of the match lies before its beginning."""
    here = await hall.table("T01")
    await opened(here)
    await asyncio.sleep(4000)
    there = await hall.table("T02")
    await moved(here, there, WAY_S)
    there_ms = there.machine.record.match_written.match
    assert there_ms is not None
    ago_ms = there.machine.record.clock() - there_ms.now_ms
    assert WAY_S * 1000 <= ago_ms <= (WAY_S + 10) * 1000
