"""Clocks and stops of a match, and the changes that time alone causes in a match.

Before each event, clocks advance.

The reports of the clocks are for people. Three things happen by time alone, and none is a penalty.
The sorting time ends. A match without time left begins no further deal. In Big Two, silence answers
a choice.
"""

from msgspec.structs import replace

from controller.match import match_events as events
from controller.match.big_two_choices import answer_for_silent, extend_deadline
from controller.match.clocks import duty_clocks, match_clock
from controller.match.clocks.duty_clocks import play_clock
from controller.match.clocks.stopwatch import ClockReport
from controller.match.match_effects import AddedTimeDue, ClockReported, Effects, RefereeCalled
from controller.match.match_state import AnyMatch, BigTwoMatch, GuandanMatch
from controller.match.next_deal import (
    MatchT,
    StepResult,
    continue_match,
    is_added_time_open,
    is_time_up_for_deals,
    match_outcome,
    open_new_version,
)
from controller.match.phase import BEFORE_RELEASE, ENDED_PHASES, MatchPhase, phase_words
from controller.match.refusals import refuse
from controller.match.rulings import REFEREE_ROLES
from controller.match.tribute_exchange import continue_after_count
from controller.messages import Role
from controller.seats import signer_list_words
from controller.words import Words


def advance_time(match: AnyMatch, at_ms: int) -> StepResult:
    """Return the match at `at_ms`, and the effects of everything that became due until then."""
    clock, announced = match_clock.tick(match.clock, at_ms)
    clocks, dues = duty_clocks.tick_all(match.clocks, at_ms)
    if isinstance(match, BigTwoMatch) and match.choices is not None and is_stopped(match):
        match = replace(match, choices=extend_deadline(match.choices, at_ms - match.now_ms))
    match = replace(match, now_ms=at_ms, clock=clock, clocks=clocks)
    said: Effects = tuple(ClockReported(due) for due in (*announced, *dues))
    match, more = _change_by_time(match, announced, dues, at_ms)
    return match, (*said, *more)


def _change_by_time(
    match: AnyMatch, announced: tuple[ClockReport, ...], dues: tuple[ClockReport, ...], at_ms: int
) -> StepResult:
    if isinstance(match, BigTwoMatch):
        return update_choices(match, at_ms), ()
    assert isinstance(match, GuandanMatch)  # There are only two kinds of matches.
    if any(due.kind == "sort_over" for due in dues) and match.phase is MatchPhase.COUNT_CHECK:
        return continue_after_count(match)
    if not _has_no_time_for_deal(match, at_ms):
        return match, ()
    if is_added_time_open(match, at_ms):
        asked = any(due.kind in ("time_up", "last_deal") for due in announced)
        return match, (RefereeCalled("added_time"),) if asked else ()
    return continue_match(match, at_ms)


def _has_no_time_for_deal(match: GuandanMatch, at_ms: int) -> bool:
    """Return whether the next deal is due, but too little time is left to begin that deal.

    A deal by hand begins with the first card (seed 003 N4.4). After that, time ends it only if the
    end of time stops a running deal (`stops_deals`). False before any deal was played, and
    while the table is suspended.
    """
    drawn = match.by_hand and match.phase is MatchPhase.DEALING and not match.clock.stops_deals
    if match.suspended is not None or drawn or not match.standing.deals:
        return False
    due = match.phase in BEFORE_RELEASE | {MatchPhase.FORFEIT}
    return due and is_time_up_for_deals(match, at_ms)


def update_clocks(match: AnyMatch) -> StepResult:
    """Pause or resume the clocks of seats, and record when a stop of the table begins or ends.

    When a stop of the table is over, a referee is asked about the lost time.
    """
    keep = duty_clocks.pause_all if is_stopped(match) else duty_clocks.resume_all
    clocks = keep(match.clocks, match.now_ms)
    failed = match.misdeals > 0 and match.in_a_row > 0  # The last attempt failed.
    dealing_again = failed and match.phase in BEFORE_RELEASE
    reason = match.suspended or ("misdeal" if dealing_again else None)
    if reason is not None:
        clock = match_clock.stop_table(match.clock, reason, match.now_ms)
        return replace(match, clocks=clocks, clock=clock), ()
    clock = match_clock.resume_table(match.clock, match.now_ms)
    over = clock is not match.clock and match.phase not in ENDED_PHASES
    lost = match_clock.added_time_due(clock, match.now_ms) if over else None
    return replace(match, clocks=clocks, clock=clock), (AddedTimeDue(lost),) if lost else ()


def is_stopped(match: AnyMatch) -> bool:
    """Return whether the table or the whole area is stopped, so that the clocks of seats stop."""
    area = match.clock.watch is not None and match.clock.watch.is_paused
    return match.suspended is not None or area


def note_lead(match: MatchT) -> MatchT:
    """Record the first lead of the deal, and remove the clock that measured the time to this lead.

    From now on the deal must be played to its end.
    """
    return replace(match, led=True, clocks=duty_clocks.remove_done(match.clocks, "opening"))


def update_choices(match: BigTwoMatch, at_ms: int) -> BigTwoMatch:
    """Return a match of Big Two with the default answer to each choice that is overdue at `at_ms`.

    After the last choice, play begins (A6).
    """
    if match.phase is not MatchPhase.CHOICES or match.choices is None:
        return match
    choices = answer_for_silent(match.choices, at_ms)
    phase = MatchPhase.PLAY if choices.is_over() else MatchPhase.CHOICES
    return replace(match, choices=choices, phase=phase)


