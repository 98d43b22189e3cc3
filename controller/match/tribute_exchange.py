"""Tribute and return: players confirm each card that they give, and people enter the cards' values.

The match stores values of cards, never hands.
"""

from collections.abc import Iterable

from msgspec.structs import replace

from controller.match import match_events as events
from controller.match.clocks import duty_clocks
from controller.match.clocks.duty_clocks import return_clock, tribute_clocks
from controller.match.match_state import AnyMatch, BigTwoMatch, GuandanMatch, TributeExchange
from controller.match.next_deal import StepResult
from controller.match.phase import MatchPhase
from controller.match.refusals import refuse
from controller.messages import Seat
from controller.rules import tribute
from controller.rules.deal_duties import leader_of_deal
from controller.rules.deal_result import FinishOrder
from controller.rules.ranks import BIG_JOKER_VALUE, TWO
from controller.rules.tribute_returns import return_visibility
from controller.words import Words


def continue_after_count(match: GuandanMatch) -> StepResult:
    """After the count of the hands, ask about anti-tribute if tribute is due, or else begin play.

    Source: seed 000 A10.1, A15.3.3.
    """
    match = replace(match, clocks=duty_clocks.remove_done(match.clocks, "sort"))
    owed = tribute.tribute_payers(match.profile, match.follows)
    if not owed:
        first = leader_of_deal(match.profile, match.follows, turned_to=match.turned_to)
        assert first is not None  # The turned-up card or the other side's choice is known by now.
        return _begin_play(match, first)
    waiting = TributeExchange(payers=owed)
    return replace(match, phase=MatchPhase.ANTI_CHECK, exchange=waiting), ()


def answer_anti_tribute(match: GuandanMatch, event: events.AntiTributeAnswered) -> StepResult:
    """Record whether the payers have both big jokers (抗贡). Begin play if so, and tribute if not.

    After an anti-tribute, the player who finished first (UP) leads. A different answer before a
    card is laid or led corrects the first one. Source: seed 000 A10.3.
    """
    exchange = _correctable_exchange(match)
    if match.phase is not MatchPhase.ANTI_CHECK:
        if exchange.laid:
            refuse("TWICE", " / ".join(exchange.laid))
        if event.stands == exchange.anti:
            refuse("TWICE")
    waiting = duty_clocks.remove_done(duty_clocks.remove_done(match.clocks, "tribute"), "play")
    match = _replace_exchange(replace(match, clocks=waiting, leader=None), anti=False, plan=None)
    if event.stands:
        stands = tribute.plan_without_tribute(match.profile, _finish_owing(match))
        assert stands.leader is not None  # UP leads.
        return _begin_play(_replace_exchange(match, anti=True, plan=stands), stands.leader)
    clocks = (*match.clocks, *tribute_clocks(match.profile, exchange.payers, event.at_ms))
    return replace(match, phase=MatchPhase.TRIBUTE, clocks=clocks), ()


def lay_tribute(match: GuandanMatch, event: events.TributeLaid) -> StepResult:
    """Record that a payer has laid a tribute card. After the last one, the values are requested."""
    exchange = _exchange_of(match)
    if event.seat not in exchange.payers:
        refuse("NOT_HIS_DUTY", " / ".join(exchange.payers))
    if event.seat in exchange.laid:
        refuse("TWICE", event.seat)
    clocks = duty_clocks.remove_done(match.clocks, "tribute", seat=event.seat)
    laid = (*exchange.laid, event.seat)
    return _replace_exchange(replace(match, clocks=clocks), laid=laid), ()


def value_tributes(match: GuandanMatch, event: events.TributeValued) -> StepResult:
    """Record the values of the tribute cards, which decide who receives each of these cards.

    Then the receivers must return cards. A second entry before the first lead corrects the first
    entry, and all returns must be made again. Source: seed 000 A10.1–2.
    """
    exchange = _correctable_exchange(match)
    _require_card_values(event.values.values())
    if missing := [seat for seat in exchange.payers if seat not in exchange.laid]:
        refuse("NOT_LAID", " / ".join(missing))
    try:
        settled = tribute.plan_tribute(match.profile, _finish_owing(match), event.values)
    except tribute.TributeError:
        refuse("VALUES_MISSING", " / ".join(exchange.payers))
    match = _replace_exchange(match, values=event.values, plan=settled, given=(), returned={})
    others = duty_clocks.remove_done(duty_clocks.remove_done(match.clocks, "return"), "play")
    clocks = [return_clock(match.profile, giver, event.at_ms) for giver, _ in settled.returns]
    running = (*others, *(clock for clock in clocks if clock is not None))
    return replace(match, phase=MatchPhase.RETURN, leader=None, clocks=running), ()


def choose_tribute(match: GuandanMatch, event: events.TributeChosen) -> StepResult:
    """Record which of two equal tribute cards goes to UP, who finished first. Seed 003 R4.5."""
    exchange = _exchange_of(match)
    if exchange.plan is None or not exchange.plan.choice_open or exchange.given:
        refuse("NO_CHOICE")
    if event.payer not in exchange.payers:
        refuse("NOT_HIS_DUTY", " / ".join(exchange.payers))
    owed = _finish_owing(match)
    settled = tribute.plan_tribute(match.profile, owed, exchange.values, event.payer)
    return _replace_exchange(match, plan=settled), ()


