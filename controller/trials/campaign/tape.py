"""What each physical card did, as the mechanics have it: no board and no controller is asked.

    tape = Tape(world)
    tape.passages(since)        # what came to the window, in order
    tape.look()                 # brings it up to now

The sensors' eyes (what is so, not what a sensor says) tell when to look; what is seen are
the cards themselves.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from controller.trials.campaign.values import CardHistory
from sim.mechanics.cards import PhysicalCard
from sim.mechanics.engine import EngineAnswer
from sim.mechanics.pockets import TRAY
from sim.mechanics.sensors import OUTLETS
from sim.mechanics.world import World

Source = Literal["hopper", "tray"]


@dataclass
class Passage:
    """One card's way from a stack through the window. Two that came as one have one `number`.

    `number` counts what came to the window on this tape; `filling`: which filling of the hopper
    it belongs to, and `nth` of that it is; `gate`: where the gate stood as the
    card's head met it; `landed`: the outlet, None while it lies in none. Times are the loop's.
    """

    number: int
    card: PhysicalCard
    source: Source
    filling: int
    arrival: int
    window_s: float
    answers: list[EngineAnswer] = field(default_factory=list)
    gate: int | None = None
    landed: int | None = None
    landed_s: float | None = None


class CardTracker:
    """Watches one world until `close`."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._passages: list[Passage] = []
        self._arrivals, self._arrival = 0, (0, 0)
        self._last_passages: dict[int, Passage] = {}
        self._known_stacks: list[list[int]] = [[] for _ in range(OUTLETS)]
        self._unwatch = world.dealer.observe(self._on_sensor)
        world.answer_listeners.append(self._on_answer)

    @property
    def passage_count(self) -> int:
        """How many passages it has so far."""
        return len(self._passages)

    def passages(self, since: int = 0) -> tuple[Passage, ...]:
        """Return the passages behind the first `since`, in the order of their arrivals."""
        self.update()
        return tuple(self._passages[since:])

    def update(self) -> None:
        """See what came to lie in a pocket or in the tray since the last look."""
        stacks = self._world.pockets.stacks
        for outlet, (known, stack) in enumerate(zip(self._known_stacks, stacks, strict=True)):
            if len(known) == len(stack) and (not stack or known[-1] == stack[-1].id):
                continue
            lies = [card.id for card in stack]
            same = 0
            while same < min(len(known), len(lies)) and known[same] == lies[same]:
                same += 1
            for card in lies[same:]:
                self._land(card, outlet)
            self._known_stacks[outlet] = lies

    def close(self) -> None:
        """Watch no longer."""
        self._unwatch()
        self._world.answer_listeners.remove(self._on_answer)

    def _on_sensor(self, name: str, value: int) -> None:
        self.update()
        if name == "window" and value:
            self._arrive()
        elif name == "exit" and value:
            for card in self._world.window.cards:
                if card.id in self._last_passages:
                    self._last_passages[card.id].gate = self._world.gate.position

    def _arrive(self) -> None:
        tally = self._world.tally
        now_s, filling = self._world.clock.now_s(), tally.filling
        if self._arrival == (filling, tally.arrived) or not tally.arrived:
            return  # a hand left it there
        self._arrival = (filling, tally.arrived)
        self._arrivals += 1
        for card in self._world.window.cards:
            source: Source = "tray" if self._came_from_tray(card.id, filling) else "hopper"
            passage = Passage(self._arrivals, card, source, filling, tally.arrived, now_s)
            self._passages.append(passage)
            self._last_passages[card.id] = passage

    def _came_from_tray(self, card: int, filling: int) -> bool:
        """Tell whether a card's way to the window began in the tray, not in the hopper."""
        before = self._last_passages.get(card)
        return before is not None and (before.landed, before.filling) == (TRAY, filling)

    def _on_answer(self, answer: EngineAnswer) -> None:
        for card in self._world.window.cards[:1]:
            if card.id in self._last_passages:
                self._last_passages[card.id].answers.append(answer)

    def _land(self, card: int, outlet: int) -> None:
        passage = self._last_passages.get(card)
        if passage is not None and passage.landed is None:
            passage.landed, passage.landed_s = outlet, self._world.clock.now_s()


def card_histories(
    passages: tuple[Passage, ...], fault_texts: Mapping[tuple[int, int], Sequence[str]]
) -> Iterator[CardHistory]:
    """Yield what each card did, for a story; `struck`: words of faults by filling and card."""
    first = passages[0].number if passages else 1
    for passage in passages:
        card = passage.card
        yield CardHistory(
            index=passage.number - first + 1,
            card=card.id,
            face=card.face,
            back=card.back,
            face_up=card.face_up,
            source=passage.source,
            readings=tuple(look[:4] for look in passage.answers),
            gate=passage.gate,
            landed="on its way" if passage.landed is None else passage.landed,
            faults=tuple(fault_texts.get((passage.filling, passage.arrival), ())),
            window_s=passage.window_s,
            landed_s=passage.landed_s,
        )
