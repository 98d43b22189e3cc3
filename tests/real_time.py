"""The gate against sleeping in real time.

A test that sleeps is slow on every computer and wrong on a busy one. Virtual time has no such
cost: there a sleep ends at once. In real time only `tests/waiting.py` may sleep.
"""

import asyncio
import sys
import time
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from types import CodeType
from typing import Any, SupportsIndex

import pytest

HERE = Path(__file__).parent
TESTS = (str(HERE), str(HERE.parent / "hil_tests"))
WAITING = str(HERE / "waiting.py")

_sleep_of_loop = asyncio.sleep
_sleep_of_thread = time.sleep


class SleepsInRealTime(AssertionError):
    """A test, or a helper of one, that sleeps while the clock is not virtual."""

    def __init__(self, where: str) -> None:
        super().__init__(
            f"{where} sleeps in real time: wait with tests/waiting.py until something holds, "
            "or mark the test virtual"
        )


def pytest_configure() -> None:
    """Replace both sleeps for this process by ones that look at who calls them."""
    asyncio.sleep = _guarded_sleep
    time.sleep = _guarded_thread_sleep


def pytest_unconfigure() -> None:
    """Put both sleeps back."""
    asyncio.sleep = _sleep_of_loop
    time.sleep = _sleep_of_thread


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Refuse a test that is not virtual and names a sleep. Raises pytest.UsageError."""
    wrong = [item.nodeid for item in items if _is_in_real_time(item, config) and _sleeps(item)]
    if wrong:
        raise pytest.UsageError("\n".join(f"{one}: sleeps, and is not virtual" for one in wrong))


def _is_in_real_time(item: pytest.Item, config: pytest.Config) -> bool:
    in_process = "hil_tests" in item.path.parts and config.getoption("target", "inproc") == "inproc"
    return not (in_process or item.get_closest_marker("virtual"))


def _sleeps(item: pytest.Item) -> bool:
    function: Callable[..., object] | None = getattr(item, "function", None)
    code = getattr(function, "__code__", None)
    return code is not None and any("sleep" in each.co_names for each in _codes(code))


def _codes(code: CodeType) -> Iterator[CodeType]:
    """Yield the code of a function and of the functions within it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _guarded_sleep(delay: float, result: Any = None) -> Coroutine[Any, Any, Any]:
    caller = sys._getframe(1).f_code.co_filename
    if delay > 0 and _is_guarded(caller) and not _clock_is_virtual():
        raise SleepsInRealTime(caller)
    return _sleep_of_loop(delay, result)


def _guarded_thread_sleep(seconds: float | SupportsIndex) -> None:
    caller = sys._getframe(1).f_code.co_filename
    if _is_guarded(caller):
        raise SleepsInRealTime(caller)
    _sleep_of_thread(seconds)


def _is_guarded(caller: str) -> bool:
    return caller.startswith(TESTS) and caller != WAITING


def _clock_is_virtual() -> bool:
    from sim.virtual_loop import VirtualLoop

    return isinstance(asyncio.get_running_loop(), VirtualLoop)
