"""One match as a function: `step(match, event)` is the match afterwards, and its effects.

It takes every rulebook's matches, never raises, and changes nothing where it refuses. Time
is the event's. Which event is legal when stands in one table.
"""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import msgspec

from controller.match import (
    bigtwo,
    closing,
    desk,
    events,
    exchanging,
    finishing,
    hands,
    opening,
    timing,
)
from controller.match.clocks.match_clock import MatchClock, new_match_clock
from controller.match.course import StepResult
from controller.match.effects import EventRefused
from controller.match.events import MatchEvent
from controller.match.meeting import Meeting
from controller.match.phase import BEFORE_RELEASE, DEAL_UNDER_WAY, MatchPhase, phase_words
from controller.match.refusals import RefusedError, refuse
from controller.match.state import AnyMatch, BigTwoMatch, GuandanMatch
from controller.rules.penalties.records import PenaltyRecord
from controller.rules.profile import BigTwoProfile, GuandanProfile, Profile
from controller.rules.seats import SEATS
from controller.rules.standing import initial_standing

EventHandler = Callable[[Any, Any], StepResult]


class EventRule(NamedTuple):
    """What an event does, in which phases it is legal, and in whose matches.

    `suspended`: it is legal while the table is suspended, too.
    """

    handler: EventHandler
    phases: frozenset[MatchPhase]
    match_type: type[AnyMatch] = AnyMatch
    while_suspended: bool = False


def new_match(profile: Profile, meeting: Meeting, record: PenaltyRecord = ()) -> AnyMatch:
    """Return a match before it begins; `record`: what its pairs bring from earlier ones."""
    if isinstance(profile, GuandanProfile):
        return GuandanMatch(
            profile=profile,
            meeting=meeting,
            clock=new_match_clock(profile),
            record=record,
            standing=initial_standing(profile),
        )
    assert isinstance(profile, BigTwoProfile)  # there are two kinds
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
    """Return a match as its events left it: how it is moved to another table (转台)."""
    match = new_match(profile, meeting, record)
    for event in past_events:
        match, _ = step(match, event)
    return match


def step(match: AnyMatch, event: MatchEvent) -> StepResult:
    """Return the match after an event, and what that leads to.

    An event from before the last one counts as of now: time does not run back.
    """
    if event.at_ms < match.now_ms:
        event = msgspec.structs.replace(event, at_ms=match.now_ms)
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
    if isinstance(match, BigTwoMatch):
        rule = _BIG_TWO_RULES.get(type(event), rule)
    return rule.handler(match, event)


def _pass_time(match: AnyMatch, event: events.TimePassed) -> StepResult:
    return match, ()


_UNLIMITED_CLOCK = MatchClock(
    limit_ms=0, margin_ms=0, stops_deals=False, chief_ms=0, chief_article=None, marks=()
)
"""Big Two has no time for a match."""

_ALL_PHASES = frozenset(MatchPhase)
_DEAL_PHASES = BEFORE_RELEASE | DEAL_UNDER_WAY
_ATTEMPT_PHASES = frozenset(
    {MatchPhase.CUT, MatchPhase.TURNUP, MatchPhase.DEALING, MatchPhase.HELD}
)
_ANTI_TRIBUTE_PHASES = frozenset({MatchPhase.ANTI_CHECK, MatchPhase.TRIBUTE, MatchPhase.PLAY})
_EXCHANGE_PHASES = frozenset({MatchPhase.TRIBUTE, MatchPhase.RETURN, MatchPhase.PLAY})
_BEFORE_LEAD_PHASES = DEAL_UNDER_WAY - {MatchPhase.RESULT}
_SHEET_PHASES = _DEAL_PHASES | {
    MatchPhase.FORFEIT,
    MatchPhase.MATCH_CHECK,
    MatchPhase.OVER,
    MatchPhase.SIGNED,
}


def _phase_set(*phases: MatchPhase) -> frozenset[MatchPhase]:
    return frozenset(phases)


