"""What a self-test leaves behind for the machine, and what keeps the two apart."""

import fcntl
from pathlib import Path

import pytest

from controller.acceptance.board_pair import BoardPair
from controller.acceptance.selftest_run import run_selftest
from controller.cli import CliError
from controller.cli.maintenance import exclude_machine
from controller.config import (
    BoardSection,
    CardSetSection,
    PanelSection,
    ReaderSection,
    TableConfig,
    TableSection,
)
from controller.journal.store import LOCK_NAME, STORE_NAME, JournalStore
from controller.messages import AttemptOutcome, MachinePhase, Role
from sim.hardware_in_process import BOARDS, DEALER_ID, READER_ID
from sim.mechanics.mechanics_settings import MechanicsSettings
from sim.tables.table_in_process import run_table_in_process
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
        table=TableSection("T01", "international-000", "sim", state_dir, runtime_dir=runtime_dir),
        dealer=BoardSection(port="dealer", id=DEALER_ID),
        reader=ReaderSection(port="reader", id=READER_ID),
        panel=PanelSection(pins="mock"),
        card_sets=(CardSetSection(id="S1", back="A"),),
    )


def test_boards_that_were_tested_deal_as_ever(runtime_dir: Path) -> None:
    async def tested_then_dealt() -> tuple[AttemptOutcome | None, int]:
        with table_of(MechanicsSettings()) as table:
            with bench_at(table) as bench:
                await bench.open()
                await run_selftest(session_at(table, bench), ROUND)
                attempt = bench.attempt
            async with run_table_in_process(MechanicsSettings(), runtime_dir, sim=table) as at:
                state = await at.play_attempt()
                assert state.machine.attempt is not None
                assert state.alerts == []
                return state.fairness[-1].outcome, state.machine.attempt - attempt

    assert in_virtual_time(tested_then_dealt()) == (AttemptOutcome.OK, 1)


def test_a_board_remembers_no_attempt_of_a_test_after_its_power_was_gone() -> None:
    async def again() -> int:
        with table_of(MechanicsSettings()) as table:
            for _ in range(2):
                with bench_at(table) as bench:
                    await bench.open()
                    attempt = bench.attempt
                    await session_at(table, bench).ensure_attempt()
                for board in BOARDS:
                    table.kill(board)
                    table.start(board)
            return attempt

    assert in_virtual_time(again()) == 0


def test_a_deal_that_is_not_over_keeps_the_test_away(tmp_path: Path, runtime_dir: Path) -> None:
    async def left_open() -> None:
        async with run_table_in_process(
            MechanicsSettings(), runtime_dir, store=JournalStore.open(tmp_path)
        ) as at:
            held = await at.play_attempt()
            assert held.machine.phase is MachinePhase.HELD

    in_virtual_time(left_open())
    with (
        pytest.raises(CliError, match="attempt 1 of deal 1 is not over"),
        exclude_machine(config(tmp_path, runtime_dir)),
    ):
        raise AssertionError("it was let in")


def test_a_played_deal_does_not(tmp_path: Path, runtime_dir: Path) -> None:
    async def played() -> None:
        async with run_table_in_process(
            MechanicsSettings(), runtime_dir, store=JournalStore.open(tmp_path)
        ) as at:
            await at.play_attempt()
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
    figures = in_virtual_time(machine_tested(MechanicsSettings(), cards=108))
    assert all(isinstance(one.value, float | int | None) for one in figures.all_figures())
    assert not any("♠" in one.note or "face" in one.note for one in figures.all_figures())


def test_a_bench_pins_both_boards() -> None:
    async def swapped() -> str:
        with table_of(MechanicsSettings()) as table:
            ports = {"dealer": table.port("reader"), "reader": table.port("dealer")}
            bench = BoardPair(ports, pins(), iter(range(1, 99)).__next__)  # type: ignore[arg-type]
            try:
                await bench.open()
            except Exception as error:
                return type(error).__name__
            finally:
                bench.close()
            return "opened"

    assert in_virtual_time(swapped()) == "BoardsSwapped"


@pytest.mark.virtual
async def test_a_machines_own_selftest_names_an_engine_that_says_nothing_and_latches_nothing(
    runtime_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with run_table_in_process(MechanicsSettings(), runtime_dir) as at:
        await at.wait_for_phase(MachinePhase.EMPTY)
        outputs = at.sim.world._outputs
        with monkeypatch.context() as dead:
            dead.setitem(outputs, "shoot", lambda shot: None)
            replies = [
                await at.send_command(Role.TECHNICIAN, "selftest"),
                await at.send_command(Role.TECHNICIAN, "calibrate", board="reader"),
            ]
        assert [(one.result or {})["silent"] for one in replies] == [["engine"], ["engine"]]
        reply = await at.send_command(Role.TECHNICIAN, "selftest")
        assert (reply.result or {})["silent"] == []
        assert at.machine.state().alerts == []
        await at.play_attempt()
        await at.wait_for_phase(MachinePhase.HELD)
