"""The output of `dealtable demo`: the referees' console, the view of its tables, the summary."""

import asyncio
import statistics
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

import click
import msgspec
from msgspec.structs import replace
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from controller.cli.console import find_missing_library, format_missing_library
from controller.client.discovery import write_endpoints
from controller.messages import MachinePhase, PublicState, Role
from sim.bench.bare_table import dealt_mechanical_s
from sim.people.practice_players import DealResult
from sim.tables.console_process import ConsoleProcess, run_console
from sim.tables.process_costs import ProcessCost, count_cores
from sim.tables.table_processes import HallError, HallPlan, TableProcess

DEMO_PIN: Final = "1111"
DEMO_LOGINS: Final = {
    "chief": Role.CHIEF,
    "referee": Role.REFEREE,
    "technician": Role.TECHNICIAN,
    "observer": Role.OBSERVER,
}
"""The accounts of the demo console. They share one public PIN, for simulated tables only."""


@asynccontextmanager
async def open_demo_console(
    folder: Path, tables: Sequence[TableProcess], port: int | None
) -> AsyncIterator[ConsoleProcess | None]:
    """Run a console during the `with` block, and yield it, or print an error and yield None."""
    if (library := find_missing_library()) is not None:
        click.echo(f"the console does not open: {format_missing_library(library)}", err=True)
        yield None
        return
    people = [(name, role, DEMO_PIN) for name, role in DEMO_LOGINS.items()]
    async with AsyncExitStack() as stack:
        try:
            running = await stack.enter_async_context(
                run_console(tables, folder, port=port, people=people)
            )
        except HallError as error:
            click.echo(f"the console does not open: {error}", err=True)
            yield None
            return
        for table in tables:
            write_endpoints(table.state_dir, replace(table.endpoints, console=running.url))
        yield running


REFRESH_INTERVAL_S = 0.2
# The columns of a row: table, phase, deals + redeals, and progress or alert.
_COLUMN_WIDTHS = (8, 10, 6, 16)
_ROW_WIDTH = sum(_COLUMN_WIDTHS) + len(_COLUMN_WIDTHS) + 3
_PHASE_STYLES = {
    MachinePhase.FAULT: "bold red",
    MachinePhase.DEALING: "bold cyan",
    MachinePhase.HELD: "bold green",
    MachinePhase.RELEASED: "green",
}


