"""A deal that is dealt while another one is played: whatever happens to either of them."""

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from controller.journal.store import JournalStore
from controller.journal.verify import verify
from controller.messages import AttemptOutcome, MachinePhase, PublicState, Role
from sim.hardware_in_process import HardwareInProcess
from sim.mechanics.mechanics_settings import BACKS, MechanicsSettings, PhysicalSet
from sim.tables.table_in_process import TableInProcess
from tests.machine.deals_ahead import AHEAD, TWO_SETS, deal_one_played, result_confirmed
from tests.machine.stages import all_press, opened, ordered, refused, started
from tests.machine.tables import Tables

pytestmark = pytest.mark.virtual
SETTLED_S = 8.0


async def _committed(trial: TableInProcess) -> None:
    await deal_one_played(trial)
    await started(trial)


async def _dealing(trial: TableInProcess) -> None:
    await _committed(trial)
    await ordered(trial, Role.TABLE, "cut", n=40)
    await trial.wait_for_state(lambda state: state.machine.fed >= 30)


async def _held(trial: TableInProcess) -> None:
    await _committed(trial)
    await ordered(trial, Role.TABLE, "cut", n=40)
    await trial.wait_for_phase(MachinePhase.HELD)
    await asyncio.sleep(0.3)


STAGES: dict[str, Callable[[TableInProcess], Awaitable[None]]] = {
    "committed": _committed,
    "dealing": _dealing,
    "held": _held,
}
SLOW = pytest.mark.slow
at_any_stage = pytest.mark.parametrize(
    "stage", [pytest.param(stage, marks=() if stage == "dealing" else SLOW) for stage in STAGES]
)


async def claimed_and_wrong(trial: TableInProcess) -> None:
    await ordered(trial, Role.TABLE, "claim_count", seat="N")
    counts = {"N": 26, "W": 27, "S": 27, "E": 27}
    await ordered(trial, Role.REFEREE, "recount", counts=counts)


async def redealt(trial: TableInProcess) -> None:
    await ordered(trial, Role.CHIEF, "redeal", reason="a card lay open")


async def match_lost(trial: TableInProcess) -> None:
    await ordered(trial, Role.CHIEF, "forfeit", side="EW", reason="they leave")


async def by_hand_next(trial: TableInProcess) -> None:
    await result_confirmed(trial)
    await ordered(trial, Role.REFEREE, "dealt_by_hand", reason="the machine is away")


async def transferred(trial: TableInProcess) -> None:
    await result_confirmed(trial)
    await ordered(trial, Role.CHIEF, "transfer", table="T02")


VOIDS = {
    "a wrong count": claimed_and_wrong,
    "the chief's redeal": redealt,
    "a lost match": match_lost,
    "the next deal by hand": by_hand_next,
    "a transfer": transferred,
}


def outcome(state: PublicState, attempt: int) -> tuple[AttemptOutcome | None, list[str]]:
    proof = next(proof for proof in state.fairness if proof.attempt == attempt)
    return proof.outcome, list(proof.reasons)


@pytest.mark.parametrize(
    ("what", "stage"),
    [
        pytest.param(what, stage, marks=() if (number + place) % 3 == 0 else SLOW)
        for number, what in enumerate(VOIDS)
        for place, stage in enumerate(STAGES)
    ],
)
async def test_hands_dealt_ahead_that_are_needed_no_more_are_void_and_opened(
    table: Tables, tmp_path: Path, stage: str, what: str
) -> None:
    store = JournalStore.open(tmp_path)
    async with table(**AHEAD, store=store, state_dir=tmp_path) as trial:
        await STAGES[stage](trial)
        await VOIDS[what](trial)
        await asyncio.sleep(SETTLED_S)
        state = trial.states[-1]
        assert outcome(state, 2) == (AttemptOutcome.VOID, ["NOT_NEEDED"])
        kinds = {event.kind for event in trial.events if event.attempt == 2}
        assert {"revealed", "record"} <= kinds
        assert "released" not in kinds
        assert state.match.attempt != 2
    assert verify(tmp_path).findings == []


