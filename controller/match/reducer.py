"""The reducer of a match, `step(match, event)`, which returns the next match and its effects.

It handles the matches of every rulebook and never raises. A refused event changes nothing. Time
comes from the event. One table lists when each event is legal.
"""

from collections.abc import Callable, Iterable, Set
from functools import partial
from typing import Any, NamedTuple

from msgspec.structs import replace

from controller.match import (
    big_two_match,
    deal_end,
    deal_start,
    ruling_desk,
    sheet_writing,
    timing,
    tribute_exchange,
)
from controller.match import match_events as events
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
    """Return the state that a new match reaches after all `past_events`.

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
        rule = _EVENT_RULES[type(event)]
        if not isinstance(match, rule.match_type):
            refuse("OTHER_RULES", match.profile.title)
        if match.phase not in rule.phases:
            refuse("WRONG_PHASE", phase_words(match.phase), phase_words(*rule.phases))
        if match.suspended is not None and not rule.while_suspended:
            refuse("SUSPENDED")
        after, effects = rule.handler(match, event)
    except RefusedError as refused:
        return match, (*said, EventRefused(refused.refusal))
    kept, asked = timing.update_clocks(after)
    return kept, (*said, *effects, *asked)


def _confirm_result(match: AnyMatch, event: events.ResultConfirmed) -> StepResult:
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
_ANTI_PHASES = frozenset({MatchPhase.ANTI_CHECK, MatchPhase.TRIBUTE, MatchPhase.PLAY})
_EXCHANGE_PHASES = frozenset({MatchPhase.TRIBUTE, MatchPhase.RETURN, MatchPhase.PLAY})
_BEFORE_LEAD_PHASES = DEAL_UNDER_WAY - {MatchPhase.RESULT}
_SHEET_PHASES = _ALL_PHASES - {MatchPhase.SETUP}
_UNSIGNED_PHASES = _ALL_PHASES - {MatchPhase.SIGNED}
_EXTRA_PHASES = frozenset({MatchPhase.MATCH_CHECK, MatchPhase.OVER})
_PLAY, _RETURN = frozenset({MatchPhase.PLAY}), frozenset({MatchPhase.RETURN})
_PLAY_PHASES, _RETURN_PHASES = _PLAY | {MatchPhase.RESULT}, _PLAY | _RETURN


_rule_if_suspended = partial(EventRule, while_suspended=True)
"""The rule of an event that is legal while the table is suspended, too."""

_EVENT_RULES: dict[type[events.MatchEventBase], EventRule] = {
    events.SeatTaken: _rule_if_suspended(deal_start.take_seat, {MatchPhase.SETUP}),
    events.MatchStarted: EventRule(deal_start.start_match, {MatchPhase.SETUP}),
    events.HandDealOrdered: EventRule(deal_start.order_hand_deal, BEFORE_RELEASE, GuandanMatch),
    events.SetShuffled: EventRule(deal_start.accept_shuffle, {MatchPhase.SHUFFLE}, GuandanMatch),
    events.SetCut: EventRule(deal_start.accept_cut, {MatchPhase.CUT}),
    events.CardTurnedUp: EventRule(deal_start.accept_turnup, {MatchPhase.TURNUP}, GuandanMatch),
    events.HandsDealt: _rule_if_suspended(deal_start.accept_hands, {MatchPhase.DEALING}),
    events.AttemptFailed: _rule_if_suspended(deal_start.fail_attempt, _ATTEMPT_PHASES),
    events.ReleaseOrdered: EventRule(deal_start.order_release, {MatchPhase.HELD}),
    events.HandsReleased: _rule_if_suspended(deal_start.release_hands, {MatchPhase.HELD}),
    events.HandCounted: EventRule(deal_start.accept_count, {MatchPhase.COUNT_CHECK}, GuandanMatch),
    events.CountClaimed: EventRule(deal_start.claim_count, _BEFORE_LEAD_PHASES),
    events.HandsRecounted: _rule_if_suspended(deal_start.judge_recount, _BEFORE_LEAD_PHASES),
    events.DealVoided: _rule_if_suspended(deal_start.void_deal, DEAL_UNDER_WAY),
    events.AntiTributeAnswered: EventRule(
        tribute_exchange.answer_anti_tribute, _ANTI_PHASES, GuandanMatch
    ),
    events.TributeLaid: EventRule(tribute_exchange.lay_tribute, {MatchPhase.TRIBUTE}, GuandanMatch),
    events.TributeValued: EventRule(
        tribute_exchange.value_tributes, _EXCHANGE_PHASES, GuandanMatch
    ),
    events.TributeChosen: EventRule(tribute_exchange.choose_tribute, _RETURN, GuandanMatch),
    events.ReturnLaid: EventRule(tribute_exchange.lay_return, _RETURN, GuandanMatch),
    events.ReturnCorrected: EventRule(
        tribute_exchange.correct_return, _RETURN_PHASES, GuandanMatch
    ),
    events.ReturnsSwapped: EventRule(tribute_exchange.swap_returns, _PLAY, GuandanMatch),
    events.LeadMade: EventRule(lambda match, event: (timing.note_lead(match), ()), _PLAY),
    events.OutClaimed: EventRule(deal_end.claim_out, _PLAY, GuandanMatch),
    events.OutConfirmed: EventRule(deal_end.confirm_out, _PLAY, GuandanMatch),
    events.OutWithdrawn: EventRule(deal_end.withdraw_out, _PLAY_PHASES, GuandanMatch),
    events.ResultEntered: EventRule(deal_end.enter_result, _PLAY_PHASES, GuandanMatch),
    events.CardsLeftEntered: EventRule(big_two_match.accept_cards_left, _PLAY_PHASES, BigTwoMatch),
    events.ChoiceAnswered: EventRule(
        big_two_match.accept_answer, {MatchPhase.CHOICES}, BigTwoMatch
    ),
    events.ResultConfirmed: EventRule(_confirm_result, {MatchPhase.RESULT}),
    events.LeaderNamed: EventRule(deal_end.name_leader, {MatchPhase.FORFEIT}, GuandanMatch),
    events.ExtraDealOrdered: EventRule(deal_end.order_extra_deal, _EXTRA_PHASES, GuandanMatch),
    events.DealStopped: _rule_if_suspended(deal_end.stop_deal, DEAL_UNDER_WAY, GuandanMatch),
    events.ResultCorrected: _rule_if_suspended(
        sheet_writing.correct_deal, _SHEET_PHASES, GuandanMatch
    ),
    events.CorrectionConfirmed: _rule_if_suspended(
        sheet_writing.confirm_correction, _ALL_PHASES, GuandanMatch
    ),
    events.TableSuspended: EventRule(timing.suspend_table, _UNSIGNED_PHASES),
    events.TableResumed: _rule_if_suspended(timing.resume_table, _ALL_PHASES),
    events.AreaPaused: _rule_if_suspended(timing.pause_area, _ALL_PHASES),
    events.AreaResumed: _rule_if_suspended(timing.resume_area, _ALL_PHASES),
    events.TimeAdded: _rule_if_suspended(timing.add_time, _UNSIGNED_PHASES),
    events.PlayClockStarted: EventRule(timing.start_play_clock, _PLAY, GuandanMatch),
    events.PlayerWarned: EventRule(timing.warn_player, _PLAY, GuandanMatch),
    events.PlayMade: EventRule(timing.stop_play_clock, _PLAY, GuandanMatch),
    events.TimePassed: _rule_if_suspended(lambda match, event: (match, ()), _ALL_PHASES),
    events.RulingProposed: _rule_if_suspended(
        ruling_desk.propose_ruling, _ALL_PHASES, GuandanMatch
    ),
    events.RulingApproved: _rule_if_suspended(
        ruling_desk.approve_ruling, _ALL_PHASES, GuandanMatch
    ),
    events.RulingRejected: _rule_if_suspended(ruling_desk.reject_ruling, _ALL_PHASES, GuandanMatch),
    events.VerbalRulingConfirmed: _rule_if_suspended(
        ruling_desk.confirm_verbal_ruling, _ALL_PHASES, GuandanMatch
    ),
    events.SheetSigned: EventRule(sheet_writing.sign_sheet, {MatchPhase.OVER}),
}
"""The handler of each event, and the phases in which it is legal."""
