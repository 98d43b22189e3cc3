"""How the program's processes end: by which signals, and with whoever started them."""

import ctypes
import os
import signal
from collections.abc import Callable
from functools import partial

_PR_SET_PDEATHSIG = 1


def ending_signals() -> tuple[signal.Signals, ...]:
    """Return the signals that are to end a process in good order.

    A terminal that is closed hangs up; who was told to survive that (`nohup`) does.
    """
    asked = (signal.SIGINT, signal.SIGTERM)
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        return asked
    return (*asked, signal.SIGHUP)


def with_parent(number: signal.Signals) -> Callable[[], None]:
    """Return what a new child does first: it asks for this signal for when its parent dies.

    For `preexec_fn`, made before the child is.
    """
    return partial(_ask, os.getpid(), int(number), ctypes.CDLL(None))


def _ask(parent: int, number: int, libc: ctypes.CDLL) -> None:
    libc.prctl(_PR_SET_PDEATHSIG, number)
    if os.getppid() != parent:
        os._exit(1)  # it died before it was asked for
