"""Halls of real processes: what their tables are configured with."""

import asyncio
import os
import signal
from pathlib import Path

import pytest

from controller.config import CardSetSection, LimitsSection, load_table
from sim.people.practice_players import seat_players
from sim.tables.process_costs import ProcessCost, costs_since, measure_costs
from sim.tables.table_processes import (
    HallError,
    HallPlan,
    run_hall,
    run_simulator,
    wait_for_process_end,
)

pytestmark = pytest.mark.slow

TWO_SETS = (CardSetSection(id="S1", back="A"), CardSetSection(id="S2", back="B"))


async def test_a_hall_of_big_two_deals_by_its_rulebook_and_ends_with_its_simulator(
    tmp_path: Path,
) -> None:
    plan = HallPlan(tmp_path / "state", speed=20, profile="bigtwo-2017-002")
    async with run_hall(plan) as (table,):
        async with seat_players(table) as people:
            dealt = await people.play_deal()
        assert table.simulator is not None
        falls = asyncio.ensure_future(wait_for_process_end([table]))
        table.simulator.send_signal(signal.SIGKILL)
        with pytest.raises(HallError, match="the simulator ended unexpectedly"):
            await falls
    assert (dealt.wrong, dealt.fed, dealt.landed.N) == (None, 52, 13)


async def test_the_tables_of_a_hall_have_the_sets_and_limits_of_its_plan(
    tmp_path: Path, runtime_dir: Path, request: pytest.FixtureRequest
) -> None:
    event = request.config.rootpath / "deploy" / "event.toml"
    plan = HallPlan(
        tmp_path / "state",
        event=event,
        card_sets=TWO_SETS,
        deal_ahead=True,
        limits=LimitsSection(cut_s=30, slow_deal_s=300),
    )
    async with run_simulator(plan, runtime_dir) as (table,):
        config = load_table(table.config)
        truth = await table.control.request("truth")
    assert (config.card_sets, config.limits, config.play.deal_ahead) == (
        TWO_SETS,
        plan.limits,
        True,
    )
    assert config.table.event == event
    assert table.profile.event is not None
    assert {card["back"] for card in truth["beside"]["S2"]} == {1}


async def test_the_tables_of_a_hall_cost_what_they_cost_and_one_that_dies_is_named(
    tmp_path: Path,
) -> None:
    ups: list[int] = []
    async with run_hall(HallPlan(tmp_path / "state", tables=2, speed=20), ups.append) as tables:
        before = measure_costs(os.getpid())
        async with seat_players(tables[0]) as first, seat_players(tables[1]) as second:
            dealt = await asyncio.gather(first.play_deal(), second.play_deal())
        used = costs_since(before, measure_costs(os.getpid()))
        assert tables[1].daemon is not None
        falls = asyncio.ensure_future(wait_for_process_end(tables))
        tables[1].daemon.send_signal(signal.SIGKILL)
        words = r"the daemon of table T01-02 ended unexpectedly; see .*log"
        with pytest.raises(HallError, match=words):
            await falls
    assert [one.wrong for one in dealt] == [None, None]
    assert [one.table for one in dealt] == ["T01-01", "T01-02"]
    assert ups == [1, 2]
    assert (used["run machine"].processes, used["run gateway"].processes) == (2, 2)
    assert "board" not in used  # they are inside the simulator
    for kind in ("run machine", "run gateway", "sim"):
        assert used[kind].cpu_s > 0
        assert used[kind].rss_mib >= used[kind].pss_mib > 0
    assert used["sim"].rss_mib > used["sim"].pss_mib


def test_what_was_used_since_is_processor_time_alone() -> None:
    before = {"sim": ProcessCost(processes=1, cpu_s=2.0, rss_mib=30, pss_mib=20)}
    now = {"sim": ProcessCost(processes=2, cpu_s=5.0, rss_mib=60, pss_mib=30)}
    assert costs_since(before, now) == {
        "sim": ProcessCost(processes=2, cpu_s=3.0, rss_mib=60, pss_mib=30)
    }
