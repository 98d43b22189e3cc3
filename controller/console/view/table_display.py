"""The content of a table's display: match, clocks, cut, tributes, seats. It shows no hand."""

from collections.abc import Iterator
from textwrap import wrap
from typing import Final

import msgspec

from controller.console.freshness import Freshness
from controller.console.view import fill_struct
from controller.console.view.display_seats import DisplaySeat, build_display_seat
from controller.console.view.hall_rows import MatchSummary
from controller.messages import (
    MachinePhase,
    PublicMatch,
    PublicMatchClock,
    PublicSeatClock,
    PublicState,
    Seat,
    Side,
)
from controller.seats import SEATS

_EXCHANGE_PHASES: Final = frozenset({"tribute", "return"})
"""Phases of an exchange. The duty of their clocks has the same name."""


class TributeLine(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """One tribute: the card that one loser of the last deal must give before play.

    `to` and `card` are null until every payer has laid a tribute. `clock`: the clock that counts
    for it.
    """

    giver: Seat
    to: Seat | None
    card: str | None
    laid: bool
    clock: PublicSeatClock | None


class ReturnLine(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """One card to give back for a tribute. No display shows its face. `clock`: the clock for it."""

    giver: Seat
    to: Seat
    rule: str
    given: bool
    clock: PublicSeatClock | None


class ExchangeView(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """The present exchange of tributes and returns. Each card of it is one line of the display.

    `said`: the lines contain all that the table waits for, with its clocks, so no other part of the
    display shows that.
    """

    pays: tuple[TributeLine, ...]
    gives: tuple[ReturnLine, ...]
    equal: bool
    said: bool

    @property
    def clocks(self) -> frozenset[PublicSeatClock]:
        """Return the clocks of the tributes and returns in this exchange."""
        clocks = (*(one.clock for one in self.pays), *(one.clock for one in self.gives))
        return frozenset(one for one in clocks if one is not None)


def build_exchange(match: PublicMatch) -> ExchangeView | None:
    """Return the present exchange of cards, or None if no tribute or return is due."""
    if match.phase not in _EXCHANGE_PHASES or match.tribute is None:
        return None
    paid, back = tuple(_tribute_lines(match)), match.tribute.given
    given = tuple(
        fill_struct(
            ReturnLine, one, given=one.giver in back, clock=_duty_clock(match, "return", one.giver)
        )
        for one in match.tribute.returns
    )
    if match.phase == "tribute":
        said = any(not one.laid for one in paid)
    else:
        # No line of a card shows that UP may still choose between equal tributes.
        choice_open = match.tribute.choice_open and not back
        said = not choice_open and any(not one.given for one in given)
    return ExchangeView(pays=paid, gives=given, equal=match.tribute.equal, said=said)


def _tribute_lines(match: PublicMatch) -> Iterator[TributeLine]:
    assert match.tribute is not None
    told = {payment.giver: payment for payment in match.tribute.payments}
    for giver in match.tribute.payers:
        to, card = (one.to, one.card) if (one := told.get(giver)) else (None, None)
        laid, clock = giver in match.tribute.laid, _duty_clock(match, "tribute", giver)
        yield TributeLine(giver=giver, to=to, card=card, laid=laid, clock=clock)


def _duty_clock(match: PublicMatch, duty: str, seat: Seat) -> PublicSeatClock | None:
    if match.phase != duty:
        return None
    return next((one for one in match.clocks if (one.duty, one.seat) == (duty, seat)), None)


WIDEST_CUT: Final = (6, 102)
"""The limits of a cut in most rulebooks, used if no rulebook sets them. Source: seed 000 A5.1.3."""


class PendingCut(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """The cut that the machine waits for. `by`: the seats that may cut, or () if any seat may.

    `counter`: the running number that the cut would take.
    """

    by: tuple[Seat, ...]
    counter: int | None
    least: int
    most: int
    deal: int | None
    attempt: int | None


class ProofLink(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """An attempt with a proof that every person in the hall may open now."""

    deal: int
    attempt: int


class DisplayView(MatchSummary, frozen=True, gc=False, kw_only=True):
    """The whole content of a table's display.

    `since_ms`: since when `standing` has this value (console's clock), or 0 while it is live.
    `seats` are in playing order. `fed`: the cards fed so far, while the machine deals. `commitment`
    (short, in groups of four) and `cut_at` belong to the present hands. `proof` belongs to hands
    that are no longer played. `countdowns`: the clocks that no line of `exchange` contains.
    """

    standing: Freshness
    since_ms: int
    heard: bool = False
    practice: bool = False
    pairs: dict[Side, str] = msgspec.field(default_factory=dict)
    suspended: bool = False
    extra: bool = False
    owner: Side | None = None
    fed: int | None = None
    ready_in_s: float | None = None
    leader: Seat | None = None
    led: bool = False
    turned_up: str | None = None
    exchange: ExchangeView | None = None
    clock: PublicMatchClock | None = None
    countdowns: tuple[PublicSeatClock, ...] = ()
    cut: PendingCut | None = None
    cut_at: int | None = None
    uncut: bool = False
    seats: tuple[DisplaySeat, ...] = ()
    commitment: str | None = None
    proof: ProofLink | None = None


def build_display(state: PublicState | None, standing: Freshness, since_ms: int) -> DisplayView:
    """Return the content of a table's display. With `state` None, only the freshness is set."""
    if standing is Freshness.LIVE:
        since_ms = 0  # Otherwise every state would change the display.
    if state is None:
        return DisplayView(standing=standing, since_ms=since_ms)
    machine, match = state.machine, state.match
    cut, owed = _pending_cut(state), build_exchange(match)
    cutters = () if cut is None else cut.by or SEATS
    # While the machine waits for a cut, the proof is that of the set to cut.
    attempt = machine.attempt if cut is not None or match.attempt is None else match.attempt
    about = next((one for one in state.fairness if one.attempt == attempt), None)
    dealing = machine.phase is MachinePhase.DEALING
    return fill_struct(
        DisplayView,
        state,
        match,
        standing=standing,
        since_ms=since_ms,
        heard=True,
        practice=state.mode != "play",
        pairs={side: pair.name for side, pair in match.pairs.items() if pair},
        machine=machine.phase.value,
        suspended=match.suspended is not None,
        fed=machine.fed if dealing else None,
        ready_in_s=machine.ready_in_s if dealing else None,
        exchange=owed,
        countdowns=tuple(one for one in match.clocks if owed is None or one not in owed.clocks),
        cut=cut,
        cut_at=about.cut if about else None,
        uncut=about is not None and about.uncut,
        seats=tuple(build_display_seat(seat, state, cuts=seat in cutters) for seat in SEATS),
        commitment=" ".join(wrap(about.commitment[:16], 4)) if about else None,
        proof=_newest_proof(state),
    )


_PHASES_AFTER_PLAY: Final = frozenset({"idle", "over", "signed"})
"""Phases without cards in play, so telephones are allowed: no match is laid out, or it is over."""


def _pending_cut(state: PublicState) -> PendingCut | None:
    """Return the cut that the machine waits for, or None if it waits for none."""
    machine, match = state.machine, state.match
    if machine.phase is not MachinePhase.COMMITTED or match.by_hand:
        return None
    least, most = match.cut_range or WIDEST_CUT
    return fill_struct(PendingCut, machine, by=tuple(machine.cutters), least=least, most=most)


def _newest_proof(state: PublicState) -> ProofLink | None:
    """Return the newest published proof, or None if none exists or the table's match is not over.

    Telephones are allowed only after play. Sources: seeds 002 A17.1.1, 000 A21.3.
    """
    revealed = [one for one in state.fairness if one.reveal is not None]
    if state.match.phase not in _PHASES_AFTER_PLAY or not revealed:
        return None
    last = max(revealed, key=lambda one: one.attempt)
    return ProofLink(deal=last.deal, attempt=last.attempt)
