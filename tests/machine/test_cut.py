"""The players' cut: seen, within its limits, by whose it is, and before everything that moves."""

import asyncio
from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from controller.journal.committer import InlineCommitter, RowsCommitted
from controller.journal.entries import StorageFailed
from controller.journal.store import JournalStore
from controller.journal.verify import verify
from controller.machine.panel_control import STEP_INTERVAL_S, CutCounter, choose_lamps
from controller.machine.state.table_match import TableMatch
from controller.machine.state.table_state import TableState
from controller.messages import Fairness, MachinePhase, PublicEvent, PublicState, Role
from controller.rules.profile_files import load_profile, profile_names
from drivers.link import frames
from drivers.link.link import Link
from drivers.panel import LampMode, Lamps
from sim.mechanics.mechanics_settings import MechanicsSettings
from sim.tables import table_in_process
from sim.tables.table_in_process import TableInProcess, run_table_in_process
from sim.virtual_loop import VirtualLoop
from tests.machine.opened_hands import dealt, opening, played
from tests.machine.panel_contacts import at_panel
from tests.machine.stages import opened as laid_out
from tests.machine.stages import ordered, refused

REASON = "the cutter left"


# The counter.


@pytest.mark.virtual
@pytest.mark.parametrize("name", profile_names())
async def test_the_counter_shows_every_legal_cut_and_no_other_ten_a_second(name: str) -> None:
    cuts, seen = load_profile(name).cuts(), []
    loop = asyncio.get_running_loop()
    counter = CutCounter(cuts, lambda: seen.append((loop.time(), counter.number)))
    counter.set_running(running=True)
    await asyncio.sleep(STEP_INTERVAL_S * (len(cuts) + 1.5))
    counter.set_running(running=False)
    assert [number for _, number in seen] == [*cuts, cuts[0], cuts[1]]
    steps = [later - earlier for (earlier, _), (later, _) in pairwise(seen)]
    assert steps == pytest.approx([0.1] * len(steps))
    assert counter.number is None


@pytest.mark.virtual
async def test_the_number_that_is_taken_was_on_the_feed_when_it_was_pressed(
    runtime_dir: Path,
) -> None:
    async with run_table_in_process(MechanicsSettings(), runtime_dir) as at:
        contacts = await at_panel(at)
        await at.wait_for_phase(MachinePhase.EMPTY)
        await at.send_command(Role.REFEREE, "start_deal")
        shown = await at.wait_for_state(lambda state: state.machine.counter == 33)
        await contacts.tap("south_green")
        after = await at.wait_for_state(lambda state: state.fairness[-1].cut is not None)
        assert after.fairness[-1].cut in (33, 34)  # a finger takes a moment
        numbers = [s.machine.counter for s in at.states[at.states.index(shown) :]]
        assert after.fairness[-1].cut in numbers
        assert after.machine.counter is None
        contacts.close()


# The time of a press is no part of it.


Outcome = tuple[str, str, int | None, list[bytes]]


async def pressed_after(runtime_dir: Path, wait_s: float, by: str) -> Outcome:
    """Cut at 40 so long after the commitment; return what was promised, drawn and routed."""
    async with run_table_in_process(MechanicsSettings(), runtime_dir, seed=11) as at:
        routes: list[bytes] = []
        original = at.machine.dealer.link.send

        def post(command: frames.BoardCommand) -> None:
            if isinstance(command, frames.RouteCommand):
                routes.append(bytes([command.index, int(command.pocket)]))
            original(command)

        at.machine.dealer.link.send = post  # type: ignore[method-assign]
        contacts = await at_panel(at)
        await at.wait_for_phase(MachinePhase.EMPTY)
        await at.send_command(Role.REFEREE, "start_deal")
        await at.wait_for_phase(MachinePhase.COMMITTED)
        await asyncio.sleep(wait_s)
        if by == "console":
            await at.send_command(Role.TABLE, "cut", n=40)
        else:
            await at.wait_for_state(lambda state: state.machine.counter == 40)
            await contacts.tap("south_green")
        held = await at.wait_for_phase(MachinePhase.HELD)
        contacts.close()
        state = await at.return_hands()
        reveal = state.fairness[-1].reveal
        assert reveal is not None
        return held.fairness[-1].commitment, reveal.seed, reveal.cut, routes


