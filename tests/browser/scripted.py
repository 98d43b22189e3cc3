"""The console over scripted tables: every state of a hall at once, without a hall."""

import asyncio
import re
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from tests.console.fake import PEOPLE, PIN

WHO = {person.role: person.name for person in PEOPLE}
__all__ = ["PIN", "WHO", "scripted"]


@asynccontextmanager
async def scripted() -> AsyncIterator[str]:
    """Serve it from a process of its own for the block; give its address."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.console.fake", "0"),
        cwd=Path(__file__).parents[2],
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        assert process.stderr is not None
        line = (await process.stderr.readline()).decode()
        found = re.search(r"http://\S+(?=/login)", line)
        assert found is not None, line
        yield found[0]
    finally:
        if process.returncode is None:
            process.terminate()
        await process.communicate()
