"""A table small enough to think about: it answers an attempt's effects with what it sees."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import pytest

from controller.deal.attempt import AttemptState, Stage, new_attempt, step
from controller.deal.observations import (
    AttemptEffect,
    AwaitLook,
    BothBegan,
    CardAtReader,
    CardGated,
    CardLanded,
    CardVerdict,
    FeedCards,
    FinalCount,
    HoldHands,
    LookOutcome,
    Observation,
    RefuseHands,
    RequestFinalCount,
    RereadCard,
    RouteCard,
    ShuffleCards,
    ShufflerDone,
    SourceEmptied,
)

SEATS = "NWSE"


@dataclass
class Table:
    """Cards with names in a hopper, and the sightings they cause. No sensor of it lies.

    `stuck` names cards that leave the hopper together with the next one; `bad`
    says how many looks at a card fail.
    """

    hopper: list[int]
    bad: dict[int, int] = field(default_factory=dict)
    stuck: frozenset[int] = frozenset()
    tray: list[int] = field(default_factory=list)
    pockets: dict[str, list[int]] = field(default_factory=lambda: {seat: [] for seat in SEATS})
    window: list[int] = field(default_factory=list)
    index: int = 0
    source_is_tray: bool = False
    upto: int = 0
    idle: bool = True

    def answer(self, effect: AttemptEffect) -> list[Observation]:
        """Return what is seen because of one effect, in order."""
        if isinstance(effect, ShuffleCards):
            return [ShufflerDone()]
        if isinstance(effect, FeedCards):
            self.source_is_tray, self.upto = effect.tray, effect.upto
            return self._next_card() if self.idle else []
        if isinstance(effect, RereadCard):
            return [self._look()]
        if isinstance(effect, RouteCard):
            return self._passed(effect.outlet)
        if isinstance(effect, RequestFinalCount):
            return [self.settled()]
        assert isinstance(effect, AwaitLook | HoldHands | RefuseHands)
        return []

    def settled(self) -> FinalCount:
        """Return what the sensors and totals say now."""
        landed = tuple(len(self.pockets[seat]) for seat in SEATS)
        return FinalCount(
            hopper_empty=not self.hopper,
            path_empty=not self.window,
            tray_empty=not self.tray,
            lift_down=True,
            pockets_seen=tuple(bool(count) for count in landed),  # type: ignore[arg-type]
            board_fed=self.index,
            board_landed=landed,  # type: ignore[arg-type]
            board_locked=True,
            reader_pulses=self.index,
            set_faults=(),
        )

    def _next_card(self) -> list[Observation]:
        pile = self.tray if self.source_is_tray else self.hopper
        self.idle = self.index >= self.upto or not pile
        if self.idle:
            return [] if pile or self.index >= self.upto else [SourceEmptied(self.source_is_tray)]
        self.window = [pile.pop()]
        if self.window[0] in self.stuck and pile and not self.source_is_tray:
            self.window.append(pile.pop())
        self.index += 1
        return [CardAtReader(self.index, doubled=len(self.window) == 2), self._look()]

    def _look(self) -> Observation:
        card = self.window[0]
        if self.bad.get(card, 0) > 0:
            self.bad[card] -= 1
            again = self.bad[card] % 3 != 0
            return CardVerdict(
                self.index, LookOutcome.REREAD if again else LookOutcome.TRAY, "UNREADABLE"
            )
        return CardVerdict(self.index, LookOutcome.ACCEPT)

    def _passed(self, outlet: str) -> list[Observation]:
        (self.tray if outlet == "tray" else self.pockets[outlet]).extend(self.window)
        self.window = []
        seen: list[Observation] = [CardGated(self.index, outlet), CardLanded(self.index, outlet)]
        return seen + self._next_card()


@dataclass
class Played:
    """How an attempt went: its last state, all it asked for, all that was seen."""

    attempt: AttemptState
    effects: list[AttemptEffect]
    seen: list[Observation]

    @property
    def held(self) -> bool:
        return self.attempt.stage is Stage.HELD


Spoil = Callable[[list[Observation]], Sequence[Observation]]


def play(table: Table, sequence: str, spoil: Spoil = list) -> Played:
    """Run an attempt against a table; `spoil` may bend what is seen on its way."""
    played = Played(new_attempt(sequence, passes=3), [], [])
    waiting: list[Observation] = [BothBegan()]
    while waiting:
        event = waiting.pop(0)
        played.seen.append(event)
        played.attempt, effects = step(played.attempt, event)
        played.effects.extend(effects)
        for effect in effects:
            waiting.extend(spoil(table.answer(effect)))
    return played


@pytest.fixture(scope="session")
def fresh_table() -> Callable[..., Table]:
    def make(cards: int = 108, **faults: object) -> Table:
        hopper = list(range(cards))
        random.Random(cards).shuffle(hopper)
        return Table(hopper, **faults)  # type: ignore[arg-type]

    return make


@pytest.fixture(scope="session")
def play_attempt() -> Callable[..., Played]:
    return play
