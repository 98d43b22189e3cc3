from hypothesis import example, given
from hypothesis import strategies as st

from controller.match.clocks.stopwatch import (
    Stopwatch,
    WatchPause,
    elapsed_ms,
    moment_of_elapsed,
    pause,
    resume,
)

MOMENTS = st.lists(st.integers(0, 2_000), max_size=8, unique=True).map(sorted)


def _watch(starts_ms: int, changes: list[int]) -> Stopwatch:
    watch = Stopwatch(starts_ms)
    for number, at_ms in enumerate(changes):
        watch = resume(watch, at_ms) if number % 2 else pause(watch, at_ms)
    return watch


@given(st.integers(0, 1_000), MOMENTS, st.integers(0, 3_000))
def test_it_has_run_as_many_milliseconds_as_it_was_not_paused(
    starts_ms: int, changes: list[int], at_ms: int
) -> None:
    paused_at = set()
    for number, since in enumerate(changes):
        if number % 2 == 0:
            until = changes[number + 1] if number + 1 < len(changes) else 3_000
            paused_at |= set(range(since, until))
    ran = sum(ms not in paused_at for ms in range(starts_ms, at_ms))
    assert elapsed_ms(_watch(starts_ms, changes), at_ms) == ran


@given(st.integers(0, 1_000), MOMENTS, st.integers(0, 3_000))
@example(0, [10], 10)
@example(0, [11, 20], 10)
@example(5, [0], 0)
@example(5, [0], 1)
def test_a_moment_is_the_first_at_which_it_has_run_so_long(
    starts_ms: int, changes: list[int], run_ms: int
) -> None:
    watch = _watch(starts_ms, changes)
    moment = moment_of_elapsed(watch, run_ms)
    if moment is None:
        assert watch.is_paused
        assert elapsed_ms(watch, 10_000) < run_ms
    else:
        assert elapsed_ms(watch, moment) == run_ms
        assert elapsed_ms(watch, moment - 1) == max(0, run_ms - 1)


def test_a_pause_in_a_pause_changes_nothing() -> None:
    watch = pause(Stopwatch(0), 10)
    assert pause(watch, 20) == watch


def test_it_cannot_go_on_without_a_pause() -> None:
    assert resume(Stopwatch(0), 10) == Stopwatch(0)


def test_a_stamp_from_before_the_last_one_makes_no_time() -> None:
    watch = resume(pause(Stopwatch(0), 10), 5)
    assert watch.pauses == (WatchPause(10, 10),)
    assert pause(watch, 3).pauses[-1] == WatchPause(10)
