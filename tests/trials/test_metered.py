"""Asking a machine for its numbers, and what of them came between two readings."""

from pathlib import Path

import pytest

from controller.bridge import MetricsMessage
from controller.counting import Distribution
from controller.trials.hall import HallError, HallPlan, hall, simulator
from controller.trials.metered import metered, passed
from controller.trials.players import players

pytestmark = pytest.mark.slow


def said(*rows: tuple[str, str, tuple[int, ...], float]) -> MetricsMessage:
    return MetricsMessage(
        (),
        tuple(Distribution(name, (label,), (0.1,), counts, s) for name, label, counts, s in rows),
    )


def test_what_passed_between_two_readings_is_counted_over_all_labels() -> None:
    before = said(("took", "a", (1, 0), 0.5), ("took", "b", (2, 1), 1.0), ("other", "a", (9, 9), 9))
    now = said(("took", "a", (4, 0), 1.5), ("took", "b", (2, 2), 3.0), ("other", "a", (99, 9), 99))
    assert passed(before, now, "took") == (4, 3.0)


@pytest.mark.timeout(120)
async def test_a_deal_has_a_route_for_each_of_its_cards(tmp_path: Path) -> None:
    plan = HallPlan(tmp_path / "state", speed=20)
    async with hall(plan) as (table,), players(table) as people:
        before = await metered(table)
        await people.deal()
        routes, took_s = passed(before, await metered(table), "route_latency_seconds")
    assert routes == 108
    assert took_s > 0


async def test_a_table_without_a_machine_has_no_numbers(tmp_path: Path, runtime_dir: Path) -> None:
    plan = HallPlan(tmp_path / "state")
    plan.state_dir.mkdir()
    async with simulator(plan, runtime_dir) as (table,):
        with pytest.raises(HallError, match="the machine of table T01 is not there"):
            await metered(table)
