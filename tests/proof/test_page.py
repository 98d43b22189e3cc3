"""PROOF.md: every number of its worked example comes out of the code, and out of the browser's."""

import hashlib
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from controller.cards import face_text
from controller.deal import sequence as fair
from controller.faults import fault_catalogue
from controller.journal.packed_board_events import (
    AT_READER,
    DOUBLE,
    GATE,
    HOPPER_EMPTY,
    LANDED,
    SHUFFLED,
    LoggedBoardEvent,
)
from controller.journal.verify.attempt_steps import _FIRST_OTHER_CODE
from controller.journal.verify.card_course import trace_course
from controller.journal.verify.reason_checks import _REASON_TESTS
from tests.proof.browser import FOLDER, Browser

PAGE = (FOLDER / "PROOF.md").read_text(encoding="utf-8")
EXAMPLE = PAGE[PAGE.index("## One deal, by hand") :]
(VECTOR,) = [
    vector
    for vector in json.loads((FOLDER / "vectors.json").read_text(encoding="utf-8"))
    if vector["name"] == "four cards"
]
TRAY = 4


def printed(name: str) -> str:
    """Return what the example says that this is, without the spaces."""
    (value,) = re.findall(rf"^{name} *= (.*)$", EXAMPLE, re.MULTILINE)
    return str(value).replace(" ", "").rstrip("…")


def context() -> bytes:
    table, match, deal, attempt, profile, card_set = VECTOR["context"]
    return fair.context(table, match, deal, attempt, bytes.fromhex(profile["hex"]), card_set)


def test_every_value_that_is_printed_is_the_codes() -> None:
    seed, nonce = bytes.fromhex(VECTOR["seed"]), bytes.fromhex(VECTOR["nonce"])
    record = bytes.fromhex(VECTOR["record"])
    committed = fair.commitment(context(), seed)
    assert printed("seed") == seed.hex()
    assert printed("context") == context().hex()
    assert printed("commitment") == committed.hex()
    assert printed("sequence") == fair.sequence(committed, seed, VECTOR["cut"], 4)
    assert printed("nonce") == nonce.hex()
    assert printed("record") == record.hex()
    assert printed("hands") == fair.hands_commitment(committed, nonce, record).hex()


def test_the_draws_of_the_example_are_those_of_its_stream() -> None:
    def field(x: bytes) -> bytes:
        return bytes([0, len(x)]) + x

    parts = (
        b"dealtable/deal/1",
        bytes.fromhex(VECTOR["commitment"]),
        bytes.fromhex(VECTOR["seed"]),
    )
    material = b"".join(map(field, (*parts, b"1")))
    stream = hashlib.shake_256(material).digest(6)
    assert printed("stream") == stream.hex()
    order = list("NWSE")
    steps = re.findall(
        r"^i = (\d): 0x(..) = +(\d+), +(\d+) mod (\d) = (\d): .*: (.*)$", EXAMPLE, re.M
    )
    assert len(steps) == 3
    for byte, (i, as_hex, number, again, bound, j, letters) in zip(stream, steps, strict=False):
        assert [int(as_hex, 16), int(number), int(again)] == [byte] * 3
        assert int(bound) == int(i) + 1
        assert byte % int(bound) == int(j)
        order[int(i)], order[int(j)] = order[int(j)], order[int(i)]
        assert letters.split() == order
    turned = re.findall(r"0x(..) = (\d+)(?:, \d+ mod 4 = \d)?: place (\d)", EXAMPLE)
    assert [int(place) for *_, place in turned] == VECTOR["turned_up"]
    assert [int(as_hex, 16) for as_hex, *_ in turned] == list(stream[3:])
    assert [int(number) for _, number, _ in turned] == list(stream[3:])


def test_the_seats_of_the_example_have_the_faces_it_says() -> None:
    told = dict(re.findall(r"\b([NWSE]) (?:has )?([♠♥♣♦]\d+)", EXAMPLE))
    record = bytes.fromhex(VECTOR["record"])
    assert told == {
        seat: face_text(face) for seat, face in zip(VECTOR["sequence"], record, strict=True)
    }


