"""The reducer of a match: `step(match, event)` returns the next match and its effects.

It handles the matches of every rulebook and never raises. A refused event changes nothing. Time
comes from the event. One table lists when each event is legal.
"""

from collections.abc import Callable, Iterable, Set
from typing import Any, NamedTuple

from msgspec.structs import replace

from controller.match import (
    big_two_match,
    deal_end,
    deal_start,
    match_events,
    ruling_desk,
    sheet_writing,
    timing,
    tribute_exchange,
)
from controller.match.clocks.match_clock import MatchClock, new_match_clock
from controller.match.match_effects import EventRefused
from controller.match.match_events import MatchEvent
from controller.match.match_state import AnyMatch, BigTwoMatch, GuandanMatch, Meeting
from controller.match.next_deal import StepResult
from controller.match.phase import BEFORE_RELEASE, DEAL_UNDER_WAY, MatchPhase, phase_words
from controller.match.refusals import RefusedError, refuse
from controller.rules.match_standing import initial_standing
from controller.rules.penalties.penalty_record import PenaltyRecord
from controller.rules.profile import BigTwoProfile, GuandanProfile, Profile
from controller.seats import SEATS

EventHandler = Callable[[Any, Any], StepResult]


class EventRule(NamedTuple):
    """The rule for one kind of event: its handler, and the phases in which it is legal.

    `match_type` is the kind of match that has this event. `while_suspended` is True if the event is
    legal while the table is suspended, too.
    """

    handler: EventHandler
    phases: Set[MatchPhase]
    match_type: type[AnyMatch] = AnyMatch
    while_suspended: bool = False


def new_match(profile: Profile, meeting: Meeting, record: PenaltyRecord = ()) -> AnyMatch:
    """Return the state of a match before its first event.

    `record` has the penalties of its pairs from earlier matches.
    """
    if isinstance(profile, GuandanProfile):
        return GuandanMatch(
            profile=profile,
            meeting=meeting,
            clock=new_match_clock(profile),
            record=record,
            standing=initial_standing(profile),
        )
    assert isinstance(profile, BigTwoProfile)  # There are two games.
    return BigTwoMatch(
        profile=profile,
        meeting=meeting,
        clock=_UNLIMITED_CLOCK,
        record=record,
        totals=dict.fromkeys(SEATS, 0),
    )


def replay_events(
    profile: Profile, meeting: Meeting, record: PenaltyRecord, past_events: Iterable[MatchEvent]
) -> AnyMatch:
    """Return the state of a match after all its past events.

    This is how a match is moved to another table (转台).
    """
    match = new_match(profile, meeting, record)
    for event in past_events:
        match, _ = step(match, event)
    return match


def step(match: AnyMatch, event: MatchEvent) -> StepResult:
    """Return the match after an event, and the effects of the event.

    An event with an earlier time than the last one counts as of now, because time does not go
    backwards.
    """
    if event.at_ms < match.now_ms:
        event = replace(event, at_ms=match.now_ms)
    match, said = timing.advance_time(match, event.at_ms)
    try:
        after, effects = _handle(match, event)
    except RefusedError as refused:
        return match, (*said, EventRefused(refused.refusal))
    kept, asked = timing.update_clocks(after)
    return kept, (*said, *effects, *asked)


def _handle(match: AnyMatch, event: MatchEvent) -> StepResult:
    rule = _EVENT_RULES[type(event)]
    if not isinstance(match, rule.match_type):
        refuse("OTHER_RULES", match.profile.title)
    if match.phase not in rule.phases:
        refuse("WRONG_PHASE", phase_words(match.phase), phase_words(*rule.phases))
    if match.suspended is not None and not rule.while_suspended:
        refuse("SUSPENDED")
    return rule.handler(match, event)


def _confirm_result(match: AnyMatch, event: match_events.ResultConfirmed) -> StepResult:
    if isinstance(match, BigTwoMatch):
        return big_two_match.confirm_score(match, event)
    assert isinstance(match, GuandanMatch)  # There are two games.
    return deal_end.confirm_result(match, event)


