"""Whole runs of scenarios: what people see of them, on a table in process."""

from pathlib import Path

import pytest

from drivers.link.frames import PROTOCOL_HEX, Welcome
from hil_tests.harness.bench_file import BenchLock
from hil_tests.harness.port_checks import ExpectedIdentity, WrongBoards, check_boards
from sim.hardware_in_process import own_firmware_hash
from tests.hil.bench_text import SMALL, bench_file
from tests.hil.scenario_run import RunScenarios

pytestmark = pytest.mark.slow

WHOLE_DEAL = "whole_deal_gives"
USAGE = 4


async def test_a_run_writes_a_page_for_people_and_a_file_for_programs(
    scenarios: RunScenarios,
) -> None:
    shown = await scenarios("-k", f"{WHOLE_DEAL} or pace_of_the_machine")
    assert (shown.code, shown.count("passed"), shown.count("skipped")) == (0, 2, 0), shown.said
    page = shown.page
    for told in ("合格 passed", "cards dealt a second"):
        assert told in page, told
    about = shown.properties
    assert about["target"] == "inproc"
    assert about["dealer firmware"].endswith(own_firmware_hash().hex())
    assert about["dealer protocol"] == PROTOCOL_HEX
    assert 'name="start_to_held_s"' in shown.junit.read_text(encoding="utf-8")


async def test_a_run_in_which_everything_was_skipped_fails(scenarios: RunScenarios) -> None:
    shown = await scenarios("--target", "sim", "-k", "clock_that_jumps")
    assert (shown.code, shown.count("skipped")) == (1, 2), shown.said
    assert "every scenario was skipped on this target" in shown.said
    page = shown.page
    for told in ("不合格 FAILED", "lacks clock: a wall clock that may be moved"):
        assert told in page, told


async def test_a_bench_that_is_taken_refuses_a_second_run(
    scenarios: RunScenarios, tmp_path: Path
) -> None:
    path = bench_file(tmp_path, SMALL)
    lock = BenchLock(path)
    lock.acquire("Wu")
    shown = await scenarios("--target", str(path), "-k", WHOLE_DEAL)
    lock.release()
    assert shown.code == USAGE, shown.said
    assert "the bench is taken by Wu" in shown.said


async def test_a_table_that_is_not_there_fails_once_and_skips_the_rest_with_the_reason(
    scenarios: RunScenarios, tmp_path: Path
) -> None:
    path = bench_file(tmp_path, SMALL)
    shown = await scenarios("--target", str(path), "-k", "test_a_whole_deal")
    assert (shown.code, shown.count("error")) == (1, 1), shown.said
    assert shown.count("skipped") >= 2
    page = shown.page
    assert "the table was not brought up for test_a_whole_deal_gives" in page
    assert "the dealer board does not answer" in page


def welcome(**other: object) -> Welcome:
    said = {
        "kind": "dealer",
        "hal": "sim",
        "uid": "00000000000000d1",
        "firmware": "0.1.0",
        "firmware_hash": "aa" * 8,
        "protocol": PROTOCOL_HEX,
        "boot": 1,
        "settings_crc": 7,
        "reset_cause": 0,
        "attempt": 0,
        "events": 0,
        "fed": 0,
        "landed": 0,
        "forgotten": 0,
    }
    return Welcome(**(said | other))  # type: ignore[arg-type]  # fields as given


RIGHT = ExpectedIdentity("00000000000000d1", True, "aa" * 8, settings_crc=7)
WRONG = {
    "kind": ("reader", "dealer"),
    "uid": ("00000000000000d2", "00000000000000d1"),
    "firmware_hash": ("bb" * 8, "aa" * 8),
    "protocol": ("cc" * 8, PROTOCOL_HEX),
    "settings_crc": (8, "00000007"),
    "simulated": (False, "True"),
}


def test_a_board_that_is_another_one_is_told_with_both_values() -> None:
    check_boards({"dealer": RIGHT}, {"dealer": welcome()})
    for field, (found, expected) in WRONG.items():
        other = {"hal": "rp2"} if field == "simulated" else {field: found}
        with pytest.raises(WrongBoards) as caught:
            check_boards({"dealer": RIGHT}, {"dealer": welcome(**other)})
        said = str(caught.value)
        assert f"expected {expected}" in said
        assert str(found) in said
        assert "dealer board" in said


async def test_a_simulator_that_does_not_begin_is_told_with_its_last_words(
    scenarios: RunScenarios, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEALTABLE_MICROPYTHON", "/nowhere")
    shown = await scenarios("--target", "sim", "--firmware", "micropython", "-k", "whole_deal")
    assert shown.code == USAGE
    assert "DEALTABLE_MICROPYTHON names /nowhere, which is no program here" in shown.said
    assert "Traceback" not in shown.said
