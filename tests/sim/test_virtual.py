"""The loop in virtual time: exact, in order, and deaf to the outside world."""

import asyncio
import socket
import threading  # noqa: TID251 - another thread is what one test is about
from collections.abc import Awaitable, Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.virtual_loop import VirtualLoop, VirtualTimeError

pytestmark = pytest.mark.virtual


def test_an_hour_passes_at_once_and_exactly() -> None:
    async def main() -> float:
        await asyncio.sleep(3600)
        return asyncio.get_running_loop().time()

    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        assert runner.run(main()) == 3600.0


def test_a_hundred_thousand_tenths_of_a_second_are_ten_thousand_seconds() -> None:
    async def main() -> int:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, VirtualLoop)
        for _ in range(100_000):
            await asyncio.sleep(0.1)
        return round(loop.time() * 1e9)

    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        assert runner.run(main()) == 10_000 * 10**9


@given(st.lists(st.integers(0, 5), max_size=200))
def test_timers_run_by_time_and_those_of_one_instant_in_the_order_they_were_set(
    delays_ms: list[int],
) -> None:
    ran: list[tuple[int, int]] = []

    async def main() -> None:
        loop = asyncio.get_running_loop()
        for number, delay in enumerate(delays_ms):
            loop.call_later(delay / 1000, ran.append, (delay, number))
        await asyncio.sleep(1)

    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        runner.run(main())
    assert ran == sorted((delay, number) for number, delay in enumerate(delays_ms))


def test_instants_that_differ_by_rounding_alone_are_one_instant() -> None:
    ran: list[int] = []

    async def main() -> None:
        loop = asyncio.get_running_loop()
        for number in range(60):
            loop.call_later(0.3 if number % 2 else 0.1 + 0.2, ran.append, number)
        await asyncio.sleep(1)

    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        runner.run(main())
    assert ran == list(range(60))


def test_a_timer_for_this_very_instant_runs_behind_all_that_is_ready_and_in_its_order() -> None:
    ran: list[str] = []

    async def main() -> None:
        loop = asyncio.get_running_loop()

        def first() -> None:
            ran.append("first")
            loop.call_later(0, ran.append, "at once")
            loop.call_later(0, ran.append, "at once, too")
            loop.call_soon(ran.append, "soon")

        loop.call_later(1, first)
        loop.call_later(1, ran.append, "second")
        await asyncio.sleep(2)

    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        runner.run(main())
    assert ran == ["first", "second", "soon", "at once", "at once, too"]


def test_the_loop_tells_which_timers_will_run() -> None:
    async def main() -> list[bool]:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, VirtualLoop)
        set_at = [loop.call_later(later, print) for later in (0, 0, 1, 1)]
        for timer in set_at[::2]:
            timer.cancel()
        return [timer in loop.timers for timer in set_at]

    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        assert runner.run(main()) == [False, True, False, True]


def test_a_timer_a_nanosecond_later_runs_a_nanosecond_later() -> None:
    async def main() -> list[int]:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, VirtualLoop)
        stamps: list[int] = []
        await asyncio.sleep(10_000)
        for later in (1, 0, 2):
            loop.call_later(later * 1e-9, lambda: stamps.append(round(loop.time() * 1e9)))
        await asyncio.sleep(1)
        return [stamp - 10_000 * 10**9 for stamp in stamps]

    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        assert runner.run(main()) == [0, 1, 2]


def test_a_cancelled_timer_does_not_run() -> None:
    async def main() -> list[int]:
        loop = asyncio.get_running_loop()
        ran: list[int] = []
        timers = [loop.call_later(0.5, ran.append, number) for number in range(300)]
        for timer in timers[1::2] + timers[200:]:
            timer.cancel()
        await asyncio.sleep(1)
        return ran

    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        assert runner.run(main()) == list(range(0, 200, 2))


def test_a_timeout_ends_what_takes_longer() -> None:
    async def main() -> float:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(1.5):
                await asyncio.sleep(2)
        return asyncio.get_running_loop().time()

    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        assert runner.run(main()) == 1.5


def test_a_wait_that_no_timer_can_end_is_an_error_and_not_a_hang() -> None:
    async def main() -> None:
        await asyncio.Event().wait()

    with (
        asyncio.Runner(loop_factory=VirtualLoop) as runner,
        pytest.raises(VirtualTimeError, match="no timer is set"),
    ):
        runner.run(main())


async def _reads_a_descriptor(loop: asyncio.AbstractEventLoop) -> None:
    one, other = socket.socketpair()
    with one, other:
        loop.add_reader(one, print)


async def _writes_a_descriptor(loop: asyncio.AbstractEventLoop) -> None:
    one, other = socket.socketpair()
    with one, other:
        loop.add_writer(one, print)


async def _takes_a_signal(loop: asyncio.AbstractEventLoop) -> None:
    loop.add_signal_handler(15, print)


REAL_TIME: dict[str, tuple[Callable[[asyncio.AbstractEventLoop], Awaitable[object]], str]] = {
    "add_reader": (_reads_a_descriptor, "a descriptor"),
    "add_writer": (_writes_a_descriptor, "a descriptor"),
    "signal": (_takes_a_signal, "a signal"),
    "run_in_executor": (lambda loop: loop.run_in_executor(None, print), "a thread"),
    "name look-up": (lambda loop: loop.getaddrinfo("localhost", 1), "a thread"),
    "process": (lambda loop: asyncio.create_subprocess_exec("true"), "a process"),
}


@pytest.mark.parametrize("case", REAL_TIME)
def test_what_lives_in_real_time_is_refused_by_name(case: str) -> None:
    ask, named = REAL_TIME[case]

    async def main() -> None:
        with pytest.raises(VirtualTimeError, match=named):
            await ask(asyncio.get_running_loop())

    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        runner.run(main())


def test_the_loops_own_thread_may_hand_over_calls_and_another_may_not() -> None:
    async def main() -> list[str]:
        loop = asyncio.get_running_loop()
        ran: list[str] = []
        refused: list[BaseException] = []

        def from_outside() -> None:
            try:
                loop.call_soon_threadsafe(ran.append, "outside")
            except VirtualTimeError as error:
                refused.append(error)

        loop.call_soon_threadsafe(ran.append, "inside")
        thread = threading.Thread(target=from_outside)
        thread.start()
        thread.join()
        await asyncio.sleep(0)
        assert len(refused) == 1
        return ran

    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        assert runner.run(main()) == ["inside"]


def test_two_loops_one_after_the_other_leave_nothing_open() -> None:
    async def main() -> float:
        await asyncio.sleep(1)
        return asyncio.get_running_loop().time()

    for _ in range(2):
        with asyncio.Runner(loop_factory=VirtualLoop) as runner:
            assert runner.run(main()) == 1.0
