"""What may happen in a match beside the usual: as people do it, and as the rules alone have it."""

import asyncio
from collections.abc import Sequence
from typing import Any

import msgspec

from controller.match import match_events
from controller.match.ruling_desk import legal_proposals
from controller.messages import Role, Seat, Side
from controller.rules.penalties.penalty_record import Penalty
from controller.rules.penalties.proposals import PenaltyProposal, discretionary_proposal
from controller.seats import SEATS, side_of
from tests.match.people import charge_of
from tests.match.table import Table
from tests.matches.people import People, seats_of
from tests.matches.script import Act


def count_claim(seat: Seat, **counts: int) -> Act:
    """A player claims a wrong count; the referee counts, 27 where nothing is said.

    A pair's second claim is the chief's.
    """

    async def do(people: People) -> None:
        await people.order(Role.TABLE, "claim_count", seat=seat)
        assert people.match.suspended == "count"
        held = dict.fromkeys("NWSE", people.script.profile.hand)
        await people.order(_who_counts(people.match.claims), "recount", counts=held | counts)

    def expect(table: Table) -> None:
        table.does(match_events.CountClaimed, seat=seat)
        role = _who_counts(table.state.claims)
        held = dict.fromkeys(SEATS, table.state.profile.hand)
        table.does(match_events.HandsRecounted, counts=held | counts, role=role, by=role.value)

    return Act("count_check", do, expect)


def _who_counts(claims: Sequence[Seat]) -> Role:
    """Who answers the last of these claims."""
    mine = [seat for seat in claims if side_of(seat) == side_of(claims[-1])]
    return Role.CHIEF if len(mine) > 1 else Role.REFEREE


def ruling(
    name: str, offence: str, seat: Seat, decision: str, penalty: Penalty | None = None
) -> Act:
    """A referee proposes what an offence leads to, and the chief decides it.

    `decision`: approved, rejected, changed to `penalty`, by word of the chief and confirmed.
    """

    async def do(people: People) -> None:
        proposed = await people.order(Role.REFEREE, "propose", offence=offence, seat=seat, id=name)
        assert proposed["ruling"] == name
        await _DECIDED[decision](people, name, penalty)

    def expect(table: Table) -> None:
        charge = msgspec.structs.replace(
            charge_of(table.state, seat, offence), pointed_out_by="referee"
        )
        legal = legal_proposals(table.match, charge)
        table.proposed(charge, legal[0], name)
        assert table.refused is None
        other: PenaltyProposal | None = None
        if penalty is not None:
            named = [proposal for proposal in legal if proposal.penalty == penalty]
            other = named[0] if named else discretionary_proposal(table.rules, charge, penalty)
        _EXPECTED[decision](table, name, other)

    return Act("play", do, expect)


async def _approve(people: People, name: str, penalty: Penalty | None) -> None:
    await people.order(Role.CHIEF, "approve", ruling=name)


async def _reject(people: People, name: str, penalty: Penalty | None) -> None:
    await people.order(Role.CHIEF, "reject", ruling=name)


async def _change(people: People, name: str, penalty: Penalty | None) -> None:
    await people.order(Role.CHIEF, "approve", ruling=name, penalty=penalty)


async def _by_word(people: People, name: str, penalty: Penalty | None) -> None:
    await people.order(Role.REFEREE, "approve", ruling=name, verbal=True, by="Chen")
    await people.order(Role.CHIEF, "confirm_verbal", ruling=name)


def _approved(table: Table, name: str, other: PenaltyProposal | None) -> None:
    table.does(match_events.RulingApproved, id=name, by="chief", role=Role.CHIEF, proposal=other)


def _rejected(table: Table, name: str, other: PenaltyProposal | None) -> None:
    table.does(match_events.RulingRejected, id=name, by="chief", role=Role.CHIEF)


def _said(table: Table, name: str, other: PenaltyProposal | None) -> None:
    table.does(
        match_events.RulingApproved,
        id=name,
        by="Chen",
        role=Role.REFEREE,
        verbal=True,
        entered_by="referee",
        proposal=other,
    )
    table.does(match_events.VerbalRulingConfirmed, id=name, by="chief", role=Role.CHIEF)


_DECIDED: dict[str, Any] = {
    "approved": _approve,
    "rejected": _reject,
    "changed": _change,
    "by word": _by_word,
}
_EXPECTED: dict[str, Any] = {
    "approved": _approved,
    "rejected": _rejected,
    "changed": _approved,
    "by word": _said,
}


def correction(deal: int, order: str, choice: str = "from_now", at: str = "cut") -> Act:
    """The chief corrects an earlier deal's result."""

    async def do(people: People) -> None:
        seats = list(seats_of(order))
        said = {"deal": deal, "order": seats, "choice": choice, "reason": "wrong"}
        await people.order(Role.CHIEF, "adjust", **said)

    def expect(table: Table) -> None:
        table.corrected(deal, order, choice)
        assert table.refused is None

    return Act(at, do, expect)


