"""One daemon for many scenarios: only as long as nothing of one is left to the next."""

import random
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from controller.messages import CardSetState, MachinePhase, PublicEvent, PublicMachine, PublicState
from controller.rules.profile_files import load_profile
from hil_tests.harness.hands import ControlHands
from hil_tests.harness.measurements import MeasurementLimits
from hil_tests.harness.scenario_table import ScenarioRecord, ScenarioTable
from hil_tests.harness.table_daemon import DaemonClient, DaemonProcess
from hil_tests.harness.targets import MAX_SCENARIOS, KeptDaemon, TableAccess, simulated_bench
from sim.tables.table_processes import ControlClient
from tests.table_doubles import STATE as EMPTY

STATE = msgspec.structs.replace(
    EMPTY,
    simulated=True,
    mode="test",
    machine=PublicMachine(phase=MachinePhase.EMPTY, card_set="S1"),
    sets=[CardSetState(id="S1", back="A"), CardSetState(id="S2", back="B")],
)
INFO = {
    "table": "T01",
    "dealer": "/dev/one",
    "dealer_id": "00000000000000d1",
    "reader": "/dev/two",
    "reader_id": "00000000000000e1",
    "pins": "/dev/shm/pins",
}


def event(n: int) -> PublicEvent:
    return PublicEvent(
        table="T01",
        boot="00",
        n=n,
        time="now",
        simulated=True,
        kind="hold",
        deal=None,
        attempt=None,
        data={},
        prev="",
        head="",
    )


@pytest.fixture
def reached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TableAccess:
    """A table whose daemon runs, at the end of a scenario that left nothing."""
    monkeypatch.setattr(DaemonProcess, "is_running", True)
    process = DaemonProcess(simulated_bench(INFO), tmp_path / "state", tmp_path / "run")
    program = DaemonClient(process)
    program.states, program.events = [STATE], [event(7), event(8)]
    table = ScenarioTable(
        program,
        ControlHands(ControlClient("nowhere")),
        target="sim",
        profile=load_profile("international-000"),
        limits=MeasurementLimits(),
        notes=ScenarioRecord(),
        ports={},
        session_ids=random.Random(1),
    )
    table.first_condition, table.last_counters = table.condition(), {"sessions dealer": 1.0}
    return TableAccess(table)


def test_a_daemon_in_which_nothing_is_left_serves_the_next_scenario(reached: TableAccess) -> None:
    kept = reached.daemon_to_keep()
    assert kept is not None
    assert (kept.scenario_count, kept.last_event, kept.counters) == (1, 8, {"sessions dealer": 1.0})
    assert kept.first_condition == reached.table.condition()


def with_machine(state: PublicState, **changes: object) -> PublicState:
    return msgspec.structs.replace(state, machine=msgspec.structs.replace(state.machine, **changes))


LEFT: dict[str, Callable[[PublicState], PublicState]] = {
    "another set in the hopper": lambda state: with_machine(state, card_set="S2"),
    "a deal under way": lambda state: with_machine(state, phase=MachinePhase.COMMITTED),
    "a barred set": lambda state: msgspec.structs.replace(
        state, sets=[CardSetState(id="S1", back="A", barred=["COUNT_SHORT"]), state.sets[1]]
    ),
    "a match": lambda state: msgspec.structs.replace(
        state, match=msgspec.structs.replace(state.match, match="M1")
    ),
}


def test_a_daemon_in_which_something_is_left_serves_no_other(reached: TableAccess) -> None:
    for what, left in LEFT.items():
        reached.table.daemon.states.append(left(STATE))
        assert reached.daemon_to_keep() is None, what


def test_a_daemon_that_ended_is_not_kept(
    reached: TableAccess, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(DaemonProcess, "is_running", False)
    assert reached.daemon_to_keep() is None


def test_a_daemon_serves_so_many_scenarios_and_no_more(reached: TableAccess) -> None:
    program, first = reached.table.daemon, reached.table.first_condition
    assert isinstance(program, DaemonClient)
    assert first is not None
    for served, goes_on in ((MAX_SCENARIOS - 2, True), (MAX_SCENARIOS - 1, False)):
        reached.previous = KeptDaemon(program.process, {}, 3, first, served)
        assert (reached.daemon_to_keep() is not None) is goes_on


async def test_a_daemon_whose_line_began_another_session_is_not_kept(
    reached: TableAccess, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = reached.table

    async def numbers() -> dict[str, float]:
        return {"sessions dealer": 2.0}

    monkeypatch.setattr(table.daemon, "read_counters", numbers)
    await table.add_counters()
    assert table.was_interrupted
    assert reached.daemon_to_keep() is None
    assert table.record.numbers == {"sessions dealer": 1.0}
