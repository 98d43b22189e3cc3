"""The offences as the ruling desk shows them: every one once, with its steps and articles."""

from typing import Any

import pytest

from controller.console.view.penalty_ladder import (
    CLOCK_SUGGESTIONS,
    OFFENCE_GROUPS,
    build_ladder,
    suggest_charges,
)
from controller.match.phase import MatchPhase
from controller.match.ruling_desk import legal_proposals
from controller.rules.penalties.offences import offence_catalogue
from controller.words import CALL_WORDS
from tests.console.states import call, state
from tests.guandan import load_guandan
from tests.match.people import charge_of
from tests.match.table import GUANDAN, INTL, B, N, Table


def offence(profile: str, name: str) -> Any:
    found = build_ladder(load_guandan(profile))
    return next(one for group in found.groups for one in group.offences if one.id == name)


def test_every_offence_of_the_catalogue_stands_in_one_group() -> None:
    listed = [name for _, names in OFFENCE_GROUPS.values() for name in names]
    assert sorted(listed) == sorted(offence_catalogue())


@pytest.mark.parametrize("profile", GUANDAN)
def test_what_is_likely_is_an_offence_and_its_phase_one_of_a_match(profile: str) -> None:
    found = build_ladder(load_guandan(profile))
    assert set(found.likely) <= set(MatchPhase)
    assert {name for names in found.likely.values() for name in names} <= set(offence_catalogue())
    assert "play" in found.likely  # what a phase without a list falls back to


def first_step(profile: str, name: str) -> list[tuple[str, str | None]]:
    """Return the first step of an offence as the desk shows it."""
    return [(one.penalty, one.article) for one in offence(profile, name).steps[0]]


def answered(table: Table, name: str) -> list[tuple[str, str | None]]:
    """Return what a table proposes for an offence of North."""
    said = charge_of(table.state, "N", name)
    return [(one.penalty, one.article) for one in legal_proposals(table.match, said)]


@pytest.mark.parametrize("profile", GUANDAN)
def test_a_first_step_is_what_the_table_would_answer(profile: str) -> None:
    """The desk may be read before it is asked: both say the same."""
    table = Table(profile).started().in_play()
    wrong = {
        name: (first_step(profile, name), answered(table, name))
        for name in offence_catalogue()
        if first_step(profile, name) != answered(table, name)
    }
    assert wrong == {}


def test_the_third_wrong_form_is_a_foul_of_the_chief() -> None:
    steps = offence(INTL, "wrong_play_form").steps
    assert [step[0].penalty for step in steps] == ["warning", "violation", "foul"]
    assert [step[0].chief for step in steps] == [False, False, True]
    assert steps[0][0].article == "A11.5"


def test_a_rulebook_that_is_silent_has_no_article() -> None:
    assert offence(N, "no_report").article is None
    assert offence(N, "play_out_of_turn").article == "R6.2"


def test_signals_are_picked_from_the_five_of_the_text() -> None:
    kinds = offence(INTL, "illegal_signal").kinds
    assert [kind.article for kind in kinds] == [f"A19.1.{n}" for n in range(1, 6)]


def test_a_rulebook_counts_what_it_counts() -> None:
    times = {rung.id: rung.times for rung in build_ladder(load_guandan(INTL)).rungs}
    assert times["violations_to_foul"] == 2
    assert times["fouls_to_forfeit"] == 3
    assert {rung.id for rung in build_ladder(load_guandan(N)).rungs} == {
        "out_of_turn_warnings_to_foul",
        "hidden_to_loss",
    }


def test_what_a_foul_does_is_said_for_each_rulebook() -> None:
    assert any("loses this deal" in one.en for one in build_ladder(load_guandan(INTL)).fouls)
    assert any("East-West, one level up" in one.en for one in build_ladder(load_guandan(N)).fouls)


def test_the_four_reasons_of_a_lapse_have_their_articles_where_the_text_has_them() -> None:
    assert [one.article for one in build_ladder(load_guandan(INTL)).lapses] == [
        f"A15.3.8{sign}" for sign in "①②③④"
    ]
    assert {one.article for one in build_ladder(load_guandan(B)).lapses} == {None}


def test_a_clock_suggests_its_offence_and_which_overrun_it_is() -> None:
    found = suggest_charges(
        state(calls=[call("tribute_violation", seat="W"), call("button", seat="N")])
    )
    assert [(one.offence, one.seat, one.step) for one in found] == [("delay_tribute", "W", 2)]


def test_late_players_are_suggested_by_their_sides() -> None:
    clocks = [
        {"duty": "late", "seat": None, "side": side, "left_s": 0, "running": True}
        for side in ("NS", "EW")
    ]
    found = suggest_charges(state(calls=[call("late_default")], match={"clocks": clocks}))
    assert [(one.offence, one.side) for one in found] == [("late", "NS"), ("late", "EW")]


def test_every_suggestion_is_a_call_that_a_match_makes() -> None:
    assert set(CLOCK_SUGGESTIONS) <= set(CALL_WORDS)
