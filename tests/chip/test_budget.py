"""What the firmware costs, against its page; interrupts that may allocate nothing."""

import json
import os
import re
import subprocess
from pathlib import Path

import drivers.firmware

FIRMWARE = Path(drivers.firmware.__file__).parent
HERE = Path(__file__).parent
ROWS = ("code", "board", "attempt", "litter_card")


def test_memory_is_as_the_page_says_and_no_handler_allocates(micropython: str) -> None:
    path = os.pathsep.join((str(FIRMWARE.parent), str(HERE / "mpy")))
    done = subprocess.run(
        [micropython, HERE / "budget.py"],
        env={**os.environ, "MICROPYPATH": path},
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
    [idle] = re.findall(r"leaves at most (\d+) bytes behind", page)
    assert found["litter_idle"] <= int(idle)
