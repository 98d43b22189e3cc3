"""Safety tests: serial lines, sensors, lid, emergency stop, and a host that sends nothing.

The tests that the boards' firmware contains are also run here.
"""

import asyncio
from collections.abc import Awaitable, Callable

from controller.acceptance.selftest_session import (
    CARD_TIMEOUT_S,
    POCKET_PARTS,
    SelftestSession,
    percentile,
)
from drivers.board_events import BoardEvent, BoardEventCode, BoardStopReason
from drivers.link.frames import BoardResult
from drivers.typed_boards import DealerStatus

ROUND_TRIPS = 40
SETTLE_S = 0.3
"""The wait after a person's action, until a bouncing contact is stable."""
SWEEP_INTERVAL_S = 0.004
MAX_SWEEP_CHECKS = 6000
"""The limit for the board's own test, longer than its own limits for five moves."""
ENGINE_TIMEOUT_S = 1.5
"""The limit for the engine's answer, longer than the longest read_limit_ms."""


async def measure_round_trips(session: SelftestSession) -> None:
    """Measure the time between a query and its answer on each serial line."""
    dealer, reader = session.boards.dealer, session.boards.reader
    queries: dict[str, Callable[[], Awaitable[object]]] = {
        "dealer_line": dealer.get_status,
        "reader_line": reader.get_status,
    }
    for part, ask in queries.items():
        trips = []
        for _ in range(ROUND_TRIPS):
            since_s = session.boards.now_s
            await ask()
            trips.append((session.boards.now_s - since_s) * 1000)
        session.figures.record("round_trip", percentile(trips, 0.95), part)


async def check_sensors(session: SelftestSession) -> None:
    """Check the value of each sensor while the machine is at rest, with all cards in the hopper.

    If a sensor is wrong, people put all cards into the hopper, and the check is repeated.
    """
    wrong = _wrong_sensors(await session.status())
    if any(wrong.values()) and await session.operator.do("empty"):
        await asyncio.sleep(SETTLE_S)
        wrong = _wrong_sensors(await session.status())
    for part, value in wrong.items():
        session.figures.record("at_rest", float(value), part)


async def run_board_tests(session: SelftestSession) -> None:
    """Run the built-in tests of both boards, which test the gate and the recognition engine."""
    await session.lower_lift()
    await _test_gate(session)
    await _test_engine(session)


async def check_lid(session: SelftestSession) -> None:
    """Check that an open lid is detected, and that the dealer board then refuses to move the lift.

    People open and close the lid on request.
    """
    bench, notes = session.boards, []
    if not await session.operator.do("open_lid"):
        session.figures.leave_out("lid", "the lid could not be opened")
        return
    await asyncio.sleep(SETTLE_S)
    if not (await session.status()).lid_open:
        notes.append("an open lid is not seen")
    taken = await bench.try_command(bench.dealer.retract())
    if taken.result is not BoardResult.LID_OPEN:
        notes.append(f"the board takes orders under an open lid: {taken.result.name}")
    await session.operator.do("close_lid")
    await asyncio.sleep(SETTLE_S)
    if (await session.status()).lid_open:
        notes.append("a closed lid is seen open")
    session.figures.record("lid", len(notes), note="; ".join(notes))


async def _test_gate(session: SelftestSession) -> None:
    bench = session.boards
    mark, since_s = bench.mark(), bench.now_s
    taken = await bench.try_command(bench.dealer.selftest())
    if not taken:
        session.figures.leave_out("gate_sweep", f"the board refuses its test: {taken.result.name}")
        return
    for _ in range(MAX_SWEEP_CHECKS):
        if not await bench.dealer.is_moving():
            break
        await asyncio.sleep(SWEEP_INTERVAL_S)
    took_ms = (bench.now_s - since_s) * 1000
    await bench.wait_for_event(
        mark, lambda event: event.code is BoardEventCode.STALL, SWEEP_INTERVAL_S * 10
    )
    if stalls := bench.events_since(mark, BoardEventCode.STALL):
        session.record_breakdown(stalls[0].event)
    else:
        session.figures.record("gate_sweep", took_ms)


