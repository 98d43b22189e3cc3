"""A flasher, which writes new firmware to a board, and a class that queries running firmware.

A flash writes the new firmware beside the old one, restarts the board, reads the files back, tries
the new firmware, and then removes the old one.
"""

import termios
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import NamedTuple, Protocol, Self

import serial

from drivers.board_events import BoardKind
from drivers.errors import PortMissing
from drivers.firmware import framing, protocol
from drivers.flash.chip.main import SERVICE, SLOT, choose_slot, trial_state
from drivers.flash.firmware_image import (
    FirmwareImage,
    FirmwareRolledBack,
    FlashError,
    FlashRefused,
    NoBoardFound,
    Slot,
    WrongHash,
)
from drivers.flash.micropython_prompt import MicroPythonPrompt
from drivers.link import frames
from drivers.link.frames import (
    SETTING_IDS,
    BoardCommand,
    BoardFrame,
    BoardReply,
    BoardResult,
    ConfigureCommand,
    ServiceCommand,
    Welcome,
)
from drivers.link.serial_port import open_serial

READ_TIMEOUT_S = 0.05
RESEND_INTERVAL_S = 0.3
"""Time before a frame without an answer is sent again."""
ANSWER_TIMEOUT_S = 2.0
"""Time limit for an answer of a running firmware."""


