"""`dealtable demo`: simulated tables, their daemons and their people, in one command."""

import asyncio
import contextlib
import os
import sys
import tempfile
from collections.abc import Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import click

from controller.cli import raise_cli_error
from controller.cli.options import FOLDER, DecimalNumber, WholeNumber
from controller.client.client import NoAnswer
from controller.roster import CLIENTS_FOLDER
from controller.service.process_signals import termination_signals
from sim.cli.demo_view import (
    DEMO_LOGINS,
    DEMO_PIN,
    DemoProgress,
    DemoResult,
    DemoView,
    format_summary_json,
    format_summary_lines,
    open_demo_console,
)
from sim.cli.sim import choose_interpreter
from sim.hardware_on_ptys import refuse_host_faults
from sim.mechanics.fault_menu import FaultError, parse_fault
from sim.people.match_players import seat_match_players
from sim.people.practice_players import DealResult, seat_players
from sim.tables.console_process import ConsoleProcess
from sim.tables.process_costs import costs_since, measure_costs
from sim.tables.table_processes import (
    HallError,
    HallPlan,
    TableProcess,
    run_hall,
    wait_for_process_end,
)
from sim.worker_processes import raise_open_file_limit

EPILOG = """\b
Examples:
  dealtable demo                              a table and its console until Ctrl-C
  dealtable demo --once --deals 3 --speed 20  three quick deals and a summary
  dealtable demo --tables 4 --speed 5         four tables, five times as fast
  dealtable demo --tables 50 --once --deals 3 --json --costs
                                              50 tables, a summary as JSON with costs
  dealtable demo --once --fault missing_card  a set that lacks a card

A live demo serves the referees' console. Open it in a browser: the console's address, its accounts
and their PIN are shown below the tables. While a demo runs, `dealtable watch --state-dir DIR`
shows it in another terminal.
"""

# A table that completes no deal in this time needs an action that the simulated people do not have.
DEAL_TIMEOUT_S = 300.0

Played = TypeVar("Played")


@dataclass(frozen=True)
class _DemoOptions:
    """The options of one `dealtable demo`. `live` is True without `--once`.

    `deals` is the number of deals at each table; with None the demo runs until Ctrl-C. If `console`
    is True, a console is opened.
    """

    plan: HallPlan
    deals: int | None
    live: bool
    console: bool = False
    console_port: int | None = None


