"""The effect of each fault on the machine: whether it stops, ends an attempt, or calls a person.

Names and remedies of the faults are in faults.toml.
"""

from collections.abc import Mapping

from controller.faults import fault
from controller.messages import Alert

OVERDUE_FAULTS = ("HANDS_WAIT", "OUT_UNCONFIRMED", "RESULT_UNCONFIRMED", "SLOW_DEAL")
"""Faults that call a person because something takes too long."""


CALLING_FAULTS = frozenset(
    {
        "CUT_LATE",
        "TWO_MISDEALS",
        "SET_BARRED",
        "SET_TOO_EARLY",
        "NO_CHIEF",
        *OVERDUE_FAULTS,
    }
)
"""Faults that call a person although nothing is broken."""
HARMLESS_FAULTS = CALLING_FAULTS | {"PANEL_LOST", "HANDS_UNKNOWN"}
"""Faults that are shown while the machine continues to deal."""
FAULTS_TO_ACKNOWLEDGE = frozenset({"ESTOP_PRESSED", "TWO_MISDEALS"})
"""Faults that stay until a person acknowledges them."""
_FIRST_OTHER_CODE = 300
"""Reasons of attempts have lower codes."""


def is_attempt_reason(name: str) -> bool:
    """Return whether a fault is a reason of an attempt: codes 1xx and 2xx of the catalogue."""
    return fault(name).code < _FIRST_OTHER_CODE


def alert(name: str, since: str, evidence: Mapping[str, object] | None = None) -> Alert:
    """Return the alert of a fault that was raised at `since` (UTC, ISO text)."""
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
