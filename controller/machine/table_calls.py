"""The calls for a referee: by a red button, or because players act too late.

The player who called cancels the call with the green button. A referee at the table also ends it.
"""

import asyncio

from controller.config import LimitsSection
from controller.machine.state.table_match import TableMatch
from controller.machine.state.table_state import OVERDUE_FAULTS
from controller.machine.table_record import TableRecord
from controller.match.match_state import GuandanMatch
from controller.match.phase import MatchPhase
from controller.messages import Seat


def calling_seats(record: TableRecord, seat: Seat | None = None) -> tuple[Seat, ...]:
    """Return the seats that call a referee now; with `seat`, only this seat if it calls."""
    seats = [call.seat for call in record.state.calls if call.seat is not None]
    return tuple(one for one in seats if seat in (None, one))


def end_calls(record: TableRecord, seat: Seat | None = None, by: str | None = None) -> bool:
    """End the call of `seat` for a referee, or all calls if `seat` is None.

    Return whether a call was open. `by` is the referee who came to the table, or None if the player
    cancelled the call. `TableRecord.sync` makes the entry durable.
    """
    ended = calling_seats(record, seat)
    who = {} if by is None else {"by": by}
    for one in ended:
        record.write("call_ended", {"seat": one} | who, deal=record.state.deal)
    return bool(ended)


def due_calls(play: TableMatch, limits: LimitsSection) -> dict[str, int]:
    """Return the due time of each fault of OVERDUE_FAULTS that is possible in the present phase.

    The keys are the names of the faults. Times are on the table's clock. All limits are
    provisional.
    """
    match = play.match
    if match is None or match.suspended is not None:
        return {}
    due: dict[str, tuple[int, float]] = {}
    if match.phase is MatchPhase.HELD:
        due["HANDS_WAIT"] = play.phase_since_ms, limits.take_s
    if match.phase is MatchPhase.RESULT:
        due["RESULT_UNCONFIRMED"] = play.phase_since_ms, limits.result_s
    if isinstance(match, GuandanMatch) and match.phase is MatchPhase.PLAY and match.outs:
        due["OUT_UNCONFIRMED"] = play.last_event_ms, limits.out_s
    if match.phase is MatchPhase.PLAY and match.began_ms is not None:
        due["SLOW_DEAL"] = match.began_ms, limits.slow_deal_s
    return {name: since_ms + round(limit_s * 1000) for name, (since_ms, limit_s) in due.items()}


class OverdueWatch:
    """The watch that raises a fault while players take too long, and clears it afterwards."""

    def __init__(self, record: TableRecord, limits: LimitsSection) -> None:
        self._record, self._limits = record, limits
        self._timer: asyncio.TimerHandle | None = None

    def on_match_changed(self) -> None:
        """Raise each fault of OVERDUE_FAULTS that is due, clear the others, and set the timer."""
        self.close()
        due, now_ms = due_calls(self._record.match_written, self._limits), self._record.clock()
        for name in OVERDUE_FAULTS:
            self._record.set_fault(name, name in due and due[name] <= now_ms)
        due_ms = min((ms for ms in due.values() if ms > now_ms), default=None)
        if due_ms is not None:
            at_s = self._record.clock.loop_time(due_ms)
            self._timer = asyncio.get_running_loop().call_at(at_s, self.on_match_changed)

    def close(self) -> None:
        """Cancel the timer for the next fault."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
