"""The table's state as a fold over its journal: one function for each kind of entry.

Only these functions change the state. Values without an entry, for example the cards fed so far,
are added when the state is published (public/public_state.py).
"""

from collections.abc import Callable
from typing import Any, TypeVar

import msgspec
from msgspec.structs import replace

from controller.journal.entries import JournalEntry
from controller.machine.state.card_sets import (
    replace_set,
    set_changes_of_attempt,
    set_of_attempt,
    sets_after_verdict,
)
from controller.machine.state.table_state import (
    MAX_SHOWN_PROOFS,
    FaultKey,
    HandViewed,
    PlayedAttempt,
    SetInPlay,
    TableState,
    alert,
    read_waiting_times,
)
from controller.messages import (
    AttemptOutcome,
    CardSetState,
    Fairness,
    LandedCards,
    MachinePhase,
    RefereeCall,
    Reveal,
    TableCounters,
)

_Row = TypeVar("_Row", Fairness, PlayedAttempt)
MAX_REMEMBERED_ANSWERS = 1000
"""Answers that are stored for repeated commands. A client repeats a command within seconds."""


def fold_state(state: TableState, entry: JournalEntry) -> TableState:
    """Return the table's state after `entry`. A kind of entry without a handler changes nothing."""
    change = _HANDLERS.get(entry.kind)
    return state if change is None else change(state, entry)


def _change_newest_proof(state: TableState, **changes: Any) -> tuple[Fairness, ...]:
    """Return the proofs in `state`, with `changes` made to the newest proof."""
    return (*state.proofs[:-1], replace(state.proofs[-1], **changes))


def _change_of_attempt(
    rows: tuple[_Row, ...], entry: JournalEntry, **changes: Any
) -> tuple[_Row, ...]:
    """Return `rows` (one for each attempt), with `changes` made to the row of this attempt."""
    return tuple(replace(row, **changes) if row.attempt == entry.attempt else row for row in rows)


def _on_committed(state: TableState, entry: JournalEntry) -> TableState:
    assert entry.deal is not None
    assert entry.attempt is not None
    tried = _count_attempt(state, entry)
    same = (state.match, state.deal) == (entry.data["match"], entry.deal)
    proof = Fairness(
        deal=entry.deal,
        attempt=entry.attempt,
        of_deal=tried[entry.deal],
        commitment=entry.data["commitment"],
    )
    return replace(
        state,
        phase=MachinePhase.COMMITTED,
        match=entry.data["match"],
        deal=entry.deal,
        attempt=entry.attempt,
        attempts=entry.attempt,
        attempts_by_deal=tried,
        outcome=None,
        misdeals_in_a_row=state.misdeals_in_a_row if same else 0,
        **set_changes_of_attempt(state, entry),
        fed=0,
        refed=0,
        landed=None,
        leader=None,
        turned_up=None,
        proofs=(*state.proofs, proof)[-MAX_SHOWN_PROOFS:],
        newest_attempt=PlayedAttempt(
            attempt=entry.attempt,
            deal=entry.deal,
            match=entry.data["match"],
            rules_hash=entry.data["profile_hash"],
            first_entry=state.newest_seed or entry.n,
        ),
    )


def _on_cut(state: TableState, entry: JournalEntry) -> TableState:
    cut = entry.data["cut"]
    proofs = _change_newest_proof(state, cut=cut, uncut=cut is None)
    return replace(state, phase=MachinePhase.CUT, proofs=proofs)


def _on_verdict(state: TableState, entry: JournalEntry) -> TableState:
    data = entry.data
    outcome = AttemptOutcome(data["outcome"])
    ok = outcome is AttemptOutcome.OK
    added = {
        "redeals": outcome is AttemptOutcome.MISDEAL,
        "voids": outcome is AttemptOutcome.VOID,
        "misreads": data["refed"],
        "jams": "JAM" in data["reasons"],
    }
    return replace(
        state,
        phase=MachinePhase.HELD if ok else MachinePhase.EMPTY,
        outcome=outcome,
        misdeals_in_a_row=0 if ok else state.misdeals_in_a_row + 1,
        fed=data["fed"],
        refed=data["refed"],
        landed=msgspec.convert(data["landed"], LandedCards),
        proofs=_change_newest_proof(state, outcome=outcome, reasons=list(data["reasons"])),
        counters=_count(state, **added),
        sets=sets_after_verdict(state, entry),
    )


def _count(state: TableState, **added: int) -> TableCounters:
    counters = state.counters
    return replace(counters, **{name: getattr(counters, name) + n for name, n in added.items()})


