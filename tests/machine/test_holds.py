"""Pauses and latched faults: who stops the table, who lets it go on, and which cause is shown."""

import asyncio
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from controller.deal.observations import (
    BothBegan,
    CardAtReader,
    CardVerdict,
    LookOutcome,
    ShufflerDone,
)
from controller.faults import fault
from controller.machine.attempts.card_loop import LOOK_TIMEOUT_S, CardLoop
from controller.messages import AttemptOutcome, MachinePhase, Role
from drivers.board_events import BoardEvent, BoardEventCode
from drivers.link import frames
from sim.mechanics.fault_menu import parse_fault
from sim.tables.table_in_process import TableInProcess
from tests.machine.stages import (
    A_MOMENT_S,
    STAGES,
    alerts,
    at,
    cut,
    deal_two_due,
    ordered,
    refused,
    started,
)
from tests.machine.troubles import Ground

pytestmark = pytest.mark.virtual
A_WHILE_S = 5.0
MOMENTS = 1000
STANDING_S = 1.0
"""What a motor that was stopped takes to stand, and what it had in hand to fall."""
DEALT_S = 14.0
"""From a cut to held hands, nearly."""


@pytest.fixture
def ground(runtime_dir: Path, tmp_path: Path) -> Ground:
    """Make a place for tables with two sets."""
    return Ground(runtime_dir, tmp_path)


def reasons(trial: TableInProcess) -> list[str]:
    return trial.states[-1].fairness[-1].reasons


def pauses(trial: TableInProcess) -> set[str]:
    return set(trial.states[-1].machine.pauses)


def where(trial: TableInProcess) -> Any:
    """Return where every card is."""
    truth = trial.sim.world.truth()
    return (truth.hopper, truth.shuffler, truth.feeder, truth.window, truth.path, truth.pockets)


async def all_dealt(trial: TableInProcess, number: int) -> None:
    """See an attempt end with four right hands and every card in them."""
    held = await trial.wait_for_phase(MachinePhase.HELD)
    assert held.machine.attempt == number
    assert held.fairness[-1].outcome is AttemptOutcome.OK
    assert [len(pocket) for pocket in trial.sim.world.truth().pockets] == [27, 27, 27, 27, 0]


# -- a table that is held -----------------------------------------------------


@pytest.mark.parametrize("full", [50, pytest.param(400, marks=pytest.mark.slow)])
async def test_a_hold_stops_the_cards_wherever_they_are_and_none_is_lost_by_it(
    scale: Callable[[int], int], ground: Ground, full: int
) -> None:
    chance = random.Random("holds")
    async with ground.table() as trial:
        for number in range(1, scale(full) + 1):
            await trial.wait_for_phase(MachinePhase.EMPTY)
            await asyncio.sleep(STANDING_S)
            await started(trial)
            assert (await trial.send_command(Role.TABLE, "cut", n=40)).ok
            for _ in range(2):
                await asyncio.sleep(chance.uniform(0, DEALT_S / 2))
                await ordered(trial, Role.REFEREE, "hold", reason="somebody fell ill")
                await asyncio.sleep(STANDING_S)
                stood = where(trial)
                if number % 2:
                    # A line that comes back moves nothing either.
                    trial.machine.table_boards.on_session_renewed()
                await asyncio.sleep(A_WHILE_S)
                assert where(trial) == stood
                await ordered(trial, Role.REFEREE, "resume")
            await all_dealt(trial, number)
            await trial.return_hands()


async def test_a_hold_before_the_first_card_keeps_the_shuffler_still(ground: Ground) -> None:
    async with ground.table() as trial:
        await STAGES["shuffling"](trial)
        await ordered(trial, Role.REFEREE, "hold", reason="look")
        await asyncio.sleep(A_WHILE_S)
        assert trial.states[-1].machine.fed == 0
        assert trial.sim.world.truth().arrived == 0
        await ordered(trial, Role.REFEREE, "resume")
        await all_dealt(trial, 1)


