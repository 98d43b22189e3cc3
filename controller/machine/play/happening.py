"""Something happened in the match: what that changes at its table."""

from controller.machine.play.values import Play, changed
from controller.machine.waited import WaitingTimes
from controller.match import events
from controller.match.course import Stepped
from controller.match.effects import MatchEffect
from controller.match.events import MatchEvent
from controller.match.needs import asked, is_call_open
from controller.match.phase import AT_THE_TABLE, BEFORE_RELEASE, Phase
from controller.match.reducer import step
from controller.match.state import Match
from controller.messages import Call


def happened(play: Play, event: MatchEvent, time: str = "") -> Play:
    """Return the match at the table after an event; a refused one changes nothing.

    `time` is the wall's, for those who are called by it.
    """
    assert play.match is not None  # nothing happens without one
    match, effects = step(play.match, event)
    same = match.deal == play.match.deal
    out = match.phase not in BEFORE_RELEASE and not match.by_hand and same
    moved = match.phase is not play.match.phase or not same
    again = _redeal_reason(play.match, match, event)
    after = changed(
        play,
        match=match,
        attempt=play.attempt if out else None,
        due_ms=play.due_ms if same and not again else match.now_ms,
        since_ms=match.now_ms if moved else play.since_ms,
        last_event_ms=play.last_event_ms if isinstance(event, events.TimePassed) else match.now_ms,
        again=again or (play.again if same else None),
        waited=_waiting_times(play, match, event),
        needs=_match_calls(play, match, effects, time),
        log=(*play.log, event),
    )
    return caught_up(after, time)


def tried(play: Play, event: MatchEvent) -> Stepped:
    """Return what an event would lead to; its refusal is among the effects."""
    assert play.match is not None  # nothing happens without one
    return step(play.match, event)


def caught_up(play: Play, time: str) -> Play:
    """Return a match whose deal is due with what was dealt ahead for it."""
    ahead, match = play.ahead, play.match
    assert match is not None  # `happened` asks
    due = ahead is not None and match.deal == ahead.deal and match.phase is Phase.CUT
    if ahead is None or not due or match.suspended is not None:
        return play
    play = changed(play, ahead=None)
    for event in (ahead.cut, ahead.dealt):
        if event is not None:
            play = happened(play, event, time)
    return play


def _match_calls(
    play: Play, match: Match, effects: tuple[MatchEffect, ...], time: str
) -> tuple[Call, ...]:
    """Return whom the match waits for: what is still open, and what an event added."""
    called = (why for effect in effects if (why := asked(effect)) is not None)
    new = (Call(seat=seat, reason=reason, since=time) for reason, seat in called)
    found: dict[tuple[str, str | None], Call] = {}
    for call in (*play.needs, *new):
        if is_call_open(match, call.reason, call.seat):
            found.setdefault((call.reason, call.seat), call)
    return tuple(found.values())


def _redeal_reason(before: Match, after: Match, event: MatchEvent) -> str | None:
    """Return the fault for which hands that were out are dealt again by this event."""
    if before.phase not in AT_THE_TABLE or after.phase not in BEFORE_RELEASE:
        return None
    if before.deal != after.deal:
        return None
    return "COUNT_WRONG" if isinstance(event, events.HandsRecounted) else "ORDERED"


def _waiting_times(play: Play, after: Match, event: MatchEvent) -> WaitingTimes | None:
    """Return how long this deal's hands took, once they are ordered out; None before that."""
    if after.phase in _UNREADY_PHASES:
        return None
    ordered = isinstance(event, events.ReleaseOrdered) and after.let_go
    if not ordered or play.match is None or play.match.let_go:
        return play.waited
    return WaitingTimes(
        due_to_ready_ms=play.since_ms - play.due_ms,
        ready_to_button_ms=after.now_ms - play.since_ms,
    )


_UNREADY_PHASES = BEFORE_RELEASE - {Phase.HELD}
