"""What a fault means to the machine: whether it stops, ends an attempt, or calls a person.

The one home of these lists; what each fault is called and what to do stands in faults.toml.
"""

from collections.abc import Mapping

from controller.faults import fault
from controller.machine import table_calls
from controller.machine.state.state_fold import TableState
from controller.messages import Alert, MachinePhase

CALLING_FAULTS = frozenset(
    {
        "CUT_LATE",
        "TWO_MISDEALS",
        "SET_BARRED",
        "SET_TOO_EARLY",
        "NO_CHIEF",
        *table_calls.OVERDUE_FAULTS,
    }
)
"""Faults for which somebody is called though nothing is broken."""
HARMLESS_FAULTS = CALLING_FAULTS | {"PANEL_LOST", "HANDS_UNKNOWN"}
"""Faults that are shown, with which the machine deals on."""
FAULTS_TO_ACKNOWLEDGE = frozenset({"ESTOP_PRESSED", "TWO_MISDEALS"})
"""Faults that stay up until a person has said that he saw them."""
_FIRST_OTHER_CODE = 300
"""Reasons of attempts have codes below this one."""
_SAFE_PHASES = frozenset({MachinePhase.HELD, MachinePhase.RELEASED})


def is_attempt_reason(name: str) -> bool:
    """Tell whether a fault is a reason of an attempt: the catalogue's 1xx and 2xx."""
    return fault(name).code < _FIRST_OTHER_CODE


def shown_phase(state: TableState, *, boards_up: bool) -> MachinePhase:
    """Return the phase that people see: a fault hides every phase but safe hands.

    `boards_up`: both boards answer and are the right ones.
    """
    stopped = not boards_up or any(name not in HARMLESS_FAULTS for name, _ in state.faults)
    return MachinePhase.FAULT if stopped and state.phase not in _SAFE_PHASES else state.phase


def alert(name: str, since: str, evidence: Mapping[str, object] | None = None) -> Alert:
    """Return the alert of a fault of the catalogue, up since `since` (UTC, ISO text)."""
    row = fault(name)
    return Alert(
        code=row.code,
        name=row.name,
        since=since,
        cause=row.cause(evidence),
        action=row.action(evidence),
        cause_zh=row.cause(evidence, "zh"),
        action_zh=row.action(evidence, "zh"),
    )
