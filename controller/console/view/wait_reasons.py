"""The reasons for which a table waits for a person, and their urgency.

The reasons follow from the table's state and its freshness. The order of urgency is that of a hall:
danger, a raised hand, a count, a stopped machine, a decision, a result, late players, a slow deal,
a table without contact, and last what only a technician needs.
"""

from collections.abc import Iterable, Mapping
from enum import IntEnum
from typing import Final

import msgspec

from controller.console.freshness import Freshness, stamp_to_epoch_ms
from controller.console.table_snapshots import TableSnapshot, natural_sort_key
from controller.console.view import fill_struct
from controller.faults import fault_catalogue
from controller.messages import Alert, MachinePhase, PublicRuling, PublicState, Role
from controller.seats import SEAT_NAMES, SIDE_NAMES
from controller.words import Words

DEAL_OVERDUE_MS: Final = 120_000
"""A deal is overdue after this time, which no rule text sets. Putting a set in takes less."""
NO_DEAL: Final = "no_deal"
"""The reason's name if a deal is due and the machine has not begun it."""
RULING: Final = "ruling"
"""The reason's name if a proposed ruling waits for a referee's decision."""
RULING_CHIEFS: Final = "ruling_chiefs"
"""The reason's name if a proposed ruling waits for the chief, who sees it at once."""
_BEFORE_CARDS: Final = frozenset({"cut", "dealing"})
"""Phases of a match in which the machine has work to do."""


class Urgency(IntEnum):
    """A degree of urgency with which a table waits for a person.

    The smallest number is the most urgent.
    """

    DANGER = 1
    BUTTON = 2
    COUNT = 3
    STOPPED = 4
    DECISION = 5
    RESULT = 6
    LATE = 7
    SLOW = 8
    UNHEARD = 9
    TECHNICAL = 10


