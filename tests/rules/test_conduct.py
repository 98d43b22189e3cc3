from itertools import permutations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.messages import Seat
from controller.rules.conduct import (
    is_deal_ended,
    is_exposed,
    is_laid_in_form,
    is_report_due,
    leader_by_wind,
    may_ask_count,
    may_look_at,
    may_pass_by,
    may_take_back,
    must_turn_discards,
    passes_to_end,
)
from controller.rules.deal_result import FinishError, parse_finish
from controller.rules.profile import GuandanProfile
from controller.rules.profile_files import load_guandan
from controller.seats import SEATS
from tests.rows import each_row

STD = load_guandan("international-000")
N = load_guandan("huainan-2013-003")
B = load_guandan("bcta-004")


def event(tmp_path: Path, rules: str) -> GuandanProfile:
    """Seed 000 under an event's regulations about conduct."""
    about = 'profile = "international-000"\ntitle_en = "T"\ntitle_zh = "赛"\norganizer = "O"\n'
    path = tmp_path / "event.toml"
    path.write_text(f"{about}[conduct]\n{rules}\n", "utf-8")
    return load_guandan("international-000", path)


# Reports (RULES example 39)


@pytest.mark.parametrize(("profile", "at"), [(STD, 10), (N, 8), (B, 10)], ids=["000", "003", "004"])
def test_a_report_is_due_by_the_play_that_leaves_ten_or_eight(
    profile: GuandanProfile, at: int
) -> None:
    assert is_report_due(profile, at + 2, at)
    assert is_report_due(profile, at + 1, 1)
    assert not is_report_due(profile, at + 2, at + 1)


def test_a_report_is_made_once_a_deal() -> None:
    assert not is_report_due(STD, 10, 9)


def test_who_goes_out_reports_nothing() -> None:
    assert not is_report_due(STD, 11, 0)


def test_an_event_may_do_without_reports(tmp_path: Path) -> None:
    profile = event(tmp_path, "report_at = 0")
    assert not any(is_report_due(profile, 27, left) for left in range(27))


@given(st.lists(st.integers(1, 6), min_size=27, max_size=27))
def test_a_hand_is_reported_exactly_once_however_it_is_played(
    plays: list[int],
) -> None:
    held, reports = 27, []
    for count in plays:
        left = max(0, held - count)
        if is_report_due(STD, held, left):
            reports.append(left)
        held = left
    assert len(reports) == 1
    assert 5 <= reports[0] <= 10


def test_after_a_report_nobody_may_ask_again(tmp_path: Path) -> None:
    assert may_ask_count(STD, reported=False)
    assert not may_ask_count(STD, reported=True)
    assert may_ask_count(event(tmp_path, 'report_question = "allowed"'), reported=True)


# The wind


@pytest.mark.parametrize("finished", SEATS)
def test_the_partner_of_up_takes_the_wind(finished: Seat) -> None:
    opposite = {"N": "S", "S": "N", "E": "W", "W": "E"}
    assert leader_by_wind(STD, finished, "UP") == opposite[finished]


def test_whether_seconds_partner_does_is_a_rule_of_its_own(tmp_path: Path) -> None:
    profile = event(tmp_path, "wind_second = false")
    assert leader_by_wind(STD, "W", "2ND") == "E"
    assert leader_by_wind(profile, "W", "2ND") is None
    assert leader_by_wind(profile, "W", "UP") == "E"


def test_third_ends_the_deal_and_leaves_no_wind() -> None:
    assert leader_by_wind(STD, "W", "3RD") is None


# Passing, laying, discards


def test_a_player_keeps_to_one_way_of_passing(tmp_path: Path) -> None:
    assert may_pass_by(STD, "word", None)
    assert may_pass_by(STD, "tap", "tap")
    assert not may_pass_by(STD, "word", "tap")
    assert may_pass_by(event(tmp_path, 'pass_form = "any"'), "word", "tap")


def test_a_play_is_laid_at_once_and_in_order(tmp_path: Path) -> None:
    assert is_laid_in_form(STD, at_once=True, in_order=True)
    assert not is_laid_in_form(STD, at_once=True, in_order=False)
    assert not is_laid_in_form(STD, at_once=False, in_order=True)
    loose = event(tmp_path, 'play_form = "at_once"')
    assert is_laid_in_form(loose, at_once=True, in_order=False)
    assert not is_laid_in_form(loose, at_once=False, in_order=False)


def test_cards_are_held_facing_oneself(tmp_path: Path) -> None:
    assert is_exposed(STD, facing_oneself=False)
    assert not is_exposed(STD, facing_oneself=True)
    assert not is_exposed(event(tmp_path, 'hold = "silent"'), facing_oneself=False)


def test_old_cards_of_others_are_not_looked_at_and_in_seed_003_not_even_ones_own() -> None:
    for profile in (STD, N, B):
        assert may_look_at(profile, own=False, this_trick=True)
        assert may_look_at(profile, own=True, this_trick=True)
        assert not may_look_at(profile, own=False, this_trick=False)
    assert may_look_at(STD, own=True, this_trick=False)
    assert not may_look_at(N, own=True, this_trick=False)


def test_discards_lie_face_down_unless_seed_003_lets_the_sides_agree() -> None:
    assert must_turn_discards(STD)
    assert must_turn_discards(B)
    assert not must_turn_discards(N)


def test_a_legal_play_stays_once_seen_and_in_seed_003_once_laid() -> None:
    assert may_take_back(STD, legal=True, seen=False)
    assert not may_take_back(STD, legal=True, seen=True)
    assert not may_take_back(N, legal=True, seen=False)


def test_what_is_no_legal_play_always_goes_back() -> None:
    for profile in (STD, N, B):
        assert may_take_back(profile, legal=False, seen=True)


# Ends


@each_row("order", list(permutations(SEATS)))
def test_a_deal_ends_where_its_finish_order_is_complete(order: tuple[Seat, ...]) -> None:
    for count in range(5):
        out = order[:count]
        ends = next(n for n in range(5) if is_deal_ended(order[:n]))
        assert is_deal_ended(out) == (count >= ends)
    assert parse_finish(order[:ends])
    with pytest.raises(FinishError):
        parse_finish(order[: ends - 1])


def test_all_others_who_hold_cards_pass_to_end_a_trick() -> None:
    assert passes_to_end(4, last_player_out=False) == 3
    assert passes_to_end(3, last_player_out=False) == 2
    assert passes_to_end(3, last_player_out=True) == 3
    assert passes_to_end(2, last_player_out=True) == 2