async def test_a_machine_that_stands_promises_nothing(ground: Ground) -> None:
    async with ground.table() as trial:
        await STAGES["shuffling"](trial)
        moves = await trial.wait_for_state(lambda state: state.machine.fed >= 30)
        assert moves.machine.ready_in_s is not None
        await ordered(trial, Role.REFEREE, "hold", reason="look")
        stands = await trial.wait_for_state(lambda state: bool(state.machine.pauses))
        assert stands.machine.ready_in_s is None
        await ordered(trial, Role.REFEREE, "resume")
        moves = await trial.wait_for_state(lambda state: state.machine.fed >= 40)
        assert moves.machine.ready_in_s is not None
        trial.sim.world.set_lid(True)
        fails = await trial.wait_for_phase(MachinePhase.FAULT)
        assert fails.machine.ready_in_s is None


async def test_no_step_of_a_deal_is_taken_while_the_table_is_held(ground: Ground) -> None:
    async with ground.table() as trial:
        await deal_two_due(trial)
        await ordered(trial, Role.REFEREE, "hold", reason="look")
        assert await refused(trial, Role.REFEREE, "start_deal") == "PAUSED"
        await ordered(trial, Role.REFEREE, "resume")
        await started(trial)
        await ordered(trial, Role.REFEREE, "hold", reason="look")
        assert await refused(trial, Role.TABLE, "cut", n=40) == "PAUSED"
        uncut = {"uncut": True, "reason": "the cutter left"}
        assert await refused(trial, Role.REFEREE, "start_deal", **uncut) == "PAUSED"
        await ordered(trial, Role.REFEREE, "resume")
        await cut(trial)
        await trial.wait_for_phase(MachinePhase.HELD)
        await ordered(trial, Role.REFEREE, "hold", reason="look")
        assert await refused(trial, Role.REFEREE, "release") == "PAUSED"
        await ordered(trial, Role.REFEREE, "resume")
        await ordered(trial, Role.REFEREE, "release")
        assert at(trial) == "count_check"


async def test_a_misdeal_is_not_dealt_again_while_the_table_is_held(ground: Ground) -> None:
    async with ground.table() as trial:
        await STAGES["dealing"](trial)
        await ordered(trial, Role.REFEREE, "hold", reason="look")
        trial.sim.world.set_lid(True)
        await trial.wait_for_state(lambda state: state.fairness[-1].outcome is not None)
        await trial.people.collect("S1")
        await asyncio.sleep(A_WHILE_S)
        assert trial.states[-1].machine.attempt == 1
        await ordered(trial, Role.REFEREE, "resume")
        await trial.wait_for_state(lambda state: state.machine.attempt == 2)


def dealing(sent: list[Any], ended: list[Any]) -> CardLoop:
    """Make a dealing loop of four cards, and take down what it tells its boards."""
    return CardLoop(
        1,
        "NWSE",
        1,
        dealer=sent.append,
        reader=sent.append,
        stop_motion=lambda: sent.append("stop"),
        on_count_due=lambda: sent.append("check"),
        on_look_overdue=lambda index: sent.append("compare"),
        on_end=ended.append,
        on_change=lambda: None,
    )


async def test_what_is_seen_while_the_table_is_held_moves_nothing_before_its_end() -> None:
    sent: list[Any] = []
    held = dealing(sent, [])
    held.observe(BothBegan())
    held.pause()
    sent.clear()
    held.observe(ShufflerDone())
    held.observe(CardAtReader(1))
    held.observe(CardVerdict(1, LookOutcome.ACCEPT))
    assert sent == []
    held.resume()
    assert [type(each) for each in sent] == [frames.FeedCommand, frames.RouteCommand]


async def test_a_card_is_alone_only_once_its_wait_is_over_and_the_table_not_held() -> None:
    sent: list[Any] = []
    waiting = dealing(sent, [])
    for seen in (BothBegan(), ShufflerDone(), CardVerdict(1, LookOutcome.ACCEPT)):
        waiting.observe(seen)
    assert not waiting.is_look_overdue(1)
    await asyncio.sleep(LOOK_TIMEOUT_S + A_MOMENT_S)
    assert sent[-1] == "compare"
    assert waiting.is_look_overdue(1)
    waiting.observe(CardAtReader(1))
    assert sent[-1] == frames.RereadCommand(1, 1)
    assert not waiting.is_look_overdue(1)
    await asyncio.sleep(LOOK_TIMEOUT_S + A_MOMENT_S)
    assert waiting.is_look_overdue(1)
    waiting.pause()
    assert not waiting.is_look_overdue(1)


