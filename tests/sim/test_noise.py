"""A bad cable: what it does to a write, and on which way."""

import random
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.mechanics.fault_effects import BYTE_FAULTS
from sim.mechanics.fault_menu import SimulatedFault
from sim.mechanics.fault_schedule import FaultSchedule
from sim.serial_lines import DelayedPieces, LineNoise

DATA = b"a frame\x00"
Spoil = Callable[..., DelayedPieces]


def _noise(*faults: SimulatedFault, seed: int = 1) -> tuple[LineNoise, FaultSchedule]:
    book = FaultSchedule(random.Random(seed))
    for fault in faults:
        book.add(fault)
    return LineNoise(book, random.Random(seed)), book


def test_a_line_without_faults_carries_what_is_written() -> None:
    noise, _ = _noise(SimulatedFault("jam"))
    assert noise.distort("dealer", "to_host", DATA) == [(0.0, DATA)]


@pytest.mark.parametrize(
    ("fault", "pieces"),
    [
        (SimulatedFault("bytes_dropped"), []),
        (SimulatedFault("bytes_repeated"), [(0.0, DATA), (0.0, DATA)]),
        (SimulatedFault("bytes_delayed", ms=70), [(70.0, DATA)]),
    ],
)
def test_each_fault_strikes_one_write(fault: SimulatedFault, pieces: DelayedPieces) -> None:
    noise, book = _noise(fault)
    assert noise.distort("dealer", "to_host", DATA) == pieces
    assert noise.distort("dealer", "to_host", DATA) == [(0.0, DATA)]
    assert [struck.fault for struck in book.past_strikes] == [fault]


@given(st.binary(min_size=1), st.integers(0, 1000))
def test_a_corrupted_write_has_one_bit_turned_over(data: bytes, seed: int) -> None:
    noise, _ = _noise(SimulatedFault("bytes_corrupted"), seed=seed)
    ((after_ms, turned),) = noise.distort("dealer", "to_host", data)
    bits = [(a ^ b).bit_count() for a, b in zip(data, turned, strict=True)]
    assert (after_ms, sum(bits)) == (0.0, 1)


@pytest.mark.parametrize("name", sorted(BYTE_FAULTS))
def test_noise_strikes_only_its_own_board_and_way(name: str) -> None:
    noise, book = _noise(SimulatedFault(name, board="reader", way="to_board"))
    for board, way in (("dealer", "to_board"), ("dealer", "to_host"), ("reader", "to_host")):
        assert noise.distort(board, way, DATA) == [(0.0, DATA)]
    assert noise.distort("reader", "to_board", DATA) != [(0.0, DATA)]
    assert len(book.past_strikes) == 1


def test_two_kinds_of_noise_may_meet_in_one_write() -> None:
    noise, _ = _noise(SimulatedFault("bytes_delayed", ms=5), SimulatedFault("bytes_repeated"))
    assert noise.distort("dealer", "to_host", DATA) == [(5.0, DATA), (5.0, DATA)]


def test_noise_of_a_seed_is_the_same_again() -> None:
    def pieces() -> list[DelayedPieces]:
        noise, _ = _noise(*(SimulatedFault(name, rate=0.2) for name in sorted(BYTE_FAULTS)), seed=7)
        return [noise.distort("dealer", "to_host", DATA) for _ in range(50)]

    assert pieces() == pieces()
    assert [(0.0, DATA)] in pieces()
    assert [] in pieces()
