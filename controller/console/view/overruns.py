"""Which tables will be late: an estimate from how long their deals took so far."""

from collections.abc import Iterable, Iterator, Sequence
from statistics import median_low
from typing import Final

import msgspec

from controller.console.seen import TableSnapshot
from controller.console.view.clocks import clock_end_ms
from controller.messages import PublicMatch, PublicState

ESTIMATE_STEP_MS: Final = 30_000
"""An estimate is no more exact than that, and so it is told anew no more often."""


class OverrunEstimate(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """A table whose deal under way will end `by_s` after its time is up, if it goes on like this.

    Estimated: so far a deal took `pace_s` from release to release, the mean of its own `deals`; of
    a table in its first deal, the middle of its area's tables (`deals` 0). The present one is taken
    to last as long, and where it has lasted longer to end at once; `by_s` is in whole half minutes.
    What was stopped or dealt again meanwhile counts as played. `ends_ms`: when its time is up, by
    the console's clock.
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


class _DealPace(msgspec.Struct, frozen=True, gc=False):
    """How long a table's deals took, in the mean of so many; the present one began at `began_ms`.

    Both moments by the console's clock.
    """

    snapshot: TableSnapshot
    match: PublicMatch
    ends_ms: int
    began_ms: int
    pace_ms: int | None
    deals: int


def estimate_overruns(
    playing: Sequence[tuple[TableSnapshot, PublicState]], now_ms: int
) -> Iterator[OverrunEstimate]:
    """Yield the tables whose deal will end half a minute or more behind their time."""
    paces = [pace for one, state in playing if (pace := _deal_pace(one, state)) is not None]
    usual = _area_paces(paces)
    for each in paces:
        pace_ms = each.pace_ms or usual.get(each.snapshot.area)
        if pace_ms is None:
            continue
        late_ms = max(each.began_ms + pace_ms, now_ms) - each.ends_ms
        if late_ms >= ESTIMATE_STEP_MS:
            match = each.match
            yield OverrunEstimate(
                table=each.snapshot.table,
                deal=match.deal or 0,
                phase=match.phase,
                phase_en=match.phase_en,
                phase_zh=match.phase_zh,
                ends_ms=each.ends_ms,
                by_s=late_ms // ESTIMATE_STEP_MS * ESTIMATE_STEP_MS // 1000,
                pace_s=pace_ms // 1000,
                deals=each.deals,
            )


def _deal_pace(snapshot: TableSnapshot, state: PublicState) -> _DealPace | None:
    """Return a table's pace where a deal is under way and the clock runs."""
    match, up_ms = state.match, clock_end_ms(state, snapshot.contact_times.received_ms)
    if up_ms is None or match.clock is None or match.clock.deadline_ms is None:
        return None
    if match.began_ms is None or not match.deal:
        return None
    deals, pace_ms = match.deal - 1, None
    if deals and match.start_ms is not None:
        pace_ms = max(0, match.began_ms - match.start_ms) // deals
    began_ms = up_ms - (match.clock.deadline_ms - match.began_ms)
    return _DealPace(snapshot, match, up_ms, began_ms, pace_ms, deals)


def _area_paces(paces: Iterable[_DealPace]) -> dict[str, int]:
    """Return the middle of the paces of each area."""
    found: dict[str, list[int]] = {}
    for each in paces:
        if each.pace_ms is not None:
            found.setdefault(each.snapshot.area, []).append(each.pace_ms)
    return {area: median_low(those) for area, those in found.items()}
