"""What the tests share: their options, their loop, and places to run things in."""

import asyncio
import fcntl
import gc
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Generator, Iterator, Mapping
from pathlib import Path

import hypothesis
import pytest

ROOT = Path(__file__).parent
RUNTIME_ROOT = Path("/dev/shm")
FETCH_MICROPYTHON = ROOT / ".ci" / "micropython"
FETCH_PROMTOOL = ROOT / ".ci" / "promtool"
PROMTOOL_PATH = ROOT / ".promtool" / "promtool"

# Workers of pytest-xdist are told how wide the terminal is; what tests read is printed into pipes.
os.environ.pop("COLUMNS", None)

# A deadline would be an assertion about wall time. The examples are the same in every run.
hypothesis.settings.register_profile("dealtable", deadline=None, derandomize=True)
hypothesis.settings.load_profile("dealtable")

pytest_plugins = ["tests.tiers", "tests.real_time"]


def pytest_configure() -> None:
    """Restore the default action of SIGHUP, SIGINT and SIGPIPE for programs that tests start.

    A run behind `nohup`, or in the background of a script, ignores some of these signals. A child
    process would inherit that, and would not end as it does for a person at a terminal. A handler
    is not inherited: the child begins with the default action.
    """
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGPIPE):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, lambda *_: None)


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("dealtable")
    group.addoption(
        "--scale",
        type=float,
        default=0.02,
        help="how much of the full counts to run: 1 for all of them (default: %(default)s)",
    )
    group.addoption(
        "--target",
        default="inproc",
        metavar="inproc|sim|FILE",
        help="what hil_tests run on: in process, boards behind ptys, or a bench file "
        "naming real ports (default: %(default)s)",
    )
    group.addoption(
        "--firmware",
        choices=("cpython", "micropython"),
        default="cpython",
        help="with --target=sim: the interpreter that the boards run under (default: %(default)s)",
    )
    group.addoption(
        "--report",
        metavar="FILE.html",
        help="write what hil_tests have shown as one page for people",
    )


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Look for no garbage among the tests: all of them stay, and each worker finds them."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.fixture(scope="session")
def scale(pytestconfig: pytest.Config) -> Callable[[int], int]:
    """Scale a full count by --scale, to 1 at least: `for _ in range(scale(20_000))`."""
    factor = pytestconfig.getoption("scale")
    return lambda full: max(1, int(full * factor))


LoopFactory = Callable[[], asyncio.AbstractEventLoop]


def pytest_asyncio_loop_factories(
    config: pytest.Config, item: pytest.Item
) -> Mapping[str, LoopFactory]:
    """Give virtual time to tests marked `virtual` and to hil_tests in process."""
    in_process = "hil_tests" in item.path.parts and config.getoption("target") == "inproc"
    if in_process or item.get_closest_marker("virtual"):
        from sim.virtual_loop import VirtualLoop

        return {"virtual": VirtualLoop}
    return {"real": asyncio.new_event_loop}


@pytest.fixture
def runtime_dir() -> Iterator[Path]:
    """A fresh folder in memory, for this user alone, with a name short enough for a socket."""
    folder = Path(tempfile.mkdtemp(prefix="dt-", dir=RUNTIME_ROOT))
    yield folder
    shutil.rmtree(folder)


def find_micropython() -> str | None:
    """Path of a MicroPython interpreter, where the simulator finds one."""
    from sim import board_process

    try:
        return board_process.find_micropython()
    except FileNotFoundError:
        return None


def find_promtool() -> str | None:
    """Path of the program that checks metrics: DEALTABLE_PROMTOOL, the system's, or the fetched."""
    named = os.environ.get("DEALTABLE_PROMTOOL") or shutil.which("promtool")
    return named or (str(PROMTOOL_PATH) if PROMTOOL_PATH.exists() else None)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Fetch what tests need, once, before a test's time runs."""
    if session.config.option.collectonly:
        return
    needed = {name for item in session.items for name in getattr(item, "fixturenames", ())}
    needed.add(session.config.option.firmware)
    with Path(__file__).open() as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)  # one of several workers fetches, the others wait
        if "micropython" in needed and not find_micropython():
            subprocess.run([FETCH_MICROPYTHON], check=False)
        if "promtool" in needed and not find_promtool():
            subprocess.run([FETCH_PROMTOOL], check=False)


@pytest.fixture(scope="session")
def micropython() -> str:
    """Path of the MicroPython interpreter; a test that needs one fails without it."""
    path = find_micropython()
    if path is None:
        pytest.fail(
            f"no MicroPython: {FETCH_MICROPYTHON} could not fetch it; install it and put it "
            "on PATH, or name it in DEALTABLE_MICROPYTHON"
        )
    return path


@pytest.fixture(scope="session")
def promtool() -> str:
    """Path of Prometheus' promtool; a test that needs it fails without it."""
    path = find_promtool()
    if path is None:
        pytest.fail(
            f"no promtool: {FETCH_PROMTOOL} could not fetch it; install Debian's package "
            "prometheus, or name promtool in DEALTABLE_PROMTOOL"
        )
    return path
