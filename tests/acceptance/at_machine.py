"""Simulated machines in process, and somebody who tests them."""

import asyncio
import random
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from inspect import isawaitable
from itertools import count
from typing import Any, TypeVar

import msgspec

from controller.acceptance.board_pair import BoardPair
from controller.acceptance.selftest_figures import SelftestFigures
from controller.acceptance.selftest_run import run_selftest
from controller.acceptance.selftest_session import CardSetSpec, SelftestSession, SimulatedOperator
from controller.rules.profile_files import load_profile
from drivers.board_events import BoardKind
from drivers.board_identity import ExpectedBoard
from sim.hardware_in_process import (
    BOARDS,
    DEALER_ID,
    READER_ID,
    HardwareInProcess,
    own_firmware_hash,
)
from sim.mechanics.fault_menu import SimulatedFault
from sim.mechanics.mechanics_settings import MechanicsSettings
from sim.virtual_loop import VirtualLoop

LOOK_S = 0.3
ROUND = 108
"""One round of the set: enough for a part that is broken."""
_SESSIONS = count(1)
"""Of all benches: two at one board must never have the same."""


def hands(table: HardwareInProcess, broken: tuple[SimulatedFault, ...] = ()) -> SimulatedOperator:
    """Hands at a simulated machine; what is `broken` is so again behind whatever they do."""
    world = table.world
    deeds: dict[str, Callable[..., Any]] = {
        "collect": world.people.collect,
        "take_hands": world.people.take_hands,
        "load": world.people.load,
        "lid": lambda open: world.set_lid(open),
        "estop": lambda pressed: world.set_estop(pressed),
        "fault": lambda **fields: world.add_fault(msgspec.convert(fields, SimulatedFault)),
    }

    async def request(deed: str, **words: Any) -> None:
        done = deeds[deed](**words)
        if isawaitable(done):
            await done
        if deed == "collect":  # it mends what it finds
            for fault in broken:
                world.add_fault(fault)

    return SimulatedOperator(request)


def pins() -> dict[BoardKind, ExpectedBoard]:
    """Who must be at the ports of a simulated table."""
    return {
        "dealer": ExpectedBoard("dealer", DEALER_ID, True, own_firmware_hash().hex()),
        "reader": ExpectedBoard("reader", READER_ID, True, own_firmware_hash().hex()),
    }


def card_set() -> CardSetSpec:
    """The set that lies in a simulated machine."""
    deck = load_profile("international-000").deck
    return CardSetSpec(deck.cards, deck.cards // 4, tuple(deck.composition()), 0)


@contextmanager
def table_of(settings: MechanicsSettings, seed: int = 1) -> Iterator[HardwareInProcess]:
    """Give a simulated table with its boards."""
    table = HardwareInProcess(settings, random.Random(seed), boots=iter(range(1, 99)).__next__)
    try:
        yield table
    finally:
        table.close()


@contextmanager
def bench_at(table: HardwareInProcess, *others: ExpectedBoard) -> Iterator[BoardPair]:
    """Give a bench at a table's ports; it is not open yet. `others` must be there instead."""
    who = pins() | {one.kind: one for one in others}
    bench = BoardPair({board: table.port(board) for board in BOARDS}, who, _SESSIONS.__next__)
    try:
        yield bench
    finally:
        bench.close()


def session_at(
    table: HardwareInProcess, bench: BoardPair, broken: tuple[SimulatedFault, ...] = ()
) -> SelftestSession:
    """Begin a self-test; what is `broken` stays so whatever people do."""
    return SelftestSession(
        bench,
        hands(table, broken),
        SelftestFigures(reader_is_polled=bench.reader.is_polled),
        card_set(),
        LOOK_S,
    )


async def machine_tested(
    settings: MechanicsSettings,
    broken: tuple[SimulatedFault, ...] = (),
    *,
    seed: int = 1,
    cards: int = 500,
) -> SelftestFigures:
    """Test a machine and return what came of it."""
    with table_of(settings, seed) as table, bench_at(table) as bench:
        for fault in broken:
            table.world.add_fault(fault)
        await bench.open()
        of = session_at(table, bench, broken)
        await run_selftest(of, cards)
        return of.figures


T = TypeVar("T")


def in_virtual_time(work: Coroutine[Any, Any, T]) -> T:
    """Do something on a loop whose time is nobody's."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(work)
