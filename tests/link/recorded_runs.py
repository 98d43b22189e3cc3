"""Runs whose lines were recorded, and kept beside this file in recordings/.

They are recorded anew when the protocol changes: `python -m tests.pages write` with their names.
When the drivers change, only what the drivers make of each recording is written anew.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal
from unittest.mock import patch

import msgspec

from controller.messages import Role
from drivers.board_events import BoardEvent, CardReadEvent
from drivers.link.recording import (
    Chunk,
    MemoryRecording,
    RecordedBoard,
    RecordingHeader,
    RecordingPort,
    read_recording,
)
from drivers.link.serial_port import LinkPort
from sim.hardware_in_process import DEALER_ID, READER_ID, HardwareInProcess
from sim.mechanics.fault_menu import parse_fault
from sim.mechanics.mechanics_settings import MechanicsSettings
from sim.memory_folders import memory_folder
from sim.serial_lines import PipePort
from sim.tables.table_in_process import TableInProcess, run_table_in_process
from sim.virtual_loop import VirtualLoop
from tests.link.replay import ReplayedCommand, ReplayResult, replay

FOLDER = Path(__file__).with_name("recordings")
BOARDS: tuple[Literal["dealer", "reader"], ...] = ("dealer", "reader")
HEADER = RecordingHeader(
    table="T01",
    boards={
        "dealer": RecordedBoard("dealer pipe", DEALER_ID),
        "reader": RecordedBoard("reader pipe", READER_ID),
    },
    version="0.1.0",
    started="2027-01-01T00:00:00.000Z",
    simulated=True,
)


@dataclass
class Noise:
    """What a bad line does to each write, either way: the chances of each mischief."""

    rng: random.Random
    lose: float = 0.0
    repeat: float = 0.0
    corrupt: float = 0.0
    cut: float = 0.0
    dead: bool = False

    def spoil(self, data: bytes) -> Iterator[bytes]:
        """Yield the pieces that arrive."""
        if self.dead or self.rng.random() < self.lose:
            return
        if self.rng.random() < self.corrupt:
            at, bit = self.rng.randrange(len(data)), self.rng.randrange(8)
            data = data[:at] + bytes((data[at] ^ 1 << bit,)) + data[at + 1 :]
        if self.rng.random() < self.cut:
            at = self.rng.randrange(len(data))
            yield data[:at]
            data = data[at:]
        yield data
        if self.rng.random() < self.repeat:
            yield data


class NoisyPort:
    """A port on a bad line."""

    def __init__(self, port: LinkPort, noise: Noise) -> None:
        self._port, self._noise = port, noise

    def open(self, on_bytes: Callable[[bytes], None], on_lost: Callable[[str], None]) -> None:
        def heard(data: bytes) -> None:
            for piece in self._noise.spoil(data):
                on_bytes(piece)

        self._port.open(heard, on_lost)

    def write(self, data: bytes) -> None:
        for piece in self._noise.spoil(data):
            self._port.write(piece)

    def close(self) -> None:
        self._port.close()


class RecordedTable(HardwareInProcess):
    """A table in process whose lines are on a tape, and bad where there is noise."""

    def __init__(self, seed: int, *faults: str, noise: Noise) -> None:
        boots = random.Random(f"boots {seed}")
        super().__init__(
            MechanicsSettings(faults=tuple(map(parse_fault, faults))),
            random.Random(f"mechanics {seed}"),
            boots=partial(boots.getrandbits, 32),
            delay_ms=0.25,
        )
        self.tape = MemoryRecording(asyncio.get_running_loop().time)
        self.noise = noise

    def port(self, name: Literal["dealer", "reader"]) -> Any:
        """Return the host's end of a line, recorded behind whatever the line does."""
        return RecordingPort(NoisyPort(super().port(name), self.noise), name, self.tape.add_chunk)

    def reset(self, name: Literal["dealer", "reader"]) -> None:
        """Let a board restart behind a converter that keeps its port: nobody sees it vanish."""
        with patch.object(PipePort, "drop_connection"):
            self.kill(name)
        self.start(name)


@dataclass
class Run:
    """One recorded run. `does` plays it, at a table with `faults` and a line with `noise`."""

    seed: int
    does: Callable[[TableInProcess], Awaitable[None]]
    faults: tuple[str, ...] = ()
    noise: dict[str, Any] = field(default_factory=dict)

    async def chunks(self, runtime_dir: Path) -> list[Chunk]:
        """Play it; return what went over its lines."""
        noise = Noise(random.Random(f"noise {self.seed}"), **self.noise)
        table = RecordedTable(self.seed, *self.faults, noise=noise)
        try:
            async with run_table_in_process(
                MechanicsSettings(), runtime_dir, seed=self.seed, sim=table
            ) as at:
                await self.does(at)
        finally:
            table.close()
        return table.tape.chunks