@pytest.mark.parametrize(
    ("what", "stage"),
    [
        pytest.param(what, stage, marks=() if stage == core else SLOW)
        for what, core in (("a wrong count", "held"), ("the chief's redeal", "dealing"))
        for stage in STAGES
    ],
)
async def test_a_redeal_is_dealt_with_the_other_set_and_the_next_deal_ahead_of_it_with_the_first(
    table: Tables, stage: str, what: str
) -> None:
    async with table(**AHEAD) as trial:
        await STAGES[stage](trial)
        await VOIDS[what](trial)
        await asyncio.sleep(SETTLED_S)
        trial.lay_down()
        trial.people.gather("S1")
        await trial.people.collect("S2")
        await trial.wait_for_state(lambda state: state.machine.phase is MachinePhase.EMPTY)
        await started(trial)
        state = trial.states[-1]
        assert (state.machine.deal, state.machine.attempt) == (1, 3)
        assert (state.machine.card_set, state.machine.set_out) == ("S2", None)
        await ordered(trial, Role.TABLE, "cut", n=40)
        await trial.wait_for_phase(MachinePhase.HELD)
        await asyncio.sleep(0.3)
        await ordered(trial, Role.REFEREE, "release")
        state = await trial.wait_for_phase(MachinePhase.RELEASED)
        assert (state.machine.card_set, state.machine.set_out) == ("S1", "S2")
        assert trial.states[-1].match.deal == 1


@at_any_stage
async def test_what_is_dealt_ahead_is_the_next_deals_when_the_result_is_confirmed(
    table: Tables, stage: str
) -> None:
    async with table(**AHEAD) as trial:
        await STAGES[stage](trial)
        state = trial.states[-1]
        assert (state.machine.deal, state.machine.attempt) == (2, 2)
        assert (state.match.deal, state.match.attempt) == (1, 1)
        assert await refused(trial, Role.REFEREE, "release") in ("WRONG_PHASE",)
        await result_confirmed(trial)
        await asyncio.sleep(0.3)
        match = trial.states[-1].match
        assert match.deal == 2
        assert match.phase == {"committed": "cut", "dealing": "dealing", "held": "held"}[stage]
        if stage == "committed":  # nobody has cut ahead: it is UP's now, as the rulebook says
            assert trial.states[-1].machine.cutters == ["N"]
            await ordered(trial, Role.TABLE, "cut", n=40, seat="N")
        await trial.wait_for_phase(MachinePhase.HELD)
        await asyncio.sleep(0.3)
        await ordered(trial, Role.REFEREE, "release")
        await trial.wait_for_phase(MachinePhase.RELEASED)
        await asyncio.sleep(0.3)
        state = trial.states[-1]
        assert (state.match.deal, state.match.attempt) == (2, 2)
        waited = state.machine.due_to_ready_ms
        assert waited == 0 if stage == "held" else (waited or 0) > 1000
        released = [event for event in trial.events if event.kind == "released"]
        assert released[-1].data["due_to_ready_ms"] == waited
        assert released[-1].data["ready_to_button_ms"] == state.machine.ready_to_button_ms


async def test_the_cut_ahead_is_the_next_seats_alone_and_stands_on_the_sheet(table: Tables) -> None:
    async with table(**AHEAD) as trial:
        await _committed(trial)
        assert trial.states[-1].machine.cutters == ["E"]  # after S, who cut the deal before
        assert await refused(trial, Role.TABLE, "cut", n=40, seat="N") == "NOT_HIS_DUTY"
        await ordered(trial, Role.TABLE, "cut", n=40, seat="E")
        await trial.wait_for_phase(MachinePhase.HELD)
        await result_confirmed(trial)
        await asyncio.sleep(0.3)
        assert trial.states[-1].match.cutter == "E"