def test_the_same_number_gives_the_same_deal_whenever_and_however_it_was_said(
    runtime_dir: Path,
) -> None:
    found = []
    for wait_s, by in ((0.3, "console"), (7.77, "console"), (0.0, "button"), (12.0, "button")):
        with asyncio.Runner(loop_factory=VirtualLoop) as runner:
            found.append(runner.run(pressed_after(runtime_dir, wait_s, by)))
    assert len(found[0][3]) == 108
    assert all(each == found[0] for each in found)


# The order of the steps.


class SlowCommitter(InlineCommitter):
    """A committer whose disk takes its time: nothing is durable before that."""

    LATE_S = 0.35

    def _report(self, result: RowsCommitted | StorageFailed) -> None:
        loop = asyncio.get_running_loop()
        loop.call_later(self.LATE_S, partial(super()._report, result))


BEFORE: dict[type[Any], str] = {
    frames.BeginCommand: "cut",
    frames.ShuffleCommand: "begun",
    frames.FeedCommand: "shuffled",
    frames.ReleaseCommand: "verdict",
}
"""What stands in the journal, and is on the feed, before a board hears of the next step."""
STEPS = ("committed", "cut", "begun", "shuffled", "held", "verdict", "released", "revealed")


@pytest.mark.virtual
@pytest.mark.parametrize("uncut", [False, True])
async def test_each_step_is_durable_and_on_the_feed_before_a_board_hears_of_the_next(
    runtime_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, uncut: bool
) -> None:
    monkeypatch.setattr(table_in_process, "InlineCommitter", SlowCommitter)
    heard: list[type[Any]] = []
    async with run_table_in_process(
        MechanicsSettings(), runtime_dir, store=JournalStore.open(tmp_path), state_dir=tmp_path
    ) as at:
        journal = at.machine.record.journal

        def check(command: frames.BoardCommand) -> None:
            step = BEFORE.get(type(command))
            if step is None:
                return
            heard.append(type(command))
            (told,) = [event for event in at.events if event.kind == step and event.attempt == 1]
            assert told.n <= journal.last_synced, command
            if isinstance(command, frames.ReleaseCommand):
                given = [e for e in at.events if e.kind == "command" and e.data["cmd"] == "release"]
                assert given, "a release that nobody ordered, as far as the feed knows"

        _spy(monkeypatch, check)
        await at.wait_for_phase(MachinePhase.EMPTY)
        order: dict[str, Any] = {"uncut": True, "reason": REASON} if uncut else {}
        await at.send_command(Role.REFEREE, "start_deal", **order)
        if not uncut:
            committed = await at.wait_for_phase(MachinePhase.COMMITTED)
            assert committed.fairness[-1].commitment
            assert (await at.send_command(Role.TABLE, "cut", n=40)).ok
            (cut,) = [event for event in at.events if event.kind == "cut"]
            assert cut.n <= journal.last_synced  # answered behind that
        await at.wait_for_phase(MachinePhase.HELD)
        await at.return_hands()
        told = [event.kind for event in at.events if event.kind in STEPS]
        assert told == list(STEPS)
    assert set(heard) == set(BEFORE)
    assert verify(tmp_path).findings == []


def _spy(monkeypatch: pytest.MonkeyPatch, check: Callable[[frames.BoardCommand], None]) -> None:
    for name in ("send", "request"):
        original = getattr(Link, name)

        def said(link: Link, command: frames.BoardCommand, original: Any = original) -> Any:
            check(command)
            return original(link, command)

        monkeypatch.setattr(Link, name, said)


# Whose it is, and its limits.


