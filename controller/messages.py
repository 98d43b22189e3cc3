"""What the outside may see and say: public state, public events, commands, replies.

Other people's programs depend on these shapes; `dealtable schema` prints them as
JSON Schema. Nothing here can hold a face that the rules do not make public.
"""

from enum import StrEnum
from typing import Any, Literal

import msgspec

SCHEMA = 1

Seat = Literal["N", "W", "S", "E"]
Side = Literal["NS", "EW"]


class Phase(StrEnum):
    """Where the machine is with its present attempt."""

    FAULT = "fault"
    EMPTY = "empty"
    COMMITTED = "committed"
    CUT = "cut"
    SHUFFLING = "shuffling"
    DEALING = "dealing"
    HELD = "held"
    RELEASED = "released"


class Outcome(StrEnum):
    """How an attempt ended: dealt right, refused by the 27-lock, or given up."""

    OK = "ok"
    MISDEAL = "misdeal"
    VOID = "void"


class Role(StrEnum):
    """What a client's key is admitted as."""

    OBSERVER = "observer"
    TABLE = "table"
    REFEREE = "referee"
    CHIEF = "chief"
    TECHNICIAN = "technician"


class Message(msgspec.Struct, frozen=True, gc=False):
    """A value that crosses a socket."""


class Landed(Message, frozen=True, kw_only=True):
    """Cards in each outlet, counted by the landing sensors."""

    N: int = 0
    W: int = 0
    S: int = 0
    E: int = 0
    tray: int = 0


class Machine(Message, frozen=True, kw_only=True):
    """The hardware's side of the public state. While dealing only `fed` runs live."""

    phase: Phase
    deal: int | None = None
    attempt: int | None = None
    fed: int = 0
    refed: int = 0
    landed: Landed | None = None
    ready_in_s: float | None = None
    card_set: str | None = None


class Clock(Message, frozen=True, kw_only=True):
    """The match clock: seconds left when `running_since` was written, or standing still."""

    left_s: float
    running_since: str | None = None


class Match(Message, frozen=True, kw_only=True):
    """The players' side of the public state; what no match has said yet is null."""

    event: str | None = None
    round: int | None = None
    match_no: int | None = None
    profile: str
    phase: str = "idle"
    deal: int | None = None
    pairs: dict[Side, str | None] = msgspec.field(default_factory=lambda: {"NS": None, "EW": None})
    levels: dict[Side, str | None] = msgspec.field(default_factory=lambda: {"NS": None, "EW": None})
    level: str | None = None
    cutter: Seat | None = None
    leader: Seat | None = None
    turned_up: str | None = None
    tribute: dict[str, Any] | None = None
    clock: Clock | None = None
    score: dict[Side, int] | None = None
    confirmed: bool = False
    signed: bool = False


class Reveal(Message, frozen=True, kw_only=True):
    """Seed and cut of a finished attempt (controller/deal/PROOF.md)."""

    seed: str
    cut: int | None


class Fairness(Message, frozen=True, kw_only=True):
    """The proof of one attempt as far as it may be public. Bytes are hex."""

    deal: int
    attempt: int
    commitment: str
    cut: int | None = None
    uncut: bool = False
    hands: str | None = None
    outcome: Outcome | None = None
    reasons: list[str] = []
    reveal: Reveal | None = None


class Alert(Message, frozen=True, kw_only=True):
    """Something a person must look at: a code of the fault catalogue, cause and next action."""

    code: int
    name: str
    since: str
    cause: str
    action: str
    cause_zh: str
    action_zh: str


class Call(Message, frozen=True, kw_only=True):
    """A person waits for the referee."""

    seat: Seat | None
    reason: str
    since: str


class Counters(Message, frozen=True, kw_only=True):
    """What happened since the journal began."""

    deals: int = 0
    redeals: int = 0
    voids: int = 0
    misreads: int = 0
    jams: int = 0


class State(Message, frozen=True, kw_only=True):
    """The whole public state of one table, self-contained: topic `state/<table>`."""

    schema: int = SCHEMA
    table: str
    boot: str
    seq: int
    time: str
    simulated: bool
    mode: Literal["play", "test"]
    machine: Machine
    match: Match
    fairness: list[Fairness]
    head: str
    alerts: list[Alert]
    calls: list[Call]
    counters: Counters


class Event(Message, frozen=True, kw_only=True):
    """One public entry of the journal, number `n`: topic `event/<table>`.

    `prev` and `head` are the chain before and behind it (controller/journal).
    """

    schema: int = SCHEMA
    table: str
    boot: str
    n: int
    time: str
    simulated: bool
    kind: str
    deal: int | None
    attempt: int | None
    data: dict[str, Any]
    prev: str
    head: str


class Command(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a client asks. `key` and `sig` (hex, Ed25519) stand on all that change anything.

    `deal` and `attempt` name what the sender believes to be present; null in
    commands that concern none.
    """

    id: str
    cmd: str
    deal: int | None = None
    attempt: int | None = None
    args: dict[str, Any] = {}
    key: str | None = None
    sig: str | None = None


class Failure(Message, frozen=True, kw_only=True):
    """Why a command was refused: a name of the fault catalogue, and what to do."""

    code: str
    message: str
    action: str


class Reply(Message, frozen=True, kw_only=True):
    """The answer to the command of the same `id`."""

    id: str
    ok: bool
    result: dict[str, Any] | None = None
    error: Failure | None = None


PUBLISHED: tuple[type[msgspec.Struct], ...] = (State, Event, Command, Reply)
