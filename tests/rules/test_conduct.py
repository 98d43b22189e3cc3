from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.rules.profile import GuandanProfile
from tests.guandan import load_guandan

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
    assert profile.conduct.is_report_due(at + 2, at)
    assert profile.conduct.is_report_due(at + 1, 1)
    assert not profile.conduct.is_report_due(at + 2, at + 1)


def test_a_report_is_made_once_a_deal() -> None:
    assert not STD.conduct.is_report_due(10, 9)


def test_who_goes_out_reports_nothing() -> None:
    assert not STD.conduct.is_report_due(11, 0)


def test_an_event_may_do_without_reports(tmp_path: Path) -> None:
    profile = event(tmp_path, "report_at = 0")
    assert not any(profile.conduct.is_report_due(27, left) for left in range(27))


@given(st.lists(st.integers(1, 6), min_size=27, max_size=27))
def test_a_hand_is_reported_exactly_once_however_it_is_played(plays: list[int]) -> None:
    held, reports = 27, []
    for count in plays:
        left = max(0, held - count)
        if STD.conduct.is_report_due(held, left):
            reports.append(left)
        held = left
    assert len(reports) == 1
    assert 5 <= reports[0] <= 10
