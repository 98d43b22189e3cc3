"""A demo with something wrong in the cards: refused for the right reason, then dealt right."""

import json
from pathlib import Path

from tests.processes.demo import HANDS
from tests.processes.program import Dealtable

REASONS = ["COUNT_SHORT", "MISSING_CARD"]
"""Why the attempt is refused, the foremost reason first."""


async def test_a_deal_with_a_missing_card_is_refused_opened_and_dealt_again(
    dealtable: Dealtable, tmp_path: Path
) -> None:
    dealt = await dealtable(
        *("demo", "--once", "--speed", 20, "--json", "--fault", "missing_card"),
        *("--state-dir", tmp_path / "state"),
    )
    assert (dealt.code, dealt.err) == (0, "")
    (deal,) = json.loads(dealt.out)["deals"]
    assert (deal["outcome"], deal["deal"], deal["attempt"]) == ("ok", 1, 2)
    assert (deal["fed"], deal["landed"]) == (108, HANDS)
    (refused,) = deal["misdeals"]
    assert (refused["attempt"], refused["outcome"]) == (1, "misdeal")
    assert refused["reasons"] == REASONS
    assert refused["reason"] == REASONS[0]

    checked = await dealtable("verify", tmp_path / "state", "--json")
    report = json.loads(checked.out)
    assert (checked.code, report["findings"]) == (0, [])
    first, second = report["attempts"]
    assert (first["outcome"], first["reasons"]) == ("misdeal", REASONS)
    assert (first["grade"], second["grade"]) == ("sequence", "hands")  # of practice, open at once
    assert second["outcome"] == "ok"
