"""The seats on a table's display, and the buttons of each seat. Each button is a complete command.

So the meaning of a touch is decided here, where tests cover it, and not in a browser.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import msgspec

from controller.commands.registry import COMMANDS
from controller.messages import PublicMatch, PublicState, Seat
from controller.seats import side_of


class SeatButton(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """A button of one seat on the table's display, with the command that it sends.

    `say`: the key of its text. `of`: the seat that the command is about, if that is another seat.
    `hold`: the command needs a long press, because it cannot be taken back.
    """

    cmd: str
    args: dict[str, Any]
    deal: int | None
    attempt: int | None
    say: str
    of: Seat | None = None
    hold: bool = False


_COUNT_CLAIM_PHASES: Final = frozenset(
    {"count_check", "anti_check", "tribute", "return", "choices", "play"}
)
"""Phases in which a seat may claim a wrong count, until the first lead. Source: seed 000 A5.2."""


def list_buttons(
    seat: Seat, match: PublicMatch, *, waits: bool, called: bool
) -> Iterator[SeatButton]:
    """Yield the buttons that the display shows for a seat now, in their order.

    First come the answers for which the table waits, then what the seat may report, then the call
    to the referee. `waits`: the table waits for this seat. `called`: the seat has already called
    the referee.
    """
    if waits and match.phase in _BUTTONS_BY_PHASE:
        yield from _BUTTONS_BY_PHASE[match.phase](seat, match)
    if match.suspended is None:
        if match.phase == "play":
            if any(clock.duty == "play" and clock.seat == seat for clock in match.clocks):
                yield _confirm_button(seat, match, "played")
            if match.game == "guandan" and seat not in (*match.outs, *match.order, *match.dead):
                yield _button("out", {"seat": seat}, match, "out", hold=True)
        if match.phase in _COUNT_CLAIM_PHASES and not match.led and match.deal:
            yield _button("claim_count", {"seat": seat}, match, "claim", hold=True)
    if not called:
        yield _button("call", {"seat": seat}, match, "call")


def _confirm_button_for(text_id: str) -> Callable[[Seat, PublicMatch], Iterator[SeatButton]]:
    """Return a function that yields one confirm button, labelled with the text `text_id`."""
    return lambda seat, match: iter([_confirm_button(seat, match, text_id)])


def _return_buttons(seat: Seat, match: PublicMatch) -> Iterator[SeatButton]:
    """Yield the buttons of a seat that must return a card: "take" for a tribute, then "returned".

    Only UP (the winner of the last deal) has "take" buttons, and only while UP may still choose
    between two equal tributes. Source: seed 003 R4.5.
    """
    tribute = match.tribute
    if tribute is not None and tribute.choice_open and seat == tribute.chooser:
        for payer in tribute.payers:
            yield _button("choose", {"payer": payer}, match, "take", of=payer)
    yield _confirm_button(seat, match, "returned")


def _answer_buttons(seat: Seat, match: PublicMatch) -> Iterator[SeatButton]:
    """Yield the buttons "yes" and "no" if a question of the Big Two rules is open."""
    asked = match.choices.asked if match.choices else None
    if asked is not None:
        yield _button("answer", {"seat": seat, "yes": True}, match, f"{asked}_yes")
        yield _button("answer", {"seat": seat, "yes": False}, match, f"{asked}_no")


def _play_buttons(seat: Seat, match: PublicMatch) -> Iterator[SeatButton]:
    """Yield the button "led" until the first lead, then "is_out" once an opponent has no cards."""
    if not match.led:
        yield _confirm_button(seat, match, "led")
        return
    out = next((out for out in match.outs if side_of(out) != side_of(seat)), None)
    if out is not None:
        yield _confirm_button(seat, match, "is_out", about_seat=out)


_BUTTONS_BY_PHASE: Final[Mapping[str, Callable[[Seat, PublicMatch], Iterator[SeatButton]]]] = {
    "setup": lambda seat, match: iter([_button("seat", {"seat": seat}, match, "sit")]),
    "count_check": _confirm_button_for("counted"),
    "tribute": _confirm_button_for("laid"),
    "return": _return_buttons,
    "choices": _answer_buttons,
    "play": _play_buttons,
    "result": _confirm_button_for("result"),
}
"""The buttons for which a table waits. The cut has its own place, in the middle of the display."""


def _confirm_button(
    seat: Seat, match: PublicMatch, text_id: str, about_seat: Seat | None = None
) -> SeatButton:
    """Return a button with which a seat confirms the present phase of the match.

    Its command names the phase, so a late touch confirms no later phase. `about_seat`: the seat
    that the command is about, if that is another seat.
    """
    return _button("confirm", {"seat": seat, "phase": match.phase}, match, text_id, of=about_seat)


def _button(
    cmd: str, args: dict[str, Any], match: PublicMatch, text_id: str, **more: Any
) -> SeatButton:
    bound = COMMANDS[cmd].bound_to == "match"
    deal, attempt = (match.deal, match.attempt) if bound else (None, None)
    return SeatButton(cmd=cmd, args=args, deal=deal, attempt=attempt, say=text_id, **more)


class DisplaySeat(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """One seat as the table's display shows it. `waits`: the table waits for it.

    `place`: its place in the finish, from 1 on. `cuts`: it may cut now. `called`: its red button
    was pressed, and the referee has not come. `buttons`: in the order of `list_buttons`.
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
    """Return one seat as the table's display shows it. `cuts`: the seat may cut now."""
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
