"""What nobody's machine wrote: no verifier falls over it, waits for it, or takes it for right."""

import copy
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from controller.journal.entries import JournalError
from controller.journal.verify import verify
from tests.proof.browser import Browser
from tests.proof.changes import Rows, rechained, step
from tests.proof.lives import log_of
from tests.proof.vectors import VECTORS

pytestmark = pytest.mark.slow
DEEP: list[Any] = []
for _ in range(200):
    DEEP = [DEEP]


def example() -> Rows:
    rows: Rows = json.loads(VECTORS.read_text(encoding="utf-8"))["events"]
    return rows


def _set(kind: str, *path: str | int, to: Any) -> Callable[[Rows], None]:
    def craft(rows: Rows) -> None:
        # The last of its kind: an attempt that was given up has the fullest record.
        row = next(row for row in reversed(rows) if row["kind"] == kind and _has(row, path))
        at: Any = row["data"]
        for name in path[:-1]:
            at = at[name]
        at[path[-1]] = to

    return craft


def _has(row: dict[str, Any], path: tuple[str | int, ...]) -> bool:
    at: Any = row["data"]
    for name in path[:-1]:
        if isinstance(name, str) and name not in at:
            return False
        at = at[name]
    name = path[-1]
    return name == "settled" or (at.get(name) if isinstance(at, dict) else at[name]) is not None


CRAFTED: dict[str, Callable[[Rows], None]] = {
    "a set without an end": _set(
        "committed", "deck", to={"packs": 1, "jokers": True, "cards": 2**50}
    ),
    "a set of nothing": _set("committed", "deck", to={"packs": 0, "jokers": False, "cards": 0}),
    "many packs": _set(
        "committed", "deck", to={"packs": 2**40, "jokers": False, "cards": 52 * 2**40}
    ),
    "less than nothing": _set("committed", "deck", to={"packs": -1, "jokers": False, "cards": -52}),
    "a deck in words": _set("committed", "deck", to="two packs"),
    "no commitment": _set("committed", "commitment", to=None),
    "a commitment of two digits": _set("committed", "commitment", to="ab"),
    "a seed in capitals": _set("revealed", "seed", to="AB" * 32),
    "a seed with spaces": _set("revealed", "seed", to="ab " * 32),
    "a cut that is true": _set("revealed", "cut", to=True),
    "a cut below nothing": _set("revealed", "cut", to=-5),
    "a cut of the whole set": _set("revealed", "cut", to=108),
    "a cut in words": _set("revealed", "cut", to="41"),
    "no reasons": _set("verdict", "reasons", to=None),
    "reasons that are numbers": _set("verdict", "reasons", to=[1, 2]),
    "reasons in a word": _set("verdict", "reasons", to="JAM"),
    "an unknown outcome": _set("verdict", "outcome", to="splendid"),
    "counts in words": _set("verdict", "landed", to={"N": "27"}),
    "counts without end": _set("verdict", "fed", to=2**53),
    "no events but a word": _set("record", "events", to="none"),
    "events of nothing": _set("record", "events", to=[None]),
    "events without boots": _set("record", "events", 0, "boots", to={}),
    "boots out of all bounds": _set("record", "events", 0, "boots", to={"dealer": [1, 1, 2**53]}),
    "events cut off": _set("record", "events", 0, "b", to="AQ=="),
    "events that are no base64": _set("record", "events", 0, "b", to="***"),
    "a gate a thousand times": _set("record", "events", 0, "b", to="AwAAAQAD" * 4096),
    "looks cut off": _set("record", "events", 0, "looks", to="AA=="),
    "too many looks": _set("record", "events", 0, "looks", to="A" * 40_000),
    "settled in a word": _set("record", "settled", to="yes"),
    "a nonce of nothing": _set("record", "nonce", to="00"),
    "hands of one card": _set("record", "hands", to="00"),
    "hands of no face": _set("record", "hands", to="ff" * 108),
    "a face in no words": _set("released", "turned_up", to="the moon"),
    "a leader from nowhere": _set("released", "leader", to="Q"),
    "something deep": _set("verdict", "reasons", to=DEEP),
}


@pytest.mark.parametrize("name", sorted(CRAFTED))
def test_crafted_events_are_found_by_both(name: str, browser: Browser, tmp_path: Path) -> None:
    rows = example()
    CRAFTED[name](rows)
    rows = rechained(rows)
    theirs = browser.check(rows)
    assert theirs["findings"] or any(each["findings"] for each in theirs["attempts"])
    try:
        assert verify(log_of(rows, tmp_path)).findings
    except JournalError:
        return  # it is no feed's log at all: told in one line, exit 2


def _before_any_card(rows: Rows, cut: Any) -> Rows:
    """Return the rows of an attempt that ended before its first card: no sequence tells its cut."""
    end = next(r for r in rows if r["kind"] == "verdict" and r["data"]["outcome"] != "ok")
    own = [row for row in rows if row["attempt"] == end["attempt"] and row["kind"] != "command"]
    own = [row for row in own if row["kind"] not in ("begun", "shuffled")]
    for row in own:
        if row["kind"] in ("cut", "revealed"):
            row["data"]["cut"] = cut
        elif row["kind"] == "record":
            row["data"].update(events=[], counted=0, settled={})
        elif row["kind"] == "verdict":
            row["data"].update(outcome="void", reasons=["JAM"], fed=0, refed=0)
            row["data"]["landed"] = dict.fromkeys((*"NWSE", "tray"), 0)
    return rechained([rows[0], *own])


