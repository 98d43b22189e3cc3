"""What became of each attempt, as the feed tells it while the mechanics are looked at.

It takes every public event in the moment in which it is told, beside the faults that are
active then: so it knows what each reason and each alert can be blamed on.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from controller.faults import fault as row_of
from controller.messages import PublicEvent
from controller.trials.campaign.blame import (
    CONSEQUENCES,
    PossibleCauses,
    fault_text,
    is_needless,
    unexplained_codes,
)
from controller.trials.campaign.values import LifeAttempt
from sim.mechanics.faults import SimulatedFault

AttemptOutcome = Literal["ok", "misdeal", "void"]
REFEREE_ALERT = "TWO_MISDEALS"


@dataclass
class AttemptNotes:
    """One attempt as it goes. `told_s`: when each step of it was on the feed, the loop's time."""

    deal: int
    attempt: int
    first_passage: int
    published_s: dict[str, float] = field(default_factory=dict)
    outcome: AttemptOutcome | None = None
    reasons: tuple[str, ...] = ()
    active_faults: tuple[SimulatedFault, ...] = ()
    needless: bool = False
    alerts: list[str] = field(default_factory=list)
    hands: list[str] = field(default_factory=list)

    def to_result(self) -> LifeAttempt | None:
        """Return it as a value; None where it has no end."""
        if self.outcome is None:
            return None
        return LifeAttempt(
            deal=self.deal,
            attempt=self.attempt,
            outcome=self.outcome,
            reasons=self.reasons,
            struck=tuple(sorted({fault_text(fault) for fault in self.active_faults})),
            alerts=tuple(dict.fromkeys(self.alerts)),
            hands=tuple(self.hands),
            needless=self.needless,
            referee=REFEREE_ALERT in self.alerts,
        )


class AttemptLog:
    """The attempts of one life, in order. `deals` counts those whose hands were out and shown.

    `wrong(words)` takes a reason or an alert that nothing accounts for; `at(kind)` is called
    at every step of an attempt once it is noted.
    """

    def __init__(
        self,
        causes: PossibleCauses,
        now_s: Callable[[], float],
        *,
        count_passages: Callable[[], int],
        on_unexplained: Callable[[str], None],
        on_step: Callable[[str], None],
    ) -> None:
        self.notes: list[AttemptNotes] = []
        self.deals = 0
        self._causes, self._now_s = causes, now_s
        self._count_passages, self._on_unexplained, self._on_step = (
            count_passages,
            on_unexplained,
            on_step,
        )
        self._hands_before: list[str] = []

    @property
    def current(self) -> AttemptNotes | None:
        """The newest attempt; None before the first."""
        return self.notes[-1] if self.notes else None

    def note_hand(self, name: str) -> None:
        """Note what people had to do; before the first attempt it is the first one's."""
        (self.notes[-1].hands if self.notes else self._hands_before).append(name)

    def apply(self, event: PublicEvent) -> None:
        """Take a public event as it is told."""
        take = _EVENT_HANDLERS.get(event.kind)
        if take is not None:
            take(self, event)
        notes = self.current
        if notes is not None and event.attempt == notes.attempt:
            notes.published_s.setdefault(event.kind, self._now_s())
            self._on_step(event.kind)

    def ended_attempts(self) -> tuple[LifeAttempt, ...]:
        """Return all that ended, in order."""
        self._add_late_faults()
        ended = (notes.to_result() for notes in self.notes)
        return tuple(one for one in ended if one is not None)

    def _add_late_faults(self) -> None:
        """Give what struck behind its verdict to the attempt that it struck."""
        notes = self.current
        if notes is not None and notes.outcome is not None:
            notes.active_faults = (*notes.active_faults, *self._causes.since_verdict())

    def _on_committed(self, event: PublicEvent) -> None:
        assert event.attempt is not None
        self._add_late_faults()
        self._causes.begin_attempt()
        notes = AttemptNotes(self.deals + 1, event.attempt, self._count_passages())
        notes.hands, self._hands_before = self._hands_before, []
        self.notes.append(notes)

    def _on_verdict(self, event: PublicEvent) -> None:
        data = event.data
        self._end(data["outcome"], tuple(data["reasons"]))

    def _on_withdrawn(self, event: PublicEvent) -> None:
        reasons = tuple(event.data["reasons"])
        proven = any(row_of(reason).misdeal for reason in reasons)
        self._end("misdeal" if proven else "void", reasons)

    def _end(self, outcome: AttemptOutcome, reasons: tuple[str, ...]) -> None:
        notes = self.current
        assert notes is not None
        notes.outcome, notes.reasons = outcome, reasons
        notes.active_faults = self._causes.active_faults()
        notes.needless = outcome != "ok" and is_needless(notes.active_faults)
        self._check_codes(reasons)
        self._causes.end_attempt()

    def _on_fault(self, event: PublicEvent) -> None:
        name: str = event.data["name"]
        if self.notes:
            self.notes[-1].alerts.append(name)
        known = self.notes[-1].reasons if self.notes else ()
        if name not in CONSEQUENCES and name not in known:  # a reason was blamed with the verdict
            self._check_codes((name,))

    def _check_codes(self, codes: tuple[str, ...]) -> None:
        active = self._causes.all_causes()
        for code in unexplained_codes(codes, active):
            seen = ", ".join(sorted({fault_text(fault) for fault in active})) or "nothing"
            self._on_unexplained(f"{code} was said while {seen} was active")

    def _on_revealed(self, event: PublicEvent) -> None:
        notes = self.current
        if notes is not None and event.attempt == notes.attempt and notes.outcome == "ok":
            self.deals += 1


_EVENT_HANDLERS: dict[str, Callable[[AttemptLog, PublicEvent], Any]] = {
    "committed": AttemptLog._on_committed,
    "verdict": AttemptLog._on_verdict,
    "withdrawn": AttemptLog._on_withdrawn,
    "recalled": AttemptLog._on_withdrawn,
    "fault": AttemptLog._on_fault,
    "revealed": AttemptLog._on_revealed,
    "sealed_to_chief": AttemptLog._on_revealed,
}
