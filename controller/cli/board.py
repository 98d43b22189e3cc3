"""The demo's live view: tables in a terminal, as the feed and the mechanics show them."""

import asyncio
from typing import Any, Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from controller.cards import POCKETS
from controller.cli.demo_console import DEMO_LOGINS, DEMO_PIN
from controller.messages import MachinePhase, PublicState
from controller.trials.hall import HallError, TableProcess

REFRESH_INTERVAL_S = 0.2
# So many tables have a panel each, with what lies in their pockets; more have a row each.
MAX_PANELS = 3
# Of a row: the table, its phase, its deals + redeals, and how far it is or what it calls for.
_COLUMN_WIDTHS = (8, 10, 6, 16)
_ROW_WIDTH = sum(_COLUMN_WIDTHS) + len(_COLUMN_WIDTHS) + 3
_PHASE_STYLES = {
    MachinePhase.FAULT: "bold red",
    MachinePhase.DEALING: "bold cyan",
    MachinePhase.HELD: "bold green",
    MachinePhase.RELEASED: "green",
}


class DemoView:
    """Shows every table of a hall for the block."""

    def __init__(
        self, tables: list[TableProcess], places: dict[str, Any], console: Console | None = None
    ) -> None:
        self._tables = tables
        self._places = places
        self._states: dict[str, PublicState] = {}
        self._pockets: dict[str, list[int]] = {}
        self._live = Live(console=console or Console(), auto_refresh=False)

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(self, *why: object) -> None:
        self._live.stop()

    def on_state(self, state: PublicState) -> None:
        """Take a state from the feed; it is shown with the next look."""
        self._states[state.table] = state

    def print_line(self, text: str) -> None:
        """Print a line above the tables; it stays."""
        self._live.console.print(text, markup=False, highlight=False, soft_wrap=True)

    async def refresh_forever(self) -> None:
        """Show the tables again and again, until cancelled."""
        while True:
            if len(self._tables) <= MAX_PANELS and not await self._read_pockets():
                return
            self.show()
            await asyncio.sleep(REFRESH_INTERVAL_S)

    def show(self) -> None:
        """Show the tables as they are known now."""
        self._live.update(self._render(), refresh=True)

    async def _read_pockets(self) -> bool:
        """Ask the mechanics what lies there; False where the simulator has gone."""
        for table in self._tables:
            try:
                truth = await table.control.request("truth")
            except HallError:
                return False
            self._pockets[table.id] = [len(cards) for cards in truth["pockets"]]
        return True

    def _render(self) -> RenderableType:
        where = f"feed {self._places['feed']}   state {self._places['state_dir']}   Ctrl-C ends"
        last = Text(where, style="dim")
        if self._places.get("console"):
            last = Text.assemble(
                "console ",
                (self._places["console"], "bold"),
                f"   {', '.join(DEMO_LOGINS)}: PIN {DEMO_PIN}\n",
                last,
            )
        if len(self._tables) > MAX_PANELS:
            return Group(self._render_rows(), self._render_totals(), last)
        seen = [table for table in self._tables if table.id in self._states]
        return Group(*(self._render_panel(self._states[table.id]) for table in seen), last)

    def _render_rows(self) -> RenderableType:
        """Return all tables, a short row each, in as many columns as the terminal is wide."""
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
        alert = state.alerts[0].name if state.alerts else ""
        row.add_row(
            Text(table.id),
            Text(machine.phase.value, style=_PHASE_STYLES.get(machine.phase, "bold")),
            f"{state.counters.deals}+{state.counters.redeals}",
            Text(alert, style="bold red")
            if alert
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

    def _render_panel(self, state: PublicState) -> RenderableType:
        machine = state.machine
        rows = Table.grid(padding=(0, 2))
        phase = Text(machine.phase.value, style=_PHASE_STYLES.get(machine.phase, "bold"))
        rows.add_row("phase", phase)
        rows.add_row("deal", f"{machine.deal or '–'}, attempt {machine.of_deal or '–'}")
        rows.add_row("fed", ProgressBar(total=108, completed=machine.fed, width=40))
        rows.add_row("pockets", self._format_pocket_counts(state.table))
        if state.fairness:
            proof = state.fairness[-1]
            cut = "uncut" if proof.uncut else f"cut {proof.cut or '…'}"
            rows.add_row("proof", f"{proof.commitment[:24]}…  {cut}")
        for alert in state.alerts:
            told = Text(f"{alert.cause}. {alert.action}.")
            rows.add_row(Text(alert.name, style="bold red"), told)
        counters = state.counters
        title = f"{state.table} (simulated): {counters.deals} deals, {counters.redeals} redeals"
        return Panel(rows, title=Text(title))

    def _format_pocket_counts(self, table: str) -> str:
        counts = self._pockets.get(table, [0] * len(POCKETS))
        pairs = zip(POCKETS, counts, strict=True)
        return "   ".join(f"{pocket} {count:2}" for pocket, count in pairs) + "   (the mechanics')"
