"""Two verifiers that share no code: they say the same of every attempt of the real machine."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from controller.journal.verify import verify
from sim.campaign.life import PROFILE
from tests.proof.browser import Browser
from tests.proof.lives import feed_of, log_of

pytestmark = pytest.mark.slow


def test_both_say_the_same_of_every_attempt_and_every_reason(
    dealt: list[Path], browser: Browser, tmp_path: Path
) -> None:
    seen: Counter[str] = Counter()
    for state_dir in dealt:
        feed = feed_of(state_dir)
        ours, theirs = verify(log_of(feed, tmp_path)), browser.check(feed, [PROFILE])
        assert (ours.findings, theirs["findings"]) == ([], [])
        assert (ours.missing, theirs["missing"]) == ([], [])
        told = [
            {
                "attempt": each.attempt,
                "deal": each.deal,
                "outcome": each.outcome,
                "cut": each.cut,
                "commitment": each.commitment,
                "sequence": each.sequence,
                "grade": each.grade,
                "verdicts": [{"reason": v.reason, "says": v.says} for v in each.verdicts],
                "missing": each.missing,
                "findings": [],
            }
            for each in ours.attempts
        ]
        assert told == sorted(theirs["attempts"], key=lambda each: int(each["attempt"]))
        for each in ours.attempts:
            seen[str(each.outcome)] += 1
            seen["uncut" if each.uncut else "cut"] += 1
            seen[each.grade or "no grade"] += 1
            seen.update({verdict.says for verdict in each.verdicts})
        seen["tray"] += sum(_through_the_tray(event) for event in feed)
    for what in ("ok", "misdeal", "void", "cut", "uncut", "hands", "sequence", "tray"):
        assert seen[what], (what, seen)
    assert seen["follows"]
    assert seen["not shown"]
    assert not seen["disproved"]


def test_a_journal_and_its_feed_are_judged_alike(dealt: list[Path], tmp_path: Path) -> None:
    for state_dir in dealt:
        whole, of_feed = verify(state_dir), verify(log_of(feed_of(state_dir), tmp_path))
        assert not whole.findings
        judged = [(each.grade, each.sequence, each.verdicts) for each in whole.attempts]
        assert judged == [(each.grade, each.sequence, each.verdicts) for each in of_feed.attempts]


def _through_the_tray(event: dict[str, Any]) -> bool:
    return event["kind"] == "dealt" and int(event["data"]["refed"]) > 0