_EVENT_RULES: dict[type[events.MatchEventBase], EventRule] = {
    events.SeatTaken: EventRule(
        opening.take_seat, _phase_set(MatchPhase.SETUP), while_suspended=True
    ),
    events.MatchStarted: EventRule(opening.start_match, _phase_set(MatchPhase.SETUP)),
    events.HandDealOrdered: EventRule(opening.order_hand_deal, BEFORE_RELEASE, GuandanMatch),
    events.SetShuffled: EventRule(
        opening.accept_shuffle, _phase_set(MatchPhase.SHUFFLE), GuandanMatch
    ),
    events.SetCut: EventRule(opening.accept_cut, _phase_set(MatchPhase.CUT)),
    events.CardTurnedUp: EventRule(
        opening.accept_turnup, _phase_set(MatchPhase.TURNUP), GuandanMatch
    ),
    events.HandsDealt: EventRule(
        hands.accept_hands, _phase_set(MatchPhase.DEALING), while_suspended=True
    ),
    events.AttemptFailed: EventRule(hands.fail_attempt, _ATTEMPT_PHASES, while_suspended=True),
    events.ReleaseOrdered: EventRule(hands.order_release, _phase_set(MatchPhase.HELD)),
    events.HandsReleased: EventRule(
        hands.release_hands, _phase_set(MatchPhase.HELD), while_suspended=True
    ),
    events.HandCounted: EventRule(
        hands.accept_count, _phase_set(MatchPhase.COUNT_CHECK), GuandanMatch
    ),
    events.CountClaimed: EventRule(hands.claim_count, _BEFORE_LEAD_PHASES),
    events.HandsRecounted: EventRule(
        hands.judge_recount, _BEFORE_LEAD_PHASES, while_suspended=True
    ),
    events.DealVoided: EventRule(hands.void_deal, DEAL_UNDER_WAY, while_suspended=True),
    events.AntiTributeAnswered: EventRule(
        exchanging.answer_anti_tribute, _ANTI_TRIBUTE_PHASES, GuandanMatch
    ),
    events.TributeLaid: EventRule(
        exchanging.lay_tribute, _phase_set(MatchPhase.TRIBUTE), GuandanMatch
    ),
    events.TributeValued: EventRule(exchanging.value_tributes, _EXCHANGE_PHASES, GuandanMatch),
    events.TributeChosen: EventRule(
        exchanging.choose_tribute, _phase_set(MatchPhase.RETURN), GuandanMatch
    ),
    events.ReturnLaid: EventRule(
        exchanging.lay_return, _phase_set(MatchPhase.RETURN), GuandanMatch
    ),
    events.ReturnCorrected: EventRule(
        exchanging.correct_return, _phase_set(MatchPhase.RETURN, MatchPhase.PLAY), GuandanMatch
    ),
    events.ReturnsSwapped: EventRule(
        exchanging.swap_returns, _phase_set(MatchPhase.PLAY), GuandanMatch
    ),
    events.LeadMade: EventRule(hands.accept_lead, _phase_set(MatchPhase.PLAY)),
    events.OutClaimed: EventRule(finishing.claim_out, _phase_set(MatchPhase.PLAY), GuandanMatch),
    events.OutConfirmed: EventRule(
        finishing.confirm_out, _phase_set(MatchPhase.PLAY), GuandanMatch
    ),
    events.OutWithdrawn: EventRule(
        finishing.withdraw_out, _phase_set(MatchPhase.PLAY, MatchPhase.RESULT), GuandanMatch
    ),
    events.ResultEntered: EventRule(
        finishing.enter_result, _phase_set(MatchPhase.PLAY, MatchPhase.RESULT), GuandanMatch
    ),
    events.CardsLeftEntered: EventRule(
        bigtwo.accept_cards_left, _phase_set(MatchPhase.PLAY, MatchPhase.RESULT), BigTwoMatch
    ),
    events.ChoiceAnswered: EventRule(
        bigtwo.accept_answer, _phase_set(MatchPhase.CHOICES), BigTwoMatch
    ),
    events.ResultConfirmed: EventRule(finishing.confirm_result, _phase_set(MatchPhase.RESULT)),
    events.LeaderNamed: EventRule(
        finishing.name_leader, _phase_set(MatchPhase.FORFEIT), GuandanMatch
    ),
    events.ExtraDealOrdered: EventRule(
        finishing.order_extra_deal,
        _phase_set(MatchPhase.MATCH_CHECK, MatchPhase.OVER),
        GuandanMatch,
    ),
    events.DealStopped: EventRule(
        finishing.stop_deal, DEAL_UNDER_WAY, GuandanMatch, while_suspended=True
    ),
    events.ResultCorrected: EventRule(
        closing.correct_deal, _SHEET_PHASES, GuandanMatch, while_suspended=True
    ),
    events.CorrectionConfirmed: EventRule(
        closing.confirm_correction, _ALL_PHASES, GuandanMatch, while_suspended=True
    ),
    events.TableSuspended: EventRule(timing.suspend_table, _ALL_PHASES - {MatchPhase.SIGNED}),
    events.TableResumed: EventRule(timing.resume_table, _ALL_PHASES, while_suspended=True),
    events.AreaPaused: EventRule(timing.pause_area, _ALL_PHASES, while_suspended=True),
    events.AreaResumed: EventRule(timing.resume_area, _ALL_PHASES, while_suspended=True),
    events.TimeAdded: EventRule(
        timing.add_time, _ALL_PHASES - {MatchPhase.SIGNED}, while_suspended=True
    ),
    events.PlayClockStarted: EventRule(
        timing.start_play_clock, _phase_set(MatchPhase.PLAY), GuandanMatch
    ),
    events.PlayerWarned: EventRule(timing.warn_player, _phase_set(MatchPhase.PLAY), GuandanMatch),
    events.PlayMade: EventRule(timing.stop_play_clock, _phase_set(MatchPhase.PLAY), GuandanMatch),
    events.TimePassed: EventRule(_pass_time, _ALL_PHASES, while_suspended=True),
    events.RulingProposed: EventRule(
        desk.propose_ruling, _ALL_PHASES, GuandanMatch, while_suspended=True
    ),
    events.RulingApproved: EventRule(
        desk.approve_ruling, _ALL_PHASES, GuandanMatch, while_suspended=True
    ),
    events.RulingRejected: EventRule(
        desk.reject_ruling, _ALL_PHASES, GuandanMatch, while_suspended=True
    ),
    events.VerbalRulingConfirmed: EventRule(
        desk.confirm_verbal_ruling, _ALL_PHASES, GuandanMatch, while_suspended=True
    ),
    events.SheetSigned: EventRule(closing.sign_sheet, _phase_set(MatchPhase.OVER)),
}
"""What each event does, and when it may."""

_BIG_TWO_RULES: dict[type[events.MatchEventBase], EventRule] = {
    events.ResultConfirmed: EventRule(
        bigtwo.confirm_score, _phase_set(MatchPhase.RESULT), BigTwoMatch
    ),
}
"""What an event does in a match of Big Two, where it is something else."""
