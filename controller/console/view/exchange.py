"""Tribute and return as a table's display shows them: who pays whom, and no card of a hand."""

from collections.abc import Iterator

import msgspec

from controller.messages import Match, Seat


class Pays(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """A tribute. `to` and the rank that was due are null until all who pay have laid theirs."""

    giver: Seat
    to: Seat | None
    card: str | None
    laid: bool


class Gives(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """A card to be given back; which one it is no display says."""

    giver: Seat
    to: Seat
    rule: str
    given: bool


def pays(match: Match) -> Iterator[Pays]:
    """Yield the tributes of a match that has some."""
    assert match.tribute is not None
    told = {payment.giver: payment for payment in match.tribute.payments}
    for giver in match.tribute.payers:
        one = told.get(giver)
        yield Pays(
            giver=giver,
            to=one.to if one else None,
            card=one.card if one else None,
            laid=giver in match.tribute.laid,
        )


def gives(match: Match) -> Iterator[Gives]:
    """Yield the returns of a match that has tributes."""
    assert match.tribute is not None
    given = match.tribute.given
    for one in match.tribute.returns:
        yield Gives(giver=one.giver, to=one.to, rule=one.rule, given=one.giver in given)
