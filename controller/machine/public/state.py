"""The public state, from the folded one: what anybody on the feed may know.

While cards are dealt only the number fed is told: pocket counts ten times a
second would tell nearly every card's pocket.
"""

from collections.abc import Sequence
from typing import Literal

import msgspec

from controller.machine.play import Play
from controller.machine.public.calls import public_calls
from controller.machine.public.match import public_match
from controller.machine.state import TableState
from controller.messages import Boards, Machine, Phase, Release, Seat, SignedHead, State


class About(msgspec.Struct, frozen=True, kw_only=True):
    """What never changes while the daemon runs; `release`: None where it has no manifest."""

    table: str
    boot: str
    simulated: bool
    profile: str
    card_set: str
    mode: Literal["play", "test"] = "play"
    release: Release | None = None


def public_state(
    about: About,
    state: TableState,
    play: Play,
    phase: Phase,
    *,
    seq: int,
    time: str,
    now_ms: int,
    head: bytes,
    signed: SignedHead | None = None,
    boards: Boards | None = None,
    fed: int,
    counter: int | None,
    card_set: str | None = None,
    cutters: Sequence[Seat] = (),
    ready_in_s: float | None = None,
) -> State:
    """Return the whole public state.

    `phase` is the one that people see (stops.py). `head` is the journal's, `signed` the last one
    that was signed; `boards` say which firmware they run. `fed` runs live while cards are dealt,
    `counter` while a cut is waited for; `now_ms` is the table's clock. `card_set` is dealt with
    next or now, `cutters` may cut now, and `ready_in_s` is the estimate while cards are dealt: a
    machine that stands promises nothing.
    """
    machine = Machine(
        phase=phase,
        deal=state.deal,
        attempt=state.attempt,
        of_deal=None if state.deal is None else state.tried.get(state.deal),
        fed=fed if state.unfinished else state.fed,
        refed=state.refed,
        landed=state.landed,
        card_set=card_set or state.loaded or about.card_set,
        set_out=None if state.out is None else state.out.card_set,
        cutters=list(cutters) if state.phase is Phase.COMMITTED else [],
        ready_in_s=ready_in_s if phase is Phase.DEALING and not state.pauses else None,
        due_to_ready_ms=None if state.waited is None else state.waited.due_to_ready_ms,
        ready_to_button_ms=None if state.waited is None else state.waited.ready_to_button_ms,
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
    return State(
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
        boards=boards or Boards(),
        alerts=list(state.faults.values()),  # in the order in which they came: the cause first
        calls=public_calls(state.calls, play.needs),
        sets=list(state.sets.values()),
        counters=state.counters,
    )
