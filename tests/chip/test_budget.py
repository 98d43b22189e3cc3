"""What the firmware costs, against its page; interrupts that may allocate nothing."""

import json
import os
import re
import subprocess
from pathlib import Path

import drivers.firmware

FIRMWARE = Path(drivers.firmware.__file__).parent
ROOT = Path(__file__).parents[2]
ROWS = ("code", "board", "attempt", "litter_card")


def test_memory_is_as_the_page_says_and_no_handler_allocates(micropython: str) -> None:
    # MicroPython keeps the paths of its modules on the heap: relative ones cost the same anywhere.
    done = subprocess.run(
        [micropython, "tests/chip/budget.py"],
        cwd=ROOT,
        env={**os.environ, "MICROPYPATH": os.pathsep.join(("drivers", "tests/chip/mpy"))},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(done.stdout)
    print(found)  # noqa: T201 - for whom the page sends here
    page = (FIRMWARE / "README.md").read_text("utf-8")
    table = page.partition("| bytes of heap, 64-bit | most |\n")[2].partition("\n\n")[0]
    most = [int(row) for row in re.findall(r"\| (\d+) \|", table)]
    for name, limit in zip(ROWS, most, strict=True):
        assert found[name] <= limit, name
        assert found[name] >= 0.7 * limit, f"{name}: the page promises too little"
    [idle] = re.findall(r"if it makes more than (\d+) bytes", page)
    assert found["litter_idle"] <= int(idle)
