"""One self-test under way: the boards, the people, the figures, and the attempt that is open."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import msgspec

from controller.acceptance.board_pair import BoardPair
from controller.acceptance.fed_cards import FedCard, FedCards, RoutePlan
from controller.acceptance.operator_steps import Operator
from controller.acceptance.read_counts import CardReads
from controller.acceptance.selftest_figures import SelftestFigures
from drivers.board_events import BoardEvent, BoardEventCode, DealerMotor, JamPlace, Outlet
from drivers.typed_boards import DealerStatus

LIFT_TIMEOUT_S = 25.0
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
    DealerMotor.FEED: "feed_time",
    DealerMotor.PASS: "pass_time",
    DealerMotor.GATE: "gate_sweep",
    DealerMotor.SHUFFLE: "shuffle_time",
    DealerMotor.LIFT: "lift_up",
}
BEAM_PARTS = {
    outlet: f"beam_{'tray' if outlet is Outlet.TRAY else outlet.name}" for outlet in Outlet
}
POCKET_PARTS = {
    outlet: "tray" if outlet is Outlet.TRAY else f"pocket_{outlet.name}" for outlet in Outlet
}


class MachineNotReady(Exception):
    """The machine cannot be moved on; one line says why."""


class CardSetSpec(msgspec.Struct, frozen=True):
    """The set in the hopper: how many cards, how many to a hand, what it is made of, its back."""

    cards: int
    hand: int
    composition: tuple[int, ...]
    back: int


@dataclass
class SelftestSession:
    """What every part of a self-test works with.

    `look_s`: how long a look may take. `told` takes a line about what goes on now and how many
    cards of `of` are done.
    """

    boards: BoardPair
    operator: Operator
    figures: SelftestFigures
    card_set: CardSetSpec
    look_timeout_s: float
    on_progress: Callable[[str, int, int], None] = lambda what, done, of: None
    cards: FedCards | None = None
    cards_out: bool = False
    """Cards have left the hopper since people last put all of them there."""

    async def status(self) -> DealerStatus:
        """Return what the dealer board sees now."""
        return await self.boards.dealer.get_status()

    async def ensure_attempt(
        self, *, full_hopper: bool = False, new_attempt: bool = False
    ) -> FedCards:
        """Return an attempt in which cards can be fed: the present one, or a new one.

        `whole`: every card of the set must lie in the hopper. Raises Unready, LineLost.
        """
        cards = self.cards
        if cards is not None and cards.breakdown is None and not (full_hopper or new_attempt):
            return cards
        if cards is not None:
            cards.close()
            self.cards = None
        if self.figures.has_failed("at_rest", "hopper"):
            raise MachineNotReady("the hopper's sensor sees no card: nothing can be fed")
        status = await self.status()
        if (full_hopper and self.cards_out) or not _is_empty(status) or not status.sees_hopper:
            if not await self.operator.do("empty"):
                raise MachineNotReady("nobody could put the cards back into the hopper")
            self.cards_out = False
        await self.lower_lift()
        return await self._begin_attempt()

    async def lower_lift(self) -> float | None:
        """Have the lift down; return how many milliseconds that took, None where it was there.

        Raises Unready where it does not come down.
        """
        bench = self.boards
        status = await self.status()
        if status.lift_down and not status.lift_up:
            return None
        mark, since_s = bench.mark(), bench.now_s
        taken = await bench.try_command(bench.dealer.retract())
        if not taken:
            raise MachineNotReady(
                f"the lift is not down, and RETRACT is refused: {taken.result.name}"
            )
        status = await bench.wait_for_status(
            lambda now: (now.lift_down and not now.lift_up) or _has_stalled(bench, mark),
            LIFT_TIMEOUT_S,
        )
        if not status.lift_down or status.lift_up:
            self.figures.record_failure("lift_down", note="it was not seen at the bottom")
            raise MachineNotReady("the lift does not come down")
        return (bench.now_s - since_s) * 1000

    async def _begin_attempt(self) -> FedCards:
        """Begin an attempt on both boards. Raises Unready."""
        bench = self.boards
        bench.attempt += 1
        bench.forget_events()
        number, of = bench.attempt, self.card_set
        cards = FedCards(bench, number, round_robin_plan(of.hand), self.look_timeout_s)
        for board in (bench.reader, bench.dealer):
            taken = await bench.try_command(board.begin(number, of.cards, of.hand))
            if not taken:
                cards.close()
                board_name = "reader" if board is bench.reader else "dealer"
                raise MachineNotReady(
                    f"the {board_name} board refuses to begin: {taken.result.name}"
                )
        self.cards = cards
        return cards

    def count_readings(self, cards: FedCards) -> CardReads:
        """Have what the reader sees of an attempt counted; return where it is."""
        cards.readings = CardReads(self.card_set.composition, self.card_set.back)
        return cards.readings

    async def feed_one(self, cards: FedCards, plan: RoutePlan) -> FedCard | None:
        """Feed one card where a plan says; return it once it landed or broke; None: none came."""
        cards.plan = plan
        index = cards.last_fed + 1
        self.cards_out = True
        taken = await self.boards.try_command(cards.feed(index))
        if not taken:
            raise MachineNotReady(f"the dealer board refuses to feed: {taken.result.name}")
        await cards.wait_until(lambda: cards.card(index).landed_s is not None, CARD_TIMEOUT_S)
        card = cards.card(index)
        return None if card.at_window_s is None else card

    def plan_any_pocket(self) -> RoutePlan:
        """Return a plan over the four pockets whose landings are seen, as far as is known."""
        seats = (Outlet.N, Outlet.W, Outlet.S, Outlet.E)
        good = [seat for seat in seats if not self.figures.has_failed("landing", BEAM_PARTS[seat])]
        return lambda card: good[card.index % len(good)] if good else Outlet.TRAY

    def record_breakdown(self, event: BoardEvent) -> None:
        """Name the part that a JAM or STALL is about."""
        if event.code is BoardEventCode.STALL:
            motor = DealerMotor(event.place)
            self.figures.record_failure(
                FIGURE_OF_STALL[motor], note=f"the motor stalls: {motor.name.lower()}"
            )
        elif event.place != JamPlace.LANDING:
            place = JamPlace(event.place)
            self.figures.record_failure(
                FIGURE_OF_JAM[place], note=f"a card is jammed: {place.name.lower()}"
            )


def _is_empty(status: DealerStatus) -> bool:
    """Whether no card is seen where none may be; the lift is another matter."""
    return not (
        any(status.sees_pockets) or status.sees_tray or status.sees_window or status.sees_path
    )


def _has_stalled(boards: BoardPair, mark: int) -> bool:
    return bool(boards.events_since(mark, BoardEventCode.STALL, BoardEventCode.STOPPED))


def round_robin_plan(hand: int) -> RoutePlan:
    """Return a plan that fills the four pockets in turn, and sends what is over into the tray."""
    given = dict.fromkeys((Outlet.N, Outlet.W, Outlet.S, Outlet.E), 0)

    def plan(card: FedCard) -> Outlet:
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
