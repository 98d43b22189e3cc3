"""The campaign's judge: each of its laws finds what was planted against it, and nothing else."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any

import msgspec
import pytest

from controller.cards import face_text
from controller.journal.packed_board_events import LoggedBoardEvent
from sim.campaign import life_judge
from sim.campaign.ground_truth import BoardRun, CoreEvent, Passage, Source
from sim.mechanics.cards import Cards, PhysicalCard
from sim.mechanics.truth import Truth

pytestmark = pytest.mark.slow

CARDS = 108
SET = life_judge.JudgedCardSet(packs=2, faces=54, back=0)
VECTORS: list[dict[str, Any]] = json.loads(
    resources.files("controller.deal").joinpath("vectors.json").read_text(encoding="utf-8")
)


def promise_of(vector: dict[str, Any]) -> life_judge.DealPromise:
    """Return what a worked value of PROOF.md promises."""
    table_key, match, deal, attempt, profile_hash, card_set = vector["context"]
    return life_judge.DealPromise(
        table_key=table_key,
        match=match,
        deal=deal,
        attempt=attempt,
        profile_hash=profile_hash["hex"],
        card_set=card_set,
        commitment=vector["commitment"],
        seed=bytes.fromhex(vector["seed"]),
        cut=vector["cut"],
    )


PROMISE = promise_of(VECTORS[0])
SEQUENCE: str = VECTORS[0]["sequence"]


def card(number: int, **fields: Any) -> PhysicalCard:
    """Return card `number` of a set as it comes from the box."""
    return PhysicalCard(**({"id": number, "face": number % 54, "back": 0} | fields))


def table(pockets: list[list[PhysicalCard]], **places: Any) -> Truth:
    """Return a table with cards in its pockets N W S E, and what else lies where."""
    nothing: dict[str, Any] = dict.fromkeys(
        ("hopper", "shuffler", "feeder", "window", "path", "floor", "table", "box"), ()
    )
    tray: Cards = places.pop("tray", ())
    fields = nothing | {
        "pockets": (*map(tuple, pockets), tray),
        "hands": ((), (), (), ()),
        "beside": {},
        "gate": 0,
        "lift_up": False,
        "lift_down": True,
        "lid_open": False,
        "estop": False,
        "passes": 0,
        "arrived": CARDS,
        "landed": CARDS,
        "feeding_ms": 62.0 * CARDS,
        "first_feed_s": 0.0,
        "last_landing_s": 1.0,
    }
    return Truth(**(fields | places))


def passage(number: int, of: PhysicalCard, landed: int, source: Source = "hopper") -> Passage:
    """Return how a card went through the window."""
    return Passage(number, of, source, 1, number, window_s=float(number), landed=landed)


def dealt() -> tuple[list[Passage], list[list[PhysicalCard]]]:
    """Return a right deal of the first vector: its passages, and its pockets."""
    passages, pockets = [], [[], [], [], []]  # type: tuple[list[Passage], list[list[PhysicalCard]]]
    for place in range(1, CARDS + 1):
        outlet = life_judge.POCKETS.index(SEQUENCE[place - 1])
        pockets[outlet].append(card(place))
        passages.append(passage(place, card(place), outlet))
    return passages, pockets


def wrong_places(passages: list[Passage], pockets: list[list[PhysicalCard]]) -> list[str]:
    """Return what the judge says of cards that lie in these pockets."""
    return list(life_judge.find_wrong_places(passages, table(pockets), PROMISE, CARDS))


# The cards.


def test_four_right_hands_are_right() -> None:
    passages, pockets = dealt()
    assert list(life_judge.find_wrong_cards(table(pockets), SET)) == []
    assert wrong_places(passages, pockets) == []


def test_hands_of_26_and_28_are_found() -> None:
    _, pockets = dealt()
    pockets[1].append(pockets[0].pop())
    assert list(life_judge.find_wrong_cards(table(pockets), SET)) == [
        "the pockets have [26, 28, 27, 27] cards, not 27 each"
    ]


def test_a_third_copy_is_found() -> None:
    _, pockets = dealt()
    forged = pockets[2][0]
    pockets[2][0] = replace(forged, face=(forged.face + 1) % 54)
    (words,) = life_judge.find_wrong_cards(table(pockets), SET)
    assert words == (
        f"the set is not complete: too many of face [{(forged.face + 1) % 54}], "
        f"too few of [{forged.face}]"
    )


def test_another_back_is_found() -> None:
    _, pockets = dealt()
    pockets[3][5] = replace(pockets[3][5], back=1)
    assert list(life_judge.find_wrong_cards(table(pockets), SET)) == [
        f"cards [{pockets[3][5].id}] have another back"
    ]


@pytest.mark.parametrize("place", ["hopper", "shuffler", "feeder", "window", "path", "tray"])
def test_a_card_that_lies_anywhere_else_is_found(place: str) -> None:
    _, pockets = dealt()
    (words,) = life_judge.find_left_behind(table(pockets, **{place: (card(200),)}))
    assert words == f"1 cards left in the {place}"


# The sequence.


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["name"])
def test_the_judge_computes_what_the_proof_says(vector: dict[str, Any]) -> None:
    promise = promise_of(vector)
    assert life_judge.compute_commitment(promise) == vector["commitment"]
    assert life_judge.compute_pockets(promise, vector["cards"]) == vector["sequence"]


def test_the_judge_knows_nothing_of_the_controllers_deal() -> None:
    source = Path(life_judge.__file__).read_text(encoding="utf-8")
    imports = [line for line in source.splitlines() if line.startswith(("import", "from"))]
    assert not [line for line in imports if "controller.deal" in line]
    assert not [line for line in imports if "controller.machine" in line]


def test_two_cards_in_each_others_pockets_are_found() -> None:
    passages, pockets = dealt()
    pockets[0][0], pockets[1][0] = pockets[1][0], pockets[0][0]
    assert sorted(wrong_places(passages, pockets)) == sorted(
        f"place {pockets[outlet][0].id} is in pocket {life_judge.POCKETS[outlet]}, "
        f"not in {life_judge.POCKETS[1 - outlet]} as committed"
        for outlet in (0, 1)
    )


def test_a_sequence_that_is_shifted_by_one_is_found() -> None:
    passages, pockets = dealt()
    shifted = [replace(one, number=one.number + 1) for one in passages[:-1]]
    late = [passage(1, passages[-1].card, passages[-1].landed or 0), *shifted]
    assert len(wrong_places(late, pockets)) > 27


def test_another_seed_than_the_committed_one_is_found() -> None:
    passages, pockets = dealt()
    other = msgspec.structs.replace(PROMISE, seed=hashlib.sha256(b"other").digest())
    words = list(life_judge.find_wrong_places(passages, table(pockets), other, CARDS))
    assert words[0] == "the commitment is not that of this context and seed"
    assert len(words) > 27


def test_a_card_that_came_by_no_place_is_found() -> None:
    passages, pockets = dealt()
    assert wrong_places(passages[:-1], pockets) == [
        f"card {CARDS} is in pocket {SEQUENCE[-1]} and has no place"
    ]


def test_a_place_that_was_dealt_twice_is_found() -> None:
    passages, pockets = dealt()
    of, landed = passages[4].card, passages[4].landed
    assert landed is not None
    twin = card(500)
    pockets[landed].append(twin)
    passages.insert(5, passage(5, twin, landed))
    assert wrong_places(passages, pockets) == [f"place {of.id} was dealt 2 times"]


def test_the_tray_gives_places_last_in_first_out_then_those_that_were_not_reached() -> None:
    """Cards 2 and 4 and the two of arrival 5 go to the tray; 5 is two cards in one place."""
    tray = 4
    passages = [
        passage(1, card(1), 0),
        passage(2, card(2), tray),
        passage(3, card(3), 0),
        passage(4, card(4), tray),
        passage(5, card(5), tray),
        passage(5, card(6), tray),
        passage(6, card(7), 0),
        passage(7, card(6), 0, "tray"),
        passage(8, card(5), tray, "tray"),
        passage(9, card(5), 0, "tray"),
        passage(10, card(4), 0, "tray"),
        passage(11, card(2), 0, "tray"),
    ]
    assert life_judge.compute_places(passages, 8) == {1: 1, 3: 3, 7: 6, 6: 5, 5: 4, 4: 2, 2: 7}


def lying() -> tuple[list[Passage], Truth]:
    """Return how the cards of the first vector lie."""
    passages, pockets = dealt()
    return passages, table(pockets)


def turned_up(told: dict[str, str], *again: int) -> list[str]:
    """Return what the judge says of a card that was turned up."""
    return list(life_judge.find_wrong_turned_up(told, lying(), PROMISE, CARDS, again))


def test_the_card_that_is_turned_up_is_the_one_that_was_drawn() -> None:
    first, second, _ = VECTORS[0]["turned_up"]
    assert [first % 54, second % 54] == [9, 23]
    right = {"turned_up": face_text(9), "leader": SEQUENCE[first - 1]}
    assert turned_up(right) == []
    assert turned_up({}) == []
    after_it = {"turned_up": face_text(23), "leader": SEQUENCE[second - 1]}
    assert turned_up(after_it, 9) == []


@pytest.mark.parametrize("wrong", [{"turned_up": face_text(10)}, {"leader": "X"}])
def test_another_turned_up_card_or_leader_is_found(wrong: dict[str, str]) -> None:
    first = VECTORS[0]["turned_up"][0]
    right = {"turned_up": face_text(9), "leader": SEQUENCE[first - 1]}
    (words,) = turned_up(right | wrong)
    assert words.startswith("the turned-up card is ")


def test_a_card_that_should_have_been_turned_again_is_found() -> None:
    first = VECTORS[0]["turned_up"][0]
    (words,) = turned_up({"turned_up": face_text(9), "leader": SEQUENCE[first - 1]}, 9)
    assert words.startswith("the turned-up card is ")


def test_the_bound_hands_are_those_that_lie_there() -> None:
    nonce, record = bytes(32), bytes(place % 54 for place in range(1, CARDS + 1))
    bound = life_judge.compute_hands_hash(PROMISE, nonce, record)
    assert list(life_judge.find_wrong_hands(bound, (nonce, record), lying(), PROMISE, CARDS)) == []
    other = bytes((record[0] ^ 1, *record[1:]))
    assert list(life_judge.find_wrong_hands(bound, (nonce, other), lying(), PROMISE, CARDS)) == [
        "the bound hands are not those of the record",
        "the bound hands have another face at places 1",
    ]


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["name"])
def test_the_judge_binds_hands_as_the_proof_says(vector: dict[str, Any]) -> None:
    nonce, record = bytes.fromhex(vector["nonce"]), bytes.fromhex(vector["record"])
    assert life_judge.compute_hands_hash(promise_of(vector), nonce, record) == vector["hands"]
    draws = life_judge.compute_turned_up(promise_of(vector), vector["cards"])
    assert [next(draws) for _ in vector["turned_up"]] == vector["turned_up"]


# What was said.


def said(number: int, **fields: int) -> CoreEvent:
    """Return a landing as its board said it."""
    of = {"attempt": 1, "code": 4, "seen": number, "landed": number, "index": number, "place": 2}
    return CoreEvent(number=number, **(of | fields))


def noted(number: int, boot: int = 7, **fields: Any) -> LoggedBoardEvent:
    """Return the same landing as the journal has it."""
    of: dict[str, Any] = {"board": "dealer", "boot": boot, "attempt": 1, "code": 4, "place": 2}
    of |= dict.fromkeys(("number", "seen", "landed", "index"), number)
    return LoggedBoardEvent(**(of | fields))


def boot(**fields: Any) -> BoardRun:
    """Return a run of the dealer board that said five things."""
    of: dict[str, Any] = {"board": "dealer", "boot": 7, "events": [said(n) for n in range(1, 6)]}
    return BoardRun(**(of | fields))


def test_what_was_said_and_noted_is_right() -> None:
    journal = [noted(n) for n in range(1, 6)]
    assert list(life_judge.find_lost_events([boot()], journal)) == []
    assert list(life_judge.find_doubled_events([boot()], journal)) == []


@pytest.mark.parametrize("gone", [1, 3, 5])
def test_an_event_that_the_journal_lacks_is_found(gone: int) -> None:
    journal = [noted(n) for n in range(1, 6) if n != gone]
    (words,) = life_judge.find_lost_events([boot()], journal)
    assert words == f"dealer: events {gone} of 5 are not in the journal"


def test_an_event_that_the_journal_has_otherwise_is_found() -> None:
    journal = [noted(n, place=3 if n == 2 else 2) for n in range(1, 6)]
    (words,) = life_judge.find_lost_events([boot()], journal)
    assert words.startswith("dealer: event 2 was ")


def test_an_event_that_the_journal_has_twice_is_found() -> None:
    journal = [noted(n) for n in (1, 2, 3, 3, 4, 5)]
    assert list(life_judge.find_doubled_events([boot()], journal)) == [
        "dealer: events 3 are twice in the journal"
    ]


def test_events_of_a_board_that_never_was_are_found() -> None:
    (words,) = life_judge.find_doubled_events([boot()], [noted(1, boot=8)])
    assert words == "the journal has events of boot 8, which does not exist"


def test_a_board_that_died_may_take_its_last_words_with_it() -> None:
    dead = boot(is_alive=False, kept=2)
    assert list(life_judge.find_lost_events([dead], [noted(n) for n in (1, 2, 3)])) == []


def test_a_board_that_died_loses_nothing_in_the_middle() -> None:
    dead = boot(is_alive=False)
    (words,) = life_judge.find_lost_events([dead], [noted(n) for n in (1, 3)])
    assert words == "dealer: events 2 of 5 are not in the journal"


def test_nothing_is_lost_that_a_board_was_told_to_forget() -> None:
    dead = boot(is_alive=False, kept=4)
    (words,) = life_judge.find_lost_events([dead], [noted(n) for n in (1, 2, 3)])
    assert words == "dealer: events 4 of 5 are not in the journal"


Feeds = list[tuple[list[int], int]]


@pytest.mark.parametrize(
    ("law", "feeds", "words"),
    [
        (life_judge.find_lost_public, [([1, 2, 4], 4)], "public entries 3 were not on the feed"),
        (
            life_judge.find_lost_public,
            [([1, 2], 2), ([4], 4)],
            "public entries 3 were not on the feed",
        ),
        (
            life_judge.find_lost_public,
            [([1, 2, 3, 4, 5], 5)],
            "the feed published 5, which the journal does not have",
        ),
        (
            life_judge.find_doubled_public,
            [([1, 2], 2), ([2, 3, 4], 4)],
            "events 2 were on the feed twice",
        ),
        (
            life_judge.find_doubled_public,
            [([1, 3, 2, 4], 4)],
            "the feed's events were not in order",
        ),
    ],
)
def test_a_feed_that_is_not_what_the_journal_has_is_found(
    law: Callable[..., Any], feeds: Feeds, words: str
) -> None:
    args = ([1, 2, 3, 4], feeds) if law is life_judge.find_lost_public else (feeds,)
    assert list(law(*args)) == [words]


@pytest.mark.parametrize("feeds", [[([1, 2, 3, 4], 4)], [([1, 2], 3), ([4], 4)]])
def test_a_daemon_that_dies_may_leave_its_last_entries_untold(feeds: Feeds) -> None:
    assert list(life_judge.find_lost_public([1, 2, 3, 4], feeds)) == []
    assert list(life_judge.find_doubled_public(feeds)) == []
