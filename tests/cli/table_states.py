"""States of tables, as the feed has them."""

import msgspec

from controller.machine.public.public_state import RunIdentity, public_state
from controller.machine.state.table_match import TableMatch
from controller.machine.state.table_state import TableState
from controller.messages import MachinePhase, PublicMachine, PublicMatch, PublicState
from tests.table_doubles import STATE as EMPTY

MATCH = PublicMatch(
    profile="international-000",
    match="M1",
    table_no="7",
    game="guandan",
    phase="play",
    phase_en="play",
    phase_zh="打牌中",
    next_en="North leads",
    next_zh="请北家出牌",
    deal=2,
    level="5",
    levels={"NS": "5", "EW": "2"},
)
STATE = msgspec.structs.replace(
    EMPTY,
    machine=PublicMachine(phase=MachinePhase.RELEASED, deal=2, attempt=3, of_deal=1),
    match=MATCH,
)


def state(name: str, phase: MachinePhase = MachinePhase.DEALING, fed: int = 54) -> PublicState:
    """Return the state of a simulated table in a phase of its machine."""
    about = RunIdentity(table=name, boot="00", simulated=True, profile="p", card_set="S1")
    return public_state(
        about,
        TableState(),
        TableMatch(),
        phase,
        seq=1,
        time="",
        now_ms=0,
        head=b"",
        fed=fed,
        counter=None,
    )
