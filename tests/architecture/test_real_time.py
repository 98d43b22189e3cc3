"""The gate of tests/real_time.py: a test that sleeps in real time does not run."""

import asyncio
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.real_time import SleepsInRealTime

SLEEPER = """
import asyncio
import pytest

async def test_it_sleeps():
    await asyncio.sleep(1)

@pytest.mark.virtual
async def test_it_sleeps_in_virtual_time():
    await asyncio.sleep(1)
"""


def sleeping(words: str) -> None:
    """Run words as if they were in this file."""
    exec(compile(words, __file__, "exec"), {"asyncio": asyncio, "time": time})


async def test_a_helper_that_sleeps_in_real_time_fails_its_test() -> None:
    with pytest.raises(SleepsInRealTime, match="test_real_time"):
        sleeping("asyncio.sleep(0.1)")


def test_a_helper_that_stops_its_thread_fails_its_test() -> None:
    with pytest.raises(SleepsInRealTime, match="test_real_time"):
        sleeping("time.sleep(0.1)")


def test_a_test_that_sleeps_in_real_time_is_refused_at_collection(tmp_path: Path) -> None:
    (tmp_path / "test_sleeper.py").write_text(SLEEPER)
    words = ("-p", "tests.real_time", "--collect-only", "-q", "-p", "no:cacheprovider")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *words, "-c", "/dev/null", tmp_path],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
    )
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert "test_it_sleeps: sleeps, and is not virtual" in done.stderr
    assert "in_virtual_time" not in done.stderr
