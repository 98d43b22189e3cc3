"""Moments of a table's own clock, by the console's: told once, counted on in browsers."""

from controller.console.standing import MIN_SKEW_MS
from controller.console.view.reasons import stamp_to_epoch_ms
from controller.messages import PublicState


def clock_end_ms(state: PublicState, received_ms: int | None) -> int | None:
    """Return when a running clock will be up (milliseconds since 1970), to the second.

    The same from state to state: it goes by the table's own stamps, and by the moment of hearing
    (`heard_ms`, the console's) only where these are far off. None where no clock runs.
    """
    clock = state.match.clock
    if clock is None or not clock.running or clock.deadline_ms is None:
        return None
    return table_time_to_epoch_ms(state, clock.deadline_ms, received_ms)


def table_time_to_epoch_ms(
    state: PublicState, table_ms: int, received_ms: int | None
) -> int | None:
    """Return a moment of the table's own clock in milliseconds since 1970, to the second.

    By the console's clock, as `ends_ms` has it; None where the state does not say when it is.
    """
    at_ms = state.match.at_ms
    if at_ms is None:
        return None
    stamp_ms = stamp_to_epoch_ms(state.time)
    skew_ms = 0 if received_ms is None else received_ms - stamp_ms
    off_ms = 0 if abs(skew_ms) < MIN_SKEW_MS else round(skew_ms / 1000) * 1000
    return round((stamp_ms + off_ms + table_ms - at_ms) / 1000) * 1000
