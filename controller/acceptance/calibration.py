"""Calibration: a technician adjusts a part while this program measures the part repeatedly.

The measured values are shown. If a board setting follows from the measurement, the function returns
the setting. The caller writes it to the board.
"""

import asyncio
import math
from collections.abc import Awaitable, Callable
from itertools import pairwise
from statistics import mean, median
from typing import Final, Literal

import msgspec

from controller.acceptance.fed_cards import FedCard, FedCards
from controller.acceptance.selftest_session import (
    CARD_TIMEOUT_S,
    POCKET_PARTS,
    MachineNotReady,
    SelftestSession,
    StepName,
    percentile,
)
from drivers.board_events import BoardEventCode, BoardKind, CardReadEvent, Outlet
from drivers.typed_boards import DEALER_SETTING_BOUNDS as DEALER_BOUNDS
from drivers.typed_boards import READER_SETTING_BOUNDS as READER_BOUNDS

CalibrationSubject = Literal["feeder-gap", "gate", "reader-light", "pockets"]
ShowLine = Callable[[str], None]

MAX_TURNS: Final = 10
"""The number of adjustments before a calibration is given up."""
BATCH_CARDS: Final = 20
RIGHT_BATCHES: Final = 2
"""The number of consecutive batches without a slipped or doubled card: 40 cards in total."""
SLIP_FACTOR: Final = 3.0
"""A card has slipped if it takes more than this many times the median."""
GATE_SWEEPS: Final = 5
LOOKS_PER_CARD: Final = 10
LIGHT_CARDS: Final = 3
"""The number of cards on which the light must be right.

A joker, a red and a black card look different.
"""
MIN_CONFIDENCE: Final = 200
"""The minimum confidence (0 to 255) in a correct light. The vault accepts a look from 128 on."""
LIVE_INTERVAL_S: Final = 0.2
SWEEP_END_S: Final = 0.05


class CalibrationResult(msgspec.Struct, frozen=True):
    """The result of a calibration: whether the part is well adjusted, and the settings to store.

    `settings`: settings of `board` by name, empty if there are none. `why`: the remaining fault, ""
    if the part is well adjusted.
    """

    is_right: bool
    board: BoardKind = "dealer"
    settings: dict[str, int] = {}
    why: str = ""


async def calibrate(
    session: SelftestSession, subject: CalibrationSubject, show: ShowLine
) -> CalibrationResult:
    """Guide a technician through the calibration of one part, and return the result.

    `show` receives the measured values. Raises MachineNotReady, BoardRefused, LineLost.
    """
    return await _CALIBRATIONS[subject](session, show)


async def calibrate_feeder_gap(session: SelftestSession, show: ShowLine) -> CalibrationResult:
    """Feed batches of cards while the technician adjusts the gap of the feeder.

    The gap is right after two batches in which no two cards stuck together and no card slipped.
    """
    right, times, why = 0, list[float](), ""
    for _ in range(MAX_TURNS):
        fed, doubles, slips = await _feed_batch(session)
        times = fed if right == 0 else times + fed
        show(
            f"{len(fed)} cards: {_ms_text(median(fed)) if fed else 'none came'}, "
            f"{doubles} doubled, {slips} slipped"
        )
        right = right + 1 if fed and not (doubles or slips) else 0
        if right == RIGHT_BATCHES:
            limit = _setting_value("feed_limit_ms", 6 * percentile(times, 0.95), DEALER_BOUNDS, 50)
            return CalibrationResult(True, settings={"feed_limit_ms": limit})
        if right:
            continue
        why = f"{doubles} of {BATCH_CARDS} doubled, {slips} slipped"
        if not await session.operator.do("gap_closer" if doubles else "gap_wider"):
            break
    return CalibrationResult(False, why=why)


