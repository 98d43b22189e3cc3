"""The state machine of one attempt: each observation leads to a new state and to effects.

`step(attempt, event)` is pure. The card loop (controller/machine/attempts/card_loop.py) carries out
the effects, and their results come back as further observations. This module receives no faces: a
card is an index here, and the result of a look is a verdict without a face.
"""

from collections.abc import Callable
from enum import StrEnum
from typing import Any

import msgspec
from msgspec.structs import replace

from controller.deal import ledger as book
from controller.deal.hands_lock import lock_reasons
from controller.deal.ledger import MAX_TRAY_CARDS, MAX_TRAY_ROUNDS, TRAY, Ledger
from controller.deal.observations import (
    AttemptEffect,
    AttemptStopped,
    AwaitLook,
    BothBegan,
    CardAtReader,
    CardGated,
    CardLanded,
    CardVerdict,
    FeedCards,
    FinalCount,
    HoldHands,
    LandingMissed,
    LookOutcome,
    LookOverdue,
    Observation,
    RefuseHands,
    RequestFinalCount,
    RereadCard,
    RouteCard,
    ShuffleCards,
    ShufflerDone,
    SourceEmptied,
    StrayLanded,
)


class Stage(StrEnum):
    """A stage of an attempt: its present work, or its result (HELD, ENDED)."""

    READY = "ready"
    SHUFFLING = "shuffling"
    DEALING = "dealing"
    REFEEDING = "refeeding"
    CHECKING = "checking"
    HELD = "held"
    ENDED = "over"


class AttemptState(msgspec.Struct, frozen=True, kw_only=True):
    """The state of one attempt: its stage, its sequence of pocket letters, and its card ledger."""

    sequence: str
    passes: int
    stage: Stage = Stage.READY
    ledger: Ledger
    upto: int = 0
    early_verdict: CardVerdict | None = None
    hopper_empty: bool = False
    reasons: tuple[str, ...] = ()

    def __repr__(self) -> str:
        """Return a text with stage, card totals and the reasons of failure, but without any pocket.

        The pockets of cards are not public before the reveal.
        """
        return f"Attempt({self.stage.value}, {self.ledger!r}, reasons={self.reasons!r})"

    def __rich_repr__(self) -> list[tuple[str, object]]:
        """Return only stage and ledger, so that the library `rich` does not print the pockets."""
        return [("stage", self.stage), ("ledger", self.ledger)]


AttemptStep = tuple[AttemptState, tuple[AttemptEffect, ...]]


def new_attempt(sequence: str, passes: int) -> AttemptState:
    """Return the first state of an attempt: no card is fed, `passes` shuffler passes are due."""
    return AttemptState(sequence=sequence, passes=passes, ledger=Ledger(expected=len(sequence)))


def step(attempt: AttemptState, event: Observation) -> AttemptStep:
    """Apply one observation to an attempt, and return the new state and the effects to carry out.

    An observation that cannot happen in a correct attempt ends the attempt with a reason, also an
    attempt with held hands. An ended attempt never changes.
    """
    if attempt.stage is Stage.ENDED:
        return attempt, ()
    if isinstance(event, AttemptStopped):
        return _end_attempt(attempt, event.reason)
    if attempt.stage not in _LEGAL_STAGES[type(event)]:
        all_landed = attempt.stage in (Stage.CHECKING, Stage.HELD)
        late = all_landed and isinstance(event, _LATE_OBSERVATIONS)
        return (attempt, ()) if late else _end_attempt(attempt, "EVENT_LOST")
    return _HANDLERS[type(event)](attempt, event)


def send_to_tray(attempt: AttemptState, index: int) -> AttemptState:
    """Return the attempt with the route of card `index` changed from a pocket to the tray.

    No command is sent: an earlier run of the daemon sent this route to the board, because the time
    limit for the look at the card had ended.
    """
    after = book.with_fields(attempt.ledger, index, read=False, route=TRAY, why="UNREADABLE")
    return replace(attempt, ledger=after)


def _end_attempt(attempt: AttemptState, *reasons: str) -> AttemptStep:
    ended = replace(attempt, stage=Stage.ENDED, reasons=reasons)
    return ended, (RefuseHands(reasons),)


