"""A table whose reader was bought: the adapter's process, and an engine that is another program."""

import asyncio
import re
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

import tests.adapters.peer as peer
from controller.messages import AttemptOutcome
from sim.tables.table_processes import TableProcess
from tests.processes.people import People
from tests.processes.program import Program, Start

pytestmark = pytest.mark.slow

UID = "00000000000000b1"


@pytest.fixture
async def engine(boards: TableProcess, tmp_path: Path) -> AsyncIterator[Path]:
    """Start an engine that looks at the table's window; give its port."""
    control = (await boards.control.request("info"))["control"]
    link = tmp_path / "engine"
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, peer.__file__, control, str(link)), stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    assert await process.stdout.readline() == b"ready\n"
    yield link
    process.kill()
    await process.wait()


def profile(folder: Path, engine: Path) -> Path:
    """Write a barcode.toml for the set of a simulated table."""
    cards = "".join(
        f'[[card]]\ncode = "{peer.printed(face, 0)}"\nface = "{text}"\nback = "A"\n'
        for face, text in enumerate(
            [*(f"{suit}{rank}" for suit in "♠♥♣♦" for rank in "23456789TJQKA"), *("SJ", "BJ")]
        )
    )
    path = folder / "barcode.toml"
    path.write_text(
        f"""\
[adapter]
id = "{UID}"
link = "reader"
folder = "own"

[engine]
port = "{engine}"
timeout_ms = 480
late_ms = 480
settle_ms = 2

{cards}""",
        encoding="utf-8",
    )
    return path


def point_at(table: TableProcess, port: Path) -> None:
    """Let a table look for its reader at the adapter's link."""
    text = table.config.read_text(encoding="utf-8")
    reader = f'[reader]\nport = "{port}"\nid = "{UID}"\ntrigger = "asked"\nlook_ms = 2000\n\n'
    table.config.write_text(
        re.sub(r"\[reader\]\n.*?\n\n", reader, text, flags=re.DOTALL), encoding="utf-8"
    )


async def test_a_table_deals_through_a_barcode_engine_and_its_adapter_shows_no_card(
    boards: TableProcess, engine: Path, tmp_path: Path, start: Start
) -> None:
    adapter: Program = await start("adapter", "barcode", profile(tmp_path, engine))
    await adapter.line(f"board {UID} at {tmp_path / 'reader'}")
    point_at(boards, tmp_path / "reader")
    await boards.start_daemon()
    async with People(boards) as people:
        held = await people.held()
        assert held.fairness[-1].outcome is AttemptOutcome.OK
        assert await people.pockets() == [27, 27, 27, 27, 0]
        assert held.boards.reader is not None
        assert (held.boards.reader.hal, held.boards.trigger) == ("adapter", "asked")
        ended = await adapter.end(signal.SIGTERM)
        assert ended.code == 0
        await people.until(lambda state: bool(state.alerts))
        assert not (tmp_path / "reader").is_symlink()
    promises = [line for line in ended.err.splitlines() if "cannot promise" in line]
    assert len(promises) == 4
    assert ended.err.count("\n") == len(promises) + 1
    assert ended.out == ""
    assert (tmp_path / "own" / "boot").read_text(encoding="utf-8") == "1\n"
    assert (tmp_path / "own" / "store").stat().st_size > 8
