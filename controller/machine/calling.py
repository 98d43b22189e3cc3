"""Red buttons: who calls the referee, and that a call is over.

Whoever called takes it back with his green button; a referee who is at the table ends it, too.
"""

from controller.machine.record import TableRecord
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
