"""A table that plays a match as it is told, one line for what takes four people a minute.

    Table("international-000").started().played("NS", "NWS").rule("EW", "foul")

What is not said is done in the usual way: the right player cuts, tributes differ, nobody
holds both big jokers, the referee confirms.
"""

from typing import Any, Self, TypeVar

import msgspec

from controller.match import match_events
from controller.match.match_effects import Effects, EventRefused, MatchEffect
from controller.match.match_events import MatchEvent
from controller.match.match_state import AnyMatch, BigTwoMatch, EventStage, GuandanMatch
from controller.match.phase import BEFORE_RELEASE, MatchPhase
from controller.match.reducer import new_match, step
from controller.match.ruling_desk import legal_proposals
from controller.match.sheet_rows import DealRow, EndRow, SheetRowBase, replay_sheet
from controller.match.sheet_writing import sheet_signers
from controller.messages import Role, Seat, Side
from controller.rules.penalties.charges import Charge
from controller.rules.penalties.penalty_record import Penalty
from controller.rules.penalties.proposals import DeadHand, PenaltyProposal, discretionary_proposal
from controller.rules.profile import GuandanProfile, Profile
from controller.rules.profile_files import load_profile
from controller.seats import SEATS

from .people import charge_of, meeting

INTL, H, N, B = ("international-000", "huaian-2017-001", "huainan-2013-003", "bcta-004")
GUANDAN = (INTL, H, N, B)
E = TypeVar("E")
R = TypeVar("R", bound=SheetRowBase)

BIG_TWO = "bigtwo-2017-002"
BY_CHIEF: dict[type[match_events.MatchEventBase], dict[str, Any]] = {
    kind: {"by": "chief", "role": Role.CHIEF}
    for kind in (
        match_events.ResultCorrected,
        match_events.DealStopped,
        match_events.DealVoided,
        match_events.ExtraDealOrdered,
    )
}
"""Events that somebody answers for: the chief, unless it is said."""

MINUTE_MS = 60_000


def varied(name: str, **tables: dict[str, Any]) -> Profile:
    """A rulebook as an event settles it: `varied(I, ending={"method": "timed"})`."""
    profile = load_profile(name)
    changes = {
        table: msgspec.structs.replace(getattr(profile, table), **keys)
        for table, keys in tables.items()
    }
    return msgspec.structs.replace(profile, **changes)


def timed(name: str = INTL, **ending: Any) -> Profile:
    """A rulebook whose matches take an hour."""
    method = "timed_deals" if name == B else "timed"
    return varied(name, ending={"method": method, "time_s": 3600} | ending)


def from_level(start: str, name: str = INTL, **tables: dict[str, Any]) -> Profile:
    """A rulebook whose matches begin at another level than 2."""
    return varied(name, levels={"start": start} | tables.pop("levels", {}), **tables)


