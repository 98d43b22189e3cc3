"""`dealtable campaign`: what it prints, how it ends, and that a campaign finds nothing."""

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner, Result

from controller.cli import main
from sim.campaign import campaign_lives
from sim.cli import campaign as command
from tests.processes.processes import marked
from tests.waiting import until

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
ZEROS = (
    "wrong_released", "wrong_blame", "events_lost", "events_doubled", "unproved", "stuck",
    "crashed",
)  # fmt: skip


@pytest.fixture
def life_deals(monkeypatch: pytest.MonkeyPatch, scale: Callable[[int], int]) -> int:
    """How many deals a life has: those of a real one at --scale 1, else few.

    For what holds of campaigns whatever lives they are made of.
    """
    deals = max(3, scale(campaign_lives.LIFE_DEALS))
    for module in (campaign_lives, command):
        monkeypatch.setattr(module, "LIFE_DEALS", deals)
    return deals


def campaign(*asked: object) -> Result:
    return CliRunner().invoke(main, ["campaign", *map(str, asked)])


def report_of(*asked: object) -> dict[str, Any]:
    ran = campaign(*asked, "--json")
    report: dict[str, Any] = msgspec.json.decode(ran.stdout)
    assert ran.exit_code == bool(report["findings"])
    return report


def held(report: dict[str, Any], deals: int) -> None:
    """Hold what must be so in every campaign."""
    assert not report["findings"], report["findings"][:10]
    assert {kind: report[kind] for kind in ZEROS} == dict.fromkeys(ZEROS, 0)
    assert report["deals"] == deals
    assert report["attempts"] >= deals


def test_hostile_machines_release_nothing_wrong_and_blame_nothing_wrong(
    scale: Callable[[int], int],
) -> None:
    deals = scale(10_000)
    report = report_of("--deals", deals, "--faults", "hostile", "--seed", 1)
    held(report, deals)
    struck = [name for name, row in report["faults"].items() if row["injected"]]
    assert len(struck) > len(report["faults"]) // 2


def test_tired_machines_deal_nearly_always_without_a_redeal_and_without_a_hand(
    scale: Callable[[int], int],
) -> None:
    deals = max(100, scale(10_000))
    report = report_of("--deals", deals, "--faults", "worn", "--seed", 1)
    held(report, deals)
    few = 2 if deals < 1000 else 0  # one unlucky deal of a few is no rate
    assert report["ready_without_redeal"] + few >= 0.995 * deals
    assert report["ready_without_hand"] + few >= 0.99 * deals


