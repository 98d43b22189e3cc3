"""Red buttons: who calls the referee, and that a call is over.

Whoever called takes it back with his green button; a referee who is at the table ends it, too.
"""

import asyncio

import msgspec

from controller.machine.state.fault_meanings import OVERDUE_FAULTS
from controller.machine.state.table_match import TableMatch
from controller.machine.table_record import TableRecord
from controller.match.match_state import GuandanMatch
from controller.match.phase import MatchPhase
from controller.messages import Seat


def calling_seats(record: TableRecord, seat: Seat | None = None) -> tuple[Seat, ...]:
    """Return the seats that call; of `seat` alone, where one is said."""
    seats = [call.seat for call in record.state.calls if call.seat is not None]
    return tuple(one for one in seats if seat in (None, one))


def end_calls(record: TableRecord, seat: Seat | None = None, by: str | None = None) -> bool:
    """Write that the calls of a seat, or all, are over; tell whether there were any.

    `by` is at the table; None: who called took it back. `sync` or `flush` makes it last.
    """
    ended = calling_seats(record, seat)
    who = {} if by is None else {"by": by}
    for one in ended:
        record.write("call_ended", {"seat": one} | who, deal=record.state.deal)
    return bool(ended)


class WaitingLimits(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """When somebody is called, in milliseconds of waiting."""

    take_ms: int
    out_ms: int
    result_ms: int
    slow_deal_ms: int


def due_calls(play: TableMatch, limits: WaitingLimits) -> dict[str, int]:
    """Return when each call that may come is due, on the table's clock (provisional all)."""
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
    """Return who is to be called by now."""
    return frozenset(name for name, due_ms in due_calls(play, limits).items() if due_ms <= now_ms)


def next_call_ms(play: TableMatch, limits: WaitingLimits, now_ms: int) -> int | None:
    """Return when the next call is due; None: nobody waits too long."""
    return min((ms for ms in due_calls(play, limits).values() if ms > now_ms), default=None)


class OverdueWatch:
    """Shows who is called for by now; one timer, none once closed."""

    def __init__(self, record: TableRecord, limits: WaitingLimits) -> None:
        self._record, self._limits = record, limits
        self._timer: asyncio.TimerHandle | None = None

    def on_match_changed(self) -> None:
        """Look at the match as it stands now."""
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
        """Leave no timer."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
