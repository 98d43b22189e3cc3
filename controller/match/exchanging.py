"""Tribute and return: press, then compare; the match knows values of cards, never hands."""

from collections.abc import Iterable

import msgspec

from controller.match.clocks import countdown
from controller.match.clocks.duties import return_clock, tribute_clocks
from controller.match.course import Stepped, changed
from controller.match.effects import (
    AntiTributeAsked,
    LeaderDetermined,
    TributePlanned,
    TributeValuesAsked,
)
from controller.match.events import (
    AntiTributeAnswered,
    ReturnCorrected,
    ReturnLaid,
    ReturnsSwapped,
    TributeChosen,
    TributeLaid,
    TributeValued,
)
from controller.match.phase import Phase
from controller.match.refusals import refuse
from controller.match.state import Exchange, GuandanMatch
from controller.messages import Seat
from controller.rules.ceremony import leader
from controller.rules.levels import TWO
from controller.rules.order import BIG_JOKER_VALUE
from controller.rules.result import FinishOrder
from controller.rules.tribute import (
    Plan,
    TributeError,
    finish_owing_tribute,
    leader_by_returns,
    payers,
    plan,
    plan_without_tribute,
)
from controller.words import Words


def continue_after_count(match: GuandanMatch, at_ms: int) -> Stepped:
    """Ask about anti-tribute where tribute is due, else play (seed 000 A10.1, A15.3.3)."""
    clocks, _ = countdown.done(match.clocks, "sort", at_ms)
    match = changed(match, clocks=clocks)
    owed = payers(match.profile, match.follows)
    if not owed:
        first = leader(match.profile, match.follows, turned_to=match.turned_to)
        assert first is not None  # the turn-up or the other side's word is there by now
        return _begin_play(match, first)
    waiting = changed(match, phase=Phase.ANTI_CHECK, exchange=Exchange(payers=owed))
    return waiting, (AntiTributeAsked(owed),)


def answer_anti_tribute(match: GuandanMatch, event: AntiTributeAnswered) -> Stepped:
    """Let UP lead where anti-tribute stands, else open the tribute (seed 000 A10.3).

    Said otherwise before a card is laid or led, it corrects what was said.
    """
    exchange = _correctable_exchange(match)
    if match.phase is not Phase.ANTI_CHECK:
        _require_changed_answer(exchange, event)
    waiting, _ = countdown.done(match.clocks, "tribute", event.at_ms)
    waiting, _ = countdown.done(waiting, "play", event.at_ms)
    match = _replace_exchange(changed(match, clocks=waiting, leader=None), anti=False, plan=None)
    if event.stands:
        stands = plan_without_tribute(match.profile, _finish_owing(match))
        assert stands.leader is not None  # UP leads
        return _begin_play(_replace_exchange(match, anti=True, plan=stands), stands.leader)
    clocks = (*match.clocks, *tribute_clocks(match.profile, exchange.payers, event.at_ms))
    return changed(match, phase=Phase.TRIBUTE, clocks=clocks), ()


def _require_changed_answer(exchange: Exchange, event: AntiTributeAnswered) -> None:
    """Refuse what was answered already, and an answer after a card was laid."""
    if exchange.laid:
        refuse("TWICE", " / ".join(exchange.laid))
    if event.stands == exchange.anti:
        refuse("TWICE")


def lay_tribute(match: GuandanMatch, event: TributeLaid) -> Stepped:
    """Note that a payer has laid his card; after the last one its value is asked for."""
    exchange = _exchange_of(match)
    if event.seat not in exchange.payers:
        refuse("NOT_HIS_DUTY", " / ".join(exchange.payers))
    if event.seat in exchange.laid:
        refuse("TWICE", event.seat)
    clocks, _ = countdown.done(match.clocks, "tribute", event.at_ms, seat=event.seat)
    laid = (*exchange.laid, event.seat)
    match = _replace_exchange(changed(match, clocks=clocks), laid=laid)
    all_laid = set(laid) == set(exchange.payers)
    return match, (TributeValuesAsked(exchange.payers),) if all_laid else ()


def value_tributes(match: GuandanMatch, event: TributeValued) -> Stepped:
    """Settle where tributes go, and open the returns (seed 000 A10.1–2).

    Said again before the first lead, it corrects what was said, and returns begin anew.
    """
    exchange = _correctable_exchange(match)
    _require_card_values(event.values.values())
    if missing := [seat for seat in exchange.payers if seat not in exchange.laid]:
        refuse("NOT_LAID", " / ".join(missing))
    try:
        settled = plan(match.profile, _finish_owing(match), event.values)
    except TributeError:
        refuse("VALUES_MISSING", " / ".join(exchange.payers))
    match = _replace_exchange(match, values=event.values, plan=settled, given=(), returned={})
    others, _ = countdown.done(match.clocks, "return", event.at_ms)
    others, _ = countdown.done(others, "play", event.at_ms)
    clocks = [return_clock(match.profile, giver, event.at_ms) for giver, _ in settled.returns]
    running = (*others, *(clock for clock in clocks if clock is not None))
    match = changed(match, phase=Phase.RETURN, leader=None, clocks=running)
    return match, (TributePlanned(settled),)


