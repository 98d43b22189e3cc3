"""Pytest fixtures and hooks for scenarios. A scenario is a test of a whole table."""

from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from hil_tests.harness import scenario_end
from hil_tests.harness.bench_file import BenchError, BenchInUse
from hil_tests.harness.bench_operator import RunStopped
from hil_tests.harness.features import missing_features
from hil_tests.harness.port_checks import BoardNotAnswering, WrongBoards, table_disorder
from hil_tests.harness.run_report import ScenarioResult, ScenarioRun, ScenarioVerdict, render_page
from hil_tests.harness.scenario_table import ScenarioRecord, ScenarioTable
from hil_tests.harness.targets import ScenarioTarget, TableAccess, make_target
from sim.tables.table_processes import HallError

RECORD_KEY = pytest.StashKey[ScenarioRecord]()
FAILED_KEY = pytest.StashKey[bool]()
TARGET_KEY = pytest.StashKey[ScenarioTarget]()
RESULTS_KEY = pytest.StashKey[dict[str, ScenarioResult]]()
STARTED_KEY = pytest.StashKey[str]()


def pytest_configure(config: pytest.Config) -> None:
    """Create the target of this run, a simulated table or a bench, before tests are collected."""
    config.addinivalue_line("markers", "needs(*features): skipped where a target lacks one")
    config.addinivalue_line("markers", "explains(*counters): counters of a line that may move")
    try:
        config.stash[TARGET_KEY] = make_target(
            str(config.getoption("target")), config.getoption("firmware")
        )
    except BenchError as error:
        raise pytest.UsageError(str(error)) from None
    config.stash[RESULTS_KEY] = {}
    config.stash[STARTED_KEY] = _now()


@pytest.fixture(scope="session", name="place")
def open_target(pytestconfig: pytest.Config) -> Iterator[ScenarioTarget]:
    """Open the target for the whole pytest session, yield it, and close it at the end.

    If the target cannot be opened, for example because another run uses the bench, the run ends.
    """
    at = pytestconfig.stash[TARGET_KEY]
    try:
        at.open()
    except (BenchInUse, HallError, OSError) as error:
        at.close()
        pytest.exit(f"{at.about.get('target')}: {error}", pytest.ExitCode.USAGE_ERROR)
    yield at
    at.close()


@pytest.fixture
async def table(
    request: pytest.FixtureRequest, place: ScenarioTarget, tmp_path: Path, runtime_dir: Path
) -> AsyncIterator[ScenarioTable]:
    """Yield a table with a running daemon and a new journal. Check the table before and after."""
    if place.broken is not None:
        pytest.skip(place.broken)
    notes = request.node.stash[RECORD_KEY] = ScenarioRecord(about={"scenario": request.node.name})
    reached = place.open_table(tmp_path, runtime_dir, notes)
    try:
        await _bring_up(place, reached, request.node.name)
        yield reached.table
        if request.node.stash.get(FAILED_KEY, False):
            await _restore_table(place, reached, request.node.name)
        else:
            await _check_end(request.node, place, reached)
    finally:
        await reached.close()


async def _bring_up(place: ScenarioTarget, access: TableAccess, name: str) -> None:
    """Check the identities of both boards, then start the daemon of the scenario's table.

    If either fails, this scenario fails and all later scenarios are skipped. The reason is one
    line for the person at the table, without a traceback.
    """
    try:
        await place.check_boards(access.table.ports)
        await access.table.start()
        return
    except (BoardNotAnswering, WrongBoards, HallError, TimeoutError) as error:
        place.broken = f"the table was not brought up for {name}: {error}"
    pytest.fail(place.broken, pytrace=False)


async def _check_end(node: pytest.Item, place: ScenarioTarget, access: TableAccess) -> None:
    """Make the table ready for a deal, stop the daemon, and raise AssertionError for findings."""
    table, program = access.table, access.table.daemon
    marks = list(node.iter_markers("explains"))
    explained = frozenset(str(counter) for mark in marks for counter in mark.args)
    try:
        await scenario_end.bring_to_rest(table)
        await table.add_counters()
        await table.stop()
        if table.first_card_set not in (None, table.state.machine.card_set):
            await table.hands.do_step("first_set")
        findings = [
            *scenario_end.unexpected_alerts(program.states, program.events, table.expected_alerts),
            *scenario_end.unexplained_counters(
                table.record.numbers, explained, is_time_shared=place.is_time_shared
            ),
            *scenario_end.journal_findings(program.state_dir),
            *table_disorder(await table.read_board_status()),
        ]
        if table.hands.is_simulated:
            truth = await table.hands.read_truth()
            findings += scenario_end.misplaced_cards(truth, table.profile.deck.cards)
            findings += scenario_end.active_faults(await table.wait_for_faults_end())
        assert not findings, "\n".join(findings)
    except RunStopped:
        raise
    except Exception:
        await _restore_table(place, access, node.name)
        raise