class WaitReason(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """One reason for which a table waits for a person.

    `name`: the name of a fault, of the reason of a call, or of a freshness. `since_ms`:
    milliseconds since 1970. `action_*`: what to do, or empty if the words contain it.
    """

    rank: Urgency
    name: str
    since_ms: int
    seat: str | None = None
    words_en: str
    words_zh: str
    action_en: str = ""
    action_zh: str = ""


_ALERT_URGENCY: Final[Mapping[str, Urgency]] = {
    "ESTOP_PRESSED": Urgency.DANGER,
    "LID_OPENED": Urgency.DANGER,
    "TWO_MISDEALS": Urgency.STOPPED,
    "CUT_LATE": Urgency.RESULT,
    "HANDS_WAIT": Urgency.RESULT,
    "RESULT_UNCONFIRMED": Urgency.RESULT,
    "OUT_UNCONFIRMED": Urgency.RESULT,
    "SLOW_DEAL": Urgency.SLOW,
    "PANEL_LOST": Urgency.TECHNICAL,
}
"""Faults with an urgency that does not depend on whether the machine is stopped."""

_CALL_URGENCY: Final[Mapping[str, Urgency]] = {
    "button": Urgency.BUTTON,
    "count": Urgency.COUNT,
    "second_count": Urgency.COUNT,
    "misdeals_in_a_row": Urgency.STOPPED,
    "wrong_player": Urgency.LATE,
    "late_regulations": Urgency.LATE,
    "late_default": Urgency.LATE,
    "opening_over": Urgency.LATE,
}
"""Calls that ask for no decision. Every other call asks a referee to decide."""

UNHEARD_WORDS: Final[Mapping[Freshness, Words]] = {
    Freshness.STALE: Words("no new data from this table", "数据未更新"),
    Freshness.SILENT: Words("this table is silent", "失联"),
    Freshness.KEY_REFUSED: Words("the table refuses the console's key", "密钥被拒"),
    Freshness.OTHER_KEY: Words("another key answers there: another machine?", "密钥不符，疑似换机"),
}
"""Values of freshness that a person must look at, with their words."""


def list_table_reasons(
    snapshot: TableSnapshot, standing: tuple[Freshness, int]
) -> tuple[WaitReason, ...]:
    """Return all reasons for which a table waits, sorted by urgency and then by age.

    `standing`: the table's freshness, and the time since when. A silent table keeps the reasons of
    its last state, below the reason that it is silent.
    """
    found: list[WaitReason] = []
    (freshness, since_ms), skew_ms = standing, snapshot.contact_times.skew_ms
    if (state := snapshot.state) is not None:
        found += [*_call_reasons(state, skew_ms), *_ruling_reasons(state, skew_ms)]
    # Without contact, a deal is as much overdue as it was at the last contact.
    due_ms, heard_ms = snapshot.deal_due_since_ms, snapshot.contact_times.received_ms
    if due_ms is not None and heard_ms is not None and heard_ms - due_ms >= DEAL_OVERDUE_MS:
        found.append(
            WaitReason(
                rank=Urgency.STOPPED,
                name=NO_DEAL,
                since_ms=due_ms,
                words_en="a deal is due and the machine has not begun it: does it wait for cards?",
                words_zh="应发牌而机器未开始：是否在等待放牌？",
                action_en="Check that the set is in the hopper and level. Then start the deal",
                action_zh="查看整套牌是否已放入进牌口并放平，然后开始发牌",
            )
        )
    if (words := UNHEARD_WORDS.get(freshness)) is not None:
        rank, name = Urgency.UNHEARD, freshness.value
        found.append(fill_struct(WaitReason, rank=rank, name=name, since_ms=since_ms, words=words))
    return tuple(sorted(found, key=lambda one: (one.rank, one.since_ms, one.name)))


def is_deal_due(state: PublicState) -> bool:
    """Return whether a deal is due that the machine has not begun. False if a person prevents it.

    The table raises no alert if its hopper counts as empty, or if the set is still outside.
    """
    machine, match = state.machine, state.match
    return (
        match.started
        and match.verdict is None
        and match.phase in _BEFORE_CARDS
        and machine.phase in (MachinePhase.EMPTY, MachinePhase.RELEASED)
        and not (match.by_hand or match.suspended or machine.pauses)
        and (match.clock is None or match.clock.running)
    )


def _call_reasons(state: PublicState, skew_ms: int) -> Iterable[WaitReason]:
    """Yield a reason for each call for a referee, and then a reason for each alert.

    `skew_ms`: how far the console's clock is ahead of the table's clock.
    """
    for call in state.calls:
        yield WaitReason(
            rank=_CALL_URGENCY.get(call.reason, Urgency.DECISION),
            name=call.reason,
            since_ms=stamp_to_epoch_ms(call.since) + skew_ms,
            seat=call.seat,
            words_en=call.words_en or call.reason,
            words_zh=call.words_zh or call.reason,
        )
    for alert in state.alerts:
        yield fill_struct(
            WaitReason,
            rank=_urgency(alert, state),
            name=alert.name,
            since_ms=stamp_to_epoch_ms(alert.since) + skew_ms,
            words=Words(alert.cause, alert.cause_zh),
            action=Words(alert.action, alert.action_zh),
        )


def _ruling_reasons(state: PublicState, skew_ms: int) -> Iterable[WaitReason]:
    """Yield one reason for all rulings that wait for the chief, and one for those for a referee."""
    for name, needs, whose in _DECIDERS:
        mine = [one for one in state.match.rulings if (one.state, one.needs) == ("proposed", needs)]
        if not mine:
            continue
        first, more = mine[0], len(mine) - 1
        also = Words(f" (and {more} more)", f"（另{more}件）") if more else Words("", "")
        who = SIDE_NAMES[first.side] if first.seat is None else SEAT_NAMES[first.seat]
        yield WaitReason(
            rank=Urgency.DECISION,
            name=name,
            since_ms=_since_proposed(state, first) + skew_ms,
            words_en=f"ruling {first.id} waits for {whose.en}: {who.en}, "
            f"{first.offence_en}: {first.penalty_en}{also.en}",
            words_zh=f"判罚{first.id}待{whose.zh}裁定：{who.zh}，"
            f"{first.offence_zh}，{first.penalty_zh}{also.zh}",
        )


def _since_proposed(state: PublicState, ruling: PublicRuling) -> int:
    """Return when a ruling was proposed, in ms since 1970 by the table's clock.

    At a table of an older version, the result is the start of the present deal or match.
    """
    match = state.match
    known = (ruling.at_ms, match.began_ms, match.start_ms, match.at_ms)
    table_ms = next((moment for moment in known if moment is not None), 0)
    return round((stamp_to_epoch_ms(state.time) + table_ms - (match.at_ms or 0)) / 1000) * 1000


_DECIDERS: Final = (
    (RULING_CHIEFS, "chief", Words("the chief referee", "裁判长")),
    (RULING, "referee", Words("a referee", "裁判员")),
)


def _urgency(alert: Alert, state: PublicState) -> Urgency:
    """Return the urgency of an alert. Danger is less urgent if no players are present."""
    known = _ALERT_URGENCY.get(alert.name)
    players_present = state.match.seated and state.match.verdict is None
    if known is Urgency.DANGER and not players_present:
        return Urgency.STOPPED
    if known is not None:
        return known
    row = fault_catalogue().get(alert.name)  # None at a table of a newer version.
    service = row is not None and row.fault_class == "service"
    stopped = not service or state.machine.phase is MachinePhase.FAULT
    return Urgency.STOPPED if stopped else Urgency.TECHNICAL


ESCALATION_MS: Final = 120_000
"""After this time, a table to which no referee has gone is shown to the chief too."""


class WaitingTable(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """A table that waits for a person.

    `reasons`: the most urgent first. `taken_by`: who goes there. `chiefs`: no person has gone there
    for so long that the chief is shown the table.
    """

    table: str
    reasons: tuple[WaitReason, ...]
    taken_by: str | None = None
    chiefs: bool = False

    @property
    def rank(self) -> Urgency:
        """Return the urgency of the table's most urgent reason."""
        return self.reasons[0].rank

    @property
    def since_ms(self) -> int:
        """Return when the table's most urgent reason began, in milliseconds since 1970."""
        return self.reasons[0].since_ms


def build_queue(waits: Iterable[WaitingTable], role: Role) -> tuple[WaitingTable, ...]:
    """Return the waiting tables with the reasons for `role`, sorted by urgency and then by age.

    A referee's list and its rows do not contain what only a technician needs.
    """
    seen = list(waits)
    if role is not Role.TECHNICIAN:
        seen = [
            msgspec.structs.replace(wait, reasons=left)
            for wait in seen
            if (left := tuple(one for one in wait.reasons if one.rank is not Urgency.TECHNICAL))
        ]
    return tuple(
        sorted(seen, key=lambda wait: (wait.rank, wait.since_ms, natural_sort_key(wait.table)))
    )


def build_waiting_table(
    table: str, reasons: tuple[WaitReason, ...], taken_by: str | None, now_ms: int
) -> WaitingTable | None:
    """Return a waiting table with its reasons, or None if `reasons` is empty."""
    if not reasons:
        return None
    urgent = reasons[0].rank < Urgency.UNHEARD
    his = reasons[0].name == RULING_CHIEFS
    late = taken_by is None and urgent and now_ms - reasons[0].since_ms >= ESCALATION_MS and not his
    return WaitingTable(table=table, reasons=reasons, taken_by=taken_by, chiefs=late)
