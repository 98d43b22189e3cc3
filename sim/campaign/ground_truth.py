"""The true events of the boards and the true paths of the cards, recorded in the simulation.

`ObservedHardware` records each event when the board creates it, before it is sent on a line. The
journal is compared with these events. `CardTracker` records the passages of the cards.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from struct import Struct
from typing import Any, Literal

import msgspec

from drivers.firmware import protocol
from sim.board_faults import BoardName
from sim.campaign.campaign_lives import CardHistory
from sim.hardware_in_process import HardwareInProcess
from sim.mechanics.cards import PhysicalCard
from sim.mechanics.pockets import TRAY
from sim.mechanics.sensors import OUTLETS
from sim.mechanics.window import EngineAnswer
from sim.mechanics.world import World

_EVENT = Struct(protocol.BODIES[protocol.EVENT])


class CoreEvent(msgspec.Struct, frozen=True, gc=False):
    """One board event as the board created it, before the event was sent to the host.

    The fields are those of drivers/link/PROTOCOL.md.
    """

    number: int
    attempt: int
    code: int
    seen: int
    landed: int
    index: int
    place: int


@dataclass
class BoardRun:
    """One boot of a board, from its start until its power is cut, with all its events.

    `kept`: the number of the last event that the host allowed the board to delete. `is_alive`: the
    board's memory still exists, so that its events can still be requested.
    """

    board: BoardName
    boot: int
    events: list[CoreEvent] = field(default_factory=list)
    kept: int = 0
    is_alive: bool = True


class ObservedHardware(HardwareInProcess):
    """Simulated hardware that records all events of its boards.

    `board_runs` has each run of a board with its events, in the order of their starts.
    """

    def __init__(self, *args: Any, **named: Any) -> None:
        """Create the hardware with the arguments of HardwareInProcess."""
        self.board_runs: list[BoardRun] = []
        self._cores: dict[BoardName, Any] = {}
        super().__init__(*args, **named)

    def start(self, name: BoardName, reset_cause: int = protocol.RESET_POWER, **named: Any) -> None:
        """Start a board, unless it runs. The arguments are those of HardwareInProcess."""
        had = self.has_power(name)
        super().start(name, reset_cause, **named)
        board = self.boards[name].board
        if had or board is None:
            return
        core: Any = board.core
        boot = BoardRun(name, core.boot)
        self.board_runs.append(boot)
        self._cores[name] = core
        add = core.memory.add

        def tapped(body: bytes) -> None:
            _, *fields = _EVENT.unpack_from(body)
            boot.events.append(CoreEvent(*fields))
            add(body)

        core.memory.add = tapped

    def kill(self, name: BoardName) -> None:
        """Cut the power of a board. Events that the board has not sent are lost."""
        super().kill(name)
        core = self._cores.pop(name, None)
        if core is not None:
            boot = next(one for one in reversed(self.board_runs) if one.board == name)
            boot.is_alive, boot.kept = False, core.memory.kept


Source = Literal["hopper", "tray"]


@dataclass
class Passage:
    """The path of one card from the hopper or the tray through the window to its outlet.

    `number` counts the arrivals in the window, and two cards that arrived together share one.
    `filling` is the filling of the hopper, and `arrival` the number of the arrival in that filling.
    `gate` is the position of the gate when the card's leading edge arrived. `landed` is the outlet,
    or None while the card is in none. Times are the loop's.
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
    """A recorder of the paths (passages) of all cards in one machine, until `close` is called."""

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
        """The number of passages recorded so far."""
        return len(self._passages)

    def passages(self, since: int = 0) -> tuple[Passage, ...]:
        """Return all passages except the first `since`, in the order of their arrivals."""
        self.update()
        return tuple(self._passages[since:])

    def update(self) -> None:
        """Record the cards that reached a pocket or the tray since the last update."""
        stacks = self._world.pockets.stacks
        for outlet, (known, stack) in enumerate(zip(self._known_stacks, stacks, strict=True)):
            if len(known) == len(stack) and (not stack or known[-1] == stack[-1].id):
                continue
            lies = [card.id for card in stack]
            same = 0
            while same < min(len(known), len(lies)) and known[same] == lies[same]:
                same += 1
            for card in lies[same:]:
                passage = self._last_passages.get(card)
                if passage is not None and passage.landed is None:
                    passage.landed, passage.landed_s = outlet, self._world.clock.now_s()
            self._known_stacks[outlet] = lies

    def close(self) -> None:
        """Stop the recording."""
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
            return  # a person left the card there
        self._arrival = (filling, tally.arrived)
        self._arrivals += 1
        for card in self._world.window.cards:
            before = self._last_passages.get(card.id)
            again = before is not None and (before.landed, before.filling) == (TRAY, filling)
            source: Source = "tray" if again else "hopper"
            passage = Passage(self._arrivals, card, source, filling, tally.arrived, now_s)
            self._passages.append(passage)
            self._last_passages[card.id] = passage

    def _on_answer(self, answer: EngineAnswer) -> None:
        for card in self._world.window.cards[:1]:
            if card.id in self._last_passages:
                self._last_passages[card.id].answers.append(answer)


def card_histories(
    passages: tuple[Passage, ...], fault_texts: Mapping[tuple[int, int], Sequence[str]]
) -> Iterator[CardHistory]:
    """Yield a CardHistory for each passage in `passages`, for the log of a replay.

    `fault_texts` has the faults that struck a card, by the filling and arrival of its passage.
    """
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