class BoardQuery:
    """A context manager that opens a serial line to one board's firmware, for a few requests.

    No Link is needed. Raises PortMissing or PortBusy. `clock` returns monotonic seconds. `session`
    is a session number that was not used before.
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
        """Open and lock the port."""
        self._serial = open_serial(
            self._path, self._baud, timeout=READ_TIMEOUT_S, write_timeout=ANSWER_TIMEOUT_S
        )
        return self

    def __exit__(self, *why: object) -> None:
        """Close the port."""
        with suppress(serial.SerialException, OSError, termios.error):
            self._serial.close()

    def hello(self, timeout_s: float = ANSWER_TIMEOUT_S) -> Welcome | None:
        """Send HELLO until a firmware answers, and return its WELCOME. Return None if the line
        fails or no answer comes within `timeout_s` seconds.
        """
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


RESTART_TIMEOUT_S = 20.0
"""Time limit from a restart until the prompt answers, or a firmware that first compiles itself."""
TRIAL_TIMEOUT_S = 90.0
"""The same limit for a silent firmware on trial, which gives up after a minute."""
POLL_INTERVAL_S = 0.5
BOARD_FILE, MAIN_FILE = "board", "main.py"


class ProgressReporter(Protocol):
    """The interface that shows the progress of a flash to a person."""

    def step(self, text: str) -> None:
        """Show the name of the step that begins."""

    def wrote(self, size: int) -> None:
        """Add `size` to the shown number of bytes that were written to the board."""


class FlashHost(NamedTuple):
    """The functions that flashing needs from the program: a clock, a sleep and session numbers.

    `clock` returns monotonic seconds. `session` returns a session number that was not used before:
    1 … 2³²−1.
    """

    clock: Callable[[], float]
    sleep: Callable[[float], None]
    session: Callable[[], int]


def find_differing(prompt: MicroPythonPrompt, image: FirmwareImage, slot: Slot) -> list[str]:
    """Return the names of the files of `image` that are missing or different in `slot`."""
    return [name for name, digest in image.digests() if prompt.digest(slot.path(name)) != digest]


class Flasher:
    """A flasher, which writes the firmware `image` to the board of kind `kind` at port `port`."""

    def __init__(
        self,
        port: str,
        kind: BoardKind,
        image: FirmwareImage,
        host: FlashHost,
        reporter: ProgressReporter,
        baud: int,
    ) -> None:
        self._port, self._kind, self._image = port, kind, image
        self._host, self._reporter, self._baud = host, reporter, baud

    def query_board(self, timeout_s: float = 2.0) -> Welcome | None:
        """Return the WELCOME of the running firmware, or None if no firmware answers.

        Raises PortBusy, PortMissing, or FlashRefused for a board of the other kind.
        """
        with self._query() as greeting:
            welcome = greeting.hello(timeout_s)
        if welcome is not None and welcome.kind != self._kind:
            raise FlashRefused(
                f"port {self._port}: this is a {welcome.kind} board, not {self._kind}"
            )
        return welcome

    def is_running_image(self, welcome: Welcome | None) -> bool:
        """Return True if `welcome` is not None and reports the hash of this flasher's image."""
        return welcome is not None and welcome.firmware_hash == self._image.hash

    def find_differing_files(self) -> list[str]:
        """Return the names of image files that are missing or different on the board.

        The board must be at its prompt. The compared slot is the slot that is not on trial.
        Without such a slot, all files are missing.
        """
        with self._prompt() as prompt:
            self._check_kind(prompt)
            if (slot := _tested_slot(prompt)) is None:
                return sorted(self._image.files)
            return find_differing(prompt, self._image, slot)

    def flash(self) -> Welcome:
        """Write the firmware to the board, and return the WELCOME of the new firmware.

        Raises FlashError (FlashRefused, WrongHash, FirmwareRolledBack, NoBoardFound), PortBusy or
        PortMissing.
        """
        self._request_prompt()
        with self._prompt_within(RESTART_TIMEOUT_S) as prompt, _restart_on_failure(prompt):
            self._check_kind(prompt)
            old = _tested_slot(prompt)
            new = Slot("a") if old is None else old.other()
            main = prompt.read(MAIN_FILE)
            self._write(prompt, new)
            prompt.replace(SERVICE, b"1")
            self._reporter.step("restarting")
            prompt.restart()
        with self._prompt_within(RESTART_TIMEOUT_S) as prompt:
            self._verify(prompt, new, old, main)
            prompt.replace(SLOT, (trial_state(old.name, new.name) if old else new.name).encode())
            self._reporter.step("starting the new firmware")
            prompt.restart()
        self._await_new_firmware(old)
        if old is not None:
            self._reporter.step("removing the old firmware")
            self._request_prompt()
            with self._prompt_within(RESTART_TIMEOUT_S) as prompt:
                prompt.replace(SLOT, new.name.encode())
                prompt.remove_folder(old.name)
                prompt.restart()
        return self._await_new_firmware(old)

    def configure(self, settings: Iterable[tuple[str, int]]) -> None:
        """Set each (name, value) of `settings` on a board that runs firmware. Raises FlashError."""
        with self._query() as greeting:
            if greeting.hello() is None:
                raise NoBoardFound(f"port {self._port}: no firmware answers")
            for name, value in settings:
                if (number := SETTING_IDS[self._kind].get(name)) is None:
                    known = ", ".join(SETTING_IDS[self._kind])
                    raise FlashRefused(
                        f"a {self._kind} board has no setting {name!r}; it has {known}"
                    )
                result = greeting.request(ConfigureCommand(number, value))
                if result is not BoardResult.DONE:
                    raise FlashRefused(f"the board refuses {name} = {value}: {result.name}")

    # The single steps.

    def _request_prompt(self) -> None:
        """Request a restart at the prompt if a firmware answers at the port, else do nothing."""
        if self.query_board() is None:
            return  # The board may already be at its prompt.
        self._reporter.step("asking the board for the chip")
        with self._query() as greeting:
            if greeting.hello() is None:
                raise FlashError(f"port {self._port}: the board answered once, and no more")
            result = greeting.request(ServiceCommand())
        if result is not BoardResult.DONE:
            raise FlashRefused(
                f"port {self._port}: the board cannot stop now ({result.name}): it must be at "
                "rest, with a clear path and no hands in it"
            )

    def _write(self, prompt: MicroPythonPrompt, new: Slot) -> None:
        self._reporter.step(f"writing {len(self._image.files)} files to {new.name}/")
        prompt.remove_folder(new.name)
        for folder in new.folders():
            prompt.make_folder(folder)
        for name in sorted(self._image.files):
            prompt.write(new.path(name), self._image.files[name], self._reporter.wrote)
        prompt.replace(MAIN_FILE, self._image.main)
        if prompt.read(BOARD_FILE) is None:
            prompt.replace(BOARD_FILE, self._kind.encode())

    def _verify(
        self, prompt: MicroPythonPrompt, new: Slot, old: Slot | None, main: bytes | None
    ) -> None:
        self._reporter.step("reading the hashes back")
        wrong = find_differing(prompt, self._image, new)
        if prompt.read(MAIN_FILE) != self._image.main:
            wrong.append(MAIN_FILE)
        if not wrong:
            return
        prompt.remove_folder(new.name)
        if main is not None:
            prompt.replace(MAIN_FILE, main)
        prompt.remove(SERVICE)  # An incomplete main.py did not remove this file.
        prompt.restart()
        raise WrongHash(
            f"port {self._port}: {', '.join(wrong)} read back otherwise than written: the new "
            f"firmware is removed, {_fallback_text(old)}"
        )

    def _await_new_firmware(self, old: Slot | None) -> Welcome:
        """Wait until the new firmware answers, and return its WELCOME.

        Raises FirmwareRolledBack if another or no firmware answers. `old` is the old slot, if any.
        """
        until_s = self._host.clock() + (TRIAL_TIMEOUT_S if old else RESTART_TIMEOUT_S)
        while self._host.clock() < until_s:
            try:
                welcome = self.query_board(POLL_INTERVAL_S)
            except PortMissing:
                welcome = None  # The board returns to the USB bus in a moment.
            if welcome is None:
                self._host.sleep(POLL_INTERVAL_S)
            elif self.is_running_image(welcome):
                return welcome
            else:
                raise FirmwareRolledBack(
                    f"port {self._port}: the new firmware did not answer; the board went back to "
                    f"{welcome.firmware} ({welcome.firmware_hash})"
                )
        raise FirmwareRolledBack(
            f"port {self._port}: the new firmware does not answer, {_fallback_text(old)}"
        )

    # The port.

    def _query(self) -> BoardQuery:
        clock, _, session = self._host
        return BoardQuery(self._port, self._baud, self._kind, clock=clock, session=session())

    def _prompt(self) -> MicroPythonPrompt:
        return MicroPythonPrompt(self._port, self._baud)

    def _prompt_within(self, timeout_s: float) -> MicroPythonPrompt:
        """Wait until the prompt of a restarting board answers, and return it (not opened yet).
        Raises NoBoardFound after `timeout_s` seconds without an answer.
        """
        until_s = self._host.clock() + timeout_s
        while True:
            try:
                with self._prompt():
                    return self._prompt()
            except NoBoardFound:
                if self._host.clock() >= until_s:
                    raise
                self._host.sleep(POLL_INTERVAL_S)

    def _check_kind(self, prompt: MicroPythonPrompt) -> None:
        there = prompt.read(BOARD_FILE)
        kind = self._kind if there is None else there.decode(errors="replace").strip()
        if kind != self._kind:
            raise FlashRefused(f"port {self._port}: this is a {kind} board, not {self._kind}")


@contextmanager
def _restart_on_failure(prompt: MicroPythonPrompt) -> Iterator[None]:
    """Restart the board if the `with` block raises FlashError, and raise the error again."""
    try:
        yield
    except FlashError:
        with suppress(FlashError):
            prompt.restart()
        raise


def _tested_slot(prompt: MicroPythonPrompt) -> Slot | None:
    """Return the slot that the board runs if no firmware is on trial. Return None if the board has
    no file `slot`.
    """
    state = prompt.read(SLOT)
    return (
        None if state is None else Slot(choose_slot(state.decode(errors="replace"))[2].split()[0])
    )


def _fallback_text(old: Slot | None) -> str:
    return "and there was none before" if old is None else "the old one is kept"