def redeal() -> Act:
    """The chief has a deal that was led to dealt again."""

    async def do(people: People) -> None:
        await people.order(Role.CHIEF, "redeal", reason="cards were seen")

    def expect(table: Table) -> None:
        table.does(match_events.DealVoided, reason="cards were seen")

    return Act("play", do, expect)


def table_stopped(at: str = "play") -> Act:
    """A referee stops the table and lets it go on; then time is given back for it."""

    async def do(people: People) -> None:
        await people.order(Role.REFEREE, "hold", reason="spectators")
        assert people.match.suspended == "spectators"
        await people.order(Role.REFEREE, "resume")
        await people.order(Role.REFEREE, "add_time", seconds=60)

    def expect(table: Table) -> None:
        table.does(match_events.TableSuspended, reason="spectators").does(match_events.TableResumed)
        table.does(match_events.TimeAdded, seconds=60, role=Role.REFEREE)

    return Act(at, do, expect)


def area_stopped(at: str = "play") -> Act:
    """The chief stops the whole area and lets it go on; a referee cannot."""

    async def do(people: People) -> None:
        refused = await people.ask(Role.REFEREE, "hold", reason="alarm", area=True)
        assert refused.error is not None
        assert refused.error.code == "NEEDS_CHIEF"
        await people.order(Role.CHIEF, "hold", reason="alarm", area=True)
        if at == "held":
            released = await people.ask(Role.REFEREE, "release")
            assert released.error is not None
            assert released.error.code == "AREA_STOPPED"
        await people.order(Role.CHIEF, "resume", area=True)

    def expect(table: Table) -> None:
        table.does(match_events.AreaPaused).does(match_events.AreaResumed)

    return Act(at, do, expect)


def clock_called(seat: Seat) -> Act:
    """A referee starts a player's clock; he plays after the warning, by his green button."""

    async def do(people: People) -> None:
        await people.order(Role.REFEREE, "call_clock", seat=seat)
        (clock,) = (clock for clock in people.match.clocks if clock.duty == "play")
        assert (clock.seat, clock.running) == (seat, True)
        await people.until(lambda state: _calls(state, "play_warning"))
        await people.order(Role.REFEREE, "warn", seat=seat)
        await people.table.press(seat)
        await people.until(lambda state: not any(c.duty == "play" for c in state.match.clocks))
        assert not _calls(people.state, "play_warning")

    return Act("play", do, lambda table: None)


def _calls(state: Any, reason: str) -> bool:
    return any(call.reason == reason for call in state.calls)


def lid_opened() -> Act:
    """Somebody opens the lid over held hands: they are void, and dealt again."""

    async def do(people: People) -> None:
        attempt = people.state.machine.attempt
        await people.table.lid(is_open=True)
        await people.until(lambda state: _outcome(state, attempt) == "void")
        await people.table.lid(is_open=False)

    def expect(table: Table) -> None:
        table.does(match_events.AttemptFailed, reasons=("LID_OPENED",))

    return Act("held", do, expect)


def time_passes(minutes: float, at: str = "play") -> Act:
    """Nothing happens for a long time."""

    async def do(people: People) -> None:
        await asyncio.sleep(60 * minutes)

    return Act(at, do, lambda table: table.tick(minutes=minutes))


def stopped_for(minutes: float, at: str = "play") -> Act:
    """A referee stops the table for so long, and says nothing of the time that it lost."""

    async def do(people: People) -> None:
        await people.order(Role.REFEREE, "hold", reason="called")
        await asyncio.sleep(60 * minutes)
        await people.order(Role.REFEREE, "resume")

    def expect(table: Table) -> None:
        table.does(match_events.TableSuspended, reason="called").tick(minutes=minutes)
        table.does(match_events.TableResumed).does(
            match_events.TimeAdded, seconds=0, role=Role.REFEREE
        )

    return Act(at, do, expect)


def default(side: Side) -> Act:
    """A pair does not come; the chief lets it lose the match (弃权)."""

    async def do(people: People) -> None:
        await people.order(Role.CHIEF, "forfeit", side=side, reason="they did not come")

    def expect(table: Table) -> None:
        seat: Seat = "N" if side == "NS" else "E"
        charge = msgspec.structs.replace(
            charge_of(table.state, seat, "default"),
            seat=None,
            person=None,
            pointed_out_by="referee",
        )
        legal = legal_proposals(table.match, charge)
        (lost,) = (proposal for proposal in legal if proposal.penalty == "match_forfeit")
        table.does(match_events.RulingProposed, id="R1", charge=charge, proposal=lost, by="chief")
        table.approved("R1")

    return Act("setup", do, expect)


def _outcome(state: Any, attempt: int | None) -> str | None:
    return next((proof.outcome for proof in state.fairness if proof.attempt == attempt), None)
