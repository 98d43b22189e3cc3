"""Chips to flash: MicroPython's unix port behind a pty, with the files of a chip."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

from controller.cli.flash import HOST
from drivers.board_events import BoardKind
from drivers.flash import firmware_image as images
from drivers.flash.firmware_image import FirmwareImage
from drivers.flash.flasher import Flasher
from drivers.link.frames import Welcome
from tests.waiting import wait_until

ON_BOARD = Path(__file__).parent / "on_board"
BAUD = 115_200

Patch = Callable[[bytes], bytes]


class Teller:
    """Keeps what it was told."""

    def __init__(self) -> None:
        self.steps: list[str] = []
        self.bytes = 0

    def step(self, text: str) -> None:
        self.steps.append(text)

    def wrote(self, size: int) -> None:
        self.bytes += size


class OnPty:
    """A chip that has power: its port, and its flash as a folder."""

    def __init__(self, port: str, flash: Path) -> None:
        self.port, self.flash = port, flash
        self.teller = Teller()

    def flasher(self, image: FirmwareImage, kind: BoardKind = "dealer") -> Flasher:
        return Flasher(self.port, kind, image, HOST, self.teller, BAUD)

    def welcome(self, kind: BoardKind = "dealer") -> Welcome:
        """Return the name that the board's firmware reports, as soon as it answers."""
        found = wait_until(self.flasher(OWN, kind).query_board)
        assert found is not None
        return found

    def text(self, name: str) -> str:
        path = self.flash / name
        return path.read_text() if path.exists() else ""

    def names(self, slot: str) -> set[str]:
        return {path.name for path in (self.flash / slot / "firmware").glob("*.py")}


def patched(image: FirmwareImage, name: str, *changes: tuple[bytes, bytes]) -> FirmwareImage:
    """Return a firmware one of whose files is another."""
    content = image.files[name]
    for before, after in changes:
        assert content.count(before) == 1, before
        content = content.replace(before, after)
    return msgspec.structs.replace(image, files={**image.files, name: content})


OWN = images.own_image()
NEWER = patched(OWN, "version.py", (b"= (0, 1, 0)", b"= (0, 1, 1)"))


@pytest.fixture
def chip(micropython: str, tmp_path: Path) -> Iterator[Callable[..., OnPty]]:
    """Give a chip its power: `chip(image)` has that firmware in slot a, `chip()` none."""
    running: list[subprocess.Popen[str]] = []

    def make(
        image: FirmwareImage | None = OWN, kind: BoardKind = "dealer", *, at_prompt: bool = False
    ) -> OnPty:
        flash = tmp_path / "flash"
        flash.mkdir()
        if image is not None:
            (flash / "a" / "firmware").mkdir(parents=True)
            for name, content in image.files.items():
                (flash / "a" / "firmware" / name).write_bytes(content)
            (flash / "main.py").write_bytes(image.main)
            (flash / "slot").write_text("a")
            (flash / "board").write_text(kind)
        if at_prompt:
            (flash / "service").write_text("1")
        process = subprocess.Popen(
            [sys.executable, ON_BOARD / "supervise.py", micropython, flash],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        running.append(process)
        assert process.stdout is not None
        return OnPty(process.stdout.readline().strip(), flash)

    yield make
    for process in running:
        process.communicate()