_UNLIMITED_CLOCK = MatchClock(
    limit_ms=0, margin_ms=0, stops_deals=False, chief_ms=0, chief_article=None, marks=()
)
"""Big Two has no time limit for a match."""

_ALL_PHASES = frozenset(MatchPhase)
_ATTEMPT_PHASES = BEFORE_RELEASE - {MatchPhase.SHUFFLE}
_ANTI_TRIBUTE_PHASES = frozenset({MatchPhase.ANTI_CHECK, MatchPhase.TRIBUTE, MatchPhase.PLAY})
_EXCHANGE_PHASES = frozenset({MatchPhase.TRIBUTE, MatchPhase.RETURN, MatchPhase.PLAY})
_BEFORE_LEAD_PHASES = DEAL_UNDER_WAY - {MatchPhase.RESULT}
_SHEET_PHASES = _ALL_PHASES - {MatchPhase.SETUP}


_EVENT_RULES: dict[type[match_events.MatchEventBase], EventRule] = {
    match_events.SeatTaken: EventRule(
        deal_start.take_seat, {MatchPhase.SETUP}, while_suspended=True
    ),
    match_events.MatchStarted: EventRule(deal_start.start_match, {MatchPhase.SETUP}),
    match_events.HandDealOrdered: EventRule(
        deal_start.order_hand_deal, BEFORE_RELEASE, GuandanMatch
    ),
    match_events.SetShuffled: EventRule(
        deal_start.accept_shuffle, {MatchPhase.SHUFFLE}, GuandanMatch
    ),
    match_events.SetCut: EventRule(deal_start.accept_cut, {MatchPhase.CUT}),
    match_events.CardTurnedUp: EventRule(
        deal_start.accept_turnup, {MatchPhase.TURNUP}, GuandanMatch
    ),
    match_events.HandsDealt: EventRule(
        deal_start.accept_hands, {MatchPhase.DEALING}, while_suspended=True
    ),
    match_events.AttemptFailed: EventRule(
        deal_start.fail_attempt, _ATTEMPT_PHASES, while_suspended=True
    ),
    match_events.ReleaseOrdered: EventRule(deal_start.order_release, {MatchPhase.HELD}),
    match_events.HandsReleased: EventRule(
        deal_start.release_hands, {MatchPhase.HELD}, while_suspended=True
    ),
    match_events.HandCounted: EventRule(
        deal_start.accept_count, {MatchPhase.COUNT_CHECK}, GuandanMatch
    ),
    match_events.CountClaimed: EventRule(deal_start.claim_count, _BEFORE_LEAD_PHASES),
    match_events.HandsRecounted: EventRule(
        deal_start.judge_recount, _BEFORE_LEAD_PHASES, while_suspended=True
    ),
    match_events.DealVoided: EventRule(deal_start.void_deal, DEAL_UNDER_WAY, while_suspended=True),
    match_events.AntiTributeAnswered: EventRule(
        tribute_exchange.answer_anti_tribute, _ANTI_TRIBUTE_PHASES, GuandanMatch
    ),
    match_events.TributeLaid: EventRule(
        tribute_exchange.lay_tribute, {MatchPhase.TRIBUTE}, GuandanMatch
    ),
    match_events.TributeValued: EventRule(
        tribute_exchange.value_tributes, _EXCHANGE_PHASES, GuandanMatch
    ),
    match_events.TributeChosen: EventRule(
        tribute_exchange.choose_tribute, {MatchPhase.RETURN}, GuandanMatch
    ),
    match_events.ReturnLaid: EventRule(
        tribute_exchange.lay_return, {MatchPhase.RETURN}, GuandanMatch
    ),
    match_events.ReturnCorrected: EventRule(
        tribute_exchange.correct_return,
        {MatchPhase.RETURN, MatchPhase.PLAY},
        GuandanMatch,
    ),
    match_events.ReturnsSwapped: EventRule(
        tribute_exchange.swap_returns, {MatchPhase.PLAY}, GuandanMatch
    ),
    match_events.LeadMade: EventRule(deal_start.accept_lead, {MatchPhase.PLAY}),
    match_events.OutClaimed: EventRule(deal_end.claim_out, {MatchPhase.PLAY}, GuandanMatch),
    match_events.OutConfirmed: EventRule(deal_end.confirm_out, {MatchPhase.PLAY}, GuandanMatch),
    match_events.OutWithdrawn: EventRule(
        deal_end.withdraw_out, {MatchPhase.PLAY, MatchPhase.RESULT}, GuandanMatch
    ),
    match_events.ResultEntered: EventRule(
        deal_end.enter_result, {MatchPhase.PLAY, MatchPhase.RESULT}, GuandanMatch
    ),
    match_events.CardsLeftEntered: EventRule(
        big_two_match.accept_cards_left, {MatchPhase.PLAY, MatchPhase.RESULT}, BigTwoMatch
    ),
    match_events.ChoiceAnswered: EventRule(
        big_two_match.accept_answer, {MatchPhase.CHOICES}, BigTwoMatch
    ),
    match_events.ResultConfirmed: EventRule(_confirm_result, {MatchPhase.RESULT}),
    match_events.LeaderNamed: EventRule(deal_end.name_leader, {MatchPhase.FORFEIT}, GuandanMatch),
    match_events.ExtraDealOrdered: EventRule(
        deal_end.order_extra_deal,
        {MatchPhase.MATCH_CHECK, MatchPhase.OVER},
        GuandanMatch,
    ),
    match_events.DealStopped: EventRule(
        deal_end.stop_deal, DEAL_UNDER_WAY, GuandanMatch, while_suspended=True
    ),
    match_events.ResultCorrected: EventRule(
        sheet_writing.correct_deal, _SHEET_PHASES, GuandanMatch, while_suspended=True
    ),
    match_events.CorrectionConfirmed: EventRule(
        sheet_writing.confirm_correction, _ALL_PHASES, GuandanMatch, while_suspended=True
    ),
    match_events.TableSuspended: EventRule(timing.suspend_table, _ALL_PHASES - {MatchPhase.SIGNED}),
    match_events.TableResumed: EventRule(timing.resume_table, _ALL_PHASES, while_suspended=True),
    match_events.AreaPaused: EventRule(timing.pause_area, _ALL_PHASES, while_suspended=True),
    match_events.AreaResumed: EventRule(timing.resume_area, _ALL_PHASES, while_suspended=True),
    match_events.TimeAdded: EventRule(
        timing.add_time, _ALL_PHASES - {MatchPhase.SIGNED}, while_suspended=True
    ),
    match_events.PlayClockStarted: EventRule(
        timing.start_play_clock, {MatchPhase.PLAY}, GuandanMatch
    ),
    match_events.PlayerWarned: EventRule(timing.warn_player, {MatchPhase.PLAY}, GuandanMatch),
    match_events.PlayMade: EventRule(timing.stop_play_clock, {MatchPhase.PLAY}, GuandanMatch),
    match_events.TimePassed: EventRule(
        lambda match, event: (match, ()), _ALL_PHASES, while_suspended=True
    ),
    match_events.RulingProposed: EventRule(
        ruling_desk.propose_ruling, _ALL_PHASES, GuandanMatch, while_suspended=True
    ),
    match_events.RulingApproved: EventRule(
        ruling_desk.approve_ruling, _ALL_PHASES, GuandanMatch, while_suspended=True
    ),
    match_events.RulingRejected: EventRule(
        ruling_desk.reject_ruling, _ALL_PHASES, GuandanMatch, while_suspended=True
    ),
    match_events.VerbalRulingConfirmed: EventRule(
        ruling_desk.confirm_verbal_ruling, _ALL_PHASES, GuandanMatch, while_suspended=True
    ),
    match_events.SheetSigned: EventRule(sheet_writing.sign_sheet, {MatchPhase.OVER}),
}
"""The handler of each event, and the phases in which it is legal."""
