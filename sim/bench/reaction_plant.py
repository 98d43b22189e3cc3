"""Simulated boards for the figure `reaction`, which times each card's ROUTE message.

The events AT_READER and READ together decide a card. A `TimedLine` holds back the later of the two.
`run_rounds` writes the held events in turns and measures the time to each route.
"""

import asyncio
import gc
import os
import pty
import random
import select
import struct
import sys
import time
import tty
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Final

import click
import msgspec

from controller.config import load_sim
from controller.service.process_signals import termination_signals
from drivers.firmware import protocol
from drivers.firmware.framing import Decoder
from sim.bench import echo_process
from sim.board_faults import BoardName
from sim.exact_loop import exact_loop
from sim.hardware_on_ptys import HardwareOnPtys, TablePlan, plan_tables
from sim.mechanics.mechanics_settings import BACKS, MechanicsSettings, PhysicalSet
from sim.serial_lines import PtyLine, PtyNoise
from sim.tables.table_processes import end_program, start_program

ROUTE_TIMEOUT_MS: Final = 100
"""The limit for a route. A route that does not arrive counts as this time."""
_MAX_READ_BYTES = 4096
_EVENT = struct.Struct(protocol.BOARD_HEADER + protocol.BODIES[protocol.EVENT][1:])
_DECIDING_CODES = {protocol.AT_READER, protocol.READ}


class HeldFrames:
    """The events of one table's boards, and the line that holds one back. Both lines share this.

    `due` is set while `holding_line` holds back a deciding event. This is the second of the two
    events AT_READER and READ of one card.
    """

    def __init__(self) -> None:
        self.due = asyncio.Event()
        self.holding_line: TimedLine | None = None
        self._codes_by_card: dict[tuple[int, int], set[int]] = {}
        self._attempt = 0

    def is_decided_by(self, payloads: list[bytes]) -> bool:
        """Record the events `payloads`, and return True if one of them decides a card's route.

        The deciding event is the second of a card's two events AT_READER and READ.
        """
        lasts = [self._is_deciding(payload) for payload in payloads]
        return any(lasts)

    def _is_deciding(self, payload: bytes) -> bool:
        if payload[0] != protocol.EVENT:
            return False
        _, _, _, _, attempt, code, _, _, index, _ = _EVENT.unpack_from(payload)
        if code not in _DECIDING_CODES:
            return False
        if attempt != self._attempt:
            self._attempt = attempt
            self._codes_by_card.clear()
        said = self._codes_by_card.setdefault((attempt, index), set())
        before = len(said)
        said.add(code)
        return before == 1 and len(said) == len(_DECIDING_CODES)


class TimedLine(PtyLine):
    """A board's serial line, which holds back each event that decides a card's route.

    This is the second of the events AT_READER and READ of one card. `release_frame` returns it.
    """

    def __init__(self, link: Path, spoil: PtyNoise, frames: HeldFrames) -> None:
        super().__init__(link, spoil)
        self._frames = frames
        self._decoder = Decoder()
        self._held_bytes = b""

    def write(self, data: bytes) -> None:
        """Hold back a deciding event and, until its release, later data. Send other data now."""
        if self.board_fd is None:
            return
        deciding = self._frames.is_decided_by(self._decoder.feed(data))
        if self._held_bytes:
            self._held_bytes += data
        elif deciding:
            self._held_bytes = data
            self._frames.holding_line = self
            self._frames.due.set()
        else:
            super().write(data)

    def release_frame(self) -> bytes:
        """Remove and return the bytes that are held back. The caller must write them."""
        held, self._held_bytes = self._held_bytes, b""
        self._frames.holding_line = None
        self._frames.due.clear()
        return held


def time_answer(
    out: int, back: int, data: bytes, whole: Callable[[bytes], bool]
) -> tuple[float, bytes]:
    """Write `data` to the descriptor `out`, and time the answer on the descriptor `back`.

    Return the time in microseconds until the answer was complete, and the answer. It is complete if
    `whole(answer)` is True. The clock stops before the bytes are examined. The time is
    ROUTE_TIMEOUT_MS if the answer is not complete in time. Raises OSError if a line is closed.
    """
    poll = select.poll()
    poll.register(back, select.POLLIN)
    said = b""
    begun_ns = time.perf_counter_ns()
    os.write(out, data)
    while poll.poll(ROUTE_TIMEOUT_MS):
        got = os.read(back, _MAX_READ_BYTES)
        at_ns = time.perf_counter_ns()
        said += got
        if whole(said):
            return (at_ns - begun_ns) / 1000, said
        if not got:
            break
    return ROUTE_TIMEOUT_MS * 1000.0, said


GAP_S: Final = (0.001, 0.004)
"""The wait between two turns."""
ROUND_TIMEOUT_S: Final = 0.1
"""The limit for a table's event in a round.

A later table misses the round, because its boards would reach their own timeouts.
"""

CHECKOUT: Final = Path(__file__).parents[2]
_FLOOR = "sim.bench.echo_process"

Turn = Callable[[], float | None]


