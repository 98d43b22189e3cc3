"""What was recorded over any line, played to the drivers again, is the same events and answers."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from drivers.board_events import FeedSource
from drivers.link.frames import FeedCommand
from drivers.link.link_state import LinkCounters
from drivers.link.recording import MemoryRecording, RecordingPort
from tests.link.replay import ReplayResult, replay

if TYPE_CHECKING:
    from tests.link.bad_line import Line, Rig

    MakeRig = Callable[..., Rig]
    InVirtualTime = Callable[[Coroutine[object, object, None]], None]

ATTEMPT = 7
CARDS = 16
BAD = ("one byte at a time", "late", "loses a fifth", "repeats", "flips bits", "does everything")
HAPPENINGS = (
    "host restarts", "another host says hello", "line dead", "port lost", "board restarts", "stop",
)  # fmt: skip


class RecordedLine(RecordingPort):
    """A line whose host's end is recorded; the rest of it stays the line's."""

    def __init__(self, line: "Line", tape: MemoryRecording) -> None:
        super().__init__(line, "dealer", tape.add_chunk)
        self._line = line

    @property
    def is_open(self) -> bool:
        """Tell whether a host has it open."""
        return self._line.is_open


def record(rig: "Rig") -> MemoryRecording:
    """Put the host of a rig behind a recording."""
    tape = MemoryRecording(asyncio.get_running_loop().time)
    rig.host.line = RecordedLine(rig.line, tape)  # type: ignore[assignment]
    rig.host.restart()
    return tape


async def happen(rig: "Rig", what: str) -> None:
    if what == "another host says hello":
        rig.board.session ^= 1
    elif what == "line dead":
        rig.line.to_board.cut = rig.line.to_host.cut = True
        await asyncio.sleep(0.8)
        rig.line.to_board.cut = rig.line.to_host.cut = False
    elif what == "board restarts":
        rig.board.reset()
    elif what == "stop":
        rig.link.stop()
        rig.link.send(FeedCommand(ATTEMPT, FeedSource.HOPPER, CARDS))
    elif rig.line.is_open:
        rig.line.lose("unplugged")


async def deal(rig: "Rig") -> None:
    async with asyncio.timeout(600):
        await rig.host.deal(CARDS)


def same(rig: "Rig", again: ReplayResult, counters: LinkCounters | None) -> None:
    """Assert that the drivers made of a recording what its host did."""
    assert again.findings == ()
    assert list(again.events) == rig.host.events
    if counters is not None:
        assert again.counters == counters


@settings(max_examples=60)
@given(
    seed=st.integers(0, 2**32),
    mischief=st.sampled_from(("good", *BAD)),
    gluing_ms=st.sampled_from((0, 15)),
    happenings=st.lists(st.tuples(st.integers(0, 400), st.sampled_from(HAPPENINGS)), max_size=4),
)
def test_what_was_recorded_gives_the_same_events_when_it_is_played_again(
    make_rig: "MakeRig",
    in_virtual_time: "InVirtualTime",
    seed: int,
    mischief: str,
    gluing_ms: float,
    happenings: list[tuple[int, str]],
) -> None:
    async def main() -> None:
        rig = make_rig(seed, mischief, gluing_ms)
        tape = record(rig)
        await rig.host.connect()
        dealing = asyncio.ensure_future(deal(rig))
        one_host = True
        for after_ms, what in happenings:
            await asyncio.sleep(after_ms / 1000)
            if what == "host restarts":
                one_host = False
                dealing.cancel()
                await asyncio.gather(dealing, return_exceptions=True)
                rig.host.restart()
                dealing = asyncio.ensure_future(deal(rig))
            else:
                await happen(rig, what)
            if what == "board restarts":  # such a deal may never end
                await asyncio.sleep(3)
                dealing.cancel()
                break
        await asyncio.gather(dealing, return_exceptions=True)
        counters = rig.link.counters if one_host else None
        rig.close()
        again = await replay(tape.chunks, "dealer")
        if counters is not None:  # between two limits a resend more or less is a matter of time
            counters = msgspec.structs.replace(counters, resends=again.counters.resends)
        same(rig, again, counters)

    in_virtual_time(main())


def test_replay_of_many_bad_lines(
    make_rig: "MakeRig", in_virtual_time: "InVirtualTime", scale: Callable[[int], int]
) -> None:
    async def one(seed: int) -> None:
        rig = make_rig(seed, BAD[seed % len(BAD)])
        tape = record(rig)
        await deal(rig)
        counters = rig.link.counters
        rig.close()
        same(rig, await replay(tape.chunks, "dealer"), counters)

    for seed in range(scale(1000)):
        in_virtual_time(one(seed))
