"""The public state of a table, the timer that publishes it, and the signer of heads."""

import asyncio
import statistics
from collections import deque
from collections.abc import Callable, Sequence
from typing import Literal

import msgspec

from controller.machine.public.public_match import public_match
from controller.machine.public.public_results import copied_fields
from controller.machine.state.table_match import TableMatch
from controller.machine.state.table_state import TableState
from controller.messages import (
    MachinePhase,
    ProgramRelease,
    PublicMachine,
    PublicState,
    RefereeCall,
    ReportedBoards,
    Seat,
    SignedHead,
)
from controller.signing.signed_heads import sign_head
from controller.words import CALL_WORDS, Words

_BUTTON_WORDS = Words("the referee is called", "召请裁判")


def public_calls(
    pressed: tuple[RefereeCall, ...], needs: tuple[RefereeCall, ...]
) -> list[RefereeCall]:
    """Return the calls by red buttons (`pressed`) and by the match (`needs`), the oldest first.

    Each call for a referee gets its reason in words.
    """
    calls = []
    for call in sorted((*pressed, *needs), key=lambda call: call.since):
        own = _BUTTON_WORDS if call.reason == "button" else Words(call.reason, call.reason)
        said = CALL_WORDS.get(call.reason, own)
        calls.append(msgspec.structs.replace(call, words_en=said.en, words_zh=said.zh))
    return calls


class RunIdentity(msgspec.Struct, frozen=True, kw_only=True):
    """The facts about the table and the program that never change while the daemon runs.

    `release` is None if the program has no manifest of a release.
    """

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
    """Return the whole public state of a table, composed of machine, match, faults and calls.

    `phase` is the phase that people see (table_state.py). `head` is the head of the journal, and
    `signed` the last signed head. `boards` has the firmware of each board. `fed` is the
    number of cards fed in the running attempt, `counter` the cut counter's number, `now_ms` the
    time of the table's clock. `card_set` is used now or next, and `cutters` may cut now.
    `ready_in_s` estimates the time until the hands are ready. A paused machine shows no estimate.
    """
    waited = state.waiting_times
    waits = (None, None) if waited is None else msgspec.structs.astuple(waited)
    machine = PublicMachine(
        phase=phase,
        **copied_fields(state, "deal", "attempt", "refed", "landed"),
        of_deal=None if state.deal is None else state.attempts_by_deal.get(state.deal),
        # The number is live until the attempt has a verdict.
        fed=fed if state.attempt is not None and state.outcome is None else state.fed,
        card_set=card_set or state.loaded_set or about.card_set,
        set_out=None if state.set_in_play is None else state.set_in_play.card_set,
        cutters=list(cutters) if state.phase is MachinePhase.COMMITTED else [],
        ready_in_s=ready_in_s if phase is MachinePhase.DEALING and not state.pauses else None,
        due_to_ready_ms=waits[0],
        ready_to_button_ms=waits[1],
        counter=counter,
        pauses=dict(state.pauses),
    )
    match = public_match(
        play,
        profile=about.profile,
        now_ms=now_ms,
        **copied_fields(state, "deal", "leader", "turned_up"),
    )
    return PublicState(
        **copied_fields(about, "table", "boot", "simulated", "mode", "release"),
        seq=seq,
        time=time,
        machine=machine,
        match=match,
        fairness=list(state.proofs),
        head=head.hex(),
        signed=signed,
        boards=boards or ReportedBoards(),
        alerts=list(state.faults.values()),  # In order of appearance: the cause comes first.
        calls=public_calls(state.calls, play.match_calls),
        sets=list(state.sets.values()),
        counters=state.counters,
    )


MIN_STATE_INTERVAL_S = 0.1
MAX_STATE_INTERVAL_S = 1.0


class StatePublisher:
    """The timer that calls `publish` after each change of the state, and at least once a second.

    `on_late` receives the delay of the timer in seconds, which shows how busy the loop is.
    """

    def __init__(
        self, publish: Callable[[], None], on_late: Callable[[float], None] = lambda late_s: None
    ) -> None:
        self._publish = publish
        self._on_late = on_late
        self._loop = asyncio.get_running_loop()
        self._last_s = self._loop.time() - MAX_STATE_INTERVAL_S
        self._is_changed = False
        self._closed = False
        self._timer = self._loop.call_later(MAX_STATE_INTERVAL_S, self._on_timer)

    def mark_changed(self) -> None:
        """Record that the state has changed, so that it is published soon.

        The state is published at once, but not sooner than 0.1 s after the last publication.
        """
        if self._is_changed or self._closed:
            return
        self._is_changed = True
        self._set_timer(self._last_s + MIN_STATE_INTERVAL_S)

    def close(self) -> None:
        """Stop the timer for good, so that `publish` is not called any more."""
        self._closed = True
        self._timer.cancel()

    def _set_timer(self, at: float) -> None:
        self._timer.cancel()
        self._timer = self._loop.call_at(max(at, self._loop.time()), self._on_timer)

    def _on_timer(self) -> None:
        self._is_changed = False
        self._last_s = self._loop.time()
        self._on_late(max(0.0, self._last_s - self._timer.when()))
        self._set_timer(self._last_s + MAX_STATE_INTERVAL_S)
        self._publish()


SyncedHead = tuple[int, bytes]
"""The number of an entry that survives a power cut, and the journal's head after it."""


class PhaseHeads:
    """The signer of the journal's newest head, after each change of the phase that people see.

    `latest` is the last signed head, or None before the first. `secret` is the table's 32-byte
    Ed25519 secret. Without `secret` nothing is signed. Only a head on the disk is signed. If a
    power cut could undo a signed head, an honest table would seem to have rewritten its history.
    """

    def __init__(self, table_key: str, secret: bytes | None) -> None:
        self._table_key, self._secret = table_key, secret
        self._phase: MachinePhase | None = None
        self.latest: SignedHead | None = None

    def on_phase(self, phase: MachinePhase, synced: SyncedHead | None) -> None:
        """Sign the head `synced` if `phase` has changed. None means that no head is synced yet."""
        if self._secret is None or synced is None or phase is self._phase:
            return
        self._phase = phase
        n, head = synced
        if self.latest is None or self.latest.n != n:
            self.latest = sign_head(self._table_key, n, head, self._secret)


MAX_REMEMBERED_INTERVALS = 12
"""The most intervals between cards for the estimate. Its median ignores a pause among them."""
MIN_REMEMBERED_INTERVALS = 3
"""With fewer intervals there is no estimate."""


class FeedPace:
    """The measured speed of feeding in the running attempt, and the estimated time left."""

    def __init__(self) -> None:
        self._attempt: int | None = None
        self._fed = 0
        self._last_s = 0.0
        self._intervals_s: deque[float] = deque(maxlen=MAX_REMEMBERED_INTERVALS)

    def observe(self, attempt: int | None, fed: int, now_s: float) -> None:
        """Record that `attempt` has fed `fed` cards at the time `now_s`.

        A new number of an attempt, or None for no attempt, starts the measurement again.
        """
        if attempt != self._attempt:
            self._attempt, self._fed = attempt, 0
            self._intervals_s.clear()
        if fed <= self._fed:
            return
        if self._fed:
            self._intervals_s.append((now_s - self._last_s) / (fed - self._fed))
        self._fed, self._last_s = fed, now_s

    def ready_in_s(self, cards: int) -> float | None:
        """Return the estimated seconds until `cards` cards are fed, or None without an estimate."""
        if len(self._intervals_s) < MIN_REMEMBERED_INTERVALS:
            return None
        return round((cards - self._fed) * statistics.median(self._intervals_s), 1)