def _count_attempt(state: TableState, entry: JournalEntry) -> dict[int, int]:
    """Return the number of attempts at each of the last deals, including the entry's attempt."""
    deal = entry.deal or 0
    before = state.attempts_by_deal if state.match == entry.data["match"] else {}
    others = {each: n for each, n in before.items() if each != deal}
    return dict(list({**others, deal: before.get(deal, 0) + 1}.items())[-MAX_SHOWN_PROOFS:])


def _on_set_loaded(state: TableState, entry: JournalEntry) -> TableState:
    name, back = entry.data["set"], entry.data["back"]
    known = state.sets.get(name, CardSetState(id=name, back=back))
    return replace(state, loaded_set=name, used_set=None, sets=replace_set(state, known, back=back))


def _on_set_cleared(state: TableState, entry: JournalEntry) -> TableState:
    known = state.sets.get(entry.data["set"])
    if known is None:
        return state
    return replace(state, sets=replace_set(state, known, barred=[], cleared=known.cleared + 1))


def _on_recalled(state: TableState, entry: JournalEntry) -> TableState:
    reasons = list(entry.data["reasons"])
    now = entry.attempt == state.attempt  # If not, the next deal has begun already.
    return replace(
        state,
        counters=_count(state, redeals=1),
        proofs=_change_of_attempt(state.proofs, entry, recalled=reasons),
        sets=sets_after_verdict(state, entry),
        misdeals_in_a_row=state.misdeals_in_a_row + now,
        set_in_play=_set_still_in_play(state, entry),
        played_attempts=_remove_played(state, entry),
    )


def _on_pause_ended(state: TableState, entry: JournalEntry) -> TableState:
    ended = entry.data["reason"]
    return replace(state, pauses={why: by for why, by in state.pauses.items() if why != ended})


def _on_withdrawn(state: TableState, entry: JournalEntry) -> TableState:
    reasons = list(entry.data["reasons"])
    return replace(
        state,
        phase=MachinePhase.EMPTY,
        outcome=AttemptOutcome.VOID,
        misdeals_in_a_row=state.misdeals_in_a_row + 1,
        sets=sets_after_verdict(state, entry),
        proofs=_change_newest_proof(state, outcome=AttemptOutcome.VOID, reasons=reasons),
        counters=_count(state, voids=1),
    )


def _on_released(state: TableState, entry: JournalEntry) -> TableState:
    known, newest, sets = set_of_attempt(state, entry), state.newest_attempt, state.sets
    if known is not None:
        # The release is added to the history of the set.
        history = {"deals": known.deals + 1, "last_match": state.match, "last_deal": state.deal}
        sets = replace_set(state, known, **history)
    added = () if newest is None or newest.attempt != entry.attempt else (newest,)
    return replace(
        state,
        phase=MachinePhase.RELEASED,
        counters=_count(state, deals=1),
        sets=sets,
        leader=entry.data.get("leader"),
        turned_up=entry.data.get("turned_up"),
        set_in_play=None if known is None else SetInPlay(entry.attempt or 0, known.id),
        used_set=state.loaded_set if state.meeting_match == state.match else state.used_set,
        waiting_times=read_waiting_times(entry.data),
        played_attempts=(*state.played_attempts, *added),
    )


def _remove_played(state: TableState, entry: JournalEntry) -> tuple[PlayedAttempt, ...]:
    """Return all attempts in `played_attempts` except the entry's attempt.

    The record of this attempt is published now, or will never be published here.
    """
    return tuple(one for one in state.played_attempts if one.attempt != entry.attempt)


def _set_still_in_play(state: TableState, entry: JournalEntry) -> SetInPlay | None:
    """Return the set that players still have after this attempt, or None if they have no set."""
    out = state.set_in_play
    return None if out is not None and out.attempt == entry.attempt else out


def _on_revealed(state: TableState, entry: JournalEntry) -> TableState:
    reveal = Reveal(seed=entry.data["seed"], cut=entry.data["cut"])
    proofs = _change_of_attempt(state.proofs, entry, reveal=reveal)
    played = _change_of_attempt(state.played_attempts, entry, is_over=True)
    return _end_attempt(replace(state, proofs=proofs, played_attempts=played), entry)


def _end_attempt(state: TableState, entry: JournalEntry) -> TableState:
    """End the entry's attempt in `state`, and set phase EMPTY unless a later attempt has begun."""
    phase = MachinePhase.EMPTY if entry.attempt == state.attempt else state.phase
    return replace(state, phase=phase, set_in_play=_set_still_in_play(state, entry))


