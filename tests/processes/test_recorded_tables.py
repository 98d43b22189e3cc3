"""`run --record`: the lines of a running table, kept in a file, and what the table says of it."""

import asyncio
import json
import signal
import stat
from pathlib import Path

import pytest

from controller.messages import MachinePhase, Role
from drivers.link.recording import read_recording
from sim.tables.table_processes import TableProcess
from tests.link.recorded_runs import replayed
from tests.machine.stages import MATCH, PAIRS
from tests.processes.people import People
from tests.processes.program import Dealtable, Start
from tests.processes.recorded_deal import record_deal, wait_for_endpoints

pytestmark = pytest.mark.slow

KEPT = Path(__file__).parents[1] / "link" / "recordings"
"""What tests/link/test_recordings.py plays."""


@pytest.mark.usefixtures("micropython")
def test_a_killed_tables_recording_is_whole_and_the_drivers_make_the_same_deal_of_it(
    tmp_path: Path, runtime_dir: Path
) -> None:
    file = tmp_path / "wire.jsonl"
    with asyncio.Runner() as runner:
        runner.run(record_deal(tmp_path / "state", runtime_dir, file))
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    with file.open("rb") as lines:
        header, chunks = read_recording(lines)
        assert header.simulated
        wire = list(chunks)
    dealer, reader = replayed(wire)
    assert (dealer.findings, reader.findings) == ((), ())
    assert [event.index for event in reader.events] == list(range(1, 109))
    landed = [event for event in dealer.events if event.code.name == "LANDED"]
    assert len(landed) == 108


async def test_a_table_with_a_match_is_not_recorded(
    boards: TableProcess, start: Start, dealtable: Dealtable, tmp_path: Path
) -> None:
    playing = await start("run", "--config", boards.config)
    await wait_for_endpoints(boards, playing)
    async with People(boards) as people:
        state = await people.until(lambda state: state.machine.phase is MachinePhase.EMPTY)
        assert state.mode == "play"
        args = {**MATCH, "stage": "swiss", "pairs": PAIRS}
        assert (await people.order(Role.REFEREE, "set_match", **args)).ok
    assert (await playing.end(signal.SIGTERM)).code == 0
    file = tmp_path / "wire.jsonl"
    for words in (("machine",), ()):
        option = ("--config", boards.config, "--record", file)
        done = await dealtable("run", *words, *option)
        assert done.code == 2
        [line] = [line for line in done.err.splitlines() if line.startswith("Error: ")]
        assert "match" in line
        assert "sign or transfer" in line
    assert not file.exists()


async def test_a_file_that_cannot_be_made_or_would_be_bundled_is_said_in_a_line(
    boards: TableProcess, dealtable: Dealtable, tmp_path: Path
) -> None:
    for file, said in (
        (tmp_path / "nowhere" / "wire.jsonl", "No such file"),
        (boards.state_dir / "wire.log", "the files in the state directory"),
    ):
        done = await dealtable("run", "--config", boards.config, "--record", file)
        assert done.code == 2
        [line] = [line for line in done.err.splitlines() if line.startswith("Error: ")]
        assert line.startswith(f"Error: --record {file}: {said}")
        assert not file.exists()


async def test_record_in_front_of_a_part_is_bad_usage(dealtable: Dealtable) -> None:
    done = await dealtable("run", "--record", "x", "machine", "--config", "none.toml")
    assert done.code == 2
    assert "after `machine`" in done.err


async def test_a_recording_is_shown_in_words_without_faces_unless_they_are_asked_for(
    dealtable: Dealtable,
) -> None:
    file = KEPT / "double_feed_and_tray.jsonl"
    hidden = await dealtable("wire", file)
    shown = await dealtable("wire", file, "--faces")
    assert (hidden.code, shown.code) == (0, 0)
    assert len(hidden.out.splitlines()) == len(shown.out.splitlines()) > 1000
    assert "face hidden" in hidden.out
    assert not any(suit in hidden.out for suit in "♠♥♣♦")
    assert "face hidden" not in shown.out
    assert all(suit in shown.out for suit in "♠♥♣♦")
    assert hidden.out.startswith("table T01, simulated boards")
    assert "ROUTE" in hidden.out


async def test_a_recording_is_shown_as_json_a_line_each(dealtable: Dealtable) -> None:
    done = await dealtable("wire", KEPT / "bad_line.jsonl", "--json", "--board", "reader")
    assert done.code == 0
    header, *rows = map(json.loads, done.out.splitlines())
    assert header["what"] == "dealtable wire"
    assert {row["board"] for row in rows} == {"reader"}
    faces = {row["fields"]["face"] for row in rows if row["name"] == "READ"}
    assert faces == {"hidden"}


async def test_what_is_no_recording_is_said_in_a_line(dealtable: Dealtable, tmp_path: Path) -> None:
    (tmp_path / "no.jsonl").write_text("hello\n")
    for file, said in (("no.jsonl", "not a recording"), ("none.jsonl", "No such file")):
        done = await dealtable("wire", tmp_path / file)
        assert done.code == 2
        assert len(done.err.splitlines()) == 1
        assert said in done.err
