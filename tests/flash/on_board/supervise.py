"""Gives a chip under MicroPython its power: `supervise.py MICROPYTHON FLASH_FOLDER`.

Prints the path of the pty that is its USB, and starts it again whenever it resets, until stdin
ends.
"""

import os
import pty
import select
import subprocess
import sys
import tty
from pathlib import Path

HERE = Path(__file__).parent
RESET = 3


def main(micropython: str, folder: str) -> None:
    board, host = pty.openpty()
    tty.setraw(board)
    tty.setraw(host)
    sys.stdout.write(os.ttyname(host) + "\n")
    sys.stdout.flush()
    environment = {**os.environ, "MICROPYPATH": str(HERE.parents[1] / "chip" / "mpy")}
    while True:
        chip = subprocess.Popen(
            [micropython, str(HERE / "prompt.py")],
            stdin=board,
            stdout=board,
            cwd=folder,
            env=environment,
        )
        while chip.poll() is None:
            if select.select([sys.stdin], [], [], 0.02)[0]:
                chip.kill()
                chip.wait()
                return
        if chip.returncode != RESET:
            sys.stderr.write(f"the chip ended with {chip.returncode}\n")
            return


main(*sys.argv[1:])
