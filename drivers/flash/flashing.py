"""The steps of a flash: beside the old firmware, read back after a restart, tried, then alone.

At every moment a cut of the power leaves a board that starts with the old firmware, with the
new one on its one trial, or with the new one for good. The old one is removed when the new
one has said who it is.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Protocol

from drivers.errors import PortMissing, Result
from drivers.events import Board
from drivers.firmware import wire
from drivers.flash.chip.main import SERVICE, SLOT, choose, on_trial
from drivers.flash.errors import FellBack, FlashError, NoBoard, Unwilling, WrongHash
from drivers.flash.greeting import Greeting
from drivers.flash.image import Image
from drivers.flash.prompt import Progress, Prompt
from drivers.flash.slots import Slot
from drivers.identity import Welcome
from drivers.link.frames import Configure, Service

RESTART_S = 20.0
"""From a restart until the prompt, or a firmware that compiles itself first, answers."""
FALL_BACK_S = 90.0
"""The same where a firmware on trial says nothing: it gives up after a minute."""
LOOK_S = 0.5
BOARD, MAIN = "board", "main.py"
_IDS = {
    "dealer": {row[0]: number for number, row in wire.DEALER_SETTINGS.items()},
    "reader": {row[0]: number for number, row in wire.READER_SETTINGS.items()},
}


class Teller(Protocol):
    """Who is told how far it is."""

    def step(self, text: str) -> None:
        """Say what is done now."""

    def wrote(self, size: int) -> None:
        """Say that so many bytes more are on the board."""


class Shell(Protocol):
    """What a flash needs of the program around it."""

    def clock(self) -> float:
        """Return seconds that only grow."""

    def sleep(self, seconds: float) -> None:
        """Wait."""

    def session(self) -> int:
        """Return a session's number that nobody used: 1 … 2³²−1."""


def write(prompt: Prompt, image: Image, place: Slot, progress: Progress) -> None:
    """Write the files of a firmware, over whatever lies in its place."""
    for folder in place.folders():
        prompt.make_folder(folder)
    for name in sorted(image.files):
        prompt.write(place.path(name), image.files[name], progress)


def differing(prompt: Prompt, image: Image, place: Slot) -> list[str]:
    """Return the names of the files that are not on the board as they should be."""
    return [name for name, digest in image.digests() if prompt.digest(place.path(name)) != digest]


