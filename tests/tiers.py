"""The tiers of the tests: what each marker needs, how long a test may take, what a run left out."""

import asyncio
import signal
from collections.abc import Generator
from types import FrameType

import pytest
from pytest_timeout import Settings

MARKERS = {
    "browser": "Debian's chromium and a Chinese font",
    "postgres": "Debian's postgresql",
    "micropython": "MicroPython's unix port, which .ci/micropython fetches",
    "chip": "an emulated RP2040",
    "system": "root, systemd, udev, and promtool, which .ci/promtool fetches",
    "slow": "several minutes",
}
"""What the tests of a marker need, beside Python and pip. Tests without a marker are the core."""
MARKER_OF_FIXTURE = {
    "playwright": "browser",
    "micropython": "micropython",
    "postgres": "postgres",
    "promtool": "system",
}
# A hung test fails after this time: in the core, under a marker, under one with `--scale 1`.
CORE_TIMEOUT_S = 60
MARKED_TIMEOUT_S = 600
WHOLE_TIMEOUT_S = 7200
TIMEOUT_AGAIN_S = 1.0
"""After which the test is interrupted again, if something swallowed the first interrupt."""
_left_out: dict[str, int] = {}


def pytest_configure(config: pytest.Config) -> None:
    """Register the markers."""
    for marker, needs in MARKERS.items():
        config.addinivalue_line("markers", f"{marker}: needs {needs}")


def marker_of(item: pytest.Item) -> str | None:
    """Return the first of MARKERS that `item` has, or None for a test of the core."""
    return next((marker for marker in MARKERS if item.get_closest_marker(marker)), None)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> Generator[None]:
    """Mark tests by their fixtures, set their timeouts, and count what the run leaves out."""
    marked_s = WHOLE_TIMEOUT_S if config.getoption("scale", 0) >= 1 else MARKED_TIMEOUT_S
    on_boards = config.getoption("target", "inproc") != "inproc"
    for item in items:
        for fixture in MARKER_OF_FIXTURE.keys() & set(getattr(item, "fixturenames", ())):
            item.add_marker(MARKER_OF_FIXTURE[fixture])
        is_quick = not marker_of(item) and not (on_boards and "hil_tests" in item.path.parts)
        if not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(CORE_TIMEOUT_S if is_quick else marked_s))
    collected = list(items)
    yield
    chosen = set(items)
    for item in collected:
        marker = marker_of(item)
        if marker and item not in chosen:
            _left_out[marker] = _left_out.get(marker, 0) + 1


class TestHangs(KeyboardInterrupt):
    """A test that takes longer than its timeout.

    An event loop passes on a KeyboardInterrupt alone: any other error that is raised in one of its
    callbacks is logged, and the loop continues.
    """

    __test__ = False


@pytest.hookimpl(tryfirst=True)
def pytest_timeout_set_timer(item: pytest.Item, settings: Settings) -> bool:
    """End a test that hangs, wherever it hangs; pytest-timeout's own signal can be swallowed."""

    def end(number: int, frame: FrameType | None) -> None:
        for task in _waiting_tasks():
            task.print_stack(limit=5)
        raise TestHangs(f"{item.nodeid} hangs: it ran for more than {settings.timeout:g} s")

    signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, settings.timeout, TIMEOUT_AGAIN_S)
    return True


def _waiting_tasks() -> set[asyncio.Task[object]]:
    """Return the tasks of the running loop. A hung test hangs at the line at which they wait."""
    loop = asyncio._get_running_loop()
    return asyncio.all_tasks(loop) if loop else set()


@pytest.hookimpl(tryfirst=True)
def pytest_timeout_cancel_timer(item: pytest.Item) -> bool:
    """Forget the timeout of a test that ended."""
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    return True


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None]:
    """Let a set-up that hangs fail."""
    yield from _failing_where_it_hangs()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None]:
    """Let a test that hangs fail."""
    yield from _failing_where_it_hangs()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None]:
    """Let a teardown that hangs fail."""
    yield from _failing_where_it_hangs()


def _failing_where_it_hangs() -> Generator[None]:
    """Turn TestHangs, which would end the whole run, into the failure of one test.

    The report and the teardown of that test get a new timeout.
    """
    try:
        yield
    except TestHangs as error:
        signal.setitimer(signal.ITIMER_REAL, CORE_TIMEOUT_S, TIMEOUT_AGAIN_S)
        raise AssertionError(str(error)).with_traceback(error.__traceback__) from None


class LeftOutOfWorkers:
    """Receives what the workers of pytest-xdist left out. Each of them collects every test."""

    def pytest_testnodedown(self, node: object) -> None:
        """Take the counts of a worker that ended; all workers have the same."""
        _left_out.update(getattr(node, "workeroutput", {}).get("left_out", {}))


def pytest_sessionstart(session: pytest.Session) -> None:
    """Listen to workers, if there are any."""
    if session.config.pluginmanager.has_plugin("dsession"):
        session.config.pluginmanager.register(LeftOutOfWorkers())


def pytest_sessionfinish(session: pytest.Session) -> None:
    """In a worker: hand over what it left out."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["left_out"] = _left_out


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print how many tests of each marker were left out, and the command that runs them."""
    if not _left_out:
        return
    terminalreporter.section("left out of this run", sep="-")
    for marker in [name for name in MARKERS if name in _left_out]:
        terminalreporter.write_line(
            f"{_left_out[marker]:6} {marker:<12} "
            f".venv/bin/pytest -n 4 -m {marker:<12} needs {MARKERS[marker]}"
        )
    terminalreporter.write_line("`.ci/run` installs what is missing and runs everything.")
