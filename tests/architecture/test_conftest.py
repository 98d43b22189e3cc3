import asyncio
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.mark.virtual
async def test_an_hour_passes_at_once_on_the_virtual_loop() -> None:
    loop = asyncio.get_running_loop()
    begun = loop.time()
    await asyncio.sleep(3600)
    assert loop.time() - begun == 3600


def test_a_scaled_count_is_never_nothing(scale: Callable[[int], int]) -> None:
    assert 1 <= scale(1) <= scale(20_000) <= 20_000


def test_a_runtime_directory_is_ours_alone_and_short(runtime_dir: Path) -> None:
    assert stat.S_IMODE(runtime_dir.stat().st_mode) == 0o700
    assert len(str(runtime_dir)) < 40


def test_micropython_runs(micropython: str) -> None:
    done = subprocess.run(
        [micropython, "-c", "import sys; print(sys.implementation.name)"],
        check=True,
        capture_output=True,
        text=True,
    )
    assert done.stdout.strip() == "micropython"
