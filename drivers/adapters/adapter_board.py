"""The part that all adapters share: it connects a board's firmware core to a pseudo-terminal (pty).

An adapter takes the place of a board. Its HAL drives bought parts instead of pins. A table finds
the pty under a link with a fixed name, like a board's port. The adapter steps the core when
bytes arrive, when a source of the HAL has input, and at the deadlines of core and HAL.
"""

import os
import pty
import select
import signal
import tty
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Protocol, Self

from drivers.firmware.board import BoardCore
from drivers.firmware.runtime import BoardClock, Stream

MAX_WAIT_MS = 1000
"""The longest time that an adapter waits if nothing is due."""
NEVER_MS = 1 << 62
"""The result of `due_ms` if a HAL has no deadline and waits only for input."""
STORE_DELAY_MS = 2000
"""Changed data is written after the board was at rest for this time, never during a deal."""
_STORE_RETRY_MS = 60_000
_BOOT, _STORE = "boot", "store"


class AdapterError(Exception):
    """The error for an adapter that cannot start or cannot save its data. Its text has a remedy."""


class AdapterHal(Protocol):
    """The HAL of an adapter (see drivers.firmware.pins.Hal), which drives bought parts.

    No method blocks. `kind` is HAL_ADAPTER. `limitations` has a line for each promise of a real
    board that this adapter cannot keep.
    """

    kind: int
    uid: bytes
    limitations: Sequence[str]

    def read(self, name: str) -> int:
        """Return the present level of the input `name`."""

    def set(self, name: str, value: int) -> None:
        """Set the output `name` to the level `value`."""

    def edges(self) -> list[tuple[int, str, int]]:
        """Return (t_ms, name, value) of each input's changes since the last call, oldest first."""

    def update(self, now_ms: int) -> None:
        """Read the inputs of the bought parts, and set the outputs that are due by `now_ms`.

        An adapter calls this method before each step of the core.
        """

    def sources(self) -> Sequence[int]:
        """Return the file descriptors whose input must end the adapter's wait for its next step.

        The descriptors may differ from call to call.
        """

    def due_ms(self, now_ms: int) -> int:
        """Return the deadline of the next `update`; NEVER_MS if none is needed before new input."""

    def stop(self) -> None:
        """Stop every output and close every part, because the adapter ends."""


