"""A loop whose timers do not wait for whole milliseconds."""

import asyncio
import os
import resource
import selectors
import time
from collections.abc import Iterator
from types import SimpleNamespace

import pytest

from sim.exact_loop import BUSY_WAIT_S, ExactSelector, exact_loop


@pytest.mark.parametrize("wait_s", [0.0002, 0.0017, 0.05])
def test_a_wait_lasts_to_the_microsecond(wait_s: float, monkeypatch: pytest.MonkeyPatch) -> None:
    clock_s = 100.0
    waits: list[float] = []

    def wait(reading: object, writing: object, other: object, timeout_s: float) -> None:
        nonlocal clock_s
        waits.append(timeout_s)
        clock_s += timeout_s

    def monotonic() -> float:
        nonlocal clock_s
        clock_s += 1e-6
        return clock_s

    monkeypatch.setattr("sim.exact_loop.select", SimpleNamespace(select=wait))
    monkeypatch.setattr("sim.exact_loop.time", SimpleNamespace(monotonic=monotonic))
    with ExactSelector() as selector:
        begun = selector.now_s
        assert selector.select(wait_s) == []
        assert selector.now_s == begun + wait_s
    awake_s = BUSY_WAIT_S if wait_s > 0.002 else 0.0
    assert waits == [pytest.approx(wait_s - awake_s, abs=5e-6)]
    assert begun + wait_s <= clock_s <= begun + wait_s + 5e-6


def test_what_follows_from_a_timer_follows_at_its_own_time_however_late_it_was() -> None:
    async def follow() -> tuple[float, float]:
        loop, ended = asyncio.get_running_loop(), asyncio.Event()
        times: list[float] = []

        def tell() -> None:
            times.append(loop.time())
            while time.monotonic() < loop.time() + 0.003:
                pass  # the processor has other work
            if len(times) < 5:
                loop.call_later(0.004, tell)
            else:
                ended.set()

        begun = loop.time()
        loop.call_later(0.004, tell)
        await ended.wait()
        return times[-1] - begun, time.monotonic() - begun

    with asyncio.Runner(loop_factory=exact_loop) as runner:
        own, clock = runner.run(follow())
    assert own == pytest.approx(5 * 0.004, abs=1e-6)
    assert clock >= own


class StoppedClock:
    """The clock of a process that is stopped for a while in its first sleep."""

    def __init__(self, stopped_s: float) -> None:
        self.now_s, self._stopped_s = 100.0, stopped_s

    def monotonic(self) -> float:
        """Return the time. It passes only in a sleep."""
        return self.now_s

    def select(self, reading: object, writing: object, other: object, wait_s: float) -> None:
        """Sleep until something is readable, which it is. The first sleep is too long."""
        self.now_s += self._stopped_s
        self._stopped_s = 0.0


@pytest.fixture
def stopped(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> StoppedClock:
    """A process that is stopped for `request.param` seconds."""
    clock = StoppedClock(request.param)
    monkeypatch.setattr("sim.exact_loop.select", clock)
    monkeypatch.setattr("sim.exact_loop.time", clock)
    return clock


@pytest.mark.parametrize("stopped", [0.010], indirect=True)
def test_timers_that_are_late_run_before_what_arrived_since(
    stopped: StoppedClock, readable: int
) -> None:
    with ExactSelector() as selector:
        selector.register(readable, selectors.EVENT_READ)
        for due_s in (100.004, 100.008):
            assert selector.select(due_s - selector.now_s) == []
            assert selector.now_s == pytest.approx(due_s)
        ((key, _),) = selector.select(0.004)
        assert (key.fd, selector.now_s) == (readable, stopped.now_s)


@pytest.mark.parametrize("stopped", [1.2], indirect=True)
def test_after_a_long_stop_the_loop_reads_at_the_time_at_which_it_was_stopped(
    stopped: StoppedClock, readable: int
) -> None:
    with ExactSelector() as selector:
        selector.register(readable, selectors.EVENT_READ)
        for due_s in (100.004, 100.008):
            ((key, _),) = selector.select(due_s - selector.now_s)
            assert key.fd == readable
            assert selector.now_s == pytest.approx(due_s)


@pytest.fixture
def readable() -> Iterator[int]:
    """A descriptor from which a byte can be read."""
    near, far = os.pipe()
    os.write(far, b"h")
    yield near
    os.close(near)
    os.close(far)


def test_what_arrives_has_the_time_of_the_clock_and_time_never_goes_back() -> None:
    async def hear(near: int, far: int) -> None:
        loop, before = asyncio.get_running_loop(), 0.0
        for _ in range(200):
            heard = asyncio.Event()
            loop.add_reader(near, _take, near, heard)
            loop.call_later(0.0003, os.write, far, b"here")
            begun = time.monotonic()
            await heard.wait()
            loop.remove_reader(near)
            assert max(before, begun) <= loop.time() <= time.monotonic() + 1e-6
            before = loop.time()

    near, far = os.pipe()
    try:
        with asyncio.Runner(loop_factory=exact_loop) as runner:
            runner.run(hear(near, far))
    finally:
        os.close(near)
        os.close(far)


def test_descriptors_above_1023_are_heard_while_a_timer_runs() -> None:
    async def hear(end: int, far: int) -> bytes:
        heard: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        asyncio.get_running_loop().add_reader(end, lambda: heard.set_result(os.read(end, 8)))
        asyncio.get_running_loop().call_later(0.01, os.write, far, b"here")
        return await heard

    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(
        resource.RLIMIT_NOFILE, (max(2048, resource.getrlimit(resource.RLIMIT_NOFILE)[0]), most)
    )
    near, far = os.pipe()
    high = 1500
    os.dup2(near, high)
    try:
        with asyncio.Runner(loop_factory=exact_loop) as runner:
            assert runner.run(hear(high, far)) == b"here"
    finally:
        for end in (near, far, high):
            os.close(end)


def _take(end: int, heard: asyncio.Event) -> None:
    os.read(end, 8)
    heard.set()
