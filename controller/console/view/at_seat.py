"""One side of a table's display: a seat, how its player stands, and his buttons."""

import msgspec

from controller.console.view.touches import SeatButton, list_buttons
from controller.messages import PublicState, Seat
from controller.rules.seats import side_of


class DisplaySeat(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """One seat. `waits`: something is asked of it. `place`: as which it went out, from 1 on.

    `buttons`: green first. `cuts`: it may cut now. `called`: its red button was pressed, and the
    referee has not come.
    """

    seat: Seat
    name: str = ""
    seated: bool = False
    waits: bool = False
    leads: bool = False
    cuts: bool = False
    called: bool = False
    place: int | None = None
    dead: bool = False
    buttons: tuple[SeatButton, ...] = ()


def build_display_seat(seat: Seat, state: PublicState, *, cuts: bool) -> DisplaySeat:
    """Return what the display shows at a seat; `cuts`: it may cut now."""
    match = state.match
    waits = seat in match.waiting_for
    called = any(call.seat == seat and call.reason == "button" for call in state.calls)
    pair = match.pairs.get(side_of(seat))
    return DisplaySeat(
        seat=seat,
        name=pair.players.get(seat, "") if pair else "",
        seated=seat in match.seated,
        waits=waits,
        leads=seat == match.leader and not match.led,
        cuts=cuts,
        called=called,
        place=match.order.index(seat) + 1 if seat in match.order else None,
        dead=seat in match.dead,
        buttons=tuple(list_buttons(seat, match, waits=waits, called=called)),
    )