def _on_at_reader(attempt: AttemptState, event: CardAtReader) -> AttemptStep:
    after = book.with_card(
        attempt.ledger,
        event.index,
        from_tray=attempt.stage is Stage.REFEEDING,
        doubled=event.doubled,
    )
    if after is None:
        return _end_attempt(attempt, "COUNT_OVER")
    early = attempt.early_verdict
    seen = replace(attempt, ledger=after, early_verdict=None)
    if early is None:
        return seen, (AwaitLook(event.index),)
    if early.look is LookOutcome.TRAY or event.doubled:
        return _decide(seen, early)
    # An extra pulse moves every look to the next card, and a lost pulse hides this later from the
    # final count. The reader repeats a look only at the card that it counted last. It refuses if
    # that is not this card, and the counts of both boards are compared.
    return seen, (RereadCard(event.index), AwaitLook(event.index))


def _on_verdict(attempt: AttemptState, event: CardVerdict) -> AttemptStep:
    newest = len(attempt.ledger.cards)
    if event.index == newest + 1 and attempt.early_verdict is None:
        return replace(attempt, early_verdict=event), (AwaitLook(event.index),)
    card = attempt.ledger.card(event.index)
    if card is None:
        return _end_attempt(attempt, "PULSE_COUNT")
    if card.route is not None:
        # The answer came after the timeout. The card is read again from the tray.
        return attempt, ()
    return _decide(attempt, event)


def _on_look_overdue(attempt: AttemptState, event: LookOverdue) -> AttemptStep:
    unread = CardVerdict(event.index, LookOutcome.TRAY, "UNREADABLE")
    if attempt.early_verdict is not None and attempt.early_verdict.index == event.index:
        return replace(attempt, early_verdict=unread), ()
    card = attempt.ledger.card(event.index)
    if card is None or card.route is not None:
        return attempt, ()
    return _decide(attempt, unread)


def _decide(attempt: AttemptState, verdict: CardVerdict) -> AttemptStep:
    """Apply `verdict`: send the card to an outlet, read the card again, or end the attempt.

    An accepted card goes to its pocket, but a double feed (two cards under one index) goes to the
    tray with any verdict. A card that fails again after two rounds of the tray ends the attempt.
    """
    card = attempt.ledger.cards[verdict.index - 1]
    if verdict.look is LookOutcome.REREAD and not card.doubled:
        return attempt, (RereadCard(card.index), AwaitLook(card.index))
    if verdict.look is LookOutcome.ACCEPT and not card.doubled:
        return _route(attempt, card.index, attempt.sequence[card.place - 1], None)
    why = "DOUBLE_FEED" if card.doubled else (verdict.why or "UNREADABLE")
    if attempt.ledger.count_tray_rounds(card.place) >= MAX_TRAY_ROUNDS:
        return _end_attempt(attempt, why)
    return _route(attempt, card.index, TRAY, why)


def _route(attempt: AttemptState, index: int, outlet: str, why: str | None) -> AttemptStep:
    after = book.with_fields(attempt.ledger, index, read=why is None, route=outlet, why=why)
    return replace(attempt, ledger=after), (RouteCard(index, outlet),)


def _on_gated(attempt: AttemptState, event: CardGated) -> AttemptStep:
    card = attempt.ledger.card(event.index)
    if card is None or card.route is None or card.gated is not None:
        return _end_attempt(attempt, "EVENT_LOST")
    # After a jam the board may turn the card into the tray, and nowhere else.
    if event.outlet not in (card.route, TRAY):
        return _end_attempt(attempt, "WRONG_POCKET")
    after = book.with_fields(attempt.ledger, event.index, gated=event.outlet)
    return replace(attempt, ledger=after), ()


def _on_landed(attempt: AttemptState, event: CardLanded) -> AttemptStep:
    card = attempt.ledger.card(event.index)
    if card is None or card.gated is None or card.landed is not None:
        return _end_attempt(attempt, "EVENT_LOST")
    if event.outlet != card.gated:
        return _end_attempt(attempt, "WRONG_POCKET")
    if event.outlet == TRAY and attempt.ledger.count_tray_rounds(card.place) >= MAX_TRAY_ROUNDS:
        return _end_attempt(attempt, card.why or "JAM")
    after = book.with_landing(attempt.ledger, event.index, event.outlet)
    if after.in_tray > MAX_TRAY_CARDS:
        return _end_attempt(attempt, "TRAY_FULL")
    return _advance(replace(attempt, ledger=after))


