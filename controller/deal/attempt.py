"""One attempt as a reducer: what was seen goes in, what to do next comes out.

`step(attempt, event)` is pure. Its effects are carried out by the dealing loop
(controller/machine/dealing.py); what they lead to comes back as further events.
The reducer deals blind: a card is an index here, its look a verdict without a face.
"""

from collections.abc import Callable
from enum import StrEnum
from typing import Any

import msgspec

from controller.deal import ledger as book
from controller.deal.effects import (
    AwaitLook,
    Check,
    Effect,
    Feed,
    HoldHands,
    RefuseHands,
    Reread,
    Route,
    Shuffle,
)
from controller.deal.ledger import MAX_TRAY_CARDS, MAX_TRAY_ROUNDS, TRAY, Ledger
from controller.deal.lock import lock_reasons
from controller.deal.sightings import (
    AttemptStopped,
    BothBegan,
    CardAtReader,
    CardGated,
    CardLanded,
    LandingMissed,
    Look,
    LookOverdue,
    Seen,
    Settled,
    Shuffled,
    SourceEmptied,
    StrayLanded,
    Verdict,
)


class Stage(StrEnum):
    """How far an attempt has come."""

    READY = "ready"
    SHUFFLING = "shuffling"
    DEALING = "dealing"
    REFEEDING = "refeeding"
    CHECKING = "checking"
    HELD = "held"
    OVER = "over"


class Attempt(msgspec.Struct, frozen=True, kw_only=True):
    """The state of one attempt. `sequence` has a pocket letter per place."""

    sequence: str
    passes: int
    stage: Stage = Stage.READY
    ledger: Ledger
    upto: int = 0
    early: Verdict | None = None
    hopper_empty: bool = False
    reasons: tuple[str, ...] = ()

    def __repr__(self) -> str:
        """Say how far it is, and nothing of where cards go: that is public behind its reveal."""
        return f"Attempt({self.stage.value}, {self.ledger!r}, reasons={self.reasons!r})"

    def __rich_repr__(self) -> list[tuple[str, object]]:
        """Hide it from rich too, which asks every Struct field by field."""
        return [("stage", self.stage), ("ledger", self.ledger)]


Step = tuple[Attempt, tuple[Effect, ...]]


def new_attempt(sequence: str, passes: int) -> Attempt:
    """Return an attempt before its first motion."""
    return Attempt(sequence=sequence, passes=passes, ledger=Ledger(expected=len(sequence)))


def step(attempt: Attempt, event: Seen) -> Step:
    """Return the attempt after an event, and what must be done because of it.

    An event that no right attempt can bring ends it with a reason; after the end
    (held, or over) nothing but Broken changes anything, and nothing undoes a held
    attempt's count.
    """
    if attempt.stage is Stage.OVER:
        return attempt, ()
    if isinstance(event, AttemptStopped):
        return _over(attempt, event.reason)
    if attempt.stage not in _LEGAL_STAGES[type(event)]:
        late = isinstance(event, _LATE_OBSERVATIONS) and attempt.stage in (
            Stage.CHECKING,
            Stage.HELD,
        )
        return (attempt, ()) if late else _over(attempt, "EVENT_LOST")
    return _HANDLERS[type(event)](attempt, event)


def send_to_tray(attempt: Attempt, index: int) -> Attempt:
    """Return the attempt with the card at the hold point on its way to the tray instead.

    For a route that was given by an earlier run of the daemon, which had waited long enough.
    """
    after = book.note(attempt.ledger, index, read=False, route=TRAY, why="UNREADABLE")
    return _replace(attempt, ledger=after)


def _over(attempt: Attempt, *reasons: str) -> Step:
    ended = msgspec.structs.replace(attempt, stage=Stage.OVER, reasons=reasons)
    return ended, (RefuseHands(reasons),)


def _replace(attempt: Attempt, **changes: Any) -> Attempt:
    return msgspec.structs.replace(attempt, **changes)


