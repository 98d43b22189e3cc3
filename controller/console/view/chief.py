"""What is the chief's: what waits for his word, what may be wrong with a table, what will be late.

Pure, of the tables' states and of what somebody has noted beside them (`Noted`).
"""

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from controller.console.seen import TableSnapshot
from controller.console.view.areas import is_playing
from controller.console.view.clocks import clock_end_ms
from controller.console.view.integrity import IntegrityFinding, list_integrity_findings
from controller.console.view.noted import NO_NOTES, HallNotes, Workload
from controller.console.view.open_matters import (
    PendingApproval,
    UnconfirmedCorrection,
    UnsignedSheet,
    list_approvals,
    list_unconfirmed_corrections,
    list_unsigned_sheets,
)
from controller.console.view.overruns import OverrunEstimate, estimate_overruns
from controller.messages import PublicMatch, PublicState, Side

HEAVY_PENALTIES: Final = frozenset({"foul", "match_forfeit", "disqualification"})
"""Penalties that the chief hears of, whoever has given them."""
LOST_VERDICTS: Final = frozenset({"forfeit", "disqualified", "both_lost"})
"""Verdicts that no deal has brought."""
NEAR_END_ANNOUNCEMENTS: Final = frozenset(
    {"announce_15", "announce_5", "announce_1", "last_deal", "time_up"}
)
"""When equal levels in a knock-out begin to matter: the last quarter of an hour (provisional)."""


class LevelTie(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """A knock-out match whose levels are equal near its end; `due`: an extra deal is to be ordered.

    `ends_ms`: when its time is up, by the console's clock; None where its clock does not run.
    """

    table: str
    level: str
    ends_ms: int | None
    due: bool


class TableAtLevelA(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """A table where a side plays at A, and how often that side has failed there."""

    table: str
    sides: tuple[Side, ...]
    failures: dict[Side, int]


class HeavyOutcome(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """A heavy penalty in force, or a match that was lost without being played out."""

    table: str
    words_en: str
    words_zh: str
    side: Side | None
    deal: int | None
    by: str


class ChiefView(msgspec.Struct, frozen=True, kw_only=True):
    """All of it; lists are in the order of the tables, what waits longest first."""

    approvals: tuple[PendingApproval, ...] = ()
    spoken: tuple[UnconfirmedCorrection, ...] = ()
    integrity: tuple[IntegrityFinding, ...] = ()
    overrun: tuple[OverrunEstimate, ...] = ()
    equal: tuple[LevelTie, ...] = ()
    at_a: tuple[TableAtLevelA, ...] = ()
    unsigned: tuple[UnsignedSheet, ...] = ()
    outcomes: tuple[HeavyOutcome, ...] = ()
    load: tuple[Workload, ...] = ()


def build_chief_view(
    snapshots: Sequence[TableSnapshot], now_ms: int, notes: HallNotes = NO_NOTES
) -> ChiefView:
    """Return what is the chief's in a hall."""
    known = [(one, one.state) for one in snapshots if one.state is not None]
    playing = [(one, state) for one, state in known if is_playing(state)]
    his = [
        each
        for one, state in known
        for each in list_approvals(one.table, state, notes.first_seen_ms)
    ]
    words = [
        each
        for one, state in known
        for each in list_unconfirmed_corrections(one.table, state, notes.first_seen_ms)
    ]
    return ChiefView(
        approvals=tuple(sorted(his, key=lambda one: one.since_ms or 0)),
        spoken=tuple(sorted(words, key=lambda one: one.since_ms or 0)),
        integrity=tuple(
            finding for one in snapshots for finding in list_integrity_findings(one, now_ms, notes)
        ),
        overrun=tuple(estimate_overruns(playing, now_ms)),
        equal=tuple(
            found for one, state in playing if (found := _level_tie(one, state)) is not None
        ),
        at_a=tuple(
            each for one, state in playing for each in _tables_at_level_a(one.table, state.match)
        ),
        unsigned=tuple(list_unsigned_sheets(known, notes.first_seen_ms)),
        outcomes=tuple(
            each for one, state in known for each in _heavy_outcomes(one.table, state.match)
        ),
        load=tuple(notes.workloads),
    )


def _level_tie(snapshot: TableSnapshot, state: PublicState) -> LevelTie | None:
    match = state.match
    level, due = match.levels.get("NS"), match.phase == "match_check"
    if match.stage != "knockout" or level is None or level != match.levels.get("EW"):
        return None
    if not due and match.announced not in NEAR_END_ANNOUNCEMENTS:
        return None
    return LevelTie(
        table=snapshot.table,
        level=level,
        ends_ms=clock_end_ms(state, snapshot.contact_times.received_ms),
        due=due,
    )


def _tables_at_level_a(table: str, match: PublicMatch) -> Iterator[TableAtLevelA]:
    at_a = tuple(side for side, level in match.levels.items() if level == "A")
    if at_a:
        failures = {side: n for side, n in (match.failures or {}).items() if side in at_a}
        yield TableAtLevelA(table=table, sides=at_a, failures=failures)


def _heavy_outcomes(table: str, match: PublicMatch) -> Iterator[HeavyOutcome]:
    for ruling in match.rulings:
        if ruling.state == "decided" and ruling.penalty in HEAVY_PENALTIES:
            yield HeavyOutcome(
                table=table,
                words_en=f"{ruling.penalty_en}: {ruling.offence_en}",
                words_zh=f"{ruling.penalty_zh}：{ruling.offence_zh}",
                side=ruling.side,
                deal=ruling.deal,
                by=ruling.approved_by or ruling.by,
            )
    verdict = match.verdict
    if verdict is not None and verdict.how in LOST_VERDICTS:
        yield HeavyOutcome(
            table=table,
            words_en=verdict.how_en,
            words_zh=verdict.how_zh,
            side=verdict.winner,
            deal=match.deal,
            by="",
        )
