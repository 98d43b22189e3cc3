"""Queries to a board's firmware on its serial port: its identity, and the access to its chip.

The link of a table (drivers/link/link.py) does much more. This one blocks, sends one frame at a
time, and works with firmware of any version.
"""

import contextlib
import errno
import termios
from collections.abc import Callable
from types import TracebackType
from typing import Self

import serial

from drivers.board_events import BoardKind
from drivers.errors import PortBusy, PortMissing
from drivers.firmware import framing, protocol
from drivers.flash.firmware_image import FlashError
from drivers.link import frames
from drivers.link.frames import BoardCommand, BoardFrame, BoardReply, BoardResult, Welcome

READ_TIMEOUT_S = 0.05
RESEND_INTERVAL_S = 0.3
"""Time before a frame without an answer is sent again."""
ANSWER_TIMEOUT_S = 2.0
"""Time limit for an answer of a running firmware."""


class BoardQuery:
    """The line to a board's firmware, as a context manager. Raises PortMissing or PortBusy.

    `clock` returns monotonic seconds. `session` is a session number that was not used before.
    """

    def __init__(
        self, path: str, baud: int, kind: BoardKind, *, clock: Callable[[], float], session: int
    ) -> None:
        self._path, self._baud, self._kind = path, baud, kind
        self._clock, self._session = clock, session
        self._number = 0
        self._decoder = framing.Decoder()
        self._serial: serial.Serial

    def __enter__(self) -> Self:
        """Open the port, exclusively."""
        try:
            self._serial = serial.Serial(
                self._path,
                self._baud,
                timeout=READ_TIMEOUT_S,
                write_timeout=ANSWER_TIMEOUT_S,
                exclusive=True,
            )
        except (serial.SerialException, OSError, termios.error, ValueError) as error:
            if getattr(error, "errno", None) in (errno.EAGAIN, errno.EBUSY):
                raise PortBusy(self._path) from error
            raise PortMissing(self._path, str(error)) from error
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the port."""
        with contextlib.suppress(serial.SerialException, OSError, termios.error):
            self._serial.close()

    def hello(self, timeout_s: float = ANSWER_TIMEOUT_S) -> Welcome | None:
        """Send HELLO until a firmware answers. Return None if no answer comes in `timeout_s`."""
        word = b"\0" + frames.encode_host_frame(protocol.HELLO, self._session, 0, 0, 0, None)
        answer = self._exchange(word, lambda frame: isinstance(frame, Welcome), timeout_s)
        return answer if isinstance(answer, Welcome) else None

    def request(self, command: BoardCommand) -> BoardResult:
        """Send a command and return the board's result. Raises FlashError if there is no answer."""
        self._number += 1
        word = frames.encode_host_frame(command.kind, self._session, self._number, 0, 0, command)
        answer = self._exchange(word, lambda frame: isinstance(frame, BoardReply), ANSWER_TIMEOUT_S)
        if not isinstance(answer, BoardReply):
            raise FlashError(f"port {self._path}: the board does not answer a command")
        return answer.result

    def _exchange(
        self, frame: bytes, is_wanted: Callable[[BoardFrame], bool], timeout_s: float
    ) -> BoardFrame | None:
        until_s = self._clock() + timeout_s
        said_s = until_s - timeout_s - RESEND_INTERVAL_S
        try:
            while (now_s := self._clock()) < until_s:
                if now_s >= said_s + RESEND_INTERVAL_S:
                    said_s = now_s
                    self._serial.write(frame)
                for payload in self._decoder.feed(self._serial.read(256)):
                    decoded = frames.decode_board_frame(payload, self._kind)
                    if decoded and decoded[0] == self._session and is_wanted(decoded[1]):
                        return decoded[1]
        except (serial.SerialException, OSError, termios.error):
            return None  # The board disappeared, for example because it restarts.
        return None
