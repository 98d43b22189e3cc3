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
    AwaitPair,
    Check,
    Effect,
    Feed,
    Hold,
    Refuse,
    Reread,
    Route,
    Shuffle,
)
from controller.deal.ledger import TRAY, TRAY_CARDS, TRAY_ROUNDS, Ledger
from controller.deal.lock import open_reasons
from controller.deal.sightings import (
    AtReader,
    Begun,
    Broken,
    Gated,
    LandedIn,
    Look,
    NotLanded,
    PairLate,
    RanEmpty,
    Seen,
    Settled,
    Shuffled,
    Strayed,
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
    if isinstance(event, Broken):
        return _over(attempt, event.reason)
    if attempt.stage not in _LEGAL[type(event)]:
        late = isinstance(event, _LATE) and attempt.stage in (Stage.CHECKING, Stage.HELD)
        return (attempt, ()) if late else _over(attempt, "EVENT_LOST")
    return _ON[type(event)](attempt, event)


def rerouted(attempt: Attempt, index: int) -> Attempt:
    """Return the attempt with the card at the hold point on its way to the tray instead.

    For a route that was given by an earlier run of the daemon, which had waited long enough.
    """
    after = book.note(attempt.ledger, index, read=False, route=TRAY, why="UNREADABLE")
    return _with(attempt, ledger=after)


def _over(attempt: Attempt, *reasons: str) -> Step:
    ended = msgspec.structs.replace(attempt, stage=Stage.OVER, reasons=reasons)
    return ended, (Refuse(reasons),)


def _with(attempt: Attempt, **changes: Any) -> Attempt:
    return msgspec.structs.replace(attempt, **changes)


def _begun(attempt: Attempt, event: Begun) -> Step:
    return _with(attempt, stage=Stage.SHUFFLING), (Shuffle(attempt.passes),)


def _shuffled(attempt: Attempt, event: Shuffled) -> Step:
    upto = attempt.ledger.expected
    return _with(attempt, stage=Stage.DEALING, upto=upto), (Feed(upto),)


def _at_reader(attempt: Attempt, event: AtReader) -> Step:
    after = book.see(
        attempt.ledger,
        event.index,
        from_tray=attempt.stage is Stage.REFEEDING,
        doubled=event.doubled,
    )
    if after is None:
        return _over(attempt, "COUNT_OVER")
    early = attempt.early
    seen = _with(attempt, ledger=after, early=None)
    if early is None:
        return seen, (AwaitPair(event.index),)
    if early.look is Look.TRAY or event.doubled:
        return _look(seen, early)
    # An extra pulse moves every look to the next card, and a lost pulse hides this later from the
    # final count. The reader repeats a look only at the card that it counted last. It refuses if
    # that is not this card, and the counts of both boards are compared.
    return seen, (Reread(event.index), AwaitPair(event.index))


def _verdict(attempt: Attempt, event: Verdict) -> Step:
    newest = len(attempt.ledger.cards)
    if event.index == newest + 1 and attempt.early is None:
        return _with(attempt, early=event), (AwaitPair(event.index),)
    card = attempt.ledger.card(event.index)
    if card is None:
        return _over(attempt, "PULSE_COUNT")
    if card.route is not None:
        return attempt, ()  # the answer came after the patience ended: the tray reads it again
    return _look(attempt, event)


def _pair_late(attempt: Attempt, event: PairLate) -> Step:
    if attempt.early is not None and attempt.early.index == event.index:
        return _with(attempt, early=Verdict(event.index, Look.TRAY, "UNREADABLE")), ()
    card = attempt.ledger.card(event.index)
    if card is None or card.route is not None:
        return attempt, ()
    return _look(attempt, Verdict(event.index, Look.TRAY, "UNREADABLE"))


def _look(attempt: Attempt, verdict: Verdict) -> Step:
    """Decide on the card at the hold point. A doubled index always gets its second look."""
    card = attempt.ledger.cards[verdict.index - 1]
    if verdict.look is Look.REREAD and not card.doubled:
        return attempt, (Reread(card.index), AwaitPair(card.index))
    if verdict.look is Look.ACCEPT and not card.doubled:
        return _route(attempt, card.index, attempt.sequence[card.place - 1], None)
    why = "DOUBLE_FEED" if card.doubled else (verdict.why or "UNREADABLE")
    if attempt.ledger.rounds(card.place) >= TRAY_ROUNDS:
        return _over(attempt, why)
    return _route(attempt, card.index, TRAY, why)


def _route(attempt: Attempt, index: int, outlet: str, why: str | None) -> Step:
    after = book.note(attempt.ledger, index, read=why is None, route=outlet, why=why)
    return _with(attempt, ledger=after), (Route(index, outlet),)


def _gated(attempt: Attempt, event: Gated) -> Step:
    card = attempt.ledger.card(event.index)
    if card is None or card.route is None or card.gated is not None:
        return _over(attempt, "EVENT_LOST")
    # The board may turn a card that jams behind its ROUTE into the tray, nowhere else.
    if event.outlet not in (card.route, TRAY):
        return _over(attempt, "WRONG_POCKET")
    return _with(attempt, ledger=book.note(attempt.ledger, event.index, gated=event.outlet)), ()


def _landed(attempt: Attempt, event: LandedIn) -> Step:
    card = attempt.ledger.card(event.index)
    if card is None or card.gated is None or card.landed is not None:
        return _over(attempt, "EVENT_LOST")
    if event.outlet != card.gated:
        return _over(attempt, "WRONG_POCKET")
    if event.outlet == TRAY and attempt.ledger.rounds(card.place) >= TRAY_ROUNDS:
        return _over(attempt, card.why or "JAM")
    after = book.land(attempt.ledger, event.index, event.outlet)
    if after.in_tray > TRAY_CARDS:
        return _over(attempt, "TRAY_FULL")
    return _advance(_with(attempt, ledger=after))


def _strayed(attempt: Attempt, event: Strayed) -> Step:
    """A landing that nobody announced: of a card gone astray, or of one that hung on another.

    With no card on its way it can only be the second of two that left as one.
    """
    return _over(attempt, "DOUBLE_FEED" if _follows(attempt.ledger, event) else "WRONG_POCKET")


def _follows(ledger: Ledger, event: Strayed) -> bool:
    gated = [card for card in ledger.cards if card.gated is not None]
    flying = any(card.landed is None for card in gated)
    return bool(gated) and not flying and gated[-1].landed == event.outlet


def _not_landed(attempt: Attempt, event: NotLanded) -> Step:
    return _over(attempt, "NOT_LANDED")


def _ran_empty(attempt: Attempt, event: RanEmpty) -> Step:
    if event.tray:
        return (attempt, ()) if not attempt.ledger.aside else _over(attempt, "COUNT_SHORT")
    return _advance(_with(attempt, hopper_empty=True))


def _advance(attempt: Attempt) -> Step:
    """Go on once nothing is on its way: from the hopper to the tray, from there to the check."""
    after = attempt.ledger
    if after.under_way:
        return attempt, ()
    if attempt.stage is Stage.DEALING:
        if not attempt.hopper_empty and after.fed < after.expected:
            return attempt, ()
        after = book.set_unreached_aside(after)
        if after.in_tray < len(after.aside):
            return _over(attempt, "COUNT_SHORT")
        attempt = _with(attempt, ledger=after, stage=Stage.REFEEDING)
    if after.aside:
        upto = len(after.cards) + len(after.aside)
        more = (Feed(upto, tray=True),) if upto > attempt.upto else ()
        return _with(attempt, upto=upto), more
    return _with(attempt, stage=Stage.CHECKING), (Check(),)


def _settled(attempt: Attempt, event: Settled) -> Step:
    reasons = open_reasons(attempt.ledger, attempt.sequence, event)
    if reasons:
        return _over(attempt, *reasons)
    return _with(attempt, stage=Stage.HELD), (Hold(),)


_DEALING = frozenset({Stage.DEALING, Stage.REFEEDING})
# What may still come once every card has landed, and says nothing new then.
_LATE = (Verdict, PairLate, RanEmpty)
# Which sightings a right attempt can bring, at which stage.
_LEGAL: dict[type[Any], frozenset[Stage]] = {
    Begun: frozenset({Stage.READY}),
    Shuffled: frozenset({Stage.SHUFFLING}),
    AtReader: _DEALING,
    Verdict: _DEALING,
    PairLate: _DEALING,
    Gated: _DEALING,
    LandedIn: _DEALING,
    Strayed: frozenset(Stage),
    NotLanded: _DEALING,
    RanEmpty: _DEALING,
    Settled: frozenset({Stage.CHECKING}),
}
_ON: dict[type[Any], Callable[[Attempt, Any], Step]] = {
    Begun: _begun,
    Shuffled: _shuffled,
    AtReader: _at_reader,
    Verdict: _verdict,
    PairLate: _pair_late,
    Gated: _gated,
    LandedIn: _landed,
    Strayed: _strayed,
    NotLanded: _not_landed,
    RanEmpty: _ran_empty,
    Settled: _settled,
}
