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
from controller.match.clocks.match_clock import MatchClock, match_clock
from controller.match.course import Stepped
from controller.match.effects import Refused
from controller.match.events import MatchEvent
from controller.match.meeting import Meeting
from controller.match.phase import AT_THE_TABLE, BEFORE_RELEASE, Phase, called
from controller.match.refusals import RefusedError, refuse
from controller.match.state import BigTwoMatch, GuandanMatch, Match
from controller.rules.penalties.records import Record
from controller.rules.profile import BigTwoProfile, GuandanProfile, Profile
from controller.rules.seats import ALL
from controller.rules.standing import initial_standing

Handler = Callable[[Any, Any], Stepped]


class Rule(NamedTuple):
    """What an event does, in which phases it is legal, and in whose matches.

    `suspended`: it is legal while the table is suspended, too.
    """

    does: Handler
    phases: frozenset[Phase]
    match: type[Match] = Match
    suspended: bool = False


def new_match(profile: Profile, meeting: Meeting, record: Record = ()) -> Match:
    """Return a match before it begins; `record`: what its pairs bring from earlier ones."""
    if isinstance(profile, GuandanProfile):
        return GuandanMatch(
            profile=profile,
            meeting=meeting,
            clock=match_clock(profile),
            record=record,
            standing=initial_standing(profile),
        )
    assert isinstance(profile, BigTwoProfile)  # there are two kinds
    return BigTwoMatch(
        profile=profile,
        meeting=meeting,
        clock=_UNLIMITED_CLOCK,
        record=record,
        totals=dict.fromkeys(ALL, 0),
    )


def replayed(
    profile: Profile, meeting: Meeting, record: Record, happened: Iterable[MatchEvent]
) -> Match:
    """Return a match as its events left it: how it is moved to another table (转台)."""
    match = new_match(profile, meeting, record)
    for event in happened:
        match, _ = step(match, event)
    return match


def step(match: Match, event: MatchEvent) -> Stepped:
    """Return the match after an event, and what that leads to.

    An event from before the last one counts as of now: time does not run back.
    """
    if event.at_ms < match.now_ms:
        event = msgspec.structs.replace(event, at_ms=match.now_ms)
    match, said = timing.caught_up(match, event.at_ms)
    try:
        after, effects = _handle(match, event)
    except RefusedError as refused:
        return match, (*said, Refused(refused.refusal))
    kept, asked = timing.update_clocks(after)
    return kept, (*said, *effects, *asked)


def _handle(match: Match, event: MatchEvent) -> Stepped:
    rule = _EVENT_RULES[type(event)]
    if not isinstance(match, rule.match):
        refuse("OTHER_RULES", match.profile.title)
    if match.phase not in rule.phases:
        refuse("WRONG_PHASE", called(match.phase), called(*rule.phases))
    if match.suspended is not None and not rule.suspended:
        refuse("SUSPENDED")
    if isinstance(match, BigTwoMatch):
        rule = _BIG_TWO_RULES.get(type(event), rule)
    return rule.does(match, event)


def _pass_time(match: Match, event: events.TimePassed) -> Stepped:
    return match, ()


_UNLIMITED_CLOCK = MatchClock(
    limit_ms=0, margin_ms=0, stops_deals=False, chief_ms=0, chief_article=None, marks=()
)
"""Big Two has no time for a match."""

_ALL_PHASES = frozenset(Phase)
_DEAL_PHASES = BEFORE_RELEASE | AT_THE_TABLE
_ATTEMPT_PHASES = frozenset({Phase.CUT, Phase.TURNUP, Phase.DEALING, Phase.HELD})
_ANTI_TRIBUTE_PHASES = frozenset({Phase.ANTI_CHECK, Phase.TRIBUTE, Phase.PLAY})
_EXCHANGE_PHASES = frozenset({Phase.TRIBUTE, Phase.RETURN, Phase.PLAY})
_BEFORE_LEAD_PHASES = AT_THE_TABLE - {Phase.RESULT}
_SHEET_PHASES = _DEAL_PHASES | {Phase.FORFEIT, Phase.MATCH_CHECK, Phase.OVER, Phase.SIGNED}


def _phase_set(*phases: Phase) -> frozenset[Phase]:
    return frozenset(phases)