async def test_an_attempt_ends_at_once_though_the_table_is_held() -> None:
    ended: list[Any] = []
    held = dealing([], ended)
    held.observe(BothBegan())
    held.pause()
    held.stop("LID_OPENED")
    assert [attempt.reasons for attempt in ended] == [("LID_OPENED",)]


# -- whose pause it is --------------------------------------------------------


async def test_each_pause_is_ended_by_its_owner_and_the_chief_ends_them_all(ground: Ground) -> None:
    async with ground.table() as trial:
        await STAGES["dealing"](trial)
        await ordered(trial, Role.CHIEF, "hold", reason="alarm")
        assert await refused(trial, Role.REFEREE, "resume") == "NOT_YOUR_PAUSE"
        await ordered(trial, Role.REFEREE, "hold", reason="look")
        assert pauses(trial) == {"chief", "referee"}
        await ordered(trial, Role.REFEREE, "resume")
        assert pauses(trial) == {"chief"}
        assert trial.machine.record.match_written.match.suspended == "alarm"  # type: ignore[union-attr]
        await ordered(trial, Role.REFEREE, "hold", reason="look")
        await ordered(trial, Role.CHIEF, "resume")
        assert pauses(trial) == set()
        assert trial.machine.record.match_written.match.suspended is None  # type: ignore[union-attr]
        assert await refused(trial, Role.CHIEF, "resume") == "NOT_SUSPENDED"
        await all_dealt(trial, 1)


async def test_the_areas_pause_is_the_chiefs(ground: Ground) -> None:
    async with ground.table() as trial:
        await STAGES["held"](trial)
        area = {"reason": "alarm", "area": True}
        assert await refused(trial, Role.REFEREE, "hold", **area) == "NEEDS_CHIEF"
        await ordered(trial, Role.CHIEF, "hold", **area)
        assert await refused(trial, Role.REFEREE, "resume", area=True) == "NEEDS_CHIEF"
        assert pauses(trial) == set()
        await ordered(trial, Role.CHIEF, "resume", area=True)
        await ordered(trial, Role.REFEREE, "release")


async def test_no_area_is_stopped_where_no_match_was_laid_out(ground: Ground) -> None:
    async with ground.table() as trial:
        await trial.wait_for_phase(MachinePhase.EMPTY)
        assert await refused(trial, Role.CHIEF, "hold", reason="alarm", area=True) == "NO_MATCH"
        assert await refused(trial, Role.CHIEF, "resume", area=True) == "NO_MATCH"


async def test_a_claimed_count_is_ended_by_four_counts_whoever_else_lets_the_table_go_on(
    ground: Ground,
) -> None:
    async with ground.table() as trial:
        await STAGES["count_check"](trial)
        await ordered(trial, Role.TABLE, "claim_count", seat="N")
        await ordered(trial, Role.REFEREE, "hold", reason="look")
        await ordered(trial, Role.REFEREE, "resume")
        assert pauses(trial) == set()
        assert await refused(trial, Role.TABLE, "confirm", seat="W") == "SUSPENDED"
        await ordered(trial, Role.REFEREE, "recount", counts=dict.fromkeys("NWSE", 27))
        await ordered(trial, Role.TABLE, "confirm", seat="W")


async def test_a_table_that_a_person_holds_stays_so_when_a_count_is_right(ground: Ground) -> None:
    async with ground.table() as trial:
        await STAGES["count_check"](trial)
        await ordered(trial, Role.TABLE, "claim_count", seat="N")
        await ordered(trial, Role.CHIEF, "hold", reason="alarm")
        await ordered(trial, Role.REFEREE, "recount", counts=dict.fromkeys("NWSE", 27))
        assert await refused(trial, Role.TABLE, "confirm", seat="W") == "SUSPENDED"
        await ordered(trial, Role.CHIEF, "resume")
        await ordered(trial, Role.TABLE, "confirm", seat="W")


# -- the emergency stop -------------------------------------------------------


