"""Who was busy for long, or had more sent than he can read, hears tables as before."""

import asyncio
import sys

import pytest

pytestmark = pytest.mark.slow


async def deaf(how: str) -> tuple[int | None, bytes, bytes]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.console.deaf", how),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    said, complained = await process.communicate()
    return process.returncode, said, complained


async def test_a_queue_that_was_full_when_its_line_was_lost_ends_no_process() -> None:
    """Without `OF_A_HEARER` libzmq ends it: "Assertion failed: _input_stopped"."""
    for code, said, complained in await asyncio.gather(deaf("feed"), deaf("line")):
        assert (code, said, complained) == (0, b"heard 5 times\n", b"")
