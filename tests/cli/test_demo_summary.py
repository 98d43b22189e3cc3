"""What a demo says at its end: every deal of a few tables, a line for many."""

import msgspec
import pytest

from controller.messages import AttemptOutcome, LandedCards
from sim.cli.demo_view import DemoResult, format_summary_json, format_summary_lines
from sim.people.practice_players import DealResult, Misdeal
from sim.tables.process_costs import ProcessCost
from sim.tables.table_processes import HallPlan


def dealt(table: str, *misdeals: Misdeal, wrong: str | None = None) -> DealResult:
    return DealResult(
        table=table,
        deal=1,
        attempt=1 + len(misdeals),
        outcome=AttemptOutcome.OK,
        fed=108,
        landed=LandedCards(N=27, W=27, S=27, E=27, tray=0),
        misdeals=list(misdeals),
        commitment="00" * 32,
        seed="11" * 32,
        cut=41,
        wall_s=12.0,
        feeding_ms=62.0 * 108,
        wrong=wrong,
    )


MISDEAL = Misdeal(
    attempt=1, outcome=AttemptOutcome.MISDEAL, reason="COUNT_SHORT", reasons=["COUNT_SHORT"]
)
COSTS = {"sim": ProcessCost(processes=2, cpu_s=10.0, rss_mib=64.0, pss_mib=40.0)}


def outcome(*deals: DealResult, failed: tuple[str, ...] = ()) -> DemoResult:
    about = {"tables": [{"state_dir": "/somewhere/T01-01"}], "state_dir": "/somewhere"}
    return DemoResult(about, list(deals), list(failed), COSTS, took_s=20.0)


@pytest.fixture
def plan(tmp_path_factory: pytest.TempPathFactory) -> HallPlan:
    return HallPlan(tmp_path_factory.getbasetemp())


def test_few_tables_have_a_line_for_each_deal(plan: HallPlan) -> None:
    lines = list(
        format_summary_lines(plan, outcome(dealt("T01"), dealt("T01", MISDEAL)), costs=False)
    )
    assert lines == [
        "table T01, deal 1: ok, fed 108, N 27 W 27 S 27 E 27 tray 0; 12.00 s",
        "table T01, deal 1: ok, fed 108, N 27 W 27 S 27 E 27 tray 0; 12.00 s, "
        "misdeal before: COUNT_SHORT",
        "to check a journal: dealtable verify /somewhere/T01-01",
    ]


def test_many_tables_have_one_line_and_one_for_what_was_not_as_usual(plan: HallPlan) -> None:
    hall = HallPlan(plan.state_dir, tables=50)
    lines = list(
        format_summary_lines(hall, outcome(dealt("T01-01"), dealt("T01-02", MISDEAL)), costs=True)
    )
    assert [line.partition(",")[0] for line in lines] == [
        "table T01-02",
        "50 tables",
        "sim            2 processes   5.000 s CPU a deal",
        "to check a journal: dealtable verify /somewhere/T01-01",
    ]
    assert "2 deals, 1 misdeals; 1." in lines[1]
    assert " 1.00 % of a core a table;  32.0 MiB each,  20.0 with shared pages divided" in lines[2]


def test_wrong_deals_and_failed_tables_are_named(plan: HallPlan) -> None:
    brought = outcome(
        dealt("T01-01", wrong="the hands are no set of 108 cards"),
        failed=("table T01-02: no deal in 300 s; it is fault, JAM",),
    )
    assert brought.list_problems() == [
        "table T01-01, deal 1: the hands are no set of 108 cards",
        "table T01-02: no deal in 300 s; it is fault, JAM",
    ]


@pytest.mark.parametrize("costs", [False, True])
def test_programs_get_costs_when_they_ask_for_them(plan: HallPlan, costs: bool) -> None:
    told = msgspec.json.decode(format_summary_json(plan, outcome(dealt("T01")), costs))
    assert ("costs" in told) == costs
    if costs:
        assert told["costs"]["took_s"] == 20.0
        assert told["costs"]["kinds"]["sim"]["cpu_s"] == 10.0
