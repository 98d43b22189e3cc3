"""The table's state as a fold over its journal: one function per kind of entry.

Nothing else changes it. What runs live beside it (cards fed so far) is put on
top when the state is published (public.py).
"""

from collections.abc import Callable
from typing import Any

import msgspec

from controller.journal.entries import Entry
from controller.machine.alerts import alert
from controller.messages import (
    Alert,
    Call,
    Counters,
    Fairness,
    Landed,
    Outcome,
    Phase,
    Reveal,
    Seat,
)

SHOWN_PROOFS = 8
"""Attempts whose proofs stand in the public state; the others are in the event log."""
REMEMBERED_ANSWERS = 1000
"""Commands whose ids are known again; a client repeats one within seconds."""

FaultKey = tuple[str, str]


class TableState(msgspec.Struct, frozen=True, kw_only=True):
    """Where the table is. `attempts` is the highest number ever given to an attempt.

    `misdeals_in_a_row` counts the attempts of the present deal that gave no hands.
    `faults` are latched, by name and board; `calls` are seats that wait for the referee;
    `answers` are by signer and id of a command.
    """

    phase: Phase = Phase.EMPTY
    deal: int | None = None
    attempt: int | None = None
    attempts: int = 0
    outcome: Outcome | None = None
    misdeals_in_a_row: int = 0
    fed: int = 0
    refed: int = 0
    landed: Landed | None = None
    leader: Seat | None = None
    turned_up: str | None = None
    proofs: tuple[Fairness, ...] = ()
    faults: dict[FaultKey, Alert] = {}
    calls: tuple[Call, ...] = ()
    answers: dict[tuple[str, str], dict[str, Any]] = {}
    counters: Counters = Counters()

    @property
    def unfinished(self) -> bool:
        """Whether an attempt was begun whose verdict is not written."""
        return self.attempt is not None and self.outcome is None


def fold(state: TableState, entry: Entry) -> TableState:
    """Return the state after an entry; kinds that change nothing of it are passed over."""
    change = _CHANGES.get(entry.kind)
    return state if change is None else change(state, entry)


def _with(state: TableState, **changes: Any) -> TableState:
    return msgspec.structs.replace(state, **changes)


def _proof(state: TableState, **changes: Any) -> tuple[Fairness, ...]:
    """Return the proofs with the newest one changed."""
    return (*state.proofs[:-1], msgspec.structs.replace(state.proofs[-1], **changes))


def _committed(state: TableState, entry: Entry) -> TableState:
    assert entry.deal is not None
    assert entry.attempt is not None
    proof = Fairness(deal=entry.deal, attempt=entry.attempt, commitment=entry.data["commitment"])
    return _with(
        state,
        phase=Phase.COMMITTED,
        deal=entry.deal,
        attempt=entry.attempt,
        attempts=entry.attempt,
        outcome=None,
        misdeals_in_a_row=state.misdeals_in_a_row if entry.deal == state.deal else 0,
        fed=0,
        refed=0,
        landed=None,
        leader=None,
        turned_up=None,
        proofs=(*state.proofs, proof)[-SHOWN_PROOFS:],
    )


def _cut(state: TableState, entry: Entry) -> TableState:
    cut = entry.data["cut"]
    return _with(state, phase=Phase.CUT, proofs=_proof(state, cut=cut, uncut=cut is None))


def _verdict(state: TableState, entry: Entry) -> TableState:
    data = entry.data
    outcome = Outcome(data["outcome"])
    ok = outcome is Outcome.OK
    counters = state.counters
    changed = msgspec.structs.replace(
        counters,
        redeals=counters.redeals + (outcome is Outcome.MISDEAL),
        voids=counters.voids + (outcome is Outcome.VOID),
        misreads=counters.misreads + data["refed"],
        jams=counters.jams + ("JAM" in data["reasons"]),
    )
    return _with(
        state,
        phase=Phase.HELD if ok else Phase.EMPTY,
        outcome=outcome,
        misdeals_in_a_row=state.misdeals_in_a_row + (not ok),
        fed=data["fed"],
        refed=data["refed"],
        landed=msgspec.convert(data["landed"], Landed),
        proofs=_proof(state, outcome=outcome, reasons=list(data["reasons"])),
        counters=changed,
    )


def _withdrawn(state: TableState, entry: Entry) -> TableState:
    counters = msgspec.structs.replace(state.counters, voids=state.counters.voids + 1)
    reasons = list(entry.data["reasons"])
    return _with(
        state,
        phase=Phase.EMPTY,
        outcome=Outcome.VOID,
        misdeals_in_a_row=state.misdeals_in_a_row + 1,
        proofs=_proof(state, outcome=Outcome.VOID, reasons=reasons),
        counters=counters,
    )


def _released(state: TableState, entry: Entry) -> TableState:
    counters = msgspec.structs.replace(state.counters, deals=state.counters.deals + 1)
    return _with(
        state,
        phase=Phase.RELEASED,
        misdeals_in_a_row=0,
        counters=counters,
        leader=entry.data.get("leader"),
        turned_up=entry.data.get("turned_up"),
    )


def _revealed(state: TableState, entry: Entry) -> TableState:
    reveal = Reveal(seed=entry.data["seed"], cut=entry.data["cut"])
    return _with(state, phase=Phase.EMPTY, proofs=_proof(state, reveal=reveal))


def _fault(state: TableState, entry: Entry) -> TableState:
    data = entry.data
    shown = alert(data["name"], entry.time, data.get("evidence"))
    return _with(state, faults=state.faults | {_fault_key(data): shown})


def _fault_cleared(state: TableState, entry: Entry) -> TableState:
    gone = _fault_key(entry.data)
    return _with(state, faults={key: row for key, row in state.faults.items() if key != gone})


def _fault_key(data: dict[str, Any]) -> FaultKey:
    return data["name"], data.get("evidence", {}).get("board", "")


def _call(state: TableState, entry: Entry) -> TableState:
    seat = entry.data["seat"]
    if any(call.seat == seat for call in state.calls):
        return state
    call = Call(seat=seat, reason=entry.data["reason"], since=entry.time)
    return _with(state, calls=(*state.calls, call))


def _call_ended(state: TableState, entry: Entry) -> TableState:
    seat = entry.data["seat"]
    return _with(state, calls=tuple(call for call in state.calls if call.seat != seat))


def _command(state: TableState, entry: Entry) -> TableState:
    data = entry.data
    answers = dict(list(state.answers.items())[1 - REMEMBERED_ANSWERS :])
    answers[data["key"], data["id"]] = data
    return _with(state, answers=answers)


_CHANGES: dict[str, Callable[[TableState, Entry], TableState]] = {
    "committed": _committed,
    "cut": _cut,
    "begun": lambda state, entry: _with(state, phase=Phase.SHUFFLING),
    "shuffled": lambda state, entry: _with(state, phase=Phase.DEALING),
    "held": lambda state, entry: _with(state, proofs=_proof(state, hands=entry.data["hands"])),
    "verdict": _verdict,
    "withdrawn": _withdrawn,
    "released": _released,
    "revealed": _revealed,
    "closed": lambda state, entry: _with(state, phase=Phase.EMPTY),
    "fault": _fault,
    "fault_cleared": _fault_cleared,
    "call": _call,
    "call_ended": _call_ended,
    "command": _command,
}