async def calibrate_gate(session: SelftestSession, show: ShowLine) -> CalibrationResult:
    """Repeat the gate's test movement until it reaches all five outlets five times in a row.

    After each failure the technician makes the gate move more freely. The number of tests is
    limited.
    """
    sweeps, bench = list[float](), session.boards
    await session.lower_lift()
    for _ in range(MAX_TURNS + GATE_SWEEPS):
        mark, since_s = bench.mark(), bench.now_s
        taken = await bench.try_command(bench.dealer.selftest())
        if not taken:
            raise MachineNotReady(f"the dealer board refuses its test: {taken.result.name}")
        await _wait_until_still(session)
        took_ms = (bench.now_s - since_s) * 1000
        stalled = await bench.wait_for_event(
            mark, lambda event: event.code is BoardEventCode.STALL, SWEEP_END_S
        )
        if stalled is None:
            sweeps.append(took_ms)
            show(f"five outlets in {_ms_text(took_ms)}")
            if len(sweeps) == GATE_SWEEPS:
                # No movement between two outlets takes longer than all movements together.
                limit = _setting_value("gate_limit_ms", 2 * max(sweeps), DEALER_BOUNDS, 10)
                return CalibrationResult(True, settings={"gate_limit_ms": limit})
            continue
        show(f"it does not come to an outlet: the board gave up after {_ms_text(took_ms)}")
        sweeps.clear()
        if not await session.operator.do("gate_freer"):
            break
    return CalibrationResult(False, why="it does not come to each outlet")


async def calibrate_reader_light(session: SelftestSession, show: ShowLine) -> CalibrationResult:
    """Read cards in the window while the technician adjusts the light of the reader.

    The light is right when the reader is sure of every look at three cards.
    """
    took, way, before, why = list[float](), _BRIGHTER, -1.0, ""
    turns = MAX_TURNS
    for number in range(1, LIGHT_CARDS + 1):
        cards, card = await _hold_card_at_window(session)
        while True:
            looks = await _take_looks(session, cards, card)
            quality = mean(confidence for confidence, _ in looks)
            sure = sum(confidence >= MIN_CONFIDENCE for confidence, _ in looks)
            show(
                f"card {number}: {sure} of {LOOKS_PER_CARD} looks sure, "
                f"confidence {quality:.0f} of 255"
            )
            if sure == LOOKS_PER_CARD:
                took += [took_ms for _, took_ms in looks]
                break
            why = f"{LOOKS_PER_CARD - sure} of {LOOKS_PER_CARD} looks at card {number} are not sure"
            if quality < before:  # the last adjustment went in the wrong direction
                way = _DARKER if way == _BRIGHTER else _BRIGHTER
            before, turns = quality, turns - 1
            if turns < 0 or not await session.operator.do(way):
                await _release_card(session, cards, card)
                return CalibrationResult(False, "reader", why=why)
        await _release_card(session, cards, card)
    limit = _setting_value("read_limit_ms", 3 * percentile(took, 0.95), READER_BOUNDS, 10)
    return CalibrationResult(True, "reader", {"read_limit_ms": limit})


async def calibrate_pockets(session: SelftestSession, show: ShowLine) -> CalibrationResult:
    """Check the sensors of the pockets and of the tray while the technician adjusts each sensor.

    The technician covers and uncovers a sensor. The sensor must detect both states.
    """
    wrong = []
    for outlet in Outlet:
        covered = await _adjust_sensor(session, outlet, True, show)
        if not covered or not await _adjust_sensor(session, outlet, False, show):
            wrong.append(POCKET_PARTS[outlet])
    return CalibrationResult(not wrong, why=", ".join(wrong))


_BRIGHTER: Final[StepName] = "brighter"
_DARKER: Final[StepName] = "darker"


async def _feed_batch(session: SelftestSession) -> tuple[list[float], int, int]:
    """Feed a batch of cards. Return the feed times (ms) and the numbers of double feeds and slips.

    A slip is a card that took much longer than the others, or did not come.
    """
    cards = await session.ensure_attempt()
    if cards.last_fed + BATCH_CARDS > session.card_set.cards:
        cards = await session.ensure_attempt(full_hopper=True)
    first, session.cards_out = cards.last_fed, True
    plan = session.plan_any_pocket()
    cards.plan = lambda card: Outlet.TRAY if card.doubled else plan(card)
    await cards.feed(first + BATCH_CARDS)

    def done() -> bool:
        last = cards.cards_by_index.get(first + BATCH_CARDS)
        return last is not None and last.landed_s is not None

    whole = await cards.wait_until(done, CARD_TIMEOUT_S)
    fed = [cards.card(index) for index in range(first + 1, cards.last_fed + 1)]
    times = [
        (card.at_window_s - before.at_gate_s) * 1000
        for before, card in pairwise(fed)
        if card.at_window_s is not None and before.at_gate_s is not None
    ]
    slips = sum(time > SLIP_FACTOR * median(times) for time in times) + (not whole)
    doubles = sum(card.doubled for card in fed)
    if not whole and cards.breakdown is None:
        session.boards.dealer.stop()
        cards.close()
        session.cards = None
    return times, doubles, slips


