"""What a latched fault stops, and what it does not: the phase that people see."""

from controller.faults import fault_catalogue
from controller.machine.state.table_state import (
    CALLING_FAULTS,
    HARMLESS_FAULTS,
    TableState,
    alert,
    is_attempt_reason,
    shown_phase,
)
from controller.messages import MachinePhase


def shown(name: str, phase: MachinePhase, board: str = "") -> MachinePhase:
    up = {(name, board): alert(name, "2026-01-01T00:00:00Z")}
    return shown_phase(TableState(phase=phase, faults=up), boards_up=True)


def test_what_only_calls_or_tells_somebody_stops_no_machine() -> None:
    stops = [
        name
        for name in HARMLESS_FAULTS
        if shown(name, MachinePhase.DEALING) is not MachinePhase.DEALING
    ]
    assert stops == []
    assert set(HARMLESS_FAULTS) <= set(fault_catalogue())


def test_any_other_fault_stops_it_but_hands_that_are_safe_stay_so() -> None:
    assert shown("JAM", MachinePhase.DEALING) is MachinePhase.FAULT
    assert shown("JAM", MachinePhase.HELD) is MachinePhase.HELD
    assert (
        shown_phase(TableState(phase=MachinePhase.DEALING), boards_up=False) is MachinePhase.FAULT
    )


def test_hands_that_nobody_knows_do_not_stop_the_deal_behind_them() -> None:
    """They are out and played; with deal-ahead the next ones are on their way meanwhile."""
    assert shown("HANDS_UNKNOWN", MachinePhase.DEALING) is MachinePhase.DEALING
    assert "HANDS_UNKNOWN" not in CALLING_FAULTS  # it stands for a whole deal: no buzzer


def test_a_reason_of_an_attempt_is_one_by_its_code() -> None:
    assert is_attempt_reason("JAM")
    assert not is_attempt_reason("SET_BARRED")