def _on_opened(state: TableState, entry: JournalEntry) -> TableState:
    """Add the configured sets of cards to the state, except the sets that the state already has."""
    backs = entry.data.get("sets", {})
    fresh = {name: CardSetState(id=name, back=back) for name, back in backs.items()}
    return replace(state, sets=fresh | state.sets)


def _on_fault(state: TableState, entry: JournalEntry) -> TableState:
    data = entry.data
    shown = alert(data["name"], entry.time, data.get("evidence"))
    return replace(state, faults=state.faults | {_fault_key(data): shown})


def _on_fault_cleared(state: TableState, entry: JournalEntry) -> TableState:
    gone = _fault_key(entry.data)
    return replace(state, faults={key: row for key, row in state.faults.items() if key != gone})


def _fault_key(data: dict[str, Any]) -> FaultKey:
    return data["name"], data.get("evidence", {}).get("board", "")


def _on_call(state: TableState, entry: JournalEntry) -> TableState:
    seat = entry.data["seat"]
    if any(call.seat == seat for call in state.calls):
        return state
    call = RefereeCall(seat=seat, reason=entry.data["reason"], since=entry.time)
    return replace(state, calls=(*state.calls, call))


def _on_command(state: TableState, entry: JournalEntry) -> TableState:
    data = {**state.kept_command, **entry.data}
    # The stored answer belongs to the command that used the id first.
    if data.get("refused") == "ID_TAKEN":
        return replace(state, kept_command={})
    answers = dict(list(state.answers.items())[1 - MAX_REMEMBERED_ANSWERS :])
    answers[data["key"], data["id"]] = data
    return replace(state, answers=answers, kept_command={})


def _on_answer(state: TableState, entry: JournalEntry) -> TableState:
    """Add the entry's sealed data to a command's stored answer. Only the sender can open them."""
    signed = (entry.data["key"], entry.data["id"])
    known = state.answers.get(signed)
    if known is None:
        return state
    result = {**known["result"], "sealed": entry.data["sealed"]}
    return replace(state, answers=state.answers | {signed: {**known, "result": result}})


def _on_opened_hand(state: TableState, entry: JournalEntry) -> TableState:
    opened = HandViewed(state.meeting_match, entry.deal, entry.data["key"], entry.data["by"])
    return replace(state, viewed_hands=(*state.viewed_hands, opened))


_HANDLERS: dict[str, Callable[[TableState, JournalEntry], TableState]] = {
    "committed": _on_committed,
    "cut": _on_cut,
    "begun": lambda state, entry: replace(state, phase=MachinePhase.SHUFFLING),
    "shuffled": lambda state, entry: replace(state, phase=MachinePhase.DEALING),
    "held": lambda state, entry: replace(
        state, proofs=_change_newest_proof(state, hands=entry.data["hands"])
    ),
    "verdict": _on_verdict,
    "withdrawn": _on_withdrawn,
    "released": _on_released,
    "revealed": _on_revealed,
    # The number of the attempt is used, even if no commitment follows its seed.
    "seed": lambda state, entry: replace(
        state, attempts=max(state.attempts, entry.attempt or 0), newest_seed=entry.n
    ),
    "record": lambda state, entry: replace(state, played_attempts=_remove_played(state, entry)),
    # Only the chief can open this attempt.
    "sealed_to_chief": lambda state, entry: _end_attempt(
        replace(state, played_attempts=_remove_played(state, entry)), entry
    ),
    "opened": _on_opened,
    "meeting": lambda state, entry: replace(state, meeting_match=entry.data["match"]),
    "recalled": _on_recalled,
    "set_loaded": _on_set_loaded,
    "set_cleared": _on_set_cleared,
    "pause": lambda state, entry: replace(
        state, pauses=state.pauses | {entry.data["reason"]: entry.data["by"]}
    ),
    "pause_ended": _on_pause_ended,
    "taken_over": lambda state, entry: replace(
        state, taken_transfers=state.taken_transfers | {entry.data["digest"]}
    ),
    "fault": _on_fault,
    "fault_cleared": _on_fault_cleared,
    "call": _on_call,
    "call_ended": lambda state, entry: replace(
        state, calls=tuple(call for call in state.calls if call.seat != entry.data["seat"])
    ),
    "command_kept": lambda state, entry: replace(state, kept_command=entry.data),
    "command": _on_command,
    "answer": _on_answer,
    "opened_hand": _on_opened_hand,
}