def test_ideal_machines_deal_always_at_once(scale: Callable[[int], int]) -> None:
    deals = scale(10_000)
    deals = deals if deals == 10_000 else max(25, deals // 8)  # they are all alike
    report = report_of("--deals", deals, "--faults", "ideal", "--seed", 1)
    held(report, deals)
    assert report["attempts"] == report["ready_without_redeal"] == deals
    assert report["ready_without_hand"] == deals


def test_the_report_does_not_depend_on_how_many_processes_there_are(life_deals: int) -> None:
    asked = ("--deals", 3 * life_deals, "--faults", "hostile", "--seed", 2)
    assert report_of(*asked, "--jobs", 1) == report_of(*asked, "--jobs", 2)


def test_faults_of_ones_own_strike_and_no_others(tmp_path: Path) -> None:
    mine = tmp_path / "mine.toml"
    mine.write_text('rates = [{ name = "unreadable", rate = 0.02 }]')
    rows = report_of("--deals", 5, "--faults", mine)["faults"]
    assert {name for name, row in rows.items() if row["injected"]} == {"unreadable"}


def test_journals_are_written_to_disk_and_the_text_says_what_must_be_zero(
    tmp_path: Path, life_deals: int
) -> None:
    kept, deals = tmp_path / "kept", life_deals + 2
    ran = campaign("--deals", deals, "--seed", 1, "--journal", kept)
    assert ran.exit_code == 0
    assert ran.stdout.startswith(f"campaign 1, hostile: {deals} of {deals} deals in 2 lives")
    assert "wrong hands released" in ran.stdout
    assert "detected as" in ran.stdout
    assert sorted(path.name for path in kept.iterdir()) == ["1.1", "1.2"]
    for path in kept.iterdir():
        assert CliRunner().invoke(main, ["verify", str(path)]).exit_code == 0


def test_a_life_is_told_card_by_card_with_every_word_on_both_lines(tmp_path: Path) -> None:
    wire = tmp_path / "wire.txt"
    ran = campaign("--faults", "ideal", "--replay", "1.2.1", "--wire", wire)
    assert ran.exit_code == 0
    assert ran.stdout.count(" hopper ") == 108
    assert ran.stdout.count("\ndeal 1, ") + ran.stdout.startswith("deal 1, ") == 1
    assert "deal 2" not in ran.stdout
    words = wire.read_text("utf-8")
    for said in ("HELLO", "WELCOME", "ROUTE", "AT_READER", "READ", "GATE", "LANDED", "RELEASE"):
        assert said in words
    for board in ("dealer", "reader"):
        assert board in words


def test_a_replay_is_the_life_of_the_campaign(tmp_path: Path, life_deals: int) -> None:
    whole = report_of("--deals", life_deals, "--seed", 3)
    wire = tmp_path / "wire.txt"
    told = msgspec.json.decode(campaign("--replay", "3.1", "--wire", wire, "--json").stdout)
    assert len(told["report"]["attempts"]) == whole["attempts"]
    assert told["report"]["findings"] == whole["findings"]
    other = msgspec.json.decode(campaign("--replay", "4.1", "--wire", wire, "--json").stdout)
    assert other["report"]["strikes"] != told["report"]["strikes"]
    strikes = sum(times for _, times in told["report"]["strikes"])
    assert strikes == sum(row["injected"] for row in whole["faults"].values())


@pytest.mark.parametrize(
    "asked",
    [
        ("--faults", "gremlins"),
        ("--replay", "7"),
        ("--deals", "0"),
        ("--wire", "somewhere"),
        ("--replay", "1.1", "--stop"),
        ("--journal", str(ROOT / "controller")),
        ("--page", str(ROOT / "nowhere" / "page.md")),
    ],
    ids=" ".join,
)
def test_bad_usage_is_refused(asked: tuple[str, ...]) -> None:
    ran = campaign(*asked)
    assert ran.exit_code == 2
    assert ran.stderr.splitlines()[-1].startswith("Error: ")


@pytest.mark.parametrize("leads_to", ["nowhere/page.md", "page.md"], ids=["nowhere", "itself"])
def test_a_page_behind_a_link_that_cannot_be_written_is_refused_before_it_deals(
    tmp_path: Path, leads_to: str
) -> None:
    page = tmp_path / "page.md"
    page.symlink_to(tmp_path / leads_to)
    ran = campaign("--deals", 2, "--faults", "ideal", "--page", page)
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert ran.stderr.startswith(f"Error: {page}: ")


async def test_ctrl_c_ends_a_campaign_with_what_was_seen_so_far_and_leaves_no_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEALTABLE_TEST", str(tmp_path))
    kept = tmp_path / "kept"
    asked = ["--deals", "100000", "--faults", "ideal", "--jobs", "2", "--journal", str(kept)]
    running = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "controller.cli", "campaign", *asked),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        cwd=ROOT,
        start_new_session=True,
    )
    try:
        # The third life begins once one of the first two is over.
        await until(lambda: (kept / "1.3").exists() or running.returncode is not None)
        assert running.returncode is None, await running.communicate()
        running.send_signal(signal.SIGINT)
        said, errors = await running.communicate()
        await until(lambda: not marked(f"DEALTABLE_TEST={tmp_path}"))
    finally:
        with suppress(ProcessLookupError):
            os.killpg(running.pid, signal.SIGKILL)
        await running.communicate()
    assert running.returncode == 130, errors
    assert b"of 100000 deals" in said
    assert b"(interrupted)" in said
    assert errors.startswith(b"took ")
    assert len(errors.splitlines()) == 1
