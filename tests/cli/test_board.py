"""The demo's live view: a short row for each table."""

import io
from pathlib import Path

import pytest
from msgspec.structs import replace
from rich.console import Console

from controller.messages import Alert, MachinePhase, PublicState
from controller.rules.profile_files import load_profile
from sim.cli.demo_view import DemoView
from sim.tables.table_processes import TableProcess
from tests.cli.table_states import state

ABOUT = {"feed": "tcp://127.0.0.1:1", "state_dir": "/somewhere"}


def table(number: int, name: str = "") -> TableProcess:
    name = name or f"T01-{number:02d}"
    folder = Path("/somewhere") / name
    profile = load_profile("international-000")
    return TableProcess({"table": name, "control": "none"}, folder, folder / "table.toml", profile)


def shown(tables: list[TableProcess], states: list[PublicState], width: int) -> list[str]:
    """Return the last view of a board in a terminal so wide."""
    page = io.StringIO()
    console = Console(file=page, width=width, height=60, force_terminal=False)
    with DemoView(tables, ABOUT, console) as board:
        for one in states:
            board.on_state(one)
        board.show()
    return page.getvalue().splitlines()


@pytest.mark.parametrize(("width", "rows"), [(80, 50), (100, 25), (210, 13)])
def test_fifty_tables_have_a_short_row_each_in_as_many_columns_as_there_is_room(
    width: int, rows: int
) -> None:
    tables = [table(number) for number in range(1, 51)]
    lines = shown(tables, [state(one.id) for one in tables[:49]], width)
    assert len(lines) == rows + 2
    assert all(sum(one.id in line for line in lines) == 1 for one in tables)
    assert sum("dealing" in line for line in lines) == min(rows, 49)
    assert "49 of 50 tables (simulated): 0 deals, 0 redeals, 0 calling for help" in lines[-2]
    assert "not yet" in "".join(lines)


def test_a_table_that_calls_for_help_says_why_in_its_row() -> None:
    tables = [table(number) for number in range(1, 5)]
    alert = Alert(code=1, name="JAM", since="", cause="", action="", cause_zh="", action_zh="")
    calling = replace(state("T01-03", MachinePhase.FAULT), alerts=[alert])
    lines = shown(tables, [state("T01-01"), calling], width=80)
    assert any("T01-03" in line and "fault" in line and "JAM" in line for line in lines)
    assert "1 calling for help" in lines[-2]


def test_brackets_in_what_is_shown_are_no_markup() -> None:
    name = "[1]/[/b]"
    alert = Alert(code=1, name="JAM", since="", cause="", action="", cause_zh="", action_zh="")
    calling = replace(state(name, MachinePhase.FAULT), alerts=[alert])
    several = [table(1, name), *map(table, (2, 3, 4))]
    for tables in (several[:1], several):
        for states in ([], [calling]):
            assert any(name in line for line in shown(tables, states, width=120))
