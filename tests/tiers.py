"""The tiers of the tests: what each marker needs, how long a test may take, what a run left out."""

from collections.abc import Generator

import pytest

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
    "chromium": "browser",
    "micropython": "micropython",
    "postgres": "postgres",
    "promtool": "system",
}
# A hung test fails after this time: in the core, under a marker, under one with `--scale 1`.
CORE_TIMEOUT_S = 60
MARKED_TIMEOUT_S = 900
WHOLE_TIMEOUT_S = 7200
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
    marked_s = WHOLE_TIMEOUT_S if config.getoption("scale") >= 1 else MARKED_TIMEOUT_S
    on_boards = config.getoption("target", "inproc") != "inproc"
    for item in items:
        for fixture in MARKER_OF_FIXTURE.keys() & set(getattr(item, "fixturenames", ())):
            item.add_marker(MARKER_OF_FIXTURE[fixture])
        is_quick = not marker_of(item) and not (on_boards and "hil_tests" in item.path.parts)
        item.add_marker(pytest.mark.timeout(CORE_TIMEOUT_S if is_quick else marked_s))
    collected = list(items)
    yield
    chosen = set(items)
    for item in collected:
        marker = marker_of(item)
        if marker and item not in chosen:
            _left_out[marker] = _left_out.get(marker, 0) + 1


class LeftOutOfWorkers:
    """Receives what the workers of pytest-xdist left out. Each of them collects every test."""

    def pytest_testnodedown(self, node: object) -> None:
        """Take the counts of a worker that ended; all workers have the same."""
        _left_out.update(getattr(node, "workeroutput", {}).get("left_out", {}))


def pytest_sessionstart(session: pytest.Session) -> None:
    """Listen to workers, where there are any."""
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