@click.command(epilog=EPILOG)
@click.option("--tables", type=WholeNumber(1, 100), default=1, show_default=True)
@click.option(
    "--deals", type=WholeNumber(1), help="Practice deals a table, without matches; with --once: 1."
)
@click.option("--once", is_flag=True, help="Deal, print a summary, end. Fail if anything is wrong.")
@click.option("--json", "as_json", is_flag=True, help="With --once: print only one JSON object.")
@click.option("--costs", is_flag=True, help="With --once: print CPU and memory of the processes.")
@click.option(
    "--speed",
    type=DecimalNumber(0.1, 1000),
    default=1.0,
    show_default=True,
    help="The speed of the mechanics. 1 is 100 ms a card.",
)
@click.option("--port", type=WholeNumber(1, 65000), help="First feed's port. Default: free ports.")
@click.option("--no-console", is_flag=True, help="Do not start the referees' console.")
@click.option(
    "--console-port", type=WholeNumber(1, 65535), help="The console's port. Default: a free port."
)
@click.option(
    "--state-dir",
    type=FOLDER,
    help="The folder for journals and keys; it is kept. Default: a new temporary folder.",
)
@click.option(
    "--firmware",
    type=click.Choice(["cpython", "micropython"]),
    default="cpython",
    show_default=True,
    help="The interpreter that runs the boards' firmware.",
)
@click.option(
    "--boards",
    type=click.Choice(["inside", "processes"]),
    help="Run the boards inside the simulator, or each as a process, as in `dealtable sim`.",
)
@click.option("--fault", "faults", multiple=True, metavar="FAULT", help="As in `dealtable sim`.")
@click.option("--seed", type=WholeNumber(0), default=0, show_default=True, help="Mechanics' seed.")
def command(
    tables: int,
    deals: int | None,
    once: bool,
    as_json: bool,
    costs: bool,
    speed: float,
    port: int | None,
    no_console: bool,
    console_port: int | None,
    state_dir: Path | None,
    firmware: str,
    boards: str | None,
    faults: tuple[str, ...],
    seed: int,
) -> None:
    """Run simulated tables with boards on pseudo-terminals, table processes and simulated people.

    Everything is as on a real table, except the ends of the serial lines. People play matches, much
    faster than real people, and sometimes call the referee. You are the referee, in the console.
    Ctrl-C ends all processes. The journal stays, for `dealtable verify`.
    """
    if (as_json or costs) and not once:
        raise click.UsageError("--json and --costs go with --once")
    if console_port is not None and (once or no_console):
        raise click.UsageError("--console-port goes with a console: not with --once, --no-console")
    with raise_cli_error(FaultError):
        refuse_host_faults(parse_fault(fault) for fault in faults)
    choose_interpreter(firmware, boards, tables)
    raise_open_file_limit()
    folder = state_dir or Path(tempfile.mkdtemp(prefix="dealtable-"))
    plan = HallPlan(folder.absolute(), tables, speed, seed, firmware, boards, faults, port)
    wanted, console = deals or (1 if once else None), not (once or no_console)
    options = _DemoOptions(plan, wanted, not once, console, console_port)
    try:
        outcome = asyncio.run(_run_demo(options))
    except HallError as error:
        raise click.ClickException(str(error)) from error
    if outcome is None and once:
        raise click.ClickException("interrupted before all deals were dealt")
    if outcome is not None:
        if as_json:
            click.echo(format_summary_json(plan, outcome, costs))
        else:
            for line in format_summary_lines(plan, outcome, costs):
                click.echo(line)
        if wrong := outcome.list_problems():
            raise click.ClickException("; ".join(wrong))


async def _run_demo(options: _DemoOptions) -> DemoResult | None:
    """Run the demo. Return its result, or None if it was live (without `--once`) or interrupted.

    Raises HallError if a process of the hall ends unexpectedly.
    """
    task = asyncio.current_task()
    assert task is not None
    loop = asyncio.get_running_loop()
    for number in termination_signals():
        loop.add_signal_handler(number, task.cancel)
    shown = DemoProgress(
        options.plan.tables, None if options.live else options.deals, options.plan.rules.deck.cards
    )
    with contextlib.suppress(asyncio.CancelledError), shown as progress:
        async with run_hall(options.plan, progress.on_tables_started) as tables:
            about = _find_places(options.plan, tables)
            if options.live:
                return await _play_with_console(options, tables, about)
            return await _play_unless_exited(_deal_once(options, tables, about, progress), tables)
    return None


async def _play_with_console(
    options: _DemoOptions, tables: list[TableProcess], places: dict[str, Any]
) -> DemoResult | None:
    """Run a live demo, with a console if requested. Return None: a live demo has no result."""
    opening: contextlib.AbstractAsyncContextManager[ConsoleProcess | None] = (
        open_demo_console(options.plan.state_dir, tables, options.console_port)
        if options.console
        else contextlib.nullcontext()
    )
    async with opening as console:
        if console is not None:
            places["console"] = console.url
            if not sys.stdout.isatty():
                # A terminal shows this below the tables.
                click.echo(f"console {console.url}  ({', '.join(DEMO_LOGINS)}: PIN {DEMO_PIN})")
        await _play_live(options, tables, places, console)
        return None


async def _play_unless_exited(
    play: Coroutine[Any, Any, Played], tables: list[TableProcess]
) -> Played:
    """Run `play` and return its result. Raise HallError if a table process ends before `play`."""
    playing = asyncio.ensure_future(play)
    falling = asyncio.ensure_future(wait_for_process_end(tables))
    try:
        await asyncio.wait((playing, falling), return_when=asyncio.FIRST_COMPLETED)
        if falling.done():
            falling.result()
        return await playing
    finally:
        for one in (playing, falling):
            one.cancel()
        await asyncio.gather(playing, falling, return_exceptions=True)


