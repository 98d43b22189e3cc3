"""Deals of the real machine in virtual time, with all that can go wrong; what was on the feed."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from controller.journal.entries import ChainedEntry, public_event
from controller.journal.verify.sources import read_source
from controller.messages import Role
from sim.campaign.campaign_lives import LIFE_DEALS, plan_life
from sim.campaign.life import run_life
from sim.campaign.table_host import TableHost
from sim.mechanics.fault_menu import get_wear_level

Feed = list[dict[str, Any]]
UNCUT = "nobody is at the table"


def lives(deals: int, folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Return the state directories of lives with so many deals; every fourth start is uncut."""
    ask, starts = TableHost.command, iter(range(10**9))

    def sometimes_uncut(house: TableHost, role: Role, cmd: str, **args: Any) -> Any:
        if cmd == "start_deal" and next(starts) % 4 == 3:
            args |= {"uncut": True, "reason": UNCUT}
        return ask(house, role, cmd, **args)

    monkeypatch.setattr(TableHost, "command", sometimes_uncut)
    folders = []
    for number, begun in enumerate(range(0, deals, LIFE_DEALS)):
        many = min(LIFE_DEALS, deals - begun)
        plan = plan_life(
            f"6.{number}", many, get_wear_level("worn" if number % 4 == 3 else "hostile"), folder
        )
        report = run_life(plan)
        assert report.findings == ()
        assert plan.journal is not None
        folders.append(plan.journal)
    return folders


def feed_of(state_dir: Path) -> Feed:
    """Return the public events of a journal, as JSON has them."""
    rows: list[ChainedEntry] = read_source(state_dir).entries
    events = [public_event(row, "T01", simulated=True) for row in rows if row.entry.public]
    return [msgspec.json.decode(msgspec.json.encode(event)) for event in events]


def log_of(feed: Feed, folder: Path) -> Path:
    """Write events as `watch --json` prints them; return the file."""
    path = folder / "events.jsonl"
    path.write_bytes(b"\n".join(map(msgspec.json.encode, feed)))
    return path
