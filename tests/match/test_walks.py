"""Long walks through a match by people who do anything: its parts never contradict each other."""

import random
from collections.abc import Callable
from typing import Any

import pytest

from controller.match.phase import BEFORE_RELEASE, Phase
from controller.match.reducer import match_of, step
from controller.match.sheet import DealRow, EndRow, replay
from controller.match.state import GuandanMatch
from controller.rules.levels import ACE, PAST_A, TWO
from controller.rules.profile import GuandanProfile
from controller.rules.result import Forfeited
from controller.rules.seats import side

from .people import People, meeting
from .table import GUANDAN, from_level, varied
from .test_refusals import SAMPLES

ENDED = (Phase.OVER, Phase.SIGNED)


def _due(match: GuandanMatch) -> dict[str, bool]:
    """What holds while a deal is due and not begun."""
    now = match.standing
    return {
        "a deal due is due as the sheet says": (match.level, match.owner, match.follows)
        == (now.level, now.owner, now.previous),
        "nothing is left of the deal before": not (match.exchange or match.order or match.dead),
        "it has not begun": not match.led and match.began_ms is None and not match.counted,
        "who leads it is known, or will be turned up": not isinstance(now.previous, Forfeited)
        or now.previous.leader is not None,
        "no deal is due in a match that is won": now.won is None,
    }


def _always(match: GuandanMatch) -> dict[str, bool]:
    """What holds in every match."""
    now, sheet = match.standing, match.sheet
    deals = [row.deal for row in sheet if isinstance(row, DealRow)]
    ends = [row for row in sheet if isinstance(row, EndRow)]
    previous = now.previous
    named = previous.leader if isinstance(previous, Forfeited) else None
    return {
        "the sheet alone makes the standing": replay(match.profile, sheet) == now,
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
        == (match.phase in ENDED),
        "the last end on the sheet is the verdict": match.verdict is None
        or (ends[-1].verdict, ends[-1].score) == (match.verdict, match.score),
        "only an end is signed": not match.signatures or match.phase in ENDED,
        "only a deal in play is claimed wrong": match.claimed is None
        or (match.under_way and match.suspended is not None),
        "somebody leads what is played": match.leader is not None
        or match.phase not in (Phase.PLAY, Phase.RESULT),
        "who was named to lead is of the side that won": named is None
        or (isinstance(previous, Forfeited) and side(named) == previous.winners),
        "FORFEIT waits for a name": match.phase is not Phase.FORFEIT or named is None,
    }


def broken(match: GuandanMatch) -> list[str]:
    """What does not hold in a match."""
    holds = _always(match) | (_due(match) if match.phase in BEFORE_RELEASE else {})
    return [what for what, true in holds.items() if not true]


PROFILES = [
    *(varied(name) for name in GUANDAN),
    *(from_level("Q", name) for name in GUANDAN),
    *(
        varied(GUANDAN[0], ending={"method": "timed_deals", "deals": 3, "at_time": how})
        for how in ("stop_now", "finish_started")
    ),
]


@pytest.mark.timeout(3600)
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
    match = match_of(profile, meeting(rng.choice(("swiss", "knockout"))))
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
    if before.under_way and after.under_way:
        for fact in ("deal", "level", "owner", "follows", "extra"):
            assert getattr(after, fact) == getattr(before, fact), fact
