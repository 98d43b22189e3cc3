"""The power goes: what was not synced is lost, and with it all keys; boards are reset or not."""

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from controller.journal.attempt_history import AttemptHistory, attempt_histories
from controller.journal.verify import verify
from controller.messages import Alert, AttemptOutcome
from sim.tables.daemon_death import DaemonDeath
from sim.tables.table_in_process import TableInProcess
from tests.crash.deaths import AWAY_S, BEHIND_S, FAULTS
from tests.crash.lives import Scene
from tests.crash.people import practice

pytestmark = pytest.mark.virtual

ENTRIES = 102
"""How many entries two deals have: the first with a misdeal before it and a turned-up card."""
OPEN = frozenset({"revealed", "record"})


def cuts(times: int) -> list[DaemonDeath]:
    """Return that many power cuts, evenly over the entries; half of them reset the boards."""
    chance = random.Random("power")
    return [
        DaemonDeath(
            1 + number * ENTRIES // times,
            chance.choice(BEHIND_S),
            chance.choice(AWAY_S),
            power_lost=True,
            boards_reset=chance.random() < 0.5,
        )
        for number in range(times)
    ]


def end_without_power(left: AttemptHistory, death: DaemonDeath) -> tuple[AttemptOutcome, list[str]]:
    """Return how an attempt must end that stands like this when the power goes, and why."""
    if left.outcome not in (None, AttemptOutcome.OK):
        return left.outcome, left.reasons  # its verdict was written before
    if left.outcome is None:
        return AttemptOutcome.VOID, ["POWER"]
    if "released" in left.steps:
        return AttemptOutcome.OK, []
    if left.deal == 1:  # of the first deal a card is turned up, and nobody knows the faces now
        return AttemptOutcome.VOID, ["POWER"]
    return (AttemptOutcome.VOID, ["BOARD_RESET"]) if death.boards_reset else (AttemptOutcome.OK, [])


@pytest.mark.slow
async def test_a_power_cut_costs_what_was_not_held_and_hides_nothing(
    scale: Callable[[int], int], tmp_path: Path, runtime_dir: Path
) -> None:
    for number, death in enumerate(cuts(scale(400))):
        scene = Scene.new(FAULTS, tmp_path / str(number), runtime_dir, seed=number)
        try:
            left: dict[int, AttemptHistory] = {}
            if not await scene.live(practice(2), death):
                left = attempt_histories(chained.entry for chained in scene.entries())
                assert await scene.live(practice(2))
            scene.check()
        finally:
            scene.sim.close()
        after = attempt_histories(chained.entry for chained in scene.entries())
        ends = {number: (outcome, reasons) for number, outcome, reasons in scene.outcomes()}
        for number, progress in left.items():
            if "committed" not in progress.steps or _is_closed(progress):
                continue
            assert ends[number] == end_without_power(progress, death), (death, number)
            assert "sealed_to_chief" in after[number].steps, (death, number)
            assert not OPEN - set(progress.steps) & set(after[number].steps), (death, number)


def _is_closed(progress: AttemptHistory) -> bool:
    steps = set(progress.steps)
    return steps >= OPEN or {"released", "revealed"} <= steps


async def test_after_a_power_cut_people_are_told_what_to_do_with_the_cards(
    tmp_path: Path, runtime_dir: Path
) -> None:
    scene = Scene.new((), tmp_path / "scene", runtime_dir)
    assert not await scene.live(practice(1), DaemonDeath(18, 0.5, power_lost=True))
    assert any(scene.sim.world.truth().pockets)
    told: list[Alert] = []

    async def watched(scene: Scene, at: TableInProcess) -> None:
        await practice(1)(scene, at)
        told.extend(alert for state in at.states for alert in state.alerts)

    assert await scene.live(watched)
    scene.sim.close()
    power = next(alert for alert in told if alert.name == "POWER")
    assert power.action
    assert power.action_zh
    report = verify(scene.state_dir)
    assert report.findings == []
    assert [(standing.outcome, standing.sealed) for standing in report.attempts[:2]] == [
        ("void", True),
        ("ok", False),
    ]
    assert report.unprovable_attempts[0].unprovable_reasons == ["POWER"]
