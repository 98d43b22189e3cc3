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
from controller.messages import Phase, State
from controller.trials.hall import HallError, RunningTable

LOOK_S = 0.2
_COLOURS = {
    Phase.FAULT: "bold red",
    Phase.DEALING: "bold cyan",
    Phase.HELD: "bold green",
    Phase.RELEASED: "green",
}


class Board:
    """Shows every table of a hall for the block."""

    def __init__(self, tables: list[RunningTable], about: dict[str, Any]) -> None:
        self._tables = tables
        self._about = about
        self._states: dict[str, State] = {}
        self._pockets: dict[str, list[int]] = {}
        self._live = Live(console=Console(), auto_refresh=False)

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(self, *why: object) -> None:
        self._live.stop()

    def saw(self, state: State) -> None:
        """Take a state from the feed and show it."""
        self._states[state.table] = state
        self._live.update(self._view(), refresh=True)

    async def look(self) -> None:
        """Look into the pockets, again and again, until cancelled."""
        while True:
            for table in self._tables:
                try:
                    truth = await table.control.do("truth")
                except HallError:
                    return
                self._pockets[table.id] = [len(cards) for cards in truth["pockets"]]
            self._live.update(self._view(), refresh=True)
            await asyncio.sleep(LOOK_S)

    def _view(self) -> RenderableType:
        shown = [self._one(self._states[table.id]) for table in self._seen()]
        where = f"feed {self._about['feed']}   state {self._about['state_dir']}   Ctrl-C ends"
        return Group(*shown, Text(where, style="dim"))

    def _seen(self) -> list[RunningTable]:
        return [table for table in self._tables if table.id in self._states]

    def _one(self, state: State) -> RenderableType:
        machine = state.machine
        rows = Table.grid(padding=(0, 2))
        phase = Text(machine.phase.value, style=_COLOURS.get(machine.phase, "bold"))
        rows.add_row("phase", phase)
        rows.add_row("deal", f"{machine.deal or '–'}, attempt {machine.attempt or '–'}")
        rows.add_row("fed", ProgressBar(total=108, completed=machine.fed, width=40))
        rows.add_row("pockets", self._counts(state.table))
        if state.fairness:
            proof = state.fairness[-1]
            cut = "uncut" if proof.uncut else f"cut {proof.cut or '…'}"
            rows.add_row("proof", f"{proof.commitment[:24]}…  {cut}")
        for alert in state.alerts:
            rows.add_row(Text(alert.name, style="bold red"), f"{alert.cause}. {alert.action}.")
        counters = state.counters
        title = f"{state.table} (simulated): {counters.deals} deals, {counters.redeals} redeals"
        return Panel(rows, title=title)

    def _counts(self, table: str) -> str:
        counts = self._pockets.get(table, [0] * len(POCKETS))
        pairs = zip(POCKETS, counts, strict=True)
        return "   ".join(f"{pocket} {count:2}" for pocket, count in pairs) + "   (the mechanics')"
