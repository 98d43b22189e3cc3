"""Samples of every kind of event of a match. Some of them are right at a table, some are wrong."""

from typing import Any

from controller.match import events
from controller.messages import Role
from controller.rules.seats import SEATS

from .refusal_scenes import decision, illegal

CHIEFS: dict[str, Any] = {"by": "chief", "role": Role.CHIEF}
REFEREES: dict[str, Any] = {"by": "Ref", "role": Role.REFEREE}

SAMPLES: dict[type[events.MatchEventBase], tuple[dict[str, Any], ...]] = {
    events.SeatTaken: ({"seat": "N"}, {"seat": "E", "person": "Eve"}),
    events.MatchStarted: ({},),
    events.HandDealOrdered: ({"reason": "jam"},),
    events.SetShuffled: ({"seat": "N"}, {"seat": "W"}),
    events.SetCut: (
        {},
        {"seat": "S", "n": 40},
        {"seat": "N", "n": 40},
        {"seat": "W", "n": 40, "ahead": True},
        {"n": 108},
    ),
    events.CardTurnedUp: ({"card": "♠7"}, {"card": "BJ"}, {"card": "?"}),
    events.HandsDealt: ({}, {"turned_to": "E", "turned_up": "♠7"}),
    events.AttemptFailed: ({"reasons": ("COUNT_SHORT",)},),
    events.ReleaseOrdered: ({},),
    events.HandsReleased: ({}, {"turned_to": "E", "turned_up": "♠7"}, {"turned_up": "BJ"}),
    events.HandCounted: ({"seat": "N"},),
    events.CountClaimed: ({"seat": "W"},),
    events.HandsRecounted: (
        {"counts": dict.fromkeys(SEATS, 27)},
        {"counts": dict.fromkeys(SEATS, 27), "found": True},
        {"counts": {}},
        {"counts": {"N": 1}},
    ),
    events.DealVoided: tuple({"reason": "x"} | by for by in (CHIEFS, REFEREES)),
    events.AntiTributeAnswered: ({"stands": True}, {"stands": False}),
    events.TributeLaid: ({"seat": "W"}, {"seat": "N"}),
    events.TributeValued: ({"values": {"W": 14, "E": 14}}, {"values": {}}, {"values": {"W": 99}}),
    events.TributeChosen: ({"payer": "E"}, {"payer": "N"}),
    events.ReturnLaid: ({"seat": "N", "value": 5}, {"seat": "S"}, {"seat": "N", "value": -1}),
    events.ReturnCorrected: ({"seat": "N", "value": 9}, {"seat": "S"}, {"seat": "N", "value": 99}),
    events.ReturnsSwapped: ({},),
    events.LeadMade: ({},),
    events.OutClaimed: ({"seat": "N"}, {"seat": "E"}),
    events.OutConfirmed: ({"seat": "N"},),
    events.OutWithdrawn: ({"seat": "N"}, {"seat": "W"}),
    events.ResultEntered: (
        {"order": ("N", "S")},
        {"order": ("W", "N", "E"), "ended_ms": 0},
        {"order": ()},
        {"order": ("N",) * 4},
    ),
    events.CardsLeftEntered: ({"left": {"N": 0, "W": 1, "S": 1, "E": 1}}, {"left": {}}),
    events.ChoiceAnswered: ({"seat": "N", "yes": True},),
    events.ResultConfirmed: ({"by": "NS"}, {"by": "referee"}),
    events.LeaderNamed: ({"seat": "N"}, {"seat": "W"}),
    events.ExtraDealOrdered: tuple({"reason": "equal"} | by for by in (CHIEFS, REFEREES)),
    events.DealStopped: ({"reason": "time"} | REFEREES,),
    events.ResultCorrected: tuple(
        {"deal": deal, "order": order, "choice": choice, "reason": "x"} | CHIEFS
        for deal in (0, 1, 2)
        for order in (("W", "E"), ("N", "W", "S"), ())
        for choice in ("from_now", "void_later", "stand")
    ),
    events.CorrectionConfirmed: ({"row": 2, "deal": 1} | CHIEFS, {"row": 99, "deal": 9} | CHIEFS),
    events.TableSuspended: ({"reason": "called"},),
    events.TableResumed: ({},),
    events.AreaPaused: ({},),
    events.AreaResumed: ({},),
    events.TimeAdded: tuple({"seconds": s, "role": Role.CHIEF} for s in (60, 0, -9999)),
    events.PlayClockStarted: ({"seat": "N"},),
    events.PlayMade: ({"seat": "N"},),
    events.PlayerWarned: ({"seat": "N"},),
    events.TimePassed: ({},),
    events.RulingProposed: (illegal(),),
    events.RulingApproved: tuple(decision(id=name) for name in ("R1", "R2", "R3", "R4", "?")),
    events.RulingRejected: tuple(decision(id=name) for name in ("R1", "R2", "R3", "R4", "?")),
    events.VerbalRulingConfirmed: (decision(),),
    events.SheetSigned: ({"signer": "NS", "person": "Nan"}, {"signer": "?", "person": "?"}),
}
"""Something of every kind, right or wrong."""
