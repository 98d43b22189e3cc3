"""The same deal over lines that drop, repeat, delay, cut up and corrupt; every run from a seed.

Whatever happens, no card moves twice, no route is obeyed twice, and every event is
told once, in order, in its own attempt.
"""

import asyncio
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drivers.board_events import BoardEventCode, FeedSource
from drivers.errors import BoardReset, LineLost
from drivers.firmware import protocol
from drivers.link.frames import BeginCommand, FeedCommand

if TYPE_CHECKING:
    from tests.link.bad_line import Rig

    MakeRig = Callable[..., Rig]
    InVirtualTime = Callable[[Coroutine[object, object, None]], None]

CARDS = 24
BAD = ("one byte at a time", "late", "loses a fifth", "repeats", "flips bits", "does everything")


async def deal(rig: "Rig") -> None:
    """Deal every card, whatever the line does."""
    async with asyncio.timeout(600):
        await rig.host.deal(CARDS)


@pytest.mark.parametrize("gluing_ms", [0, 15])
@pytest.mark.parametrize("mischief", ["good", *BAD])
def test_every_card_is_dealt_once_over_a_bad_line(
    make_rig: "MakeRig",
    in_virtual_time: "InVirtualTime",
    scale: Callable[[int], int],
    mischief: str,
    gluing_ms: float,
) -> None:
    async def one(seed: int) -> None:
        rig = make_rig(seed, mischief, gluing_ms)
        await deal(rig)
        rig.check()
        assert rig.board.moved == rig.host.landed == list(range(1, CARDS + 1))
        assert rig.host.events[-1].number == len(rig.board.made[rig.board.boot])
        rig.close()

    for seed in range(scale(1000)):
        in_virtual_time(one(seed))


def test_a_good_line_needs_nothing_said_twice(
    make_rig: "MakeRig", in_virtual_time: "InVirtualTime"
) -> None:
    async def main() -> None:
        rig = make_rig()
        await deal(rig)
        trouble = rig.link.counters.__class__(sessions=1)
        assert rig.link.counters == trouble
        assert asyncio.get_running_loop().time() < CARDS * 0.013
        rig.close()

    in_virtual_time(main())


def test_trouble_is_counted_under_its_name(
    make_rig: "MakeRig", in_virtual_time: "InVirtualTime", scale: Callable[[int], int]
) -> None:
    async def one(mischief: str, counted: set[str]) -> None:
        rig = make_rig(1, mischief)
        await deal(rig)
        counters = rig.link.counters
        assert {name for name in counted if getattr(counters, name) == 0} == set()
        rig.close()

    in_virtual_time(one("loses a fifth", {"resends", "gaps", "duplicates"}))
    in_virtual_time(one("repeats", {"duplicates"}))
    in_virtual_time(one("flips bits", {"crc_errors", "resends"}))


HAPPENINGS = ("host restarts", "another host says hello", "line dead for a second", "port lost")


async def happen(rig: "Rig", what: str) -> None:
    if what == "another host says hello":
        rig.board.session ^= 1
    elif what == "line dead for a second":
        rig.line.to_board.cut = rig.line.to_host.cut = True
        await asyncio.sleep(1)
        rig.line.to_board.cut = rig.line.to_host.cut = False
    elif rig.line.is_open:
        rig.line.lose("unplugged")


@settings(max_examples=60)
@given(
    seed=st.integers(0, 2**32),
    mischief=st.sampled_from(("good", *BAD)),
    happenings=st.lists(st.tuples(st.integers(0, 400), st.sampled_from(HAPPENINGS)), max_size=4),
)
def test_every_card_is_dealt_once_whatever_happens_between(
    make_rig: "MakeRig",
    in_virtual_time: "InVirtualTime",
    seed: int,
    mischief: str,
    happenings: list[tuple[int, str]],
) -> None:
    async def main() -> None:
        rig = make_rig(seed, mischief)
        dealing = asyncio.ensure_future(deal(rig))
        for after_ms, what in happenings:
            await asyncio.sleep(after_ms / 1000)
            if what == "host restarts":
                dealing.cancel()
                await asyncio.gather(dealing, return_exceptions=True)
                rig.host.restart()
                dealing = asyncio.ensure_future(deal(rig))
            else:
                await happen(rig, what)
        await dealing
        rig.check()
        assert rig.board.moved == rig.host.landed == list(range(1, CARDS + 1))
        rig.close()

    in_virtual_time(main())


