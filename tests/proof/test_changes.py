"""Whatever is changed of a deal, both verifiers find it: in the chain, and behind a new chain."""

import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from controller.journal.verify import verify
from sim.campaign.life import PROFILE
from tests.proof.browser import Browser
from tests.proof.changes import CHANGES, Rows, attempt_of, rechained
from tests.proof.lives import feed_of, log_of

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def attempts(dealt: list[Path]) -> list[Rows]:
    """Every attempt whose seed was revealed, each as somebody has it who kept its events."""
    found: list[Rows] = []
    for state_dir in dealt:
        feed = feed_of(state_dir)
        over = {row["attempt"] for row in feed if row["kind"] == "revealed"}
        found.extend(rechained(attempt_of(feed, number)) for number in sorted(over))
    return found


def findings(rows: Rows, browser: Browser, tmp_path: Path) -> tuple[int, int]:
    """Return how much each of both verifiers finds."""
    theirs = browser.check(rows, [PROFILE])
    told = [
        *theirs["findings"],
        *(what for each in theirs["attempts"] for what in each["findings"]),
    ]
    return len(verify(log_of(rows, tmp_path)).findings), len(told)


def test_what_was_not_changed_holds(attempts: list[Rows], browser: Browser, tmp_path: Path) -> None:
    for rows in attempts:
        assert findings(rows, browser, tmp_path) == (0, 0)


def test_any_change_breaks_the_chain_for_both(
    attempts: list[Rows], browser: Browser, scale: Callable[[int], int], tmp_path: Path
) -> None:
    rng = random.Random("changes")
    for _ in range(scale(2_000)):
        original = rng.choice(attempts)
        rows = attempt_of(original, original[-1]["attempt"])
        name = rng.choice(sorted(CHANGES))
        if CHANGES[name](rows, rng):
            ours, theirs = findings(rows, browser, tmp_path)
            assert ours, name
            assert theirs, name


@pytest.mark.parametrize("name", sorted(CHANGES))
def test_behind_a_chain_that_is_made_anew_the_proof_itself_shows_it_to_both(
    attempts: list[Rows], browser: Browser, scale: Callable[[int], int], tmp_path: Path, name: str
) -> None:
    rng, changed = random.Random(name), Counter[bool]()
    while changed[True] < scale(500) and changed[False] < 20_000:
        original = rng.choice(attempts)
        rows = attempt_of(original, original[-1]["attempt"])
        did = CHANGES[name](rows, rng)
        changed[did] += 1
        if did:
            ours, theirs = findings(rechained(rows), browser, tmp_path)
            assert ours, (name, rows)
            assert theirs, (name, rows)
    assert changed[True]
