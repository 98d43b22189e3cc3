"""`dealtable demo --once`: whole tables dealing, and what a program reads of it."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.processes.demo import HANDS, Demo
from tests.processes.program import Dealtable

TOP = {"tables", "deals", "feed", "commands", "state_dir"}
TABLE = {"table", "feed", "commands", "state_dir", "clients"}
DEAL = {
    *("table", "deal", "attempt", "outcome", "fed", "landed", "misdeals"),
    *("commitment", "seed", "cut", "mechanical_s", "wall_s"),
}


def check_deals(summary: Any, deals: int) -> None:
    for deal in summary["deals"]:
        assert set(deal) == DEAL
        assert (deal["outcome"], deal["fed"], deal["landed"]) == ("ok", 108, HANDS)
        assert deal["misdeals"] == []
        assert 0 < deal["mechanical_s"] <= deal["wall_s"]
        assert len(bytes.fromhex(deal["commitment"])) == len(bytes.fromhex(deal["seed"])) == 32
    assert len(summary["deals"]) == deals


def test_a_demo_prints_one_json_object_and_nothing_else(demo: Demo) -> None:
    assert (demo.done.code, demo.done.err) == (0, "")
    assert set(demo.summary) == TOP
    assert [set(table) for table in demo.summary["tables"]] == [TABLE]
    assert demo.summary["state_dir"] == str(demo.state_dir)


def test_every_deal_of_a_demo_is_four_hands_of_27(demo: Demo) -> None:
    check_deals(demo.summary, deals=3)
    assert [(deal["deal"], deal["attempt"]) for deal in demo.summary["deals"]] == [
        (1, 1),
        (2, 2),
        (3, 3),
    ]


async def test_verify_finds_nothing_wrong_with_what_a_demo_leaves(
    demo: Demo, dealtable: Dealtable
) -> None:
    checked = await dealtable("verify", demo.state_dir, "--json")
    report = json.loads(checked.out)
    assert (checked.code, checked.err, report["findings"]) == (0, "", [])
    assert [attempt["grade"] for attempt in report["attempts"]] == ["hands"] * 3
    assert all(attempt["gates"] for attempt in report["attempts"])


async def test_boards_under_micropython_deal_the_same(
    dealtable: Dealtable, tmp_path: Path, micropython: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEALTABLE_MICROPYTHON", micropython)
    dealt = await dealtable(
        *("demo", "--once", "--deals", 3, "--speed", 20, "--json", "--state-dir", tmp_path / "s"),
        *("--firmware", "micropython"),
    )
    assert (dealt.code, dealt.err) == (0, "")
    check_deals(json.loads(dealt.out), deals=3)
    assert (await dealtable("verify", tmp_path / "s")).code == 0


@pytest.mark.slow
async def test_two_tables_deal_side_by_side_each_with_its_own_journal(
    dealtable: Dealtable, tmp_path: Path
) -> None:
    dealt = await dealtable(
        *("demo", "--once", "--tables", 2, "--speed", 20, "--json", "--state-dir", tmp_path / "s")
    )
    summary = json.loads(dealt.out)
    assert (dealt.code, dealt.err) == (0, "")
    check_deals(summary, deals=2)
    folders = {table["table"]: table["state_dir"] for table in summary["tables"]}
    assert {deal["table"] for deal in summary["deals"]} == set(folders)
    for folder in folders.values():
        assert (await dealtable("verify", folder)).code == 0
