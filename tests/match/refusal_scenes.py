"""For every refusal of a match: a table at which it is given, and the event that is refused."""

from collections.abc import Callable
from typing import Any

import msgspec

from controller.match import match_events
from controller.match.ruling_desk import legal_proposals
from controller.messages import Role, Seat
from controller.rules.penalties.proposals import discretionary_proposal

from .people import charge_of
from .table import N, Table, choosing, timed


class Asked(msgspec.Struct, frozen=True):
    """What somebody asks for at a table where it cannot be."""

    table: Callable[[], Table]
    kind: type[match_events.MatchEventBase]
    said: dict[str, Any] = {}


def in_play() -> Table:
    return Table().started().in_play()


def _charged() -> Table:
    return in_play().charged("N", "foul")


def _dead_too_early() -> Table:
    table = Table().started().played("NS").released()
    charge = charge_of(table.state, "W", "wrong_tribute_in_play")
    return table.proposed(charge, legal_proposals(table.match, charge)[0])


def _over() -> Table:
    return Table(timed()).started().played("NS").at_minute(60)


def decision(**said: Any) -> dict[str, Any]:
    return {"id": "R1", "by": "Ref", "role": Role.CHIEF} | said


def wrong_card(table: Table, seat: Seat, offence: str) -> dict[str, Any]:
    """A charge of a wrong tribute or return."""
    charge = charge_of(table.state, seat, offence)
    proposal = legal_proposals(table.match, charge)[0]
    return {"id": "R1", "charge": charge, "proposal": proposal, "by": "Ref"}


def returned() -> Table:
    """Both returns of a double-down are given: any card is right."""
    return Table().started().played("NS").in_play()


def illegal() -> dict[str, Any]:
    """A penalty under the name of an offence that there is not."""
    match = in_play().match
    charge = charge_of(match, "N", "other")
    proposal = discretionary_proposal(match.profile, charge, "foul")
    unknown = msgspec.structs.replace(charge, offence="no_such_thing")
    return {"id": "R1", "charge": unknown, "proposal": proposal, "by": "Ref"}


