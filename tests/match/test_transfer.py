"""A match that goes to another table: its document, and its times on another clock."""

import random
from collections.abc import Callable, Iterator
from typing import Any, get_args

import msgspec
import pytest

from controller.commands.registry import MAX_COMMAND_BYTES
from controller.match.match_events import MatchEvent
from controller.match.match_state import AnyMatch
from controller.match.phase import MatchPhase
from controller.match.reducer import new_match, replay_events, step
from controller.match.transfer_document import (
    MAX_PART_CHARS,
    TRANSFER_FORMAT,
    TransferDocument,
    TransferError,
    pack_document,
    rebuild_match,
    shift_event,
    state_digest,
    unpack_document,
)
from controller.rules.profile import Profile
from controller.rules.profile_files import load_profile, profile_names
from controller.rules.regulations_page import profile_hash
from tests.rows import each_row

from .differences import differences, plain
from .event_samples import SAMPLES
from .people import People, meeting

SHIFT_MS = 7_654_321
DEALS = 20
SHORT = 400
"""Characters of a part here: as long as a longer match's document has several."""


def played(
    profile: Profile, rng: random.Random, *, most: int = 20_000, wild: float = 0.15, deals: int = 99
) -> tuple[AnyMatch, list[MatchEvent]]:
    """A match at random, as far as so many events or deals."""
    people, match = People(rng, wild), new_match(profile, meeting())
    happened: list[MatchEvent] = []
    while match.phase is not MatchPhase.SIGNED and len(happened) < most and match.deal <= deals:
        happened.append(people.next_event(match))
        match, _ = step(match, happened[-1])
    return match, happened


def document(match: AnyMatch, happened: list[MatchEvent]) -> TransferDocument:
    profile = match.profile
    return TransferDocument(
        format=TRANSFER_FORMAT,
        match="M1",
        left="T01",
        left_key="T" * 40,
        to="T02",
        n=17,
        head="ab" * 32,
        at_ms=match.now_ms,
        wall="2027-01-01T00:00:00.000+00:00",
        profile=profile.name,
        profile_hash=profile_hash(profile).hex(),
        meeting=match.meeting,
        record=match.record,
        events=tuple(happened),
        proofs=(),
        result=state_digest(match),
    )


@pytest.mark.parametrize("name", profile_names())
def test_a_match_on_another_clock_is_the_same_but_for_its_times(
    name: str, scale: Callable[[int], int]
) -> None:
    profile = load_profile(name)
    for seed in range(scale(1_000)):
        rng = random.Random(f"moved {name} {seed}")
        match, happened = played(profile, rng, most=rng.choice((50, 400, 20_000)))
        moved = replay_events(
            profile, meeting(), (), [shift_event(event, SHIFT_MS) for event in happened]
        )
        found = list(differences(plain(match), plain(moved)))
        assert found
        assert not [each for each in found if not later(*each)]
        assert moved.now_ms == match.now_ms + SHIFT_MS


@each_row("kind", get_args(MatchEvent), ids=lambda kind: str(kind.__name__))
def test_every_time_in_an_event_moves_with_it(kind: Any) -> None:
    for said in SAMPLES[kind]:
        event = kind(at_ms=1_000_000, **said)
        before, after = plain(event), plain(shift_event(event, SHIFT_MS))
        moved = {where for where, _, _ in differences(before, after)}
        assert moved == set(times(before))


def later(where: str, one: Any, other: Any) -> bool:
    """Whether two values are the same moment on two clocks."""
    return isinstance(one, int) and isinstance(other, int) and other - one == SHIFT_MS


def times(data: Any, where: str = "") -> Iterator[str]:
    """Where moments of the table's clock stand: they are called so."""
    for key, value in data.items() if isinstance(data, dict) else ():
        if key in ("at_ms", "ended_ms", "offence_ms") and value is not None:
            yield f"{where}.{key}"
        yield from times(value, f"{where}.{key}")


@pytest.mark.parametrize("name", profile_names())
def test_a_document_in_parts_leads_to_the_very_same_match(
    name: str, scale: Callable[[int], int]
) -> None:
    profile = load_profile(name)
    for seed in range(scale(250)):
        match, happened = played(profile, random.Random(f"packed {name} {seed}"))
        sent = document(match, happened)
        digest, parts = pack_document(sent)
        assert unpack_document(digest, parts) == sent
        assert rebuild_match(unpack_document(digest, parts), profile) == match


def test_a_match_of_twenty_deals_takes_few_commands() -> None:
    profile = load_profile("huainan-2013-003")
    for seed in range(20):
        match, happened = played(profile, random.Random(f"long {seed}"), deals=DEALS)
        _, parts = pack_document(document(match, happened))
        assert len(parts) <= 4
        assert all(len(part) <= MAX_PART_CHARS < MAX_COMMAND_BYTES - 2_000 for part in parts)


@pytest.mark.parametrize(
    ("spoilt", "found"),
    [
        (lambda parts: parts[::-1], "fit together"),
        (lambda parts: parts[:-1], "cut off"),
        (lambda parts: [parts[0][:-4] + "AAAA", *parts[1:]], "fit together|cut off|digest"),
        (lambda parts: ["?" + parts[0][1:], *parts[1:]], "fit together"),
        (lambda parts: pack_document(_other()).parts, "digest"),
    ],
)
def test_parts_that_are_no_document_are_said_to_be_none(
    spoilt: Callable[[list[str]], list[str]], found: str
) -> None:
    match, happened = played(load_profile("international-000"), random.Random(3), wild=0.5)
    digest, whole = pack_document(document(match, happened))
    text = "".join(whole)
    parts = [text[at : at + SHORT] for at in range(0, len(text), SHORT)]
    assert unpack_document(digest, parts).match == "M1"
    with pytest.raises(TransferError, match=found):
        unpack_document(digest, spoilt(parts))


def test_a_document_that_is_none_or_of_another_format_is_refused() -> None:
    strange = msgspec.structs.replace(_other(), format=2)
    with pytest.raises(TransferError, match="format 2"):
        unpack_document(*pack_document(strange))
    with pytest.raises(TransferError, match="unreadable document"):
        unpack_document(*pack_document({"format": 1}))  # type: ignore[arg-type]  # what a stranger may send


def test_events_that_lead_elsewhere_are_not_taken() -> None:
    sent = _other()
    changed = msgspec.structs.replace(sent, events=sent.events[:-1])
    with pytest.raises(TransferError, match="lead to another state"):
        rebuild_match(changed, load_profile("international-000"))


def _other() -> TransferDocument:
    match, happened = played(load_profile("international-000"), random.Random(5), most=40)
    return document(match, happened)
