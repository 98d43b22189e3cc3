"""The attempts of one simulated table (a life), and the faults that can make an attempt fail.

A life is one simulated table that deals a number of deals. Active faults are those that struck
since the previous verdict, and those with an effect now or at the start of the attempt. The end of
a fault, such as a board that is replaced again, disturbs an attempt too. A recent action of people
also counts as a fault: for example, a person who collects the cards opens the lid.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal

import msgspec

from controller.faults import fault as row_of
from controller.messages import PublicEvent
from sim.campaign.campaign_lives import LifeAttempt
from sim.mechanics.fault_menu import (
    FaultStrike,
    SimulatedFault,
    accepted_codes,
    fault_menu,
    is_mild,
)
from sim.mechanics.world import World

CONSEQUENCES = frozenset({"TWO_MISDEALS", "SET_BARRED"})
"""Alerts that follow from verdicts, not from a fault."""

ACT_BLAME_S = 2.0
"""The time before the next attempt for which an action of people may still explain an alert."""

_FAULT_FIELDS = msgspec.structs.fields(SimulatedFault)


@lru_cache(maxsize=4096)
def fault_text(fault: SimulatedFault) -> str:
    """Return `fault` in the form of the option `--fault`, such as `jam:place=gate`."""
    takes = fault_menu()[fault.name].takes
    defaults = {field.name: field.default for field in _FAULT_FIELDS}
    given = [(name, getattr(fault, name)) for name in takes]
    told = [f"{name}={value}" for name, value in given if value != defaults[name]]
    return fault.name + (":" + ",".join(told) if told else "")


def unexplained_codes(codes: Iterable[str], active: Iterable[SimulatedFault]) -> tuple[str, ...]:
    """Return the fault codes of `codes` that none of the faults in `active` can cause."""
    right = {code for fault in active for code in accepted_codes(fault)}
    return tuple(code for code in codes if code not in right)


def is_needless(active: Iterable[SimulatedFault]) -> bool:
    """Return True if the machine must tolerate every fault in `active`: a failure is needless."""
    return all(is_mild(fault) for fault in active)


class PossibleCauses:
    """The faults and actions of people that can explain a present alert of one machine."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._strikes: list[FaultStrike] = []
        self._actions: list[FaultStrike] = []
        self._at_begin: tuple[FaultStrike, ...] = ()
        self._earlier_verdict_s = self._verdict_s = -1.0

    def add_strike(self, struck: FaultStrike) -> None:
        """Add a fault that has just struck."""
        self._strikes.append(struck)

    def add_action(self, fault: SimulatedFault) -> None:
        """Add an action of people as `fault`, the simulated fault with the same effect."""
        self._actions.append(FaultStrike(fault, 0, self._world.clock.now_s()))

    def end_attempt(self) -> None:
        """Record that an attempt has just ended."""
        self._verdict_s = self._world.clock.now_s()

    def begin_attempt(self) -> None:
        """Begin the next attempt: remove old causes, and record the faults that are active now.

        Faults from before the last verdict are old, and actions from more than ACT_BLAME_S ago.
        """
        self._earlier_verdict_s = self._verdict_s
        self._strikes = [one for one in self._strikes if one.at_s > self._earlier_verdict_s]
        self._at_begin = self._world.active_faults()
        now_s, truth = self._world.clock.now_s(), self._world.truth()
        self._actions = [one for one in self._actions if one.at_s > now_s - ACT_BLAME_S]
        in_it, size = len(truth.hopper) + len(truth.shuffler), self._world.people.cards_per_set
        if in_it < size:
            # A card in the hopper was taken for the set, which the players still have.
            self._actions.append(FaultStrike(SimulatedFault("missing_card"), 0, now_s))
        elif in_it > size:
            # A later fault can replace the extra card itself. There is still one card too many.
            self._actions.append(FaultStrike(SimulatedFault("extra_card"), 0, now_s))

    def active_faults(self) -> tuple[SimulatedFault, ...]:
        """Return the faults that may affect the present attempt. Actions of people are excluded."""
        each = (*self._strikes, *self._at_begin, *self._world.active_faults())
        return tuple(dict.fromkeys(one.fault for one in each))

    def all_causes(self) -> tuple[SimulatedFault, ...]:
        """Return the faults that can explain an alert now.

        They are `active_faults()`, and for each recent action of people the equivalent fault.
        """
        return (*self.active_faults(), *(one.fault for one in self._actions))

    def since_verdict(self) -> tuple[SimulatedFault, ...]:
        """Return the faults that struck after the last verdict, except faults of the card set.

        A fault of the card set strikes when the hopper is filled, and belongs to the next attempt.
        """
        return tuple(
            one.fault
            for one in self._strikes
            if one.at_s > self._verdict_s and fault_menu()[one.fault.name].strikes != "set"
        )