@settings(max_examples=60)
@given(
    seed=st.integers(0, 2**32),
    mischief=st.sampled_from(("good", *BAD)),
    after_ms=st.integers(0, 300),
)
def test_a_board_that_restarts_at_any_moment_voids_the_attempt_and_doubles_nothing(
    make_rig: "MakeRig", in_virtual_time: "InVirtualTime", seed: int, mischief: str, after_ms: int
) -> None:
    async def main() -> None:
        rig = make_rig(seed, mischief)
        await rig.host.connect()
        dealing = asyncio.ensure_future(deal(rig))
        await asyncio.sleep(after_ms / 1000)
        rig.board.reset()
        await dealing
        assert rig.host.void or len(rig.host.landed) == CARDS
        rig.check()
        rig.close()

    in_virtual_time(main())


@settings(max_examples=30)
@given(mischief=st.sampled_from(BAD), seed=st.integers(0, 2**32))
def test_a_command_whose_acknowledgement_died_with_the_host_is_done_once(
    make_rig: "MakeRig", in_virtual_time: "InVirtualTime", mischief: str, seed: int
) -> None:
    async def say(rig: "Rig") -> None:
        """Say BEGIN and FEED until they are acknowledged, opening the link when it is lost."""
        while True:
            try:
                await rig.host.connect()
                await rig.link.request(BeginCommand(7, 4, 1))
                await rig.link.request(FeedCommand(7, FeedSource.HOPPER, 4))
            except LineLost:
                continue
            return

    async def main() -> None:
        rig = make_rig(seed, mischief)
        rig.host.route = lambda index: None  # type: ignore[method-assign]
        await rig.host.connect()
        rig.board.answers = False
        unanswered = asyncio.ensure_future(say(rig))
        await asyncio.sleep(0.2)
        unanswered.cancel()
        await asyncio.gather(unanswered, return_exceptions=True)
        rig.host.restart()
        rig.board.answers = True
        await say(rig)
        await asyncio.sleep(5)
        assert rig.board.moved == [1]
        assert [event.code for event in rig.host.events] == [BoardEventCode.AT_READER]
        rig.check()
        rig.close()

    in_virtual_time(main())


@settings(max_examples=30)
@given(mischief=st.sampled_from(("good", *BAD)), seed=st.integers(0, 2**32))
def test_late_events_of_the_attempt_before_stay_in_it(
    make_rig: "MakeRig", in_virtual_time: "InVirtualTime", mischief: str, seed: int
) -> None:
    async def main() -> None:
        rig = make_rig(seed, mischief)
        late = 20
        for index in range(late):
            rig.board.emit(protocol.LANDED, index=index + 1, attempt=6)
        await deal(rig)
        attempts = [event.attempt for event in rig.host.events]
        assert attempts[:late] == [6] * late
        assert attempts.count(6) == late
        rig.check()
        rig.close()

    in_virtual_time(main())


def test_a_reset_is_told_with_both_boot_ids(
    make_rig: "MakeRig", in_virtual_time: "InVirtualTime"
) -> None:
    async def main() -> None:
        rig = make_rig(5, "does everything")
        await rig.host.connect()
        before = rig.board.boot
        rig.board.reset()
        while not rig.host.downs:
            await rig.host.wake.wait()
            rig.host.wake.clear()
        [error] = rig.host.downs
        assert isinstance(error, BoardReset)
        assert (error.expected, error.found) == (before, rig.board.boot)
        rig.close()

    in_virtual_time(main())