@pytest.mark.parametrize("cut", ["40", "040", "40 ", "", True, 0, -3, 108, 149, [40], {"a": 1}])
def test_a_cut_that_nobody_can_have_made_is_found_by_both(
    cut: Any, browser: Browser, tmp_path: Path
) -> None:
    rows = _before_any_card(example(), cut)
    assert any(each["findings"] for each in browser.check(rows)["attempts"])
    assert verify(log_of(rows, tmp_path)).findings


def test_an_attempt_that_ended_before_its_first_card_holds_for_both(
    browser: Browser, tmp_path: Path
) -> None:
    rows = _before_any_card(example(), 40)
    report = browser.check(rows)
    assert (report["findings"], [each["findings"] for each in report["attempts"]]) == ([], [[]])
    assert verify(log_of(rows, tmp_path)).findings == []


def test_a_record_that_does_not_follow_its_seed_is_found_by_both(
    browser: Browser, tmp_path: Path
) -> None:
    rows = example()
    ends = [row for row in rows if row["kind"] == "verdict" and row["data"]["outcome"] != "ok"]
    own = [row for row in rows if row["attempt"] == ends[0]["attempt"]]
    (record,) = (row for row in own if row["kind"] == "record")
    record.update(kind="fault_cleared", attempt=None, deal=None)
    record["data"] = {"code": 203, "evidence": {}, "name": "LID_OPENED"}
    rows = rechained(rows)
    report = browser.check(rows)
    assert [*report["findings"], *(f for each in report["attempts"] for f in each["findings"])]
    assert verify(log_of(rows, tmp_path)).findings


@pytest.mark.parametrize("field", ["seed", "nonce"])
def test_what_two_attempts_share_is_found_by_both(
    field: str, browser: Browser, tmp_path: Path
) -> None:
    rows, kind = example(), {"seed": "revealed", "nonce": "record"}[field]
    one, other = [row for row in rows if row["kind"] == kind and row["data"].get(field)][:2]
    other["data"][field] = one["data"][field]
    rows = rechained(rows)
    assert any("that of another" in what for what in browser.check(rows)["findings"])
    assert any(
        "is that of attempt" in each.what for each in verify(log_of(rows, tmp_path)).findings
    )


def test_names_that_two_alphabets_order_otherwise_break_no_chain(
    browser: Browser, tmp_path: Path
) -> None:
    rows = example()
    rows[0]["data"]["sets"] = {"\uff21": "A", "\U0001f0a1": "A"}
    rows = rechained(rows)
    assert browser.check(rows)["findings"] == []
    assert verify(log_of(rows, tmp_path)).findings == []


def test_an_event_that_was_heard_twice_is_one_event(browser: Browser, tmp_path: Path) -> None:
    rows = example()
    rows.append(dict(reversed((rows[-1] | {"simulated": False}).items())))
    assert browser.check(rows)["findings"] == []
    assert verify(log_of(rows, tmp_path)).findings == []


def test_a_run_that_begins_behind_a_gap_may_tell_a_fault_before_it_is_opened(
    browser: Browser, tmp_path: Path
) -> None:
    rows = example()
    opened, last = rows[0], rows[-1]
    lost = {"code": 305, "name": "PANEL_LOST", "evidence": {}}
    fault = opened | {"kind": "fault", "data": lost}
    for n, row in enumerate((fault, opened), start=last["n"] + 2):
        rows.append(row | {"n": n, "boot": "0badcafe"})
    rows = rechained(rows)
    assert browser.check(rows)["findings"] == []
    assert verify(log_of(rows, tmp_path)).findings == []


def test_an_event_of_nothing_is_found_by_both(browser: Browser, tmp_path: Path) -> None:
    rows = example()
    committed = step(rows, "committed")
    assert committed is not None
    committed["data"] = None
    rows = rechained(rows)
    assert browser.check(rows)["findings"]
    with pytest.raises(JournalError):
        verify(log_of(rows, tmp_path))


@pytest.mark.parametrize("number", [0, -1, 2**53, 2**62])
def test_numbers_that_no_table_has_are_no_trouble(
    number: int, browser: Browser, tmp_path: Path
) -> None:
    rows = example()
    rows[-1]["n"] = number
    browser.check(rows)
    try:
        assert verify(log_of(rows, tmp_path)).findings
    except JournalError:
        return


def test_any_value_put_anywhere_ends_in_a_report(
    browser: Browser, scale: Callable[[int], int], tmp_path: Path
) -> None:
    rng, original = random.Random("anywhere"), example()
    values: list[Any] = [
        None,
        True,
        -1,
        2**53,
        "",
        "ff",
        "N",
        [],
        [[]],
        {},
        {"N": 1},
        [1, 2, 3],
        "\u0000",
    ]
    for _ in range(scale(2_000)):
        rows = copy.deepcopy(original)
        row = rng.choice(rows)
        _put(row["data"], rng, rng.choice(values))
        rows = rechained(rows)
        browser.check(rows)
        try:
            verify(log_of(rows, tmp_path))
        except JournalError:
            continue


def _put(at: Any, rng: random.Random, value: Any) -> None:
    names = list(at) if isinstance(at, dict) else list(range(len(at)))
    if not names:
        return
    name = rng.choice(names)
    if isinstance(at[name], dict | list) and at[name] and rng.random() < 0.7:
        _put(at[name], rng, value)
    else:
        at[name] = value


def test_an_attempt_of_another_tables_key_is_found(browser: Browser, tmp_path: Path) -> None:
    rows = example()
    committed = step(rows, "committed")
    assert committed is not None
    committed["data"]["table_key"] = "x" * 40
    rows = rechained(rows)
    assert verify(log_of(rows, tmp_path)).findings
    assert any(each["findings"] for each in browser.check(rows)["attempts"])
