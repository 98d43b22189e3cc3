"""The public state, from the folded one: what anybody on the feed may know.

While cards are dealt only the number fed is told: pocket counts ten times a
second would tell nearly every card's pocket.
"""

from collections.abc import Sequence
from typing import Literal

import msgspec

from controller.machine.play.values import TableMatch
from controller.machine.public.calls import public_calls
from controller.machine.public.match import public_match
from controller.machine.state import TableState
from controller.messages import (
    MachinePhase,
    ProgramRelease,
    PublicMachine,
    PublicState,
    ReportedBoards,
    Seat,
    SignedHead,
)


class RunIdentity(msgspec.Struct, frozen=True, kw_only=True):
    """What never changes while the daemon runs; `release`: None where it has no manifest."""

    table: str
    boot: str
    simulated: bool
    profile: str
    card_set: str
    mode: Literal["play", "test"] = "play"
    release: ProgramRelease | None = None


def public_state(
    about: RunIdentity,
    state: TableState,
    play: TableMatch,
    phase: MachinePhase,
    *,
    seq: int,
    time: str,
    now_ms: int,
    head: bytes,
    signed: SignedHead | None = None,
    boards: ReportedBoards | None = None,
    fed: int,
    counter: int | None,
    card_set: str | None = None,
    cutters: Sequence[Seat] = (),
    ready_in_s: float | None = None,
) -> PublicState:
    """Return the whole public state.

    `phase` is the one that people see (stops.py). `head` is the journal's, `signed` the last one
    that was signed; `boards` say which firmware they run. `fed` runs live while cards are dealt,
    `counter` while a cut is waited for; `now_ms` is the table's clock. `card_set` is dealt with
    next or now, `cutters` may cut now, and `ready_in_s` is the estimate while cards are dealt: a
    machine that stands promises nothing.
    """
    machine = PublicMachine(
        phase=phase,
        deal=state.deal,
        attempt=state.attempt,
        of_deal=None if state.deal is None else state.attempts_by_deal.get(state.deal),
        fed=fed if state.is_unfinished else state.fed,
        refed=state.refed,
        landed=state.landed,
        card_set=card_set or state.loaded_set or about.card_set,
        set_out=None if state.set_in_play is None else state.set_in_play.card_set,
        cutters=list(cutters) if state.phase is MachinePhase.COMMITTED else [],
        ready_in_s=ready_in_s if phase is MachinePhase.DEALING and not state.pauses else None,
        due_to_ready_ms=None
        if state.waiting_times is None
        else state.waiting_times.due_to_ready_ms,
        ready_to_button_ms=None
        if state.waiting_times is None
        else state.waiting_times.ready_to_button_ms,
        counter=counter,
        pauses=dict(state.pauses),
    )
    match = public_match(
        play,
        profile=about.profile,
        now_ms=now_ms,
        deal=state.deal,
        leader=state.leader,
        turned_up=state.turned_up,
    )
    return PublicState(
        table=about.table,
        boot=about.boot,
        seq=seq,
        time=time,
        simulated=about.simulated,
        mode=about.mode,
        machine=machine,
        match=match,
        fairness=list(state.proofs),
        head=head.hex(),
        signed=signed,
        release=about.release,
        boards=boards or ReportedBoards(),
        alerts=list(state.faults.values()),  # in the order in which they came: the cause first
        calls=public_calls(state.calls, play.match_calls),
        sets=list(state.sets.values()),
        counters=state.counters,
    )