async def _restore_table(place: ScenarioTarget, access: TableAccess, name: str) -> None:
    """Stop the daemon after a failed scenario, and undo the scenario's changes to the table.

    If the table is still not in order, all later scenarios are skipped, except on `inproc`.
    """
    try:
        await access.table.daemon.stop()
        await access.table.hands.restore_table()
        left = table_disorder(await access.table.read_board_status())
    except (BoardNotAnswering, HallError, TimeoutError) as error:
        left = [str(error)]
    if left and place.target != "inproc":
        place.broken = f"{name} left the table as it is: {'; '.join(left)}"


# -- skips and results ---------------------------------------------------------


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a scenario if the target lacks a feature that the scenario needs."""
    wanted = tuple(feature for mark in item.iter_markers("needs") for feature in mark.args)
    reason = missing_features(wanted, item.config.stash[TARGET_KEY].features)
    if reason is not None:
        pytest.skip(reason)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    """Store the result of a test's phase. After the last phase, add measurements for JUnit."""
    report: pytest.TestReport = yield  # type: ignore[assignment]  # what the hook returns
    if report.failed:
        item.stash[FAILED_KEY] = True
    _keep_result(item, report)
    return report  # type: ignore[return-value]  # as above


def _keep_result(item: pytest.Item, report: pytest.TestReport) -> None:
    kept, notes = item.config.stash[RESULTS_KEY], item.stash.get(RECORD_KEY, ScenarioRecord())
    before = kept.get(item.nodeid, ScenarioResult(name=item.nodeid, verdict="passed"))
    verdict: ScenarioVerdict = "passed"
    if report.failed or before.verdict == "failed":
        verdict = "failed"
    elif report.skipped or before.verdict == "skipped":
        verdict = "skipped"
    elif report.when == "setup":
        verdict = "not run"
    kept[item.nodeid] = ScenarioResult(
        name=item.nodeid,
        verdict=verdict,
        took_s=report.duration + before.took_s,
        why="\n".join(filter(None, [before.why, *_failure_text(report)])),
        steps=tuple(notes.steps),
        measurements=tuple(notes.measurements),
        numbers=dict(notes.numbers),
    )
    if report.when == "teardown":
        report.user_properties.extend(
            (each.name, f"{each.value:g} {each.unit}") for each in notes.measurements
        )


def _failure_text(report: pytest.TestReport) -> list[str]:
    if report.skipped and isinstance(report.longrepr, tuple):
        return [str(report.longrepr[2]).removeprefix("Skipped: ")]
    if not report.failed:
        return []
    crash = getattr(report.longrepr, "reprcrash", None)
    return [str(report.longrepr) if crash is None else str(crash.message)]


@pytest.fixture(scope="session", autouse=True)
def report_to_junit(
    request: pytest.FixtureRequest, record_testsuite_property: Any
) -> Iterator[None]:
    """Write the facts about the target into the JUnit file when pytest ends."""
    yield
    for key, value in request.config.stash[TARGET_KEY].about.items():
        record_testsuite_property(key, value)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write the report page if it was requested. Fail a run in which every scenario was skipped."""
    config = session.config
    run = _session_run(config)
    nothing = {one.verdict for one in run.scenarios} == {"skipped"}
    if nothing and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
    wanted = config.getoption("report")
    if wanted is not None and run.scenarios:
        Path(wanted).write_text(render_page(run), encoding="utf-8")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print a warning if every scenario was skipped. Print the path of a requested report."""
    config = terminalreporter.config
    run = _session_run(config)
    if run.scenarios and {one.verdict for one in run.scenarios} == {"skipped"}:
        terminalreporter.write_line("every scenario was skipped on this target", red=True)
    if run.scenarios and config.getoption("report") is not None:
        terminalreporter.write_line(f"report: {config.getoption('report')}")


def _session_run(config: pytest.Config) -> ScenarioRun:
    at = config.stash[TARGET_KEY]
    return ScenarioRun(
        began=config.stash[STARTED_KEY],
        ended=_now(),
        about=at.about,
        scenarios=tuple(config.stash[RESULTS_KEY].values()),
        broken=at.broken,
    )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")  # noqa: TID251  # a report has a date