@pytest.mark.virtual
async def test_only_the_cutter_of_a_match_cuts_by_console_and_by_button(runtime_dir: Path) -> None:
    async with run_table_in_process(
        MechanicsSettings(), runtime_dir, profile=opening("match_end")
    ) as at:
        contacts = await at_panel(at)
        await laid_out(at)
        await ordered(at, Role.REFEREE, "start_deal")
        state = await at.wait_for_phase(MachinePhase.COMMITTED)
        assert state.machine.cutters == ["S"]
        for seat in "NWE":
            assert await refused(at, Role.TABLE, "cut", n=40, seat=seat) == "NOT_HIS_DUTY"
        for button in ("north_green", "west_green", "east_green"):
            await contacts.tap(button)
            await asyncio.sleep(0.5)
        assert at.states[-1].machine.phase is MachinePhase.COMMITTED
        await contacts.tap("south_green")
        await at.wait_for_state(lambda state: state.fairness[-1].cut is not None)
        (cut,) = [event for event in at.events if event.kind == "cut"]
        assert cut.data["seat"] == "S"
        contacts.close()


@pytest.mark.virtual
async def test_a_cut_outside_its_limits_is_refused_and_asked_for_again(runtime_dir: Path) -> None:
    async with run_table_in_process(MechanicsSettings(), runtime_dir) as at:
        await at.wait_for_phase(MachinePhase.EMPTY)
        await at.send_command(Role.REFEREE, "start_deal")
        for number in (1, 5, 103, 107):
            assert await refused(at, Role.TABLE, "cut", n=number) == "BAD_COMMAND"
        for number in (0, 108, -1):
            assert await refused(at, Role.TABLE, "cut", n=number) == "BAD_COMMAND"
        await at.wait_for_phase(MachinePhase.COMMITTED)
        assert (await at.send_command(Role.TABLE, "cut", n=102)).ok


@pytest.mark.virtual
async def test_without_a_margin_one_card_may_be_cut(runtime_dir: Path) -> None:
    async with run_table_in_process(
        MechanicsSettings(), runtime_dir, profile=load_profile("bcta-004")
    ) as at:
        await at.wait_for_phase(MachinePhase.EMPTY)
        await at.send_command(Role.REFEREE, "start_deal")
        assert (await at.send_command(Role.TABLE, "cut", n=1)).ok


@pytest.mark.virtual
async def test_who_does_not_cut_is_named_to_the_referee(runtime_dir: Path) -> None:
    async with run_table_in_process(
        MechanicsSettings(), runtime_dir, profile=opening("match_end")
    ) as at:
        await laid_out(at)
        await ordered(at, Role.REFEREE, "start_deal")
        late = await at.wait_for_state(lambda state: bool(state.alerts))
        (alert,) = late.alerts
        cause = "The cards have not been cut: south was asked"
        assert (alert.name, alert.cause) == ("CUT_LATE", cause)
        assert late.machine.counter is not None  # it may still come


# Without a cut.


@pytest.mark.virtual
@pytest.mark.parametrize("reason", [None, "", "  "])
async def test_no_deal_goes_on_uncut_without_a_reason(
    runtime_dir: Path, reason: str | None
) -> None:
    async with run_table_in_process(MechanicsSettings(), runtime_dir) as at:
        await at.wait_for_phase(MachinePhase.EMPTY)
        args: dict[str, Any] = {"uncut": True} | ({} if reason is None else {"reason": reason})
        assert await refused(at, Role.REFEREE, "start_deal", **args) == "BAD_COMMAND"
        await at.send_command(Role.REFEREE, "start_deal")
        assert await refused(at, Role.REFEREE, "start_deal", **args) == "BAD_COMMAND"
        assert await refused(at, Role.TABLE, "start_deal", uncut=True, reason="x") == "WRONG_ROLE"
        await at.wait_for_phase(MachinePhase.COMMITTED)


