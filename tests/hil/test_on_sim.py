"""Scenarios on simulated boards behind ptys, under both interpreters: a part, or all of them."""

from collections.abc import Sequence

import pytest

from tests.hil.conftest import Words

FEW = ("whole_deal_gives", "daemon_is_killed", "noise and dealer and corrupted", "lid-50")
PART = (
    *FEW,
    "pulled_in_mid_deal and dealer",
    "full_disk",
    "power_cut",
    "double_feed",
    "on_the_floor",
    "take_one_card",
)
"""One scenario or two of each kind; with --scale 1 all are run.

Under CPython, whose boards serve at every other table of processes as well, FEW of these do.
"""
LACKING = 2
"""Scenarios with a wall clock that jumps: behind ptys it is the computer's own."""


async def passes(scenarios: Words, firmware: str, part: Sequence[str], *, whole: bool) -> None:
    """Run scenarios on simulated boards: all of them pass, none is skipped in silence."""
    chosen = () if whole else ("-k", " or ".join(part))
    shown = await scenarios("--target", "sim", "--firmware", firmware, *chosen)
    assert shown.code == 0, shown.said
    assert shown.count("skipped") == (LACKING if whole else 0), shown.said
    assert shown.count("passed") >= len(PART if whole else part)
    assert "合格 passed" in shown.report.read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.timeout(600)
async def test_scenarios_pass_with_the_boards_under_cpython(
    scenarios: Words, request: pytest.FixtureRequest
) -> None:
    await passes(scenarios, "cpython", FEW, whole=is_whole(request))


@pytest.mark.timeout(600)
async def test_scenarios_pass_with_the_boards_under_micropython(
    scenarios: Words, micropython: str, request: pytest.FixtureRequest
) -> None:
    await passes(scenarios, "micropython", PART, whole=is_whole(request))


async def test_a_simulator_that_does_not_begin_is_told_with_its_last_words(
    scenarios: Words, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEALTABLE_MICROPYTHON", "/nowhere")
    shown = await scenarios("--target", "sim", "--firmware", "micropython", "-k", "whole_deal")
    assert shown.code == pytest.ExitCode.USAGE_ERROR
    assert "DEALTABLE_MICROPYTHON names /nowhere, which is no program here" in shown.said
    assert "Traceback" not in shown.said


def is_whole(request: pytest.FixtureRequest) -> bool:
    return float(request.config.getoption("scale")) >= 1