class Table:
    """A match and its clock. `said`: the last event's effects, `told`: all of them."""

    def __init__(self, profile: str | Profile = INTL, stage: EventStage = "swiss") -> None:
        self.profile = load_profile(profile) if isinstance(profile, str) else profile
        self.state: AnyMatch = new_match(self.profile, meeting(stage))
        self.at_ms = 0
        self.said: Effects = ()
        self.told: list[MatchEffect] = []
        self.happened: list[MatchEvent] = []

    def happens(
        self, kind: type[match_events.MatchEventBase], *, wait_ms: int = 100, **said: Any
    ) -> Self:
        """One event, a tenth of a second later; its refusal is in `refused`."""
        self.at_ms += wait_ms
        event: Any = kind(at_ms=self.at_ms, **BY_CHIEF.get(kind, {}) | said)
        self.state, self.said = step(self.state, event)
        self.told += self.said
        self.happened.append(event)
        return self

    def does(self, kind: type[match_events.MatchEventBase], **said: Any) -> Self:
        """One event that nobody refuses."""
        self.happens(kind, **said)
        assert self.refused is None, f"{kind.__name__}: {self.refused} in {self.state.phase}"
        return self

    # -- what can be asked ----------------------------------------------------

    @property
    def match(self) -> GuandanMatch:
        """The match of Guandan."""
        assert isinstance(self.state, GuandanMatch)
        return self.state

    @property
    def big_two(self) -> BigTwoMatch:
        """The match of Big Two."""
        assert isinstance(self.state, BigTwoMatch)
        return self.state

    @property
    def rules(self) -> GuandanProfile:
        """The rulebook of Guandan."""
        return self.match.profile

    @property
    def phase(self) -> MatchPhase:
        """What the match waits for."""
        return self.state.phase

    @property
    def refused(self) -> str | None:
        """The name of the last event's refusal."""
        codes = [effect.refusal.code for effect in self.said if isinstance(effect, EventRefused)]
        return codes[0] if codes else None

    @property
    def levels(self) -> tuple[int, int]:
        """The levels of NS and EW, and that the sheet alone gives them, too."""
        assert replay_sheet(self.rules, self.match.sheet) == self.match.standing
        return self.match.standing.levels.NS, self.match.standing.levels.EW

    def effect(self, kind: type[E]) -> E:
        """The only effect of a kind that the last event had."""
        (found,) = self.effects(kind)
        return found

    def effects(self, kind: type[E]) -> list[E]:
        """The last event's effects of a kind."""
        return [effect for effect in self.said if isinstance(effect, kind)]

    def rows(self, kind: type[R]) -> list[R]:
        """The rows of a kind on the sheet."""
        return [row for row in self.match.sheet if isinstance(row, kind)]

    @property
    def row(self) -> DealRow:
        """The last deal's row."""
        return self.rows(DealRow)[-1]

    @property
    def end(self) -> EndRow:
        """The last row that says how the match ended."""
        return self.rows(EndRow)[-1]

    # -- what the people do ---------------------------------------------------

    def tick(self, ms: int = 0, *, minutes: float = 0) -> Self:
        """Time passes, and nothing else."""
        return self.happens(match_events.TimePassed, wait_ms=ms + int(minutes * MINUTE_MS))

    def at_minute(self, minute: float) -> Self:
        """It is so many minutes after the start."""
        assert self.state.clock.watch is not None
        at_ms = self.state.clock.watch.starts_ms + int(minute * MINUTE_MS)
        return self.happens(match_events.TimePassed, wait_ms=at_ms - self.at_ms)

    def seated(self, seats: str = "NWSE") -> Self:
        """Players take their seats."""
        for seat in seats:
            self.does(match_events.SeatTaken, seat=seat)
        return self

    def started(self) -> Self:
        """All are there and the chief has opened the match."""
        return self.seated().does(match_events.MatchStarted)

    def cut(self, n: int = 40) -> Self:
        """The hands are shuffled, where by hand, and cut by who has to."""
        duties = self.state.duties
        assert duties is not None
        if self.phase is MatchPhase.SHUFFLE:
            self.does(match_events.SetShuffled, seat=duties.shufflers[0])
            assert self.state.duties is not None
            duties = self.state.duties
        return self.does(match_events.SetCut, seat=duties.cutters[0], n=n)

    def dealt(self, turned_to: Seat = "E") -> Self:
        """Four complete hands are there."""
        if self.phase is not MatchPhase.DEALING:
            self.cut()
        if self.phase is MatchPhase.TURNUP:
            self.does(match_events.CardTurnedUp, card="♠7")
        return self.does(match_events.HandsDealt, turned_to=turned_to, turned_up="♠7")

    def released(self) -> Self:
        """The hands are with the players."""
        if self.phase in BEFORE_RELEASE - {MatchPhase.HELD}:
            self.dealt()
        if self.phase is not MatchPhase.HELD:  # drawn by hand, they are there
            return self
        if not self.state.let_go:
            self.does(match_events.ReleaseOrdered)
        return self.does(match_events.HandsReleased)

    def says_out(self, seats: str) -> Self:
        """Players say that they are out, and nobody confirms it."""
        if self.phase is not MatchPhase.PLAY:
            self.in_play()
        for seat in seats:
            self.does(match_events.OutClaimed, seat=seat)
        return self

    def counted(self) -> Self:
        """All four have counted right hands."""
        if self.phase in BEFORE_RELEASE:
            self.released()
        for seat in SEATS:
            self.does(match_events.HandCounted, seat=seat)
        return self

    def laid(self) -> Self:
        """Anti-tribute does not stand, and every payer has laid his card."""
        if self.phase is not MatchPhase.ANTI_CHECK:
            self.counted()
        self.does(match_events.AntiTributeAnswered, stands=False)
        assert self.match.exchange is not None
        for seat in self.match.exchange.payers:
            self.does(match_events.TributeLaid, seat=seat)
        return self

    def valued(self, *values: int) -> Self:
        """Tributes count so much, in the order of who owes them; else 14 and 13."""
        if self.phase is not MatchPhase.TRIBUTE:
            self.laid()
        assert self.match.exchange is not None
        payers = self.match.exchange.payers
        counts = dict(zip(payers, values or (14, 13), strict=False))
        return self.does(match_events.TributeValued, values=counts)

    def returned(self, *values: int | None) -> Self:
        """Everybody who got a tribute gives a card back; else one that counts 5."""
        if self.phase is not MatchPhase.RETURN:
            self.valued()
        assert self.match.exchange is not None
        assert self.match.exchange.plan is not None
        for number, (giver, _) in enumerate(self.match.exchange.plan.returns):
            value = values[number] if values else 5
            self.does(match_events.ReturnLaid, seat=giver, value=value)
        return self

    def in_play(self) -> Self:
        """The deal is being played."""
        if self.phase in BEFORE_RELEASE:
            self.released()
        if self.phase is MatchPhase.COUNT_CHECK:
            self.counted()
        if self.phase in (MatchPhase.ANTI_CHECK, MatchPhase.TRIBUTE, MatchPhase.RETURN):
            self.returned()
        return self

    def out(self, seats: str) -> Self:
        """Players go out, in turn."""
        if self.phase is not MatchPhase.PLAY:
            self.in_play()
        for seat in seats:
            self.does(match_events.OutConfirmed, seat=seat)
        return self

    def played(self, *orders: str) -> Self:
        """Whole deals, by who went out: "NS" a double-down, "NWS", "NWE"."""
        for order in orders:
            self.out(order).does(match_events.ResultConfirmed, by="referee")
        return self

    def charged(
        self, seat: Seat, penalty: Penalty, *, deal: int | None = None, name: str = "R1"
    ) -> Self:
        """A referee proposes a penalty."""
        charge = charge_of(self.state, seat, "other")
        if deal is not None:
            charge = msgspec.structs.replace(charge, deal=deal)
        self.proposed(charge, discretionary_proposal(self.rules, charge, penalty), name)
        assert self.refused is None
        return self

    def proposed(self, charge: Charge, proposal: PenaltyProposal, name: str = "R1") -> Self:
        """A referee proposes what a charge leads to."""
        return self.happens(
            match_events.RulingProposed, id=name, charge=charge, proposal=proposal, by="referee"
        )

    def approved(self, name: str = "R1") -> Self:
        """The chief approves a ruling."""
        return self.happens(match_events.RulingApproved, id=name, by="chief", role=Role.CHIEF)

    def hid_cards(self, seat: Seat, name: str = "R1") -> Self:
        """A seat hid cards; the chief approves the first penalty that the rules propose."""
        charge = charge_of(self.state, seat, "hidden_cards")
        return self.proposed(charge, legal_proposals(self.match, charge)[0], name).approved(name)

    def dead(self, seat: Seat, *, deal: int | None = None) -> Self:
        """The chief takes a hand out of play for a wrong tribute found in play (A18.4)."""
        charge = charge_of(self.state, seat, "wrong_tribute_in_play")
        if deal is not None:
            charge = msgspec.structs.replace(charge, deal=deal)
        proposal = legal_proposals(self.match, charge)[0]
        assert DeadHand(seat) in proposal.effects
        name = f"R{len(self.match.rulings) + 1}"
        return self.proposed(charge, proposal, name).approved(name)

    def overturned(self, name: str = "R1") -> Self:
        """The chief overturns a ruling."""
        return self.happens(match_events.RulingRejected, id=name, by="chief", role=Role.CHIEF)

    def ruled(self, side: Side, penalty: Penalty, *, deal: int | None = None) -> Self:
        """A penalty against the first player of a side, proposed and approved."""
        name = f"R{len(self.match.rulings) + 1}"
        seat: Seat = "N" if side == "NS" else "E"
        return self.charged(seat, penalty, deal=deal, name=name).approved(name)

    def corrected(self, deal: int, order: str, choice: str = "from_now") -> Self:
        """The chief corrects a deal's result."""
        seats = tuple(order)
        return self.happens(
            match_events.ResultCorrected,
            deal=deal,
            order=seats,
            choice=choice,
            by="chief",
            reason="wrong",
        )

    def named(self, seat: Seat) -> Self:
        """Who leads after a forfeited deal."""
        return self.happens(match_events.LeaderNamed, seat=seat)

    def recounted(self, **counts: int) -> Self:
        """The referee counted the hands; what is not said is 27."""
        held = dict.fromkeys(SEATS, self.state.profile.hand)
        return self.happens(match_events.HandsRecounted, counts=held | counts)

    def signed(self) -> Self:
        """Everybody signs."""
        for signer in sheet_signers(self.state):
            self.does(match_events.SheetSigned, signer=signer, person="somebody")
        return self


def knockout(profile: Profile | None = None) -> Table:
    """A match that must have a winner, of an hour, all players there."""
    return Table(profile or timed(), stage="knockout").started()


def choosing() -> Table:
    """A match of Big Two whose players choose on their hands."""
    return Table(BIG_TWO).started().dealt("W").does(match_events.HandsReleased)
