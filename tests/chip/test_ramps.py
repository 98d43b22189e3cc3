"""Trapezoids: every step is counted, and a motor is never asked for more than its gait."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drivers.firmware.speed_ramp import (
    CLOCK_HZ,
    MAX_CYCLES,
    OVERHEAD_CYCLES,
    SpeedProfile,
    duration_ms,
    pack_row,
    trapezoid,
)
from tests.chip import pio
from tests.chip.chip import Chip


def gaits() -> st.SearchStrategy[SpeedProfile]:
    return st.tuples(
        st.integers(50, 20_000),
        st.integers(0, 60_000),
        st.integers(1, 10_000_000),
        st.integers(1, 200_000),
    ).map(lambda row: SpeedProfile(row[0], row[0] + row[1], row[2], row[3]))


@given(gait=gaits(), data=st.data())
def test_a_row_makes_just_the_steps_that_were_asked_for(
    gait: SpeedProfile, data: st.DataObject
) -> None:
    steps = data.draw(st.integers(0, gait.max_steps))
    creep = data.draw(st.integers(0, gait.max_steps - steps))
    row = trapezoid(gait, steps, creep)
    assert sum(count for count, _ in row) == steps + creep
    assert all(0 < count <= 0x10000 for count, _ in row)


@given(gait=gaits(), data=st.data())
def test_no_step_is_faster_than_the_top_or_slower_than_the_start(
    gait: SpeedProfile, data: st.DataObject
) -> None:
    steps = data.draw(st.integers(1, gait.max_steps))
    row = trapezoid(gait, steps)
    fastest, slowest = CLOCK_HZ // gait.top_hz, CLOCK_HZ // gait.start_hz
    assert all(fastest <= cycles <= slowest for _, cycles in row)
    assert all(OVERHEAD_CYCLES <= cycles <= MAX_CYCLES for _, cycles in row)


@given(gait=gaits(), data=st.data())
def test_it_gets_faster_then_slower_and_ends_as_it_began(
    gait: SpeedProfile, data: st.DataObject
) -> None:
    row = trapezoid(gait, data.draw(st.integers(2, gait.max_steps)) if gait.max_steps > 1 else 1)
    cycles = [each for _, each in row]
    top = cycles.index(min(cycles))
    assert cycles[: top + 1] == sorted(cycles[: top + 1], reverse=True)
    assert cycles[top:] == sorted(cycles[top:])
    assert cycles[0] == cycles[-1]


def test_a_ramp_keeps_to_its_acceleration() -> None:
    gait = SpeedProfile(4_000, 30_000, 2_500_000, 1760)
    row = trapezoid(gait, 1600)
    climb = row[:16]
    # v² = v₀² + 2 a s: as many steps as this, and not one fewer.
    assert sum(count for count, _ in climb) == (30_000**2 - 4_000**2) // (2 * 2_500_000)
    passed = 0
    for count, cycles in climb:
        middle = passed + count / 2
        allowed = (4_000**2 + 2 * 2_500_000 * middle) ** 0.5
        assert CLOCK_HZ / cycles <= allowed * 1.04
        passed += count


def test_a_short_move_turns_round_before_the_top() -> None:
    row = trapezoid(SpeedProfile(4_000, 30_000, 2_500_000, 1760), 20)
    assert min(cycles for _, cycles in row) > CLOCK_HZ // 30_000 * 3


@pytest.mark.parametrize(
    ("start", "top", "accel", "most"),
    [
        *((0, 100, 1, 1), (200, 100, 1, 1), (100, 200, 0, 1), (100, 200, 1, 0)),
        *((20, 100, 1, 1), (100, 200_000, 1, 1)),
    ],
)
def test_a_gait_that_no_pio_can_step_is_refused(
    start: int, top: int, accel: int, most: int
) -> None:
    with pytest.raises(ValueError, match=r"PIO|above 0"):
        SpeedProfile(start, top, accel, most)


def test_a_move_beyond_the_mechanics_is_refused() -> None:
    gait = SpeedProfile(1_000, 2_000, 10_000, 100)
    trapezoid(gait, 90, 10)
    with pytest.raises(ValueError, match="way"):
        trapezoid(gait, 91, 10)


@given(gait=gaits().filter(lambda gait: gait.max_steps <= 2_000), data=st.data())
def test_the_pio_makes_the_row_step_by_step(gait: SpeedProfile, data: st.DataObject) -> None:
    row = trapezoid(gait, data.draw(st.integers(0, gait.max_steps)))
    done = pio.run(_PROGRAM, pack_row(row))
    rises = done.rises
    assert len(rises) == sum(count for count, _ in row)
    periods = [after - before for before, after in itertools.pairwise(rises)]
    expected = [cycles for count, cycles in row for _ in range(count)]
    assert all(0 <= made - told <= 2 for made, told in zip(periods, expected, strict=False))
    assert done.cycles <= duration_ms(row) * CLOCK_HZ // 1000


def test_a_step_is_high_long_enough_for_a_driver_to_see_it() -> None:
    (up, high), (down, low) = pio.run(_PROGRAM, pack_row([(1, 100)])).edges
    assert (high, low) == (1, 0)
    assert (down - up) / CLOCK_HZ >= 1.9e-6


def test_a_machine_with_no_words_left_makes_no_step() -> None:
    assert pio.run(_PROGRAM, []).edges == ()


class _Nothing:
    def cancel(self) -> None:
        return


_CHIP = Chip(lambda: 0.0, lambda after, act: _Nothing())
_PROGRAM = _CHIP.loaded["rp2_motors"]._step_program
