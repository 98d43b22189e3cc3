"""`dealtable doctor` at a simulated table: its boards, its wiring, its running daemon."""

import json
from pathlib import Path
from typing import Any

from controller.cli.doctor import ask_boards
from controller.config import load_table
from sim.tables.table_processes import TableProcess
from tests.processes.program import Dealtable
from tests.processes.wiring import exchange

Lines = dict[str, dict[str, str]]


async def asked(dealtable: Dealtable, config: Path, code: int) -> Lines:
    """Run the doctor; return its findings by what they are of, the worst one of each."""
    done = await dealtable("doctor", config, "--json")
    assert done.code == code, (done.out, done.err)
    told: dict[str, Any] = json.loads(done.out)
    assert told["simulated"] is True
    found: Lines = {}
    for one in (each for part in told["findings"].values() for each in part):
        if one["check"] not in found or one["light"] == "red":
            found[one["check"]] = one
    return found


async def test_boards_are_asked_while_nobody_holds_them_and_named_where_they_are_swapped(
    boards: TableProcess, dealtable: Dealtable
) -> None:
    found = await asked(dealtable, boards.config, 0)
    for board in ("dealer", "reader"):
        assert found[f"{board} port"]["light"] in ("green", "unknown")  # root alone sees who has it
        assert found[f"{board} board"]["light"] == "green"
        assert "as shipped" in found[f"{board} board"]["text"]
    assert found["wheels"]["light"] == found["pins"]["light"] == "green"
    assert found["runtime_dir"]["light"] == "green"
    assert found["feed"]["light"] == "unknown"
    await exchange(boards)
    swapped = ask_boards(load_table(boards.config))
    assert {one.fault for one in swapped.values()} == {"BOARDS_SWAPPED"}
    assert all("Swap the two cables" in one.action for one in swapped.values())
    assert (await boards.control.request("truth"))["arrived"] == 0


async def test_a_running_table_keeps_its_boards_and_its_feed_is_heard(
    table: TableProcess, dealtable: Dealtable
) -> None:
    found = await asked(dealtable, table.config, 0)
    assert "held by the machine" in found["dealer port"]["text"]
    assert found["dealer board"]["light"] == "unknown"
    assert f"table {table.id}" in found["feed"]["text"]
    assert found["keys"]["light"] == "green"
    assert found["core dumps"]["light"] == "green"


async def test_a_configuration_that_cannot_be_used_is_no_finding(
    dealtable: Dealtable, tmp_path: Path
) -> None:
    file = tmp_path / "table.toml"
    file.write_text("[table]\n")
    done = await dealtable("doctor", file)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("Error: ")
