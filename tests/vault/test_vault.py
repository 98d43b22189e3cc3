"""The vault: counts faces by set, and lets nothing out but verdicts."""

import itertools
import random
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.cards import composition
from controller.deal.observations import LookOutcome
from controller.vault.vault import NO_FACE, Vault

SET = composition(2, True)
FACES = [face for face, count in enumerate(SET) for _ in range(count)]
PLACES = {index: index for index in range(1, 109)}


def read(index: int, face: int, attempt: int = 1, **more: Any) -> Any:
    seen = {"back": 0, "face_up": 0, "confidence": 250} | more
    return SimpleNamespace(attempt=attempt, index=index, face=face, **seen)


def holding(faces: list[int], **more: Any) -> Vault:
    vault = Vault(SET, back=0)
    vault.begin(1)
    for index, face in enumerate(faces, start=1):
        vault.take_read(read(index, face, **more))
    return vault


def bound(faces: list[int], places: Mapping[int, int] = PLACES) -> Vault:
    vault = holding(faces)
    vault.bind_hands(places, 108)
    return vault


def thrice(vault: Vault, index: int, face: int, **more: Any) -> None:
    for _ in range(3):
        vault.take_read(read(index, face, **more))


@given(order=st.permutations(FACES))
def test_a_right_set_in_any_order_has_no_fault(order: list[int]) -> None:
    assert holding(order).find_set_faults(PLACES, 108) == ()


def test_a_missing_card_is_missing() -> None:
    vault = holding(FACES[1:])
    assert vault.find_set_faults(without(108), 108) == ("MISSING_CARD",)


def test_a_third_copy_stands_for_a_missing_card() -> None:
    vault = holding([FACES[5], *FACES[1:]])
    assert set(vault.find_set_faults(PLACES, 108)) == {"THIRD_COPY", "MISSING_CARD"}


@given(places=st.sets(st.integers(0, 107), max_size=3), rng=st.randoms(use_true_random=False))
def test_any_set_that_differs_is_found(places: set[int], rng: random.Random) -> None:
    faces = list(FACES)
    for place in places:
        faces[place] = rng.randrange(54)
    verdict = holding(faces).find_set_faults(PLACES, 108)
    assert bool(verdict) == (sorted(faces) != FACES)


@pytest.mark.parametrize(
    ("why", "seen"),
    [("FOREIGN_BACK", {"back": 2}), ("FACE_UP", {"face_up": 1}), ("UNREADABLE", {"confidence": 3})],
)
def test_a_card_that_stays_bad_is_named_by_its_flaw_and_not_as_missing(
    why: str, seen: dict[str, int]
) -> None:
    vault = holding(FACES[:50])
    thrice(vault, 51, FACES[50], **seen)  # to the tray
    for index in range(52, 109):
        vault.take_read(read(index, FACES[index - 1]))
    for index in (109, 110):  # and twice again from there
        thrice(vault, index, FACES[50], **seen)
    assert vault.find_set_faults(without(51), 108) == (why,)


def test_a_card_that_was_read_from_the_tray_at_last_is_no_fault() -> None:
    vault = holding(FACES[:50])
    thrice(vault, 51, 0xFF, confidence=0)
    for index in range(52, 109):
        vault.take_read(read(index, FACES[index - 1]))
    assert vault.take_read(read(109, FACES[50])).look is LookOutcome.ACCEPT
    places = without(51) | {109: 51}
    assert vault.find_set_faults(places, 108) == ()
    assert vault.bind_hands(places, 108) == bytes(FACES)


def test_a_bad_look_mended_does_not_hide_that_another_card_is_missing() -> None:
    vault = holding(FACES[:50])
    thrice(vault, 51, 0xFF, confidence=0)
    for index in range(52, 108):
        vault.take_read(read(index, FACES[index - 1]))
    vault.take_read(read(108, FACES[50]))
    places = {index: index for index in range(1, 108) if index != 51} | {108: 51}
    assert vault.find_set_faults(places, 108) == ("MISSING_CARD",)


def test_a_card_nobody_read_is_never_counted() -> None:
    vault = holding(FACES[:107])
    assert "UNREADABLE" in vault.find_set_faults(PLACES, 108)
    assert vault.bind_hands(PLACES, 108)[107] == NO_FACE


def test_the_verdict_names_card_and_flaw_and_no_face() -> None:
    vault = Vault(SET, back=0)
    vault.begin(4)
    verdict = vault.take_read(read(9, 37, attempt=4, face_up=1))
    assert (verdict.index, verdict.look, verdict.why) == (9, LookOutcome.REREAD, "FACE_UP")


def test_a_read_of_another_attempt_is_refused_and_not_remembered() -> None:
    vault = holding(FACES)
    with pytest.raises(ValueError, match="attempt 2 during 1"):
        vault.take_read(read(1, 0, attempt=2))
    assert vault.find_set_faults(PLACES, 108) == ()


@pytest.mark.parametrize("act", [lambda vault: vault.begin(2), lambda vault: vault.forget()])
def test_a_new_attempt_begins_without_any_face(act: Any) -> None:
    vault = holding(FACES)
    act(vault)
    assert vault.bind_hands(PLACES, 108) == bytes([NO_FACE]) * 108


def test_reads_told_again_after_a_restart_lead_to_the_same_record() -> None:
    assert holding(FACES).bind_hands(PLACES, 108) == holding(FACES).bind_hands(PLACES, 108)


def test_the_turned_up_card_lies_at_the_first_drawn_place() -> None:
    assert bound(FACES).turn_up(iter([41, 9]), ()) == (41, FACES[40])


def test_a_face_the_rulebook_turns_again_is_passed_over() -> None:
    draws = iter([107, 108, 3])
    assert bound(FACES).turn_up(draws, {52, 53}) == (3, FACES[2])


def test_a_turned_up_card_must_be_one_that_lies_there() -> None:
    with pytest.raises(ValueError, match="place 5"):
        bound(FACES, without(5)).turn_up(itertools.repeat(5), ())


def test_before_the_hands_are_bound_no_card_can_be_turned_up() -> None:
    with pytest.raises(ValueError, match="place 5"):
        holding(FACES).turn_up(iter([5]))


def test_hands_of_an_earlier_run_are_the_same_hands() -> None:
    vault = Vault(SET, back=0)
    vault.restore_hands(9, bound(FACES).hands or b"")
    assert vault.attempt == 9
    assert vault.turn_up(iter([41])) == (41, FACES[40])


@pytest.mark.parametrize("show", [repr, str])
def test_the_vault_prints_no_face(show: Any) -> None:
    assert show(holding(FACES)) == "Vault(attempt=1, cards=108)"


def test_a_composition_of_another_size_is_refused() -> None:
    with pytest.raises(ValueError, match="54"):
        Vault(SET[:52], back=0)


def without(*indices: int) -> dict[int, int]:
    return {index: place for index, place in PLACES.items() if index not in indices}