async def test_a_released_e_stop_lets_nothing_go_on_before_somebody_has_seen_to_it(
    ground: Ground,
) -> None:
    async with ground.table() as trial:
        await STAGES["dealing"](trial)
        trial.sim.world.set_estop(True)
        await trial.wait_for_state(lambda state: state.fairness[-1].outcome is AttemptOutcome.VOID)
        await asyncio.sleep(STANDING_S)
        reply = await trial.send_command(Role.REFEREE, "acknowledge", code="ESTOP_PRESSED")
        assert reply.error is not None
        assert reply.error.code == "STILL_THERE"
        assert reply.error.message_zh == f"原因仍未排除：{fault('ESTOP_PRESSED').cause_zh}"
        assert await refused(trial, Role.REFEREE, "acknowledge", code="JAM") == "NOT_LATCHED"
        trial.sim.world.set_estop(False)
        await trial.people.collect("S1")
        await asyncio.sleep(A_WHILE_S)
        assert (alerts(trial), trial.states[-1].machine.phase) == (
            ["ESTOP_PRESSED"],
            MachinePhase.FAULT,
        )
        assert trial.states[-1].machine.attempt == 1
        await ordered(trial, Role.REFEREE, "acknowledge", code="ESTOP_PRESSED")
        again = await trial.wait_for_state(lambda state: state.machine.attempt == 2)
        assert again.alerts == []
        assert again.machine.deal == 2


@pytest.mark.parametrize("stage", ["due", "count_check"])
async def test_an_e_stop_outside_a_deal_is_latched_too_and_keeps_the_next_one_from_beginning(
    stage: str, ground: Ground
) -> None:
    async with ground.table() as trial:
        await STAGES[stage](trial)
        await trial.panel()
        trial.sim.world.set_estop(True)
        await asyncio.sleep(STANDING_S)
        trial.sim.world.set_estop(False)
        await asyncio.sleep(A_WHILE_S)
        assert alerts(trial) == ["ESTOP_PRESSED"]
        if stage == "due":
            assert await refused(trial, Role.REFEREE, "start_deal") == "WRONG_PHASE"
        await ordered(trial, Role.REFEREE, "acknowledge", code="ESTOP_PRESSED")
        assert alerts(trial) == []
        if stage == "due":
            await started(trial)


async def test_an_e_stop_and_a_pause_outlive_the_daemon(ground: Ground) -> None:
    async with ground.table(journal="one") as trial:
        await STAGES["dealing"](trial)
        await trial.panel()
        await ordered(trial, Role.CHIEF, "hold", reason="alarm")
        trial.sim.world.set_estop(True)
        await trial.wait_for_state(lambda state: state.fairness[-1].outcome is AttemptOutcome.VOID)
        await asyncio.sleep(STANDING_S)
    async with ground.table(journal="one", life=1) as trial:  # fresh boards, the e-stop out
        await asyncio.sleep(A_WHILE_S)
        assert alerts(trial) == ["ESTOP_PRESSED"]
        assert pauses(trial) == {"chief"}
        await ordered(trial, Role.REFEREE, "acknowledge", code="ESTOP_PRESSED")
        await asyncio.sleep(A_WHILE_S)
        assert trial.states[-1].machine.attempt == 1
        await ordered(trial, Role.CHIEF, "resume")
        await trial.wait_for_state(lambda state: state.machine.attempt == 2)


# -- the first cause ----------------------------------------------------------


async def test_what_follows_from_a_trouble_hides_its_cause_nowhere(ground: Ground) -> None:
    async with ground.table() as trial:
        await deal_two_due(trial)
        await trial.panel()
        trial.sim.world.add_fault(parse_fault("jam:at=30,place=gate"))
        await started(trial)
        await cut(trial)
        await trial.wait_for_state(lambda state: state.fairness[-1].outcome is AttemptOutcome.VOID)
        trial.sim.world.set_estop(True)
        await asyncio.sleep(STANDING_S)
        trial.sim.world.set_lid(True)
        await asyncio.sleep(STANDING_S)
        trial.sim.kill("reader")
        await asyncio.sleep(STANDING_S)
        assert reasons(trial) == ["JAM"]
        assert alerts(trial)[:2] == ["JAM", "ESTOP_PRESSED"]


