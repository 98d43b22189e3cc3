"""Samples of every kind of event of a match. Some of them are right at a table, some are wrong."""

from typing import Any

from controller.match import match_events
from controller.messages import Role
from controller.seats import SEATS

from .refusal_scenes import decision, illegal

CHIEFS: dict[str, Any] = {"by": "chief", "role": Role.CHIEF}
REFEREES: dict[str, Any] = {"by": "Ref", "role": Role.REFEREE}

SAMPLES: dict[type[match_events.MatchEventBase], tuple[dict[str, Any], ...]] = {
    match_events.SeatTaken: ({"seat": "N"}, {"seat": "E", "person": "Eve"}),
    match_events.MatchStarted: ({},),
    match_events.HandDealOrdered: ({"reason": "jam"},),
    match_events.SetShuffled: ({"seat": "N"}, {"seat": "W"}),
    match_events.SetCut: (
        {},
        {"seat": "S", "n": 40},
        {"seat": "N", "n": 40},
        {"seat": "W", "n": 40, "ahead": True},
        {"n": 108},
    ),
    match_events.CardTurnedUp: ({"card": "♠7"}, {"card": "BJ"}, {"card": "?"}),
    match_events.HandsDealt: ({}, {"turned_to": "E", "turned_up": "♠7"}),
    match_events.AttemptFailed: ({"reasons": ("COUNT_SHORT",)},),
    match_events.ReleaseOrdered: ({},),
    match_events.HandsReleased: ({}, {"turned_to": "E", "turned_up": "♠7"}, {"turned_up": "BJ"}),
    match_events.HandCounted: ({"seat": "N"},),
    match_events.CountClaimed: ({"seat": "W"},),
    match_events.HandsRecounted: (
        {"counts": dict.fromkeys(SEATS, 27)},
        {"counts": dict.fromkeys(SEATS, 27), "found": True},
        {"counts": {}},
        {"counts": {"N": 1}},
    ),
    match_events.DealVoided: tuple({"reason": "x"} | by for by in (CHIEFS, REFEREES)),
    match_events.AntiTributeAnswered: ({"stands": True}, {"stands": False}),
    match_events.TributeLaid: ({"seat": "W"}, {"seat": "N"}),
    match_events.TributeValued: (
        {"values": {"W": 14, "E": 14}},
        {"values": {}},
        {"values": {"W": 99}},
    ),
    match_events.TributeChosen: ({"payer": "E"}, {"payer": "N"}),
    match_events.ReturnLaid: ({"seat": "N", "value": 5}, {"seat": "S"}, {"seat": "N", "value": -1}),
    match_events.ReturnCorrected: (
        {"seat": "N", "value": 9},
        {"seat": "S"},
        {"seat": "N", "value": 99},
    ),
    match_events.ReturnsSwapped: ({},),
    match_events.LeadMade: ({},),
    match_events.OutClaimed: ({"seat": "N"}, {"seat": "E"}),
    match_events.OutConfirmed: ({"seat": "N"},),
    match_events.OutWithdrawn: ({"seat": "N"}, {"seat": "W"}),
    match_events.ResultEntered: (
        {"order": ("N", "S")},
        {"order": ("W", "N", "E"), "ended_ms": 0},
        {"order": ()},
        {"order": ("N",) * 4},
    ),
    match_events.CardsLeftEntered: ({"left": {"N": 0, "W": 1, "S": 1, "E": 1}}, {"left": {}}),
    match_events.ChoiceAnswered: ({"seat": "N", "yes": True},),
    match_events.ResultConfirmed: ({"by": "NS"}, {"by": "referee"}),
    match_events.LeaderNamed: ({"seat": "N"}, {"seat": "W"}),
    match_events.ExtraDealOrdered: tuple({"reason": "equal"} | by for by in (CHIEFS, REFEREES)),
    match_events.DealStopped: ({"reason": "time"} | REFEREES,),
    match_events.ResultCorrected: tuple(
        {"deal": deal, "order": order, "choice": choice, "reason": "x"} | CHIEFS
        for deal in (0, 1, 2)
        for order in (("W", "E"), ("N", "W", "S"), ())
        for choice in ("from_now", "void_later", "stand")
    ),
    match_events.CorrectionConfirmed: (
        {"row": 2, "deal": 1} | CHIEFS,
        {"row": 99, "deal": 9} | CHIEFS,
    ),
    match_events.TableSuspended: ({"reason": "called"},),
    match_events.TableResumed: ({},),
    match_events.AreaPaused: ({},),
    match_events.AreaResumed: ({},),
    match_events.TimeAdded: tuple({"seconds": s, "role": Role.CHIEF} for s in (60, 0, -9999)),
    match_events.PlayClockStarted: ({"seat": "N"},),
    match_events.PlayMade: ({"seat": "N"},),
    match_events.PlayerWarned: ({"seat": "N"},),
    match_events.TimePassed: ({},),
    match_events.RulingProposed: (illegal(),),
    match_events.RulingApproved: tuple(decision(id=name) for name in ("R1", "R2", "R3", "R4", "?")),
    match_events.RulingRejected: tuple(decision(id=name) for name in ("R1", "R2", "R3", "R4", "?")),
    match_events.VerbalRulingConfirmed: (decision(),),
    match_events.SheetSigned: ({"signer": "NS", "person": "Nan"}, {"signer": "?", "person": "?"}),
}
"""Something of every kind, right or wrong."""
