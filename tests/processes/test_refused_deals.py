"""Demos with something wrong in the cards: refused for the right reason, then dealt right."""

import json
from pathlib import Path

import pytest

from tests.processes.conftest import Dealtable
from tests.processes.test_demo import HANDS

# A fault of the menu: the reasons of the attempt it spoils, the foremost first.
SPOILED = {
    "missing_card": ["COUNT_SHORT", "MISSING_CARD"],
    "third_copy": ["MISSING_CARD", "THIRD_COPY"],
    "foreign_back": ["FOREIGN_BACK"],
    "wrong_pocket:at=20": ["WRONG_POCKET"],
    "left_in_pocket:pocket=2": ["POCKET_NOT_EMPTY"],
}


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(fault, marks=() if fault == "missing_card" else pytest.mark.slow)
        for fault in SPOILED
    ],
)
async def test_a_spoiled_deal_is_refused_opened_and_dealt_again(
    fault: str, dealtable: Dealtable, tmp_path: Path
) -> None:
    dealt = await dealtable(
        *("demo", "--once", "--speed", 20, "--json", "--fault", fault),
        *("--state-dir", tmp_path / "state"),
    )
    assert (dealt.code, dealt.err) == (0, "")
    (deal,) = json.loads(dealt.out)["deals"]
    assert (deal["outcome"], deal["deal"], deal["attempt"]) == ("ok", 1, 2)
    assert (deal["fed"], deal["landed"]) == (108, HANDS)
    (refused,) = deal["misdeals"]
    assert (refused["attempt"], refused["outcome"]) == (1, "misdeal")
    assert refused["reasons"] == SPOILED[fault]
    assert refused["reason"] == SPOILED[fault][0]

    checked = await dealtable("verify", tmp_path / "state", "--json")
    report = json.loads(checked.out)
    assert (checked.code, report["findings"]) == (0, [])
    first, second = report["attempts"]
    assert (first["outcome"], first["reasons"]) == ("misdeal", SPOILED[fault])
    assert (first["grade"], second["grade"]) == ("sequence", "hands")  # of practice, open at once
    assert second["outcome"] == "ok"
