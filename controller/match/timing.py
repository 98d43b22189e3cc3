"""Time: every event brings the clocks up to its moment; what they say is for people.

Two things happen by the clock alone, and neither is a penalty: the sorting time ends, and
a match whose time is up begins no further deal.
"""

from controller.match.authority import REFEREES
from controller.match.clocks import countdown, match_clock
from controller.match.clocks.due import Due
from controller.match.clocks.duties import play_clock
from controller.match.course import M, Stepped, changed, go_on, no_more_deals
from controller.match.effects import ClockSays, Effects
from controller.match.events import (
    AreaPaused,
    AreaResumed,
    PlayCalled,
    PlayMade,
    Resumed,
    Suspended,
    TimeAdded,
)
from controller.match.exchanging import after_count
from controller.match.phase import BEFORE_RELEASE, Phase
from controller.match.refusals import refuse
from controller.match.state import BigTwoMatch, GuandanMatch, Match
from controller.messages import Role
from controller.rules.bigtwo.choices import elapsed


def caught_up(match: Match, at_ms: int) -> Stepped:
    """Return the match at `at_ms`, with what fell due since it was last asked."""
    clock, announced = match_clock.tick(match.clock, at_ms)
    clocks, dues = countdown.tick_all(match.clocks, at_ms)
    match = changed(match, now_ms=at_ms, clock=clock, clocks=clocks)
    said: Effects = tuple(ClockSays(due) for due in (*announced, *dues))
    match, more = _moved_by_time(match, dues, at_ms)
    return match, (*said, *more)


def _moved_by_time(match: Match, dues: tuple[Due, ...], at_ms: int) -> Stepped:
    if isinstance(match, BigTwoMatch):
        return choices_made(match, at_ms), ()
    assert isinstance(match, GuandanMatch)
    if any(due.kind == "sort_over" for due in dues) and match.phase is Phase.COUNT_CHECK:
        return after_count(match, at_ms)
    if match.suspended is None and _waits_for_deal(match) and no_more_deals(match, at_ms):
        return go_on(match, at_ms)
    return match, ()


def _waits_for_deal(match: GuandanMatch) -> bool:
    """Tell whether a further deal is due and has not begun.

    Drawn by hand, it begins with the first card (seed 003 N4.4); then time does not end it
    but by the letter.
    """
    if match.by_hand and match.phase is Phase.DEALING and not match.clock.stops_deals:
        return False
    return match.phase in BEFORE_RELEASE | {Phase.FORFEIT} and match.standing.deals > 0


def clocks_kept(match: M) -> M:
    """Return the match with clocks of seats that stand while the table or the area does."""
    area = match.clock.watch is not None and match.clock.watch.stands
    stands = match.suspended is not None or area
    clocks = (countdown.pause_all if stands else countdown.resume_all)(match.clocks, match.now_ms)
    if match.suspended is None:
        clock = match_clock.table_goes_on(match.clock, match.now_ms)
    else:
        clock = match_clock.table_stopped(match.clock, match.suspended, match.now_ms)
    return changed(match, clocks=clocks, clock=clock)


def lead_made(match: M) -> M:
    """Return the match with its first lead on the table: the opening is over."""
    clocks, _ = countdown.done(match.clocks, "opening", match.now_ms)
    return changed(match, led=True, clocks=clocks)


def choices_made(match: BigTwoMatch, at_ms: int) -> BigTwoMatch:
    """Return a match of Big Two with its silent choices made; all made, play begins (A6)."""
    if match.phase is not Phase.CHOICES or match.choices is None:
        return match
    choices = elapsed(match.choices, at_ms)
    phase = Phase.PLAY if choices.over() else Phase.CHOICES
    return changed(match, choices=choices, phase=phase)


def suspended(match: Match, event: Suspended) -> Stepped:
    """Stop the table: the clocks of seats stand still, the area's runs on."""
    if match.suspended is not None:
        refuse("SUSPENDED")
    return changed(match, suspended=event.reason), ()


def resumed(match: Match, event: Resumed) -> Stepped:
    """Let the table go on; a claimed count is answered by counts alone."""
    if match.suspended is None:
        refuse("NOT_SUSPENDED")
    if match.claimed is not None:
        refuse("WRONG_COUNTS", "a count was claimed, enter the four counts")
    return changed(match, suspended=None), ()


def area_paused(match: Match, event: AreaPaused) -> Stepped:
    """Stop the clocks of the whole area."""
    return changed(match, clock=match_clock.paused(match.clock, event.at_ms)), ()


def area_resumed(match: Match, event: AreaResumed) -> Stepped:
    """Let the clocks of the area go on; a table that is suspended itself stays so."""
    return changed(match, clock=match_clock.resumed(match.clock, event.at_ms)), ()


def time_added(match: Match, event: TimeAdded) -> Stepped:
    """Give the table more time; above the profile's limit it is the chief's to give."""
    add_ms = event.seconds * 1000
    needs = match_clock.added_time_needs(match.clock, add_ms)
    if event.role not in REFEREES:
        refuse("NOT_A_REFEREE")
    if needs == "chief" and event.role is not Role.CHIEF:
        refuse("MUCH_TIME")
    clock = match_clock.with_added_time(match.clock, add_ms, event.at_ms)
    return changed(match, clock=clock), ()


def play_called(match: GuandanMatch, event: PlayCalled) -> Stepped:
    """Start counting for a player (读秒)."""
    clock = play_clock(
        match.profile, event.seat, event.at_ms, called=True, first_lead=not match.led
    )
    if clock is None:
        refuse("NO_CLOCK")
    others, _ = countdown.done(match.clocks, "play", event.at_ms)
    return changed(match, clocks=(*others, clock)), ()


def play_made(match: GuandanMatch, event: PlayMade) -> Stepped:
    """Stop counting: he has played or passed."""
    clocks, _ = countdown.done(match.clocks, "play", event.at_ms, seat=event.seat)
    return lead_made(changed(match, clocks=clocks)), ()
