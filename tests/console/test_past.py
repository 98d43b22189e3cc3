"""What is missing of a table's past is known to be missing, whatever got lost on the way."""

import random
from collections.abc import Sequence

import zmq
from hypothesis import given
from hypothesis import strategies as st

from controller.client.connection import (
    MonitoredConnection,
    TableConnectionState,
    needs_retry,
    next_state,
)
from controller.console.feed import journal_positions as of
from controller.console.feed.journal_positions import JOURNAL_START, Completeness
from controller.console.freshness import (
    ContactTimes,
    stamp_to_epoch_ms,
    with_line_state,
    with_state,
)
from controller.console.store.archive import JournalMark
from controller.messages import PublicEvent
from tests.console.journal import Journal
from tests.console.states import state


def heard(past: Completeness, events: Sequence[PublicEvent]) -> Completeness:
    for event in events:
        past = of.with_event(past, event)
    return past


def test_events_that_follow_each_other_are_complete_without_a_question() -> None:
    journal = Journal()
    events = [journal.happens() for _ in range(5)]
    past = heard(
        of.with_fill_finished(of.with_fill_begun(Completeness()), JOURNAL_START, ""), events
    )
    assert past.mark == JournalMark(5, events[-1].head)
    assert not past.may_be_incomplete


def test_a_private_entry_between_is_a_doubt_that_the_table_settles() -> None:
    journal = Journal()
    first = journal.happens()
    journal.private()
    second = journal.happens()
    past = heard(
        of.with_fill_finished(of.with_fill_begun(Completeness()), JOURNAL_START, ""),
        [first, second],
    )
    assert past.may_be_incomplete
    assert past.mark.n == first.n
    past = of.with_fill_begun(past)
    page = journal.events(of.fill_start(past.mark))
    assert of.is_continued_by(past.mark, page)
    past = of.with_fill_finished(past, JournalMark(page[-1].n, page[-1].head), journal.head)
    assert past.mark == JournalMark(second.n, second.head)
    assert not past.may_be_incomplete


def test_what_comes_while_the_table_is_asked_is_a_doubt_again_unless_the_answer_has_it() -> None:
    journal = Journal()
    journal.private()
    first = journal.happens()
    journal.private()
    third = journal.happens()
    asked = of.with_fill_begun(Completeness())
    behind = of.with_fill_finished(heard(asked, [third]), JournalMark(first.n, first.head), "")
    assert behind.may_be_incomplete
    assert not of.with_fill_finished(
        heard(asked, [third]), JournalMark(third.n, third.head), ""
    ).may_be_incomplete


def test_another_past_shows_at_the_entry_that_was_kept_last() -> None:
    one, other = Journal(), Journal(past="another")
    kept = [one.happens() for _ in range(3)][-1]
    mark = JournalMark(kept.n, kept.head)
    assert of.is_continued_by(mark, one.events(of.fill_start(mark)))
    assert not of.is_continued_by(mark, other.events(of.fill_start(mark)))
    for _ in range(9):
        other.happens()
    assert not of.is_continued_by(mark, other.events(of.fill_start(mark)))


def test_a_head_that_is_no_events_may_hide_something_until_the_table_has_said_all() -> None:
    journal = Journal()
    event = journal.happens()
    past = of.with_fill_finished(
        of.with_fill_begun(Completeness()), JournalMark(event.n, event.head), ""
    )
    assert not of.may_have_more_events(past, event.head)
    journal.private()
    assert of.may_have_more_events(past, journal.head)
    assert not of.may_have_more_events(
        of.with_fill_finished(of.with_fill_begun(past), past.mark, journal.head), journal.head
    )


@given(entries=st.lists(st.sampled_from("ppphlw"), max_size=60), seed=st.integers(0, 1 << 16))
def test_a_mark_never_lies_behind_a_hole_whatever_is_lost(entries: list[str], seed: int) -> None:
    """p: a public entry that is heard, h: a private one, l: a public one that gets lost, w: the
    table is asked, and one entry is written while it answers."""
    journal, past, have = Journal(), Completeness(), set[int]()
    chance = random.Random(seed)
    for step in entries:
        if step == "h":
            journal.private()
            continue
        if step in "pl":
            event = journal.happens()
            if step == "p":
                past = of.with_event(past, event)
                have.add(event.n)
        else:
            past = of.with_fill_begun(past)
            page = journal.events(of.fill_start(past.mark), most=1_000)
            mark = past.mark if not page else JournalMark(page[-1].n, page[-1].head)
            have |= {one.n for one in page}
            late = journal.happens()
            if chance.random() < 0.5:
                past = of.with_event(past, late)
                have.add(late.n)
            past = of.with_fill_finished(past, mark, "")
        assert all(one.n in have for one in journal.public if one.n <= past.mark.n)
        if not past.may_be_incomplete and past.mark.n:
            missing = [one.n for one in journal.public if one.n not in have]
            assert all(n > max(have) for n in missing)  # only what nothing heard comes behind


def test_a_refused_key_is_tried_again_and_other_ends_are_not() -> None:
    open_ = next_state(MonitoredConnection(), zmq.Event.HANDSHAKE_SUCCEEDED)
    assert open_.state is TableConnectionState.OPEN
    assert next_state(open_, zmq.Event.DISCONNECTED).state is TableConnectionState.DOWN
    refused = next_state(MonitoredConnection(), zmq.Event.HANDSHAKE_FAILED_AUTH)
    assert refused.state is TableConnectionState.KEY_REFUSED
    assert next_state(refused, zmq.Event.DISCONNECTED).state is TableConnectionState.KEY_REFUSED
    assert needs_retry(zmq.Event.HANDSHAKE_FAILED_AUTH)
    assert not needs_retry(zmq.Event.DISCONNECTED)
    once = next_state(MonitoredConnection(), zmq.Event.HANDSHAKE_FAILED_NO_DETAIL)
    assert once.state is TableConnectionState.CONNECTING
    assert (
        next_state(once, zmq.Event.HANDSHAKE_FAILED_NO_DETAIL).state
        is TableConnectionState.OTHER_KEY
    )


def test_the_same_number_of_the_same_run_is_no_news() -> None:
    first = state(seq=4)
    once = with_state(ContactTimes(), None, first, 1_000)
    again = with_state(once, first, state(seq=4), 2_000)
    assert (again.received_ms, again.changed_ms) == (2_000, 1_000)
    assert with_state(again, first, state(seq=4, boot="other"), 3_000).changed_ms == 3_000
    assert with_line_state(again, TableConnectionState.DOWN, 4_000).link_since_ms == 4_000


def test_how_far_a_tables_clock_is_off_is_told_by_its_news_and_stays_the_same() -> None:
    said = state(seq=1, time="2027-01-01T00:00:00.000+00:00")
    at_ms = stamp_to_epoch_ms(said.time)
    heard = with_state(ContactTimes(), None, said, at_ms + 900)
    assert heard.skew_ms == 0
    heard = with_state(ContactTimes(), None, said, at_ms + 3_600_400)
    assert heard.skew_ms == 3_600_000
    # the same state again, later: nothing new is known of its clock
    assert with_state(heard, said, said, at_ms + 3_700_000).skew_ms == 3_600_000
    later = state(seq=2, time="2027-01-01T00:00:01.000+00:00")
    assert with_state(heard, said, later, at_ms + 3_602_600).skew_ms == 3_600_000
    assert with_state(heard, said, later, at_ms + 1_100).skew_ms == 0  # somebody has set it
