"""Long walks through a match by people who do anything: its parts never contradict each other."""

import random
from collections.abc import Callable
from typing import Any

import pytest

from controller.match.deal_start import required_counts
from controller.match.match_state import GuandanMatch
from controller.match.phase import BEFORE_RELEASE, ENDED_PHASES, MatchPhase
from controller.match.reducer import new_match, step
from controller.match.rulings import is_in_force
from controller.match.sheet_rows import (
    DealRow,
    EndRow,
    OverturnedRow,
    RulingRow,
    StoppedRow,
    replay_sheet,
)
from controller.rules.deal_result import ForfeitedDeal
from controller.rules.match_standing import PerSide, level_due
from controller.rules.profile import GuandanProfile
from controller.rules.ranks import ACE, PAST_A, TWO
from controller.seats import side_of

from .event_samples import SAMPLES
from .people import People, meeting
from .table import GUANDAN, from_level, timed, varied

pytestmark = pytest.mark.slow


def _due(match: GuandanMatch) -> dict[str, bool]:
    """What holds while a deal is due and not begun."""
    now = match.standing
    return {
        "a deal due is due as the sheet says": (match.level, match.owner, match.follows)
        == (level_due(match.profile, now), now.owner, now.previous),
        "nothing is left of the deal before": not (match.exchange or match.places or match.dead),
        "it has not begun": not match.led and match.began_ms is None and not match.counted,
        "who leads it is known, or will be turned up": not isinstance(now.previous, ForfeitedDeal)
        or now.previous.leader is not None,
        "no deal is due in a match that is won": now.won is None,
    }


def _always(match: GuandanMatch) -> dict[str, bool]:
    """What holds in every match."""
    now, sheet = match.standing, match.sheet
    deals = [row.deal for row in sheet if isinstance(row, DealRow)]
    ends = [row for row in sheet if isinstance(row, EndRow)]
    previous = now.previous
    named = previous.leader if isinstance(previous, ForfeitedDeal) else None
    return {
        "the sheet alone makes the standing": replay_sheet(match.profile, sheet) == now,
        "rows are numbered": [row.row for row in sheet] == list(range(1, len(sheet) + 1)),
        "no deal is written twice": len(set(deals)) == len(deals),
        "deals are numbered forward": deals == sorted(deals)
        and max(deals, default=0) <= match.deal,
        "levels are between 2 and past A": all(
            TWO <= level <= PAST_A for level in (now.levels.NS, now.levels.EW)
        ),
        "who has won stands past A, or the others failed": now.won is None
        or now.levels.of(now.won) == PAST_A
        or match.profile.levels.a_fail_then == "opponents_win",
        "what is played is at most A": match.level <= ACE,
        "a verdict is an end, and has a score": (match.verdict is not None)
        == (match.score is not None)
        == (match.phase in ENDED_PHASES),
        "the last end on the sheet is the verdict": match.verdict is None
        or (ends[-1].verdict, ends[-1].score) == (match.verdict, match.score),
        "only an end is signed": not match.signatures or match.phase in ENDED_PHASES,
        "only a deal in play is claimed wrong": match.claimed is None
        or (match.is_deal_under_way and match.suspended is not None),
        "somebody leads what is played": match.leader is not None
        or match.phase not in (MatchPhase.PLAY, MatchPhase.RESULT),
        "who was named to lead is of the side that won": named is None
        or (isinstance(previous, ForfeitedDeal) and side_of(named) == previous.winners),
        "FORFEIT waits for a name": match.phase is not MatchPhase.FORFEIT or named is None,
    }


def _told(match: GuandanMatch) -> dict[str, bool]:
    """What holds of rulings and stopped deals on the sheet."""
    rows, rulings = match.sheet, match.rulings
    penal = {one.id for one in rulings if is_in_force(one) and one.proposal.penalty != "none"}
    overturned = {row.ruling for row in rows if isinstance(row, OverturnedRow)}
    noted = [row.ruling for row in rows if isinstance(row, RulingRow)]
    stopped = [row.deal for row in rows if isinstance(row, StoppedRow)]
    deals = {row.deal for row in rows if isinstance(row, DealRow)}
    lost = match.verdict is not None and match.verdict.how == "both_lost"
    points = (match.score.match_points, match.score.level_points) if match.score else ()
    return {
        "every penalty in force is on the sheet": penal == set(noted) - overturned,
        "no penalty is there twice": len(set(noted)) == len(noted),
        "a deal is stopped once and not played": len({*stopped, *deals})
        == len(stopped) + len(deals),
        "a sheet that is ended ends with its end": match.phase not in ENDED_PHASES
        or isinstance(rows[-1], EndRow),
        "nobody has points where neither pair came": not lost
        or (match.deal == 0 and set(points) <= {None, PerSide()}),
    }