class Flasher:
    """One board at a port, of kind `kind`, and the firmware it is to run."""

    def __init__(
        self, port: str, kind: Board, image: Image, shell: Shell, teller: Teller, baud: int
    ) -> None:
        self._port, self._kind, self._image = port, kind, image
        self._shell, self._teller, self._baud = shell, teller, baud

    def greet(self, most_s: float = 2.0) -> Welcome | None:
        """Return what the board's firmware says it is, None where none answers.

        Raises PortBusy, PortMissing, or Unwilling for a board of the other kind.
        """
        with self._greeting() as greeting:
            welcome = greeting.hello(most_s)
        if welcome is not None and welcome.kind != self._kind:
            raise Unwilling(f"port {self._port}: this is a {welcome.kind} board, not {self._kind}")
        return welcome

    def runs(self, welcome: Welcome | None) -> bool:
        """Tell whether the board runs this very firmware, by its own word."""
        return welcome is not None and welcome.firmware_hash == self._image.hash

    def differs(self) -> list[str]:
        """Return the files that differ, of a board that waits at its prompt."""
        with self._prompt() as prompt:
            self._check_kind(prompt)
            slot = _slot(prompt)
            if slot is None:
                return sorted(self._image.files)
            return differing(prompt, self._image, slot)

    def flash(self) -> Welcome:
        """Put the firmware there; return what it says then.

        Raises FlashError (Unwilling, WrongHash, FellBack, NoBoard), PortBusy or PortMissing;
        the message says what the board runs.
        """
        self._get_in()
        with self._prompt_within(RESTART_S) as prompt, _or_as_before(prompt):
            self._check_kind(prompt)
            old = _slot(prompt)
            new = Slot("a") if old is None else old.other()
            main = prompt.read(MAIN)
            self._write(prompt, new)
            prompt.replace(SERVICE, b"1")
            self._teller.step("restarting")
            prompt.restart()
        with self._prompt_within(RESTART_S) as prompt:
            self._verify(prompt, new, old, main)
            prompt.replace(SLOT, (on_trial(old.name, new.name) if old else new.name).encode())
            self._teller.step("starting the new firmware")
            prompt.restart()
        self._hear(old)
        self._settle(old, new)
        return self._hear(old)

    def configure(self, settings: Iterable[tuple[str, int]]) -> None:
        """Change settings by name, of a board that runs. Raises Unwilling."""
        with self._greeting() as greeting:
            if greeting.hello() is None:
                raise NoBoard(f"port {self._port}: no firmware answers")
            for name, value in settings:
                number = _IDS[self._kind].get(name)
                if number is None:
                    known = ", ".join(_IDS[self._kind])
                    raise Unwilling(f"a {self._kind} board has no setting {name!r}; it has {known}")
                result = greeting.do(Configure(number, value))
                if result is not Result.DONE:
                    raise Unwilling(f"the board refuses {name} = {value}: {result.name}")

    # One after another.

    def _get_in(self) -> None:
        """Have the board at its prompt soon."""
        if self.greet() is None:
            return  # it may be there already
        self._teller.step("asking the board for the chip")
        with self._greeting() as greeting:
            if greeting.hello() is None:
                raise FlashError(f"port {self._port}: the board answered once, and no more")
            result = greeting.do(Service())
        if result is not Result.DONE:
            raise Unwilling(
                f"port {self._port}: the board does not let go now ({result.name}): it must stand "
                "still, its path clear and no hands in it"
            )

    def _write(self, prompt: Prompt, new: Slot) -> None:
        self._teller.step(f"writing {len(self._image.files)} files to {new.name}/")
        prompt.remove_folder(new.name)
        write(prompt, self._image, new, self._teller.wrote)
        prompt.replace(MAIN, self._image.main)
        if prompt.read(BOARD) is None:
            prompt.replace(BOARD, self._kind.encode())

    def _verify(self, prompt: Prompt, new: Slot, old: Slot | None, main: bytes | None) -> None:
        self._teller.step("reading the hashes back")
        wrong = differing(prompt, self._image, new)
        if prompt.read(MAIN) != self._image.main:
            wrong.append(MAIN)
        if not wrong:
            return
        prompt.remove_folder(new.name)
        if main is not None:
            prompt.replace(MAIN, main)
        prompt.remove(SERVICE)  # a main.py that is not whole has left it
        prompt.restart()
        raise WrongHash(
            f"port {self._port}: {', '.join(wrong)} read back otherwise than written: the new "
            f"firmware is removed, {_still(old)}"
        )

    def _settle(self, old: Slot | None, new: Slot) -> None:
        """Make the new firmware the only one."""
        if old is None:
            return
        self._teller.step("removing the old firmware")
        self._get_in()
        with self._prompt_within(RESTART_S) as prompt:
            prompt.replace(SLOT, new.name.encode())
            prompt.remove_folder(old.name)
            prompt.restart()

    def _hear(self, old: Slot | None) -> Welcome:
        """Return the new firmware's WELCOME. Raises FellBack where another one answers, or none."""
        until_s = self._shell.clock() + (FALL_BACK_S if old else RESTART_S)
        while self._shell.clock() < until_s:
            try:
                welcome = self.greet(LOOK_S)
            except PortMissing:
                welcome = None  # it comes back on the bus in a moment
            if welcome is None:
                self._shell.sleep(LOOK_S)
            elif self.runs(welcome):
                return welcome
            else:
                raise FellBack(
                    f"port {self._port}: the new firmware did not answer; the board went back to "
                    f"{welcome.firmware} ({welcome.firmware_hash})"
                )
        raise FellBack(f"port {self._port}: the new firmware does not answer, {_still(old)}")

    # The port.

    def _greeting(self) -> Greeting:
        return Greeting(
            self._port,
            self._baud,
            self._kind,
            clock=self._shell.clock,
            session=self._shell.session(),
        )

    def _prompt(self) -> Prompt:
        return Prompt(self._port, self._baud)

    def _prompt_within(self, most_s: float) -> Prompt:
        """Return a prompt that a restarting board will have by then. Raises NoBoard."""
        until_s = self._shell.clock() + most_s
        while True:
            try:
                with self._prompt():
                    return self._prompt()
            except NoBoard:
                if self._shell.clock() >= until_s:
                    raise
                self._shell.sleep(LOOK_S)

    def _check_kind(self, prompt: Prompt) -> None:
        there = prompt.read(BOARD)
        if there is not None and there.decode(errors="replace").strip() != self._kind:
            raise Unwilling(
                f"port {self._port}: this is a {there.decode(errors='replace').strip()} board, "
                f"not {self._kind}"
            )


@contextmanager
def _or_as_before(prompt: Prompt) -> Iterator[None]:
    """Where a step fails, have the board start again with what it ran, if it can be told."""
    try:
        yield
    except FlashError:
        with suppress(FlashError):
            prompt.restart()
        raise


def _slot(prompt: Prompt) -> Slot | None:
    """Return where the firmware lies that the board runs; None where there is none."""
    state = prompt.read(SLOT)
    return None if state is None else Slot(choose(state.decode(errors="replace"))[2].split()[0])


def _still(old: Slot | None) -> str:
    return "and there was none before" if old is None else "the old one is kept"
