"""Processes that work for another one: how they begin, and how they end with it."""

import multiprocessing
import os
import signal
from types import FrameType

_LOOK_S = 1.0
"""How often a worker looks whether the process that started it is still there."""


def settle_in(parent: int) -> None:
    """Prepare a worker: Ctrl-C is its parent's business, and its parent's end is its own."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def look(number: int, frame: FrameType | None) -> None:
        if os.getppid() != parent:
            os._exit(1)

    signal.signal(signal.SIGALRM, look)
    signal.setitimer(signal.ITIMER_REAL, _LOOK_S, _LOOK_S)


def end_workers() -> None:
    """End all processes that this one started."""
    for worker in multiprocessing.active_children():
        worker.terminate()