async def test_a_green_press_is_the_matchs_first_and_then_the_cut_ahead(table: Tables) -> None:
    async with table(**AHEAD) as trial:
        await trial.panel()
        await _committed(trial)
        await all_press(trial, trial.states[-1].match.leader or "")
        await ordered(trial, Role.TABLE, "out", seat="N")
        await trial.press("E", "green")  # an opponent's word, though he is to cut, too
        said = await trial.wait_for_state(lambda state: state.match.order == ["N"])
        assert said.machine.phase is MachinePhase.COMMITTED
        await trial.press("W", "green")  # nobody asked him
        await asyncio.sleep(1)
        assert trial.states[-1].machine.fed == 0
        await trial.press("E", "green")
        await trial.wait_for_phase(MachinePhase.HELD)
        await trial.hold_button("S")
        await trial.press("E", "green")
        await trial.wait_for_state(lambda state: state.match.phase == "result")
        for seat in ("N", "W", "S", "E"):  # the third and the fourth press come too late
            await trial.press(seat, "green")
        await trial.wait_for_state(lambda state: state.match.phase == "held")
        await asyncio.sleep(4)
        assert trial.states[-1].match.attempt is None
        await trial.press("S", "green")
        await trial.wait_for_phase(MachinePhase.RELEASED)


async def test_start_begins_the_next_deal_while_hands_are_out(table: Tables) -> None:
    async with table(**AHEAD) as trial:
        await trial.panel()
        await deal_one_played(trial)
        await trial.press_start()
        await trial.wait_for_phase(MachinePhase.COMMITTED)


async def test_a_misdeal_ahead_is_dealt_again_while_play_goes_on(table: Tables) -> None:
    async with table(**AHEAD) as trial:
        await _dealing(trial)
        trial.sim.world.set_lid(True)
        await trial.wait_for_state(lambda state: state.fairness[-1].outcome is not None)
        await all_press(trial, trial.states[-1].match.leader or "")
        assert trial.states[-1].match.led
        await trial.people.collect("S2")
        again = await trial.wait_for_state(lambda state: state.machine.attempt == 3)
        assert (again.machine.deal, again.machine.card_set) == (2, "S2")
        assert (again.match.deal, again.match.attempt) == (1, 1)


async def _lid_opened(trial: TableInProcess) -> None:
    """End the attempt under way, and lay its cards into the hopper again."""
    trial.sim.world.set_lid(True)
    await trial.wait_for_state(lambda state: state.fairness[-1].outcome is not None)
    await trial.people.collect("S2")
    await asyncio.sleep(3)


async def test_two_misdeals_ahead_wait_for_a_person(table: Tables) -> None:
    async with table(**AHEAD) as trial:
        await _dealing(trial)
        await _lid_opened(trial)
        await ordered(trial, Role.TABLE, "cut", n=40)
        await trial.wait_for_state(lambda state: state.machine.fed >= 30)
        await _lid_opened(trial)
        assert "TWO_MISDEALS" in [alert.name for alert in trial.states[-1].alerts]
        assert trial.states[-1].machine.attempt == 3
        await started(trial)
        assert trial.states[-1].machine.attempt == 4


async def test_the_set_that_players_hold_cannot_be_said_to_be_loaded(table: Tables) -> None:
    async with table(**AHEAD) as trial:
        await deal_one_played(trial)
        assert await refused(trial, Role.REFEREE, "replace_set", set="S1") == "SET_OUT"
        assert trial.states[-1].machine.card_set == "S2"


async def test_a_set_in_the_hopper_keeps_held_hands_in_and_voids_nothing(table: Tables) -> None:
    async with table(**AHEAD) as trial:
        await _held(trial)
        await result_confirmed(trial)
        trial.lay_down()
        trial.people.gather("S1")
        await trial.load("S1")
        await trial.wait_for_state(lambda s: "SET_TOO_EARLY" in [alert.name for alert in s.alerts])
        assert await refused(trial, Role.REFEREE, "release") == "SET_TOO_EARLY"
        world = trial.sim.world
        trial.people.beside["S1"] += world.hopper
        world.hopper.clear()
        world.hopper_changed()
        await trial.wait_for_state(
            lambda s: "SET_TOO_EARLY" not in [alert.name for alert in s.alerts]
        )
        await ordered(trial, Role.REFEREE, "release")
        await trial.wait_for_phase(MachinePhase.RELEASED)