class DemoView:
    """A view of all simulated tables, which a terminal shows during the `with` block."""

    def __init__(
        self, tables: list[TableProcess], places: dict[str, Any], console: Console | None = None
    ) -> None:
        self._tables, self._places = tables, places
        self._states: dict[str, PublicState] = {}
        self._live = Live(console=console or Console(), auto_refresh=False)

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(self, *why: object) -> None:
        self._live.stop()

    def on_state(self, state: PublicState) -> None:
        """Store a state from the feed. It is shown at the next refresh."""
        self._states[state.table] = state

    def print_line(self, text: str) -> None:
        """Print a line above the tables. The line stays."""
        self._live.console.print(text, markup=False, highlight=False, soft_wrap=True)

    async def refresh_forever(self) -> None:
        """Refresh the view of the tables until cancelled."""
        while True:
            self.show()
            await asyncio.sleep(REFRESH_INTERVAL_S)

    def show(self) -> None:
        """Draw the last known state of the tables."""
        self._live.update(self._render(), refresh=True)

    def _render(self) -> RenderableType:
        where = f"feed {self._places['feed']}   state {self._places['state_dir']}   Ctrl-C ends"
        last = Text(where, style="dim")
        if self._places.get("console"):
            logins = f"   {', '.join(DEMO_LOGINS)}: PIN {DEMO_PIN}\n"
            last = Text.assemble("console ", (self._places["console"], "bold"), logins, last)
        return Group(self._render_rows(), self._render_totals(), last)

    def _render_rows(self) -> RenderableType:
        """Return one short row for each table, in as many columns as fit into the terminal."""
        columns = max(1, min(self._live.console.width // _ROW_WIDTH, len(self._tables)))
        each = -(-len(self._tables) // columns)
        grid = Table.grid(padding=(0, 3))
        shown = [self._render_row(table) for table in self._tables]
        for place in range(each):
            grid.add_row(*shown[place::each])
        return grid

    def _render_row(self, table: TableProcess) -> RenderableType:
        state = self._states.get(table.id)
        row = Table.grid(padding=(0, 1))
        for width in _COLUMN_WIDTHS:
            row.add_column(width=width, no_wrap=True, overflow="ellipsis")
        if state is None:
            row.add_row(Text(table.id), Text("not yet", style="dim"))
            return row
        machine = state.machine
        row.add_row(
            Text(table.id),
            Text(machine.phase.value, style=_PHASE_STYLES.get(machine.phase, "bold")),
            f"{state.counters.deals}+{state.counters.redeals}",
            Text(state.alerts[0].name, style="bold red")
            if state.alerts
            else ProgressBar(total=108, completed=machine.fed, width=_COLUMN_WIDTHS[-1]),
        )
        return row

    def _render_totals(self) -> RenderableType:
        states = self._states.values()
        deals = sum(state.counters.deals for state in states)
        redeals = sum(state.counters.redeals for state in states)
        calling = sum(bool(state.alerts) for state in states)
        return Text(
            f"{len(states)} of {len(self._tables)} tables (simulated): {deals} deals, "
            f"{redeals} redeals, {calling} calling for help"
        )


_UNCOUNTED_PHASES = frozenset({MachinePhase.DEALING, MachinePhase.HELD})
"""Phases in which the fed cards belong to a deal that is not counted yet."""


class DemoProgress:
    """The progress line of a demo at the bottom of a terminal. It is removed at the end.

    Without a terminal it is off. At each of `tables` tables `deals` deals of `cards` cards are
    dealt. If `deals` is None, the demo is live, and the line is removed when all tables run.
    """

    def __init__(
        self, tables: int, deals: int | None, cards: int, console: Console | None = None
    ) -> None:
        self._tables, self._deals, self._cards = tables, deals, cards
        self._deals_before: dict[str, int] = {}
        self._dealt: dict[str, int] = {}
        self._fed: dict[str, int] = {}
        console = console or Console(stderr=True)
        self._bar = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[unit]}"),
            console=console,
            transient=True,
            auto_refresh=False,
            disable=not console.is_terminal,
        )
        self._task = self._bar.add_task("starting", total=tables, unit="tables")

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *why: object) -> None:
        self.remove()

    def on_tables_started(self, tables: int) -> None:
        """Show that `tables` tables have started. After the last one, show dealt cards instead."""
        if tables < self._tables:
            self._bar.update(self._task, completed=tables, refresh=True)
        elif self._deals is None:
            self.remove()
        else:
            self._bar.update(
                self._task,
                description=self._format_progress(None),
                completed=0,
                total=self._tables * self._deals * self._cards,
                unit="cards",
                refresh=True,
            )

    def on_state(self, state: PublicState) -> None:
        """Update the number of dealt cards in the progress line from a new state of a table."""
        table, machine = state.table, state.machine
        before = self._deals_before.setdefault(table, state.counters.deals)
        self._dealt[table] = dealt = state.counters.deals - before
        fed = machine.fed if machine.phase in _UNCOUNTED_PHASES else 0
        # The cards of a misdeal are fed again. The progress does not move meanwhile.
        self._fed[table] = max(self._fed.get(table, 0), dealt * self._cards + fed)
        self._bar.update(
            self._task,
            description=self._format_progress(state),
            completed=sum(self._fed.values()),
            refresh=True,
        )

    def remove(self) -> None:
        """Remove the progress line."""
        self._bar.stop()

    def _format_progress(self, state: PublicState | None) -> str:
        """Return the progress line's text: finished deals, and for one table its phase or alert."""
        words = f"{sum(self._dealt.values())} of {self._tables * (self._deals or 0)} deals"
        if state is None or self._tables > 1:
            return words
        return f"{words}, {state.alerts[0].name if state.alerts else state.machine.phase.value}"


