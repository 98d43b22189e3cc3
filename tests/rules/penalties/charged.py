"""Charges, records and what they lead to, in a line each."""

from typing import Any

from controller.messages import Seat
from controller.rules.match_standing import MatchStanding, PerSide, apply_level_penalty
from controller.rules.penalties.charges import Charge
from controller.rules.penalties.penalty_record import Penalty, PenaltyEntry, PenaltyRecord
from controller.rules.penalties.proposals import (
    LevelDown,
    LevelUp,
    PenaltyProposal,
    propose_penalties,
)
from controller.rules.profile import GuandanProfile
from controller.seats import side_of
from tests.guandan import load_guandan

INTERNATIONAL = load_guandan("international-000")
HUAIAN = load_guandan("huaian-2017-001")
HUAINAN = load_guandan("huainan-2013-003")
BCTA = load_guandan("bcta-004")


WHERE: dict[str, Any] = {
    "person": "Dong",
    "pair": "7",
    "event": "cup",
    "round": 1,
    "match": "1",
    "deal": 1,
    "at_ms": 60_000,
}


def placed(offence: str, said: dict[str, Any]) -> dict[str, Any]:
    seat: Seat | None = said.get("seat", "E")
    side = side_of(seat) if seat else "EW"
    return {**WHERE, "offence": offence, "seat": seat, "side": side, **said}


def charge(offence: str, **said: Any) -> Charge:
    return Charge(**{"pointed_out_by": "N", **placed(offence, said)})


def entry(penalty: Penalty, offence: str, **said: Any) -> PenaltyEntry:
    return PenaltyEntry(penalty=penalty, article=None, **placed(offence, said))


def answers(
    profile: GuandanProfile, offence: str, record: PenaltyRecord = (), **said: Any
) -> tuple[PenaltyProposal, ...]:
    return propose_penalties(profile, record, charge(offence, **said))


def ladder(
    profile: GuandanProfile, offence: str, record: PenaltyRecord = (), **said: Any
) -> Penalty:
    return answers(profile, offence, record, **said)[0].penalty


def moved(profile: GuandanProfile, levels: PerSide, proposal: PenaltyProposal) -> PerSide:
    standing = MatchStanding(levels=levels)
    for effect in proposal.effects:
        if isinstance(effect, LevelUp):
            standing = apply_level_penalty(profile, standing, effect.side, effect.steps, 1)
        elif isinstance(effect, LevelDown):
            standing = apply_level_penalty(profile, standing, effect.side, -effect.steps, 1)
    return standing.levels
