"""Functions for termination signals, for the death of a parent process, and for systemd."""

import asyncio
import ctypes
import os
import signal
import socket
from collections.abc import AsyncIterator, Callable, Iterator, MutableMapping
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import partial
from types import FrameType
from typing import Final, Self

MAX_LOOP_DELAY_S: Final = 1.0
"""Maximum delay of the loop in a process that counts as alive (provisional)."""
MAX_WRITE_DELAY_S: Final = 5.0
"""Maximum time that entries may wait for the disk.

A worn memory card can also stop for seconds (provisional).
"""
HEARTBEATS_PER_WATCHDOG: Final = 6
"""Number of heartbeats within the time limit of the supervisor."""
_UNWATCHED_INTERVAL_S: Final = 5.0
"""Interval of status messages without a watchdog."""


class SystemdNotifier:
    """A sender of status messages to systemd, the supervisor of this process.

    `address` is the address of systemd's socket. A leading `@` means the null byte of an abstract
    socket. Without an address the messages are dropped. `watchdog_s` is the time without a
    heartbeat after which systemd restarts the process. None means no limit.
    """

    def __init__(self, address: str | None = None, watchdog_s: float | None = None) -> None:
        """Store the watchdog time, and the address if it begins with `/` or `@`, otherwise None."""
        self.watchdog_s = watchdog_s
        self._address: str | None = None
        if address is not None and address.startswith(("/", "@")):
            self._address = "\0" + address[1:] if address[0] == "@" else address

    @classmethod
    def from_environment(cls, environ: MutableMapping[str, str]) -> Self:
        """Return a notifier with systemd's settings in `environ`, and remove them from `environ`.

        The variables are only for this process, not for its children.
        """
        address = environ.pop("NOTIFY_SOCKET", None)
        micros = environ.pop("WATCHDOG_USEC", "")
        watched = environ.pop("WATCHDOG_PID", str(os.getpid())) == str(os.getpid())
        limit_s = int(micros) / 1e6 if micros.isdecimal() and int(micros) and watched else None
        return cls(address, limit_s)

    def report_ready(self, status: str) -> None:
        """Report that the process is ready."""
        self._send("READY=1", f"STATUS={status}")

    def report_alive(self, status: str) -> None:
        """Report that the process is alive."""
        self._send("WATCHDOG=1", f"STATUS={status}")

    def report_stall(self, reason: str) -> None:
        """Report why this process counts as stalled. This report is no heartbeat for systemd."""
        self._send(f"STATUS=ailing: {reason}")

    def report_stopping(self) -> None:
        """Report that the process is stopping on request."""
        self._send("STOPPING=1")

    def _send(self, *lines: str) -> None:
        if self._address is None:
            return
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as out:
            out.setblocking(False)
            # If there is no receiver or it is too slow, the next message counts.
            with suppress(OSError):
                out.sendto("\n".join(lines).encode(), self._address)


@asynccontextmanager
async def run_heartbeat(
    notifier: SystemdNotifier,
    status: Callable[[], str],
    write_delay_s: Callable[[], float] = lambda: 0.0,
) -> AsyncIterator[None]:
    """Send heartbeats to systemd in the `async with` block, except while this process has stalled.

    `status` returns a line for people, which is public. `write_delay_s` returns the seconds that
    the oldest entry has waited for the writer of the journal.
    """
    beats = asyncio.ensure_future(_send_heartbeats(notifier, status, write_delay_s))
    try:
        yield
    finally:
        beats.cancel()
        with suppress(asyncio.CancelledError):
            await beats


async def _send_heartbeats(
    notifier: SystemdNotifier, status: Callable[[], str], write_delay_s: Callable[[], float]
) -> None:
    loop = asyncio.get_running_loop()
    pause_s = (
        _UNWATCHED_INTERVAL_S
        if notifier.watchdog_s is None
        else notifier.watchdog_s / HEARTBEATS_PER_WATCHDOG
    )
    due_s = loop.time() + pause_s
    while True:
        await asyncio.sleep(due_s - loop.time())
        woke_s = loop.time()
        why = find_stall_reason(woke_s - due_s, write_delay_s())
        due_s = woke_s + pause_s  # set before the report, so that a stall during the report counts
        if why is None:
            notifier.report_alive(status())
        else:
            notifier.report_stall(why)


def find_stall_reason(loop_delay_s: float, write_delay_s: float) -> str | None:
    """Return why a process with these delays counts as stalled, or None if it counts as alive."""
    if loop_delay_s > MAX_LOOP_DELAY_S:
        return f"the loop came round {loop_delay_s:.1f} s late"
    if write_delay_s > MAX_WRITE_DELAY_S:
        return f"the journal's writer has not written for {write_delay_s:.1f} s"
    return None


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
    """Make the first termination signal in the `with` block act like Ctrl-C.

    Later signals have no effect, because a terminal that closes may send SIGHUP more than once.
    """
    came = False

    def press(number: int, frame: FrameType | None) -> None:
        nonlocal came
        if came:
            return
        came = True
        pressed = signal.getsignal(signal.SIGINT)  # A running loop has its own handler.
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
    """Return a `preexec_fn` that makes the child receive signal `number` when its parent dies.

    The function must be created in the parent before the child starts.
    """
    return partial(_request_death_signal, os.getpid(), int(number), ctypes.CDLL(None))


def _request_death_signal(parent: int, number: int, libc: ctypes.CDLL) -> None:
    libc.prctl(_PR_SET_PDEATHSIG, number)
    if os.getppid() != parent:
        os._exit(1)  # The parent died before this request.