# Up to this many tables, every deal has a line. With more tables, only unusual deals have one.
MAX_LISTED_TABLES = 8


@dataclass(frozen=True)
class DemoResult:
    """The result of a demo: addresses, deals, failed tables, and costs.

    `costs` cover the time in which people played, `took_s`, by kind of process.
    """

    places: dict[str, Any]
    deals: list[DealResult]
    failures: list[str]
    costs: dict[str, ProcessCost]
    took_s: float

    def list_problems(self) -> list[str]:
        """Return one line for each wrong deal, and one for each failed table."""
        wrong = [f"table {d.table}, deal {d.deal}: {d.wrong}" for d in self.deals if d.wrong]
        return [*wrong, *self.failures]


def format_summary_json(plan: HallPlan, result: DemoResult, costs: bool) -> bytes:
    """Return the summary of a demo as JSON. With `costs` it includes processor time and memory."""
    summary: dict[str, Any] = result.places | {
        "deals": [_make_deal_row(plan, one) for one in result.deals]
    }
    if costs:
        summary["costs"] = {"cores": count_cores(), "took_s": result.took_s, "kinds": result.costs}
    return msgspec.json.encode(summary)


def format_summary_lines(plan: HallPlan, result: DemoResult, costs: bool) -> Iterator[str]:
    """Yield the summary of a demo as lines for people."""
    rows = [_make_deal_row(plan, one) for one in result.deals]
    many = plan.tables > MAX_LISTED_TABLES
    yield from (_format_deal(row) for row in rows if row["misdeals"] or not many)
    if many and rows:
        paces = [row["wall_s"] / row["mechanical_s"] for row in rows]
        misdeals = sum(len(row["misdeals"]) for row in rows)
        yield (
            f"{plan.tables} tables, {len(rows)} deals, {misdeals} misdeals; "
            f"{statistics.median(paces):.3f} times the time of their mechanics, "
            f"at most {max(paces):.3f}"
        )
    for kind, cost in result.costs.items() if costs else ():
        yield _format_cost(kind, cost, len(rows), result.took_s * plan.tables)
    yield f"to check a journal: dealtable verify {result.places['tables'][0]['state_dir']}"


def _format_deal(row: dict[str, Any]) -> str:
    counts = " ".join(f"{pocket} {count}" for pocket, count in row["landed"].items())
    misdeals = "".join(f", {m['outcome']} before: {m['reason']}" for m in row["misdeals"])
    return (
        f"table {row['table']}, deal {row['deal']}: {row['outcome']}, fed {row['fed']}, "
        f"{counts}; {row['wall_s']:.2f} s{misdeals}"
    )


def _format_cost(kind: str, cost: ProcessCost, deals: int, table_s: float) -> str:
    """Return a line of the summary: processor time and memory of all processes of one kind.

    `table_s` is the duration in seconds times the number of tables.
    """
    each = cost.processes
    return (
        f"{kind:12}{each:4} processes {cost.cpu_s / max(deals, 1):7.3f} s CPU a deal, "
        f"{100 * cost.cpu_s / table_s:5.2f} % of a core a table; "
        f"{cost.rss_mib / each:5.1f} MiB each, {cost.pss_mib / each:5.1f} with shared pages divided"
    )


def _make_deal_row(plan: HallPlan, dealt: DealResult) -> dict[str, Any]:
    """Return the summary's fields for one deal, with the time that its mechanics alone need."""
    row: dict[str, Any] = msgspec.to_builtins(dealt)
    del row["wrong"], row["feeding_ms"]
    return row | {"mechanical_s": round(dealt_mechanical_s(dealt, plan.speed), 4)}
