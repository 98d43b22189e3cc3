"""The chief's page: matters to decide or confirm, and facts about all tables of the hall.

A state does not contain the time when a matter was opened. The caller stores that time by the name
of the matter (`open_matter_names`).
"""

from collections.abc import Iterator, Sequence
from statistics import median_low
from typing import Final

import msgspec

from controller.console.table_snapshots import TableSnapshot
from controller.console.view import fill_struct
from controller.console.view.area_clocks import clock_end_ms, is_over, is_playing
from controller.console.view.integrity import (
    NO_NOTES,
    HallNotes,
    IntegrityFinding,
    Workload,
    list_integrity_findings,
)
from controller.messages import PublicMatch, PublicRuling, PublicState, Side, VerbalCorrection
from controller.words import Words, decided_by_words


class PendingApproval(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """A ruling that waits for the chief's decision or, if `verbal`, for the chief's confirmation.

    A verbal ruling is an oral decision of the chief that a referee entered. `by`: who proposed the
    ruling, or the chief and the person who entered the oral decision. `since_ms`: when the console
    first saw the matter open. It is None if the console did not see the beginning.
    """

    table: str
    ruling: PublicRuling
    verbal: bool
    by: Words
    since_ms: int | None = None


class UnconfirmedCorrection(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """A result that the chief corrected orally and has not confirmed yet.

    `by`: the chief, and the person who entered the correction. `since_ms`: when the console first
    saw it.
    """

    table: str
    correction: VerbalCorrection
    by: Words
    since_ms: int | None = None


class UnsignedSheet(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """A finished score sheet that lacks signatures.

    `signed`: how many it has. `signers`: who has still to sign.
    """

    table: str
    signed: int
    signers: tuple[str, ...]
    since_ms: int | None = None


def open_matter_names(table: str, state: PublicState) -> Iterator[str]:
    """Yield a unique name for each matter of a table that waits for the chief or for signatures."""
    return (name for name, _ in _open_matters(table, state))


def _open_matters(
    table: str, state: PublicState
) -> Iterator[tuple[str, PendingApproval | UnconfirmedCorrection | UnsignedSheet]]:
    """Yield (name, matter) for each matter that waits for the chief or for signatures."""
    match = state.match
    for ruling in match.rulings:
        verbal = ruling.state == "decided" and ruling.verbal and ruling.confirmed_by is None
        if verbal or (ruling.state == "proposed" and ruling.needs == "chief"):
            by = decided_by_words(ruling.by)
            if verbal:
                by = decided_by_words(ruling.approved_by, ruling.entered_by)
            name = f"{table} {match.match} {ruling.id} {ruling.state}"
            yield name, PendingApproval(table=table, ruling=ruling, verbal=verbal, by=by)
    for word in match.spoken:
        by = decided_by_words(word.by, word.entered_by)
        correction = UnconfirmedCorrection(table=table, correction=word, by=by)
        yield f"{table} {match.match} correction {word.row}", correction
    if is_over(state) and match.signers:
        sheet = UnsignedSheet(table=table, signed=len(match.signed), signers=tuple(match.signers))
        yield f"{table} {match.match} unsigned {match.version}", sheet


ESTIMATE_STEP_MS: Final = 30_000
"""Estimates are rounded down to this step, which is their precision. So they change seldom."""


class OverrunEstimate(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """An estimate that a table's present deal ends `by_s` seconds after the end of match time.

    `pace_s`: the mean time of the table's `deals` finished deals, from release to release. In the
    first deal (`deals` is 0) it is the median pace of the other tables of the area. The present
    deal is expected to take as long. If it has already taken longer, it is expected to end now.
    `by_s` is rounded down to half minutes. Pauses and repeated deals count as played time.
    `ends_ms`: when the match's time is up, by the console's clock.
    """

    table: str
    deal: int
    phase: str
    phase_en: str
    phase_zh: str
    ends_ms: int
    by_s: int
    pace_s: int
    deals: int


def estimate_overruns(
    playing: Sequence[tuple[TableSnapshot, PublicState]], now_ms: int
) -> Iterator[OverrunEstimate]:
    """Yield an estimate for each table that will probably exceed match time by 30 s or more."""
    paces = [
        (one, state.match, *pace) for one, state in playing if (pace := _deal_pace(one, state))
    ]
    by_area: dict[str, list[int]] = {}
    for one, *_, own_ms in paces:
        if own_ms is not None:
            by_area.setdefault(one.area, []).append(own_ms)
    for one, match, ends_ms, began_ms, deals, own_ms in paces:
        pace_ms = own_ms or (median_low(by_area[one.area]) if one.area in by_area else None)
        if pace_ms is None:
            continue
        late_ms = max(began_ms + pace_ms, now_ms) - ends_ms
        if late_ms >= ESTIMATE_STEP_MS:
            yield fill_struct(
                OverrunEstimate,
                match,
                table=one.table,
                ends_ms=ends_ms,
                by_s=late_ms // ESTIMATE_STEP_MS * ESTIMATE_STEP_MS // 1000,
                pace_s=pace_ms // 1000,
                deals=deals,
            )


def _deal_pace(
    snapshot: TableSnapshot, state: PublicState
) -> tuple[int, int, int, int | None] | None:
    """Return (end of match time, deal's start, number of ended deals, their mean duration).

    The mean duration is None in the first deal. All moments are by the console's clock.
    The result is None if no deal is under way or the match clock does not run.
    """
    match, up_ms = state.match, clock_end_ms(state, snapshot.contact_times.received_ms)
    if up_ms is None or match.clock is None or match.clock.deadline_ms is None:
        return None
    if match.began_ms is None or not match.deal:
        return None
    deals, pace_ms = match.deal - 1, None
    if deals and match.start_ms is not None:
        pace_ms = max(0, match.began_ms - match.start_ms) // deals
    began_ms = up_ms - (match.clock.deadline_ms - match.began_ms)
    return up_ms, began_ms, deals, pace_ms


HEAVY_PENALTIES: Final = frozenset({"foul", "match_forfeit", "disqualification"})
"""Penalties that the chief's page lists, whichever referee gave them."""
LOST_VERDICTS: Final = frozenset({"forfeit", "disqualified", "both_lost"})
"""Verdicts that do not result from a played deal."""
NEAR_END_ANNOUNCEMENTS: Final = frozenset(
    {"announce_15", "announce_5", "announce_1", "last_deal", "time_up"}
)
"""After one of these announcements, equal levels in a knock-out match are listed.

The first of them is made 15 minutes before the end. No rule text sets this time.
"""


class LevelTie(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """A knock-out match that is near its end while both sides have the same level.

    `due`: an extra deal must be ordered now. `ends_ms`: when the match's time is up, by the
    console's clock. None if its clock does not run.
    """

    table: str
    level: str
    ends_ms: int | None
    due: bool


class TableAtLevelA(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """A table with a side (or both) at level A. `failures`: how often each side failed there."""

    table: str
    sides: tuple[Side, ...]
    failures: dict[Side, int]


class HeavyOutcome(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """A decided foul, forfeit or disqualification, or a match that no played deal decided."""

    table: str
    words_en: str
    words_zh: str
    side: Side | None
    deal: int | None
    by: str


class ChiefView(msgspec.Struct, frozen=True, kw_only=True):
    """All lists of the chief's page. `approvals` and `spoken` begin with the oldest matter.

    The other lists follow the order of the tables.
    """

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
    """Return the chief's page for all tables. `notes`: facts that the console itself noted."""
    known = [(one, one.state) for one in snapshots if one.state is not None]
    playing = [(one, state) for one, state in known if is_playing(state)]
    matters = [
        msgspec.structs.replace(matter, since_ms=notes.first_seen_ms.get(name))
        for one, state in known
        for name, matter in _open_matters(one.table, state)
    ]
    approvals = [one for one in matters if isinstance(one, PendingApproval)]
    spoken = [one for one in matters if isinstance(one, UnconfirmedCorrection)]
    return ChiefView(
        approvals=tuple(sorted(approvals, key=lambda one: one.since_ms or 0)),
        spoken=tuple(sorted(spoken, key=lambda one: one.since_ms or 0)),
        integrity=tuple(
            finding for one in snapshots for finding in list_integrity_findings(one, now_ms, notes)
        ),
        overrun=tuple(estimate_overruns(playing, now_ms)),
        equal=tuple(tie for one, state in playing if (tie := _level_tie(one, state)) is not None),
        at_a=tuple(
            each for one, state in playing for each in _tables_at_level_a(one.table, state.match)
        ),
        unsigned=tuple(one for one in matters if isinstance(one, UnsignedSheet)),
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
    ends_ms = clock_end_ms(state, snapshot.contact_times.received_ms)
    return LevelTie(table=snapshot.table, level=level, ends_ms=ends_ms, due=due)


def _tables_at_level_a(table: str, match: PublicMatch) -> Iterator[TableAtLevelA]:
    at_a = tuple(side for side, level in match.levels.items() if level == "A")
    if at_a:
        failures = {side: n for side, n in (match.failures or {}).items() if side in at_a}
        yield TableAtLevelA(table=table, sides=at_a, failures=failures)


def _heavy_outcomes(table: str, match: PublicMatch) -> Iterator[HeavyOutcome]:
    for ruling in match.rulings:
        if ruling.state == "decided" and ruling.penalty in HEAVY_PENALTIES:
            en = f"{ruling.penalty_en}: {ruling.offence_en}"
            words = Words(en, f"{ruling.penalty_zh}：{ruling.offence_zh}")
            by = ruling.approved_by or ruling.by
            yield fill_struct(HeavyOutcome, ruling, table=table, words=words, by=by)
    verdict = match.verdict
    if verdict is not None and verdict.how in LOST_VERDICTS:
        words, side = Words(verdict.how_en, verdict.how_zh), verdict.winner
        yield fill_struct(HeavyOutcome, match, table=table, words=words, side=side, by="")
