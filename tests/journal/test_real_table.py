"""The journal of a whole table, in virtual time: what it writes, `verify` confirms."""

from pathlib import Path

import msgspec
import pytest

from controller.cards import FACE_COUNT, face_text
from controller.journal.store import JournalStore
from controller.journal.verify import verify
from controller.messages import AttemptOutcome, PublicEvent
from sim.mechanics.fault_menu import parse_fault
from sim.mechanics.mechanics_settings import MechanicsSettings
from sim.tables.table_in_process import run_table_in_process
from tests.journal.findings import kept_log, rewritten, setting, what

pytestmark = pytest.mark.virtual

REFUSED = [
    "missing_card",
    "third_copy",
    "foreign_back",
    "extra_card",
    "face_up:at=3",
    "wrong_pocket:at=20",
    "left_in_pocket:pocket=2",
    "jam:at=9,place=landing",
    "stall:motor=gate",
]
MENDED = ["double_feed:at=30", "unreadable:at=5,times=5", "no_answer:at=11"]


async def play(state_dir: Path, runtime_dir: Path, *faults: str) -> list[PublicEvent]:
    """Deal until one deal was played; return what was on the feed."""
    settings = MechanicsSettings(faults=tuple(map(parse_fault, faults)))
    store = JournalStore.open(state_dir)
    async with run_table_in_process(
        settings, runtime_dir, store=store, state_dir=state_dir
    ) as table:
        ended = await table.play_attempt()
        if ended.fairness[-1].outcome is not AttemptOutcome.OK:
            await table.sim.world.people.change_set()
            await table.play_attempt()
        await table.return_hands()
        return table.events


@pytest.mark.parametrize("fault", [*REFUSED, *MENDED])
async def test_journal_and_feed_of_a_table_hold_whatever_went_wrong_with_its_cards(
    tmp_path: Path, state_dir: Path, runtime_dir: Path, fault: str
) -> None:
    feed = await play(state_dir, runtime_dir, fault)
    report, of_feed = verify(state_dir), verify(kept_log(tmp_path, feed))
    assert (what(report), what(of_feed)) == ("", "")
    refused = ["sequence"] if fault in REFUSED else []
    assert [each.grade for each in report.attempts] == [*refused, "hands"]
    assert all(each.gates for each in of_feed.attempts)


async def test_every_event_that_was_on_the_feed_is_a_head_the_journal_still_has(
    tmp_path: Path, state_dir: Path, runtime_dir: Path
) -> None:
    feed = await play(state_dir, runtime_dir)
    kept = tmp_path / "kept"
    kept.write_bytes(b"\n".join(map(msgspec.json.encode, feed)))
    assert what(verify(state_dir, kept)) == ""


async def test_held_hands_that_are_withdrawn_are_opened_and_proved(
    state_dir: Path, runtime_dir: Path
) -> None:
    store = JournalStore.open(state_dir)
    async with run_table_in_process(
        MechanicsSettings(), runtime_dir, store=store, state_dir=state_dir
    ) as table:
        await table.play_attempt()
        table.sim.world.set_lid(True)
        await table.wait_for_state(lambda state: state.fairness[-1].outcome is AttemptOutcome.VOID)
        await table.wait_for_state(lambda state: state.fairness[-1].reveal is not None)
    (standing,) = verify(state_dir).attempts
    assert (standing.withdrawn, standing.grade) == (True, "hands")
    assert standing.unprovable_reasons == ["LID_OPENED"]
    assert what(verify(state_dir)) == ""


async def test_a_leader_that_no_draw_gave_is_found(state_dir: Path, runtime_dir: Path) -> None:
    await play(state_dir, runtime_dir)
    report = rewritten(state_dir, "released", setting("leader", "X"))
    assert "another seat should have led" in what(report)


async def test_no_face_lies_open_in_the_journal_before_the_hands_are_out(
    state_dir: Path, runtime_dir: Path
) -> None:
    store = JournalStore.open(state_dir)
    async with run_table_in_process(
        MechanicsSettings(), runtime_dir, store=store, state_dir=state_dir
    ) as table:
        await table.play_attempt()
        told = b"".join(chained.body for chained in store.entries()).decode()
    assert not any(f'"{face_text(face)}"' in told for face in range(FACE_COUNT))
    assert '"looks"' not in told


@pytest.mark.parametrize("fault", [fault for fault in REFUSED if fault != "stall:motor=gate"])
async def test_every_misdeal_is_shown_by_its_own_record(
    tmp_path: Path, runtime_dir: Path, fault: str
) -> None:
    await play(tmp_path, runtime_dir, fault)
    report = verify(tmp_path)
    assert not report.findings
    assert not report.unprovable_attempts