async def _hold_card_at_window(session: SelftestSession) -> tuple[FedCards, FedCard]:
    """Feed one card to the reader's window and leave it there. Raises MachineNotReady."""
    cards = await session.ensure_attempt()
    index, session.cards_out = cards.last_fed + 1, True
    cards.plan = lambda card: None
    await cards.feed(index)
    if not await cards.wait_until(lambda: cards.card(index).look_done, CARD_TIMEOUT_S):
        raise MachineNotReady("no card came to the window")
    return cards, cards.card(index)


async def _take_looks(
    session: SelftestSession, cards: FedCards, card: FedCard
) -> list[tuple[int, float]]:
    """Take LOOKS_PER_CARD looks at the card in the window; return confidence and duration of each.

    The confidence is 0 if the card was unreadable. The duration is in milliseconds. Raises
    MachineNotReady if the reader board does not answer.
    """
    bench, looks = session.boards, list[tuple[int, float]]()
    for _ in range(LOOKS_PER_CARD):
        mark, since_s = bench.mark(), bench.now_s
        bench.reader.reread(cards.attempt, card.index)
        said = await bench.wait_for_event(
            mark,
            lambda event: event.code is BoardEventCode.READ and event.index == card.index,
            CARD_TIMEOUT_S,
        )
        if said is None or not isinstance(said.event, CardReadEvent):
            raise MachineNotReady("the reader board does not answer")
        confidence = said.event.confidence if said.event.is_readable else 0
        looks.append((confidence, (said.at_s - since_s) * 1000))
    return looks


async def _release_card(session: SelftestSession, cards: FedCards, card: FedCard) -> None:
    """Route the card in the window to a pocket, and wait until it has landed."""
    cards.plan = session.plan_any_pocket()
    cards.send_waiting()
    await cards.wait_until(lambda: card.landed_s is not None, CARD_TIMEOUT_S)


async def _adjust_sensor(
    session: SelftestSession, outlet: Outlet, card_present: bool, show: ShowLine
) -> bool:
    """Ask a technician to cover or uncover a sensor, then to adjust it until it reports correctly.

    Return True if the sensor reports `card_present` at last (True for a covered sensor), and False
    if the technician cannot do a step or has made MAX_TURNS adjustments.
    """
    part = POCKET_PARTS[outlet]

    async def sees() -> bool:
        status = await session.status()
        seen = status.sees_tray if outlet is Outlet.TRAY else status.sees_pockets[outlet]
        show(f"{part}: {'sees a card' if seen else 'free'}")
        return seen

    asked: StepName = "cover" if card_present else "uncover"
    turn: StepName = "more_sensitive" if card_present else "less_sensitive"
    if not await _show_while(session, asked, part, sees):
        return False
    for _ in range(MAX_TURNS):
        if await sees() is card_present:
            return True
        if not await _show_while(session, turn, part, sees):
            break
    return False


async def _show_while(
    session: SelftestSession, name: StepName, part: str, look: Callable[[], Awaitable[bool]]
) -> bool:
    """Ask people to do the step `name`, and call `look` repeatedly meanwhile.

    `look` measures and shows the value of a sensor once. Return True if people did the step.
    """
    doing = asyncio.ensure_future(session.operator.do(name, part))
    try:
        while not doing.done():
            await look()
            await asyncio.wait({doing}, timeout=LIVE_INTERVAL_S)
    finally:
        doing.cancel()
    return doing.result()


async def _wait_until_still(session: SelftestSession) -> None:
    for _ in range(MAX_TURNS * 1000):
        if not await session.boards.dealer.is_moving():
            return
        await asyncio.sleep(SWEEP_END_S / 10)


def _setting_value(name: str, value: float, bounds: dict[str, tuple[int, int]], to: int) -> int:
    """Return `value`, rounded up to a multiple of `to`, within the bounds of the setting `name`."""
    least, most = bounds[name]
    return max(least, min(most, math.ceil(value / to) * to))


def _ms_text(value: float) -> str:
    return f"{value:.0f} ms"


_CALIBRATIONS: dict[
    CalibrationSubject, Callable[[SelftestSession, ShowLine], Awaitable[CalibrationResult]]
] = {
    "feeder-gap": calibrate_feeder_gap,
    "gate": calibrate_gate,
    "reader-light": calibrate_reader_light,
    "pockets": calibrate_pockets,
}
CALIBRATION_SUBJECTS: Final = tuple(_CALIBRATIONS)
