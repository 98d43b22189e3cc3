"""Waiting in tests. Outside virtual time this is the only place that may sleep.

A test never waits for a fixed time. It waits until something holds, and the timeout of pytest is
the only limit. When that limit ends a test, the last value that was seen is printed.
"""

import asyncio
import sys
import time
from collections.abc import Callable
from typing import TypeVar

Seen = TypeVar("Seen")

LOOK_INTERVAL_S = 0.005


async def until(look: Callable[[], Seen]) -> Seen:
    """Return the first value of `look()` that is true. `look` is called every few milliseconds."""
    seen: object = None
    try:
        while True:
            if found := look():
                return found
            seen = found
            await asyncio.sleep(LOOK_INTERVAL_S)
    except asyncio.CancelledError:
        _print_last(look, seen)
        raise


async def turn() -> None:
    """Return after one turn of the loop, in which everything that is ready has run once."""
    await asyncio.sleep(0)


def wait_until(look: Callable[[], Seen]) -> Seen:
    """Return the first value of `look()` that is true, in a test without an event loop."""
    seen: object = None
    try:
        while True:
            if found := look():
                return found
            seen = found
            time.sleep(LOOK_INTERVAL_S)
    except BaseException:
        _print_last(look, seen)
        raise


def _print_last(look: Callable[[], object], seen: object) -> None:
    where = look.__code__ if hasattr(look, "__code__") else None
    place = f"{where.co_filename}:{where.co_firstlineno}" if where else repr(look)
    sys.stderr.write(f"waited in vain for {place}; it last was {seen!r}\n")
