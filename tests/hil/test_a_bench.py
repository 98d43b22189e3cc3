"""A bench without hardware: simulated boards at its ports, a scripted person there."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from sim.tables.table_processes import ControlClient, HallPlan, TableProcess, run_simulator
from tests.hil.scenario_run import RunScenarios
from tests.hil.scripted import ScriptedPerson

pytestmark = pytest.mark.slow

SPEED = 10.0
"""Slow enough that a card of a deal can be waited for."""
SHOWN = "whole_deal_gives or take_one_card or lid-1"
FEATURES = ("lid", "buttons", "estop", "spare_cards")


@pytest.fixture
async def boards(tmp_path: Path, runtime_dir: Path) -> AsyncIterator[TableProcess]:
    """Give simulated boards on ptys and their control socket, without a daemon."""
    async with run_simulator(HallPlan(tmp_path / "sim", speed=SPEED), runtime_dir) as (table,):
        yield table


async def control_of(boards: TableProcess) -> ControlClient:
    """Return the way to the simulator for whoever moves its cards."""
    info: dict[str, Any] = await boards.control.request("info")
    return ControlClient(info["control"])


async def bench_of(
    boards: TableProcess, folder: Path, terminal: Path
) -> tuple[Path, dict[str, Any]]:
    """Write the bench file of simulated boards; times are a busy computer's, not a machine's."""
    info: dict[str, Any] = await boards.control.request("info")
    path = folder / "bench.toml"
    path.write_text(
        f"""\
[bench]
id = "B01"
operator = "Chen"
simulated = true
terminal = "{terminal}"
features = [{", ".join(f'"{each}"' for each in FEATURES)}]

[dealer]
port = "{info["dealer"]}"
id = "{info["dealer_id"]}"

[reader]
port = "{info["reader"]}"
id = "{info["reader_id"]}"

[panel]
pins = "unix:{info["pins"]}"

[limits]
cards_per_s = 0.1
start_to_held_s = 600.0
lid_to_fault_s = 600.0
release_to_reveal_s = 600.0
""",
        encoding="utf-8",
    )
    return path, info


async def test_a_person_who_is_told_what_to_do_takes_a_bench_through_its_scenarios(
    boards: TableProcess, scenarios: RunScenarios, tmp_path: Path
) -> None:
    async with ScriptedPerson(await control_of(boards)) as person:
        path, info = await bench_of(boards, tmp_path, person.path)
        shown = await scenarios("--target", str(path), "-k", SHOWN)
    assert (shown.code, shown.count("passed")) == (0, 3), shown.said
    assert "do take_one_card" in person.asked
    ready, go = person.asked.index("ready open_lid"), person.asked.index("go open_lid")
    assert ready < go < person.asked.index("do close_lid")
    assert "count hands" in person.asked
    page = shown.page
    for told in ("Chen", info["dealer_id"], "count hands: 27 27 27 27", "合格 passed"):
        assert told in page, told
    assert shown.properties["operator"] == "Chen"
    assert shown.properties["reader id"] == info["reader_id"]
