"""Termination of the program's processes: by signals, and together with their parent."""

import ctypes
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from types import FrameType

_PR_SET_PDEATHSIG = 1


def termination_signals() -> tuple[signal.Signals, ...]:
    """Return the signals that end a process cleanly.

    A terminal that closes sends SIGHUP. A process that ignores SIGHUP (`nohup`) survives that.
    """
    asked = (signal.SIGINT, signal.SIGTERM)
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        return asked
    return (*asked, signal.SIGHUP)


@contextmanager
def handle_signals_as_ctrl_c() -> Iterator[None]:
    """Handle the first termination signal in the block like Ctrl-C.

    Later signals have no effect, because a terminal that closes may send SIGHUP more than once.
    """
    came = False

    def press(number: int, frame: FrameType | None) -> None:
        nonlocal came
        if came:
            return
        came = True
        pressed = signal.getsignal(signal.SIGINT)  # a running loop has a handler of its own
        if not callable(pressed):
            raise KeyboardInterrupt
        pressed(signal.SIGINT, frame)

    others = set(termination_signals()) - {signal.SIGINT}
    before = {number: signal.signal(number, press) for number in others}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def make_parent_death_hook(number: signal.Signals) -> Callable[[], None]:
    """Return a function for `preexec_fn` that makes a child receive this signal when its parent
    dies.

    It must be created in the parent before the child starts.
    """
    return partial(_request_death_signal, os.getpid(), int(number), ctypes.CDLL(None))


def _request_death_signal(parent: int, number: int, libc: ctypes.CDLL) -> None:
    libc.prctl(_PR_SET_PDEATHSIG, number)
    if os.getppid() != parent:
        os._exit(1)  # the parent died before this request