def _timely(match: GuandanMatch) -> dict[str, bool]:
    """What holds of the time of a match and of its stops."""
    clock, began_ms, ended_ms = match.clock, match.began_ms, match.ended_ms
    open_stop = bool(clock.stops) and clock.stops[-1].to_ms is None
    return {
        "a deal that has begun is known to have": not match.is_deal_under_way
        or (match.begun and began_ms is not None),
        "only a deal can have begun": not match.begun
        or match.is_deal_under_way
        or match.phase in BEFORE_RELEASE | {MatchPhase.FORFEIT},
        "a finished deal has a last card": match.phase is not MatchPhase.RESULT
        or (began_ms or 0) <= (-1 if ended_ms is None else ended_ms) <= match.now_ms,
        "a deal in play has none": match.phase is not MatchPhase.PLAY or ended_ms is None,
        "stops are answered for once they are there": match.settled_stops <= len(clock.stops),
        "a suspended table is stopped": match.suspended is None or open_stop,
        "four right hands stop nothing": match.phase is not MatchPhase.HELD
        or match.suspended is not None
        or not open_stop,
    }


def _at_the_table(match: GuandanMatch) -> dict[str, bool]:
    """What holds of hands and places in a deal."""
    playing = match.phase in (MatchPhase.PLAY, MatchPhase.RESULT)
    plan = match.exchange.plan if match.exchange else None
    given = match.exchange.given if match.exchange else ()
    returned = match.exchange.returned if match.exchange else {}
    return {
        "nobody out has a dead hand": not set(match.places) & set(match.dead),
        "all hold as many cards when play begins": not playing
        or set(required_counts(match).values()) == {match.profile.hand},
        "who leads is known after the returns": not match.is_deal_under_way
        or playing
        or match.leader is None,
        "what was returned went where the plan says": set(returned)
        <= {to for giver, to in (plan.returns if plan else ()) if giver in given},
    }


def broken(match: GuandanMatch) -> list[str]:
    """What does not hold in a match."""
    holds = _always(match) | _told(match) | _timely(match) | _at_the_table(match)
    if match.phase in BEFORE_RELEASE:
        holds |= _due(match)
    return [what for what, true in holds.items() if not true]


PROFILES = [
    *(varied(name) for name in GUANDAN),
    *(from_level("Q", name) for name in GUANDAN),
    *(
        varied(GUANDAN[0], ending={"method": "timed_deals", "deals": 3, "at_time": how})
        for how in ("stop_now", "finish_started")
    ),
    *(
        timed(name, time_s=900, at_time=how)
        for name in GUANDAN
        for how in ("stop_now", "finish_started")
    ),
]


@pytest.mark.parametrize("number", range(len(PROFILES)))
def test_the_parts_of_a_match_never_contradict_each_other(
    number: int, scale: Callable[[int], int]
) -> None:
    for seed in range(scale(1_000)):
        rng = random.Random(f"{number} {seed}")
        _walk(PROFILES[number], rng)


def _walk(profile: Any, rng: random.Random) -> None:
    assert isinstance(profile, GuandanProfile)
    people = People(rng, wild=rng.choice((0.1, 0.3, 0.6)))
    match = new_match(profile, meeting(rng.choice(("swiss", "knockout"))))
    for _ in range(600):
        event: Any = people.next_event(match)
        if rng.random() < 0.1:
            kind = rng.choice(list(SAMPLES))
            event = kind(at_ms=match.now_ms, **rng.choice(SAMPLES[kind]))
        before = match
        match, _ = step(before, event)
        assert isinstance(before, GuandanMatch)
        assert isinstance(match, GuandanMatch)
        assert not (wrong := broken(match)), f"{wrong} by {event} in {before.phase}"
        _check_facts(before, match)


def _check_facts(before: GuandanMatch, after: GuandanMatch) -> None:
    """Rows are only added, and what is being played stays what it was."""
    assert after.sheet[: len(before.sheet)] == before.sheet
    assert after.version >= before.version
    if before.is_deal_under_way and after.is_deal_under_way:
        for fact in ("deal", "level", "owner", "follows", "extra"):
            assert getattr(after, fact) == getattr(before, fact), fact
