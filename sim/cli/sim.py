"""`dealtable sim`: runs simulated tables, with boards on ptys but without daemons, until Ctrl-C."""

import asyncio
import gc
import random
import sys
import textwrap
from contextlib import AsyncExitStack, ExitStack, suppress
from pathlib import Path
from typing import Any

import click
import msgspec

from controller.cli import CliError, raise_cli_error
from controller.cli.options import FILE, FOLDER, DecimalNumber, WholeNumber
from controller.config import SimConfig, load_sim
from controller.service.process_signals import termination_signals
from sim.board_process import (
    Interpreter,
    cpython_interpreter,
    find_micropython,
    micropython_interpreter,
)
from sim.exact_loop import exact_loop
from sim.hardware_on_ptys import HardwareOnPtys, TablePlan, plan_tables, refuse_host_faults
from sim.mechanics.fault_menu import (
    FaultError,
    fault_from_fields,
    fault_menu,
    get_wear_level,
    load_wear,
    parse_fault,
)
from sim.mechanics.mechanics_settings import BACKS, MechanicsSettings, PhysicalSet
from sim.memory_folders import memory_folder
from sim.tables.process_costs import count_cores
from sim.worker_processes import SimulatorWorkers, WorkerEnded, raise_open_file_limit

# The tables of a hall start this long after one another, so that their heartbeats and polls do not
# coincide.
START_INTERVAL_S = 0.013

EPILOG = f"""
The command prints the addresses of each table. Write them into the table's configuration: `port`
and `id` in [dealer] and [reader], `pins = "unix:…"` in [panel], `backend = "sim"` in [table].
The control socket simulates people's actions (sim/CONTROL.md). To read the positions of all cards:
`echo '{{"do": "truth"}}' | socat - UNIX:CONTROL`

\b
A fault is NAME or NAME:field=value,… sim/faults.toml has the fields of each. The names:
{textwrap.fill(", ".join(fault_menu()), 78, initial_indent="  ", subsequent_indent="  ")}

\b
Examples:
  dealtable sim
  dealtable sim --config sim.toml --speed 10
  dealtable sim --tables 3 --json
  dealtable sim --relay --fault bytes_corrupted:rate=0.01
  dealtable sim --fault double_feed:at=40 --fault jam:place=window,clears_after=1
"""


@click.command(epilog=EPILOG)
@click.option(
    "--config",
    type=FILE,
    help="The simulator's configuration file, sim.toml. Default: the standard settings.",
)
@click.option(
    "--tables", type=WholeNumber(1, 500), default=1, show_default=True, help="Number of tables."
)
@click.option("--json", "as_json", is_flag=True, help="Print one line of JSON for each table.")
@click.option(
    "--speed",
    type=DecimalNumber(0.1, 1000),
    help="The speed of the mechanics. 1 is 100 ms a card. Limits and heartbeats do not change.",
)
@click.option(
    "--firmware",
    type=click.Choice(["cpython", "micropython"]),
    help="The interpreter that runs the boards' firmware.",
)
@click.option(
    "--boards",
    type=click.Choice(["inside", "processes"]),
    help="`inside`: in this process, each on its own pty, the default for several tables. "
    "`processes`: each as a process, the default for one table, and needed by MicroPython.",
)
@click.option("--no-attendant", is_flag=True, help="Run without the simulated person at a table.")
@click.option("--fault", "faults", multiple=True, metavar="FAULT", help="A fault; may be repeated.")
@click.option(
    "--faults",
    "faults_file",
    type=FILE,
    help="A file with your own wear level: `rates` and `together`, as in sim/faults.toml.",
)
@click.option(
    "--relay",
    is_flag=True,
    help="Forward the lines of board processes through this process. Then each line can be "
    "unplugged or disturbed at any time. A --fault of a line does not need this option.",
)
@click.option("--part", metavar="K/N", hidden=True, help="Run only every Nth table, from the Kth.")
@click.option(
    "--runtime-dir",
    type=FOLDER,
    help="The folder for links to ptys and for sockets. Default: a temporary folder in memory.",
)
def command(
    config: Path | None,
    tables: int,
    as_json: bool,
    speed: float | None,
    firmware: str | None,
    boards: str | None,
    no_attendant: bool,
    faults: tuple[str, ...],
    faults_file: Path | None,
    relay: bool,
    part: str | None,
    runtime_dir: Path | None,
) -> None:
    """Run simulated tables only: mechanics and boards, without machine or gateway processes.

    Their boards are on pseudo-terminals (ptys).

    Each table has mechanics, a dealer and a reader board that run the real firmware, a panel, and a
    simulated person. The boards of one table are separate processes: killing one unplugs that
    board. The boards of several tables run inside simulator processes, one per core. The command
    runs until Ctrl-C, and then ends all processes.
    """
    chosen = load_sim(config) if config else SimConfig()
    with ExitStack() as stack:
        root = runtime_dir or stack.enter_context(memory_folder())
        plan = TablePlan(
            id=chosen.sim.id,
            folder=root,
            settings=_make_settings(chosen, speed, faults, faults_file),
            seed=chosen.mechanics.seed,
            interpreter=choose_interpreter(firmware or chosen.sim.firmware, boards, tables),
            attendant=chosen.sim.attendant and not no_attendant,
            dealer_id=chosen.sim.dealer_id,
            reader_id=chosen.sim.reader_id,
            control=chosen.sim.control,
            relay=relay,
        )
        plans = plan_tables(plan, tables, root)
        processes = min(tables, count_cores())
        raise_open_file_limit()
        try:
            with asyncio.Runner(loop_factory=exact_loop) as runner:
                if part is None and processes > 1:
                    runner.run(_run_workers(_worker_commands(root, processes), plans, as_json))
                else:
                    first, _, every = (part or "1/1").partition("/")
                    chosen_plans = plans[int(first) - 1 :: int(every)]
                    runner.run(_run_tables(chosen_plans, as_json, is_part=part is not None))
        except WorkerEnded as error:
            raise click.ClickException(str(error)) from error


