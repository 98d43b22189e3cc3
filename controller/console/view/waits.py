"""Who waits for a referee: one list over all tables, the most urgent first.

All that a table waits for is one row, under its most urgent reason (reasons.py).
"""

from collections.abc import Iterable
from typing import Final

import msgspec

from controller.console.in_order import natural_sort_key
from controller.console.view.reasons import (
    RULING_CHIEFS,
    Urgency,
    WaitReason,
)
from controller.messages import Role

ESCALATION_MS: Final = 120_000
"""A row that nobody goes to for so long is the chief's, too."""


class WaitingTable(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """One table that waits, and for what, the most urgent first. `taken_by`: who goes there.

    `chiefs`: nobody has gone for so long that the chief is told.
    """

    table: str
    reasons: tuple[WaitReason, ...]
    taken_by: str | None = None
    chiefs: bool = False

    @property
    def rank(self) -> Urgency:
        """How urgent it is."""
        return self.reasons[0].rank

    @property
    def since_ms(self) -> int:
        """Since when its most urgent reason stands."""
        return self.reasons[0].since_ms


def build_queue(waits: Iterable[WaitingTable], role: Role) -> tuple[WaitingTable, ...]:
    """Return the list for a role: the most urgent first, who has waited longest first of those.

    What only a technician wants to know is not in a referee's list, nor in a row of it.
    """
    seen = waits if role is Role.TECHNICIAN else filter(None, map(_without_technical, waits))
    return tuple(
        sorted(seen, key=lambda wait: (wait.rank, wait.since_ms, natural_sort_key(wait.table)))
    )


def _without_technical(wait: WaitingTable) -> WaitingTable | None:
    """Return a row without what is only a technician's; None where that is all."""
    if wait.reasons[-1].rank is not Urgency.TECHNICAL:
        return wait
    left = tuple(one for one in wait.reasons if one.rank is not Urgency.TECHNICAL)
    return msgspec.structs.replace(wait, reasons=left) if left else None


def build_waiting_table(
    table: str, reasons: tuple[WaitReason, ...], taken_by: str | None, now_ms: int
) -> WaitingTable | None:
    """Return a table's row of the list; None where nobody waits."""
    if not reasons:
        return None
    urgent = reasons[0].rank < Urgency.UNHEARD
    his = reasons[0].name == RULING_CHIEFS
    late = taken_by is None and urgent and now_ms - reasons[0].since_ms >= ESCALATION_MS and not his
    return WaitingTable(table=table, reasons=reasons, taken_by=taken_by, chiefs=late)