REFUSED: dict[str, Asked] = {
    "WRONG_PHASE": Asked(in_play, match_events.HandsReleased),
    "SUSPENDED": Asked(
        lambda: in_play().does(match_events.TableSuspended, reason="x"), match_events.LeadMade
    ),
    "NOT_SUSPENDED": Asked(in_play, match_events.TableResumed),
    "SEAT_TAKEN": Asked(lambda: Table().seated("E"), match_events.SeatTaken, {"seat": "E"}),
    "NOT_HIS_DUTY": Asked(lambda: Table().started(), match_events.SetCut, {"seat": "N", "n": 40}),
    "ILLEGAL_CUT": Asked(lambda: Table().started(), match_events.SetCut, {"seat": "S", "n": 5}),
    "NO_SUCH_CARD": Asked(
        lambda: Table().started().does(match_events.HandDealOrdered, reason="jam").cut(),
        match_events.CardTurnedUp,
        {"card": "♠1"},
    ),
    "TURNED_TO_MISSING": Asked(
        lambda: Table().started().cut().does(match_events.HandsDealt), match_events.HandsReleased
    ),
    "TWICE": Asked(
        lambda: Table().started().released().does(match_events.HandCounted, seat="W"),
        match_events.HandCounted,
        {"seat": "W"},
    ),
    "AFTER_LEAD": Asked(
        lambda: in_play().does(match_events.LeadMade), match_events.CountClaimed, {"seat": "N"}
    ),
    "VALUES_MISSING": Asked(
        lambda: Table().started().played("NS").laid(),
        match_events.TributeValued,
        {"values": {"W": 14}},
    ),
    "NOT_LAID": Asked(
        lambda: (
            Table()
            .started()
            .played("NS")
            .counted()
            .does(match_events.AntiTributeAnswered, stands=False)
        ),
        match_events.TributeValued,
        {"values": {"W": 14, "E": 13}},
    ),
    "NO_CHOICE": Asked(
        lambda: Table(N).started().played("NS").valued(14, 13),
        match_events.TributeChosen,
        {"payer": "E"},
    ),
    "VALUE_NEEDED": Asked(
        lambda: Table(N).started().played("NS").valued(14, 14),
        match_events.ReturnLaid,
        {"seat": "N"},
    ),
    "NO_FINISH_ORDER": Asked(in_play, match_events.ResultEntered, {"order": ("N", "W")}),
    "OTHER_SIDE": Asked(lambda: _charged().approved(), match_events.LeaderNamed, {"seat": "N"}),
    "NO_SUCH_DEAL": Asked(
        in_play,
        match_events.ResultCorrected,
        {"deal": 1, "order": ("N", "S"), "choice": "from_now", "reason": "x"},
    ),
    "NOT_EQUAL": Asked(_over, match_events.ExtraDealOrdered, {"reason": "x"}),
    "NOT_BEGUN": Asked(_dead_too_early, match_events.RulingApproved, decision()),
    "NO_CLOCK": Asked(
        lambda: Table(N).started().in_play(), match_events.PlayClockStarted, {"seat": "N"}
    ),
    "NO_SUCH_RULING": Asked(in_play, match_events.RulingApproved, decision()),
    "NOT_LEGAL": Asked(in_play, match_events.RulingProposed, illegal()),
    "NO_CARD_OF_HIS": Asked(
        returned, match_events.RulingProposed, wrong_card(returned(), "N", "wrong_tribute_in_play")
    ),
    "RETURN_IS_RIGHT": Asked(
        returned, match_events.RulingProposed, wrong_card(returned(), "N", "wrong_return_in_play")
    ),
    "NOT_A_REFEREE": Asked(_charged, match_events.RulingApproved, decision(role=Role.TABLE)),
    "NEEDS_CHIEF": Asked(_charged, match_events.RulingApproved, decision(role=Role.REFEREE)),
    "NOT_OPEN": Asked(lambda: _charged().overturned(), match_events.RulingRejected, decision()),
    "NOT_VERBAL": Asked(_charged, match_events.VerbalRulingConfirmed, decision()),
    "NO_SIGNER": Asked(_over, match_events.SheetSigned, {"signer": "N", "person": "Nan"}),
    "WRONG_COUNTS": Asked(
        lambda: Table().started().released().does(match_events.CountClaimed, seat="N"),
        match_events.HandsRecounted,
        {"counts": {"N": 28, "W": 28, "S": 28}},
    ),
    "OTHER_RULES": Asked(choosing, match_events.HandCounted, {"seat": "N"}),
    "IT_ENDED_A_DEAL": Asked(
        lambda: _charged().approved(), match_events.RulingRejected, decision()
    ),
    "AREA_STOPPED": Asked(
        lambda: Table().started().dealt().does(match_events.AreaPaused), match_events.HandsReleased
    ),
    "TURN_AGAIN": Asked(
        lambda: Table().started().cut(),
        match_events.HandsDealt,
        {"turned_to": "E", "turned_up": "BJ"},
    ),
    "TIME_ENDED_IT": Asked(
        lambda: Table(timed(at_time="stop_now")).started().in_play().at_minute(60).out("NS"),
        match_events.ResultConfirmed,
        {"by": "referee"},
    ),
    "ADDED_TIME_DUE": Asked(
        lambda: (
            Table(timed())
            .started()
            .does(match_events.TableSuspended, reason="x")
            .tick(minutes=1)
            .does(match_events.TableResumed)
            .dealt()
            .at_minute(60)
        ),
        match_events.HandsReleased,
    ),
    "NOT_STOPPED_BY_TIME": Asked(in_play, match_events.DealStopped, {"reason": "x"}),
    "MUCH_TIME": Asked(in_play, match_events.TimeAdded, {"seconds": 301, "role": Role.REFEREE}),
}
