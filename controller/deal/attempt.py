"""One attempt as a reducer: `step(attempt, event)` returns the next attempt and its effects.

The function is pure. The card loop (controller/machine/attempts/card_loop.py) carries out the
effects, and their results come back as further observations. The reducer sees no faces: a card is
an index here, and its look a verdict without a face.
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
    """The stage of an attempt, named after what the attempt does or waits for."""

    READY = "ready"
    SHUFFLING = "shuffling"
    DEALING = "dealing"
    REFEEDING = "refeeding"
    CHECKING = "checking"
    HELD = "held"
    ENDED = "over"


class AttemptState(msgspec.Struct, frozen=True, kw_only=True):
    """The state of one attempt. `sequence` has a pocket letter for each place."""

    sequence: str
    passes: int
    stage: Stage = Stage.READY
    ledger: Ledger
    upto: int = 0
    early_verdict: CardVerdict | None = None
    hopper_empty: bool = False
    reasons: tuple[str, ...] = ()

    def __repr__(self) -> str:
        """Return the progress only, because the other fields contain pockets.

        The pockets of cards are not public before the reveal.
        """
        return f"Attempt({self.stage.value}, {self.ledger!r}, reasons={self.reasons!r})"

    def __rich_repr__(self) -> list[tuple[str, object]]:
        """Return only the progress to the library `rich`, which would otherwise print every
        field.
        """
        return [("stage", self.stage), ("ledger", self.ledger)]


AttemptStep = tuple[AttemptState, tuple[AttemptEffect, ...]]


def new_attempt(sequence: str, passes: int) -> AttemptState:
    """Return an attempt before its first motion."""
    return AttemptState(sequence=sequence, passes=passes, ledger=Ledger(expected=len(sequence)))


def step(attempt: AttemptState, event: Observation) -> AttemptStep:
    """Return the attempt after an observation, and the effects to carry out.

    An event that cannot happen in a right attempt ends the attempt with a reason. After the end
    (held or over) only AttemptStopped changes anything, and nothing changes the count of held
    hands.
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
    """Return the attempt after the card in the window was sent to the tray instead of a pocket.

    This is for a route of an earlier run of the daemon, which had stopped waiting for the card.
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
    """Decide where the card in the window goes, or have it read again.

    A doubled index always gets its second look.
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
    """Handle an unexpected landing: a card in a wrong pocket, or a card that stuck to another card.

    With no card on its way, it can only be the second of two cards that left as one.
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
    """Return the attempt with its next effect. While a card is on its way, nothing changes."""
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
# Observations that may still come after every card has landed, and then mean nothing.
_LATE_OBSERVATIONS = (CardVerdict, LookOverdue, SourceEmptied)
# The stages in which a right attempt can bring each observation.
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