AttemptOutcome = Literal["ok", "misdeal", "void"]


@dataclass
class AttemptNotes:
    """Notes about one attempt, which are filled while the attempt runs.

    `published_s` contains the loop's time of each step on the feed. `hands`: actions of people.
    """

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
        """Return these notes as an attempt of a report, or None if the attempt has not ended."""
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
            referee="TWO_MISDEALS" in self.alerts,
        )


@dataclass
class AttemptLog:
    """The attempts of one simulated table (a life), in order, with the faults active in each.

    `deals` counts the "ok" attempts that were revealed. `on_unexplained` receives a reason or an
    alert that no fault explains. `on_step` is called after each recorded step of an attempt.
    """

    causes: PossibleCauses
    now_s: Callable[[], float]
    count_passages: Callable[[], int]
    on_unexplained: Callable[[str], None]
    on_step: Callable[[str], None]
    notes: list[AttemptNotes] = field(default_factory=list)
    deals: int = 0
    _early_actions: list[str] = field(default_factory=list)

    @property
    def current(self) -> AttemptNotes | None:
        """The newest attempt, or None if no attempt has begun."""
        return self.notes[-1] if self.notes else None

    def note_hand(self, name: str) -> None:
        """Record `name`, an action of people, in the notes of the current attempt.

        Actions before the first attempt belong to the first attempt.
        """
        (self.notes[-1].hands if self.notes else self._early_actions).append(name)

    def apply(self, event: PublicEvent) -> None:
        """Update the recorded attempts after the public event `event` of the table."""
        take = _EVENT_HANDLERS.get(event.kind)
        if take is not None:
            take(self, event)
        notes = self.current
        if notes is not None and event.attempt == notes.attempt:
            notes.published_s.setdefault(event.kind, self.now_s())
            self.on_step(event.kind)

    def ended_attempts(self) -> tuple[LifeAttempt, ...]:
        """Return all attempts that have ended, in order."""
        self._add_late_faults()
        ended = (notes.to_result() for notes in self.notes)
        return tuple(one for one in ended if one is not None)

    def _add_late_faults(self) -> None:
        """If the current attempt has a verdict, add the faults that struck later to its notes."""
        notes = self.current
        if notes is not None and notes.outcome is not None:
            notes.active_faults = (*notes.active_faults, *self.causes.since_verdict())

    def _on_committed(self, event: PublicEvent) -> None:
        assert event.attempt is not None
        self._add_late_faults()
        self.causes.begin_attempt()
        notes = AttemptNotes(self.deals + 1, event.attempt, self.count_passages())
        notes.hands, self._early_actions = self._early_actions, []
        self.notes.append(notes)

    def _on_withdrawn(self, event: PublicEvent) -> None:
        reasons = tuple(event.data["reasons"])
        proven = any(row_of(reason).misdeal for reason in reasons)
        self._end("misdeal" if proven else "void", reasons)

    def _end(self, outcome: AttemptOutcome, reasons: tuple[str, ...]) -> None:
        notes = self.current
        assert notes is not None
        notes.outcome, notes.reasons = outcome, reasons
        notes.active_faults = self.causes.active_faults()
        notes.needless = outcome != "ok" and is_needless(notes.active_faults)
        self._check_codes(reasons)
        self.causes.end_attempt()

    def _on_fault(self, event: PublicEvent) -> None:
        name: str = event.data["name"]
        if self.notes:
            self.notes[-1].alerts.append(name)
        known = self.notes[-1].reasons if self.notes else ()
        if name not in CONSEQUENCES and name not in known:  # reasons were checked with the verdict
            self._check_codes((name,))

    def _check_codes(self, codes: tuple[str, ...]) -> None:
        active = self.causes.all_causes()
        for code in unexplained_codes(codes, active):
            seen = ", ".join(sorted({fault_text(fault) for fault in active})) or "no fault"
            self.on_unexplained(f"{code} was reported while {seen} was active")

    def _on_revealed(self, event: PublicEvent) -> None:
        notes = self.current
        if notes is not None and event.attempt == notes.attempt and notes.outcome == "ok":
            self.deals += 1


_EVENT_HANDLERS: dict[str, Callable[[AttemptLog, PublicEvent], Any]] = {
    "committed": AttemptLog._on_committed,
    "verdict": lambda log, event: log._end(event.data["outcome"], tuple(event.data["reasons"])),
    "withdrawn": AttemptLog._on_withdrawn,
    "recalled": AttemptLog._on_withdrawn,
    "fault": AttemptLog._on_fault,
    "revealed": AttemptLog._on_revealed,
    "sealed_to_chief": AttemptLog._on_revealed,
}
