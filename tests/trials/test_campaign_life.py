"""A life of a campaign: its report follows from its seed, and what is wrong in it is found."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from controller.deal import sequence
from controller.deal.observations import ShufflerDone, StrayLanded
from controller.journal.verify import verify
from controller.machine.attempts.attempt_run import AttemptRun
from controller.machine.attempts.attempt_writer import AttemptWriter
from controller.machine.attempts.card_loop import CardLoop
from controller.machine.attempts.table_clearing import TableClearing
from controller.machine.boards import board_observations
from controller.machine.boards.board_log import BoardLog
from controller.machine.table_record import TableRecord
from controller.vault.vault import Vault
from drivers.board_events import BoardEventCode
from drivers.link.serial_port import LinkPort
from sim.board_faults import BoardName
from sim.campaign import attempt_log, life
from sim.campaign.attempt_log import AttemptLog, AttemptNotes
from sim.campaign.campaign_lives import CardHistory, LifePlan, LifeReport
from sim.campaign.life import run_life
from sim.campaign.life_evidence import LifeEvidence
from sim.campaign.replay_log import ReplayLog
from sim.campaign.table_host import TableHost
from sim.mechanics.fault_menu import SimulatedFault, WearLevel, parse_fault
from sim.tables.daemon_death import DaemonDeath, KillableStore
from sim.virtual_loop import VirtualLoop, VirtualTimeError

pytestmark = pytest.mark.slow

IDEAL = WearLevel()


def faulty(text: str, rate: float) -> WearLevel:
    """Return a machine with one fault at a rate."""
    return WearLevel((replace(parse_fault(text), rate=rate),))


def lived(wear: WearLevel = IDEAL, deals: int = 1, seed: str = "9.1") -> LifeReport:
    """Return what came of a life."""
    return run_life(LifePlan(seed, deals, wear))


def kinds(report: LifeReport) -> set[str]:
    """Return the kinds of findings of a life."""
    return {finding.kind for finding in report.findings}


def rough(seed: str, deals: int) -> LifeReport:
    """Return a life of a machine with many faults of many kinds."""
    rates = (
        *(("jam:clears_after=1", 0.004), ("wrong_pocket", 0.003), ("unreadable:times=9", 0.004)),
        *(("double_feed", 0.004), ("daemon_killed:for_ms=700", 0.002), ("missing_card", 0.2)),
        *(("bytes_dropped", 0.01), ("board_reset", 0.002), ("power_lost:for_ms=4000", 0.001)),
    )
    wear = WearLevel(tuple(replace(parse_fault(text), rate=rate) for text, rate in rates))
    return lived(wear, deals, seed)


# What a life is.


def test_an_ideal_machine_deals_every_deal_at_once_and_needs_no_hand() -> None:
    report = lived(deals=3)
    assert (report.deals, report.findings, report.strikes) == (3, (), ())
    assert [(one.deal, one.attempt, one.outcome) for one in report.attempts] == [
        (1, 1, "ok"),
        (2, 2, "ok"),
        (3, 3, "ok"),
    ]
    assert not any(one.hands or one.alerts or one.needless for one in report.attempts)


def test_a_shorter_life_is_the_beginning_of_a_longer_one() -> None:
    longer, shorter = rough("9.4", deals=2), rough("9.4", deals=1)
    assert longer.deals == 2
    assert shorter.deals == 1
    known = len(shorter.attempts) - 1
    assert longer.attempts[:known] == shorter.attempts[:known]


def test_a_life_leaves_no_task_and_no_timer_behind(runtime_dir: Path) -> None:
    async def main() -> None:
        wear = faulty("daemon_killed:for_ms=700", 0.01)
        report = await life._run_life(LifePlan("9.5", 2, wear), runtime_dir, None)
        assert report.strikes
        assert asyncio.all_tasks() == {asyncio.current_task()}
        await asyncio.Event().wait()  # nothing is left that could end this

    with (
        asyncio.Runner(loop_factory=VirtualLoop) as runner,
        pytest.raises(VirtualTimeError, match="no timer is set"),
    ):
        runner.run(main())


def test_the_journal_of_a_life_lies_where_it_was_asked_for(tmp_path: Path) -> None:
    report = run_life(LifePlan("9.6", 1, faulty("power_lost:for_ms=3000", 0.01), tmp_path / "J"))
    checked = verify(tmp_path / "J")
    assert checked.findings == []
    assert len(checked.attempts) == len(report.attempts)


def test_an_onlooker_sees_lines_words_and_cards() -> None:
    class Watcher(ReplayLog):
        def __init__(self) -> None:
            super().__init__()
            self.lines: list[BoardName] = []
            self.words: list[str] = []
            self.tales: list[tuple[CardHistory, ...]] = []

        def wrap_port(self, board: BoardName, port: LinkPort) -> LinkPort:
            self.lines.append(board)
            return port

        def add_line(self, at_s: float, deal: int | None, attempt: int | None, words: str) -> None:
            self.words.append(words)

        def add_cards(
            self, at_s: float, deal: int, attempt: int, histories: tuple[CardHistory, ...]
        ) -> None:
            self.tales.append(histories)

    watcher = Watcher()
    plan = LifePlan("9.7", 1, faulty("unreadable:times=9", 0.01))
    run_life(plan, watcher)
    assert sorted(watcher.lines) == ["dealer", "reader"]
    assert "verdict ok" in watcher.words
    assert any(words.startswith("unreadable:times=9 strikes") for words in watcher.words)
    (tales,) = watcher.tales
    assert [tale.index for tale in tales] == list(range(1, len(tales) + 1))
    assert {tale.landed for tale in tales if tale.source == "tray"} <= {0, 1, 2, 3}
    assert any("unreadable:times=9" in tale.faults for tale in tales)


# What befalls it, and what people do.


@pytest.mark.parametrize(
    ("fault", "rate", "reasons", "hands"),
    [
        ("daemon_killed:for_ms=1000", 0.01, set(), set()),
        ("daemon_killed", 0.01, set(), {"start_daemon"}),
        ("power_lost:for_ms=3000", 0.01, {"POWER"}, {"collect", "start_deal"}),
        ("disk_full:for_ms=2000", 0.01, set(), set()),
        ("disk_full", 0.01, set(), {"make_room"}),
        ("clock_jump", 0.02, set(), set()),
        ("clock_jump:by_s=-7200", 0.02, set(), set()),
        ("missing_card", 0.5, {"COUNT_SHORT", "MISSING_CARD"}, {"change_set", "count_set"}),
        ("estop", 0.006, {"ESTOP_PRESSED"}, {"release_estop", "collect", "acknowledge"}),
        ("lid", 0.006, {"LID_OPENED"}, {"close_lid", "collect"}),
        ("unplugged:for_ms=1500", 0.006, {"LINE_LOST"}, {"collect"}),
        ("stall:motor=lift", 0.01, set(), {"mend"}),
    ],
)
def test_people_do_what_the_table_tells_them_and_it_goes_on(
    fault: str, rate: float, reasons: set[str], hands: set[str]
) -> None:
    report = lived(faulty(fault, rate), deals=2, seed="9.8")
    assert report.strikes
    assert (report.deals, report.findings) == (2, ())
    assert {reason for one in report.attempts for reason in one.reasons} == reasons
    lent = {hand for one in report.attempts for hand in one.hands}
    assert hands <= lent <= hands | {"collect", "start_deal"}


def test_a_fault_that_two_attempts_in_a_row_did_not_survive_calls_the_referee() -> None:
    report = lived(faulty("wrong_pocket", 0.03), seed="9.9")
    called = [one for one in report.attempts if one.referee]
    assert called
    assert all("start_deal" in one.hands for one in called)


# What is planted against it.

Plant = Callable[[pytest.MonkeyPatch], None]


def _another_sequence(monkeypatch: pytest.MonkeyPatch) -> None:
    fair = sequence.fair_order
    monkeypatch.setattr(sequence, "fair_order", lambda below, cards: fair(below, cards)[::-1])


def _cards_move_early(monkeypatch: pytest.MonkeyPatch) -> None:
    async def shuffled(self: AttemptRun, passes: int) -> None:
        assert self.card_loop is not None
        self.card_loop.observe(ShufflerDone())
        await asyncio.sleep(1.0)
        self.writer.write_shuffled(passes)
        await self._record.sync()

    monkeypatch.setattr(AttemptRun, "_write_shuffled", shuffled)


def _somebody_swaps_cards(monkeypatch: pytest.MonkeyPatch) -> None:
    held = LifeEvidence.record_verdict

    def swapped(self: LifeEvidence, notes: AttemptNotes) -> None:
        held(self, notes)
        north, west, *_ = self._host.sim.world.pockets.stacks
        north[0], west[0] = west[0], north[0]

    monkeypatch.setattr(LifeEvidence, "record_verdict", swapped)


def _no_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    def over(self: AttemptLog, event: object) -> None:
        self.deals += 1

    monkeypatch.setattr(AttemptLog, "_end", lambda self, outcome, reasons: None)
    monkeypatch.setitem(attempt_log._EVENT_HANDLERS, "revealed", over)


def _another_card_turned_up(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = Vault.turn_up

    def other(self: Vault, draws: Iterator[int], redo: Collection[int] = ()) -> tuple[int, int]:
        place, _ = shown(self, draws, redo)
        face = (self.hands or b"")[place % 108]
        return place % 108 + 1, face

    monkeypatch.setattr(Vault, "turn_up", other)


def _other_hands_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    bind = Vault.bind_hands

    def other(self: Vault, places: Any, cards: int) -> bytes:
        record = bind(self, places, cards)
        return bytes((record[1], record[0], *record[2:]))

    monkeypatch.setattr(Vault, "bind_hands", other)


def _an_event_noted_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    add = BoardLog.add

    def altered(self: BoardLog, event: Any) -> None:
        wrong = event.code is BoardEventCode.LANDED and event.index == 50
        add(self, replace(event, seen=event.seen ^ 1) if wrong else event)

    monkeypatch.setattr(BoardLog, "add", altered)


def _the_last_events_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    add = BoardLog.add

    def forgetful(self: BoardLog, event: Any) -> None:
        if event.code is not BoardEventCode.RELEASED:
            add(self, event)

    monkeypatch.setattr(BoardLog, "add", forgetful)


def _told_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    committed = TableRecord._on_committed

    def twice(self: TableRecord, entries: Any) -> None:
        committed(self, entries)
        if any(one.entry.kind == "cut" for one in entries):
            committed(self, entries)

    monkeypatch.setattr(TableRecord, "_on_committed", twice)


def _another_cut_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    reveal = AttemptWriter.write_revealed

    def other(self: AttemptWriter, *told: Any) -> None:
        self.cut = (self.cut or 0) + 1
        reveal(self, *told)

    monkeypatch.setattr(AttemptWriter, "write_revealed", other)


def _raises(monkeypatch: pytest.MonkeyPatch) -> None:
    def see(self: CardLoop, seen: object) -> None:
        raise RuntimeError("planted")

    monkeypatch.setattr(CardLoop, "observe", see)


def _never_ready(monkeypatch: pytest.MonkeyPatch) -> None:
    async def lift_down(self: TableClearing, *, set_back: bool) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr(TableClearing, "wait_lift_down", lift_down)


@pytest.mark.parametrize(
    ("plant", "kind", "words"),
    [
        (_another_sequence, "wrong_released", "as committed"),
        (_cards_move_early, "wrong_released", "a card moved before shuffled"),
        (_somebody_swaps_cards, "wrong_released", "out: place"),
        (_no_verdict, "wrong_released", "without a verdict"),
        (_another_card_turned_up, "wrong_released", "the turned-up card is"),
        (_other_hands_bound, "unproved", "another face at places 1, 2"),
        (_an_event_noted_wrong, "events_lost", "recorded"),
        (_the_last_events_forgotten, "events_lost", "are not in the journal"),
        (_told_twice, "events_doubled", "were on the feed twice"),
        (_another_cut_shown, "unproved", ""),
        (_raises, "crashed", "RuntimeError in"),
        (_never_ready, "stuck", "phase released"),
    ],
)
def test_what_is_wrong_is_found(
    monkeypatch: pytest.MonkeyPatch, plant: Plant, kind: str, words: str
) -> None:
    plant(monkeypatch)
    report = lived()
    assert any(one.kind == kind and words in one.words for one in report.findings), report


def test_a_fault_that_is_called_by_another_name_is_wrong_blame(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wear = faulty("jam:place=landing", 0.01)
    assert kinds(lived(wear, 2)) == set()
    monkeypatch.setitem(
        board_observations._OBSERVERS, BoardEventCode.JAM, lambda event, _: StrayLanded("N")
    )
    (finding, *_) = lived(wear, 2).findings
    assert finding.kind == "wrong_blame"
    assert finding.words.startswith("WRONG_POCKET was reported while jam:place=landing")


def test_the_same_seed_gives_the_same_report_however_a_process_orders_its_sets() -> None:
    program = (
        "from sim.campaign.life import run_life\n"
        "from sim.campaign.campaign_lives import load_faults\n"
        "from sim.campaign.campaign_lives import LifePlan\n"
        "report = run_life(LifePlan('9.2', 2, load_faults('hostile')))\n"
        "print((report.attempts, report.findings, report.ended_s, report.strikes))"
    )
    told = [
        subprocess.run(  # this test's own interpreter, twice
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            cwd=Path(__file__).parents[2],
            check=True,
            capture_output=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert told[0]
    assert told[0] == told[1]


@pytest.mark.parametrize("entry", [2, 6, 20, 31, 43])
def test_what_a_dying_daemon_did_not_come_to_tell_is_asked_for(
    monkeypatch: pytest.MonkeyPatch, entry: int
) -> None:
    opened = TableHost._open

    def mortal(self: TableHost) -> KillableStore:
        store = opened(self)
        if len(self.feeds) == 1:
            self._death_fault, store.death = (
                SimulatedFault("daemon_killed", for_ms=500.0),
                DaemonDeath(entry),
            )
        return store

    monkeypatch.setattr(TableHost, "_open", mortal)
    report = lived()
    assert (report.deals, report.findings) == (1, ())
    assert [one.outcome for one in report.attempts] == ["ok"]
