"""Waiting for what is to come about by itself; the test's own time limit ends what never does."""

import asyncio
from collections.abc import Callable


async def until(holds: Callable[[], object]) -> None:
    """Return as soon as `holds` is true."""
    while True:
        if holds():
            return
        await asyncio.sleep(0.005)
