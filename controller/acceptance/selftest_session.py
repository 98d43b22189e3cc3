"""The state of one running self-test: boards, people, measured values, present attempt.

steps.toml lists the steps that people do.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, Protocol

import msgspec

from controller.acceptance.board_pair import BoardPair
from controller.acceptance.fed_cards import FedCard, FedCards, RoutePlan
from controller.acceptance.selftest_figures import SelftestFigures
from controller.host import toml_files
from drivers.board_events import BoardEvent, BoardEventCode, DealerMotor, JamPlace, Outlet
from drivers.typed_boards import DealerStatus

StepName = Literal[
    "empty",
    "carry_back",
    "open_lid",
    "close_lid",
    "press_estop",
    "release_estop",
    "hold_card",
    "let_go",
    "double_card",
    "untape",
    "gap_closer",
    "gap_wider",
    "gate_freer",
    "brighter",
    "darker",
    "cover",
    "uncover",
    "more_sensitive",
    "less_sensitive",
]


class OperatorStep(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A manual step at the machine during a test. steps.toml describes each field."""

    zh: str
    en: str
    does: tuple[dict[str, Any], ...]
    now: bool = False


class Operator(Protocol):
    """The interface to the people, real or simulated, who do manual steps at a machine."""

    async def do(self, name: StepName, part: str = "") -> bool:
        """Ask people to do a step, and wait. Return True if they did it, False if they cannot.

        `part` is the part of the machine (limits.toml) for a step that can apply to several parts.
        """

    async def prepare(self, name: StepName) -> bool:
        """Ask people to get ready for a step. Return True if ready, False if they cannot."""

    async def signal(self, name: StepName) -> None:
        """Give people the signal to do a step now. They may do it after this method returns."""


class SimulatedOperator:
    """An operator that does the manual steps by requests to the simulator (sim/CONTROL.md)."""

    def __init__(self, request: Callable[..., Awaitable[Any]]) -> None:
        self._request = request

    async def do(self, name: StepName, part: str = "") -> bool:
        """Do a step on the simulated machine, and return True."""
        for deed in operator_step(name).does:
            words = {key: value for key, value in deed.items() if key != "do"}
            await self._request(deed["do"], **words)
        return True

    async def prepare(self, name: StepName) -> bool:
        """Return True, because a simulated step needs no preparation."""
        return True

    async def signal(self, name: StepName) -> None:
        """Do the step on the simulated machine at once."""
        await self.do(name)


def operator_step(name: StepName) -> OperatorStep:
    """Return the step of steps.toml called `name`."""
    return _load_steps()[name]


@cache
def _load_steps() -> dict[str, OperatorStep]:
    shape = dict[str, dict[str, OperatorStep]]
    return toml_files.read_resource("controller.acceptance", "steps.toml", shape)["step"]


LIFT_TIMEOUT_S = 25.0
"""The limit for the lift, longer than the longest lift_limit_ms.

The board itself ends the motion before.
"""
CARD_TIMEOUT_S = 8.0
"""The limit for the next event of a fed card. All limits of a board are shorter."""

FIGURE_OF_JAM = {
    JamPlace.FEEDER: "feed_time",
    JamPlace.WINDOW: "pass_time",
    JamPlace.GATE: "pass_time",
    JamPlace.TRAY_FEEDER: "refeed",
    JamPlace.SHUFFLER: "shuffle_time",
    JamPlace.LIFT: "lift_up",
}
"""The figure that fails after a jam at each place."""
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
    """The error for a machine that cannot be tested now. Its message is the reason in one line."""


class CardSetSpec(msgspec.Struct, frozen=True):
    """The card set that a self-test needs in the hopper: its size, its faces and its back.

    `cards`: its number of cards. `hand`: the number of cards of a hand. `composition`: the number
    of each face. `back`: the reader board's number for the back.
    """

    cards: int
    hand: int
    composition: tuple[int, ...]
    back: int


@dataclass
class SelftestSession:
    """The state that all parts of a self-test share.

    `look_timeout_s`: the limit for a look. `on_progress` receives the name of the present part, how
    much is done, and of how much.
    """

    boards: BoardPair
    operator: Operator
    figures: SelftestFigures
    card_set: CardSetSpec
    look_timeout_s: float
    on_progress: Callable[[str, int, int], None] = lambda what, done, of: None
    cards: FedCards | None = None
    cards_out: bool = False
    """True if cards left the hopper since people last put all cards into it."""

    async def status(self) -> DealerStatus:
        """Return the present status of the dealer board."""
        return await self.boards.dealer.get_status()

    async def ensure_attempt(
        self, *, full_hopper: bool = False, new_attempt: bool = False
    ) -> FedCards:
        """Return the cards of the present attempt, or begin a new attempt and return its cards.

        A new attempt begins if there is none, after a jam or stall, and always with `new_attempt`
        or `full_hopper`. With `full_hopper` every card of the set must be in the hopper.
        Raises MachineNotReady, LineLost.
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
        left = any((*status.sees_pockets, status.sees_tray, status.sees_window, status.sees_path))
        if (full_hopper and self.cards_out) or left or not status.sees_hopper:
            if not await self.operator.do("empty"):
                raise MachineNotReady("the cards could not be put back into the hopper")
            self.cards_out = False
        await self.lower_lift()
        return await self._begin_attempt()

    async def lower_lift(self) -> float | None:
        """Lower the lift, and return the time in ms, or None if the lift was already down.

        Raises MachineNotReady if the lift does not come down.
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
            lambda now: (
                (now.lift_down and not now.lift_up)
                or bool(bench.events_since(mark, BoardEventCode.STALL, BoardEventCode.STOPPED))
            ),
            LIFT_TIMEOUT_S,
        )
        if not status.lift_down or status.lift_up:
            self.figures.record_failure("lift_down", note="it was not seen at the bottom")
            raise MachineNotReady("the lift does not come down")
        return (bench.now_s - since_s) * 1000

    async def _begin_attempt(self) -> FedCards:
        """Begin an attempt on both boards, and return its cards. Raises MachineNotReady."""
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

    async def feed_one(self, cards: FedCards, plan: RoutePlan) -> FedCard | None:
        """Feed one card, wait until it lands or stops, and return the card.

        `plan` returns the outlet of the card. The result is None if no card came to the window.
        Raises MachineNotReady.
        """
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
        """Return a plan that uses only pockets with a good landing sensor.

        If no pocket has a good sensor, the plan uses the tray.
        """
        seats = (Outlet.N, Outlet.W, Outlet.S, Outlet.E)
        good = [seat for seat in seats if not self.figures.has_failed("landing", BEAM_PARTS[seat])]
        return lambda card: good[card.index % len(good)] if good else Outlet.TRAY

    def record_breakdown(self, event: BoardEvent) -> None:
        """Store a failure of the part that stalled or jammed. A jam at a landing stores nothing."""
        if event.code is BoardEventCode.STALL:
            motor = DealerMotor(event.place)
            note = f"the motor stalls: {motor.name.lower()}"
            self.figures.record_failure(FIGURE_OF_STALL[motor], note=note)
        elif event.place != JamPlace.LANDING:
            place = JamPlace(event.place)
            note = f"a card is jammed: {place.name.lower()}"
            self.figures.record_failure(FIGURE_OF_JAM[place], note=note)


def round_robin_plan(hand: int) -> RoutePlan:
    """Return a plan that routes `hand` cards to each pocket in turn, and the rest to the tray."""
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
    """Return the percentile of `values` at the share `part`: for 0.95, the 95th percentile.

    `part` is from 0 to 1. There must be at least one value.
    """
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * part))]
