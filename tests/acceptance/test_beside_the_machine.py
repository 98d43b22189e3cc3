"""What a self-test leaves behind for the machine, and what keeps the two apart."""

import fcntl
from pathlib import Path

import pytest

from controller.acceptance.bench import Bench
from controller.acceptance.selftest import selftest
from controller.cli import CliError
from controller.cli.technician import exclude_machine
from controller.config import Board, CardSet, Panel, Reader, Table, TableConfig
from controller.journal.store import LOCK_NAME, STORE_NAME, JournalStore
from controller.messages import Outcome, Phase, Role
from controller.trials.inproc import trial
from sim.inproc import BOARDS, DEALER_ID, READER_ID
from sim.mechanics.settings import Settings
from tests.acceptance.at_machine import (
    ROUND,
    bench_at,
    in_virtual_time,
    machine_tested,
    pins,
    session_at,
    table_of,
)


def config(state_dir: Path, runtime_dir: Path) -> TableConfig:
    return TableConfig(
        table=Table("T01", "international-000", "sim", state_dir, runtime_dir=runtime_dir),
        dealer=Board(port="dealer", id=DEALER_ID),
        reader=Reader(port="reader", id=READER_ID),
        panel=Panel(pins="mock"),
        card_sets=(CardSet(id="S1", back="A"),),
    )


def test_boards_that_were_tested_deal_as_ever(runtime_dir: Path) -> None:
    async def tested_then_dealt() -> tuple[Outcome | None, int]:
        with table_of(Settings()) as table:
            with bench_at(table) as bench:
                await bench.open()
                await selftest(session_at(table, bench), ROUND)
                attempt = bench.attempt
            async with trial(Settings(), runtime_dir, sim=table) as at:
                state = await at.deal()
                assert state.machine.attempt is not None
                assert state.alerts == []
                return state.fairness[-1].outcome, state.machine.attempt - attempt

    assert in_virtual_time(tested_then_dealt()) == (Outcome.OK, 1)


def test_a_board_remembers_no_attempt_of_a_test_after_its_power_was_gone() -> None:
    async def again() -> int:
        with table_of(Settings()) as table:
            for _ in range(2):
                with bench_at(table) as bench:
                    await bench.open()
                    attempt = bench.attempt
                    await session_at(table, bench).ensure()
                for board in BOARDS:
                    table.kill(board)
                    table.start(board)
            return attempt

    assert in_virtual_time(again()) == 0


def test_a_deal_that_is_not_over_keeps_the_test_away(tmp_path: Path, runtime_dir: Path) -> None:
    async def left_open() -> None:
        async with trial(Settings(), runtime_dir, store=JournalStore.open(tmp_path)) as at:
            held = await at.deal()
            assert held.machine.phase is Phase.HELD

    in_virtual_time(left_open())
    with (
        pytest.raises(CliError, match="attempt 1 of deal 1 is not over"),
        exclude_machine(config(tmp_path, runtime_dir)),
    ):
        raise AssertionError("it was let in")


def test_a_played_deal_does_not(tmp_path: Path, runtime_dir: Path) -> None:
    async def played() -> None:
        async with trial(Settings(), runtime_dir, store=JournalStore.open(tmp_path)) as at:
            await at.deal()
            await at.return_hands()

    in_virtual_time(played())
    with (
        exclude_machine(config(tmp_path, runtime_dir)),
        (tmp_path / LOCK_NAME).open("rb") as lock,
        pytest.raises(BlockingIOError),  # no machine gets in meanwhile
    ):
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_a_table_without_a_journal_is_tested_and_gets_none(
    tmp_path: Path, runtime_dir: Path
) -> None:
    with exclude_machine(config(tmp_path, runtime_dir)):
        assert not (tmp_path / STORE_NAME).exists()
    assert list(tmp_path.iterdir()) == []


def test_no_face_is_in_what_a_test_says() -> None:
    figures = in_virtual_time(machine_tested(Settings(), cards=108))
    assert all(isinstance(one.value, float | int | None) for one in figures.all())
    assert not any("♠" in one.note or "face" in one.note for one in figures.all())


def test_a_bench_pins_both_boards() -> None:
    async def swapped() -> str:
        with table_of(Settings()) as table:
            ports = {"dealer": table.port("reader"), "reader": table.port("dealer")}
            bench = Bench(ports, pins(), iter(range(1, 99)).__next__)  # type: ignore[arg-type]
            try:
                await bench.open()
            except Exception as error:
                return type(error).__name__
            finally:
                bench.close()
            return "opened"

    assert in_virtual_time(swapped()) == "Swapped"


@pytest.mark.virtual
async def test_a_machines_own_selftest_names_an_engine_that_says_nothing_and_latches_nothing(
    runtime_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with trial(Settings(), runtime_dir) as at:
        await at.phase(Phase.EMPTY)
        outputs = at.sim.world._outputs
        with monkeypatch.context() as dead:
            dead.setitem(outputs, "shoot", lambda shot: None)
            replies = [
                await at.order(Role.TECHNICIAN, "selftest"),
                await at.order(Role.TECHNICIAN, "calibrate", board="reader"),
            ]
        assert [(one.result or {})["silent"] for one in replies] == [["engine"], ["engine"]]
        reply = await at.order(Role.TECHNICIAN, "selftest")
        assert (reply.result or {})["silent"] == []
        assert at.machine.state().alerts == []
        await at.deal()
        await at.phase(Phase.HELD)
