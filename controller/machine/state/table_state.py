"""How long people waited for a deal's hands: the match's sum, and the machine's release has it.

A home of its own, because the machine's state and the match know nothing of each other.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from controller.machine.state.fault_meanings import HARMLESS_FAULTS
from controller.messages import (
    Alert,
    AttemptOutcome,
    CardSetState,
    Fairness,
    LandedCards,
    MachinePhase,
    RefereeCall,
    Seat,
    TableCounters,
)


class SetInPlay(msgspec.Struct, frozen=True, gc=False):
    """The attempt whose hands the players hold, and its set."""

    attempt: int
    card_set: str


class WaitingTimes(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """How long people waited for a deal's hands, and the hands for people, in milliseconds.

    `due_to_ready_ms`: from the moment when the deal was due, 0 where its hands were ready by
    then; a deal whose hands were out is due again with its redeal. `ready_to_button_ms`: from
    the moment when it was due and its hands ready, to the order that lets them out.
    """

    due_to_ready_ms: int
    ready_to_button_ms: int


def read_waiting_times(released: Mapping[str, Any]) -> WaitingTimes | None:
    """Return what the data of a release says of it; practice deals do not say it."""
    try:
        return msgspec.convert(released, WaitingTimes)
    except msgspec.ValidationError:
        return None


MAX_SHOWN_PROOFS = 8
"""Attempts whose proofs stand in the public state; the others are in the event log."""


FaultKey = tuple[str, str]


class HandViewed(msgspec.Struct, frozen=True, gc=False):
    """Somebody saw a hand of a match's deal: whose key asked for it, and his name."""

    match: str | None
    deal: int | None
    key: str
    by: str


class PlayedAttempt(msgspec.Struct, frozen=True, gc=False):
    """An attempt whose hands went out, and whose record is not open.

    `match` is what it was dealt for, `rules` the hash of its profile (hex), `since` the number
    of its first entry. `over`: its seed is out, so that its hands may be, when the profile says.
    """

    attempt: int
    deal: int
    match: str
    rules_hash: str
    first_entry: int
    is_over: bool = False


class TableState(msgspec.Struct, frozen=True, kw_only=True):
    """Where the table is. `attempts` is the highest number ever given to an attempt.

    `match` is what the present attempt was committed for, `tried` how many attempts at its last
    deals there were, by deal. `misdeals_in_a_row` counts the
    attempts of the present deal without right hands since its last right ones; hands that were
    out and are dealt again count, too (as the match counts them). `faults` are latched, by name
    and board; `calls` are seats that wait for the referee; `answers` are by signer and id of a
    command, `kept` is what the next row of a command keeps back.
    `sets` by id, `loaded` the one that was dealt with last or said to be loaded, `used` the one
    whose hands were the last to go out in the match `meeting` (None once somebody said which
    one is loaded), `out` whose hands the players hold, `waited` how long for; `dealt_with` the
    one of each attempt whose proof is shown. `pauses`: why the machine begins nothing, and who
    stopped it. `opened`: hands that the chief looked at. `seeded`: the entry of the newest seed;
    `promised`: the newest attempt, if its hands go out; `played`: those whose did.
    """

    phase: MachinePhase = MachinePhase.EMPTY
    match: str | None = None
    deal: int | None = None
    attempt: int | None = None
    attempts: int = 0
    attempts_by_deal: dict[int, int] = {}
    outcome: AttemptOutcome | None = None
    misdeals_in_a_row: int = 0
    fed: int = 0
    refed: int = 0
    landed: LandedCards | None = None
    leader: Seat | None = None
    turned_up: str | None = None
    proofs: tuple[Fairness, ...] = ()
    faults: dict[FaultKey, Alert] = {}
    calls: tuple[RefereeCall, ...] = ()
    answers: dict[tuple[str, str], dict[str, Any]] = {}
    kept_command: dict[str, Any] = {}
    sets: dict[str, CardSetState] = {}
    loaded_set: str | None = None
    used_set: str | None = None
    set_in_play: SetInPlay | None = None
    meeting_match: str | None = None
    waiting_times: WaitingTimes | None = None
    set_by_attempt: dict[int, str] = {}
    pauses: dict[str, str] = {}
    taken_transfers: frozenset[str] = frozenset()
    viewed_hands: tuple[HandViewed, ...] = ()
    newest_seed: int = 0
    newest_attempt: PlayedAttempt | None = None
    played_attempts: tuple[PlayedAttempt, ...] = ()
    counters: TableCounters = TableCounters()

    @property
    def is_unfinished(self) -> bool:
        """Whether an attempt was begun whose verdict is not written."""
        return self.attempt is not None and self.outcome is None


_SAFE_PHASES = frozenset({MachinePhase.HELD, MachinePhase.RELEASED})


def shown_phase(state: TableState, *, boards_up: bool) -> MachinePhase:
    """Return the phase that people see: a fault hides every phase but safe hands.

    `boards_up`: both boards answer and are the right ones.
    """
    stopped = not boards_up or any(name not in HARMLESS_FAULTS for name, _ in state.faults)
    return MachinePhase.FAULT if stopped and state.phase not in _SAFE_PHASES else state.phase
