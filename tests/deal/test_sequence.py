"""The fair sequence: exact values, exact uniformity, and what it must not be."""

import hashlib
import itertools
import json
from collections import Counter
from math import factorial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.deal import sequence as fair
from tests.rows import each_row

VECTORS = Path(fair.__file__).with_name("vectors.json")
SEEDS = st.binary(min_size=32, max_size=32)


def vectors() -> list[dict[str, Any]]:
    loaded: list[dict[str, Any]] = json.loads(VECTORS.read_text())
    return loaded


def by_the_page(vector: dict[str, Any]) -> tuple[str, str, list[int]]:
    """PROOF.md read off word by word, sharing nothing with the product."""

    def field(x: bytes) -> bytes:
        return bytes([len(x) // 256, len(x) % 256]) + x

    context = b""
    for part in vector["context"]:
        raw = bytes.fromhex(part["hex"]) if isinstance(part, dict) else str(part).encode()
        context += field(raw)
    seed = bytes.fromhex(vector["seed"])
    commit = hashlib.sha256(field(b"dealtable/commit/1") + context + field(seed)).digest()
    cut = b"" if vector["cut"] is None else str(vector["cut"]).encode()
    material = field(b"dealtable/deal/1") + field(commit) + field(seed) + field(cut)
    stream = list(hashlib.shake_256(material).digest(4096))
    n = vector["cards"]

    def draw(m: int) -> int:
        while (b := stream.pop(0)) >= 256 - 256 % m:
            pass
        return b % m

    order = [letter for letter in "NWSE" for _ in range(n // 4)]
    for i in reversed(range(1, n)):
        j = draw(i + 1)
        order[i], order[j] = order[j], order[i]
    return commit.hex(), "".join(order), [draw(n) + 1 for _ in range(3)]


@pytest.mark.parametrize("vector", vectors(), ids=lambda v: v["name"])
def test_the_published_vectors_hold_for_the_product_and_for_the_page(
    vector: dict[str, Any],
) -> None:
    table, match, deal, attempt, profile, card_set = vector["context"]
    context = fair.context(table, match, deal, attempt, bytes.fromhex(profile["hex"]), card_set)
    seed = bytes.fromhex(vector["seed"])
    committed = fair.commitment(context, seed)
    pockets = fair.sequence(committed, seed, vector["cut"], vector["cards"])
    places = fair.turn_up_places(committed, seed, vector["cut"], vector["cards"])
    found = (committed.hex(), pockets, list(itertools.islice(places, 3)))
    assert found == (vector["commitment"], vector["sequence"], vector["turned_up"])
    assert by_the_page(vector) == found
    hands = fair.hands_commitment(
        committed, bytes.fromhex(vector["nonce"]), bytes.fromhex(vector["record"])
    )
    assert hands.hex() == vector["hands"]


@given(SEEDS)
def test_the_stream_goes_on_for_as_many_places_as_are_asked_for(seed: bytes) -> None:
    fields = (b"dealtable/deal/1", bytes(32), seed, b"41")
    material = b"".join(len(field).to_bytes(2, "big") + field for field in fields)
    below = fair.even_draws(iter(hashlib.shake_256(material).digest(2048)))
    fair.fair_order(below, 108)
    places = itertools.islice(fair.turn_up_places(bytes(32), seed, 41, 108), 600)
    assert list(places) == [below(108) + 1 for _ in range(600)]


@pytest.mark.parametrize("cards", [4, 8])
def test_every_order_of_a_small_deck_comes_from_equally_many_draws(cards: int) -> None:
    bounds = range(cards, 1, -1)
    found: Counter[str] = Counter()
    for draws in itertools.product(*(range(bound) for bound in bounds)):
        left = iter(draws)
        found[fair.fair_order(lambda _bound, left=left: next(left), cards)] += 1  # type: ignore[misc]
    hand = factorial(cards // 4)
    assert len(found) == factorial(cards) // hand**4
    assert set(found.values()) == {hand**4}


@each_row("bound", range(2, 109))
def test_each_number_is_drawn_by_equally_many_bytes_and_the_rest_are_thrown_away(
    bound: int,
) -> None:
    rejected = 256 % bound
    drawn = Counter(fair.even_draws(iter([byte, 0]))(bound) for byte in range(256 - rejected))
    assert set(drawn) == set(range(bound))
    assert len(set(drawn.values())) == 1
    for byte in range(256 - rejected, 256):
        assert fair.even_draws(iter([byte, 1]))(bound) == 1


@given(SEEDS, st.integers(1, 107) | st.none())
def test_every_seat_gets_its_number_of_places(seed: bytes, cut: int | None) -> None:
    assert Counter(fair.sequence(bytes(32), seed, cut, 108)) == dict.fromkeys("NWSE", 27)


@given(SEEDS, st.integers(1, 106))
def test_another_cut_gives_another_sequence(seed: bytes, cut: int) -> None:
    first, other, uncut = (
        fair.sequence(bytes(32), seed, number, 108) for number in (cut, cut + 1, None)
    )
    assert len({first, other, uncut}) == 3


def test_the_last_two_cards_fall_to_one_seat_as_often_as_chance_says(scale: Any) -> None:
    # A random pocket among those not full would put them in one seat 81.5 % of the time.
    deals = scale(100_000)
    same = 0
    for number in range(deals):
        seed = number.to_bytes(32, "big")
        order = fair.sequence(bytes(32), seed, None, 108)
        same += order[-1] == order[-2]
    expected = 26 / 107
    margin = 4.5 * (expected * (1 - expected) / deals) ** 0.5
    assert abs(same / deals - expected) < margin


@pytest.mark.parametrize("cards", [0, 2, 110, 260])
def test_a_deck_that_four_cannot_share_is_refused(cards: int) -> None:
    with pytest.raises(ValueError, match="four pockets"):
        fair.sequence(bytes(32), bytes(32), None, cards)
