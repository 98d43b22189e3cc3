"""Whether a match is over, by its sheet, its clock and its rulings, and may begin deals."""

from controller.match.clocks import match_clock
from controller.match.phase import BEFORE_RELEASE, MatchPhase
from controller.match.rulings import MatchRuling, is_in_force
from controller.match.sheet import last_deal_row
from controller.match.state import AnyMatch, GuandanMatch
from controller.rules.ending import EndReason, ExtraDealNeeded, MatchVerdict, decide_match
from controller.rules.penalties.consequences import MatchLost, PairDisqualified
from controller.rules.result import DealResult
from controller.rules.seats import other_side


def match_outcome(match: GuandanMatch, at_ms: int) -> MatchVerdict | ExtraDealNeeded | None:
    """Return whether the match is over, by a ruling, or by its sheet and its clock."""
    return verdict_by_ruling(match) or decide_match(
        match.profile,
        match.standing,
        time_up=_is_out_of_time(match, at_ms),
        knockout=match.meeting.stage == "knockout",
        extra_result=_extra_deal_result(match),
    )


def verdict_by_ruling(match: GuandanMatch) -> MatchVerdict | None:
    """Return how a ruling has ended the match; None: there is none in force that did.

    A match is lost once, the first such ruling counts; unless neither pair came: then
    nobody wins (both provisional).
    """
    verdicts = [
        end for ruling in filter(is_in_force, match.rulings) if (end := _verdict_of_ruling(ruling))
    ]
    if not match.deal and len({end.winner for end in verdicts}) > 1:
        return MatchVerdict(None, "both_lost")
    return verdicts[0] if verdicts else None


def is_time_up_for_deals(match: AnyMatch, at_ms: int) -> bool:
    """Tell whether time is up for new deals; an extra deal is beyond time.

    A deal that had begun and is dealt again is no new one (seed 003 N4.4), but by the
    letter of seed 000 A14.2.3–4 time ends that, too. Hands on their way to the players
    were ordered in time.
    """
    if match.is_being_released:
        return False
    if match.begun and not match.clock.stops_deals:
        return False
    if isinstance(match, GuandanMatch) and match.extra:
        return False
    return not match_clock.has_time_for_deal(match.clock, at_ms)


def is_added_time_open(match: AnyMatch, at_ms: int) -> bool:
    """Tell whether a referee has still to say what becomes of the time this table lost."""
    return match_clock.has_unanswered_stop(match.clock, match.settled_stops, at_ms)


def _verdict_of_ruling(ruling: MatchRuling) -> MatchVerdict | None:
    effects = ruling.proposal.effects
    expelled = any(isinstance(effect, PairDisqualified) for effect in effects)
    how: EndReason = "disqualified" if expelled else "forfeit"
    lost = [effect.side for effect in effects if isinstance(effect, MatchLost)]
    return MatchVerdict(other_side(lost[0]), how) if lost else None


def _is_out_of_time(match: GuandanMatch, at_ms: int) -> bool:
    """Tell whether time ends the match: it may still have a deal that had begun, or a word due.

    The word is a referee's on the time the table lost. An extra deal has no part in this:
    it is there because time is up.
    """
    if match.is_being_released:
        return False
    if not match.extra:
        if match.begun and not match.clock.stops_deals:
            return False
        if match.phase in BEFORE_RELEASE | {MatchPhase.FORFEIT} and is_added_time_open(
            match, at_ms
        ):
            return False
    return not match_clock.has_time_for_deal(match.clock, at_ms)


def _extra_deal_result(match: GuandanMatch) -> DealResult | None:
    last = last_deal_row(match.sheet)
    return last.result if last is not None and last.extra else None