async def _a_deal(at: TableInProcess) -> None:
    await at.play_attempt()
    await at.return_hands()


async def _cut_short(at: TableInProcess, cards: int, what: Callable[[RecordedTable], None]) -> None:
    """Begin a deal, and do something behind so many cards; return when it is void and over."""
    dealing = asyncio.ensure_future(at.play_attempt())
    await at.wait_for_state(lambda state: state.machine.fed >= cards)
    assert isinstance(at.sim, RecordedTable)
    what(at.sim)
    await dealing
    await asyncio.sleep(2)  # until the board is there again, and nothing moves


async def _a_reset(at: TableInProcess) -> None:
    await _cut_short(at, 20, lambda sim: sim.reset("dealer"))


async def _unplugged(at: TableInProcess) -> None:
    """A cable that is pulled out and put back: the board at its end goes on as it was."""
    await _cut_short(at, 10, lambda sim: HardwareInProcess.port(sim, "reader").drop_connection())


async def _a_dead_line(at: TableInProcess) -> None:
    """A line that is dead for longer than anybody's patience, and cards that are held up."""
    dealing = asyncio.ensure_future(at.play_attempt())
    await at.wait_for_state(lambda state: state.machine.fed >= 5)
    await at.send_command(Role.REFEREE, "hold", reason="a look")
    await asyncio.sleep(1)
    await at.send_command(Role.REFEREE, "resume")
    await at.wait_for_state(lambda state: state.machine.fed >= 12)
    assert isinstance(at.sim, RecordedTable)
    at.sim.noise.dead = True
    await asyncio.sleep(0.7)
    at.sim.noise.dead = False
    await dealing


RUNS = {
    "clean_deal": Run(1, _a_deal),
    "bad_line": Run(2, _a_deal, noise={"lose": 0.04, "repeat": 0.04, "corrupt": 0.04, "cut": 0.1}),
    "board_reset": Run(3, _a_reset),
    "unplugged": Run(5, _unplugged),
    "dead_line": Run(6, _a_dead_line),
    "double_feed_and_tray": Run(
        4, _a_deal, faults=("double_feed:at=30", "unreadable:at=50,times=9")
    ),
}


def encode_recording(header: RecordingHeader, chunks: Iterable[Chunk]) -> bytes:
    """Return a recording in the format of its file."""
    encoder = msgspec.json.Encoder()
    return encoder.encode(header) + b"\n" + encoder.encode_lines(list(chunks))


def recorded(run: str) -> str:
    """Play a run of RUNS in virtual time; return its recording."""
    with memory_folder() as folder, asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return encode_recording(HEADER, runner.run(RUNS[run].chunks(folder))).decode()


def kept(run: str) -> list[Chunk]:
    """Return a recording that is kept."""
    with (FOLDER / f"{run}.jsonl").open("rb") as file:
        return list(read_recording(file)[1])


def replayed(chunks: list[Chunk]) -> list[ReplayResult]:
    """Play a recording to the drivers, in virtual time."""

    async def both() -> list[ReplayResult]:
        return [await replay(chunks, board) for board in BOARDS]

    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(both())


def page(results: list[ReplayResult]) -> str:
    """Return what drivers made of a recording as JSON that people can compare, a line an event."""
    parts = []
    for result in results:
        events = ",\n".join(f"  {_json(_event(event))}" for event in result.events)
        answers = ",\n".join(f"  {_json(_answer(answer))}" for answer in result.commands)
        parts.append(
            f'"{result.board}": {{\n'
            f' "counters": {_json(msgspec.to_builtins(result.counters))},\n'
            f' "welcomes": {_json(msgspec.to_builtins(result.welcomes))},\n'
            f' "ends": {_json(result.ends)},\n'
            f' "findings": {_json(result.findings)},\n'
            f' "events": [\n{events}\n ],\n'
            f' "answers": [\n{answers}\n ]\n}}'
        )
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _event(event: BoardEvent) -> list[Any]:
    row = [event.boot, event.number, event.attempt, event.code.name]
    row += [event.seen, event.landed, event.index, event.place]
    if isinstance(event, CardReadEvent):
        row += [event.face, event.back.name, event.face_up, event.confidence]
    return row


def _answer(answer: ReplayedCommand) -> list[Any]:
    row: list[Any] = [type(answer.command).__name__, *msgspec.structs.astuple(answer.command)]
    row.append(answer.outcome)
    return row if answer.result is None else [*row, msgspec.to_builtins(answer.result)]


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()