_EVENT_RULES: dict[type[events.Event], Rule] = {
    events.SeatTaken: Rule(opening.seated, _phase_set(Phase.SETUP), suspended=True),
    events.MatchStarted: Rule(opening.started, _phase_set(Phase.SETUP)),
    events.HandDealOrdered: Rule(opening.order_hand_deal, BEFORE_RELEASE, GuandanMatch),
    events.Shuffled: Rule(opening.shuffled, _phase_set(Phase.SHUFFLE), GuandanMatch),
    events.Cut: Rule(opening.cut, _phase_set(Phase.CUT)),
    events.CardTurnedUp: Rule(opening.turned_up, _phase_set(Phase.TURNUP), GuandanMatch),
    events.Dealt: Rule(hands.dealt, _phase_set(Phase.DEALING), suspended=True),
    events.AttemptFailed: Rule(hands.misdealt, _ATTEMPT_PHASES, suspended=True),
    events.ReleaseOrdered: Rule(hands.release_ordered, _phase_set(Phase.HELD)),
    events.Released: Rule(hands.released, _phase_set(Phase.HELD), suspended=True),
    events.Counted: Rule(hands.counted, _phase_set(Phase.COUNT_CHECK), GuandanMatch),
    events.CountClaimed: Rule(hands.claim_count, _BEFORE_LEAD_PHASES),
    events.HandsRecounted: Rule(hands.recounted, _BEFORE_LEAD_PHASES, suspended=True),
    events.DealVoided: Rule(hands.void_deal, AT_THE_TABLE, suspended=True),
    events.AntiTributeAnswered: Rule(
        exchanging.answer_anti_tribute, _ANTI_TRIBUTE_PHASES, GuandanMatch
    ),
    events.TributeLaid: Rule(exchanging.lay_tribute, _phase_set(Phase.TRIBUTE), GuandanMatch),
    events.TributeValued: Rule(exchanging.value_tributes, _EXCHANGE_PHASES, GuandanMatch),
    events.TributeChosen: Rule(exchanging.choose_tribute, _phase_set(Phase.RETURN), GuandanMatch),
    events.ReturnLaid: Rule(exchanging.lay_return, _phase_set(Phase.RETURN), GuandanMatch),
    events.ReturnCorrected: Rule(
        exchanging.correct_return, _phase_set(Phase.RETURN, Phase.PLAY), GuandanMatch
    ),
    events.ReturnsSwapped: Rule(exchanging.swap_returns, _phase_set(Phase.PLAY), GuandanMatch),
    events.LeadMade: Rule(hands.led, _phase_set(Phase.PLAY)),
    events.OutClaimed: Rule(finishing.claim_out, _phase_set(Phase.PLAY), GuandanMatch),
    events.Out: Rule(finishing.out, _phase_set(Phase.PLAY), GuandanMatch),
    events.OutWithdrawn: Rule(
        finishing.withdraw_out, _phase_set(Phase.PLAY, Phase.RESULT), GuandanMatch
    ),
    events.ResultEntered: Rule(
        finishing.enter_result, _phase_set(Phase.PLAY, Phase.RESULT), GuandanMatch
    ),
    events.CardsLeftEntered: Rule(
        bigtwo.accept_cards_left, _phase_set(Phase.PLAY, Phase.RESULT), BigTwoMatch
    ),
    events.Answered: Rule(bigtwo.accept_answer, _phase_set(Phase.CHOICES), BigTwoMatch),
    events.ResultConfirmed: Rule(finishing.confirmed, _phase_set(Phase.RESULT)),
    events.LeaderNamed: Rule(finishing.name_leader, _phase_set(Phase.FORFEIT), GuandanMatch),
    events.ExtraDealOrdered: Rule(
        finishing.order_extra_deal, _phase_set(Phase.MATCH_CHECK, Phase.OVER), GuandanMatch
    ),
    events.DealStopped: Rule(finishing.stop_deal, AT_THE_TABLE, GuandanMatch, suspended=True),
    events.Corrected: Rule(closing.corrected, _SHEET_PHASES, GuandanMatch, suspended=True),
    events.CorrectionConfirmed: Rule(
        closing.correction_confirmed, _ALL_PHASES, GuandanMatch, suspended=True
    ),
    events.TableSuspended: Rule(timing.suspended, _ALL_PHASES - {Phase.SIGNED}),
    events.TableResumed: Rule(timing.resumed, _ALL_PHASES, suspended=True),
    events.AreaPaused: Rule(timing.pause_area, _ALL_PHASES, suspended=True),
    events.AreaResumed: Rule(timing.resume_area, _ALL_PHASES, suspended=True),
    events.TimeAdded: Rule(timing.add_time, _ALL_PHASES - {Phase.SIGNED}, suspended=True),
    events.PlayClockStarted: Rule(timing.start_play_clock, _phase_set(Phase.PLAY), GuandanMatch),
    events.PlayerWarned: Rule(timing.warn_player, _phase_set(Phase.PLAY), GuandanMatch),
    events.PlayMade: Rule(timing.stop_play_clock, _phase_set(Phase.PLAY), GuandanMatch),
    events.TimePassed: Rule(_pass_time, _ALL_PHASES, suspended=True),
    events.RulingProposed: Rule(desk.proposed, _ALL_PHASES, GuandanMatch, suspended=True),
    events.RulingApproved: Rule(desk.approved, _ALL_PHASES, GuandanMatch, suspended=True),
    events.RulingRejected: Rule(desk.rejected, _ALL_PHASES, GuandanMatch, suspended=True),
    events.VerbalRulingConfirmed: Rule(
        desk.confirm_verbal_ruling, _ALL_PHASES, GuandanMatch, suspended=True
    ),
    events.Signed: Rule(closing.signed, _phase_set(Phase.OVER)),
}
"""What each event does, and when it may."""

_BIG_TWO_RULES: dict[type[events.Event], Rule] = {
    events.ResultConfirmed: Rule(bigtwo.confirmed, _phase_set(Phase.RESULT), BigTwoMatch),
}
"""What an event does in a match of Big Two, where it is something else."""
