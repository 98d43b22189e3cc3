"""What a fault means to the machine: whether it stops, ends an attempt, or calls a person.

The one home of these lists; what each fault is called and what to do stands in faults.toml.
"""

from collections.abc import Mapping

from controller.faults import fault
from controller.messages import Alert

OVERDUE_FAULTS = ("HANDS_WAIT", "OUT_UNCONFIRMED", "RESULT_UNCONFIRMED", "SLOW_DEAL")
"""Every call of this kind, as the catalogue names it."""


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
"""Faults for which somebody is called though nothing is broken."""
HARMLESS_FAULTS = CALLING_FAULTS | {"PANEL_LOST", "HANDS_UNKNOWN"}
"""Faults that are shown, with which the machine deals on."""
FAULTS_TO_ACKNOWLEDGE = frozenset({"ESTOP_PRESSED", "TWO_MISDEALS"})
"""Faults that stay up until a person has said that he saw them."""
_FIRST_OTHER_CODE = 300
"""Reasons of attempts have codes below this one."""


def is_attempt_reason(name: str) -> bool:
    """Tell whether a fault is a reason of an attempt: the catalogue's 1xx and 2xx."""
    return fault(name).code < _FIRST_OTHER_CODE


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
