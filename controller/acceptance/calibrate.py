"""Calibration: one part is measured and shown while somebody turns a screw, until it is right.

A setting of a board that follows from what was measured is returned; the caller sets it.
"""

import asyncio
import math
from collections.abc import Awaitable, Callable
from itertools import pairwise
from statistics import mean, median
from typing import Final, Literal

import msgspec

from controller.acceptance.cards import Card, Cards
from controller.acceptance.session import (
    CARD_TIMEOUT_S,
    POCKETS,
    MachineNotReady,
    Session,
    percentile,
)
from controller.acceptance.steps import Name
from drivers.dealer import BOUNDS as DEALER_BOUNDS
from drivers.events import Board, Code, Outlet, Read
from drivers.reader import BOUNDS as READER_BOUNDS

CalibrationSubject = Literal["feeder-gap", "gate", "reader-light", "pockets"]
Shown = Callable[[str], None]

MAX_TURNS: Final = 10
"""So often somebody turns a screw before it is given up."""
BATCH_CARDS: Final = 20
RIGHT_BATCHES: Final = 2
"""So many batches of cards without one that slipped or doubled: 40 cards."""
SLOW: Final = 3.0
"""So many times the median is a card that slipped."""
GATE_SWEEPS: Final = 5
LOOKS: Final = 10
LIGHT_CARDS: Final = 3
"""Cards on which the light must be right: a joker, a red and a black card look different."""
SURE: Final = 200
"""The least confidence, of 255, of a light that is right; 128 counts as a reading."""
LIVE_INTERVAL_S: Final = 0.2
SWEEP_END_S: Final = 0.05


class Outcome(msgspec.Struct, frozen=True):
    """What a calibration came to. `settings`: of `board`, by their names; none where it has none.

    `why`: what is still wrong, "" where it is right.
    """

    right: bool
    board: Board = "dealer"
    settings: dict[str, int] = {}
    why: str = ""


async def calibrate(of: Session, subject: CalibrationSubject, shown: Shown) -> Outcome:
    """Guide somebody through the calibration of one part. `shown` takes what is measured.

    Raises Unready, Refused, LineLost.
    """
    return await _CALIBRATIONS[subject](of, shown)


async def calibrate_feeder_gap(of: Session, shown: Shown) -> Outcome:
    """Feed cards and have the gap set, until none doubles and none slips."""
    right, times, why = 0, list[float](), ""
    for _ in range(MAX_TURNS):
        fed, doubles, slips = await _feed_batch(of)
        times = fed if right == 0 else times + fed
        shown(
            f"{len(fed)} cards: {_ms_text(median(fed)) if fed else 'none came'}, "
            f"{doubles} doubled, {slips} slipped"
        )
        right = right + 1 if fed and not (doubles or slips) else 0
        if right == RIGHT_BATCHES:
            limit = _setting_value("feed_limit_ms", 6 * percentile(times, 0.95), DEALER_BOUNDS, 50)
            return Outcome(True, settings={"feed_limit_ms": limit})
        if right:
            continue
        why = f"{doubles} of {BATCH_CARDS} doubled, {slips} slipped"
        if not await of.hands.do("gap_closer" if doubles else "gap_wider"):
            break
    return Outcome(False, why=why)


async def gate(of: Session, shown: Shown) -> Outcome:
    """Sweep the gate over its five outlets until it comes to each, time after time."""
    sweeps, bench = list[float](), of.bench
    await of.lower()
    for _ in range(MAX_TURNS + GATE_SWEEPS):
        mark, since_s = bench.mark(), bench.now_s
        taken = await bench.tried(bench.dealer.selftest())
        if not taken:
            raise MachineNotReady(f"the dealer board refuses its test: {taken.result.name}")
        await _wait_until_still(of)
        took_ms = (bench.now_s - since_s) * 1000
        stalled = await bench.until(mark, lambda event: event.code is Code.STALL, SWEEP_END_S)
        if stalled is None:
            sweeps.append(took_ms)
            shown(f"five outlets in {_ms_text(took_ms)}")
            if len(sweeps) == GATE_SWEEPS:
                # No way from one outlet to another is longer than all of them together.
                limit = _setting_value("gate_limit_ms", 2 * max(sweeps), DEALER_BOUNDS, 10)
                return Outcome(True, settings={"gate_limit_ms": limit})
            continue
        shown(f"it does not come to an outlet: the board gave up after {_ms_text(took_ms)}")
        sweeps.clear()
        if not await of.hands.do("gate_freer"):
            break
    return Outcome(False, why="it does not come to each outlet")


async def calibrate_reader_light(of: Session, shown: Shown) -> Outcome:
    """Look at standing cards again and again while the light is set, until each look is sure."""
    took, way, before, why = list[float](), _BRIGHTER, -1.0, ""
    turns = MAX_TURNS
    for number in range(1, LIGHT_CARDS + 1):
        cards, card = await _hold_card_at_window(of)
        while True:
            looks = await _take_looks(of, cards, card)
            quality = mean(look.confidence if look.readable else 0 for look in looks)
            sure = sum(look.readable and look.confidence >= SURE for look in looks)
            shown(f"card {number}: {sure} of {LOOKS} looks sure, confidence {quality:.0f} of 255")
            if sure == LOOKS:
                took += [look.took_ms for look in looks]
                break
            why = f"{LOOKS - sure} of {LOOKS} looks at card {number} are not sure"
            if quality < before:  # the last turn was the wrong way
                way = _DARKER if way == _BRIGHTER else _BRIGHTER
            before, turns = quality, turns - 1
            if turns < 0 or not await of.hands.do(way):
                await _release_card(of, cards, card)
                return Outcome(False, "reader", why=why)
        await _release_card(of, cards, card)
    limit = _setting_value("read_limit_ms", 3 * percentile(took, 0.95), READER_BOUNDS, 10)
    return Outcome(True, "reader", {"read_limit_ms": limit})


