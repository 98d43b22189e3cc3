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
from controller.rules.standing import at_start

Handler = Callable[[Any, Any], Stepped]


class Rule(NamedTuple):
    """What an event does, in which phases it is legal, and in whose matches.

    `suspended`: it is legal while the table is suspended, too.
    """

    does: Handler
    phases: frozenset[Phase]
    match: type[Match] = Match
    suspended: bool = False


def match_of(profile: Profile, meeting: Meeting, record: Record = ()) -> Match:
    """Return a match before it begins; `record`: what its pairs bring from earlier ones."""
    if isinstance(profile, GuandanProfile):
        return GuandanMatch(
            profile=profile,
            meeting=meeting,
            clock=match_clock(profile),
            record=record,
            standing=at_start(profile),
        )
    assert isinstance(profile, BigTwoProfile)  # there are two kinds
    return BigTwoMatch(
        profile=profile,
        meeting=meeting,
        clock=_NO_CLOCK,
        record=record,
        totals=dict.fromkeys(ALL, 0),
    )


def replayed(
    profile: Profile, meeting: Meeting, record: Record, happened: Iterable[MatchEvent]
) -> Match:
    """Return a match as its events left it: how it is moved to another table (转台)."""
    match = match_of(profile, meeting, record)
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
        after, effects = _handled(match, event)
    except RefusedError as refused:
        return match, (*said, Refused(refused.refusal))
    kept, asked = timing.clocks_kept(after)
    return kept, (*said, *effects, *asked)


def _handled(match: Match, event: MatchEvent) -> Stepped:
    rule = _RULES[type(event)]
    if not isinstance(match, rule.match):
        refuse("OTHER_RULES", match.profile.title)
    if match.phase not in rule.phases:
        refuse("WRONG_PHASE", called(match.phase), called(*rule.phases))
    if match.suspended is not None and not rule.suspended:
        refuse("SUSPENDED")
    if isinstance(match, BigTwoMatch):
        rule = _BIG_TWO.get(type(event), rule)
    return rule.does(match, event)


def _only_time(match: Match, event: events.Ticked) -> Stepped:
    return match, ()


_NO_CLOCK = MatchClock(
    limit_ms=0, margin_ms=0, stops_deals=False, chief_ms=0, chief_article=None, marks=()
)
"""Big Two has no time for a match."""

_ALWAYS = frozenset(Phase)
_PLAYING = BEFORE_RELEASE | AT_THE_TABLE
_ATTEMPT = frozenset({Phase.CUT, Phase.TURNUP, Phase.DEALING, Phase.HELD})
_ANTI = frozenset({Phase.ANTI_CHECK, Phase.TRIBUTE, Phase.PLAY})
_EXCHANGED = frozenset({Phase.TRIBUTE, Phase.RETURN, Phase.PLAY})
_BEFORE_LEAD = AT_THE_TABLE - {Phase.RESULT}
_WRITTEN = _PLAYING | {Phase.FORFEIT, Phase.MATCH_CHECK, Phase.OVER, Phase.SIGNED}


def _in(*phases: Phase) -> frozenset[Phase]:
    return frozenset(phases)