def _on_stray(attempt: AttemptState, event: StrayLanded) -> AttemptStep:
    """End the attempt because a card landed in an outlet where no card was expected.

    The reason is DOUBLE_FEED if no card was on its way and the last card landed in this outlet:
    two cards left the hopper as one. Otherwise the reason is WRONG_POCKET.
    """
    gated = [card for card in attempt.ledger.cards if card.gated is not None]
    flying = any(card.landed is None for card in gated)
    doubled = bool(gated) and not flying and gated[-1].landed == event.outlet
    return _end_attempt(attempt, "DOUBLE_FEED" if doubled else "WRONG_POCKET")


def _on_empty(attempt: AttemptState, event: SourceEmptied) -> AttemptStep:
    if not event.tray:
        return _advance(replace(attempt, hopper_empty=True))
    if attempt.ledger.open_places:
        return _end_attempt(attempt, "COUNT_SHORT")
    return attempt, ()


def _advance(attempt: AttemptState) -> AttemptStep:
    """If hopper and path are empty, end the dealing or feed the cards of the tray again.

    If places are open, the cards in the tray are fed again, or the attempt ends because the tray
    has too few cards. If no place is open, the dealing ends with a request for the final count.
    """
    after = attempt.ledger
    if any(card.landed is None for card in reversed(after.cards)):
        return attempt, ()
    if attempt.stage is Stage.DEALING:
        if not attempt.hopper_empty and after.fed < after.expected:
            return attempt, ()
        after = book.with_unreached_places(after)
        if after.in_tray < len(after.open_places):
            return _end_attempt(attempt, "COUNT_SHORT")
        attempt = replace(attempt, ledger=after, stage=Stage.REFEEDING)
    if after.open_places:
        upto = len(after.cards) + len(after.open_places)
        more = (FeedCards(upto, tray=True),) if upto > attempt.upto else ()
        return replace(attempt, upto=upto), more
    return replace(attempt, stage=Stage.CHECKING), (RequestFinalCount(),)


def _on_final_count(attempt: AttemptState, event: FinalCount) -> AttemptStep:
    if reasons := lock_reasons(attempt.ledger, attempt.sequence, event):
        return _end_attempt(attempt, *reasons)
    return replace(attempt, stage=Stage.HELD), (HoldHands(),)


_DEALING = frozenset({Stage.DEALING, Stage.REFEEDING})
# Observations that may still come after every card has landed. They are then ignored.
_LATE_OBSERVATIONS = (CardVerdict, LookOverdue, SourceEmptied)
# The stages in which each observation can arrive in a correct attempt.
_LEGAL_STAGES: dict[type[Any], frozenset[Stage]] = {
    BothBegan: frozenset({Stage.READY}),
    ShufflerDone: frozenset({Stage.SHUFFLING}),
    CardAtReader: _DEALING,
    CardVerdict: _DEALING,
    LookOverdue: _DEALING,
    CardGated: _DEALING,
    CardLanded: _DEALING,
    StrayLanded: frozenset(Stage),
    LandingMissed: _DEALING,
    SourceEmptied: _DEALING,
    FinalCount: frozenset({Stage.CHECKING}),
}
_HANDLERS: dict[type[Any], Callable[[AttemptState, Any], AttemptStep]] = {
    BothBegan: lambda attempt, event: (
        replace(attempt, stage=Stage.SHUFFLING),
        (ShuffleCards(attempt.passes),),
    ),
    ShufflerDone: lambda attempt, event: (
        replace(attempt, stage=Stage.DEALING, upto=attempt.ledger.expected),
        (FeedCards(attempt.ledger.expected),),
    ),
    CardAtReader: _on_at_reader,
    CardVerdict: _on_verdict,
    LookOverdue: _on_look_overdue,
    CardGated: _on_gated,
    CardLanded: _on_landed,
    StrayLanded: _on_stray,
    LandingMissed: lambda attempt, event: _end_attempt(attempt, "NOT_LANDED"),
    SourceEmptied: _on_empty,
    FinalCount: _on_final_count,
}