async def pockets(of: Session, shown: Shown) -> Outcome:
    """Have each pocket's sensor covered and freed, and set until it sees just that."""
    wrong: list[str] = []
    for outlet in Outlet:
        part = POCKETS[outlet]
        if not (await _seen(of, outlet, True, shown) and await _seen(of, outlet, False, shown)):
            wrong.append(part)
    return Outcome(not wrong, why=", ".join(wrong))


class Look(msgspec.Struct, frozen=True):
    """What a look is worth; its face is not here."""

    readable: bool
    confidence: int
    took_ms: float


_BRIGHTER: Final[Name] = "brighter"
_DARKER: Final[Name] = "darker"


async def _feed_batch(of: Session) -> tuple[list[float], int, int]:
    """Feed some cards; return their times (ms), how many doubled, and how many slipped."""
    cards = await of.ensure()
    if cards.fed + BATCH_CARDS > of.card_set.cards:
        cards = await of.ensure(whole=True)
    first, of.loose = cards.fed, True
    plan = of.plan_any_pocket()
    cards.plan = lambda card: Outlet.TRAY if card.doubled else plan(card)
    await cards.feed(first + BATCH_CARDS)

    def done() -> bool:
        last = cards.all.get(first + BATCH_CARDS)
        return last is not None and last.landed_s is not None

    whole = await cards.settle(done, CARD_TIMEOUT_S)
    fed = [cards.card(index) for index in range(first + 1, cards.fed + 1)]
    times = [
        (card.at_s - before.gated_s) * 1000
        for before, card in pairwise(fed)
        if card.at_s is not None and before.gated_s is not None
    ]
    slips = sum(time > SLOW * median(times) for time in times) + (not whole)
    doubles = sum(card.doubled for card in fed)
    if not whole and cards.broken is None:
        of.bench.dealer.stop()
        cards.close()
        of.cards = None
    return times, doubles, slips


async def _hold_card_at_window(of: Session) -> tuple[Cards, Card]:
    """Bring one card to the window and let it stand there. Raises Unready."""
    cards = await of.ensure()
    index, of.loose = cards.fed + 1, True
    cards.plan = lambda card: None
    await cards.feed(index)
    if not await cards.settle(lambda: cards.card(index).looked, CARD_TIMEOUT_S):
        raise MachineNotReady("no card came to the window")
    return cards, cards.card(index)


async def _take_looks(of: Session, cards: Cards, card: Card) -> list[Look]:
    """Look at the card in the window some times."""
    bench, looks = of.bench, list[Look]()
    for _ in range(LOOKS):
        mark, since_s = bench.mark(), bench.now_s
        bench.reader.reread(cards.attempt, card.index)
        said = await bench.until(
            mark,
            lambda event: event.code is Code.READ and event.index == card.index,
            CARD_TIMEOUT_S,
        )
        if said is None or not isinstance(said.event, Read):
            raise MachineNotReady("the reader board does not answer")
        read = said.event
        looks.append(Look(read.readable, read.confidence, (said.at_s - since_s) * 1000))
    return looks


async def _release_card(of: Session, cards: Cards, card: Card) -> None:
    """Let the card in the window go on."""
    cards.plan = of.plan_any_pocket()
    cards.go()
    await cards.settle(lambda: card.landed_s is not None, CARD_TIMEOUT_S)


async def _seen(of: Session, outlet: Outlet, there: bool, shown: Shown) -> bool:
    """Have a sensor covered or freed, and set until it says so; False where it does not."""
    part = POCKETS[outlet]

    async def sees() -> bool:
        status = await of.status()
        seen = status.sees_tray if outlet is Outlet.TRAY else status.sees_pockets[outlet]
        shown(f"{part}: {'sees a card' if seen else 'free'}")
        return seen

    asked: Name = "cover" if there else "uncover"
    turn: Name = "more_sensitive" if there else "less_sensitive"
    if not await _live(of, asked, part, sees):
        return False
    for _ in range(MAX_TURNS):
        if await sees() is there:
            return True
        if not await _live(of, turn, part, sees):
            break
    return False


async def _live(of: Session, name: Name, part: str, look: Callable[[], Awaitable[bool]]) -> bool:
    """Have a step done, and show meanwhile what is measured."""
    doing = asyncio.ensure_future(of.hands.do(name, part))
    try:
        while not doing.done():
            await look()
            await asyncio.wait({doing}, timeout=LIVE_INTERVAL_S)
    finally:
        doing.cancel()
    return doing.result()


async def _wait_until_still(of: Session) -> None:
    for _ in range(MAX_TURNS * 1000):
        if not await of.bench.dealer.moves():
            return
        await asyncio.sleep(SWEEP_END_S / 10)


def _setting_value(name: str, value: float, bounds: dict[str, tuple[int, int]], to: int) -> int:
    """Return a setting's value: rounded up, within the bounds of the board."""
    least, most = bounds[name]
    return max(least, min(most, math.ceil(value / to) * to))


def _ms_text(value: float) -> str:
    return f"{value:.0f} ms"


_CALIBRATIONS: dict[CalibrationSubject, Callable[[Session, Shown], Awaitable[Outcome]]] = {
    "feeder-gap": calibrate_feeder_gap,
    "gate": gate,
    "reader-light": calibrate_reader_light,
    "pockets": pockets,
}
CALIBRATION_SUBJECTS: Final = tuple(_CALIBRATIONS)
