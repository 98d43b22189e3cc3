"""How far a demo is, on a terminal alone: its tables come up, then cards are fed."""

from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from controller.messages import MachinePhase, PublicState

_UNCOUNTED_PHASES = frozenset({MachinePhase.DEALING, MachinePhase.HELD})
"""Phases in which the cards that were fed are of a deal not counted yet."""


class DemoProgress:
    """One line at the end of a terminal, gone when all is done; elsewhere nothing.

    `deals` of `cards` each are to be dealt at every one of `tables`; None: the demo is live, and
    shows itself once its tables are up.
    """

    def __init__(
        self, tables: int, deals: int | None, cards: int, console: Console | None = None
    ) -> None:
        self._tables, self._deals, self._cards = tables, deals, cards
        self._deals_before: dict[str, int] = {}
        self._dealt: dict[str, int] = {}
        self._fed: dict[str, int] = {}
        console = console or Console(stderr=True)
        columns = (
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[unit]}"),
        )
        self._bar = Progress(
            *columns,
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
        """Say how many tables are there."""
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
        """Take a state of a table: how many cards were fed there for deals of this demo."""
        table, machine = state.table, state.machine
        before = self._deals_before.setdefault(table, state.counters.deals)
        self._dealt[table] = dealt = state.counters.deals - before
        fed = machine.fed if machine.phase in _UNCOUNTED_PHASES else 0
        # A misdeal's cards are fed again: the line waits meanwhile.
        self._fed[table] = max(self._fed.get(table, 0), dealt * self._cards + fed)
        self._bar.update(
            self._task,
            description=self._format_progress(state),
            completed=sum(self._fed.values()),
            refresh=True,
        )

    def remove(self) -> None:
        """Take the line away."""
        self._bar.stop()

    def _format_progress(self, state: PublicState | None) -> str:
        """Return in words how far it is: of one table its phase, or what it calls for."""
        asked = self._tables * (self._deals or 0)
        words = f"{sum(self._dealt.values())} of {asked} deals"
        if state is None or self._tables > 1:
            return words
        alert = state.alerts[0].name if state.alerts else state.machine.phase.value
        return f"{words}, {alert}"