async def _test_engine(session: SelftestSession) -> None:
    bench, name = session.boards, "engine_answer"
    mark = bench.mark()
    taken = await bench.try_command(bench.reader.selftest())
    if taken.result is BoardResult.NO_ENGINE:
        session.figures.record_failure(name, note="the board reports that its engine is missing")
        return
    said = await bench.wait_for_event(
        mark,
        lambda event: event.code is BoardEventCode.ENGINE and event.index > 0,
        ENGINE_TIMEOUT_S,
    )
    if said is not None and said.event.place:
        session.figures.record(name, said.event.index)
    else:  # some engines send no answer for an empty window: the tests with cards then decide
        session.figures.record_doubt(name, note="it did not answer")


def _wrong_sensors(status: DealerStatus) -> dict[str, bool]:
    """Map each part to True if its sensor has a wrong value for a machine that is ready to deal."""
    seats = [POCKET_PARTS[outlet] for outlet in list(POCKET_PARTS)[:4]]
    return dict(zip(seats, status.sees_pockets, strict=True)) | {
        "tray": status.sees_tray,
        "hopper": not status.sees_hopper,
        "window": status.sees_window,
        "path": status.sees_path,
        "shuffler": status.sees_shuffler,
        "lid": status.lid_open,
        "estop": status.estop,
        "supply": status.supply_low,
    }


SHUFFLE_TIMEOUT_S = 70.0
"""The limit for a shuffle, longer than the longest time of three passes."""
SHUFFLE_PASSES = 3
BEFORE_SILENCE_S = 0.2
STOPPED_TIMEOUT_S = 2.0
"""The limit for a board's STOPPED event, after the first frame of the host."""
SILENCE_S = 0.7
"""The length of a silence. A board stops within this time and then sends no more frames.

The silence ends before the host has been without frames from the board for 500 ms.
"""
BOARD_INTERVAL_MS = 100.0
"""The interval of a board's frames. A board may stop this long after its last frame."""
PRESS_TIMEOUT_S = 20.0
"""The limit for people to press the emergency stop after cards move."""
_NOT_STOPPED = f"it did not stop within {SILENCE_S * 1000:.0f} ms"
AFTER_STOP_S = 1.0
"""How long the test checks for motion after the emergency stop."""
MAX_RUNNING_CARDS = 60
"""The maximum number of cards before people press the stop: fifteen seconds at four a second."""


async def check_silence_in_shuffle(session: SelftestSession) -> None:
    """Send the dealer board nothing while it shuffles, and measure how soon the board stops."""
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
        return  # the passes had ended before: the tests with cards then decide
    if stopped is None:
        session.figures.record_failure("silence_stop", note=_NOT_STOPPED)
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
    """Route one card, stop sending to the dealer board, and count the cards that it feeds in error.

    The routed card may continue, and the next card may be fed. No other card may be fed.
    """
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
        session.figures.record_failure("silence_stop", note=_NOT_STOPPED)
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
    """Check that the emergency stop ends all motion, and that motion is possible after a reset."""
    cards = await session.ensure_attempt()
    bench = session.boards
    if not await session.operator.prepare("press_estop"):
        for name in ("estop_seen", "estop_stop"):
            session.figures.leave_out(name, "it could not be pressed")
        return
    cards.plan, session.cards_out, first = session.plan_any_pocket(), True, cards.last_fed
    last = min(first + MAX_RUNNING_CARDS, session.card_set.cards)
    if not await bench.try_command(cards.feed(last)):
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
    bench, cards, notes = session.boards, await session.ensure_attempt(), []
    if not (await session.status()).estop:
        notes.append("its sensor does not detect that it is pressed")
    if (taken := await bench.try_command(cards.feed(fed + 1))).result is not BoardResult.ESTOP:
        notes.append(f"the board accepts commands while it is pressed: {taken.result.name}")
        bench.dealer.stop()
    await session.operator.do("release_estop")
    await asyncio.sleep(AFTER_STOP_S)
    if (await session.status()).estop:
        notes.append("it is still seen pressed")
    elif not await bench.try_command(cards.feed(fed + 1)) or not await cards.wait_until(
        lambda: cards.card(fed + 1).landed_s is not None, CARD_TIMEOUT_S
    ):
        notes.append("the cards do not continue")
    session.figures.record("estop_seen", len(notes), note="; ".join(notes))


def _is_silence_stop(event: BoardEvent) -> bool:
    return event.code is BoardEventCode.STOPPED and event.place == BoardStopReason.HOST_SILENT


def _is_estop_stop(event: BoardEvent) -> bool:
    return event.code is BoardEventCode.STOPPED and event.place == BoardStopReason.ESTOP
