"""Scenarios on a whole table: what a target lacks is skipped, but never everything."""

from collections import Counter

import pytest

_outcomes: Counter[str] = Counter()


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.nodeid.startswith("hil_tests/") and (report.when == "call" or report.skipped):
        _outcomes[report.outcome] += 1


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail a run in which every scenario was skipped: it has shown nothing."""
    if set(_outcomes) == {"skipped"} and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if set(_outcomes) == {"skipped"}:
        terminalreporter.write_line("every scenario was skipped on this target", red=True)