async def test_sets_that_were_mixed_are_both_barred_until_they_are_counted(table: Tables) -> None:
    async with table(**AHEAD) as trial:
        await opened(trial)
        trial.people.mix("S2", 3)  # out of the pile beside the machine into the hopper's
        await started(trial)
        await ordered(trial, Role.TABLE, "cut", n=40)
        state = await trial.wait_for_state(lambda state: state.fairness[-1].outcome is not None)
        assert "FOREIGN_BACK" in state.fairness[-1].reasons
        barred = {one.id: one.barred for one in state.sets}
        assert "FOREIGN_BACK" in barred["S1"]
        assert barred["S2"] == ["FOREIGN_BACK"]
        await trial.people.collect("S1")
        assert {name: len(pile) for name, pile in trial.people.beside.items()}["S2"] == 108
        await asyncio.sleep(3)
        assert await refused(trial, Role.REFEREE, "start_deal") == "SET_BARRED"
        for card_set in ("S1", "S2"):
            await ordered(trial, Role.REFEREE, "clear_set", set=card_set, cards=108)
        assert all(not one.barred for one in trial.states[-1].sets)
        await trial.wait_for_phase(MachinePhase.COMMITTED)  # one misdeal begins again by itself


async def test_nothing_is_dealt_ahead_without_leave(table: Tables) -> None:
    async with table(card_sets=TWO_SETS) as trial:
        await deal_one_played(trial)
        assert await refused(trial, Role.REFEREE, "start_deal") == "NO_DEAL_DUE"


async def test_a_pause_holds_the_cut_and_the_release_of_a_deal_ahead(table: Tables) -> None:
    async with table(**AHEAD) as trial:
        await _committed(trial)
        await ordered(trial, Role.REFEREE, "hold", reason="a phone rings")
        assert await refused(trial, Role.TABLE, "cut", n=40) == "PAUSED"
        await ordered(trial, Role.REFEREE, "resume")
        await ordered(trial, Role.TABLE, "cut", n=40)
        await trial.wait_for_phase(MachinePhase.HELD)
        await result_confirmed(trial)
        await ordered(trial, Role.REFEREE, "hold", reason="a phone rings")
        assert await refused(trial, Role.REFEREE, "release") == "PAUSED"
        await ordered(trial, Role.REFEREE, "resume")
        await ordered(trial, Role.REFEREE, "release")
        await trial.wait_for_phase(MachinePhase.RELEASED)


async def test_the_estop_voids_what_is_dealt_ahead_and_leaves_the_played_deal_alone(
    table: Tables,
) -> None:
    async with table(**AHEAD) as trial:
        await _dealing(trial)
        trial.sim.world.set_estop(True)
        state = await trial.wait_for_state(lambda state: state.fairness[-1].outcome is not None)
        assert state.fairness[-1].outcome is AttemptOutcome.VOID
        assert (state.match.deal, state.match.attempt) == (1, 1)
        trial.sim.world.set_estop(False)
        await result_confirmed(trial)
        assert trial.states[-1].match.deal == 2


async def test_how_soon_hands_are_ready_is_known_while_cards_are_dealt(table: Tables) -> None:
    async with table(**AHEAD) as trial:
        await _committed(trial)
        assert trial.states[-1].machine.ready_in_s is None
        await ordered(trial, Role.TABLE, "cut", n=40)
        loop = asyncio.get_running_loop()
        half = await trial.wait_for_state(lambda state: state.machine.fed >= 54)
        said_s, then_s = half.machine.ready_in_s, loop.time()
        ready = await trial.wait_for_phase(MachinePhase.HELD)
        assert said_s == pytest.approx(loop.time() - then_s, rel=0.3)
        assert ready.machine.ready_in_s is None


# Another daemon in between.


@pytest.fixture
async def sim() -> AsyncIterator[HardwareInProcess]:
    """Boards, cards and people that outlive the daemon."""
    boots = count(1)
    sets = tuple(PhysicalSet(one.id, BACKS[one.back]) for one in TWO_SETS)
    lasting = HardwareInProcess(
        MechanicsSettings(sets=sets), random.Random(1), boots=lambda: next(boots)
    )
    yield lasting
    lasting.close()