def _make_settings(
    chosen: SimConfig, speed: float | None, faults: tuple[str, ...], faults_file: Path | None
) -> MechanicsSettings:
    """Return the settings of the mechanics from the configuration `chosen` and the options.

    Raises CliError for a wrong fault, or for a fault of the host, which is not simulated here.
    """
    mechanics = chosen.mechanics
    with raise_cli_error(FaultError):
        worn = get_wear_level(mechanics.wear) if faults_file is None else load_wear(faults_file)
        written = [fault_from_fields(fields) for fields in chosen.faults]
        named = [parse_fault(text) for text in faults]
        refuse_host_faults((*written, *named))
    return MechanicsSettings(
        packs=mechanics.packs,
        jokers=mechanics.jokers,
        cards=mechanics.cards,
        sets=tuple(PhysicalSet(one.id, BACKS[one.back]) for one in chosen.card_sets),
        speed=speed or mechanics.speed,
        faults=(*worn.rates, *written, *named),
        together=worn.together,
    )


def choose_interpreter(name: str, boards: str | None, tables: int) -> Interpreter | None:
    """Return the interpreter for board processes, or None if the boards run inside this process.

    Raises CliError if MicroPython is missing, or is requested inside this process.
    """
    if name == "micropython":
        if boards == "inside":
            raise CliError("--boards inside runs under CPython: MicroPython needs processes")
        with raise_cli_error(FileNotFoundError):
            return micropython_interpreter(find_micropython())
    inside = tables > 1 if boards is None else boards == "inside"
    return None if inside else cpython_interpreter()


def _worker_commands(root: Path, processes: int) -> list[list[str]]:
    """Return one command line for each of `processes` workers. Each worker runs some tables."""
    context = click.get_current_context()
    words: list[str] = []
    for option in context.command.params:
        value = context.params[str(option.name)]
        for one in value if option.multiple else (value,):
            if one is True:
                words.append(option.opts[0])
            elif one not in (None, False):
                words += [option.opts[0], str(one)]
    command = [sys.executable, "-m", "controller.cli", "sim", *words, "--runtime-dir", str(root)]
    return [[*command, "--part", f"{part + 1}/{processes}"] for part in range(processes)]


def _make_stop_event() -> asyncio.Event:
    stop = asyncio.Event()
    for number in termination_signals():
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    return stop


async def _run_tables(plans: list[TablePlan], as_json: bool, *, is_part: bool) -> None:
    """Run the tables of `plans` in this process until a termination signal arrives.

    A process that runs a share of the tables also ends when its standard input closes.
    """
    stop = _make_stop_event()
    if is_part:
        asyncio.get_running_loop().add_reader(sys.stdin.fileno(), stop.set)
    entropy = random.SystemRandom()
    async with AsyncExitStack() as stack:
        for plan in plans:
            table = HardwareOnPtys(plan, lambda: entropy.getrandbits(32))
            await stack.enter_async_context(table)
            _print_table(table.info(), as_json or is_part)
            sys.stdout.flush()
            await asyncio.sleep(START_INTERVAL_S)
        gc.collect()
        gc.freeze()  # all objects built so far live as long as the tables
        await stop.wait()


async def _run_workers(parts: list[list[str]], plans: list[TablePlan], as_json: bool) -> None:
    """Run each command of `parts` as a process, and print the addresses of all tables in order.

    Raises WorkerEnded if a process ends unexpectedly. The other processes are ended too.
    """
    stop = asyncio.ensure_future(_make_stop_event().wait())
    async with SimulatorWorkers(parts) as workers:

        async def print_tables() -> None:
            for number in range(len(plans)):
                line = await workers.read_line(number % len(parts))
                _print_table(msgspec.json.decode(line), as_json)
            sys.stdout.flush()
            await workers.wait_for_exit()

        work = asyncio.ensure_future(print_tables())
        await asyncio.wait((stop, work), return_when=asyncio.FIRST_COMPLETED)
        stop.cancel()
        if work.done():
            work.result()
        work.cancel()
        with suppress(asyncio.CancelledError):
            await work


def _print_table(info: dict[str, Any], as_json: bool) -> None:
    if as_json:
        click.echo(msgspec.json.encode(info))
        return
    click.echo(f"table {info['table']}, {info['speed']:g} times the reference pace")
    for name in ("dealer", "reader"):
        click.echo(f"  {name:8}{info[name]}  id {info[f'{name}_id']}")
    click.echo(f"  pins    unix:{info['pins']}")
    click.echo(f"  control {info['control']}")