def _on_begun(attempt: Attempt, event: BothBegan) -> Step:
    return _replace(attempt, stage=Stage.SHUFFLING), (Shuffle(attempt.passes),)


def _on_shuffled(attempt: Attempt, event: Shuffled) -> Step:
    upto = attempt.ledger.expected
    return _replace(attempt, stage=Stage.DEALING, upto=upto), (Feed(upto),)


def _on_at_reader(attempt: Attempt, event: CardAtReader) -> Step:
    after = book.see(
        attempt.ledger,
        event.index,
        from_tray=attempt.stage is Stage.REFEEDING,
        doubled=event.doubled,
    )
    if after is None:
        return _over(attempt, "COUNT_OVER")
    early = attempt.early
    seen = _replace(attempt, ledger=after, early=None)
    if early is None:
        return seen, (AwaitLook(event.index),)
    if early.look is Look.TRAY or event.doubled:
        return _decide(seen, early)
    # An extra pulse moves every look to the next card, and a lost pulse hides this later from the
    # final count. The reader repeats a look only at the card that it counted last. It refuses if
    # that is not this card, and the counts of both boards are compared.
    return seen, (Reread(event.index), AwaitLook(event.index))


def _verdict(attempt: Attempt, event: Verdict) -> Step:
    newest = len(attempt.ledger.cards)
    if event.index == newest + 1 and attempt.early is None:
        return _replace(attempt, early=event), (AwaitLook(event.index),)
    card = attempt.ledger.card(event.index)
    if card is None:
        return _over(attempt, "PULSE_COUNT")
    if card.route is not None:
        return attempt, ()  # the answer came after the patience ended: the tray reads it again
    return _decide(attempt, event)


def _on_look_overdue(attempt: Attempt, event: LookOverdue) -> Step:
    if attempt.early is not None and attempt.early.index == event.index:
        return _replace(attempt, early=Verdict(event.index, Look.TRAY, "UNREADABLE")), ()
    card = attempt.ledger.card(event.index)
    if card is None or card.route is not None:
        return attempt, ()
    return _decide(attempt, Verdict(event.index, Look.TRAY, "UNREADABLE"))


def _decide(attempt: Attempt, verdict: Verdict) -> Step:
    """Decide on the card at the hold point. A doubled index always gets its second look."""
    card = attempt.ledger.cards[verdict.index - 1]
    if verdict.look is Look.REREAD and not card.doubled:
        return attempt, (Reread(card.index), AwaitLook(card.index))
    if verdict.look is Look.ACCEPT and not card.doubled:
        return _route(attempt, card.index, attempt.sequence[card.place - 1], None)
    why = "DOUBLE_FEED" if card.doubled else (verdict.why or "UNREADABLE")
    if attempt.ledger.rounds(card.place) >= MAX_TRAY_ROUNDS:
        return _over(attempt, why)
    return _route(attempt, card.index, TRAY, why)


def _route(attempt: Attempt, index: int, outlet: str, why: str | None) -> Step:
    after = book.note(attempt.ledger, index, read=why is None, route=outlet, why=why)
    return _replace(attempt, ledger=after), (Route(index, outlet),)


def _on_gated(attempt: Attempt, event: CardGated) -> Step:
    card = attempt.ledger.card(event.index)
    if card is None or card.route is None or card.gated is not None:
        return _over(attempt, "EVENT_LOST")
    # The board may turn a card that jams behind its ROUTE into the tray, nowhere else.
    if event.outlet not in (card.route, TRAY):
        return _over(attempt, "WRONG_POCKET")
    return _replace(attempt, ledger=book.note(attempt.ledger, event.index, gated=event.outlet)), ()


