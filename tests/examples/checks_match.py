"""Levels, the end of a match and its score; asked in the examples 13–19, 63–68, 81, 82 and 88."""

from controller.match import match_events
from controller.match.match_effects import ClockReported, DealDue, RefereeCalled
from controller.match.match_state import EventStage
from controller.match.phase import MatchPhase
from controller.match.sheet_rows import DealRow, EndRow, StoppedRow
from controller.messages import Role
from controller.rules.profile import GuandanProfile
from tests.examples.table import GRADES, Table, numbers, refusal
from tests.rules.regional_draw import regional_opponent

Got = dict[str, object]
CHIEF = {"by": "chief", "role": Role.CHIEF}


def after_deal(profile: GuandanProfile, *, before: list[str], deal: str) -> Got:
    """One deal after others: the levels before and after it, and what comes next."""
    table = Table(profile).deals(before)
    at = table.levels
    points_before = table.match.standing.points
    table.play()
    owner = table.match.owner
    effects = table.end(deal)
    row, standing = table.last_deal, table.match.standing
    return {
        "from": at,
        "played_at": GRADES[row.level - 2],
        "played_of": owner or "both",
        "to": table.levels,
        "failures": numbers(standing.failures),
        "points": {
            "NS": standing.points.NS - points_before.NS,
            "EW": standing.points.EW - points_before.EW,
        },
        "over": table.over,
        **table.ending,
        **_next(table, any(isinstance(effect, DealDue) for effect in effects)),
    }


def _next(table: Table, due: bool) -> Got:
    assert due != table.over
    if not due:
        return {}
    return {"next_of": table.match.owner, "next_at": GRADES[table.match.level - 2]}


def after_deals(profile: GuandanProfile, *, before: list[str], deals: list[str]) -> Got:
    """Several deals: levels, failures and EW's points after each of them."""
    table = Table(profile).deals(before)
    at, points = table.levels, table.match.standing.points
    levels, failures, ew_points = [], [], []
    for deal in deals:
        assert not table.over
        table.deals([deal])
        levels.append(table.levels["NS"])
        failures.append(table.match.standing.failures.NS)
        ew_points.append(table.match.standing.points.EW - points.EW)
    return {
        "from": at,
        "NS_levels": levels,
        "NS_failures": failures,
        "EW_points": ew_points,
        "over": table.over,
        **table.ending,
    }


def final(profile: GuandanProfile, *, before: list[str], stage: EventStage = "swiss") -> Got:
    """A whole match to its end by its number of deals, or past A."""
    table = Table(profile, stage).deals(before)
    return {"levels": table.levels, "deals": table.match.standing.deals, **table.ending}


def time_between_deals(
    profile: GuandanProfile, *, before: list[str], stage: EventStage = "swiss"
) -> Got:
    """Time runs out when a deal is due and has not begun."""
    table = Table(profile, stage).deals(before)
    assert table.match.phase is MatchPhase.CUT
    table.wait(profile.ending.time_s - 1)
    table.do(match_events.TimePassed)
    assert not table.over
    table.wait(1)
    table.do(match_events.TimePassed)
    reached = []
    for level in ("NS", "EW"):
        rows = [row for row in table.match.sheet if isinstance(row, DealRow)]
        final_level = getattr(rows[-1].levels, level)
        reached.append(next(row.deal for row in rows if getattr(row.levels, level) == final_level))
    return {"levels": table.levels, "reached_in_deals": reached, "over": table.over, **table.ending}


def time_in_deal(profile: GuandanProfile, *, before: list[str], deal: str) -> Got:
    """Time runs out after the release of a deal's hands: is it stopped, and does it count?"""
    table = Table(profile).deals(before)
    at = table.levels
    table.play()
    table.wait(profile.ending.time_s)
    said = table.do(match_events.TimePassed)
    announced = [effect.report.kind for effect in said if isinstance(effect, ClockReported)]
    assert "time_up" in announced
    assert table.match.phase is MatchPhase.PLAY
    refused = refusal(table.tell(match_events.DealStopped, reason="time is up", **CHIEF))
    assert refused in ("", "NOT_STOPPED_BY_TIME")
    if refused:
        table.end(deal)
    kinds = [type(row) for row in table.match.sheet]
    return {
        "from": at,
        "stopped": StoppedRow in kinds,
        "deals_that_count": kinds.count(DealRow),
        "to": table.levels,
        "over": table.over and kinds[-1] is EndRow,
        **table.ending,
    }


def extra_deal(profile: GuandanProfile, *, before: list[str], deal: str) -> Got:
    """A knock-out that is equal at its end: the chief orders an extra deal."""
    table = Table(profile, "knockout").deals(before[:-1])
    effects = table.play().end(before[-1])
    equal = table.levels
    needed = RefereeCalled("extra_deal") in effects
    assert needed == (table.match.phase is MatchPhase.MATCH_CHECK)
    table.do(match_events.ExtraDealOrdered, reason="a winner is needed", **CHIEF)
    table.deals([deal])
    return {"equal": equal, "needed": needed, "to": table.levels, **table.ending}


def pairing(profile: GuandanProfile, *, match_no: int, teams: list[int]) -> Got:
    """Whom teams meet in a match of the regional stage (seed 004)."""
    return {"against": [regional_opponent(team, match_no) for team in teams]}
