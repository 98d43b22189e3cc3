"""The timeout of tests/tiers.py: it ends a test wherever that hangs, and no other test."""

import subprocess
import sys
from pathlib import Path

HANGING = """
import asyncio
import pytest

pytestmark = pytest.mark.timeout(0.5)

async def test_whose_callbacks_never_end():
    def again():
        asyncio.get_running_loop().call_soon(again)
    again()
    await asyncio.Event().wait()

async def test_that_waits_for_ever():
    await asyncio.Event().wait()

async def test_that_ends():
    pass
"""


def test_a_test_that_hangs_fails_and_says_where(tmp_path: Path) -> None:
    (tmp_path / "test_hanging.py").write_text(HANGING)
    words = ("-p", "tests.tiers", "-o", "asyncio_mode=auto", "-q", "-p", "no:cacheprovider")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *words, "-c", "/dev/null", tmp_path],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
    )
    assert "2 failed, 1 passed" in done.stdout, done.stdout
    assert "test_that_waits_for_ever hangs: it ran for more than 0.5 s" in done.stdout
    assert "in test_that_waits_for_ever" in done.stdout
