"""What a rulebook decides of a deal: the browser's verifier says it where it is given the rules."""

import json
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from controller.cards import face_text
from controller.deal import sequence as fair
from controller.journal.verify import verify
from controller.rules.profile_files import load_profile
from controller.signing import canonical_json
from sim.campaign.life import PROFILE
from tests.proof.browser import Browser
from tests.proof.changes import Rows, rechained
from tests.proof.lives import log_of
from tests.proof.vectors import VECTORS

pytestmark = pytest.mark.slow


def led() -> tuple[Rows, dict[str, Any], list[tuple[str, str]]]:
    """Return the vectors, the release of a deal with a turned-up card, its draws: face, seat."""
    rows: Rows = json.loads(VECTORS.read_text(encoding="utf-8"))["events"]
    released = next(r for r in rows if r["kind"] == "released" and "turned_up" in r["data"])
    own = {row["kind"]: row["data"] for row in rows if row["attempt"] == released["attempt"]}
    hands = bytes.fromhex(own["record"]["hands"])
    commitment, seed = (
        bytes.fromhex(own[kind][field])
        for kind, field in (("committed", "commitment"), ("revealed", "seed"))
    )
    bound = (commitment, seed, own["revealed"]["cut"], len(hands))
    seats = fair.sequence(*bound)
    places = islice(fair.turn_up_places(*bound), 10)
    drawn = [(face_text(hands[place - 1]), seats[place - 1]) for place in places]
    return rows, released["data"], drawn


def findings(rows: Rows, browser: Browser, tmp_path: Path) -> tuple[list[str], list[str]]:
    rows = rechained(rows)
    report = browser.check(rows, [PROFILE])
    theirs = [*report["findings"], *(f for each in report["attempts"] for f in each["findings"])]
    return [each.what for each in verify(log_of(rows, tmp_path)).findings], theirs


def test_the_card_that_was_drawn_holds_for_both(browser: Browser, tmp_path: Path) -> None:
    rows, released, drawn = led()
    assert (released["turned_up"], released["leader"]) in drawn
    assert findings(rows, browser, tmp_path) == ([], [])


def test_a_later_draw_is_found_by_both(browser: Browser, tmp_path: Path) -> None:
    rows, released, drawn = led()
    first = (released["turned_up"], released["leader"])
    face, seat = next(each for each in drawn[drawn.index(first) + 1 :] if each[1] != first[1])
    released.update(turned_up=face, leader=seat)
    ours, theirs = findings(rows, browser, tmp_path)
    assert ours
    assert theirs


@pytest.mark.parametrize("field", ["turned_up", "leader"])
def test_half_of_the_lead_is_found_by_both(field: str, browser: Browser, tmp_path: Path) -> None:
    rows, released, _ = led()
    del released[field]
    ours, theirs = findings(rows, browser, tmp_path)
    assert ours
    assert theirs


def test_rules_of_another_name_are_found_by_both(browser: Browser, tmp_path: Path) -> None:
    rows, _, _ = led()
    for row in rows:
        if row["kind"] == "committed":
            row["data"]["profile"] = "bcta-004"
    ours, theirs = findings(rows, browser, tmp_path)
    assert ours
    assert theirs


def ruled(browser: Browser, profile: str, released: dict[str, Any], **other: Any) -> list[str]:
    """Return what is said of a deal of four cards ♠2 ♠9 ♦3 SJ for N W S E; the first draw is SJ."""
    book = json.loads(canonical_json(load_profile(profile)))
    steps = {"committed": {"profile": profile, "deck": book["deck"]}, "released": released} | other
    given = f"{json.dumps(steps)}, {json.dumps(book)}, [...'NWSE'], [3, 1, 2], [0, 7, 40, 52]"
    said: list[str] = browser.run(f"[...ruled({given})]")
    return said


@pytest.mark.parametrize(
    ("profile", "released", "holds"),
    [
        ("bigtwo-2017-002", {"leader": "S"}, True),
        ("bigtwo-2017-002", {"leader": "N"}, False),
        ("bigtwo-2017-002", {}, True),
        ("international-000", {"leader": "W", "turned_up": "♠9"}, True),
        ("international-000", {"leader": "S", "turned_up": "♦3"}, False),
        ("international-000", {"leader": "E", "turned_up": "SJ"}, False),
        ("international-000", {"leader": "S"}, False),
        ("international-000", {"turned_up": "♠9"}, False),
        ("international-000", {}, True),
        ("huainan-2013-003", {"leader": "E", "turned_up": "SJ"}, True),
    ],
)
def test_who_leads_is_as_the_rulebook_says(
    browser: Browser, profile: str, released: dict[str, Any], holds: bool
) -> None:
    assert (ruled(browser, profile, released) == []) is holds


@pytest.mark.parametrize(("cut", "holds"), [(5, False), (6, True), (102, True), (103, False)])
def test_a_cut_is_as_the_rulebook_allows(browser: Browser, cut: int, holds: bool) -> None:
    assert load_profile(PROFILE).cuts() == range(6, 103)
    assert (ruled(browser, PROFILE, {}, cut={"cut": cut}) == []) is holds
