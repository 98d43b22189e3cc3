"""Four people, a referee and a machine who play a match at random, but within the rules.

`next_event` looks at a match and answers with something that may happen next. Nothing of
it is clever: places, tributes and offences are drawn.
"""

import random
from collections.abc import Callable

from controller.match import match_events
from controller.match.deal_start import required_counts
from controller.match.match_events import MatchEvent
from controller.match.match_state import (
    AnyMatch,
    BigTwoMatch,
    EventStage,
    GuandanMatch,
    MatchPair,
    Meeting,
)
from controller.match.phase import BEFORE_RELEASE, MatchPhase
from controller.match.ruling_desk import legal_proposals
from controller.match.sheet_writing import sheet_signers
from controller.messages import Role, Seat, Side
from controller.rules.penalties.charges import Charge
from controller.rules.penalties.offences import offence_catalogue
from controller.seats import SEATS, seats_of_side, side_of

OFFENCES = tuple(offence_catalogue())


def meeting(stage: EventStage = "swiss") -> Meeting:
    pairs: dict[Side, MatchPair] = {
        "NS": MatchPair("P1", "Plum", {"N": "Nan", "S": "Sun"}),
        "EW": MatchPair("P2", "Bamboo", {"E": "Eve", "W": "Wu"}),
    }
    return Meeting(
        match_id="M1", event="Cup", round=1, match_no=1, table_no="7", stage=stage, pairs=pairs
    )


