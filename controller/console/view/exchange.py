"""Tribute and return as a table's display shows them: who pays whom, and no card of a hand."""

from collections.abc import Iterator
from typing import Final

import msgspec

from controller.messages import PublicMatch, PublicSeatClock, Seat

_EXCHANGE_PHASES: Final = frozenset({"tribute", "return"})
"""Of an exchange; the duty that their clocks count has the same name."""


class TributeLine(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """A tribute. `to` and the rank that was due are null until all who pay have laid theirs.

    `clock`: what counts for it.
    """

    giver: Seat
    to: Seat | None
    card: str | None
    laid: bool
    clock: PublicSeatClock | None


class ReturnLine(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """A card to be given back; which one it is no display says. `clock`: what counts for it."""

    giver: Seat
    to: Seat
    rule: str
    given: bool
    clock: PublicSeatClock | None


class ExchangeView(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """What is owed while it is exchanged, a line each.

    `said`: the lines say all that the table waits for, with its clocks: it is said nowhere else.
    """

    pays: tuple[TributeLine, ...]
    gives: tuple[ReturnLine, ...]
    equal: bool
    said: bool

    @property
    def clocks(self) -> frozenset[PublicSeatClock]:
        """The clocks that stand in its lines."""
        clocks = (*(one.clock for one in self.pays), *(one.clock for one in self.gives))
        return frozenset(one for one in clocks if one is not None)


def build_exchange(match: PublicMatch) -> ExchangeView | None:
    """Return what is owed; None where nothing is exchanged now."""
    if match.phase not in _EXCHANGE_PHASES or match.tribute is None:
        return None
    paid, given = tuple(_tribute_lines(match)), tuple(_return_lines(match))
    if match.phase == "tribute":
        said = any(not one.laid for one in paid)
    else:
        said = not _is_choice_open(match) and any(not one.given for one in given)
    return ExchangeView(pays=paid, gives=given, equal=match.tribute.equal, said=said)


def _is_choice_open(match: PublicMatch) -> bool:
    """Tell whether UP may still choose between equal tributes, which no line of a card says."""
    return match.tribute is not None and match.tribute.choice_open and not match.tribute.given


def _tribute_lines(match: PublicMatch) -> Iterator[TributeLine]:
    assert match.tribute is not None
    told = {payment.giver: payment for payment in match.tribute.payments}
    for giver in match.tribute.payers:
        one = told.get(giver)
        yield TributeLine(
            giver=giver,
            to=one.to if one else None,
            card=one.card if one else None,
            laid=giver in match.tribute.laid,
            clock=_duty_clock(match, "tribute", giver),
        )


def _return_lines(match: PublicMatch) -> Iterator[ReturnLine]:
    assert match.tribute is not None
    for one in match.tribute.returns:
        yield ReturnLine(
            giver=one.giver,
            to=one.to,
            rule=one.rule,
            given=one.giver in match.tribute.given,
            clock=_duty_clock(match, "return", one.giver),
        )


def _duty_clock(match: PublicMatch, duty: str, seat: Seat) -> PublicSeatClock | None:
    if match.phase != duty:
        return None
    return next((one for one in match.clocks if (one.duty, one.seat) == (duty, seat)), None)
