"""`dealtable demo`: simulated tables, their daemons and their people, all in one."""

import asyncio
import contextlib
import signal
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import msgspec

from controller.cli import LineError
from controller.cli.board import Board
from controller.deal.sequence import sequence
from controller.roster import CLIENTS
from controller.rules.rulebooks import load_profile
from controller.trials.hall import HallError, HallPlan, RunningTable, hall
from controller.trials.mechanical import mechanical_s
from controller.trials.players import Dealt, players
from sim.boardprocess import find_micropython
from sim.mechanics.faults import FaultError, parse_fault
from sim.mechanics.settings import Settings

EPILOG = """\b
Examples:
  dealtable demo                              a table dealing until Ctrl-C, live
  dealtable demo --once --deals 3 --speed 20  three quick deals and a summary
  dealtable demo --tables 4 --speed 5
  dealtable demo --once --fault missing_card  a set that lacks a card

While a demo runs, `dealtable watch --state-dir DIR` follows it from another terminal.
"""


@dataclass(frozen=True)
class _Wish:
    """What was asked for. `deals`: None goes on until Ctrl-C."""

    plan: HallPlan
    deals: int | None
    as_json: bool
    live: bool


@click.command(epilog=EPILOG)
@click.option("--tables", type=click.IntRange(1, 100), default=1, show_default=True)
@click.option("--deals", type=click.IntRange(1), help="Deals a table; with --once, 1.")
@click.option("--once", is_flag=True, help="Deal, print a summary, end; fail if anything is wrong.")
@click.option("--json", "as_json", is_flag=True, help="With --once: one JSON object, nothing else.")
@click.option(
    "--speed",
    type=click.FloatRange(0.1, 1000),
    default=1.0,
    show_default=True,
    help="The mechanics this many times faster than 100 ms a card.",
)
@click.option(
    "--port", type=click.IntRange(1, 65000), help="The first feed's port; else free ones."
)
@click.option(
    "--state-dir",
    type=click.Path(file_okay=False, path_type=Path),
    help="Where journals and keys go, and stay; else a fresh temporary folder.",
)
@click.option(
    "--firmware",
    type=click.Choice(["cpython", "micropython"]),
    default="cpython",
    show_default=True,
    help="The interpreter that the boards run under.",
)
@click.option("--fault", "faults", multiple=True, metavar="FAULT", help="As in `dealtable sim`.")
@click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, help="The mechanics'."
)
def command(
    tables: int,
    deals: int | None,
    once: bool,
    as_json: bool,
    speed: float,
    port: int | None,
    state_dir: Path | None,
    firmware: str,
    faults: tuple[str, ...],
    seed: int,
) -> None:
    """Simulated tables: boards on ptys, the daemons, and the people at the tables.

    Everything is as on a real table but the ends of the serial lines. Ctrl-C leaves
    nothing running; the journal stays, for `dealtable verify`.
    """
    if as_json and not once:
        raise click.UsageError("--json goes with --once")
    _check_faults(faults)
    _check_firmware(firmware)
    folder = state_dir or Path(tempfile.mkdtemp(prefix="dealtable-"))
    plan = HallPlan(folder.absolute(), tables, speed, seed, firmware, faults, port)
    wish = _Wish(plan, deals or (1 if once else None), as_json, live=not once)
    try:
        outcome = asyncio.run(_run(wish))
    except HallError as error:
        raise click.ClickException(str(error)) from error
    if outcome is None and once:
        raise click.ClickException("interrupted before all deals were dealt")
    if outcome is not None:
        _summary(wish, *outcome)
        wrong = [f"table {d.table}, deal {d.deal}: {d.wrong}" for d in outcome[1] if d.wrong]
        if wrong:
            raise click.ClickException("; ".join(wrong))


def _check_faults(faults: Sequence[str]) -> None:
    try:
        for fault in faults:
            parse_fault(fault)
    except FaultError as error:
        raise LineError(str(error)) from error


def _check_firmware(firmware: str) -> None:
    try:
        if firmware == "micropython":
            find_micropython()
    except FileNotFoundError as error:
        raise LineError(str(error)) from error


async def _run(wish: _Wish) -> tuple[dict[str, Any], list[Dealt]] | None:
    """Run the hall; return where it was and what it dealt, None where people only looked on."""
    task = asyncio.current_task()
    assert task is not None
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, task.cancel)
    with contextlib.suppress(asyncio.CancelledError):
        async with hall(wish.plan) as tables:
            about = _about(wish.plan, tables)
            if wish.live:
                await _live(wish, tables, about)
                return None
            dealt = await asyncio.gather(*(_deals(table, wish.deals or 1) for table in tables))
            return about, [one for each in dealt for one in each]
    return None


async def _deals(table: RunningTable, deals: int) -> list[Dealt]:
    async with players(table) as people:
        return [await people.deal() for _ in range(deals)]


async def _live(wish: _Wish, tables: list[RunningTable], about: dict[str, Any]) -> None:
    """Show the tables while they deal."""
    with Board(tables, about) as board:

        async def at(table: RunningTable) -> None:
            async with players(table, board.saw) as people:
                left = wish.deals
                while left is None or left > 0:
                    await people.deal()
                    left = None if left is None else left - 1

        looking = asyncio.ensure_future(board.look())
        try:
            await asyncio.gather(*(at(table) for table in tables))
        finally:
            looking.cancel()


def _about(plan: HallPlan, tables: list[RunningTable]) -> dict[str, Any]:
    """Return where everything is, while it runs."""
    where = [
        {
            "table": table.id,
            "feed": table.endpoints.feed,
            "commands": table.endpoints.commands,
            "state_dir": str(table.state_dir),
            "clients": str(table.state_dir / CLIENTS),
        }
        for table in tables
    ]
    return {
        "tables": where,
        "feed": where[0]["feed"],
        "commands": where[0]["commands"],
        "state_dir": str(plan.state_dir),
    }


def _summary(wish: _Wish, about: dict[str, Any], dealt: list[Dealt]) -> None:
    deals = [_row(wish.plan, one) for one in dealt]
    if wish.as_json:
        click.echo(msgspec.json.encode(about | {"deals": deals}))
        return
    for row in deals:
        counts = " ".join(f"{pocket} {count}" for pocket, count in row["landed"].items())
        misdeals = "".join(f", {m['outcome']} before: {m['reason']}" for m in row["misdeals"])
        click.echo(
            f"table {row['table']}, deal {row['deal']}: {row['outcome']}, fed {row['fed']}, "
            f"{counts}; {row['wall_s']:.2f} s{misdeals}"
        )
    click.echo(f"check it: dealtable verify {about['state_dir']}")


def _row(plan: HallPlan, dealt: Dealt) -> dict[str, Any]:
    """Return a deal for the summary, with the time the mechanics alone would take."""
    profile = load_profile("international-000")
    seed = bytes.fromhex(dealt.seed)
    order = sequence(bytes.fromhex(dealt.commitment), seed, dealt.cut, profile.deck.cards)
    row: dict[str, Any] = msgspec.to_builtins(dealt)
    del row["wrong"]
    alone_s = mechanical_s(Settings(speed=plan.speed), profile, order, seed=plan.seed)
    return row | {"mechanical_s": round(alone_s, 4)}