async def test_an_e_stop_is_the_cause_of_all_that_stands_still_after_it(ground: Ground) -> None:
    async with ground.table() as trial:
        await STAGES["dealing"](trial)
        await trial.panel()
        trial.sim.world.set_estop(True)
        await asyncio.sleep(A_MOMENT_S)
        trial.sim.world.set_lid(True)
        trial.sim.kill("dealer")
        await trial.wait_for_state(lambda state: state.fairness[-1].outcome is AttemptOutcome.VOID)
        await asyncio.sleep(A_WHILE_S)
        assert reasons(trial) == ["ESTOP_PRESSED"]
        assert alerts(trial)[0] == "ESTOP_PRESSED"


async def test_a_panel_that_is_lost_stays_shown_when_a_bad_deal_was_cleared_up(
    ground: Ground,
) -> None:
    async with ground.table() as trial:
        await STAGES["dealing"](trial)
        trial.machine.record.raise_fault("PANEL_LOST", {"found": "no pin"})
        trial.sim.world.set_lid(True)
        await trial.wait_for_state(lambda state: state.fairness[-1].outcome is AttemptOutcome.VOID)
        await trial.people.collect("S1")
        await trial.wait_for_state(lambda state: state.machine.attempt == 2)
        assert alerts(trial) == ["PANEL_LOST"]


@pytest.mark.parametrize("after_s", [0.0, 0.1, 0.4])
async def test_a_release_and_a_void_in_one_moment_are_not_both_done(
    ground: Ground, monkeypatch: pytest.MonkeyPatch, after_s: float
) -> None:
    """On a slow disk the void comes while the release is still being written."""
    async with ground.table() as trial:
        await STAGES["held"](trial)
        record = trial.machine.record
        sync = record.sync

        async def slowly() -> None:
            await asyncio.sleep(0.5)
            await sync()

        monkeypatch.setattr(record, "sync", slowly)
        release = asyncio.ensure_future(
            trial.machine.submit(trial.make_command(Role.REFEREE, "release"))
        )
        await asyncio.sleep(after_s)
        void = trial.make_command(Role.CHIEF, "void", reason="wrong table")
        said = {"void": await trial.machine.submit(void), "release": await release}
        proof = trial.states[-1].fairness[-1]
        assert said["void"].ok == (proof.reasons == ["ORDERED"])
        assert said["release"].ok == trial.sim.world.truth().lift_up
        assert said["void"].ok != said["release"].ok


async def test_a_shuffle_that_ends_in_the_moment_of_a_void_is_no_step_behind_its_verdict(
    ground: Ground,
) -> None:
    async with ground.table() as trial:
        await STAGES["shuffling"](trial)
        run = trial.machine.table_boards.run
        assert run is not None
        void = trial.make_command(Role.CHIEF, "void", reason="wrong table")
        voiding = asyncio.ensure_future(trial.machine.submit(void))
        shuffled = BoardEvent(
            "dealer", 1, 1_000_000, run.number, BoardEventCode.SHUFFLED, 0, 0, 5, 0
        )
        for _ in range(MOMENTS):
            if run.writer.outcome is not None:
                break
            await asyncio.sleep(0)
        run.on_event(shuffled)
        assert (await voiding).ok
        await trial.wait_for_state(lambda state: state.fairness[-1].reveal is not None)
        await asyncio.sleep(A_MOMENT_S)
        steps = [event.kind for event in trial.events if event.attempt == run.number]
        assert "verdict" in steps
        assert "shuffled" not in steps


@pytest.mark.parametrize("first", ["release", "hold"])
async def test_a_release_and_a_stop_of_the_area_in_one_moment_agree(
    ground: Ground, first: str
) -> None:
    """Whoever comes first: hands never go out without the match."""
    async with ground.table() as trial:
        await STAGES["held"](trial)
        both = {
            "release": trial.make_command(Role.REFEREE, "release"),
            "hold": trial.make_command(Role.CHIEF, "hold", reason="alarm", area=True),
        }
        names = [first, *(name for name in both if name != first)]
        replies = await asyncio.gather(*(trial.machine.submit(both[name]) for name in names))
        said = dict(zip(names, replies, strict=True))
        assert said["hold"].ok
        await asyncio.sleep(5)
        out = trial.sim.world.truth().lift_up
        assert out == said["release"].ok
        assert (trial.states[-1].match.phase == "held") != out