def choose_tribute(match: GuandanMatch, event: TributeChosen) -> Stepped:
    """Let UP take the card of one of two equal payers (seed 003 R4.5)."""
    exchange = _exchange_of(match)
    if exchange.plan is None or not exchange.plan.choice_open or exchange.given:
        refuse("NO_CHOICE")
    if event.payer not in exchange.payers:
        refuse("NOT_HIS_DUTY", " / ".join(exchange.payers))
    settled = plan(match.profile, _finish_owing(match), exchange.values, event.payer)
    return _replace_exchange(match, plan=settled), (TributePlanned(settled),)


def correct_return(match: GuandanMatch, event: ReturnCorrected) -> Stepped:
    """Take another return instead of a wrong one, before the first lead (seed 000 A18.3)."""
    exchange = _correctable_exchange(match)
    settled = exchange.plan
    if settled is None or event.seat not in exchange.given:
        refuse("NOT_HIS_DUTY", " / ".join(exchange.given))
    to = dict(settled.returns)[event.seat]
    told = _told(settled, to, event.value)
    kept = {seat: value for seat, value in exchange.returned.items() if seat != to}
    return _continue_after_returns(_replace_exchange(match, returned=kept | told), settled)


def swap_returns(match: GuandanMatch, event: ReturnsSwapped) -> Stepped:
    """Let the losers take each other's return card after equal tributes (seed 003 R4.5)."""
    exchange = _correctable_exchange(match)
    settled = exchange.plan
    free = settled is not None and settled.equal and settled.leader is None
    if settled is None or not free or len(exchange.given) < len(settled.returns):
        refuse("NO_CHOICE")
    (one, to), (other, their) = settled.returns
    swapped = msgspec.structs.replace(settled, returns=((one, their), (other, to)))
    values = exchange.returned
    returned = {their: values[to], to: values[their]}
    after, effects = _continue_after_returns(
        _replace_exchange(match, plan=swapped, returned=returned), swapped
    )
    return after, (TributePlanned(swapped), *effects)


def lay_return(match: GuandanMatch, event: ReturnLaid) -> Stepped:
    """Note a return; after the last one it is known who leads."""
    exchange = _exchange_of(match)
    settled = exchange.plan
    assert settled is not None  # RETURN begins with a plan
    to = dict(settled.returns).get(event.seat)
    if to is None:
        refuse("NOT_HIS_DUTY", " / ".join(giver for giver, _ in settled.returns))
    if event.seat in exchange.given:
        refuse("TWICE", event.seat)
    told = _told(settled, to, event.value)
    clocks, _ = countdown.done(match.clocks, "return", event.at_ms, seat=event.seat)
    match = _replace_exchange(
        changed(match, clocks=clocks),
        given=(*exchange.given, event.seat),
        returned=exchange.returned | told,
    )
    return _continue_after_returns(match, settled)


def _continue_after_returns(match: GuandanMatch, settled: Plan) -> Stepped:
    exchange = _exchange_of(match)
    if len(exchange.given) < len(settled.returns):
        return match, ()
    first = settled.leader or leader_by_returns(
        match.profile, _finish_owing(match), settled, exchange.returned
    )
    return _begin_play(match, first)


def _begin_play(match: GuandanMatch, first: Seat) -> Stepped:
    return changed(match, phase=Phase.PLAY, leader=first), (LeaderDetermined(first),)


def _require_card_values(values: Iterable[int]) -> None:
    """Refuse what no card counts: 2…14, the level 15, jokers 16 and 17."""
    for counts in values:
        if not TWO <= counts <= BIG_JOKER_VALUE:
            refuse("NO_SUCH_CARD", Words(f"a value of {counts}", f"点数{counts}"))


def _told(settled: Plan, to: Seat, returned: int | None) -> dict[Seat, int]:
    """Return what was said of a return; something must be where the leader depends on it."""
    if returned is None and settled.leader is None:
        refuse("VALUE_NEEDED")
    if returned is None:
        return {}
    _require_card_values((returned,))
    return {to: returned}


def _finish_owing(match: GuandanMatch) -> FinishOrder:
    owed = finish_owing_tribute(match.profile, match.follows)
    assert owed is not None  # tribute is due in these phases
    return owed


def _exchange_of(match: GuandanMatch) -> Exchange:
    assert match.exchange is not None  # tribute is due in these phases
    return match.exchange


def _correctable_exchange(match: GuandanMatch) -> Exchange:
    """Return the exchange as long as it may be corrected. Raises RefusedError."""
    if match.led:
        refuse("AFTER_LEAD")
    if match.exchange is None:
        refuse("NO_CHOICE")
    return match.exchange


def _replace_exchange(match: GuandanMatch, **changes: object) -> GuandanMatch:
    return changed(match, exchange=msgspec.structs.replace(_exchange_of(match), **changes))