_RULES: dict[type[events.Event], Rule] = {
    events.Seated: Rule(opening.seated, _in(Phase.SETUP), suspended=True),
    events.Started: Rule(opening.started, _in(Phase.SETUP)),
    events.DealtByHand: Rule(opening.dealt_by_hand, BEFORE_RELEASE, GuandanMatch),
    events.Shuffled: Rule(opening.shuffled, _in(Phase.SHUFFLE), GuandanMatch),
    events.Cut: Rule(opening.cut, _in(Phase.CUT)),
    events.TurnedUp: Rule(opening.turned_up, _in(Phase.TURNUP), GuandanMatch),
    events.Dealt: Rule(hands.dealt, _in(Phase.DEALING), suspended=True),
    events.Misdealt: Rule(hands.misdealt, _ATTEMPT, suspended=True),
    events.ReleaseOrdered: Rule(hands.release_ordered, _in(Phase.HELD)),
    events.Released: Rule(hands.released, _in(Phase.HELD), suspended=True),
    events.Counted: Rule(hands.counted, _in(Phase.COUNT_CHECK), GuandanMatch),
    events.CountClaimed: Rule(hands.count_claimed, _BEFORE_LEAD),
    events.Recounted: Rule(hands.recounted, _BEFORE_LEAD, suspended=True),
    events.DealVoided: Rule(hands.deal_voided, AT_THE_TABLE, suspended=True),
    events.AntiAnswered: Rule(exchanging.anti_answered, _ANTI, GuandanMatch),
    events.TributeLaid: Rule(exchanging.tribute_laid, _in(Phase.TRIBUTE), GuandanMatch),
    events.TributeValued: Rule(exchanging.tribute_valued, _EXCHANGED, GuandanMatch),
    events.TributeChosen: Rule(exchanging.tribute_chosen, _in(Phase.RETURN), GuandanMatch),
    events.ReturnLaid: Rule(exchanging.return_laid, _in(Phase.RETURN), GuandanMatch),
    events.ReturnCorrected: Rule(
        exchanging.return_corrected, _in(Phase.RETURN, Phase.PLAY), GuandanMatch
    ),
    events.ReturnsSwapped: Rule(exchanging.returns_swapped, _in(Phase.PLAY), GuandanMatch),
    events.Led: Rule(hands.led, _in(Phase.PLAY)),
    events.OutSaid: Rule(finishing.out_said, _in(Phase.PLAY), GuandanMatch),
    events.Out: Rule(finishing.out, _in(Phase.PLAY), GuandanMatch),
    events.OutWithdrawn: Rule(finishing.out_withdrawn, _in(Phase.PLAY, Phase.RESULT), GuandanMatch),
    events.ResultEntered: Rule(
        finishing.result_entered, _in(Phase.PLAY, Phase.RESULT), GuandanMatch
    ),
    events.CardsLeft: Rule(bigtwo.cards_left, _in(Phase.PLAY, Phase.RESULT), BigTwoMatch),
    events.Answered: Rule(bigtwo.choice_answered, _in(Phase.CHOICES), BigTwoMatch),
    events.Confirmed: Rule(finishing.confirmed, _in(Phase.RESULT)),
    events.LeaderNamed: Rule(finishing.leader_named, _in(Phase.FORFEIT), GuandanMatch),
    events.ExtraDealOrdered: Rule(
        finishing.extra_deal_ordered, _in(Phase.MATCH_CHECK, Phase.OVER), GuandanMatch
    ),
    events.DealStopped: Rule(finishing.deal_stopped, AT_THE_TABLE, GuandanMatch, suspended=True),
    events.Corrected: Rule(closing.corrected, _WRITTEN, GuandanMatch, suspended=True),
    events.CorrectionConfirmed: Rule(
        closing.correction_confirmed, _ALWAYS, GuandanMatch, suspended=True
    ),
    events.Suspended: Rule(timing.suspended, _ALWAYS - {Phase.SIGNED}),
    events.Resumed: Rule(timing.resumed, _ALWAYS, suspended=True),
    events.AreaPaused: Rule(timing.area_paused, _ALWAYS, suspended=True),
    events.AreaResumed: Rule(timing.area_resumed, _ALWAYS, suspended=True),
    events.TimeAdded: Rule(timing.time_added, _ALWAYS - {Phase.SIGNED}, suspended=True),
    events.PlayCalled: Rule(timing.play_called, _in(Phase.PLAY), GuandanMatch),
    events.PlayWarned: Rule(timing.play_warned, _in(Phase.PLAY), GuandanMatch),
    events.PlayMade: Rule(timing.play_made, _in(Phase.PLAY), GuandanMatch),
    events.Ticked: Rule(_only_time, _ALWAYS, suspended=True),
    events.RulingProposed: Rule(desk.proposed, _ALWAYS, GuandanMatch, suspended=True),
    events.RulingApproved: Rule(desk.approved, _ALWAYS, GuandanMatch, suspended=True),
    events.RulingRejected: Rule(desk.rejected, _ALWAYS, GuandanMatch, suspended=True),
    events.VerbalConfirmed: Rule(desk.verbal_confirmed, _ALWAYS, GuandanMatch, suspended=True),
    events.Signed: Rule(closing.signed, _in(Phase.OVER)),
}
"""What each event does, and when it may."""

_BIG_TWO: dict[type[events.Event], Rule] = {
    events.Confirmed: Rule(bigtwo.confirmed, _in(Phase.RESULT), BigTwoMatch),
}
"""What an event does in a match of Big Two, where it is something else."""