class People:
    """Draws what happens next from `rng`.

    `wild`: how often something goes wrong, 0…1. `pace`: multiplies the time between events.
    """

    def __init__(self, rng: random.Random, wild: float = 0.15, pace: int = 1) -> None:
        self.rng, self.wild, self.pace, self.rulings = rng, wild, pace, 0

    def next_event(self, match: AnyMatch) -> MatchEvent:
        """Return something that may happen to `match` now, a little later than the last."""
        at_ms = match.now_ms + self.pace * self.rng.choice((1, 500, 3_000, 20_000))
        if match.clock.watch is not None and match.clock.watch.is_paused:
            return match_events.AreaResumed(at_ms=at_ms)
        if match.suspended is not None:
            return self._suspended(match, at_ms)
        if self.rng.random() < self.wild:
            return self._trouble(match, at_ms)
        return self._usual(match, at_ms)

    def _usual(self, match: AnyMatch, at_ms: int) -> MatchEvent:
        return _USUAL[match.phase](self, match, at_ms)

    def _suspended(self, match: AnyMatch, at_ms: int) -> MatchEvent:
        if match.claimed is None:
            return match_events.TableResumed(at_ms=at_ms)
        counts = required_counts(match)
        if self.rng.random() < 0.3:
            counts[self.rng.choice(SEATS)] -= 1
        found = self.rng.random() < 0.2
        return match_events.HandsRecounted(at_ms=at_ms, counts=counts, found=found, role=Role.CHIEF)

    def _trouble(self, match: AnyMatch, at_ms: int) -> MatchEvent:
        troubles: list[Callable[[AnyMatch, int], MatchEvent | None]] = [
            self._suspend,
            self._claim,
            self._misdeal,
            self._ruling,
            self._correction,
            self._by_hand,
            self._area,
            self._added,
            self._nonsense,
        ]
        found = self.rng.choice(troubles)(match, at_ms)
        return found or self._usual(match, at_ms)

    def _suspend(self, match: AnyMatch, at_ms: int) -> MatchEvent:
        return match_events.TableSuspended(at_ms=at_ms, reason="called")

    def _claim(self, match: AnyMatch, at_ms: int) -> MatchEvent:
        return match_events.CountClaimed(at_ms=at_ms, seat=self.rng.choice(SEATS))

    def _misdeal(self, match: AnyMatch, at_ms: int) -> MatchEvent | None:
        if match.phase not in (MatchPhase.DEALING, MatchPhase.HELD):
            return None
        return match_events.AttemptFailed(at_ms=at_ms, reasons=("COUNT_SHORT",))

    def _by_hand(self, match: AnyMatch, at_ms: int) -> MatchEvent | None:
        if match.phase not in BEFORE_RELEASE or match.by_hand:
            return None
        return match_events.HandDealOrdered(at_ms=at_ms, reason="the machine is broken")

    def _area(self, match: AnyMatch, at_ms: int) -> MatchEvent:
        return match_events.AreaPaused(at_ms=at_ms)

    def _added(self, match: AnyMatch, at_ms: int) -> MatchEvent:
        return match_events.TimeAdded(at_ms=at_ms, seconds=self.rng.randrange(600), role=Role.CHIEF)

    def _nonsense(self, match: AnyMatch, at_ms: int) -> MatchEvent:
        """Something whose time may be another."""
        return self.rng.choice(list(_USUAL.values()))(self, match, at_ms)

    def _correction(self, match: AnyMatch, at_ms: int) -> MatchEvent | None:
        if not isinstance(match, GuandanMatch) or match.deal < 2:
            return None
        return match_events.ResultCorrected(
            at_ms=at_ms,
            deal=self.rng.randrange(1, match.deal + 1),
            order=self._order(),
            choice=self.rng.choice(("from_now", "void_later", "stand")),
            by="chief",
            role=Role.CHIEF,
            reason="written wrongly",
        )

    def _ruling(self, match: AnyMatch, at_ms: int) -> MatchEvent | None:
        if not isinstance(match, GuandanMatch):
            return None
        waiting = [ruling for ruling in match.rulings if ruling.state == "proposed"]
        if waiting:
            return self._decision(waiting[0].id, at_ms)
        decided = [ruling for ruling in match.rulings if ruling.state == "decided"]
        if decided and self.rng.random() < 0.1:
            ruling = self.rng.choice(decided)
            return match_events.RulingRejected(
                at_ms=at_ms, id=ruling.id, by="chief", role=Role.CHIEF
            )
        self.rulings += 1
        charge = charge_of(match, self.rng.choice(SEATS), self.rng.choice(OFFENCES))
        return match_events.RulingProposed(
            at_ms=at_ms,
            id=f"R{self.rulings}",
            charge=charge,
            proposal=self.rng.choice(legal_proposals(match, charge)),
            by="referee",
        )

    def _decision(self, ruling_id: str, at_ms: int) -> MatchEvent:
        if self.rng.random() < 0.2:
            return match_events.RulingRejected(
                at_ms=at_ms, id=ruling_id, by="chief", role=Role.CHIEF
            )
        return match_events.RulingApproved(at_ms=at_ms, id=ruling_id, by="chief", role=Role.CHIEF)

    def _one_of(self, seats: tuple[Seat, ...], done: tuple[Seat, ...]) -> Seat:
        """Mostly one who has not done it yet."""
        left = [seat for seat in seats if seat not in done]
        return self.rng.choice(left if left and self.rng.random() < 0.9 else SEATS)

    def _order(self) -> tuple[Seat, ...]:
        order = self.rng.sample(SEATS, 3)
        return tuple(order[:2] if side_of(order[0]) == side_of(order[1]) else order)

    # -- what usually comes next, by phase ------------------------------------

    def setup(self, match: AnyMatch, at_ms: int) -> MatchEvent:
        free = [seat for seat in SEATS if seat not in match.seated]
        if not match.started and (not free or self.rng.random() < 0.2):
            return match_events.MatchStarted(at_ms=at_ms)
        return match_events.SeatTaken(at_ms=at_ms, seat=self.rng.choice(free or SEATS))

    def shuffle(self, match: AnyMatch, at_ms: int) -> MatchEvent:
        shufflers = match.duties.shufflers if match.duties else ()
        return match_events.SetShuffled(at_ms=at_ms, seat=self.rng.choice(shufflers or SEATS))

    def cut(self, match: AnyMatch, at_ms: int) -> MatchEvent:
        cutters = match.duties.cutters if match.duties else ()
        if self.rng.random() < 0.1:
            return match_events.SetCut(at_ms=at_ms)
        n = self.rng.randrange(match.profile.deck.cards)
        if self.rng.random() < 0.1:
            return match_events.SetCut(at_ms=at_ms, seat=self.rng.choice(SEATS), n=n, ahead=True)
        return match_events.SetCut(at_ms=at_ms, seat=self.rng.choice(cutters or SEATS), n=n)

    def turnup(self, match: AnyMatch, at_ms: int) -> MatchEvent:
        return match_events.CardTurnedUp(
            at_ms=at_ms, card=self.rng.choice(("SK", "H2", "BJ", "D5", "X"))
        )

    def dealing(self, match: AnyMatch, at_ms: int) -> MatchEvent:
        return match_events.HandsDealt(
            at_ms=at_ms, turned_to=self.rng.choice((*SEATS, None)), turned_up="♠7"
        )

    def held(self, match: AnyMatch, at_ms: int) -> MatchEvent:
        if self.rng.random() < 0.1:  # after a stop somebody may wait for that
            return match_events.TimeAdded(at_ms=at_ms, seconds=0, role=Role.REFEREE)
        if not match.let_go:
            return match_events.ReleaseOrdered(at_ms=at_ms)
        if self.rng.random() < 0.05:
            return match_events.AttemptFailed(at_ms=at_ms, reasons=("LIFT",))
        return match_events.HandsReleased(
            at_ms=at_ms, turned_to=self.rng.choice(SEATS), turned_up="♠7"
        )

    def counting(self, match: AnyMatch, at_ms: int) -> MatchEvent:
        return match_events.HandCounted(at_ms=at_ms, seat=self._one_of(SEATS, match.counted))

    def anti(self, match: AnyMatch, at_ms: int) -> MatchEvent:
        return match_events.AntiTributeAnswered(at_ms=at_ms, stands=self.rng.random() < 0.2)

    def tribute(self, match: AnyMatch, at_ms: int) -> MatchEvent:
        exchange = match.exchange if isinstance(match, GuandanMatch) else None
        if exchange is None or set(exchange.laid) < set(exchange.payers):
            payers, laid = (exchange.payers, exchange.laid) if exchange else (SEATS, ())
            return match_events.TributeLaid(at_ms=at_ms, seat=self._one_of(payers, laid))
        return match_events.TributeValued(at_ms=at_ms, values=self._values(match))

    def _values(self, match: AnyMatch) -> dict[Seat, int]:
        exchange = match.exchange if isinstance(match, GuandanMatch) else None
        payers = exchange.payers if exchange else SEATS
        return {seat: self.rng.choice((14, 15, 17)) for seat in payers}

    def returning(self, match: AnyMatch, at_ms: int) -> MatchEvent:
        if self.rng.random() < 0.2:
            return match_events.TributeChosen(at_ms=at_ms, payer=self.rng.choice(SEATS))
        if self.rng.random() < 0.05:
            return match_events.ReturnCorrected(at_ms=at_ms, seat=self.rng.choice(SEATS), value=9)
        value = self.rng.choice((None, 2, 5, 10))
        exchange = match.exchange if isinstance(match, GuandanMatch) else None
        givers = (
            tuple(pair[0] for pair in exchange.plan.returns)
            if exchange and exchange.plan
            else SEATS
        )
        seat = self._one_of(givers, exchange.given if exchange else ())
        return match_events.ReturnLaid(at_ms=at_ms, seat=seat, value=value)

    def choices(self, match: AnyMatch, at_ms: int) -> MatchEvent:
        yes = self.rng.random() < 0.4
        return match_events.ChoiceAnswered(at_ms=at_ms, seat=self.rng.choice(SEATS), yes=yes)

    def play(self, match: AnyMatch, at_ms: int) -> MatchEvent:
        if isinstance(match, BigTwoMatch):
            first, *rest = self.rng.sample(SEATS, 4)
            left = {first: 0} | {seat: self.rng.randrange(1, 14) for seat in rest}
            return match_events.CardsLeftEntered(at_ms=at_ms, left=left)
        if self.rng.random() < 0.1:
            return self.rng.choice(
                (
                    match_events.LeadMade(at_ms=at_ms),
                    match_events.PlayClockStarted(at_ms=at_ms, seat="N"),
                    match_events.OutWithdrawn(at_ms=at_ms, seat=self.rng.choice(SEATS)),
                    match_events.ReturnCorrected(at_ms=at_ms, seat=self.rng.choice(SEATS), value=4),
                    match_events.ReturnsSwapped(at_ms=at_ms),
                    match_events.AntiTributeAnswered(at_ms=at_ms, stands=self.rng.random() < 0.5),
                    match_events.TributeValued(at_ms=at_ms, values=self._values(match)),
                    match_events.DealVoided(
                        at_ms=at_ms, reason="seen", by="chief", role=Role.CHIEF
                    ),
                    match_events.ResultEntered(at_ms=at_ms, order=self._order()),
                    match_events.DealStopped(at_ms=at_ms, reason="time", by="R", role=Role.REFEREE),
                )
            )
        assert isinstance(match, GuandanMatch)
        if match.outs and self.rng.random() < 0.8:
            return match_events.OutConfirmed(at_ms=at_ms, seat=match.outs[0])
        says = match_events.OutClaimed if self.rng.random() < 0.5 else match_events.OutConfirmed
        return says(at_ms=at_ms, seat=self._one_of(SEATS, match.places))

    def result(self, match: AnyMatch, at_ms: int) -> MatchEvent:
        if self.rng.random() < 0.1:
            return match_events.DealStopped(at_ms=at_ms, reason="time", by="R", role=Role.REFEREE)
        if self.rng.random() < 0.1:
            return match_events.OutWithdrawn(at_ms=at_ms, seat=self.rng.choice(SEATS))
        return match_events.ResultConfirmed(
            at_ms=at_ms, by=self.rng.choice(("NS", "EW", "referee"))
        )

    def forfeit(self, match: AnyMatch, at_ms: int) -> MatchEvent:
        return match_events.LeaderNamed(at_ms=at_ms, seat=self.rng.choice(SEATS))

    def match_check(self, match: AnyMatch, at_ms: int) -> MatchEvent:
        return match_events.ExtraDealOrdered(
            at_ms=at_ms, reason="a winner is needed", by="chief", role=Role.CHIEF
        )

    def over(self, match: AnyMatch, at_ms: int) -> MatchEvent:
        signed = {one.signer for one in match.signatures}
        due = [signer for signer in sheet_signers(match) if signer not in signed] or ["nobody"]
        return match_events.SheetSigned(at_ms=at_ms, signer=self.rng.choice(due), person="somebody")

    def signed(self, match: AnyMatch, at_ms: int) -> MatchEvent:
        return match_events.TimePassed(at_ms=at_ms)


