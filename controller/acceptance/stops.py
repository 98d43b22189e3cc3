"""Motion that must end: a host that falls silent, and the emergency stop."""

import asyncio

from controller.acceptance.session import CARD_TIMEOUT_S, SelftestSession
from drivers.errors import BoardResult
from drivers.events import BoardEvent, BoardEventCode, BoardStopReason

SHUFFLE_TIMEOUT_S = 70.0
"""Beyond the longest of three passes."""
SHUFFLE_PASSES = 3
BEFORE_SILENCE_S = 0.2
STOPPED_TIMEOUT_S = 2.0
"""Behind the host's next word, for a board that has stopped to say so."""
SILENCE_S = 0.7
"""Long enough for a board to stop; so short that it has not been unheard for 500 ms then."""
BOARD_INTERVAL_MS = 100.0
"""A board is heard so often: it may have stopped so long after its last word."""
PRESS_TIMEOUT_S = 20.0
"""How long people may take to press the stop once cards run."""
AFTER_STOP_S = 1.0
"""How long is looked on whether anything still moves."""
MAX_RUNNING_CARDS = 60
"""Cards that may run until somebody presses; ten seconds of them at four a second or more."""


async def check_silence_in_shuffle(session: SelftestSession) -> None:
    """Fall silent while the shuffler runs: by when has it stopped, by its own words."""
    cards = await session.ensure_attempt(new_attempt=True)
    bench = session.boards
    mark = bench.mark()
    if not await bench.try_command(bench.dealer.shuffle(cards.attempt, SHUFFLE_PASSES)):
        session.figures.leave_out("silence_stop", "the board does not shuffle")
        return
    await asyncio.sleep(BEFORE_SILENCE_S)
    async with bench.silence_host() as heard_s:
        await asyncio.sleep(SILENCE_S)
        last_ms = heard_s() * 1000
    if cards.breakdown is not None:
        session.record_breakdown(cards.breakdown)
        return
    stopped = await bench.wait_for_event(mark, _is_silence_stop, STOPPED_TIMEOUT_S)
    if bench.events_since(mark, BoardEventCode.SHUFFLED):
        return  # the passes were over before: the cards will tell
    if stopped is None:
        session.figures.record_failure(
            "silence_stop", note=f"it did not stop within {SILENCE_S * 1000:.0f} ms"
        )
        bench.dealer.stop()
        await session.ensure_attempt(full_hopper=True)
        return
    session.figures.record("silence_stop", last_ms + BOARD_INTERVAL_MS)
    mark = bench.mark()
    await bench.try_command(bench.dealer.shuffle(cards.attempt, SHUFFLE_PASSES))
    done = (BoardEventCode.SHUFFLED, BoardEventCode.JAM, BoardEventCode.STALL)
    ended = await bench.wait_for_event(mark, lambda event: event.code in done, SHUFFLE_TIMEOUT_S)
    if ended is None:
        session.figures.record_failure("shuffle_time", note="it does not end")
    elif ended.event.code is not BoardEventCode.SHUFFLED:
        session.record_breakdown(ended.event)


async def check_silence_in_feeding(session: SelftestSession) -> None:
    """Fall silent behind one card's route: that card goes on, and no other than the next."""
    cards = await session.ensure_attempt()
    bench, route = session.boards, session.plan_any_pocket()
    first = cards.last_fed + 1
    cards.plan = lambda card: None
    session.cards_out = True
    if not await bench.try_command(cards.feed(first + 2)):
        session.figures.leave_out("fed_in_silence", "the board does not feed")
        return
    await cards.wait_until(lambda: cards.card(first).look_done, CARD_TIMEOUT_S)
    mark = bench.mark()
    cards.plan = lambda card: route(card) if card.index == first else None
    cards.send_waiting()
    async with bench.silence_host() as heard_s:
        await asyncio.sleep(SILENCE_S)
        last_ms = heard_s() * 1000
    stopped = await bench.wait_for_event(mark, _is_silence_stop, STOPPED_TIMEOUT_S)
    status = await session.status()
    beyond = max(0, status.fed - first - 1)
    if cards.breakdown is not None:
        session.record_breakdown(cards.breakdown)
        session.figures.leave_out("fed_in_silence", "a card jammed")
        return
    if stopped is None:
        session.figures.record_failure(
            "silence_stop", note=f"it did not stop within {SILENCE_S * 1000:.0f} ms"
        )
    else:
        session.figures.record("silence_stop", last_ms + BOARD_INTERVAL_MS)
    session.figures.record("fed_in_silence", beyond)
    cards.plan = route
    await bench.try_command(cards.feed(first + 2))
    cards.send_waiting()
    await cards.wait_until(lambda: cards.card(first + 2).landed_s is not None, CARD_TIMEOUT_S)
    if cards.breakdown is not None:
        session.record_breakdown(cards.breakdown)


async def check_emergency_stop(session: SelftestSession) -> None:
    """Have the emergency stop pressed while cards run, and released again."""
    cards = await session.ensure_attempt()
    bench = session.boards
    if not await session.operator.prepare("press_estop"):
        for name in ("estop_seen", "estop_stop"):
            session.figures.leave_out(name, "nobody could press it")
        return
    cards.plan, session.cards_out, first = session.plan_any_pocket(), True, cards.last_fed
    if not await bench.try_command(
        cards.feed(min(first + MAX_RUNNING_CARDS, session.card_set.cards))
    ):
        session.figures.leave_out("estop_seen", "the board does not feed")
        return
    await cards.wait_until(lambda: cards.last_fed > first + 1, CARD_TIMEOUT_S)
    mark = bench.mark()
    await session.operator.signal("press_estop")
    stopped = await bench.wait_for_event(mark, _is_estop_stop, PRESS_TIMEOUT_S)
    if stopped is None:
        session.figures.record_failure("estop_seen", note="it was not seen while cards ran")
        bench.dealer.stop()
        await session.operator.do("release_estop")
        return
    await asyncio.sleep(AFTER_STOP_S)
    behind = bench.events_since(mark, BoardEventCode.AT_READER, BoardEventCode.GATE)
    last_s = max((one.at_s for one in behind), default=stopped.at_s)
    session.figures.record("estop_stop", max(0.0, last_s - stopped.at_s) * 1000)
    await _check_estop_released(session, cards.last_fed)


async def _check_estop_released(session: SelftestSession, fed: int) -> None:
    bench, cards, wrong, notes = session.boards, await session.ensure_attempt(), 0, []
    if not (await session.status()).estop:
        wrong += 1
        notes.append("its sensor does not say that it is pressed")
    if (taken := await bench.try_command(cards.feed(fed + 1))).result is not BoardResult.ESTOP:
        wrong += 1
        notes.append(f"the board takes orders while it is pressed: {taken.result.name}")
        bench.dealer.stop()
    await session.operator.do("release_estop")
    await asyncio.sleep(AFTER_STOP_S)
    if (await session.status()).estop:
        wrong += 1
        notes.append("it is still seen pressed")
    elif not await bench.try_command(cards.feed(fed + 1)) or not await cards.wait_until(
        lambda: cards.card(fed + 1).landed_s is not None, CARD_TIMEOUT_S
    ):
        wrong += 1
        notes.append("the cards do not go on")
    session.figures.record("estop_seen", wrong, note="; ".join(notes))


def _is_silence_stop(event: BoardEvent) -> bool:
    return event.code is BoardEventCode.STOPPED and event.place == BoardStopReason.HOST_SILENT


def _is_estop_stop(event: BoardEvent) -> bool:
    return event.code is BoardEventCode.STOPPED and event.place == BoardStopReason.ESTOP