async def _deal_once(
    options: _DemoOptions,
    tables: list[TableProcess],
    places: dict[str, Any],
    progress: DemoProgress,
) -> DemoResult:
    """Play the requested deals at all tables, and return them with the costs of the processes."""
    loop, me = asyncio.get_running_loop(), os.getpid()
    before, begun_s = measure_costs(me), loop.time()
    rows = await asyncio.gather(
        *(_deal_at_table(options, *one, progress) for one in enumerate(tables))
    )
    took = costs_since(before, measure_costs(me))
    deals = [one for dealt, _ in rows for one in dealt]
    failures = [failed for _, failed in rows if failed is not None]
    return DemoResult(places, deals, failures, took, round(loop.time() - begun_s, 3))


async def _deal_at_table(
    options: _DemoOptions, number: int, table: TableProcess, progress: DemoProgress
) -> tuple[list[DealResult], str | None]:
    """Play the requested deals at one table. Return those played, and an error text or None."""
    dealt: list[DealResult] = []
    await asyncio.sleep(options.plan.start_delay_s(number))
    async with seat_players(table, progress.on_state) as people:
        try:
            for _ in range(options.deals or 1):
                async with asyncio.timeout(DEAL_TIMEOUT_S):
                    dealt.append(await people.play_deal())
        except TimeoutError:
            late = f"no deal in {DEAL_TIMEOUT_S:g} s; {people.status_text()}"
            return dealt, f"table {table.id}: {late}"
        except (HallError, NoAnswer) as error:
            return dealt, f"table {table.id}: {error}"
    return dealt, None


async def _play_live(
    options: _DemoOptions,
    tables: list[TableProcess],
    places: dict[str, Any],
    console: ConsoleProcess | None,
) -> None:
    """Show the tables while simulated people play at them.

    If one daemon ends, the other tables continue. Raises HallError at the end if a table was lost.
    """
    lost: list[str] = []
    with DemoView(tables, places) as board:

        async def at(number: int, table: TableProcess) -> None:
            await asyncio.sleep(options.plan.start_delay_s(number))
            if options.deals is None:
                speed, seed = options.plan.speed, options.plan.seed
                async with seat_match_players(table, number, speed, board.on_state, seed) as four:
                    await four.play()
            async with seat_players(table, board.on_state) as people:
                for _ in range(options.deals or 0):
                    await people.play_deal()

        async def unless_lost(number: int, table: TableProcess) -> None:
            try:
                await _play_unless_exited(at(number, table), [table])
            except (HallError, NoAnswer) as error:
                lost.append(str(error))
                board.print_line(str(error))

        looking = [asyncio.ensure_future(board.refresh_forever())]
        if console is not None:
            looking.append(asyncio.ensure_future(_watch_console(console, board, places)))
        try:
            await asyncio.gather(*(unless_lost(*one) for one in enumerate(tables)))
        finally:
            for one in looking:
                one.cancel()
    if lost:
        raise HallError("; ".join(dict.fromkeys(lost)))


async def _watch_console(console: ConsoleProcess, view: DemoView, places: dict[str, Any]) -> None:
    """Wait until the console's process ends, then print a line that names its log."""
    assert console.process is not None
    await console.process.wait()
    places["console"] = None
    view.print_line(f"the console ended unexpectedly; see {console.log}")


def _find_places(plan: HallPlan, tables: list[TableProcess]) -> dict[str, Any]:
    """Return the network addresses and the folders of all tables, for the demo's summary."""
    where = [
        {
            "table": table.id,
            "feed": table.endpoints.feed,
            "commands": table.endpoints.commands,
            "state_dir": str(table.state_dir),
            "clients": str(table.state_dir / CLIENTS_FOLDER),
        }
        for table in tables
    ]
    first = {name: where[0][name] for name in ("feed", "commands")}
    return {"tables": where, **first, "state_dir": str(plan.state_dir)}