class AdapterStorage:
    """The folder in which an adapter stores its boot counter and the data of its board.

    The folder is created if it is missing. Raises AdapterError if it cannot be used.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise _storage_error(path, error) from None

    def next_boot(self) -> int:
        """Store the next boot number on the disk, and return this number.

        No earlier call has returned the same number.
        """
        file = self._path / _BOOT
        text = self._load(_BOOT).decode(errors="replace").strip()
        if text and not (text.isascii() and text.isdecimal() and int(text) < 0xFFFF_FFFF):
            raise AdapterError(
                f"{file}: expected the number of starts so far, found something else; "
                "write a number there that is higher than every one before"
            )
        boot = int(text or "0") + 1
        self._save(_BOOT, b"%d\n" % boot)
        return boot

    def load(self) -> bytes:
        """Return the data that was last passed to `store`, or b"" if there is none."""
        return self._load(_STORE)

    def store(self, content: bytes) -> None:
        """Write `content`, the data that the board needs at its next start, to the disk."""
        self._save(_STORE, content)

    def _load(self, name: str) -> bytes:
        try:
            return (self._path / name).read_bytes()
        except FileNotFoundError:
            return b""
        except OSError as error:
            raise _storage_error(self._path / name, error) from None

    def _save(self, name: str, content: bytes) -> None:
        fresh = self._path / f"{name}.new"
        try:
            with fresh.open("wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            fresh.replace(self._path / name)
        except OSError as error:
            raise _storage_error(fresh, error) from None


class AdapterBoard:
    """One running adapter: a board's firmware core, reached over a pseudo-terminal (pty).

    The symbolic link `link` leads to the pty until the adapter is closed. Closing stops the outputs
    and removes the link. `store` writes the data that the board stores. `log` receives a line if
    that fails. Raises AdapterError if the link cannot be made.
    """

    def __init__(
        self,
        board: BoardCore,
        hal: AdapterHal,
        link: Path,
        store: Callable[[bytes], None] = lambda content: None,
        log: Callable[[str], None] = lambda line: None,
    ) -> None:
        self.board = board
        self._hal, self._link, self._store, self._log = hal, link, store, log
        self._unsaved, self._store_due_ms = b"", NEVER_MS
        self._clock = BoardClock()
        self._own_fd, self._host_fd = pty.openpty()
        # Set both ends to raw mode before any program opens the pty: a fresh pty echoes and edits.
        # The host's end stays open here, so it never hangs up. For the board, a host that comes and
        # goes is then like a cable that stays plugged in.
        for end in (self._own_fd, self._host_fd):
            tty.setraw(end)
        os.fchmod(self._host_fd, 0o600)
        self.pty = os.ttyname(self._host_fd)
        self._source = open(self._own_fd, "rb", buffering=0, closefd=False)  # noqa: SIM115  closed in close()
        self._sink = open(self._own_fd, "wb", buffering=0, closefd=False)  # noqa: SIM115
        self._line = Stream(self._source, self._sink)
        try:
            _make_link(link, self.pty)
        except OSError as error:
            self._close_pty()
            raise AdapterError(
                f"{link}: cannot be made ({error.strerror}); "
                "make its folder, or name another link in the adapter's configuration"
            ) from None

    def __enter__(self) -> Self:
        """Return this adapter. The end of the `with` block closes the adapter."""
        return self

    def __exit__(self, *why: object) -> None:
        """Close the adapter."""
        self.close()

    def step(self) -> int:
        """Update the HAL, run the core once, and return the ms until the next step is due."""
        rx = self._line.read() or b""
        now = self._clock.now_ms()
        self._hal.update(now)
        if tx := self.board.step(now, rx):
            self._line.write(tx)
        now = self._clock.now_ms()
        self._store_at_rest(now)
        return max(0, min(self.board.deadline(), self._hal.due_ms(now), self._store_due_ms) - now)

    def _store_at_rest(self, now_ms: int) -> None:
        """Save the board's data if they changed, and then stayed the same for STORE_DELAY_MS.

        If saving fails, for example on a full disk, the adapter logs this and tries again later.
        """
        if fresh := self.board.to_store():
            self._unsaved, self._store_due_ms = fresh, now_ms + STORE_DELAY_MS
        if not self._unsaved or now_ms < self._store_due_ms:
            return
        try:
            self._store(self._unsaved)
            self._unsaved, self._store_due_ms = b"", NEVER_MS
        except AdapterError as error:
            self._log(str(error))
            self._store_due_ms = now_ms + _STORE_RETRY_MS

    def run_once(self, max_wait_ms: int = MAX_WAIT_MS, wake_fd: int | None = None) -> None:
        """Call `step` once, then wait until the next step is due, at most `max_wait_ms`.

        Input on the pty, from a source of the HAL or on the descriptor `wake_fd` ends the wait.
        """
        wait_ms = min(self.step(), max_wait_ms)
        ready = select.poll()
        extra = () if wake_fd is None else (wake_fd,)
        for source in (self._own_fd, *self._hal.sources(), *extra):
            ready.register(source, select.POLLIN)
        ready.poll(wait_ms)

    def close(self) -> None:
        """Stop the outputs, and remove the pty and the symbolic link to it. May be called twice."""
        if self._own_fd < 0:
            return
        try:
            self._hal.stop()
            self._store_at_rest(NEVER_MS)
        finally:
            with suppress(OSError):  # The link may be gone, or belong to another program.
                if os.readlink(self._link) == self.pty:
                    self._link.unlink()
            self._close_pty()

    def _close_pty(self) -> None:
        self._source.close()
        self._sink.close()
        os.close(self._own_fd)
        os.close(self._host_fd)
        self._own_fd = self._host_fd = -1


def serve(
    board: BoardCore,
    hal: AdapterHal,
    pty_link: Path,
    *,
    store: Callable[[bytes], None] = lambda content: None,
    log: Callable[[str], None] = lambda line: None,
) -> None:
    """Run an adapter until the process receives SIGTERM or SIGINT, then stop its outputs.

    The host finds the board at the link `pty_link`. `store` writes the data that the board stores
    (AdapterStorage.store). `log` receives one line for each promise that the adapter cannot keep,
    then the path of the link. Raises AdapterError.
    """
    with AdapterBoard(board, hal, pty_link, store, log) as served, _end_signals() as (ended, wake):
        for line in hal.limitations:
            log(f"this adapter cannot promise: {line}")
        log(f"board {hal.uid.hex()} at {pty_link} ({served.pty})")
        while not ended():
            served.run_once(wake_fd=wake)


@contextmanager
def _end_signals() -> Iterator[tuple[Callable[[], bool], int]]:
    """Catch SIGTERM and SIGINT. Yield a function and a descriptor that show whether one arrived.

    After a signal the function returns True, and the descriptor is readable. The end of the `with`
    block restores the old handlers.
    """
    asked: list[int] = []
    reader, writer = os.pipe()
    for end in (reader, writer):
        os.set_blocking(end, False)

    def note(number: int, frame: FrameType | None) -> None:
        asked.append(number)

    before_fd = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    before = {number: signal.signal(number, note) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield lambda: bool(asked), reader
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(before_fd)
        os.close(reader)
        os.close(writer)


def _make_link(link: Path, target: str) -> None:
    """Create the symbolic link `link` to `target`, in place of an older link of this name.

    The link never disappears meanwhile. Raises FileExistsError if `link` is a file or folder.
    """
    if link.exists() and not link.is_symlink():
        raise FileExistsError(17, "there is a file of that name")
    fresh = link.with_name(link.name + ".new")
    fresh.unlink(missing_ok=True)
    fresh.symlink_to(target)
    fresh.replace(link)


def _storage_error(path: Path, error: OSError) -> AdapterError:
    return AdapterError(
        f"{path}: cannot be used ({error.strerror}); "
        "name a folder in the adapter's configuration that it may write"
    )