def _landed(attempt: Attempt, event: CardLanded) -> Step:
    card = attempt.ledger.card(event.index)
    if card is None or card.gated is None or card.landed is not None:
        return _over(attempt, "EVENT_LOST")
    if event.outlet != card.gated:
        return _over(attempt, "WRONG_POCKET")
    if event.outlet == TRAY and attempt.ledger.rounds(card.place) >= MAX_TRAY_ROUNDS:
        return _over(attempt, card.why or "JAM")
    after = book.land(attempt.ledger, event.index, event.outlet)
    if after.in_tray > MAX_TRAY_CARDS:
        return _over(attempt, "TRAY_FULL")
    return _advance(_replace(attempt, ledger=after))


def _on_stray(attempt: Attempt, event: StrayLanded) -> Step:
    """A landing that nobody announced: of a card gone astray, or of one that hung on another.

    With no card on its way it can only be the second of two that left as one.
    """
    return _over(attempt, "DOUBLE_FEED" if _follows(attempt.ledger, event) else "WRONG_POCKET")


def _follows(ledger: Ledger, event: StrayLanded) -> bool:
    gated = [card for card in ledger.cards if card.gated is not None]
    flying = any(card.landed is None for card in gated)
    return bool(gated) and not flying and gated[-1].landed == event.outlet


def _on_not_landed(attempt: Attempt, event: LandingMissed) -> Step:
    return _over(attempt, "NOT_LANDED")


def _on_empty(attempt: Attempt, event: SourceEmptied) -> Step:
    if event.tray:
        return (attempt, ()) if not attempt.ledger.aside else _over(attempt, "COUNT_SHORT")
    return _advance(_replace(attempt, hopper_empty=True))


def _advance(attempt: Attempt) -> Step:
    """Go on once nothing is on its way: from the hopper to the tray, from there to the check."""
    after = attempt.ledger
    if after.under_way:
        return attempt, ()
    if attempt.stage is Stage.DEALING:
        if not attempt.hopper_empty and after.fed < after.expected:
            return attempt, ()
        after = book.with_unreached_places(after)
        if after.in_tray < len(after.aside):
            return _over(attempt, "COUNT_SHORT")
        attempt = _replace(attempt, ledger=after, stage=Stage.REFEEDING)
    if after.aside:
        upto = len(after.cards) + len(after.aside)
        more = (Feed(upto, tray=True),) if upto > attempt.upto else ()
        return _replace(attempt, upto=upto), more
    return _replace(attempt, stage=Stage.CHECKING), (Check(),)


def _on_final_count(attempt: Attempt, event: Settled) -> Step:
    reasons = lock_reasons(attempt.ledger, attempt.sequence, event)
    if reasons:
        return _over(attempt, *reasons)
    return _replace(attempt, stage=Stage.HELD), (HoldHands(),)


_DEALING = frozenset({Stage.DEALING, Stage.REFEEDING})
# What may still come once every card has landed, and says nothing new then.
_LATE_OBSERVATIONS = (Verdict, LookOverdue, SourceEmptied)
# Which sightings a right attempt can bring, at which stage.
_LEGAL_STAGES: dict[type[Any], frozenset[Stage]] = {
    BothBegan: frozenset({Stage.READY}),
    Shuffled: frozenset({Stage.SHUFFLING}),
    CardAtReader: _DEALING,
    Verdict: _DEALING,
    LookOverdue: _DEALING,
    CardGated: _DEALING,
    CardLanded: _DEALING,
    StrayLanded: frozenset(Stage),
    LandingMissed: _DEALING,
    SourceEmptied: _DEALING,
    Settled: frozenset({Stage.CHECKING}),
}
_HANDLERS: dict[type[Any], Callable[[Attempt, Any], Step]] = {
    BothBegan: _on_begun,
    Shuffled: _on_shuffled,
    CardAtReader: _on_at_reader,
    Verdict: _verdict,
    LookOverdue: _on_look_overdue,
    CardGated: _on_gated,
    CardLanded: _landed,
    StrayLanded: _on_stray,
    LandingMissed: _on_not_landed,
    SourceEmptied: _on_empty,
    Settled: _on_final_count,
}
