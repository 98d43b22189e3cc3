"""Nothing that the vault holds leaves it by an accident: printed, copied, encoded, or kept."""

import copy
import itertools
import json
import pickle
import random
import re
import subprocess
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
import structlog
from hypothesis import given
from hypothesis import strategies as st
from rich.pretty import pretty_repr

from controller.cards import composition, face_text
from controller.deal.attempt import new_attempt
from controller.deal.ledger import Ledger, LedgerCard
from controller.deal.observations import CardVerdict, LookOutcome
from controller.vault.dealt_hands import DealtHands, dealt_hand
from controller.vault.sealing import AttemptKey
from controller.vault.vault import ReaderLook, Vault
from drivers import board_events as of_boards

ROOT = Path(__file__).parents[2]
SET = composition(2, True)
FACES = [face for face, count in enumerate(SET) for _ in range(count)]
PLACES = {index: index for index in range(1, 109)}
SEQUENCE = "".join(random.Random(4).sample("NWSE" * 27, k=108))


def reading(index: int, face: int, **more: Any) -> Any:
    seen = {"attempt": 1, "back": 0, "face_up": 0, "confidence": 250} | more
    return SimpleNamespace(index=index, face=face, **seen)


def full() -> Vault:
    vault = Vault(SET, back=0)
    vault.begin(1)
    for index, face in enumerate(random.Random(9).sample(FACES, k=108), start=1):
        vault.take_read(reading(index, face))
    vault.bind_hands(PLACES, 108)
    return vault


def holders() -> dict[str, Any]:
    """Everything that holds a face, a key or where a card goes."""
    key = AttemptKey(bytes(range(100, 132)), random.Random(1).randbytes)
    routed = LedgerCard(index=8, place=8, route="W", gated="W", landed="W")
    return {
        "vault": full(),
        "look": ReaderLook(37, 1, False, 201),
        "key": key,
        "hands": DealtHands(full(), SEQUENCE),
        "card": routed,
        "ledger": Ledger(expected=108, cards=(routed,), open_places=(3, 5)),
        "attempt": new_attempt(SEQUENCE, 3),
    }


SECRETS = {
    "face": "37",
    "key": bytes(range(100, 132)).hex(),
    "raw key": repr(bytes(range(100, 132))),
    "pockets": SEQUENCE[:8],
    "route": "'W'",
    "hands": (full().hands or b"").hex()[:16],
    "raw hands": repr(full().hands)[2:34],
}


def in_clear(text: str) -> list[str]:
    return [name for name, secret in SECRETS.items() if secret in text]


SHOWN: dict[str, Callable[[Any], str]] = {
    "repr": repr,
    "str": str,
    "format": "{}".format,
    "rich": pretty_repr,
    "log": lambda it: str(structlog.processors.KeyValueRenderer()(None, "", {"it": it})),
    "json log": lambda it: str(structlog.processors.JSONRenderer()(None, "", {"it": it})),
    "in a tuple": lambda it: repr((it, [it])),
}


def test_nothing_of_it_is_printed(subtests: pytest.Subtests) -> None:
    for (what, holder), (how, show) in itertools.product(holders().items(), SHOWN.items()):
        with subtests.test(f"{what} by {how}"):
            assert in_clear(show(holder)) == []


COPIED: dict[str, Callable[[Any], object]] = {
    "pickle": pickle.dumps,
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "msgspec json": msgspec.json.encode,
    "msgspec msgpack": msgspec.msgpack.encode,
    "builtins": msgspec.to_builtins,
    "json": json.dumps,
}


def test_it_is_not_copied_and_the_refusal_tells_nothing(subtests: pytest.Subtests) -> None:
    held = holders()
    for what, (how, copied) in itertools.product(("vault", "look", "key"), COPIED.items()):
        with subtests.test(f"{what} by {how}"):
            with pytest.raises(TypeError) as refused:
                copied(held[what])
            assert in_clear(str(refused.value)) == []
            if how == "copy":
                continue
            with pytest.raises(TypeError) as refused:
                copied({"data": [held[what]]})
            told = "".join(traceback.format_exception(refused.value))
            assert in_clear(told) == []


