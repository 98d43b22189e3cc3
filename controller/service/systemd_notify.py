"""What whoever supervises a process (systemd) is told: that it serves, that it lives, that it ends.

Words go as datagrams to the Unix socket that NOTIFY_SOCKET names (sd_notify); they wait for
nobody. A process lives as long as its loop comes round in time and, in the machine, as long as the
thread that writes the journal gets on. A board that is silent, or a disk that is full, is no
reason to be started again: the machine says what is wrong, and goes on when it is mended.
"""

import asyncio
import os
import socket
from collections.abc import AsyncIterator, Callable, MutableMapping
from contextlib import asynccontextmanager, suppress
from typing import Final, Self

MAX_LOOP_DELAY_S: Final = 1.0
"""How late the loop may come round and still be said to live (provisional)."""
MAX_WRITE_DELAY_S: Final = 5.0
"""How long rows may wait for the disk: a worn card stops for seconds, too (provisional)."""
HEARTBEATS_PER_WATCHDOG: Final = 6
"""How often a process says that it lives within the time that its supervisor allows."""
_UNWATCHED_INTERVAL_S: Final = 5.0
"""How often its status is renewed where nobody watches it."""


class SystemdNotifier:
    """Whoever supervises this process; one that nobody supervises may say the same words.

    `address` is the socket's, where a leading `@` stands for the null byte of an abstract one.
    `watchdog_s` is how long the process may be silent before it is started again, None for as
    long as it likes.
    """

    def __init__(self, address: str | None = None, watchdog_s: float | None = None) -> None:
        """Take the address; without one, or with one that is none, words go nowhere."""
        self.watchdog_s = watchdog_s
        self._address: str | None = None
        if address is not None and address.startswith(("/", "@")):
            self._address = "\0" + address[1:] if address[0] == "@" else address

    @classmethod
    def from_environment(cls, environ: MutableMapping[str, str]) -> Self:
        """Return what the environment says, and take it out of there: it is meant for us alone."""
        address = environ.pop("NOTIFY_SOCKET", None)
        micros = environ.pop("WATCHDOG_USEC", "")
        watched = environ.pop("WATCHDOG_PID", str(os.getpid())) == str(os.getpid())
        limit_s = int(micros) / 1e6 if micros.isdecimal() and int(micros) and watched else None
        return cls(address, limit_s)

    def report_ready(self, status: str) -> None:
        """Say that the process serves."""
        self._send("READY=1", f"STATUS={status}")

    def report_alive(self, status: str) -> None:
        """Say that it lives."""
        self._send("WATCHDOG=1", f"STATUS={status}")

    def report_stall(self, reason: str) -> None:
        """Say why it does not say that it lives."""
        self._send(f"STATUS=ailing: {reason}")

    def report_stopping(self) -> None:
        """Say that it ends because it was told to."""
        self._send("STOPPING=1")

    def _send(self, *lines: str) -> None:
        if self._address is None:
            return
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as out:
            out.setblocking(False)
            with suppress(OSError):  # nobody listens, or not as fast: the next word counts
                out.sendto("\n".join(lines).encode(), self._address)


@asynccontextmanager
async def run_heartbeat(
    notifier: SystemdNotifier,
    status: Callable[[], str],
    write_delay_s: Callable[[], float] = lambda: 0.0,
) -> AsyncIterator[None]:
    """Say in the block, again and again, that this process lives, as long as it does.

    `status` is a line for people, public as everything that a supervisor shows. `waits_s` is for
    how many seconds the oldest row has waited for the writer of the journal.
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
        due_s = woke_s + pause_s  # taken before the report: a stall during the report counts
        if why is None:
            notifier.report_alive(status())
        else:
            notifier.report_stall(why)


def find_stall_reason(loop_delay_s: float, write_delay_s: float) -> str | None:
    """Return why a process cannot be said to live; None where it can."""
    if loop_delay_s > MAX_LOOP_DELAY_S:
        return f"the loop came round {loop_delay_s:.1f} s late"
    if write_delay_s > MAX_WRITE_DELAY_S:
        return f"the journal's writer has not written for {write_delay_s:.1f} s"
    return None
