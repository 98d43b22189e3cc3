"""A board that will not begin: what is soon gone costs no attempt, what stays is named."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from controller.machine.boards.board_observations import MAX_BEGIN_RETRIES
from controller.messages import AttemptOutcome, MachinePhase
from drivers.board_events import Outlet
from drivers.errors import BoardRefused
from drivers.link import frames
from drivers.link.frames import BoardResult
from sim.tables.table_in_process import TableInProcess
from tests.machine.stages import cut, started

pytestmark = pytest.mark.virtual
Tables = Callable[..., Any]


class Hand:
    """Somebody's hand in the window as the dealer board is asked to begin, so many times."""

    def __init__(self, trial: TableInProcess, times: int) -> None:
        self.asked = 0
        self._trial, self._times = trial, times
        self._begin = trial.machine.dealer.begin
        trial.machine.dealer.begin = self._reached_in  # type: ignore[method-assign]

    async def _reached_in(self, attempt: int, cards: int, cards_per_pocket: int) -> None:
        self.asked += 1
        if self.asked > self._times:
            return await self._begin(attempt, cards, cards_per_pocket)
        sensors = self._trial.sim.world.dealer
        sensors.set_physical("window", 1)
        try:
            await self._begin(attempt, cards, cards_per_pocket)
        finally:
            sensors.set_physical("window", 0)


@pytest.mark.parametrize("times", [1, 3, MAX_BEGIN_RETRIES])
async def test_a_hand_that_is_gone_by_the_next_look_costs_no_attempt(
    table: Tables, times: int
) -> None:
    async with table() as trial:
        hand = Hand(trial, times)
        held = await trial.play_attempt()
        assert held.machine.phase is MachinePhase.HELD
        assert (held.machine.attempt, hand.asked) == (1, times + 1)
        assert held.alerts == []


async def test_what_a_board_keeps_refusing_for_is_told_by_its_own_word(table: Tables) -> None:
    async with table() as trial:
        dealer = trial.machine.dealer
        asked: list[int] = []

        async def busy(attempt: int, cards: int, per: int) -> None:
            asked.append(attempt)
            raise BoardRefused("dealer", frames.BeginCommand(attempt, cards, per), BoardResult.BUSY)

        dealer.begin = busy
        refused = await trial.play_attempt()
        assert asked == [1] * (MAX_BEGIN_RETRIES + 1)
        proof = refused.fairness[-1]
        assert (proof.outcome, proof.reasons) == (AttemptOutcome.VOID, ["BOARD_REFUSED"])
        causes = [alert.cause for alert in refused.alerts if alert.name == "BOARD_REFUSED"]
        assert causes == ["The board refuses a command: BUSY (dealer)"]


async def test_of_several_questions_to_the_boards_none_outlives_the_attempt(table: Tables) -> None:
    async with table() as trial:
        await trial.wait_for_phase(MachinePhase.EMPTY)
        await started(trial)
        await cut(trial)
        await trial.wait_for_phase(MachinePhase.DEALING)
        run = trial.machine.table_boards.run
        assert run is not None
        before = asyncio.all_tasks()
        for index in (5, 6):
            route = frames.RouteCommand(run.number, index, Outlet.N)
            run.on_refused(BoardRefused("dealer", route, BoardResult.NOT_CLEAR))
        asked = asyncio.all_tasks() - before
        run.stop("ORDERED")
        await run.cards_at_rest.wait()
        assert len(asked) == 2
        assert all(question.cancelled() for question in asked)


async def test_what_stays_in_the_way_is_named_at_the_first_look(table: Tables) -> None:
    async with table("sensor_stuck:sensor=window,value=1") as trial:
        hand = Hand(trial, 0)
        refused = await trial.play_attempt()
        assert refused.fairness[-1].reasons == ["PATH_NOT_CLEAR"]
        assert hand.asked == 1
