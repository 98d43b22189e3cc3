"""`dealtable flash`: a command that writes this program's firmware to a board."""

import secrets
import time
from pathlib import Path
from typing import Final

import click
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn

from controller.cli import CliError
from controller.cli.options import FILE
from controller.release.installed_program import (
    MANIFEST,
    find_program_folder,
    read_program_firmware,
)
from controller.release.release_files import read_expected_manifest
from drivers.board_events import BoardKind
from drivers.errors import DriverError, PortBusy
from drivers.firmware.version import FIRMWARE_VERSION
from drivers.flash import firmware_image as images
from drivers.flash.firmware_image import FirmwareImage, FlashError, NoBoardFound
from drivers.flash.flasher import Flasher, FlashHost

BAUD: Final = 115_200
HOST: Final = FlashHost(time.monotonic, time.sleep, lambda: secrets.randbelow(2**32 - 1) + 1)
"""The clock of this computer, and new session numbers."""
EPILOG: Final = """\b
Examples:
  dealtable flash --port /dev/dealtable-dealer --board dealer
  dealtable flash --port /dev/ttyACM1 --board reader --check
"""


class _SettingType(click.ParamType[tuple[str, int]]):
    name = "setting"

    def convert(
        self, value: str, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, int]:
        name, equals, number = value.partition("=")
        if not equals or not number.isascii() or not number.isdecimal():
            self.fail(f"{value!r}: a setting is NAME=NUMBER, such as feed_limit_ms=600")
        return name, int(number)


@click.command(epilog=EPILOG)
@click.option("--port", required=True, metavar="PATH", help="The board's serial port.")
@click.option(
    "--board", "kind", required=True, type=click.Choice(["dealer", "reader"]), help="Which it is."
)
@click.option("--check", is_flag=True, help="Only compare hashes: exit 1 where they differ.")
@click.option("--dry-run", is_flag=True, help="Only print what would be done.")
@click.option("--key", type=FILE, help="The release's .key.")
@click.option("--setting", "settings", type=_SettingType(), multiple=True, metavar="NAME=N")
@click.pass_context
def command(
    context: click.Context,
    port: str,
    kind: BoardKind,
    check: bool,
    dry_run: bool,
    key: Path | None,
    settings: tuple[tuple[str, int], ...],
) -> None:
    """Write this program's firmware to a board.

    The board must not move, its path must be clear, and no table may use its port. The new firmware
    is written beside the old one, read back after a restart and started. The old one is removed
    when the new one has reported its identity. Otherwise the board automatically returns to the old
    firmware.

    If the program has a release's manifest, its firmware must be the released one. --key checks the
    manifest's signature. --setting changes a setting of the board afterwards, once for each. Exit
    0: the board runs it; 1: it does not; 2: the board cannot be asked.
    """
    image = images.own_image()
    released = _describe_release(image, kind, key)
    console = Console(stderr=True)
    with Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        DownloadColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    ) as bar:
        flasher = Flasher(port, kind, image, HOST, _FlashProgress(bar, image), BAUD)
        try:
            if check or dry_run:
                text, right = _compare_board(flasher, image)
            else:
                welcome = flasher.query_board()
                if not flasher.is_running_image(welcome):
                    welcome = flasher.flash()
                assert welcome is not None
                if settings:
                    flasher.configure(settings)
                text, right = f"{kind} board {welcome.uid} runs {_format_firmware(image)}", True
        except NoBoardFound as error:
            raise CliError(f"{error}; hold its button BOOTSEL while it starts") from None
        except PortBusy as error:
            raise CliError(f"{error}: stop the table first") from None
        except DriverError as error:
            raise CliError(f"{error}: name the port of the board") from None
        except FlashError as error:
            bar.stop()
            click.echo(f"Error: {error}", err=True)
            context.exit(1)
    click.echo(text)
    click.echo(released)
    if dry_run and not right:
        click.echo(
            f"it would be given {_format_firmware(image)}: {len(image.files)} files, {image.size} B"
        )
    if check and not right:
        context.exit(1)


class _FlashProgress:
    """A progress bar that shows the present step and the number of bytes written."""

    def __init__(self, bar: Progress, image: FirmwareImage) -> None:
        self._bar = bar
        self._task = bar.add_task("asking the board who it is", total=image.size)

    def step(self, text: str) -> None:
        self._bar.update(self._task, description=text)

    def wrote(self, size: int) -> None:
        self._bar.advance(self._task, size)


def _compare_board(flasher: Flasher, image: FirmwareImage) -> tuple[str, bool]:
    """Return a line about a board's firmware, and whether it is the firmware of this program."""
    if (welcome := flasher.query_board()) is not None:
        found = f"{welcome.firmware} ({welcome.firmware_hash})"
        if flasher.is_running_image(welcome):
            return f"{welcome.kind} board {welcome.uid} runs {found}, as expected", True
        return (
            f"{welcome.kind} board {welcome.uid} runs {found}, not {_format_firmware(image)}",
            False,
        )
    if not (wrong := flasher.find_differing_files()):
        return f"the board waits at its prompt; its files are {_format_firmware(image)}", True
    return f"the board waits at its prompt; {len(wrong)} of its files differ: {wrong[0]} …", False


def _format_firmware(image: FirmwareImage) -> str:
    return f"{'.'.join(map(str, FIRMWARE_VERSION))} ({image.hash})"


def _describe_release(image: FirmwareImage, kind: BoardKind, key: Path | None) -> str:
    """Return a line about the release that has the firmware `image`. Raises CliError if the release
    has another firmware.
    """
    folder = find_program_folder()
    path = folder / MANIFEST
    if not path.exists():
        if key is not None:
            raise CliError(f"{path}: is not there: this program is of no release, leave --key out")
        return "of no release: a program out of a checkout"
    manifest = read_expected_manifest(path, key)
    there = read_program_firmware(folder)[kind]
    if manifest.firmware.get(kind) != there or there.hash != image.hash:
        raise CliError(f"{path}: the firmware of this program is not the released one: reinstall")
    signed = "signed by that key" if key else "its signature was not checked: --key"
    return f"of release {manifest.version} (serial {manifest.serial}), {signed}"
