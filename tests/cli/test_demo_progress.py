"""How far a demo is, in a line on a terminal."""

import io

from msgspec.structs import replace
from rich.console import Console

from controller.messages import Alert, MachinePhase, PublicState
from sim.cli.demo_view import DemoProgress
from tests.cli.table_states import state as state_of


def state(name: str, phase: MachinePhase = MachinePhase.DEALING, fed: int = 0) -> PublicState:
    """A table that has fed so many cards of a deal under way."""
    one = state_of(name, phase)
    return replace(one, machine=replace(one.machine, fed=fed))


def after(one: PublicState, deals: int) -> PublicState:
    """The same table, so many deals later."""
    return replace(one, counters=replace(one.counters, deals=one.counters.deals + deals))


class Screen:
    """A demo's line; `last` is how it looks now."""

    def __init__(self, tables: int, deals: int | None, *, terminal: bool = True) -> None:
        self.page = io.StringIO()
        console = Console(file=self.page, force_terminal=terminal, width=100, color_system=None)
        self.progress = DemoProgress(tables, deals, 108, console)

    def last(self) -> str:
        return self.page.getvalue().rpartition("\x1b[2K")[2].strip()


def test_one_table_shows_its_phase_and_how_many_of_its_cards_were_fed() -> None:
    screen = Screen(tables=1, deals=2)
    with screen.progress as progress:
        progress.on_tables_started(1)
        assert "0 of 2 deals" in screen.last()
        progress.on_state(state("T01", fed=54))
        assert screen.last().startswith("0 of 2 deals, dealing")
        assert screen.last().endswith("54/216 cards")
        progress.on_state(state("T01", fed=20))  # a misdeal: dealt again
        assert screen.last().endswith("54/216 cards")
        progress.on_state(after(state("T01", MachinePhase.RELEASED, fed=108), 1))
        assert screen.last().startswith("1 of 2 deals, released")
        assert screen.last().endswith("108/216 cards")
        progress.on_state(after(state("T01", fed=50), 1))
        assert screen.last().endswith("158/216 cards")


def test_deals_of_an_earlier_demo_do_not_count() -> None:
    screen = Screen(tables=1, deals=1)
    with screen.progress as progress:
        progress.on_tables_started(1)
        progress.on_state(after(state("T01", MachinePhase.EMPTY, fed=0), 7))
        assert screen.last().startswith("0 of 1 deals, empty")
        assert " 0/108 cards" in screen.last()


def test_many_tables_come_up_first_and_are_counted_together() -> None:
    screen = Screen(tables=2, deals=1)
    with screen.progress as progress:
        progress.on_tables_started(1)
        assert "1/2 tables" in screen.last()
        progress.on_tables_started(2)
        progress.on_state(state("T01", fed=10))
        progress.on_state(after(state("T02", MachinePhase.EMPTY, fed=0), 0))
        progress.on_state(after(state("T02", MachinePhase.RELEASED, fed=108), 1))
        assert screen.last().startswith("1 of 2 deals ")
        assert screen.last().endswith("118/216 cards")


def test_a_live_demo_shows_its_tables_alone() -> None:
    screen = Screen(tables=2, deals=None)
    with screen.progress as progress:
        progress.on_tables_started(2)
        before = screen.page.getvalue()
        progress.remove()
        assert screen.page.getvalue() == before


def test_nothing_is_shown_where_there_is_no_terminal() -> None:
    screen = Screen(tables=1, deals=1, terminal=False)
    with screen.progress as progress:
        progress.on_tables_started(1)
        progress.on_state(state("T01", fed=54))
    assert screen.page.getvalue().strip() == ""


def test_brackets_in_a_tables_alert_are_no_markup() -> None:
    screen = Screen(tables=1, deals=1)
    alert = Alert(code=1, name="[/JAM]", since="", cause="", action="", cause_zh="", action_zh="")
    with screen.progress as progress:
        progress.on_tables_started(1)
        progress.on_state(replace(state("T01", MachinePhase.FAULT), alerts=[alert]))
        assert "[/JAM]" in screen.last()
