"""The self-test and the calibration as real programs, on boards behind ptys."""

import json
import signal

import pytest

from sim.tables.table_processes import TableProcess
from tests.processes.program import Dealtable, Start

pytestmark = pytest.mark.slow

SEEN = {"at_rest", "lid", "landing", "pocket", "wrong_outlet", "count", "pulses", "lock"}
"""What no load of the computer can change: sensors and counts. Times are the computer's, too."""


async def test_a_table_is_tested_whole_and_the_report_lies_beside_its_journal(
    boards: TableProcess, start: Start, dealtable: Dealtable
) -> None:
    program = await start("selftest", boards.config, "--cards", "27", "--json")
    await program.process.wait()  # ten seconds, of which it waits for people and boards the most
    done = await program.end()
    report = json.loads(done.out)
    assert done.code == (1 if report["verdict"] == "fail" else 0), done
    assert (report["table"], report["simulated"]) == (boards.id, True)
    seen = [one for one in report["figures"] if one["name"] in SEEN]
    assert {one["verdict"] for one in seen} == {"pass"}
    [kept] = (boards.state_dir / "selftests").glob("*.json")
    assert json.loads(kept.read_text()) == report
    assert f"# 整机自检 Self-test: {boards.id}" in kept.with_suffix(".md").read_text()
    truth = await boards.control.request("truth")
    assert len(truth["hopper"]) == 108  # people have put all of them back

    history = await dealtable("selftest", boards.config, "--history")
    assert history.code == 0
    assert f": {report['verdict']}" in history.out


async def test_no_test_begins_beside_a_machine(boards: TableProcess, dealtable: Dealtable) -> None:
    await boards.start_daemon()
    for words in (("selftest", boards.config), ("calibrate", boards.config, "gate")):
        done = await dealtable(*words)
        assert done.code == 2
        [line] = done.err.splitlines()
        assert "stop it first" in line


async def test_an_interrupted_test_stops_the_cards_and_says_what_to_clear(
    boards: TableProcess, start: Start
) -> None:
    program = await start("selftest", boards.config)
    await boards.control.request("script", steps=[{"card": 3, "do": "info"}])
    done = await program.end(signal.SIGINT)
    assert done.code == 2
    [line] = done.err.splitlines()
    assert "all motion was stopped" in line
    arrived = (await boards.control.request("truth"))["arrived"]
    await boards.control.request("script", steps=[{"after_ms": 4000, "do": "info"}])
    assert (await boards.control.request("truth"))["arrived"] == arrived


async def test_a_calibration_sets_the_board_and_says_what_to_pin(
    boards: TableProcess, dealtable: Dealtable
) -> None:
    done = await dealtable("calibrate", boards.config, "gate")
    assert done.code == 0, done
    assert "settings_crc = 0x" in done.out
    assert "gate_limit_ms" in done.out
