"""Whole deals: real firmware, real link, real journal; only the time is virtual."""

import asyncio
from itertools import pairwise
from typing import Any

import pytest

from controller.cards import face_text
from controller.messages import AttemptOutcome, MachinePhase, Role
from tests.machine.tables import Tables

pytestmark = pytest.mark.virtual


def counts(trial: Any) -> list[int]:
    return [len(cards) for cards in trial.sim.world.truth().pockets]


async def test_a_deal_is_right_in_the_feed_and_on_the_table(table: Tables) -> None:
    async with table() as trial:
        held = await trial.play_attempt()
        assert held.machine.phase is MachinePhase.HELD
        assert held.machine.fed == 108
        assert counts(trial) == [27, 27, 27, 27, 0]
        await trial.return_hands()
        assert trial.states[-1].counters.deals == 1


async def test_the_steps_are_on_the_feed_in_the_order_of_the_proof(table: Tables) -> None:
    async with table() as trial:
        await trial.play_attempt()
        await trial.return_hands()
        kinds = [event.kind for event in trial.events if event.kind != "command"]
    assert kinds == [
        "opened", "committed", "cut", "begun", "shuffled", "dealt", "held", "verdict",
        "released", "revealed", "record",
    ]  # fmt: skip


async def test_one_deal_follows_the_other_and_attempts_are_never_numbered_twice(
    table: Tables,
) -> None:
    async with table() as trial:
        for number in (1, 2, 3):
            held = await trial.play_attempt(cut=6 + number)
            assert (held.machine.deal, held.machine.attempt) == (number, number)
            await trial.return_hands()
        commitments = {proof.commitment for proof in trial.states[-1].fairness}
    assert len(commitments) == 3


async def test_while_cards_are_dealt_the_feed_tells_the_number_fed_and_nothing_else(
    table: Tables,
) -> None:
    async with table() as trial:
        await trial.play_attempt()
        dealing = [s for s in trial.states if s.machine.phase is MachinePhase.DEALING]
        fed = [state.machine.fed for state in dealing]
        assert len(set(fed)) > 50
        assert fed == sorted(fed)
        assert all(state.machine.landed is None for state in dealing)
        spacing = [late.seq - early.seq for early, late in pairwise(dealing)]
        assert spacing == [1] * len(spacing)


async def test_no_face_is_in_anything_public_but_the_turned_up_card(table: Tables) -> None:
    async with table() as trial:
        await trial.play_attempt()
        hands = [trial.sim.world.truth().faces_in(pocket) for pocket in range(4)]
        await trial.return_hands()
        released = next(event for event in trial.events if event.kind == "released")
        shown = released.data["turned_up"]
        leader = "NWSE".index(released.data["leader"])
        assert shown in [face_text(face) for face in hands[leader]]
        faces = {face_text(face) for face in range(54)}
        kinds = [event.kind for event in trial.events]
        before = trial.events[: kinds.index("record")]  # a practice deal is opened with its seed
        assert "revealed" in kinds[: len(before)]
        for value in [*trial.states, *before]:
            words = set(str(value).replace("'", " ").replace(",", " ").split())
            assert words & faces <= {shown}


async def test_a_deal_leaves_no_timer_and_no_task_of_its_own(table: Tables) -> None:
    async with table() as trial:
        await trial.play_attempt()
        await trial.return_hands()
        before = len(asyncio.all_tasks())
        await trial.play_attempt()
        await trial.return_hands()
        assert len(asyncio.all_tasks()) == before


async def test_a_trial_replays_from_its_seed(table: Tables) -> None:
    runs = []
    for seed in (7, 7, 8):
        async with table("double_feed:at=9", "unreadable:at=30", seed=seed) as trial:
            await trial.play_attempt()
            truth = trial.sim.world.truth()
            steps = [event for event in trial.events if event.kind not in ("opened", "command")]
            decided = [(event.kind, event.data) for event in steps]
            runs.append((decided, truth.pockets, truth.mechanical_s))
    assert runs[0][:2] == runs[1][:2]
    assert runs[0][2] == pytest.approx(runs[1][2])
    assert runs[0][0] != runs[2][0]


async def test_an_uncut_deal_says_so(table: Tables) -> None:
    async with table() as trial:
        await trial.wait_for_state(lambda state: state.machine.phase is MachinePhase.EMPTY)
        await trial.send_command(Role.REFEREE, "start_deal")
        reply = await trial.send_command(
            Role.REFEREE, "start_deal", uncut=True, reason="the cutter left"
        )
        assert reply.ok
        held = await trial.wait_for_phase(MachinePhase.HELD)
        assert held.fairness[-1].uncut
        assert held.fairness[-1].cut is None


async def test_a_cut_that_does_not_come_calls_the_referee_and_may_still_come(table: Tables) -> None:
    async with table() as trial:
        await trial.wait_for_state(lambda state: state.machine.phase is MachinePhase.EMPTY)
        await trial.send_command(Role.REFEREE, "start_deal")
        late = await trial.wait_for_state(lambda state: bool(state.alerts))
        assert [alert.name for alert in late.alerts] == ["CUT_LATE"]
        assert late.machine.phase is MachinePhase.COMMITTED
        held = await trial.play_attempt()
        assert held.fairness[-1].outcome is AttemptOutcome.OK
        assert held.alerts == []
