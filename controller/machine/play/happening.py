"""Something happened in the match: what that changes at its table."""

from controller.machine.play.values import TableMatch, with_changes
from controller.machine.waited import WaitingTimes
from controller.match import events
from controller.match.course import StepResult
from controller.match.effects import MatchEffect
from controller.match.events import MatchEvent
from controller.match.needs import call_of_effect, is_call_open
from controller.match.phase import BEFORE_RELEASE, DEAL_UNDER_WAY, MatchPhase
from controller.match.reducer import step
from controller.match.state import AnyMatch
from controller.messages import RefereeCall


def apply_event(play: TableMatch, event: MatchEvent, time: str = "") -> TableMatch:
    """Return the match at the table after an event; a refused one changes nothing.

    `time` is the wall's, for those who are called by it.
    """
    assert play.match is not None  # nothing happens without one
    match, effects = step(play.match, event)
    same = match.deal == play.match.deal
    out = match.phase not in BEFORE_RELEASE and not match.by_hand and same
    moved = match.phase is not play.match.phase or not same
    again = _redeal_reason(play.match, match, event)
    after = with_changes(
        play,
        match=match,
        attempt=play.attempt if out else None,
        due_ms=play.due_ms if same and not again else match.now_ms,
        phase_since_ms=match.now_ms if moved else play.phase_since_ms,
        last_event_ms=play.last_event_ms if isinstance(event, events.TimePassed) else match.now_ms,
        redeal_reason=again or (play.redeal_reason if same else None),
        waiting_times=_waiting_times(play, match, event),
        match_calls=_match_calls(play, match, effects, time),
        events=(*play.events, event),
    )
    return apply_ahead(after, time)


def dry_run(play: TableMatch, event: MatchEvent) -> StepResult:
    """Return what an event would lead to; its refusal is among the effects."""
    assert play.match is not None  # nothing happens without one
    return step(play.match, event)


def apply_ahead(play: TableMatch, time: str) -> TableMatch:
    """Return a match whose deal is due with what was dealt ahead for it."""
    ahead, match = play.ahead, play.match
    assert match is not None  # `happened` asks
    due = ahead is not None and match.deal == ahead.deal and match.phase is MatchPhase.CUT
    if ahead is None or not due or match.suspended is not None:
        return play
    play = with_changes(play, ahead=None)
    for event in (ahead.cut, ahead.dealt):
        if event is not None:
            play = apply_event(play, event, time)
    return play


def _match_calls(
    play: TableMatch, match: AnyMatch, effects: tuple[MatchEffect, ...], time: str
) -> tuple[RefereeCall, ...]:
    """Return whom the match waits for: what is still open, and what an event added."""
    called = (why for effect in effects if (why := call_of_effect(effect)) is not None)
    new = (RefereeCall(seat=seat, reason=reason, since=time) for reason, seat in called)
    found: dict[tuple[str, str | None], RefereeCall] = {}
    for call in (*play.match_calls, *new):
        if is_call_open(match, call.reason, call.seat):
            found.setdefault((call.reason, call.seat), call)
    return tuple(found.values())


def _redeal_reason(before: AnyMatch, after: AnyMatch, event: MatchEvent) -> str | None:
    """Return the fault for which hands that were out are dealt again by this event."""
    if before.phase not in DEAL_UNDER_WAY or after.phase not in BEFORE_RELEASE:
        return None
    if before.deal != after.deal:
        return None
    return "COUNT_WRONG" if isinstance(event, events.HandsRecounted) else "ORDERED"


def _waiting_times(play: TableMatch, after: AnyMatch, event: MatchEvent) -> WaitingTimes | None:
    """Return how long this deal's hands took, once they are ordered out; None before that."""
    if after.phase in _UNREADY_PHASES:
        return None
    ordered = isinstance(event, events.ReleaseOrdered) and after.let_go
    if not ordered or play.match is None or play.match.let_go:
        return play.waiting_times
    return WaitingTimes(
        due_to_ready_ms=play.phase_since_ms - play.due_ms,
        ready_to_button_ms=after.now_ms - play.phase_since_ms,
    )


_UNREADY_PHASES = BEFORE_RELEASE - {MatchPhase.HELD}
