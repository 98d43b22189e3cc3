"""A latched fault as people see it: cause and next action, in both languages."""

from collections.abc import Mapping

from controller.faults import fault
from controller.messages import Alert


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
