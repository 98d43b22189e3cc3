"""What a press of a seat's green button (确认) means, by what the match waits for.

One short press for each duty at the table; a held one says only that the player is out.
Whether it may be done is the reducer's to say: here a press becomes an event. Cut and
release are pressed at the machine, which answers for them itself.
"""

from collections.abc import Callable

from controller.match.clocks import countdown
from controller.match.events import (
    Counted,
    LeadMade,
    MatchEvent,
    Out,
    OutClaimed,
    PlayMade,
    ResultConfirmed,
    ReturnLaid,
    SeatTaken,
    TributeLaid,
)
from controller.match.phase import Phase, called
from controller.match.refusals import refuse
from controller.match.state import GuandanMatch, Match
from controller.messages import Seat
from controller.rules.seats import side

Meaning = Callable[[Match, Seat, int], MatchEvent]


def pressed(match: Match, seat: Seat, at_ms: int) -> MatchEvent:
    """Return what a short press at `seat` means at `at_ms` (provisional: no seed has buttons).

    Raises RefusedError where it means nothing: WRONG_PHASE, or NOT_HIS_DUTY in play.
    """
    return _meaning(_SHORT_PRESS, match)(match, seat, at_ms)


def held(match: Match, seat: Seat, at_ms: int) -> MatchEvent:
    """Return what a held button at `seat` means at `at_ms`: in play, that he is out.

    Raises RefusedError where it means nothing: WRONG_PHASE, or OTHER_RULES in Big Two, whose
    cards left are counted.
    """
    return _meaning(_LONG_PRESS, match)(match, seat, at_ms)


def _meaning(table: dict[Phase, Meaning], match: Match) -> Meaning:
    if match.phase not in table:
        refuse("WRONG_PHASE", called(match.phase), called(*table))
    return table[match.phase]


def _press_in_play(match: Match, seat: Seat, at_ms: int) -> MatchEvent:
    """Return what a press in play is: a word for an opponent, his own play, or the lead."""
    said = _opponent_claiming_out(match, seat)
    if said is not None:
        return Out(at_ms=at_ms, seat=said)
    if any(clock.seat == seat for clock in countdown.running(match.clocks, "play")):
        return PlayMade(at_ms=at_ms, seat=seat)
    if match.led or seat != match.leader:
        refuse("NOT_HIS_DUTY", seat)
    return LeadMade(at_ms=at_ms)


def _opponent_claiming_out(match: Match, seat: Seat) -> Seat | None:
    """Return the opponent of `seat` who said first that he is out, and waits for a word."""
    outs = match.outs if isinstance(match, GuandanMatch) else ()
    return next((said for said in outs if side(said) != side(seat)), None)


def _claim_out(match: Match, seat: Seat, at_ms: int) -> MatchEvent:
    if not isinstance(match, GuandanMatch):
        refuse("OTHER_RULES", match.profile.title)
    return OutClaimed(at_ms=at_ms, seat=seat)


_SHORT_PRESS: dict[Phase, Meaning] = {
    Phase.SETUP: lambda match, seat, at_ms: SeatTaken(at_ms=at_ms, seat=seat),
    Phase.COUNT_CHECK: lambda match, seat, at_ms: Counted(at_ms=at_ms, seat=seat),
    Phase.TRIBUTE: lambda match, seat, at_ms: TributeLaid(at_ms=at_ms, seat=seat),
    Phase.RETURN: lambda match, seat, at_ms: ReturnLaid(at_ms=at_ms, seat=seat),
    Phase.PLAY: _press_in_play,
    Phase.RESULT: lambda match, seat, at_ms: ResultConfirmed(at_ms=at_ms, by=side(seat)),
}
"""What a short press means. Choices of Big Two need a yes or a no, a named leader a seat."""

_LONG_PRESS: dict[Phase, Meaning] = {Phase.PLAY: _claim_out}
