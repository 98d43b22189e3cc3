"""How the program's processes end: by which signals, and with whoever started them."""

import ctypes
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from types import FrameType

_PR_SET_PDEATHSIG = 1


def termination_signals() -> tuple[signal.Signals, ...]:
    """Return the signals that are to end a process in good order.

    A terminal that is closed hangs up; who was told to survive that (`nohup`) does.
    """
    asked = (signal.SIGINT, signal.SIGTERM)
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        return asked
    return (*asked, signal.SIGHUP)


@contextmanager
def handle_signals_as_ctrl_c() -> Iterator[None]:
    """Let the first signal that is to end this process do in the block what Ctrl-C does there.

    Behind it the others change nothing: a terminal that is closed may hang up more than once.
    """
    came = False

    def press(number: int, frame: FrameType | None) -> None:
        nonlocal came
        if came:
            return
        came = True
        pressed = signal.getsignal(signal.SIGINT)  # a running loop has its own
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
    """Return what a new child does first: it asks for this signal for when its parent dies.

    For `preexec_fn`, made before the child is.
    """
    return partial(_request_death_signal, os.getpid(), int(number), ctypes.CDLL(None))


def _request_death_signal(parent: int, number: int, libc: ctypes.CDLL) -> None:
    libc.prctl(_PR_SET_PDEATHSIG, number)
    if os.getppid() != parent:
        os._exit(1)  # it died before it was asked for