def test_a_value_of_another_type_says_nothing_of_it_either() -> None:
    with pytest.raises(msgspec.ValidationError) as refused:
        msgspec.convert(holders()["look"], CardVerdict)
    assert in_clear(str(refused.value)) == []


A_FACE = 37
MISTAKES: dict[str, Callable[[], object]] = {
    "another attempt": lambda: full().take_read(reading(1, A_FACE, attempt=2)),
    "places of another set": lambda: full().bind_hands({1: 109}, 108),
    "a card that nobody has": lambda: full().turn_up(iter([109])),
    "too short a sequence": lambda: dealt_hand(full(), SEQUENCE[:-1], "N"),
    "an event that is none": lambda: full().take_read(
        SimpleNamespace(attempt=1, index=2, face=A_FACE)
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_its_errors_name_no_card(mistake: str) -> None:
    with pytest.raises((ValueError, IndexError, AttributeError)) as raised:
        MISTAKES[mistake]()
    told = re.sub(r"line \d+", "", "".join(traceback.format_exception(raised.value)))
    assert in_clear(told) == []
    assert not [face for face in set(FACES) if face_text(face) in str(raised.value)]


@pytest.mark.parametrize(
    "show", [repr, str, pretty_repr, lambda event: repr([event]), lambda event: f"{event}"]
)
def test_a_boards_event_hides_its_face_on_the_way_to_the_vault(show: Any) -> None:
    event = of_boards.CardReadEvent(
        "reader",
        1,
        2,
        3,
        of_boards.BoardEventCode.READ,
        4,
        5,
        6,
        0,
        37,
        of_boards.Back.A,
        False,
        201,
    )
    assert in_clear(show(event)) == []


# The verdict on a card.

looks = st.tuples(st.integers(0, 255), st.integers(0, 2), st.integers(0, 1), st.integers(0, 255))
told = st.lists(st.tuples(st.integers(1, 4), looks), min_size=1, max_size=20)


def verdicts(events: list[tuple[int, Any]], vault: Vault | None = None) -> list[CardVerdict]:
    vault = vault or Vault(SET, back=0)
    vault.begin(1)
    return [
        vault.take_read(reading(index, face, back=back, face_up=up, confidence=sure))
        for index, (face, back, up, sure) in events
    ]


@given(events=told)
def test_a_verdict_depends_on_the_reads_of_its_own_card_alone(events: list[Any]) -> None:
    together = verdicts(events)
    for index in {index for index, _ in events}:
        own = [event for event in events if event[0] == index]
        assert verdicts(own) == [one for one in together if one.index == index]


@given(events=told)
def test_told_again_from_the_beginning_it_is_the_same(events: list[Any]) -> None:
    vault = Vault(SET, back=0)
    assert verdicts(events, vault) == verdicts(events, vault) == verdicts(events)


@given(events=told, more=told)
def test_what_was_decided_stands_whatever_is_told_once_more(
    events: list[Any], more: list[Any]
) -> None:
    first = {one.index: one for one in verdicts(events) if one.look is not LookOutcome.REREAD}
    for later in verdicts(events + more)[len(events) :]:
        if later.index in first:
            assert later == first[later.index]


@given(events=told, other=st.integers(0, 53))
def test_which_face_it_was_is_no_part_of_it(events: list[Any], other: int) -> None:
    """A face for a face: only that there was one counts."""
    renamed = [
        (index, (other if face < 54 else face, back, up, sure))
        for index, (face, back, up, sure) in events
    ]
    assert verdicts(events) == verdicts(renamed)


# Behind the end of an attempt.


@pytest.mark.slow
def test_behind_a_deals_end_no_object_holds_its_hands_its_looks_or_its_key(
    runtime_dir: Path,
) -> None:
    """What the allocator keeps of freed objects is another matter: THREATS.md."""
    command = (sys.executable, "-m", "tests.vault.emptied_heap", str(runtime_dir))
    subprocess.run(command, cwd=ROOT, check=True)