_USUAL: dict[MatchPhase, Callable[[People, AnyMatch, int], MatchEvent]] = {
    MatchPhase.SETUP: People.setup,
    MatchPhase.SHUFFLE: People.shuffle,
    MatchPhase.CUT: People.cut,
    MatchPhase.TURNUP: People.turnup,
    MatchPhase.DEALING: People.dealing,
    MatchPhase.HELD: People.held,
    MatchPhase.COUNT_CHECK: People.counting,
    MatchPhase.ANTI_CHECK: People.anti,
    MatchPhase.TRIBUTE: People.tribute,
    MatchPhase.RETURN: People.returning,
    MatchPhase.CHOICES: People.choices,
    MatchPhase.PLAY: People.play,
    MatchPhase.RESULT: People.result,
    MatchPhase.FORFEIT: People.forfeit,
    MatchPhase.MATCH_CHECK: People.match_check,
    MatchPhase.OVER: People.over,
    MatchPhase.SIGNED: People.signed,
}


def charge_of(match: AnyMatch, seat: Seat, offence: str) -> Charge:
    """Return a charge against `seat`, pointed out at once by an opponent."""
    ours = side_of(seat)
    return Charge(
        offence=offence,
        seat=seat,
        person=match.meeting.player_name(seat),
        pair=match.meeting.pair_of(seat).id,
        side=ours,
        event=match.meeting.event,
        round=match.meeting.round,
        match=match.meeting.match_id,
        deal=match.deal,
        at_ms=match.now_ms,
        pointed_out_by=seats_of_side("EW" if ours == "NS" else "NS")[0],
    )
