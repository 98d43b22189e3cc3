"""One self-test under way: the boards, the people, the figures, and the attempt that is open."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import msgspec

from controller.acceptance.bench import Bench
from controller.acceptance.cards import Card, Cards, Plan
from controller.acceptance.figures import SelftestFigures
from controller.acceptance.steps import Hands
from controller.vault.reading import CardReads
from drivers.dealer import Status
from drivers.events import Code, Event, JamPlace, Motor, Outlet

LIFT_S = 25.0
"""Beyond the longest lift_limit_ms: the board itself ends its motion before."""
CARD_TIMEOUT_S = 8.0
"""Nothing is heard for so long of a card that is fed: every limit of a board is over by then."""

FIGURE_OF_JAM = {
    JamPlace.FEEDER: "feed_time",
    JamPlace.WINDOW: "pass_time",
    JamPlace.GATE: "pass_time",
    JamPlace.TRAY_FEEDER: "refeed",
    JamPlace.SHUFFLER: "shuffle_time",
    JamPlace.LIFT: "lift_up",
}
"""The figure that has no number because of a jam there."""
FIGURE_OF_STALL = {
    Motor.FEED: "feed_time",
    Motor.PASS: "pass_time",
    Motor.GATE: "gate_sweep",
    Motor.SHUFFLE: "shuffle_time",
    Motor.LIFT: "lift_up",
}
BEAM_PARTS = {
    outlet: f"beam_{'tray' if outlet is Outlet.TRAY else outlet.name}" for outlet in Outlet
}
POCKETS = {
    outlet: "tray" if outlet is Outlet.TRAY else f"pocket_{outlet.name}" for outlet in Outlet
}


class MachineNotReady(Exception):
    """The machine cannot be moved on; one line says why."""


class CardSet(msgspec.Struct, frozen=True):
    """The set in the hopper: how many cards, how many to a hand, what it is made of, its back."""

    cards: int
    hand: int
    composition: tuple[int, ...]
    back: int


@dataclass
class Session:
    """What every part of a self-test works with.

    `look_s`: how long a look may take. `told` takes a line about what goes on now and how many
    cards of `of` are done.
    """

    bench: Bench
    hands: Hands
    figures: SelftestFigures
    card_set: CardSet
    look_s: float
    told: Callable[[str, int, int], None] = lambda what, done, of: None
    cards: Cards | None = None
    loose: bool = False
    """Cards have left the hopper since people last put all of them there."""

    async def status(self) -> Status:
        """Return what the dealer board sees now."""
        return await self.bench.dealer.status()

    async def ensure(self, *, whole: bool = False, afresh: bool = False) -> Cards:
        """Return an attempt in which cards can be fed: the present one, or a new one.

        `whole`: every card of the set must lie in the hopper. Raises Unready, LineLost.
        """
        cards = self.cards
        if cards is not None and cards.broken is None and not (whole or afresh):
            return cards
        if cards is not None:
            cards.close()
            self.cards = None
        if self.figures.failed("at_rest", "hopper"):
            raise MachineNotReady("the hopper's sensor sees no card: nothing can be fed")
        status = await self.status()
        if (whole and self.loose) or not _is_empty(status) or not status.sees_hopper:
            if not await self.hands.do("empty"):
                raise MachineNotReady("nobody could put the cards back into the hopper")
            self.loose = False
        await self.lower()
        return await self._begin_attempt()

    async def lower(self) -> float | None:
        """Have the lift down; return how many milliseconds that took, None where it was there.

        Raises Unready where it does not come down.
        """
        bench = self.bench
        status = await self.status()
        if status.lift_down and not status.lift_up:
            return None
        mark, since_s = bench.mark(), bench.now_s
        taken = await bench.tried(bench.dealer.retract())
        if not taken:
            raise MachineNotReady(
                f"the lift is not down, and RETRACT is refused: {taken.result.name}"
            )
        status = await bench.settled(
            lambda now: (now.lift_down and not now.lift_up) or _has_stalled(bench, mark), LIFT_S
        )
        if not status.lift_down or status.lift_up:
            self.figures.fail("lift_down", note="it was not seen at the bottom")
            raise MachineNotReady("the lift does not come down")
        return (bench.now_s - since_s) * 1000

    async def _begin_attempt(self) -> Cards:
        """Begin an attempt on both boards. Raises Unready."""
        bench = self.bench
        bench.attempt += 1
        bench.forget()
        number, of = bench.attempt, self.card_set
        cards = Cards(bench, number, round_robin_plan(of.hand), self.look_s)
        for board in (bench.reader, bench.dealer):
            taken = await bench.tried(board.begin(number, of.cards, of.hand))
            if not taken:
                cards.close()
                board_name = "reader" if board is bench.reader else "dealer"
                raise MachineNotReady(
                    f"the {board_name} board refuses to begin: {taken.result.name}"
                )
        self.cards = cards
        return cards

    def count_readings(self, cards: Cards) -> CardReads:
        """Have what the reader sees of an attempt counted; return where it is."""
        cards.readings = CardReads(self.card_set.composition, self.card_set.back)
        return cards.readings

    async def one(self, cards: Cards, plan: Plan) -> Card | None:
        """Feed one card where a plan says; return it once it landed or broke; None: none came."""
        cards.plan = plan
        index = cards.fed + 1
        self.loose = True
        taken = await self.bench.tried(cards.feed(index))
        if not taken:
            raise MachineNotReady(f"the dealer board refuses to feed: {taken.result.name}")
        await cards.settle(lambda: cards.card(index).landed_s is not None, CARD_TIMEOUT_S)
        card = cards.card(index)
        return None if card.at_s is None else card

    def plan_any_pocket(self) -> Plan:
        """Return a plan over the four pockets whose landings are seen, as far as is known."""
        seats = (Outlet.N, Outlet.W, Outlet.S, Outlet.E)
        good = [seat for seat in seats if not self.figures.failed("landing", BEAM_PARTS[seat])]
        return lambda card: good[card.index % len(good)] if good else Outlet.TRAY

    def blame(self, event: Event) -> None:
        """Name the part that a JAM or STALL is about."""
        if event.code is Code.STALL:
            motor = Motor(event.place)
            self.figures.fail(
                FIGURE_OF_STALL[motor], note=f"the motor stalls: {motor.name.lower()}"
            )
        elif event.place != JamPlace.LANDING:
            place = JamPlace(event.place)
            self.figures.fail(FIGURE_OF_JAM[place], note=f"a card is jammed: {place.name.lower()}")


def _is_empty(status: Status) -> bool:
    """Whether no card is seen where none may be; the lift is another matter."""
    return not (
        any(status.sees_pockets) or status.sees_tray or status.sees_window or status.sees_path
    )


def _has_stalled(bench: Bench, mark: int) -> bool:
    return bool(bench.since(mark, Code.STALL, Code.STOPPED))


def round_robin_plan(hand: int) -> Plan:
    """Return a plan that fills the four pockets in turn, and sends what is over into the tray."""
    given = dict.fromkeys((Outlet.N, Outlet.W, Outlet.S, Outlet.E), 0)

    def plan(card: Card) -> Outlet:
        if card.doubled:
            return Outlet.TRAY
        outlet = min(given, key=lambda seat: given[seat])
        if given[outlet] >= hand:
            return Outlet.TRAY
        given[outlet] += 1
        return outlet

    return plan


def percentile(values: Sequence[float], part: float) -> float:
    """Return the value below which `part` (0 … 1) of them lie; there is one at least."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * part))]
