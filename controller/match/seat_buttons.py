"""The event that a press of a seat's green button (确认) causes in each phase of the match.

A short press fulfils the present duty of the seat. A long press only reports that the player is
out. This module turns a press into an event, and the reducer decides whether it is allowed. The
machine handles presses for cut and release itself.
"""

from collections.abc import Callable

from controller.match import match_events as events
from controller.match.clocks import duty_clocks
from controller.match.match_state import AnyMatch, GuandanMatch
from controller.match.phase import MatchPhase, phase_words
from controller.match.refusals import refuse
from controller.messages import Seat
from controller.seats import side_of

PressMeaning = Callable[[AnyMatch, Seat, int], events.MatchEvent]


def meaning_of_short_press(match: AnyMatch, seat: Seat, at_ms: int) -> events.MatchEvent:
    """Return the event that a short press of the button at `seat` means.

    `at_ms` is the time of the press. Raises RefusedError if it has no meaning: WRONG_PHASE, or
    NOT_HIS_DUTY in play. Provisional: no seed has buttons.
    """
    if match.phase not in _SHORT_PRESS:
        refuse("WRONG_PHASE", phase_words(match.phase), phase_words(*_SHORT_PRESS))
    return _SHORT_PRESS[match.phase](match, seat, at_ms)


def meaning_of_long_press(match: AnyMatch, seat: Seat, at_ms: int) -> events.MatchEvent:
    """Return the event that a long press of the button at `seat` means: the player is out.

    `at_ms` is the time of the press. Raises RefusedError if it has no meaning: WRONG_PHASE outside
    play, or OTHER_RULES in Big Two, which counts the cards left.
    """
    if match.phase is not MatchPhase.PLAY:
        refuse("WRONG_PHASE", phase_words(match.phase), phase_words(MatchPhase.PLAY))
    if not isinstance(match, GuandanMatch):
        refuse("OTHER_RULES", match.profile.title)
    return events.OutClaimed(at_ms=at_ms, seat=seat)


def _press_in_play(match: AnyMatch, seat: Seat, at_ms: int) -> events.MatchEvent:
    """Return the event that a short press of the button at `seat` means during play.

    It confirms that an opponent is out, or it ends the play clock of the seat, or it reports the
    first lead. Raises RefusedError (NOT_HIS_DUTY) for any other press.
    """
    outs = match.outs if isinstance(match, GuandanMatch) else ()
    said = next((said for said in outs if side_of(said) != side_of(seat)), None)
    if said is not None:  # The first opponent who reported out and is not confirmed yet.
        return events.OutConfirmed(at_ms=at_ms, seat=said)
    if any(clock.seat == seat for clock in duty_clocks.clocks_for_duty(match.clocks, "play")):
        return events.PlayMade(at_ms=at_ms, seat=seat)
    if match.led or seat != match.leader:
        refuse("NOT_HIS_DUTY", seat)
    return events.LeadMade(at_ms=at_ms)


_SHORT_PRESS: dict[MatchPhase, PressMeaning] = {
    MatchPhase.SETUP: lambda match, seat, at_ms: events.SeatTaken(at_ms=at_ms, seat=seat),
    MatchPhase.COUNT_CHECK: lambda match, seat, at_ms: events.HandCounted(at_ms=at_ms, seat=seat),
    MatchPhase.TRIBUTE: lambda match, seat, at_ms: events.TributeLaid(at_ms=at_ms, seat=seat),
    MatchPhase.RETURN: lambda match, seat, at_ms: events.ReturnLaid(at_ms=at_ms, seat=seat),
    MatchPhase.PLAY: _press_in_play,
    MatchPhase.RESULT: lambda match, seat, at_ms: events.ResultConfirmed(
        at_ms=at_ms, by=side_of(seat)
    ),
}
"""The meaning of a short press in each phase.

Other phases need more than a press: choices of Big Two need a yes or a no, and a named leader needs
a seat.
"""