@pytest.mark.virtual
async def test_who_starts_a_deal_that_waits_for_its_cut_is_told_in_chinese_what_it_takes(
    runtime_dir: Path,
) -> None:
    async with run_table_in_process(MechanicsSettings(), runtime_dir) as at:
        await at.wait_for_phase(MachinePhase.EMPTY)
        await ordered(at, Role.REFEREE, "start_deal")
        await at.wait_for_phase(MachinePhase.COMMITTED)
        reply = await at.send_command(Role.REFEREE, "start_deal")
        assert reply.error is not None
        said = "命令格式错误：未写理由，应为不切牌（uncut=true）并写明理由"
        assert (reply.error.code, reply.error.message_zh) == ("BAD_COMMAND", said)


def moments(at: TableInProcess) -> Iterator[PublicState]:
    """The states between the cut that was none and the release."""
    phases = (MachinePhase.CUT, MachinePhase.SHUFFLING, MachinePhase.DEALING, MachinePhase.HELD)
    return (state for state in at.states if state.machine.phase in phases)


@pytest.mark.virtual
async def test_an_uncut_deal_is_marked_wherever_it_is_seen(
    runtime_dir: Path, tmp_path: Path
) -> None:
    async with run_table_in_process(
        MechanicsSettings(),
        runtime_dir,
        store=JournalStore.open(tmp_path),
        state_dir=tmp_path,
        profile=opening("match_end", deals=2),
    ) as at:
        contacts = await at_panel(at)
        await laid_out(at)
        await ordered(at, Role.REFEREE, "start_deal")
        said = {"uncut": True, "reason": REASON}
        await ordered(at, Role.REFEREE, "start_deal", **said)
        await at.wait_for_phase(MachinePhase.HELD)
        assert contacts.lamps["lamp_amber"]
        marked = list(moments(at))
        assert {state.fairness[-1].uncut for state in marked} == {True}
        waiting = [s for s in marked if s.match.phase in ("dealing", "held")]
        assert waiting
        assert all(s.match.next_en.startswith("uncut") for s in waiting)
        assert all("未切牌" in s.match.next_zh for s in waiting)
        await asyncio.sleep(0.5)
        await ordered(at, Role.REFEREE, "release")
        await at.take_hands()
        for seat in "NWSE":
            await ordered(at, Role.TABLE, "confirm", seat=seat)
        assert not contacts.lamps["lamp_amber"]
        await played(at, "NWS")
        await dealt(at)
        await played(at, "NWS")
        sheet = (await ordered(at, Role.OBSERVER, "sheet")).result
        assert sheet is not None
        assert [(row["uncut"], row["cut"]) for row in sheet["deals"]] == [(True, None), (False, 40)]
        told = [event for event in at.events if event.kind == "cut"]
        assert _cut(told[0]) == (None, REASON)
        contacts.close()
    report = verify(tmp_path)
    assert report.findings == []
    assert [standing.uncut for standing in report.attempts] == [True, False]
    assert "uncut" in str(report.attempts[0])


def _cut(event: PublicEvent) -> tuple[int | None, str | None]:
    return event.data["cut"], event.data.get("reason")


@pytest.mark.parametrize("phase", [MachinePhase.CUT, MachinePhase.SHUFFLING, MachinePhase.DEALING])
def test_the_amber_light_stays_on_while_an_uncut_deal_is_dealt(phase: MachinePhase) -> None:
    proof = Fairness(deal=1, attempt=1, commitment="00", uncut=True)
    shown = choose_lamps(TableState(proofs=(proof,)), TableMatch(), phase)
    assert shown == Lamps(amber=LampMode.ON, green=LampMode.BLINK)


def test_behind_its_release_an_uncut_deal_is_lit_as_any_other() -> None:
    proof = Fairness(deal=1, attempt=1, commitment="00", uncut=True)
    assert choose_lamps(TableState(proofs=(proof,)), TableMatch(), MachinePhase.RELEASED) == Lamps(
        green=LampMode.ON
    )
