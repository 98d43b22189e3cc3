"""A table that writes its past anew, or has two: whoever kept a head can show it."""

import random
from collections.abc import Callable
from itertools import count
from pathlib import Path

import msgspec
import pytest

from controller.journal.store import STORE_NAME, JournalStore, open_read_only
from controller.journal.verify import verify
from controller.messages import PublicEvent
from controller.signing.signed_heads import KeptHead, KeptHeads, is_signed_by, verify_key
from sim.hardware_in_process import HardwareInProcess
from sim.mechanics.mechanics_settings import MechanicsSettings
from sim.tables.table_in_process import TABLE_KEY, TABLE_SIGN, run_table_in_process
from tests.cheats.changed import RECORD, keep, said, spend
from tests.cheats.evenings import THREE_DEALS, one_deal
from tests.cheats.past import TwoPasts, kept
from tests.journal.scripted import rechained, write_rows

pytestmark = [pytest.mark.virtual, pytest.mark.slow]


def head_file(folder: Path, heads: list[KeptHead]) -> Path:
    """Write heads as `dealtable watch --heads` keeps them."""
    path = folder / "heads.jsonl"
    path.write_bytes(b"".join(msgspec.json.encode(head) + b"\n" for head in heads))
    return path


async def test_two_pasts_differ_at_the_head_that_a_console_kept(
    tmp_path: Path, runtime_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = await spend(THREE_DEALS, {RECORD: TwoPasts}, tmp_path, runtime_dir, monkeypatch)
    other = keep(tmp_path / "other.jsonl", [], TwoPasts.console)
    assert (said(left.journal()), said(left.feed()), said(verify(other))) == ("", "", "")
    assert "rewritten" in said(left.journal(head_file(tmp_path, TwoPasts.signed)))
    both = keep(tmp_path / "both.jsonl", [], [*left.events, *TwoPasts.console])
    assert "there are two events of this number" in said(verify(both))


async def test_two_signed_heads_of_one_entry_show_the_table_guilty(
    tmp_path: Path, runtime_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = await spend(THREE_DEALS, {RECORD: TwoPasts}, tmp_path, runtime_dir, monkeypatch)
    seen = KeptHeads(TwoPasts.signed)
    assert not seen.conflicts
    shown = [state.signed for state in left.states if state.signed is not None]
    assert all(is_signed_by(one, TABLE_KEY, verify_key(TABLE_SIGN)) for one in shown)
    assert all(
        is_signed_by(one.signed_head, TABLE_KEY, verify_key(TABLE_SIGN)) for one in TwoPasts.signed
    )
    wrong = [seen.add(kept(one.n, bytes.fromhex(one.head))) for one in shown]
    assert "forked" in [one.kind for one in wrong if one is not None]


async def test_a_table_that_begins_again_before_a_deal_is_found_by_a_kept_feed(
    tmp_path: Path, runtime_dir: Path
) -> None:
    """It forgets its second deal between two runs, and deals on, its chain without a flaw."""
    events = await _two_runs(tmp_path, runtime_dir, forget_second_deal)
    log = keep(tmp_path / "kept.jsonl", [], events)
    assert "the rows up to here were rewritten" in said(verify(tmp_path, log))
    assert "there are two events of this number" in said(verify(log))
    assert "attempt 2 was left out" in said(verify(tmp_path))


async def test_a_table_that_changes_a_row_of_its_past_is_found_by_a_kept_feed(
    tmp_path: Path, runtime_dir: Path
) -> None:
    events = await _two_runs(tmp_path, runtime_dir, blame_another)
    log = keep(tmp_path / "kept.jsonl", [], events)
    assert said(verify(tmp_path)) == ""
    assert "the rows up to here were rewritten" in said(verify(tmp_path, log))


def forget_second_deal(folder: Path) -> None:
    """Let a table forget all from its second commitment on."""
    with open_read_only(folder / STORE_NAME) as rows:
        lying = list(rows)
    second = next(row.n for row in lying if b'"attempt":2,' in row.body and b'"seed"' in row.body)
    write_rows(folder, [row for row in lying if row.n < second])


def blame_another(folder: Path) -> None:
    """Let a table say that the chief, not the referee, let the first hands out."""
    with open_read_only(folder / STORE_NAME) as rows:
        lying = [
            row._replace(body=row.body.replace(b'"who":"referee"', b'"who":"chief"'))
            if b'"cmd":"release"' in row.body
            else row
            for row in rows
        ]
    write_rows(folder, rechained(lying))


async def _two_runs(
    folder: Path, runtime_dir: Path, between: Callable[[Path], None]
) -> list[PublicEvent]:
    """Spend an evening in two runs of the daemon; return what a console kept of both."""
    boots = count(1)
    sim = HardwareInProcess(
        MechanicsSettings(), random.Random("two runs"), boots=lambda: next(boots)
    )
    events: list[PublicEvent] = []
    for run, deals in (("first", 2), ("second", 1)):
        async with run_table_in_process(
            MechanicsSettings(),
            runtime_dir,
            store=JournalStore.open(folder),
            state_dir=folder,
            sim=sim,
            seed=deals,
            command_prefix=run,
        ) as at:
            for _ in range(deals):
                await one_deal(at)
            events += at.events
        if run == "first":
            between(folder)
    sim.close()
    return events