def correct_return(match: GuandanMatch, event: events.ReturnCorrected) -> StepResult:
    """Record another return card in place of a wrong one, before the first lead. Seed 000 A18.3."""
    exchange = _correctable_exchange(match)
    settled = exchange.plan
    if settled is None or event.seat not in exchange.given:
        refuse("NOT_HIS_DUTY", " / ".join(exchange.given))
    to = dict(settled.returns)[event.seat]
    told = _value_by_receiver(settled, to, event.value)
    kept = {seat: value for seat, value in exchange.returned.items() if seat != to}
    return _continue_after_returns(_replace_exchange(match, returned=kept | told), settled)


def swap_returns(match: GuandanMatch, event: events.ReturnsSwapped) -> StepResult:
    """Exchange the return cards that the two losers get, after equal tributes. Seed 003 R4.5."""
    exchange = _correctable_exchange(match)
    settled = exchange.plan
    free = settled is not None and settled.equal and settled.leader is None
    if settled is None or not free or len(exchange.given) < len(settled.returns):
        refuse("NO_CHOICE")
    (one, to), (other, their) = settled.returns
    swapped = replace(settled, returns=((one, their), (other, to)))
    values = exchange.returned
    returned = {their: values[to], to: values[their]}
    match = _replace_exchange(match, plan=swapped, returned=returned)
    return _continue_after_returns(match, swapped)


def lay_return(match: GuandanMatch, event: events.ReturnLaid) -> StepResult:
    """Record that a player gave a return card. After the last one, the leader is known."""
    exchange = _exchange_of(match)
    settled = exchange.plan
    assert settled is not None  # RETURN begins with a plan.
    to = dict(settled.returns).get(event.seat)
    if to is None:
        refuse("NOT_HIS_DUTY", " / ".join(giver for giver, _ in settled.returns))
    if event.seat in exchange.given:
        refuse("TWICE", event.seat)
    told = _value_by_receiver(settled, to, event.value)
    clocks = duty_clocks.remove_done(match.clocks, "return", seat=event.seat)
    match = _replace_exchange(
        replace(match, clocks=clocks),
        given=(*exchange.given, event.seat),
        returned=exchange.returned | told,
    )
    return _continue_after_returns(match, settled)


def _continue_after_returns(match: GuandanMatch, settled: tribute.TributePlan) -> StepResult:
    exchange = _exchange_of(match)
    if len(exchange.given) < len(settled.returns):
        return match, ()
    first = settled.leader or tribute.leader_by_returns(
        match.profile, _finish_owing(match), settled, exchange.returned
    )
    return _begin_play(match, first)


def _begin_play(match: GuandanMatch, first: Seat) -> StepResult:
    return replace(match, phase=MatchPhase.PLAY, leader=first), ()


def _require_card_values(values: Iterable[int]) -> None:
    """Raise RefusedError if `values` contains a value that no card has.

    Valid are 2…14, 15 for the level, 16 and 17 for jokers.
    """
    for counts in values:
        if not TWO <= counts <= BIG_JOKER_VALUE:
            refuse("NO_SUCH_CARD", Words(f"a value of {counts}", f"点数{counts}"))


def _value_by_receiver(
    settled: tribute.TributePlan, to: Seat, returned: int | None
) -> dict[Seat, int]:
    """Return {to: returned}, a return card's value by its receiver, or {} if `returned` is None.

    Raises RefusedError if the value is missing but decides the leader, or if no card has it.
    """
    if returned is None and settled.leader is None:
        refuse("VALUE_NEEDED")
    if returned is None:
        return {}
    _require_card_values((returned,))
    return {to: returned}


def _finish_owing(match: GuandanMatch) -> FinishOrder:
    owed = tribute.finish_owing_tribute(match.profile, match.follows)
    assert owed is not None  # Tribute is due in these phases.
    return owed


def _exchange_of(match: GuandanMatch) -> TributeExchange:
    assert match.exchange is not None  # Tribute is due in these phases.
    return match.exchange


def _correctable_exchange(match: GuandanMatch) -> TributeExchange:
    """Return the deal's exchange of tribute and return cards, if it may still be corrected.

    Raises RefusedError after the first lead, or if no exchange was due.
    """
    if match.led:
        refuse("AFTER_LEAD")
    if match.exchange is None:
        refuse("NO_CHOICE")
    return match.exchange


def _replace_exchange(match: GuandanMatch, **changes: object) -> GuandanMatch:
    return replace(match, exchange=replace(_exchange_of(match), **changes))


def is_event_withheld(match: AnyMatch, event: events.MatchEvent) -> bool:
    """Return whether an event must not be published yet. `match` is the match after the event."""
    says = isinstance(event, events.ChoiceAnswered) or (
        isinstance(event, events.ReturnLaid | events.ReturnCorrected) and event.value is not None
    )
    return says and is_withholding(match)


def is_withholding(match: AnyMatch) -> bool:
    """Return whether answers or card values are withheld now, to be published together later."""
    if isinstance(match, BigTwoMatch):
        choices = match.choices if match.phase is MatchPhase.CHOICES else None
        return choices is not None and choices.doubling is None
    assert isinstance(match, GuandanMatch)  # There are only two kinds of matches.
    owed = tribute.finish_owing_tribute(match.profile, match.follows)
    if match.phase is not MatchPhase.RETURN or owed is None:
        return False
    return return_visibility(match.profile, owed) == "together"
