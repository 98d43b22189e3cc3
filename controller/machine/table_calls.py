"""Calls at a table: red buttons, and calls because something takes too long.

A caller cancels a call with the green button. A referee at the table ends it, too.
"""

import asyncio

import msgspec

from controller.machine.state.table_match import TableMatch
from controller.machine.state.table_state import OVERDUE_FAULTS
from controller.machine.table_record import TableRecord
from controller.match.match_state import GuandanMatch
from controller.match.phase import MatchPhase
from controller.messages import Seat


def calling_seats(record: TableRecord, seat: Seat | None = None) -> tuple[Seat, ...]:
    """Return the seats that call a referee. With `seat`, only this seat counts."""
    seats = [call.seat for call in record.state.calls if call.seat is not None]
    return tuple(one for one in seats if seat in (None, one))


def end_calls(record: TableRecord, seat: Seat | None = None, by: str | None = None) -> bool:
    """Write that the call of a seat has ended, or without `seat` all calls.

    Return whether there were any. `by` is the person at the table. None: the caller cancelled the
    call. `TableRecord.sync` makes the entry durable.
    """
    ended = calling_seats(record, seat)
    who = {} if by is None else {"by": by}
    for one in ended:
        record.write("call_ended", {"seat": one} | who, deal=record.state.deal)
    return bool(ended)


class WaitingLimits(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """The waiting times after which a referee is called, in milliseconds."""

    take_ms: int
    out_ms: int
    result_ms: int
    slow_deal_ms: int


def due_calls(play: TableMatch, limits: WaitingLimits) -> dict[str, int]:
    """Return the times at which each possible call becomes due, by the table's clock.

    All are provisional.
    """
    match = play.match
    if match is None or match.suspended is not None:
        return {}
    due = {}
    if match.phase is MatchPhase.HELD:
        due["HANDS_WAIT"] = play.phase_since_ms + limits.take_ms
    if match.phase is MatchPhase.RESULT:
        due["RESULT_UNCONFIRMED"] = play.phase_since_ms + limits.result_ms
    if isinstance(match, GuandanMatch) and match.phase is MatchPhase.PLAY and match.outs:
        due["OUT_UNCONFIRMED"] = play.last_event_ms + limits.out_ms
    if match.phase is MatchPhase.PLAY and match.began_ms is not None:
        due["SLOW_DEAL"] = match.began_ms + limits.slow_deal_ms
    return due


def overdue_calls(play: TableMatch, limits: WaitingLimits, now_ms: int) -> frozenset[str]:
    """Return the calls that are due now."""
    return frozenset(name for name, due_ms in due_calls(play, limits).items() if due_ms <= now_ms)


def next_call_ms(play: TableMatch, limits: WaitingLimits, now_ms: int) -> int | None:
    """Return the time of the next call, by the table's clock, or None if none is due later."""
    return min((ms for ms in due_calls(play, limits).values() if ms > now_ms), default=None)


class OverdueWatch:
    """The watch that raises and clears the faults of overdue calls. It has one timer."""

    def __init__(self, record: TableRecord, limits: WaitingLimits) -> None:
        self._record, self._limits = record, limits
        self._timer: asyncio.TimerHandle | None = None

    def on_match_changed(self) -> None:
        """Check which calls the changed match makes due."""
        self.close()
        play, now_ms = self._record.match_written, self._record.clock()
        called = overdue_calls(play, self._limits, now_ms)
        for name in OVERDUE_FAULTS:
            self._record.set_fault(name, name in called)
        due_ms = next_call_ms(play, self._limits, now_ms)
        if due_ms is not None:
            at_s = self._record.clock.loop_time(due_ms)
            self._timer = asyncio.get_running_loop().call_at(at_s, self.on_match_changed)

    def close(self) -> None:
        """Cancel the timer."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
