"""When a link must act, by numbers alone."""

from math import inf

from drivers.link.link_state import LinkLimits, LinkTimers

TIMING = LinkLimits(resend_ms=(50, 100), beat_ms=100, seen_ms=20, silence_ms=500, settle_ms=2000)


def test_nothing_is_due_before_anything_happened() -> None:
    assert LinkTimers(TIMING).next_at() == inf


def test_a_question_is_asked_again_with_longer_waits_and_not_for_ever() -> None:
    due = LinkTimers(TIMING)
    due.start_reply_timer(10.0)
    assert due.next_at() == 10.05
    assert due.restart_reply_timer(10.05)
    assert round(due.next_at(), 9) == 10.15
    assert due.restart_reply_timer(10.15)
    assert round(due.next_at(), 9) == 10.25  # the last wait once more, before giving up
    assert not due.restart_reply_timer(10.25)
    assert due.resends == 2
    due.start_reply_timer(11.0)
    assert (due.resends, due.next_at()) == (0, 11.05)
    due.stop_reply_timer()
    assert due.next_at() == inf


def test_an_event_brings_the_beat_forward_and_never_puts_it_off() -> None:
    due = LinkTimers(TIMING)
    due.note_frame_sent(1.0)
    assert due.beat_at == 1.1
    due.acknowledge_soon(1.01)
    assert due.beat_at == 1.03
    due.acknowledge_soon(1.02)
    assert due.beat_at == 1.03


def test_an_incident_has_one_new_session_until_it_has_proved_sound() -> None:
    due = LinkTimers(TIMING)
    due.note_session_open(0.0)  # the first session ends no incident
    assert due.begin_incident(1.0)
    assert not due.begin_incident(1.1)
    due.note_session_open(1.2)
    assert not due.begin_incident(3.1)
    due.note_session_open(3.15)  # a session that no trouble asked for does not lengthen it
    assert due.begin_incident(3.2)
