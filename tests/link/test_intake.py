"""Events: each once, in order, however often and in whatever order their frames come."""

from hypothesis import given
from hypothesis import strategies as st

from drivers.link import link_state
from drivers.link.link_state import EventArrival, EventSequence


@given(st.integers(0, 20), st.lists(st.integers(1, 40)))
def test_whatever_comes_the_numbers_taken_run_on_without_a_gap(
    seen: int, numbers: list[int]
) -> None:
    state = EventSequence(1, seen)
    taken = []
    for number in numbers:
        state, what = link_state.receive_event(state, number)
        if what is EventArrival.NEW:
            taken.append(number)
        assert (what is EventArrival.DUPLICATE) == (
            number <= state.seen and what is not EventArrival.NEW
        )
    assert taken == list(range(seen + 1, state.seen + 1))


def test_a_gap_waits_for_what_is_missing() -> None:
    state = EventSequence(1, seen=4)
    assert link_state.receive_event(state, 6) == (state, EventArrival.GAP)
    assert link_state.receive_event(state, 4) == (state, EventArrival.DUPLICATE)
    state, what = link_state.receive_event(state, 5)
    assert what is EventArrival.NEW
    assert link_state.receive_event(state, 6)[1] is EventArrival.NEW


def test_kept_never_goes_back_and_never_past_what_was_taken() -> None:
    state = EventSequence(1, seen=9, kept=4)
    assert link_state.mark_kept(state, 7).kept == 7
    assert link_state.mark_kept(state, 3).kept == 4
    assert link_state.mark_kept(state, 12).kept == 9


def test_a_boot_is_taken_up_where_the_journal_left_it() -> None:
    assert link_state.resume_sequence(boot=1, seen=40, kept=30, forgotten=20) == (
        EventSequence(1, 40, 30),
        0,
    )
    assert link_state.resume_sequence(boot=1, seen=40, kept=60, forgotten=20) == (
        EventSequence(1, 40, 40),
        0,
    )


def test_a_boot_the_journal_does_not_know_begins_behind_what_its_board_forgot() -> None:
    assert link_state.resume_sequence(boot=1, seen=None, kept=0, forgotten=0) == (
        EventSequence(1, 0, 0),
        0,
    )
    assert link_state.resume_sequence(boot=1, seen=None, kept=0, forgotten=25) == (
        EventSequence(1, 25, 25),
        0,
    )


def test_events_forgotten_before_they_were_taken_are_lost_and_said_to_be() -> None:
    assert link_state.resume_sequence(boot=1, seen=20, kept=20, forgotten=25) == (
        EventSequence(1, 25, 25),
        5,
    )
