"""A table for the examples: a match, and the events by which people play it."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from controller.cards import Face, parse_face
from controller.match import match_events
from controller.match.match_effects import ClockReported, Effects, EventRefused
from controller.match.match_state import EventStage, GuandanMatch
from controller.match.phase import MatchPhase
from controller.match.reducer import new_match, step
from controller.match.ruling_desk import legal_proposals
from controller.match.sheet_rows import DealRow, EndRow
from controller.messages import Role, Seat, Side
from controller.rules.match_standing import PerSide
from controller.rules.penalties.charges import Charge
from controller.rules.penalties.proposals import PenaltyProposal
from controller.rules.profile import GuandanProfile
from controller.rules.tribute import has_anti_tribute, tribute_value
from tests.match.people import meeting

GRADES = ("2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K", "A", "A+")

_ORDERS = {
    "NS R12": "N S",
    "NS R13": "N W S",
    "NS R14": "N W E",
    "EW R12": "E W",
    "EW R13": "E N W",
    "EW R14": "E N S",
}
_OPPONENT: dict[Seat, Seat] = {"N": "W", "W": "S", "S": "E", "E": "N"}
_SIDES: dict[Seat, Side] = {"N": "NS", "S": "NS", "E": "EW", "W": "EW"}
_ACE = {"N": "♠A", "W": "♠A", "S": "♠K", "E": "♠K"}
"""What payers lay where an example does not say: two that differ."""


def order_of(result: str) -> tuple[Seat, ...]:
    """The seats that went out: "NS R13" and "N W S" are the same."""
    return cast(tuple[Seat, ...], tuple(_ORDERS.get(result, result).split()))


def faces(cards: str) -> list[Face]:
    return [parse_face(card) for card in cards.split()]


def grades(sides: PerSide) -> dict[str, str]:
    return {"NS": GRADES[sides.NS - 2], "EW": GRADES[sides.EW - 2]}


def numbers(sides: PerSide | None) -> dict[str, int] | None:
    return None if sides is None else {"NS": sides.NS, "EW": sides.EW}


class Table:
    """A match with four seated, after the chief's start. Time passes by `wait` alone."""

    def __init__(self, profile: GuandanProfile, stage: EventStage = "swiss") -> None:
        match = new_match(profile, meeting(stage))
        assert isinstance(match, GuandanMatch)
        self.profile, self.match = profile, match
        self.at_ms = 0
        self.rulings = 0
        for seat in _SIDES:
            self.do(match_events.SeatTaken, seat=seat)
        self.do(match_events.MatchStarted)

    # -- events ---------------------------------------------------------------

    def tell(self, kind: type[match_events.MatchEvent], **said: Any) -> Effects:
        """What follows from an event, a refusal too."""
        match, effects = step(self.match, kind(at_ms=self.at_ms, **said))
        assert isinstance(match, GuandanMatch)
        self.match = match
        return effects

    def do(self, kind: type[match_events.MatchEvent], **said: Any) -> Effects:
        """What follows from an event that must be legal."""
        effects = self.tell(kind, **said)
        refused = [effect.refusal.text() for effect in effects if isinstance(effect, EventRefused)]
        assert not refused, f"{kind.__name__}: {refused} in {self.match.phase}"
        return effects

    def wait(self, seconds: int) -> None:
        self.at_ms += seconds * 1000

    # -- deals ----------------------------------------------------------------

    def release(self, turned_to: Seat = "N") -> "Table":
        """Cut, dealt by the machine and handed out."""
        due = self.match.duties
        assert due is not None
        self.do(match_events.SetCut, seat=due.cutters[0], n=40)
        self.do(match_events.HandsDealt, turned_to=turned_to if due.turnup else None)
        self.do(match_events.HandsReleased)
        return self

    def draw(self, shuffler: Seat, cutter: Seat, card: str) -> Effects:
        """The first deal drawn by hand, up to the turned-up card."""
        self.do(match_events.HandDealOrdered, reason="the machine is broken")
        self.do(match_events.SetShuffled, seat=shuffler)
        self.do(match_events.SetCut, seat=cutter, n=50)
        return self.do(match_events.CardTurnedUp, card=card)

    def count(self) -> "Table":
        for seat in _SIDES:
            self.do(match_events.HandCounted, seat=seat)
        return self

    def tribute(self, hands: Mapping[Seat, str] | None = None) -> "Table":
        """The payers lay what these hands owe, or nothing where they hold the big jokers."""
        exchange = self.match.exchange
        if exchange is None:
            return self
        held = {seat: faces(cards) for seat, cards in (hands or _ACE).items()}
        stands = has_anti_tribute(
            self.profile, exchange.payers, cast(Mapping[Seat, list[Face]], held)
        )
        self.do(match_events.AntiTributeAnswered, stands=stands)
        if not stands:
            for payer in exchange.payers:
                self.do(match_events.TributeLaid, seat=payer)
            values = {
                payer: tribute_value(self.profile, held[payer], self.match.level)
                for payer in exchange.payers
            }
            self.do(match_events.TributeValued, values=values)
        return self

    def returns(self, values: Mapping[Seat, int] | None = None) -> "Table":
        """Every return is laid; `values` by who gets it."""
        exchange = self.match.exchange
        if exchange is not None and exchange.plan is not None:
            for giver, to in exchange.plan.returns:
                self.do(match_events.ReturnLaid, seat=giver, value=(values or {}).get(to, 3))
        return self

    def play(self) -> "Table":
        """The next deal up to its first lead."""
        return self.release().count().tribute().returns()

    def end(self, result: str) -> Effects:
        """The deal in play to its end, confirmed by both sides."""
        for seat in order_of(result):
            self.do(match_events.OutConfirmed, seat=seat)
        self.do(match_events.ResultConfirmed, by="NS")
        return self.do(match_events.ResultConfirmed, by="EW")

    def deals(self, results: Iterable[str]) -> "Table":
        """Whole deals, one after the other."""
        for result in results:
            self.play().end(result)
        return self

    # -- rulings --------------------------------------------------------------

    def charge(self, offence: str, seat: Seat, **more: Any) -> Charge:
        meeting = self.match.meeting
        return Charge(
            offence=offence,
            seat=seat,
            person=meeting.player_name(seat),
            pair=meeting.pair_of(seat).id,
            side=_SIDES[seat],
            event=meeting.event,
            round=meeting.round,
            match=meeting.match_id,
            deal=self.match.deal,
            at_ms=self.match.now_ms,
            pointed_out_by=_OPPONENT[seat],
            **more,
        )

    def propose(self, offence: str, seat: Seat, **more: Any) -> PenaltyProposal:
        """The ladder's answer to a charge, proposed by a referee; nobody has decided yet."""
        charge = self.charge(offence, seat, **more)
        proposal = legal_proposals(self.match, charge)[0]
        self.rulings += 1
        self.do(
            match_events.RulingProposed,
            id=f"R{self.rulings}",
            charge=charge,
            proposal=proposal,
            by="referee",
        )
        return proposal

    def approve(self, role: Role) -> str:
        """The last ruling approved; the refusal's code, or "" where it is in force."""
        effects = self.tell(
            match_events.RulingApproved, id=f"R{self.rulings}", by=str(role), role=role
        )
        return refusal(effects)

    # -- what is seen ---------------------------------------------------------

    @property
    def levels(self) -> dict[str, str]:
        return grades(self.match.standing.levels)

    @property
    def over(self) -> bool:
        return self.match.phase in (MatchPhase.OVER, MatchPhase.SIGNED)

    @property
    def last_deal(self) -> DealRow:
        return [row for row in self.match.sheet if isinstance(row, DealRow)][-1]

    @property
    def ending(self) -> dict[str, object]:
        """How the match ended, as its sheet says; nothing while it goes on."""
        last = self.match.sheet[-1] if self.match.sheet else None
        if not self.over or not isinstance(last, EndRow):
            return {}
        return {
            "winner": last.verdict.winner or "nobody",
            "how": last.verdict.how,
            "match_points": numbers(last.score.match_points),
            "level_points": numbers(last.score.level_points),
            "rests_on": list(last.score.rests_on),
        }


def refusal(effects: Effects) -> str:
    return next((one.refusal.code for one in effects if isinstance(one, EventRefused)), "")


def clock_says(effects: Sequence[Effects]) -> list[ClockReported]:
    return [one for some in effects for one in some if isinstance(one, ClockReported)]


def arrows(pairs: Iterable[tuple[Seat, Seat]]) -> list[str]:
    """Who gives a card to whom."""
    return [f"{giver}→{to}" for giver, to in pairs]
