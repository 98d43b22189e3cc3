"""The public state, from the folded one: what anybody on the feed may know.

While cards are dealt only the number fed is told: pocket counts ten times a
second would tell nearly every card's pocket.
"""

import msgspec

from controller.machine.state import TableState
from controller.messages import Machine, Match, Phase, State

# Faults that call a person but stop nothing.
_CALLS_ONLY = frozenset({"CUT_LATE", "TWO_MISDEALS", "PANEL_LOST", "KEY_REFUSED"})
_HANDS_SAFE = frozenset({Phase.HELD, Phase.RELEASED})


class About(msgspec.Struct, frozen=True, kw_only=True):
    """What never changes while the daemon runs."""

    table: str
    boot: str
    simulated: bool
    profile: str
    card_set: str


def shown_phase(state: TableState, *, boards_up: bool) -> Phase:
    """Return the phase that people see: a fault hides every phase but safe hands.

    `boards_up`: both boards answer and are the right ones.
    """
    stopped = not boards_up or any(name not in _CALLS_ONLY for name, _ in state.faults)
    return Phase.FAULT if stopped and state.phase not in _HANDS_SAFE else state.phase


def public_state(
    about: About,
    state: TableState,
    phase: Phase,
    *,
    seq: int,
    time: str,
    head: bytes,
    fed: int,
) -> State:
    """Return the whole public state. `fed` runs live while cards are dealt."""
    machine = Machine(
        phase=phase,
        deal=state.deal,
        attempt=state.attempt,
        fed=fed if state.unfinished else state.fed,
        refed=state.refed,
        landed=state.landed,
        card_set=about.card_set,
    )
    match = Match(
        profile=about.profile,
        deal=state.deal,
        leader=state.leader,
        turned_up=state.turned_up,
    )
    return State(
        table=about.table,
        boot=about.boot,
        seq=seq,
        time=time,
        simulated=about.simulated,
        mode="play",
        machine=machine,
        match=match,
        fairness=list(state.proofs),
        head=head.hex(),
        alerts=sorted(state.faults.values(), key=lambda alert: (alert.since, alert.code)),
        calls=list(state.calls),
        counters=state.counters,
    )
