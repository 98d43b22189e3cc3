"""The verdict on a card: accept, look again, or the tray; out of its own reads alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.deal.observations import LookOutcome
from controller.vault.vault import ReaderLook, accepted_face, judge_looks, look_fault

GOOD = ReaderLook(7, 0, False, 250)
FLAWS = {
    "FACE_UP": ReaderLook(7, 0, True, 250),
    "FOREIGN_BACK": ReaderLook(7, 2, False, 250),
    "UNREADABLE": ReaderLook(0xFF, 2, False, 0),
}

reads = st.builds(
    ReaderLook, st.integers(0, 255), st.integers(0, 2), st.booleans(), st.integers(0, 255)
)


def test_a_good_look_is_accepted_at_once() -> None:
    assert judge_looks([GOOD], back=0) == (LookOutcome.ACCEPT, None)


@pytest.mark.parametrize("why", FLAWS)
def test_a_poor_look_is_repeated_twice_before_the_tray(why: str) -> None:
    poor = FLAWS[why]
    assert judge_looks([poor], back=0) == (LookOutcome.REREAD, why)
    assert judge_looks([poor] * 2, back=0) == (LookOutcome.REREAD, why)
    assert judge_looks([poor] * 3, back=0) == (LookOutcome.TRAY, why)
    assert judge_looks([poor, poor, GOOD], back=0).look is LookOutcome.ACCEPT


@pytest.mark.parametrize(
    ("confidence", "look"), [(127, LookOutcome.REREAD), (128, LookOutcome.ACCEPT)]
)
def test_half_sure_is_not_sure(confidence: int, look: LookOutcome) -> None:
    assert judge_looks([ReaderLook(7, 0, False, confidence)], back=0).look is look


def test_the_other_sets_back_is_foreign_to_this_one() -> None:
    assert look_fault(GOOD, back=1) == "FOREIGN_BACK"


def test_a_back_is_not_blamed_where_nothing_was_seen() -> None:
    assert look_fault(ReaderLook(0xFF, 0, False, 0), back=1) == "UNREADABLE"


@given(seen=st.lists(reads, min_size=1, max_size=8), back=st.integers(0, 1))
def test_a_decision_stands_whatever_is_read_afterwards(seen: list[ReaderLook], back: int) -> None:
    verdicts = [judge_looks(seen[:count], back) for count in range(1, len(seen) + 1)]
    decided = [verdict for verdict in verdicts if verdict.look is not LookOutcome.REREAD]
    assert len({verdict.look for verdict in decided}) <= 1
    assert verdicts[-len(decided) or len(verdicts) :] == decided
    faces = {accepted_face(seen[:count], back) for count in range(1, len(seen) + 1)} - {None}
    assert len(faces) <= 1
    assert bool(faces) == any(verdict.look is LookOutcome.ACCEPT for verdict in verdicts)


@pytest.mark.parametrize("show", [repr, str, "{!r}".format])
def test_a_look_prints_nothing(show: object) -> None:
    assert callable(show)
    assert show(ReaderLook(37, 1, False, 201)) == "Read(…)"
