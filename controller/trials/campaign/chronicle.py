"""What became of each attempt, as the feed tells it while the mechanics are looked at.

It takes every public event in the moment in which it is told, beside the faults that are
active then: so it knows what each reason and each alert can be blamed on.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from controller.faults import fault as row_of
from controller.messages import Event
from controller.trials.campaign.blame import (
    CONSEQUENCES,
    PossibleCauses,
    needless,
    unexplained_codes,
    words,
)
from controller.trials.campaign.values import Attempt
from sim.mechanics.faults import Fault

Outcome = Literal["ok", "misdeal", "void"]
REFEREE = "TWO_MISDEALS"


@dataclass
class Notes:
    """One attempt as it goes. `told_s`: when each step of it was on the feed, the loop's time."""

    deal: int
    attempt: int
    since: int
    told_s: dict[str, float] = field(default_factory=dict)
    outcome: Outcome | None = None
    reasons: tuple[str, ...] = ()
    active: tuple[Fault, ...] = ()
    needless: bool = False
    alerts: list[str] = field(default_factory=list)
    hands: list[str] = field(default_factory=list)

    def ended(self) -> Attempt | None:
        """Return it as a value; None where it has no end."""
        if self.outcome is None:
            return None
        return Attempt(
            deal=self.deal,
            attempt=self.attempt,
            outcome=self.outcome,
            reasons=self.reasons,
            struck=tuple(sorted({words(fault) for fault in self.active})),
            alerts=tuple(dict.fromkeys(self.alerts)),
            hands=tuple(self.hands),
            needless=self.needless,
            referee=REFEREE in self.alerts,
        )


class AttemptLog:
    """The attempts of one life, in order. `deals` counts those whose hands were out and shown.

    `wrong(words)` takes a reason or an alert that nothing accounts for; `at(kind)` is called
    at every step of an attempt once it is noted.
    """

    def __init__(
        self,
        suspects: PossibleCauses,
        now_s: Callable[[], float],
        *,
        length: Callable[[], int],
        wrong: Callable[[str], None],
        at: Callable[[str], None],
    ) -> None:
        self.notes: list[Notes] = []
        self.deals = 0
        self._causes, self._now_s = suspects, now_s
        self._count_passages, self._wrong, self._at = length, wrong, at
        self._hands_before: list[str] = []

    @property
    def present(self) -> Notes | None:
        """The newest attempt; None before the first."""
        return self.notes[-1] if self.notes else None

    def hand(self, name: str) -> None:
        """Note what people had to do; before the first attempt it is the first one's."""
        (self.notes[-1].hands if self.notes else self._hands_before).append(name)

    def take(self, event: Event) -> None:
        """Take a public event as it is told."""
        take = _EVENT_HANDLERS.get(event.kind)
        if take is not None:
            take(self, event)
        notes = self.present
        if notes is not None and event.attempt == notes.attempt:
            notes.told_s.setdefault(event.kind, self._now_s())
            self._at(event.kind)

    def attempts(self) -> tuple[Attempt, ...]:
        """Return all that ended, in order."""
        self._add_late_faults()
        ended = (notes.ended() for notes in self.notes)
        return tuple(one for one in ended if one is not None)

    def _add_late_faults(self) -> None:
        """Give what struck behind its verdict to the attempt that it struck."""
        notes = self.present
        if notes is not None and notes.outcome is not None:
            notes.active = (*notes.active, *self._causes.later())

    def _committed(self, event: Event) -> None:
        assert event.attempt is not None
        self._add_late_faults()
        self._causes.begun()
        notes = Notes(self.deals + 1, event.attempt, self._count_passages())
        notes.hands, self._hands_before = self._hands_before, []
        self.notes.append(notes)

    def _on_verdict(self, event: Event) -> None:
        data = event.data
        self._end(data["outcome"], tuple(data["reasons"]))

    def _on_withdrawn(self, event: Event) -> None:
        reasons = tuple(event.data["reasons"])
        proven = any(row_of(reason).misdeal for reason in reasons)
        self._end("misdeal" if proven else "void", reasons)

    def _end(self, outcome: Outcome, reasons: tuple[str, ...]) -> None:
        notes = self.present
        assert notes is not None
        notes.outcome, notes.reasons = outcome, reasons
        notes.active = self._causes.faults()
        notes.needless = outcome != "ok" and needless(notes.active)
        self._check_codes(reasons)
        self._causes.verdict()

    def _fault(self, event: Event) -> None:
        name: str = event.data["name"]
        if self.notes:
            self.notes[-1].alerts.append(name)
        known = self.notes[-1].reasons if self.notes else ()
        if name not in CONSEQUENCES and name not in known:  # a reason was blamed with the verdict
            self._check_codes((name,))

    def _check_codes(self, codes: tuple[str, ...]) -> None:
        active = self._causes.all()
        for code in unexplained_codes(codes, active):
            seen = ", ".join(sorted({words(fault) for fault in active})) or "nothing"
            self._wrong(f"{code} was said while {seen} was active")

    def _on_revealed(self, event: Event) -> None:
        notes = self.present
        if notes is not None and event.attempt == notes.attempt and notes.outcome == "ok":
            self.deals += 1


_EVENT_HANDLERS: dict[str, Callable[[AttemptLog, Event], Any]] = {
    "committed": AttemptLog._committed,
    "verdict": AttemptLog._on_verdict,
    "withdrawn": AttemptLog._on_withdrawn,
    "recalled": AttemptLog._on_withdrawn,
    "fault": AttemptLog._fault,
    "revealed": AttemptLog._on_revealed,
    "sealed_to_chief": AttemptLog._on_revealed,
}
