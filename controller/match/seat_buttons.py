"""What a press of a seat's green button (确认) means, by what the match waits for.

One short press for each duty at the table; a held one says only that the player is out.
Whether it may be done is the reducer's to say: here a press becomes an event. Cut and
release are pressed at the machine, which answers for them itself.
"""

from collections.abc import Callable

from controller.match.clocks import duty_clocks
from controller.match.match_events import (
    HandCounted,
    LeadMade,
    MatchEvent,
    OutClaimed,
    OutConfirmed,
    PlayMade,
    ResultConfirmed,
    ReturnLaid,
    SeatTaken,
    TributeLaid,
)
from controller.match.match_state import AnyMatch, GuandanMatch
from controller.match.phase import MatchPhase, phase_words
from controller.match.refusals import refuse
from controller.messages import Seat
from controller.seats import side_of

PressMeaning = Callable[[AnyMatch, Seat, int], MatchEvent]


def meaning_of_short_press(match: AnyMatch, seat: Seat, at_ms: int) -> MatchEvent:
    """Return what a short press at `seat` means at `at_ms` (provisional: no seed has buttons).

    Raises RefusedError where it means nothing: WRONG_PHASE, or NOT_HIS_DUTY in play.
    """
    return _meaning(_SHORT_PRESS, match)(match, seat, at_ms)


def meaning_of_long_press(match: AnyMatch, seat: Seat, at_ms: int) -> MatchEvent:
    """Return what a held button at `seat` means at `at_ms`: in play, that he is out.

    Raises RefusedError where it means nothing: WRONG_PHASE, or OTHER_RULES in Big Two, whose
    cards left are counted.
    """
    return _meaning(_LONG_PRESS, match)(match, seat, at_ms)


def _meaning(table: dict[MatchPhase, PressMeaning], match: AnyMatch) -> PressMeaning:
    if match.phase not in table:
        refuse("WRONG_PHASE", phase_words(match.phase), phase_words(*table))
    return table[match.phase]


def _press_in_play(match: AnyMatch, seat: Seat, at_ms: int) -> MatchEvent:
    """Return what a press in play is: a word for an opponent, his own play, or the lead."""
    said = _opponent_claiming_out(match, seat)
    if said is not None:
        return OutConfirmed(at_ms=at_ms, seat=said)
    if any(clock.seat == seat for clock in duty_clocks.clocks_for_duty(match.clocks, "play")):
        return PlayMade(at_ms=at_ms, seat=seat)
    if match.led or seat != match.leader:
        refuse("NOT_HIS_DUTY", seat)
    return LeadMade(at_ms=at_ms)


def _opponent_claiming_out(match: AnyMatch, seat: Seat) -> Seat | None:
    """Return the opponent of `seat` who said first that he is out, and waits for a word."""
    outs = match.outs if isinstance(match, GuandanMatch) else ()
    return next((said for said in outs if side_of(said) != side_of(seat)), None)


def _claim_out(match: AnyMatch, seat: Seat, at_ms: int) -> MatchEvent:
    if not isinstance(match, GuandanMatch):
        refuse("OTHER_RULES", match.profile.title)
    return OutClaimed(at_ms=at_ms, seat=seat)


_SHORT_PRESS: dict[MatchPhase, PressMeaning] = {
    MatchPhase.SETUP: lambda match, seat, at_ms: SeatTaken(at_ms=at_ms, seat=seat),
    MatchPhase.COUNT_CHECK: lambda match, seat, at_ms: HandCounted(at_ms=at_ms, seat=seat),
    MatchPhase.TRIBUTE: lambda match, seat, at_ms: TributeLaid(at_ms=at_ms, seat=seat),
    MatchPhase.RETURN: lambda match, seat, at_ms: ReturnLaid(at_ms=at_ms, seat=seat),
    MatchPhase.PLAY: _press_in_play,
    MatchPhase.RESULT: lambda match, seat, at_ms: ResultConfirmed(at_ms=at_ms, by=side_of(seat)),
}
"""What a short press means. Choices of Big Two need a yes or a no, a named leader a seat."""

_LONG_PRESS: dict[MatchPhase, PressMeaning] = {MatchPhase.PLAY: _claim_out}
