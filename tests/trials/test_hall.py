"""Halls of real processes: what their tables are configured with."""

from pathlib import Path

import pytest

from controller.config import CardSet, Limits, load_table
from controller.trials.hall import HallPlan, hall, simulator
from controller.trials.players import players

TWO_SETS = (CardSet(id="S1", back="A"), CardSet(id="S2", back="B"))


async def test_a_hall_of_big_two_deals_by_its_rulebook_and_nothing_is_wrong(
    tmp_path: Path,
) -> None:
    plan = HallPlan(tmp_path / "state", speed=20, profile="bigtwo-2017-002")
    async with hall(plan) as (table,), players(table) as people:
        dealt = await people.deal()
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
        limits=Limits(cut_s=30, slow_deal_s=300),
    )
    async with simulator(plan, runtime_dir) as (table,):
        config = load_table(table.config)
        truth = await table.control.do("truth")
    assert (config.card_sets, config.limits, config.play.deal_ahead) == (
        TWO_SETS,
        plan.limits,
        True,
    )
    assert config.table.event == event
    assert table.profile.event is not None
    assert {card["back"] for card in truth["beside"]["S2"]} == {1}