def test_the_browser_draws_the_same(browser: Browser) -> None:
    vectors = json.loads((FOLDER / "vectors.json").read_text(encoding="utf-8"))
    for vector in vectors:
        assert _drawn(browser, vector) == vector["sequence"]


def _drawn(browser: Browser, vector: dict[str, Any]) -> str:
    cut = "" if vector["cut"] is None else str(vector["cut"])
    sequence = browser.run(
        f"""(() => {{
          const bytes = ["{vector["commitment"]}", "{vector["seed"]}"].map((text) => unhex(text));
          const draw = drawing(shake256(["dealtable/deal/1", ...bytes, "{cut}"].flatMap(L)));
          const order = SEATS.flatMap((seat) => Array({vector["cards"]} / 4).fill(seat));
          for (let i = order.length - 1; i > 0; i--) {{
            const j = draw(i + 1);
            [order[i], order[j]] = [order[j], order[i]];
          }}
          return order.join("");
        }})()"""
    )
    return str(sequence)


def test_the_tray_of_the_example_takes_the_places_it_says() -> None:
    told = {
        int(i): int(p)
        for i, p in re.findall(r"index (\d+) from the tray takes place (\d)", EXAMPLE)
    }
    seen = trace_course(list(_tray_example()), 8)
    assert told == {index: card.place for index, card in seen.cards.items() if card.from_tray}
    assert len(told) == 3


def _tray_example() -> Iterator[LoggedBoardEvent]:
    yield _event(SHUFFLED, 0, 0)
    for index in range(1, 11):
        if index == 8:
            yield _event(HOPPER_EMPTY, 0, 0)
        if index == 5:
            yield _event(DOUBLE, index, 0)
        outlet = TRAY if index in (3, 5) else 0
        for code in (AT_READER, GATE, LANDED):
            yield _event(code, index, outlet)


def _event(code: int, index: int, place: int) -> LoggedBoardEvent:
    return LoggedBoardEvent(
        board="dealer",
        boot=1,
        number=1,
        attempt=1,
        code=code,
        seen=0,
        landed=0,
        index=index,
        place=place,
    )


@pytest.mark.parametrize("name", [name for name, row in fault_catalogue().items() if row.misdeal])
def test_every_reason_that_cards_prove_stands_on_the_page_and_in_both_verifiers(
    name: str, browser: Browser
) -> None:
    table = PAGE[PAGE.index("| reason | follows if |") : PAGE.index("The terms in this table:")]
    assert name in table
    assert name in _REASON_TESTS
    assert browser.run(f'MISDEALS.includes("{name}")')


def test_the_browser_knows_no_other_misdeal(browser: Browser) -> None:
    assert set(browser.run("MISDEALS")) == {
        n for n, row in fault_catalogue().items() if row.misdeal
    }


def test_the_verifier_stays_as_small_as_the_page_says() -> None:
    lines = 0
    for name in ("verify.mjs", "rows.mjs", "record.mjs", "rulebook.mjs"):
        text = (FOLDER / name).read_text(encoding="utf-8").splitlines()
        code = (line for line in text if not line.startswith(("//", "/**", " *")))
        lines += sum(bool(line.strip()) for line in code)
    assert "some three hundred lines" in PAGE
    assert 250 < lines < 350


def test_the_page_and_the_browser_know_the_same_reasons(browser: Browser) -> None:
    section = PAGE[PAGE.index("## 7. Why there are no hands") : PAGE.index("## 8. The record")]
    known = {*browser.run("MISDEALS"), *browser.run("OTHERS")}
    assert known == {n for n, row in fault_catalogue().items() if row.code < _FIRST_OTHER_CODE}
    assert {name for name in known if re.search(rf"\b{name}\b", section)} == known
