"""A match as a journal keeps it: its events as plain data, from which it is played again."""

import random
from collections.abc import Callable, Iterable
from typing import Any, get_args

import msgspec
import pytest

from controller.match import match_events
from controller.match.match_events import MatchEvent, decode_match_event, encode_match_event
from controller.match.match_state import AnyMatch, GuandanMatch, Meeting
from controller.match.phase import MatchPhase
from controller.match.reducer import new_match, replay_events, step
from controller.match.ruling_desk import current_record, legal_proposals
from controller.rules.penalties.offences import offence_catalogue
from controller.rules.penalties.penalty_record import PenaltyRecord
from controller.rules.profile import Profile
from controller.rules.profile_files import load_profile, profile_names
from controller.seats import SEATS
from controller.signing import canonical_json
from tests.rows import each_row

from .event_samples import SAMPLES
from .people import People, charge_of, meeting
from .table import GUANDAN, Table

PLAIN = (str, int, bool, type(None), list, dict)


def again(value: object, kind: Any) -> Any:
    """The value as a journal's row gives it back."""
    row = canonical_json(msgspec.to_builtins(value))
    return msgspec.convert(msgspec.json.decode(row), kind)


def _is_plain(value: object) -> bool:
    if isinstance(value, dict):
        return all(type(key) is str and _is_plain(one) for key, one in value.items())
    if isinstance(value, list):
        return all(_is_plain(one) for one in value)
    return type(value) in PLAIN


@each_row("kind", get_args(MatchEvent), ids=lambda kind: str(kind.__name__))
def test_an_event_of_every_kind_is_the_same_after_the_journal(
    kind: type[match_events.MatchEventBase],
) -> None:
    for said in SAMPLES[kind]:
        event: Any = kind(at_ms=12, **said)
        data = encode_match_event(event)
        assert _is_plain(data)
        assert data["event"] == kind.__struct_config__.tag
        assert decode_match_event(data) == event == again(event, MatchEvent)


@pytest.mark.parametrize("profile", GUANDAN)
def test_every_legal_proposal_is_the_same_after_the_journal(profile: str) -> None:
    match = Table(profile).started().in_play().match
    for offence in offence_catalogue():
        charge = charge_of(match, "N", offence)
        for proposal in legal_proposals(match, charge):
            event = match_events.RulingProposed(
                at_ms=1, id="R", charge=charge, proposal=proposal, by="referee"
            )
            assert (
                decode_match_event(msgspec.json.decode(canonical_json(encode_match_event(event))))
                == event
            )


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"event": "Led"},
        {"event": "Led", "at_ms": "1"},
        {"event": "Led", "at_ms": 1.5},
        {"event": "Nothing", "at_ms": 1},
        {"event": "Counted", "at_ms": 1, "seat": "X"},
    ],
)
def test_what_is_no_event_is_said_to_be_none(data: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"\$|missing|Invalid|Expected|required"):
        decode_match_event(data)


def test_who_plays_is_the_same_after_the_journal() -> None:
    for stage in ("swiss", "round_robin", "knockout"):
        assert again(meeting(stage), Meeting) == meeting(stage)


@pytest.mark.slow
@pytest.mark.parametrize("name", profile_names())
def test_a_match_moved_to_another_table_is_the_match_it_was(
    name: str, scale: Callable[[int], int]
) -> None:
    profile = load_profile(name)
    carried: PenaltyRecord = ()
    for seed in range(scale(1_000)):
        rng = random.Random(f"{name} {seed}")
        match, happened = _played(profile, carried, rng, rng.choice((50, 400, 20_000)))
        rows = [canonical_json(encode_match_event(event)) for event in happened]
        kept: Iterable[MatchEvent] = (decode_match_event(msgspec.json.decode(row)) for row in rows)
        moved = replay_events(
            profile, again(meeting(), Meeting), again(carried, PenaltyRecord), kept
        )
        assert moved == match
        assert type(moved) is type(match)
        if isinstance(match, GuandanMatch):
            carried = current_record(match)
            assert again(carried, PenaltyRecord) == carried
            carried = carried[-50:]


def _played(
    profile: Profile, record: PenaltyRecord, rng: random.Random, most: int
) -> tuple[AnyMatch, list[MatchEvent]]:
    people, match = People(rng), new_match(profile, meeting(), record)
    happened: list[MatchEvent] = []
    while match.phase is not MatchPhase.SIGNED and len(happened) < most:
        event = people.next_event(match)
        assert decode_match_event(encode_match_event(event)) == event
        happened.append(event)
        match, _ = step(match, event)
    return match, happened


def test_seats_are_keys_that_a_journal_keeps() -> None:
    event = match_events.HandsRecounted(at_ms=1, counts=dict.fromkeys(SEATS, 27))
    assert list(encode_match_event(event)["counts"]) == list(SEATS)
