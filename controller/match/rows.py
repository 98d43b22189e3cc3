"""What is written down of a deal: its row of the score sheet, from the match at its end."""

from controller.match.course import next_row_number
from controller.match.sheet import CardGiven, DealRow
from controller.match.state import GuandanMatch, TributeExchange
from controller.messages import Seat
from controller.rules.levels import Level, level_text
from controller.rules.order import BIG_JOKER_VALUE, LEVEL_VALUE, SMALL_JOKER_VALUE
from controller.rules.result import DealResult
from controller.rules.returns import return_visibility
from controller.rules.standing import PlayedDeal, standing_after_deal
from controller.rules.tribute import finish_owing_tribute

_JOKERS = {SMALL_JOKER_VALUE: "SJ", BIG_JOKER_VALUE: "BJ"}


def make_deal_row(match: GuandanMatch, result: DealResult, at_ms: int) -> DealRow:
    """Return the row of the match's present deal, which ended with `result`."""
    number = next_row_number(match)
    played = PlayedDeal(match.level, match.owner, result, match.extra)
    after = standing_after_deal(match.profile, match.standing, played, number)
    exchange = match.exchange
    return DealRow(
        row=number,
        at_ms=at_ms,
        deal=match.deal,
        level=match.level,
        owner=match.owner,
        result=result,
        extra=match.extra,
        by_hand=match.by_hand,
        cutter=match.cutter,
        cut=match.cut,
        first_drawer=_first_drawer(match),
        leader=match.leader,
        turned_up=match.turned_up,
        anti=exchange is not None and exchange.anti,
        tribute=() if exchange is None else published_tribute(exchange, match.level),
        returns=() if exchange is None else published_returns(match, exchange),
        dead=match.dead,
        misdeals=match.misdeals,
        began_ms=match.began_ms,
        levels=after.levels,
        failures=after.failures,
        points=after.points,
    )


def rank_text_of_value(counts: int, level: Level) -> str:
    """Return a card's value in the order of a level as its rank, or BJ and SJ."""
    if counts in _JOKERS:
        return _JOKERS[counts]
    return level_text(level if counts == LEVEL_VALUE else counts)


def _first_drawer(match: GuandanMatch) -> Seat | None:
    """A machine deals in its own order (seed 000 A5.3): nobody draws first."""
    if not match.by_hand or match.duties is None:
        return None
    return match.first_drawer or match.duties.first_drawer


def published_tribute(exchange: TributeExchange, level: Level) -> tuple[CardGiven, ...]:
    """Tributes with what they had to be; none before all who owe one have laid theirs."""
    if exchange.plan is None:
        return ()
    return tuple(
        CardGiven(payer, to, rank_text_of_value(exchange.values[payer], level))
        for payer, to in exchange.plan.payments
    )


def published_returns(match: GuandanMatch, exchange: TributeExchange) -> tuple[CardGiven, ...]:
    """Returns are secret in some rulebooks (暗还, seed 004 CN5): then without their card."""
    owed = finish_owing_tribute(match.profile, match.follows)
    if exchange.plan is None or owed is None:
        return ()
    secret = return_visibility(match.profile, owed) == "secret"
    told = {} if secret else exchange.returned
    return tuple(
        CardGiven(giver, to, rank_text_of_value(told[to], match.level) if to in told else None)
        for giver, to in exchange.plan.returns
        if giver in exchange.given
    )
