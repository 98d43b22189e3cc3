"""Motion that must end: a host that falls silent, and the emergency stop."""

import asyncio

from controller.acceptance.session import CARD_TIMEOUT_S, Session
from drivers.errors import Result
from drivers.events import BoardStopReason, Code, Event

SHUFFLED_S = 70.0
"""Beyond the longest of three passes."""
PASSES = 3
BEFORE_SILENCE_S = 0.2
STOPPED_TIMEOUT_S = 2.0
"""Behind the host's next word, for a board that has stopped to say so."""
SILENT_S = 0.7
"""Long enough for a board to stop; so short that it has not been unheard for 500 ms then."""
BOARD_INTERVAL_MS = 100.0
"""A board is heard so often: it may have stopped so long after its last word."""
PRESS_TIMEOUT_S = 20.0
"""How long people may take to press the stop once cards run."""
LOOK_S = 1.0
"""How long is looked on whether anything still moves."""
MAX_RUNNING_CARDS = 60
"""Cards that may run until somebody presses; ten seconds of them at four a second or more."""


async def check_silence_in_shuffle(of: Session) -> None:
    """Fall silent while the shuffler runs: by when has it stopped, by its own words."""
    cards = await of.ensure(afresh=True)
    bench = of.bench
    mark = bench.mark()
    if not await bench.tried(bench.dealer.shuffle(cards.attempt, PASSES)):
        of.figures.leave_out("silence_stop", "the board does not shuffle")
        return
    await asyncio.sleep(BEFORE_SILENCE_S)
    async with bench.silence() as heard_s:
        await asyncio.sleep(SILENT_S)
        last_ms = heard_s() * 1000
    if cards.broken is not None:
        of.blame(cards.broken)
        return
    stopped = await bench.until(mark, _silent, STOPPED_TIMEOUT_S)
    if bench.since(mark, Code.SHUFFLED):
        return  # the passes were over before: the cards will tell
    if stopped is None:
        of.figures.fail("silence_stop", note=f"it did not stop within {SILENT_S * 1000:.0f} ms")
        bench.dealer.stop()
        await of.ensure(whole=True)
        return
    of.figures.take("silence_stop", last_ms + BOARD_INTERVAL_MS)
    mark = bench.mark()
    await bench.tried(bench.dealer.shuffle(cards.attempt, PASSES))
    done = (Code.SHUFFLED, Code.JAM, Code.STALL)
    ended = await bench.until(mark, lambda event: event.code in done, SHUFFLED_S)
    if ended is None:
        of.figures.fail("shuffle_time", note="it does not end")
    elif ended.event.code is not Code.SHUFFLED:
        of.blame(ended.event)


async def check_silence_in_feeding(of: Session) -> None:
    """Fall silent behind one card's route: that card goes on, and no other than the next."""
    cards = await of.ensure()
    bench, route = of.bench, of.plan_any_pocket()
    first = cards.fed + 1
    cards.plan = lambda card: None
    of.loose = True
    if not await bench.tried(cards.feed(first + 2)):
        of.figures.leave_out("fed_in_silence", "the board does not feed")
        return
    await cards.settle(lambda: cards.card(first).looked, CARD_TIMEOUT_S)
    mark = bench.mark()
    cards.plan = lambda card: route(card) if card.index == first else None
    cards.go()
    async with bench.silence() as heard_s:
        await asyncio.sleep(SILENT_S)
        last_ms = heard_s() * 1000
    stopped = await bench.until(mark, _silent, STOPPED_TIMEOUT_S)
    status = await of.status()
    beyond = max(0, status.fed - first - 1)
    if cards.broken is not None:
        of.blame(cards.broken)
        of.figures.leave_out("fed_in_silence", "a card jammed")
        return
    if stopped is None:
        of.figures.fail("silence_stop", note=f"it did not stop within {SILENT_S * 1000:.0f} ms")
    else:
        of.figures.take("silence_stop", last_ms + BOARD_INTERVAL_MS)
    of.figures.take("fed_in_silence", beyond)
    cards.plan = route
    await bench.tried(cards.feed(first + 2))
    cards.go()
    await cards.settle(lambda: cards.card(first + 2).landed_s is not None, CARD_TIMEOUT_S)
    if cards.broken is not None:
        of.blame(cards.broken)


async def check_emergency_stop(of: Session) -> None:
    """Have the emergency stop pressed while cards run, and released again."""
    cards = await of.ensure()
    bench = of.bench
    if not await of.hands.ready("press_estop"):
        for name in ("estop_seen", "estop_stop"):
            of.figures.leave_out(name, "nobody could press it")
        return
    cards.plan, of.loose, first = of.plan_any_pocket(), True, cards.fed
    if not await bench.tried(cards.feed(min(first + MAX_RUNNING_CARDS, of.card_set.cards))):
        of.figures.leave_out("estop_seen", "the board does not feed")
        return
    await cards.settle(lambda: cards.fed > first + 1, CARD_TIMEOUT_S)
    mark = bench.mark()
    await of.hands.now("press_estop")
    stopped = await bench.until(mark, _pressed, PRESS_TIMEOUT_S)
    if stopped is None:
        of.figures.fail("estop_seen", note="it was not seen while cards ran")
        bench.dealer.stop()
        await of.hands.do("release_estop")
        return
    await asyncio.sleep(LOOK_S)
    behind = bench.since(mark, Code.AT_READER, Code.GATE)
    last_s = max((one.at_s for one in behind), default=stopped.at_s)
    of.figures.take("estop_stop", max(0.0, last_s - stopped.at_s) * 1000)
    await _released(of, cards.fed)


async def _released(of: Session, fed: int) -> None:
    bench, cards, wrong, notes = of.bench, await of.ensure(), 0, []
    if not (await of.status()).estop:
        wrong += 1
        notes.append("its sensor does not say that it is pressed")
    if (taken := await bench.tried(cards.feed(fed + 1))).result is not Result.ESTOP:
        wrong += 1
        notes.append(f"the board takes orders while it is pressed: {taken.result.name}")
        bench.dealer.stop()
    await of.hands.do("release_estop")
    await asyncio.sleep(LOOK_S)
    if (await of.status()).estop:
        wrong += 1
        notes.append("it is still seen pressed")
    elif not await bench.tried(cards.feed(fed + 1)) or not await cards.settle(
        lambda: cards.card(fed + 1).landed_s is not None, CARD_TIMEOUT_S
    ):
        wrong += 1
        notes.append("the cards do not go on")
    of.figures.take("estop_seen", wrong, note="; ".join(notes))


def _silent(event: Event) -> bool:
    return event.code is Code.STOPPED and event.place == BoardStopReason.HOST_SILENT


def _pressed(event: Event) -> bool:
    return event.code is Code.STOPPED and event.place == BoardStopReason.ESTOP
