"""Scenarios on simulated boards behind ptys."""

import pytest

from tests.hil.scenario_run import RunScenarios

pytestmark = pytest.mark.micropython

PART = (
    *("whole_deal_gives", "daemon_is_killed", "noise and dealer and corrupted", "lid-50"),
    *("pulled_in_mid_deal and dealer", "full_disk", "power_cut", "double_feed"),
    *("on_the_floor", "take_one_card"),
)
"""One scenario or two of each kind; with --scale 1 all are run."""
LACKING = 2
"""Scenarios with a wall clock that jumps: behind ptys it is the computer's own."""


async def test_scenarios_pass_with_the_boards_under_micropython(
    scenarios: RunScenarios, micropython: str, pytestconfig: pytest.Config
) -> None:
    whole = pytestconfig.getoption("scale") == 1
    chosen = () if whole else ("-k", " or ".join(PART))
    shown = await scenarios("--target", "sim", "--firmware", "micropython", *chosen)
    assert shown.code == 0, shown.said
    assert shown.count("skipped") == (LACKING if whole else 0), shown.said
    assert shown.count("passed") >= len(PART)
    assert "合格 passed" in shown.page
