"""The stop of an area's clocks (全区停表), as each of its tables says it: it stops no machine."""

from collections import Counter
from collections.abc import Sequence

import msgspec

from controller.console.view.clocks import table_time_to_epoch_ms
from controller.messages import PublicState
from controller.signer_names import signer_words as by_words
from controller.words import reason_words


class AreaStopView(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """A stop in force: since when (console's clock), why, and by whom; empty: nobody has said it.

    `since_ms` None: of a table of an older program, which says no more than that it stands.
    """

    since_ms: int | None = None
    why_en: str = ""
    why_zh: str = ""
    by_en: str = ""
    by_zh: str = ""


def area_stop_of(state: PublicState, received_ms: int | None) -> AreaStopView | None:
    """Return the stop that holds at a table whose match is under way; None: its clock runs.

    `heard_ms`: when this state was heard, by the console's clock.
    """
    match = state.match
    told = match.area_stop
    if told is None:
        stands = match.started and match.clock is not None and not match.clock.running
        return AreaStopView() if stands else None
    why, by = reason_words(told.reason or ""), by_words(told.by or "")
    return AreaStopView(
        since_ms=table_time_to_epoch_ms(state, told.since_ms, received_ms),
        why_en=why.en,
        why_zh=why.zh,
        by_en=by.en,
        by_zh=by.zh,
    )


def most_common_stop(stops: Sequence[AreaStopView]) -> AreaStopView | None:
    """Return the order that most tables tell of, since it came to the first of them."""
    said = Counter((stop.why_en, stop.why_zh, stop.by_en, stop.by_zh) for stop in stops)
    most = max(said, key=lambda one: (said[one], one), default=None)
    alike = [one for one in stops if (one.why_en, one.why_zh, one.by_en, one.by_zh) == most]
    return min(alike, key=lambda one: (one.since_ms is None, one.since_ms or 0), default=None)
