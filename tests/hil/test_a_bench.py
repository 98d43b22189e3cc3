"""A bench without hardware: simulated boards at its ports, a scripted person there."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from controller.trials.hall import HallPlan, RunningTable, simulator
from hil_tests.benchfile import load_bench
from hil_tests.hands import PatientControl
from tests.hil.conftest import Words
from tests.hil.scripted import ScriptedPerson

pytestmark = pytest.mark.slow

SPEED = 10.0
"""Slow enough that a card of a deal can be waited for."""
SHOWN = "whole_deal_gives or take_one_card or lid-1"
FEATURES = ("lid", "buttons", "estop", "spare_cards")


@pytest.fixture
async def boards(tmp_path: Path, runtime_dir: Path) -> AsyncIterator[RunningTable]:
    """Give simulated boards on ptys and their control socket, without a daemon."""
    async with simulator(HallPlan(tmp_path / "sim", speed=SPEED), runtime_dir) as (table,):
        yield table


async def control_of(boards: RunningTable) -> PatientControl:
    """Return the way to the simulator for whoever moves its cards."""
    info: dict[str, Any] = await boards.control.do("info")
    return PatientControl(info["control"])


async def bench_of(
    boards: RunningTable, folder: Path, terminal: Path, **dealer: str
) -> tuple[Path, dict[str, Any]]:
    """Write the bench file of simulated boards; times are a busy computer's, not a machine's."""
    info: dict[str, Any] = await boards.control.do("info")
    own = "".join(f'{key} = "{value}"\n' for key, value in dealer.items())
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
{own}
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


@pytest.mark.timeout(240)
async def test_a_person_who_is_told_what_to_do_takes_a_bench_through_its_scenarios(
    boards: RunningTable, scenarios: Words, tmp_path: Path
) -> None:
    async with ScriptedPerson(await control_of(boards)) as person:
        path, info = await bench_of(boards, tmp_path, person.path)
        shown = await scenarios("--target", str(path), "-k", SHOWN)
    assert (shown.code, shown.count("passed")) == (0, 3), shown.said
    assert "do take_one_card" in person.asked
    ready, go = person.asked.index("ready open_lid"), person.asked.index("go open_lid")
    assert ready < go < person.asked.index("do close_lid")
    assert "count hands" in person.asked
    page = shown.report.read_text(encoding="utf-8")
    for told in ("Chen", info["dealer_id"], "count hands: 27 27 27 27", "合格 passed"):
        assert told in page, told
    assert shown.properties["operator"] == "Chen"
    assert shown.properties["reader id"] == info["reader_id"]


@pytest.mark.timeout(120)
async def test_a_step_that_a_person_cannot_do_skips_its_scenario_with_the_reason(
    boards: RunningTable, scenarios: Words, tmp_path: Path
) -> None:
    async with ScriptedPerson(await control_of(boards), frozenset({"turn_card"})) as person:
        path, _ = await bench_of(boards, tmp_path, person.path)
        shown = await scenarios("--target", str(path), "-k", "turn_card or foreign_back")
    assert (shown.code, shown.count("skipped")) == (1, 2), shown.said
    page = shown.report.read_text(encoding="utf-8")
    assert "not at this bench" in page
    assert "loose cards with another back" in page
    assert person.asked == ["do turn_card"]


@pytest.mark.timeout(120)
async def test_another_firmware_than_the_benchs_fails_with_both_hashes_before_anything_moves(
    boards: RunningTable, scenarios: Words, tmp_path: Path
) -> None:
    other = "0123456789abcdef"
    async with ScriptedPerson(await control_of(boards)) as person:
        path, _ = await bench_of(boards, tmp_path, person.path, firmware_hash=other)
        shown = await scenarios("--target", str(path), "-k", "whole_deal_gives or in_a_row")
    assert (shown.code, shown.count("error"), shown.count("skipped")) == (1, 1, 2), shown.said
    assert f"expected {other}" in shown.said
    assert person.asked == []
    assert load_bench(path).dealer.firmware_hash == other


async def test_a_bench_without_boards_says_so_in_one_line_and_leaves_nothing(
    scenarios: Words, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    path = tmp_path / "bench.toml"
    example = (request.config.rootpath / "hil_tests" / "bench.toml").read_text("utf-8")
    path.write_text(example.replace("/dev/table-dealer", "/dev/nobody-there"), "utf-8")
    shown = await scenarios("--target", str(path), "-k", "whole_deal_gives")

    assert shown.count("error") == 1
    errors, _, _ = shown.said.partition("short test summary")  # which says them once more
    told = [line for line in errors.splitlines() if "/dev/nobody-there" in line]
    assert len(told) == 1, shown.said
    assert "the table was not brought up for" in told[0]
    assert "Traceback" not in shown.said
    assert not path.with_name("bench.toml.lock").exists()
