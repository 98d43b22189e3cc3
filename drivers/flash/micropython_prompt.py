"""MicroPython's prompt on a serial port, which writes and reads files and restarts a board.

It uses mpremote, an extra (`pip install 'dealtable[pi]'`), imported when a port is opened.
"""

import contextlib
import io
import termios
from collections.abc import Callable, Iterator
from typing import Any, Self

import serial

from drivers.flash.firmware_image import FlashError, NoBoardFound

CHUNK_BYTES = 2048
"""Number of file bytes in one command."""
PROMPT_TIMEOUT_S = 5
"""Time limit for an answer of the prompt."""
ProgressCallback = Callable[[int], None]


class MicroPythonPrompt:
    """A context manager for MicroPython's raw prompt at the port `path`.

    Raises NoBoardFound, or FlashError if the line fails.
    """

    def __init__(self, path: str, baud: int = 115_200) -> None:
        self.path, self._baud = path, baud
        self._transport: Any = None

    def __enter__(self) -> Self:
        """Open the port exclusively, and stop the program that runs on the board."""
        try:
            from mpremote.transport import TransportError
            from mpremote.transport_serial import SerialTransport
        except ModuleNotFoundError:
            raise FlashError(
                "mpremote is not installed: pip install 'dealtable[pi]' brings it"
            ) from None
        self._error = TransportError
        with self._translate_errors(NoBoardFound):
            self._transport = SerialTransport(
                self.path, baudrate=self._baud, timeout=PROMPT_TIMEOUT_S
            )
            self._transport.enter_raw_repl(soft_reset=False, timeout_overall=PROMPT_TIMEOUT_S)
        return self

    def __exit__(self, *why: object) -> None:
        """Close the port. The board stays at its prompt."""
        self.close()

    def close(self) -> None:
        """Close the port. May be called twice."""
        transport, self._transport = self._transport, None
        if transport is not None:
            with contextlib.suppress(OSError, termios.error, serial.SerialException):
                transport.exit_raw_repl()
                transport.close()

    def run(self, code: str) -> str:
        """Run `code` (a few lines of Python) on the board, and return its output."""
        with self._translate_errors():
            return bytes(self._transport.exec(code)).decode(errors="replace").strip()

    def exists(self, path: str) -> bool:
        """Return whether `path` is a file on the board that can be opened."""
        code = f"try:\n open({path!r}).close()\n print(1)\nexcept OSError:\n print(0)"
        return self.run(code) == "1"

    def read(self, path: str) -> bytes | None:
        """Return the bytes of the file `path` on the board, or None if it cannot be opened."""
        if not self.exists(path):
            return None
        with self._translate_errors():
            return bytes(self._transport.fs_readfile(path, chunk_size=CHUNK_BYTES))

    def write(self, path: str, content: bytes, progress: ProgressCallback = lambda _: None) -> None:
        """Write `content` to the file `path` on the board.
        `progress` receives the number of newly written bytes after each piece.
        """
        done = 0

        def told(written: int, _: int) -> None:
            nonlocal done
            progress(written - done)
            done = written

        with self._translate_errors():
            self._transport.fs_writefile(
                path, content, chunk_size=CHUNK_BYTES, progress_callback=told
            )

    def replace(self, path: str, content: bytes) -> None:
        """Write `content` to the file `path`. A power cut leaves the old file or the new file."""
        self.write(f"{path}.new", content)
        self.run(f"import os\nos.rename({path + '.new'!r}, {path!r})")

    def digest(self, path: str) -> bytes | None:
        """Return the SHA-256 of the file `path` on the board, or None if it cannot be opened.

        The board computes it if it can.
        """
        if not self.exists(path):
            return None
        with self._translate_errors():
            return bytes(self._transport.fs_hashfile(path, "sha256", chunk_size=CHUNK_BYTES))

    def remove(self, path: str) -> None:
        """Remove the file or empty folder `path`. Do nothing if it cannot be removed."""
        self.run(f"import os\ntry:\n os.remove({path!r})\nexcept OSError:\n pass")

    def remove_folder(self, path: str) -> None:
        """Remove the folder `path` and its contents. Do nothing if there is no such folder."""
        self.run(
            "import os\n"
            "def clear(path):\n"
            " try:\n  names = os.listdir(path)\n except OSError:\n  return\n"
            " for name in names:\n"
            "  inner = path + '/' + name\n"
            "  if os.stat(inner)[0] & 0x4000:\n   clear(inner)\n"
            "  else:\n   os.remove(inner)\n"
            " os.rmdir(path)\n"
            f"clear({path!r})"
        )

    def make_folder(self, path: str) -> None:
        """Make the folder `path`. Do nothing if it exists or cannot be made."""
        self.run(f"import os\ntry:\n os.mkdir({path!r})\nexcept OSError:\n pass")

    def restart(self) -> None:
        """Restart the board and close the port."""
        with self._translate_errors():
            self._transport.exec_raw_no_follow("import machine\nmachine.reset()")
        self.close()

    @contextlib.contextmanager
    def _translate_errors(self, kind: type[FlashError] = FlashError) -> Iterator[None]:
        """Catch errors of mpremote or the port in the `with` block. Raise an error of type `kind`
        with one line of text instead. Suppress the output of mpremote.
        """
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                yield
        except (self._error, serial.SerialException, OSError, termios.error) as error:
            why = (str(error).strip().splitlines() or [type(error).__name__])[-1]
            if kind is NoBoardFound:
                why = f"no MicroPython prompt answers ({why})"
            raise kind(f"port {self.path}: {why}") from error
