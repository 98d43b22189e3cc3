"""A log that lacks something: it is said, both verifiers say it alike, and no grade is granted."""

import copy
import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from controller.journal.verify import verify
from controller.journal.verify.attempt_steps import ATTEMPT_STEPS
from tests.proof.browser import Browser
from tests.proof.changes import Rows, attempt_of
from tests.proof.lives import feed_of, log_of

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def feeds(dealt: list[Path]) -> list[Rows]:
    return [feed_of(state_dir) for state_dir in dealt]


def test_a_step_that_lacks_is_named_by_both_and_its_attempt_has_no_grade(
    feeds: list[Rows], browser: Browser, scale: Callable[[int], int], tmp_path: Path
) -> None:
    rng, seen = random.Random("lacking"), Counter[str]()
    for _ in range(scale(2_000)):
        feed = rng.choice(feeds)
        number = rng.choice([row["attempt"] for row in feed if row["kind"] == "revealed"])
        rows = attempt_of(feed, number)
        kinds = {row["kind"] for row in rows}
        gone = rng.choice([row for row in rows if row["kind"] in ATTEMPT_STEPS])
        rows.remove(gone)
        ours, theirs = verify(log_of(rows, tmp_path)), browser.check(rows)
        if gone["kind"] == "committed":
            assert (ours.attempts, theirs["attempts"]) == ([], [])
            assert ours.missing == theirs["missing"] == [number]
            continue
        (of_ours,), (of_theirs,) = ours.attempts, theirs["attempts"]
        seen[gone["kind"]] += 1
        assert (of_ours.missing, of_ours.grade) == (of_theirs["missing"], of_theirs["grade"])
        played = "released" in kinds and "recalled" not in kinds
        if gone["kind"] == "begun" and "shuffled" not in kinds:
            continue  # given up so early that nothing behind it needs it
        fed = max((row["data"]["fed"] for row in rows if row["kind"] == "verdict"), default=0)
        if gone["kind"] == "shuffled" and "dealt" not in kinds and not fed:
            continue  # likewise: before the first card (PROOF.md, what a log lacks)
        if gone["kind"] == "record" and played:
            assert (of_ours.missing, of_ours.grade) == ([], "sequence")
        elif not ours.findings:
            assert gone["kind"] in of_ours.missing
            assert of_ours.grade is None
            assert f"not in this file: {gone['kind']}" in str(of_ours)
    assert set(seen) >= {"cut", "shuffled", "verdict", "revealed", "record"}


def test_an_attempt_that_lacks_is_named_by_both(
    feeds: list[Rows], browser: Browser, scale: Callable[[int], int], tmp_path: Path
) -> None:
    rng = random.Random("whole attempts")
    for _ in range(max(3, scale(100))):
        feed = rng.choice(feeds)
        numbers = sorted({row["attempt"] for row in feed if row["kind"] == "committed"})
        gone = set(rng.sample(numbers[1:-1], 2))
        rows = [copy.deepcopy(row) for row in feed if row["attempt"] not in gone]
        ours, theirs = verify(log_of(rows, tmp_path)), browser.check(rows)
        assert (ours.findings, theirs["findings"]) == ([], [])
        assert ours.missing == theirs["missing"] == sorted(gone)
        assert ours.missing_text.startswith("attempts ")


def test_a_log_that_ends_early_is_told_alike_by_both(
    feeds: list[Rows], browser: Browser, scale: Callable[[int], int], tmp_path: Path
) -> None:
    rng = random.Random("early")
    for _ in range(max(5, scale(300))):
        feed = rng.choice(feeds)
        rows = copy.deepcopy(feed[: rng.randrange(1, len(feed))])
        ours, theirs = verify(log_of(rows, tmp_path)), browser.check(rows)
        assert (ours.findings, theirs["findings"]) == ([], [])
        assert [(a.attempt, a.missing, a.grade) for a in ours.attempts] == [
            (a["attempt"], a["missing"], a["grade"]) for a in theirs["attempts"]
        ]
