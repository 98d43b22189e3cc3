"""The sheet that a scripted match must end with, by the pure rules, without any machine.

What the script says, the faces of the hands as they lay in the pockets, and the turned-up
card go in; times and cut numbers are not compared.
"""

from collections import deque
from typing import Any

from controller.cards import parse_face
from controller.machine.public.score_sheet import sheet_data
from controller.match import match_events
from controller.match.phase import MatchPhase
from controller.match.sheet_writing import sheet_signers
from controller.messages import PublicEvent, Seat
from controller.rules.profile import BigTwoProfile
from controller.rules.ranks import level_text, value_at_level
from controller.rules.tribute import has_anti_tribute, tribute_value
from controller.seats import SEATS
from tests.match.table import Table
from tests.matches.people import lowest, seats_of
from tests.matches.script import Hands, Script

_NOT_COMPARED = frozenset(
    {
        *("at_ms", "began_ms", "ended_ms", "start_ms", "end_ms", "start_at", "end_at"),
        *("cut", "head", "table", "hash"),
    }
)


class Replay:
    """The script again, as events of a match alone. `hands`: as they were released, in turn.

    Attempts that gave no hands are those of the feed, at least as many as the script has faults:
    a starved computer costs a deal now and then, and `verify` checks each reason.
    """

    def __init__(self, script: Script, hands: list[Hands], feed: list[PublicEvent]) -> None:
        self.script = script
        self.table = Table(script.profile, script.stage)
        self._hands = deque(hands)
        self._turned = {event.attempt: event.data for event in feed if event.kind == "released"}
        self._now: Hands | None = None
        self._done: set[tuple[int, int]] = set()
        self._failed: set[tuple[int, int]] = set()
        self._misdealt: dict[int, list[tuple[str, ...]]] = {}
        for event in feed:
            if event.kind == "verdict" and event.deal and event.data["outcome"] != "ok":
                reasons = tuple(event.data["reasons"])
                self._misdealt.setdefault(event.deal, []).append(reasons)

    def sheet(self) -> dict[str, Any]:
        """Return the signed sheet."""
        while self.table.phase is not MatchPhase.SIGNED:
            self._step()
        return sheet_data(self.table.state, table="T", head="", rules_hash="")

    def _step(self) -> None:
        table, match = self.table, self.table.state
        if table.phase is not MatchPhase.PLAY or match.led:
            for key, act in self.script.acts(match.deal, table.phase):
                if key not in self._done:
                    self._done.add(key)
                    act.expect(table)
                    return
        getattr(self, f"_{table.phase.value}")()

    @property
    def _deal(self) -> Any:
        return self.script.deal(self.table.state.deal)

    def _setup(self) -> None:
        self.table.started()

    def _cut(self) -> None:
        misdealt = self._misdealt.get(self.table.state.deal, [])
        assert len(misdealt) >= len(self._deal.faults)
        for n, reasons in enumerate(misdealt):
            if (self.table.state.deal, n) not in self._failed:
                self._failed.add((self.table.state.deal, n))
                self.table.cut().does(match_events.AttemptFailed, reasons=reasons)
                return
        if self._deal.uncut:
            self.table.does(match_events.SetCut)
        else:
            self.table.cut()

    def _dealing(self) -> None:
        self._now = hands = self._hands.popleft()
        assert hands.deal == self.table.state.deal
        told = self._turned.get(hands.attempt, {})
        if isinstance(self.script.profile, BigTwoProfile):
            leader = self._who_holds_the_lowest(hands)
            self.table.does(match_events.HandsDealt, turned_to=leader)
            return
        turned = told.get("turned_up")
        if turned is not None:
            assert parse_face(turned) in hands.faces[told["leader"]]
        self.table.does(match_events.HandsDealt, turned_to=told.get("leader"), turned_up=turned)

    def _who_holds_the_lowest(self, hands: Hands) -> Seat:
        """Who has the three of diamonds leads (seed 002 A9)."""
        (leader,) = (seat for seat in SEATS if parse_face("D3") in hands.faces[seat])
        return leader

    def _held(self) -> None:
        self.table.released()

    def _count_check(self) -> None:
        match = self.table.state
        seat = next(seat for seat in SEATS if seat not in match.counted)
        self.table.does(match_events.HandCounted, seat=seat)

    def _anti_check(self) -> None:
        assert self._now is not None
        owed = self._exchange.payers
        stands = has_anti_tribute(self.table.rules, owed, self._now.faces)
        self.table.does(match_events.AntiTributeAnswered, stands=stands)

    @property
    def _exchange(self) -> Any:
        return self.table.match.exchange

    def _tribute(self) -> None:
        assert self._now is not None
        for seat in self._exchange.payers:
            if seat not in self._exchange.laid:
                self.table.does(match_events.TributeLaid, seat=seat)
                return
        rules, level = self.table.rules, self.table.match.level
        faces = self._now.faces
        values = {seat: tribute_value(rules, faces[seat], level) for seat in self._exchange.payers}
        self.table.does(match_events.TributeValued, values=values)

    def _return(self) -> None:
        assert self._now is not None
        plan, given = self._exchange.plan, self._exchange.given
        if plan.choice_open and self._deal.chooses is not None:
            payer = self._exchange.payers[self._deal.chooses]
            self.table.does(match_events.TributeChosen, payer=payer)
            return
        giver = next(seat for seat in SEATS if seat in dict(plan.returns) and seat not in given)
        told = None
        if plan.leader is None:
            level = self.table.match.level
            told = value_at_level(lowest(self._now, giver, level_text(level)), level)
        self.table.does(match_events.ReturnLaid, seat=giver, value=told)

    def _choices(self) -> None:
        choices = self.table.big_two.choices
        assert choices is not None
        seat = choices.current_round().seats_asked()[0]
        yes = seat in (self._deal.opens if choices.doubling is None else self._deal.doubles)
        self.table.does(match_events.ChoiceAnswered, seat=seat, yes=yes)

    def _play(self) -> None:
        match = self.table.state
        key = (match.deal, -1)
        exchange = getattr(match, "exchange", None)
        equal = exchange is not None and exchange.plan is not None and exchange.plan.equal
        if not match.led and equal and self._deal.swap and key not in self._done:
            self._done.add(key)
            self.table.does(match_events.ReturnsSwapped)
        elif not match.led:
            self.table.does(match_events.LeadMade)
        elif isinstance(self.script.profile, BigTwoProfile):
            self.table.does(match_events.CardsLeftEntered, left=self._deal.left)
        else:
            out = next(s for s in seats_of(self._deal.order) if s not in self.table.match.places)
            self.table.does(match_events.OutConfirmed, seat=out)

    def _result(self) -> None:
        self.table.does(match_events.ResultConfirmed, by="referee")

    def _forfeit(self) -> None:
        self.table.named(self._deal.names)

    def _match_check(self) -> None:
        self.table.does(match_events.ExtraDealOrdered, reason="a winner is needed")

    def _over(self) -> None:
        signed = {one.signer for one in self.table.state.signatures}
        signer = next(each for each in sheet_signers(self.table.state) if each not in signed)
        self.table.does(match_events.SheetSigned, signer=signer, person=f"person {signer}")


def comparable(value: Any) -> Any:
    """Return a sheet without times, cut numbers and what belongs to a table."""
    if isinstance(value, dict):
        return {key: comparable(each) for key, each in value.items() if key not in _NOT_COMPARED}
    if isinstance(value, list | tuple):
        return [comparable(each) for each in value]
    return value
