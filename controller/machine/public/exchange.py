"""Tribute and return as anybody may know them: no card before the rules show it.

What a tribute had to be comes when all who owe one have laid theirs; a return's card when
the rulebook shows it, at once, with the other one, or never (暗还).
"""

from controller.match.phase import MatchPhase
from controller.match.rows import published_returns, published_tribute
from controller.match.state import GuandanMatch, TributeExchange
from controller.messages import Tribute, TributePayment, TributeReturn
from controller.rules.result import FinishOrder
from controller.rules.returns import return_rule, return_visibility
from controller.rules.tribute import finish_owing_tribute


def public_tribute(match: GuandanMatch) -> Tribute | None:
    """Return the present deal's tribute and return; None where none is owed, or not yet."""
    exchange, owed = match.exchange, finish_owing_tribute(match.profile, match.follows)
    if exchange is None or owed is None:
        return None
    plan = exchange.plan
    paid = published_tribute(exchange, match.level)
    return Tribute(
        payers=list(exchange.payers),
        anti=None if match.phase is MatchPhase.ANTI_CHECK else exchange.anti,
        laid=list(exchange.laid),
        required={one.giver: one.card for one in paid if one.card is not None},
        payments=[
            TributePayment(giver=one.giver, to=one.to, card=one.card)
            for one in paid
            if one.card is not None
        ],
        returns=_returns(match, exchange, owed),
        returns_shown=return_visibility(match.profile, owed),
        given=list(exchange.given),
        equal=plan is not None and plan.equal,
        choice_open=plan is not None and plan.choice_open,
        chooser=owed.up if plan is not None and plan.choice_open and not exchange.given else None,
    )


def _returns(
    match: GuandanMatch, exchange: TributeExchange, owed: FinishOrder
) -> list[TributeReturn]:
    """Return all that are due, with the cards that may be seen by now."""
    if exchange.plan is None:
        return []
    due = exchange.plan.returns
    waits = return_visibility(match.profile, owed) == "together" and len(exchange.given) < len(due)
    told = () if waits else published_returns(match, exchange)
    cards = {(one.giver, one.to): one.card for one in told}
    return [
        TributeReturn(
            giver=giver,
            to=to,
            rule=return_rule(match.profile, owed, giver, to),
            card=cards.get((giver, to)),
        )
        for giver, to in due
    ]