class TimedHardware(HardwareOnPtys):
    """The simulated boards of one table, with timed serial lines.

    `time_route` writes the held event and times the route.
    """

    def __init__(self, plan: TablePlan, boots: Callable[[], int]) -> None:
        self._frames = HeldFrames()
        self.due = self._frames.due
        self._lines: dict[BoardName, TimedLine] = {}
        super().__init__(plan, boots)

    def make_line(self, name: BoardName, spoil: PtyNoise) -> TimedLine:
        """Return the timed serial line of the board `name`."""
        return self._lines.setdefault(name, TimedLine(self.plan.folder / name, spoil, self._frames))

    def time_route(self) -> float | None:
        """Send the event that is held back, and return the microseconds until its card's ROUTE.

        Returns None if no event is held, or if a line is not open.
        """
        holder, dealer = self._frames.holding_line, self._lines["dealer"]
        if holder is None:
            return None
        data = holder.release_frame()
        out, back = holder.board_fd, dealer.board_fd
        if out is None or back is None:
            return None
        try:
            before = b""
            with suppress(BlockingIOError):
                before = os.read(back, _MAX_READ_BYTES)  # it does not contain the route
            dealer.deliver_to_board(before)
            took_us, said = time_answer(
                *(out, back, data),
                lambda said: any(one[0] == protocol.ROUTE for one in Decoder().feed(said)),
            )
        except OSError:  # the daemon has just closed the line
            return None
        dealer.deliver_to_board(said)
        return took_us


async def run_rounds(
    floor: Turn,
    tables: Sequence[TimedHardware],
    beside: Sequence[Turn],
    rng: random.Random,
    samples: list[list[float]],
) -> None:
    """Measure answer times in rounds until cancelled, and add each complete round to `samples`.

    A round times each table and each program once, in random order. `floor` and `beside` time the
    programs. Incomplete rounds are not added.
    """
    every = [floor, *(table.time_route for table in tables), *beside]
    while True:
        there = await _wait_until_due(tables)
        away = {number + 1 for number in range(len(tables))} - {number + 1 for number in there}
        turns = [number for number in range(len(every)) if number not in away]
        took: dict[int, float | None] = {}
        for number in rng.sample(turns, len(turns)):
            await asyncio.sleep(rng.uniform(*GAP_S))
            took[number] = every[number]()
        told = [took.get(number) for number in range(len(every))]
        if None not in told:
            samples.append([us for us in told if us is not None])


async def _wait_until_due(tables: Sequence[TimedHardware]) -> list[int]:
    """Wait until every table holds back an event. Return the indices of the tables that do so.

    The wait ends after ROUND_TIMEOUT_S.
    """
    waits = [asyncio.ensure_future(table.due.wait()) for table in tables]
    try:
        await asyncio.wait(waits, timeout=ROUND_TIMEOUT_S)
        return [number for number, table in enumerate(tables) if table.due.is_set()]
    finally:
        for wait in waits:
            wait.cancel()


@asynccontextmanager
async def run_answerer(module: str) -> AsyncIterator[Turn]:
    """Run `module` as a process that answers on a pty, and yield a function that times an answer.

    Raises RuntimeError if the process ends before it is ready.
    """
    ours, theirs = pty.openpty()
    for end in (ours, theirs):
        tty.setraw(end)
    process = await start_program(os.ttyname(theirs), module=module, cwd=CHECKOUT)
    try:
        await _wait_until_ready(ours, process)
        yield lambda: time_answer(
            *(ours, ours, echo_process.READ_FRAME),
            lambda said: len(said) >= len(echo_process.ROUTE_FRAME),
        )[0]
    finally:
        await end_program(process)
        os.close(theirs)
        os.close(ours)


async def _wait_until_ready(end: int, process: asyncio.subprocess.Process) -> None:
    """Wait until a process writes to its pty. Raises RuntimeError if the process ends."""
    loop, there = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(end, there.set)
    ended = asyncio.ensure_future(process.wait())
    said = asyncio.ensure_future(there.wait())
    try:
        await asyncio.wait((ended, said), return_when=asyncio.FIRST_COMPLETED)
    finally:
        loop.remove_reader(end)
        ended.cancel()
        said.cancel()
    if not there.is_set():
        raise RuntimeError(f"a program ended with {process.returncode}, without its answer")
    os.read(end, len(echo_process.ROUTE_FRAME))


def main(
    config: str, runtime_dir: str, tables: str, speed: str, samples: str, *beside: str
) -> None:
    """Simulate all tables' boards until a signal arrives, then write the times into `samples`.

    `beside` are the modules of the programs that are measured together with the tables.
    """
    chosen = load_sim(Path(config))
    plan = TablePlan(
        id=chosen.sim.id,
        folder=Path(runtime_dir),
        settings=MechanicsSettings(
            packs=chosen.mechanics.packs,
            jokers=chosen.mechanics.jokers,
            sets=tuple(PhysicalSet(one.id, BACKS[one.back]) for one in chosen.card_sets),
            speed=float(speed),
        ),
        seed=chosen.mechanics.seed,
        attendant=False,
    )
    taken: list[list[float]] = []
    with asyncio.Runner(loop_factory=exact_loop) as runner:
        runner.run(_run_plant(plan_tables(plan, int(tables), plan.folder), beside, taken))
    Path(samples).write_bytes(msgspec.json.encode(taken))


async def _run_plant(
    plans: Sequence[TablePlan], modules: Sequence[str], samples: list[list[float]]
) -> None:
    stop = asyncio.Event()
    for number in termination_signals():
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    rng = random.Random(plans[0].seed)
    async with AsyncExitStack() as stack:
        tables = [TimedHardware(plan, partial(rng.getrandbits, 32)) for plan in plans]
        for table in tables:
            await stack.enter_async_context(table)
            click.echo(msgspec.json.encode(table.info()))
        sys.stdout.flush()
        floor, *beside = [
            await stack.enter_async_context(run_answerer(module)) for module in (_FLOOR, *modules)
        ]
        gc.collect()
        gc.freeze()
        gc.disable()
        playing = asyncio.ensure_future(run_rounds(floor, tables, beside, rng, samples))
        ending = asyncio.ensure_future(stop.wait())
        await asyncio.wait((playing, ending), return_when=asyncio.FIRST_COMPLETED)
        for task in (playing, ending):
            task.cancel()
        if playing.done():
            playing.result()


if __name__ == "__main__":
    main(*sys.argv[1:])
