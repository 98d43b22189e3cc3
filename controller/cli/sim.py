"""`dealtable sim`: simulated tables alone, their boards on ptys, until Ctrl-C."""

import asyncio
import random
import selectors
import shutil
import signal
import tempfile
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path

import click
import msgspec

from controller.cli import LineError
from controller.config import SimConfig, load_sim
from sim.boardprocess import Interpreter, cpython, find_micropython, micropython
from sim.hall import SimTable, TablePlan, hall
from sim.mechanics.faults import Fault, FaultError, check, menu, parse_fault, wear
from sim.mechanics.settings import BACKS, CardSet, Settings

# Where a fresh runtime directory goes: in memory, under a name short enough for a socket.
RUNTIME_ROOT = Path("/dev/shm")
# A table has about a dozen descriptors.
_MOST_EXACT = 50

EPILOG = f"""
Point a table's configuration at what is printed: [dealer] and [reader] take `port` and `id`,
[panel] takes `pins = "unix:…"`, [table] takes `backend = "sim"`. The control socket moves
people's hands: `echo '{{"do": "truth"}}' | socat - UNIX:CONTROL` (sim/CONTROL.md).

\b
A fault is NAME or NAME:field=value,… with these names:
  {", ".join(list(menu())[:7])},
  {", ".join(list(menu())[7:])}

\b
Examples:
  dealtable sim
  dealtable sim --config sim.toml --speed 10
  dealtable sim --tables 3 --json
  dealtable sim --fault double_feed:at=40 --fault jam:place=window,clears_after=1
"""


@click.command(epilog=EPILOG)
@click.option(
    "--config",
    type=click.Path(dir_okay=False, path_type=Path),
    help="A sim.toml; without one, everything is as it comes.",
)
@click.option(
    "--tables", type=click.IntRange(1, 500), default=1, show_default=True, help="How many tables."
)
@click.option("--json", "as_json", is_flag=True, help="Print one line of JSON a table.")
@click.option(
    "--speed",
    type=click.FloatRange(0.1, 1000),
    help="The mechanics this many times faster; limits and heartbeats stay as they are.",
)
@click.option(
    "--firmware",
    type=click.Choice(["cpython", "micropython"]),
    help="The interpreter that the boards run under.",
)
@click.option("--no-attendant", is_flag=True, help="Nobody takes hands, loads cards, clears up.")
@click.option("--fault", "faults", multiple=True, metavar="FAULT", help="What goes wrong; again.")
@click.option(
    "--runtime-dir",
    type=click.Path(file_okay=False, path_type=Path),
    help="Where ptys' links and sockets go; else a fresh folder in memory, removed at the end.",
)
def command(
    config: Path | None,
    tables: int,
    as_json: bool,
    speed: float | None,
    firmware: str | None,
    no_attendant: bool,
    faults: tuple[str, ...],
    runtime_dir: Path | None,
) -> None:
    """Simulated tables alone, their boards on ptys.

    Each table has mechanics, a dealer and a reader board that run the firmware itself as
    processes of their own, a panel, and a simulated person. Killing a board's process is
    unplugging it. Runs until Ctrl-C, and leaves nothing behind.
    """
    chosen = load_sim(config) if config else SimConfig()
    root = runtime_dir or Path(tempfile.mkdtemp(prefix="dt-", dir=RUNTIME_ROOT))
    try:
        plan = TablePlan(
            id=chosen.sim.id,
            folder=root,
            settings=_settings(chosen, speed, faults),
            seed=chosen.mechanics.seed,
            interpreter=_interpreter(firmware or chosen.sim.firmware),
            attendant=chosen.sim.attendant and not no_attendant,
            dealer_id=chosen.sim.dealer_id,
            reader_id=chosen.sim.reader_id,
            control=chosen.sim.control,
        )
        with asyncio.Runner(loop_factory=_loop_for(tables)) as runner:
            runner.run(_run(hall(plan, tables, root), as_json))
    finally:
        if runtime_dir is None:
            shutil.rmtree(root, ignore_errors=True)


def _loop_for(tables: int) -> Callable[[], asyncio.AbstractEventLoop]:
    """Return what makes the loop of so many tables.

    epoll waits in whole milliseconds, so that every motion would end half of one late;
    select is exact, but knows no descriptor above 1023.
    """
    if tables > _MOST_EXACT:
        return asyncio.new_event_loop
    return lambda: asyncio.SelectorEventLoop(selectors.SelectSelector())


def _settings(chosen: SimConfig, speed: float | None, faults: tuple[str, ...]) -> Settings:
    """Return the mechanics' settings. Raises LineError for a fault that is not on the menu."""
    mechanics = chosen.mechanics
    try:
        written = [check(msgspec.convert(fields, Fault)) for fields in chosen.faults]
        named = [parse_fault(text) for text in faults]
    except (FaultError, msgspec.ValidationError) as error:
        raise LineError(str(error)) from None
    return Settings(
        packs=mechanics.packs,
        jokers=mechanics.jokers,
        cards=mechanics.cards,
        sets=tuple(CardSet(one.id, BACKS[one.back]) for one in chosen.card_sets),
        speed=speed or mechanics.speed,
        faults=(*wear(mechanics.wear), *written, *named),
    )


def _interpreter(name: str) -> Interpreter:
    """Return how to run the boards. Raises LineError where there is no MicroPython."""
    if name == "cpython":
        return cpython()
    try:
        return micropython(find_micropython())
    except FileNotFoundError as error:
        raise LineError(str(error)) from None


async def _run(plans: list[TablePlan], as_json: bool) -> None:
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    entropy = random.SystemRandom()
    async with AsyncExitStack() as stack:
        for plan in plans:
            table = SimTable(plan, lambda: entropy.getrandbits(32))
            await stack.enter_async_context(table)
            _show(table, as_json)
        await stop.wait()


def _show(table: SimTable, as_json: bool) -> None:
    info = table.info()
    if as_json:
        click.echo(msgspec.json.encode(info))
        return
    click.echo(f"table {info['table']}, {info['speed']:g} times the reference pace")
    for name in ("dealer", "reader"):
        click.echo(f"  {name:8}{info[name]}  id {info[f'{name}_id']}")
    click.echo(f"  pins    unix:{info['pins']}")
    click.echo(f"  control {info['control']}")
