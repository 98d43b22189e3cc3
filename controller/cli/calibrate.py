"""`dealtable calibrate`: adjustment of one part of the machine, with live values."""

from functools import partial
from pathlib import Path
from typing import Final, cast

import click
from rich.console import Console

from controller.acceptance.board_pair import BoardPair
from controller.acceptance.calibration import (
    CALIBRATION_SUBJECTS,
    CalibrationResult,
    CalibrationSubject,
    calibrate,
)
from controller.acceptance.selftest_figures import SelftestFigures
from controller.acceptance.selftest_session import MachineNotReady, SelftestSession
from controller.cli import CliError
from controller.cli.maintenance import exclude_machine, open_boards, read_card_set, run_until_signal
from controller.cli.options import ANY_PATH, FILE
from controller.config import TableConfig, load_table

EPILOG: Final = """\b
Examples:
  dealtable calibrate table.toml feeder-gap
  dealtable calibrate table.toml reader-light
"""


@click.command(epilog=EPILOG)
@click.argument("config", type=FILE, metavar="CONFIG")
@click.argument("subject", type=click.Choice(CALIBRATION_SUBJECTS), metavar="PART")
@click.option("--control", type=ANY_PATH, help="A simulated table's control socket.")
@click.option("--dry-run", is_flag=True, help="Measure and print; set nothing on the board.")
@click.pass_context
def command(
    context: click.Context, config: Path, subject: str, control: Path | None, dry_run: bool
) -> None:
    """Adjust one PART of the machine: feeder-gap, gate, reader-light or pockets.

    The machine must not run. The measured value is shown, with the screw to turn and the direction,
    until it is right. Clockwise is a smaller gap, more light, a more sensitive sensor. A limit that
    follows from it is set on the board (PROTOCOL.md, section 8). The new settings_crc is printed;
    write it into table.toml. Run the self-test afterwards.

    Exit 0: right; 1: not right; 2: it could not be done.
    """
    table = load_table(config)
    console = Console(stderr=True)
    with exclude_machine(table):
        try:
            part = cast(CalibrationSubject, subject)
            text, right = run_until_signal(
                lambda: _run_calibration(table, control, part, console, dry_run)
            )
        except MachineNotReady as unready:
            raise CliError(f"{subject}: {unready}") from None
    click.echo(text)
    context.exit(0 if right else 1)


async def _run_calibration(
    table: TableConfig,
    control: Path | None,
    subject: CalibrationSubject,
    console: Console,
    dry_run: bool,
) -> tuple[str, bool]:
    async with open_boards(table, control, settings=False) as (bench, hands):
        figures = SelftestFigures(reader_is_polled=bench.reader.is_polled)
        of = SelftestSession(bench, hands, figures, read_card_set(table), table.reader.look_s)
        say = partial(console.print, "  ", markup=False)
        outcome = await calibrate(of, subject, say)
        if of.cards is not None:
            of.cards.close()
        if not outcome.is_right:
            return f"{subject}: not right: {outcome.why}", False
        return await _apply_settings(bench, subject, outcome, dry_run=dry_run), True


async def _apply_settings(
    bench: BoardPair, subject: str, outcome: CalibrationResult, *, dry_run: bool
) -> str:
    """Store the measured settings on their board, except with `dry_run`. Return a text to print."""
    if not outcome.settings:
        return f"{subject}: right; no setting of a board follows from it"
    said = ", ".join(f"{name} = {value}" for name, value in outcome.settings.items())
    if dry_run:
        return f"{subject}: right; nothing was set: {said}"
    board = bench.dealer if outcome.board == "dealer" else bench.reader
    for name, value in outcome.settings.items():
        await board.configure(name, value)
    crc = await bench.settings_crc(outcome.board)
    return (
        f"{subject}: right; {said} is set on the {outcome.board} board\n"
        f"table.toml, [{outcome.board}]: settings_crc = 0x{crc:08X}"
    )
