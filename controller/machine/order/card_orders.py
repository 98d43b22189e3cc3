"""Tributes and returns as a referee saw them: values of cards, out of faces on the table.

Where the machine has the hands a referee asks it instead whether a card is right
(controller/vault/exchange.py): then nothing of this is an event.
"""

from controller.cards import parse_face
from controller.machine.order.ruling_orders import require_guandan
from controller.machine.order.who import CommandSigner
from controller.match.events import MatchEvent, ReturnCorrected, ReturnLaid, TributeValued
from controller.match.refusals import refuse, refuse_card
from controller.match.state import AnyMatch, GuandanMatch
from controller.match_arguments import ReturnArgs, TributeArgs
from controller.rules.order import value_at_level
from controller.rules.returns import return_visibility
from controller.rules.tribute import finish_owing_tribute


def enter_tribute(
    args: TributeArgs, signer: CommandSigner, match: AnyMatch, at_ms: int
) -> MatchEvent:
    """Take a tribute as it was seen, where no machine knows the hands, or as a correction.

    Where two pay, the other's stands as it was entered before, unless it is said, too.
    """
    played = require_guandan(match)
    exchange = played.exchange
    if exchange is None or args.seat not in exchange.payers:
        refuse("NOT_HIS_DUTY", " / ".join(exchange.payers) if exchange else "")
    cards = {args.seat: args.card}
    others = [seat for seat in exchange.payers if seat != args.seat]
    if args.other is not None:
        cards |= dict.fromkeys(others, args.other)
    entered = {seat: _card_value(played, card) for seat, card in cards.items()}
    return TributeValued(at_ms=at_ms, values=exchange.values | entered)


def enter_return(
    args: ReturnArgs, signer: CommandSigner, match: AnyMatch, at_ms: int
) -> MatchEvent:
    """Take a return as it was seen: the seat's first, or one instead of a wrong one.

    Where the rulebook keeps returns secret (暗还, seed 004 CN5) the card is not told further.
    """
    played = require_guandan(match)
    owed = finish_owing_tribute(played.profile, played.follows)
    secret = owed is not None and return_visibility(played.profile, owed) == "secret"
    counts = _card_value(played, args.card)
    told = None if secret else counts
    given = played.exchange.given if played.exchange else ()
    kind = ReturnCorrected if args.seat in given else ReturnLaid
    return kind(at_ms=at_ms, seat=args.seat, value=told)


def _card_value(match: GuandanMatch, card: str) -> int:
    try:
        return value_at_level(parse_face(card), match.level)
    except ValueError:
        refuse_card(card)