def suspend_table(match: AnyMatch, event: events.TableSuspended) -> StepResult:
    """Suspend the table. The clocks of seats stop. The clock of the area continues."""
    if match.suspended is not None:
        refuse("SUSPENDED")
    return replace(match, suspended=event.reason), ()


def resume_table(match: AnyMatch, event: events.TableResumed) -> StepResult:
    """Resume the suspended table. After a claimed count, only the four counts can resume it."""
    if match.suspended is None:
        refuse("NOT_SUSPENDED")
    if match.claimed is not None:
        refuse(
            "WRONG_COUNTS",
            Words("a count was claimed, enter the four counts", "已申告张数不符，须录入四家张数"),
        )
    return replace(match, suspended=None), ()


def pause_area(match: AnyMatch, event: events.AreaPaused) -> StepResult:
    """Pause the match clock, because the clock of the whole playing area is paused."""
    stop = match_clock.AreaClockStop(event.reason, event.by)
    return replace(match, clock=match_clock.pause(match.clock, event.at_ms, stop)), ()


def resume_area(match: AnyMatch, event: events.AreaResumed) -> StepResult:
    """Resume the match clock, because the area continues. A suspended table stays suspended."""
    return replace(match, clock=match_clock.resume(match.clock, event.at_ms)), ()


def add_time(match: AnyMatch, event: events.TimeAdded) -> StepResult:
    """Add time to the clock of this table, as a referee decided.

    Above the profile's limit only the chief may do so. This decides the lost time of every stop
    until now. If a stop continues, the time that it costs from now on is undecided. No time is
    added once the sheet has a signature.
    """
    add_ms = event.seconds * 1000
    needs = match_clock.added_time_authority(match.clock, add_ms)
    if event.role not in REFEREE_ROLES:
        refuse("NOT_A_REFEREE")
    if add_ms and needs == "chief" and event.role is not Role.CHIEF:
        refuse("MUCH_TIME")
    if match.signatures:
        names = [signature.signer for signature in match.signatures]
        phase = phase_words(match.phase)
        refuse(
            "WRONG_PHASE",
            Words(
                f"{phase.en}, signed by {' / '.join(names)}",
                f"{phase.zh}，{signer_list_words(names).zh}已签名",
            ),
            Words("a sheet without a signature", "无人签名"),
        )
    clock = match_clock.resume_table(match.clock, event.at_ms)
    clock = match_clock.add_time(clock, add_ms, event.at_ms)
    match = replace(match, clock=clock, settled_stops=len(clock.stops))
    if not isinstance(match, GuandanMatch) or match.phase not in _ENDED_BY_TIME_PHASES:
        return match, ()
    if match_outcome(match, event.at_ms) is not None:
        return match, ()
    return continue_match(open_new_version(match), event.at_ms)


_ENDED_BY_TIME_PHASES = frozenset({MatchPhase.MATCH_CHECK, MatchPhase.OVER})
"""Phases in which added time can continue the match."""


def start_play_clock(match: GuandanMatch, event: events.PlayClockStarted) -> StepResult:
    """Start the play clock of one player, because a referee begins to count the seconds (读秒)."""
    first = not match.led
    clock = play_clock(match.profile, event.seat, event.at_ms, called=True, first_lead=first)
    if clock is None:
        refuse("NO_CLOCK")
    others = duty_clocks.remove_done(match.clocks, "play")
    return replace(match, clocks=(*others, clock)), ()


def warn_player(match: GuandanMatch, event: events.PlayerWarned) -> StepResult:
    """Start the next time limit of a slow player after a spoken warning (seed 000 A21.1)."""
    running = duty_clocks.clocks_for_duty(match.clocks, "play")
    if not any(clock.seat == event.seat for clock in running):
        refuse("NO_CLOCK")
    clocks = duty_clocks.restart_all_from_warning(match.clocks, "play", event.at_ms, event.seat)
    return replace(match, clocks=clocks), ()


def stop_play_clock(match: GuandanMatch, event: events.PlayMade) -> StepResult:
    """Stop a player's play clock after a play or pass, and record that the first lead was made."""
    clocks = duty_clocks.remove_done(match.clocks, "play", seat=event.seat)
    return note_lead(replace(match, clocks=clocks)), ()


def next_tick_ms(match: AnyMatch) -> int | None:
    """Return the next time at which a clock causes a report or a change, or None if no clock runs.

    The time is on the match's clock. If a change is already due, because a stop is over or a
    referee has decided, the result is `match.now_ms`. The result is also `match.now_ms` if too
    little time is left for the next deal. Every event may change the result.
    """
    now_ms = match.now_ms
    lost = isinstance(match, GuandanMatch) and _has_no_time_for_deal(match, now_ms)
    if lost and not is_added_time_open(match, now_ms):
        return now_ms
    moments = [match_clock.next_due_ms(match.clock), duty_clocks.first_due_ms(match.clocks)]
    if isinstance(match, BigTwoMatch) and match.phase is MatchPhase.CHOICES:
        assert match.choices is not None  # The phase CHOICES begins with choices.
        # At this time, silence answers the choice (seed 002 A6).
        silent_ms = match.choices.current_round().deadline_ms()
        moments.append(None if is_stopped(match) else silent_ms)
    return min((moment for moment in moments if moment is not None), default=None)
