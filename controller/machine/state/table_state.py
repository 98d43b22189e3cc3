"""The types of a table's state: sets of cards, attempts, waiting times, faults and calls."""

from collections.abc import Mapping
from typing import Any

import msgspec

from controller.faults import fault
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

OVERDUE_FAULTS = ("HANDS_WAIT", "OUT_UNCONFIRMED", "RESULT_UNCONFIRMED", "SLOW_DEAL")
"""Faults that call a person because players take too long."""


CALLING_FAULTS = frozenset(
    {"CUT_LATE", "TWO_MISDEALS", "SET_BARRED", "SET_TOO_EARLY", "NO_CHIEF", *OVERDUE_FAULTS}
)
"""Faults that call a person although nothing is broken."""
HARMLESS_FAULTS = CALLING_FAULTS | {"PANEL_LOST", "HANDS_UNKNOWN"}
"""Faults that are shown while the machine continues to deal."""
FAULTS_TO_ACKNOWLEDGE = frozenset({"ESTOP_PRESSED", "TWO_MISDEALS"})
"""Faults that stay until a person acknowledges them."""
_FIRST_OTHER_CODE = 300
"""Faults that can end an attempt have lower codes."""


def is_attempt_reason(name: str) -> bool:
    """Return whether the fault `name` can end an attempt. Such faults have codes below 300."""
    return fault(name).code < _FIRST_OTHER_CODE


def alert(name: str, since: str, evidence: Mapping[str, object] | None = None) -> Alert:
    """Return the alert of a fault that was raised at `since`, a UTC time as ISO text."""
    row = fault(name)
    return Alert(
        code=row.code,
        name=row.name,
        since=since,
        cause=row.cause(evidence),
        action=row.action(evidence),
        cause_zh=row.cause(evidence, "zh"),
        action_zh=row.action(evidence, "zh"),
    )


class SetInPlay(msgspec.Struct, frozen=True, gc=False):
    """The attempt whose hands the players have, and the set of cards of these hands."""

    attempt: int
    card_set: str


class WaitingTimes(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """The waiting times of a deal in ms: until its hands are ready, then until a release command.

    `due_to_ready_ms` is the time from the moment when the deal was due until its hands were ready.
    It is 0 if they were ready before. A redeal makes a deal due again. `ready_to_button_ms` is the
    time from the moment when the deal was due and ready, to the command that releases the hands.
    """

    due_to_ready_ms: int
    ready_to_button_ms: int


def read_waiting_times(released: Mapping[str, Any]) -> WaitingTimes | None:
    """Return the waiting times in the data of an entry `released`, or None for a practice deal."""
    try:
        return msgspec.convert(released, WaitingTimes)
    except msgspec.ValidationError:
        return None


MAX_SHOWN_PROOFS = 8
"""The number of newest proofs in the public state. The journal has all proofs."""


FaultKey = tuple[str, str]


class HandViewed(msgspec.Struct, frozen=True, gc=False):
    """The fact that a person viewed a hand of a deal.

    `key` signed the command that requested the hand, and `by` is the person's name.
    """

    match: str | None
    deal: int | None
    key: str
    by: str


class PlayedAttempt(msgspec.Struct, frozen=True, gc=False):
    """An attempt whose hands were released and whose record is not published yet.

    `match` is the match of the attempt, `rules_hash` the hash of its profile (hex), `first_entry`
    the number of its first entry. `is_over` is True if its seed is published. Then its hands may be
    opened as soon as the profile allows it.
    """

    attempt: int
    deal: int
    match: str
    rules_hash: str
    first_entry: int
    is_over: bool = False


class TableState(msgspec.Struct, frozen=True, kw_only=True):
    """The state of a table, computed from all entries of its journal.

    `match`, `deal`, `attempt`, `outcome` and `phase` belong to the present attempt. `attempts` is
    the highest number of an attempt so far, and `attempts_by_deal` counts the attempts at the last
    deals. `misdeals_in_a_row` counts the attempts of the present deal without right hands since the
    last right ones. Released hands that are dealt again count, too.

    `faults` are stored by name and board. `calls` are seats that wait for the referee. `pauses` are
    the reasons why the machine begins nothing, each with its person. `answers` are stored by signer
    and id of a command, and `kept_command` is the private part of the next command.

    `sets` are stored by id. `loaded_set` was dealt with last or was reported as loaded. `used_set`
    is the set whose hands were the last to go out in the match `meeting_match`, or None after a
    report. `set_in_play` is the set whose hands the players have, `waiting_times` how long they
    waited for them, and `set_by_attempt` the set of each attempt in `proofs`.

    `viewed_hands` are the hands that the chief viewed. `newest_seed` is the entry of the newest
    seed. `newest_attempt` is the newest attempt, in case its hands go out, and `played_attempts`
    are the attempts whose hands went out.
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


_SAFE_PHASES = frozenset({MachinePhase.HELD, MachinePhase.RELEASED})


def shown_phase(state: TableState, *, boards_up: bool) -> MachinePhase:
    """Return the phase that people see: FAULT if a fault or a missing board stops the machine.

    The phases HELD and RELEASED are shown even then, because these hands are safe. `boards_up` is
    True if both boards answer and are the right boards.
    """
    stopped = not boards_up or any(name not in HARMLESS_FAULTS for name, _ in state.faults)
    return MachinePhase.FAULT if stopped and state.phase not in _SAFE_PHASES else state.phase