@pytest.fixture
def daemon(table: Tables, sim: HardwareInProcess, tmp_path: Path) -> Callable[[int], Any]:
    """Start a daemon on the same boards and the same journal: `async with daemon(1) as trial`."""
    signers = {role: random.Random(role.value).randbytes(32) for role in Role}

    def start(run: int) -> Any:
        store = JournalStore.open(tmp_path)
        own = {"state_dir": tmp_path, "sim": sim, "seed": run, "signers": signers}
        own["command_prefix"] = f"run {run} "
        return table(**AHEAD, store=store, **own)

    return start


@at_any_stage
async def test_two_attempts_of_an_earlier_daemon_go_on_side_by_side(
    daemon: Callable[[int], Any], tmp_path: Path, stage: str
) -> None:
    async with daemon(1) as trial:
        await STAGES[stage](trial)
    async with daemon(2) as trial:
        await trial.wait_for_state(
            lambda state: state.machine.phase not in (MachinePhase.FAULT, MachinePhase.EMPTY)
        )
        state = trial.states[-1]
        assert (state.machine.deal, state.machine.attempt) == (2, 2)
        assert (state.machine.card_set, state.machine.set_out) == ("S2", "S1")
        assert (state.match.deal, state.match.attempt) == (1, 1)
        if stage == "committed":
            await asyncio.sleep(2)
            await ordered(trial, Role.TABLE, "cut", n=40)
        await trial.wait_for_phase(MachinePhase.HELD)
        await asyncio.sleep(1)
        await result_confirmed(trial)
        await asyncio.sleep(1)
        await ordered(trial, Role.REFEREE, "release")
        await trial.wait_for_phase(MachinePhase.RELEASED)
        await asyncio.sleep(1)
        state = trial.states[-1]
        assert (state.match.deal, state.match.attempt) == (2, 2)
        trial.lay_down()
        trial.people.gather("S1")
        await trial.take_hands()
        cards = sum(trial.sim.world.truth().hands, ())
        assert {card.back for card in cards} == {BACKS["B"]}
    assert verify(tmp_path).findings == []


@at_any_stage
async def test_a_daemon_that_dies_as_the_deal_is_dealt_again_voids_what_was_dealt_ahead(
    daemon: Callable[[int], Any], tmp_path: Path, stage: str
) -> None:
    async with daemon(1) as trial:
        await STAGES[stage](trial)
        await ordered(trial, Role.TABLE, "claim_count", seat="N")
        counts = {"N": 26, "W": 27, "S": 27, "E": 27}
        asked = asyncio.ensure_future(trial.send_command(Role.REFEREE, "recount", counts=counts))
        await trial.wait_for_state(lambda state: state.match.claimed is None)
        asked.cancel()
    async with daemon(2) as trial:
        await asyncio.sleep(SETTLED_S)
        assert outcome(trial.states[-1], 2) == (AttemptOutcome.VOID, ["NOT_NEEDED"])
        kinds = {chained.entry.kind for chained in trial.machine.record.journal.entries()}
        assert {"recalled", "record"} <= kinds
    assert verify(tmp_path).findings == []


async def test_an_attempt_ahead_whose_board_was_reset_is_void_and_play_goes_on(
    daemon: Callable[[int], Any], sim: HardwareInProcess, tmp_path: Path
) -> None:
    async with daemon(1) as trial:
        await _dealing(trial)
    sim.kill("dealer")
    sim.start("dealer")
    async with daemon(2) as trial:
        await trial.wait_for_state(lambda state: outcome(state, 2)[0] is not None)
        state = trial.states[-1]
        assert outcome(state, 2) == (AttemptOutcome.VOID, ["BOARD_RESET"])
        assert (state.match.deal, state.match.attempt) == (1, 1)
        await result_confirmed(trial)
        assert trial.states[-1].match.deal == 2
    assert verify(tmp_path).findings == []
