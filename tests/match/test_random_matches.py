"""Whole matches at random: nothing sticks, nothing raises, the sheet tells all of it."""

import random
from collections import Counter
from collections.abc import Callable
from typing import cast

import msgspec
import pytest

from controller.match.big_two_match import seat_totals
from controller.match.match_effects import EventRefused
from controller.match.match_state import AnyMatch, BigTwoMatch, EventStage, GuandanMatch
from controller.match.phase import MatchPhase
from controller.match.reducer import new_match, step
from controller.match.sheet_rows import replay_sheet
from controller.match.timing import advance_time
from controller.rules.big_two import deal_scores
from controller.rules.profile import GuandanProfile, Profile
from controller.rules.profile_files import load_profile, profile_names
from controller.rules.ranks import PAST_A, TWO

from .people import People, meeting

pytestmark = pytest.mark.slow

LONGEST = 20_000
"""Events after which a match counts as stuck; they take some hundreds."""

STAGES: tuple[EventStage, ...] = ("swiss", "round_robin", "knockout")


@pytest.mark.parametrize("name", profile_names())
def test_every_match_comes_to_its_signatures(name: str, scale: Callable[[int], int]) -> None:
    profile, seen = load_profile(name), Counter[str]()
    for seed in range(scale(20_000)):
        _play(profile, random.Random(f"{name} {seed}"), seen)
    missing = [what for what in _expected(profile) if not seen[what]]
    assert not missing, f"never happened: {missing}"


@pytest.mark.parametrize("name", profile_names())
def test_a_match_replays_from_its_events(name: str, scale: Callable[[int], int]) -> None:
    profile = load_profile(name)
    for seed in range(scale(500)):
        rng = random.Random(seed)
        people, match = People(rng), new_match(profile, meeting())
        happened = []
        while match.phase is not MatchPhase.SIGNED:
            happened.append(people.next_event(match))
            match, _ = step(match, happened[-1])
        again = new_match(profile, meeting())
        for event in happened:
            again, _ = step(again, event)
        assert again == match


def _expected(profile: Profile) -> list[str]:
    """What must have happened among many matches, or they were none."""
    if not isinstance(profile, GuandanProfile):
        return ["misdeal", "refused"]
    ends = ["past_a", "level"]
    if profile.ending.equal_knockout == "extra_deal":  # else the first to reach it has won
        ends.append("extra")
    return ["misdeal", "refused", "by_hand", "ruling", "correction", "anti", *ends]


def _play(profile: Profile, rng: random.Random, seen: Counter[str]) -> None:
    people = People(rng, wild=rng.choice((0.0, 0.05, 0.2)), pace=rng.choice((1, 1, 8)))
    match = new_match(_event_of(profile, rng), meeting(rng.choice(STAGES)))
    for _ in range(LONGEST):
        if match.phase is MatchPhase.SIGNED:
            break
        event = people.next_event(match)
        after, effects = step(match, event)
        if any(isinstance(effect, EventRefused) for effect in effects):
            seen["refused"] += 1
            assert after == advance_time(match, max(event.at_ms, match.now_ms))[0]
        _check(match, after)
        match = after
    assert match.phase is MatchPhase.SIGNED, f"stuck in {match.phase} of deal {match.deal}"
    _notice(match, seen)


def _event_of(profile: Profile, rng: random.Random) -> Profile:
    """The rulebook as some event may settle it: another way to end, another word at time."""
    if not isinstance(profile, GuandanProfile):
        return profile
    ending = msgspec.structs.replace(
        profile.ending,
        method=rng.choice(profile.ending.methods),
        deals=profile.ending.deals or rng.randrange(1, 12),
        at_time=rng.choice(("stop_now", "finish_started")),
        last_start_margin_s=rng.choice((0, 180)),
    )
    return msgspec.structs.replace(profile, ending=ending)


def _check(before: AnyMatch, after: AnyMatch) -> None:
    if isinstance(after, GuandanMatch):
        levels = after.standing.levels
        assert TWO <= min(levels.NS, levels.EW) <= max(levels.NS, levels.EW) <= PAST_A
        if after.sheet is not cast(GuandanMatch, before).sheet:
            assert after.standing == replay_sheet(after.profile, after.sheet)
    elif isinstance(after, BigTwoMatch):
        assert after.totals == seat_totals(after.rows)
        assert sum(after.totals.values()) == 0
        for row in after.rows[-1:]:
            scores = deal_scores(row.left, after.profile.bigtwo, row.opened, row.doubled)
            assert scores == row.scores


def _notice(match: AnyMatch, seen: Counter[str]) -> None:
    if isinstance(match, BigTwoMatch):
        seen["misdeal"] += sum(row.misdeals for row in match.rows)
        return
    assert isinstance(match, GuandanMatch)
    assert match.verdict is not None
    seen[match.verdict.how] += 1
    for row in match.sheet:
        fields = msgspec.to_builtins(row)
        seen["misdeal"] += fields.get("misdeals", 0)
        seen["by_hand"] += fields.get("by_hand", False)
        seen["extra"] += fields.get("extra", False)
        seen["anti"] += fields.get("anti", False)
        seen[fields["kind"]] += 1
    seen["ruling"] += len(match.rulings)
