"""Tests with cards: each outlet, the tray, a card that a person holds, a double feed, whole sets.

In a round the whole set is shuffled, dealt, lifted, and put back into the hopper by people.
"""

import asyncio
import statistics
from dataclasses import dataclass, field
from itertools import pairwise

from controller.acceptance.fed_cards import CardReads, FedCard, FedCards, ReadCounts
from controller.acceptance.selftest_session import (
    BEAM_PARTS,
    CARD_TIMEOUT_S,
    LIFT_TIMEOUT_S,
    POCKET_PARTS,
    MachineNotReady,
    SelftestSession,
    percentile,
    round_robin_plan,
)
from drivers.board_events import BoardEventCode, FeedSource, JamPlace, Outlet

MIN_CARDS = 500
"""The minimum number of cards in the rounds.

With this number, a reader that misses one card in a hundred is detected.
"""
SHUFFLE_TIMEOUT_S = 25.0
"""The limit for a shuffle, longer than the longest shuffle_limit_ms."""
SLOW_FEED_FACTOR = 3.0
"""A feed counts as slow if it takes more than this many times the median."""
MIN_CARDS_TO_JUDGE = 100
"""The number of cards after which enough failures end the rounds."""
MAX_TRAY_FEEDS = 3
"""The maximum number of feeds from the tray in a round.

A pair that sticks again comes back to the tray.
"""


@dataclass
class RoundTotals:
    """Sums over all rounds (deals of a whole set) of a self-test, and lists of times (ms)."""

    cards: int = 0
    readings: ReadCounts = field(default_factory=ReadCounts)
    cards_per_s: list[float] = field(default_factory=list)
    feed_times_ms: list[float] = field(default_factory=list)
    look_times_ms: list[float] = field(default_factory=list)
    pass_times_ms: list[float] = field(default_factory=list)
    doubles: int = 0
    strays: int = 0
    jams: list[str] = field(default_factory=list)
    refusals: int = 0


async def run_rounds(session: SelftestSession, cards_wanted: int = MIN_CARDS) -> None:
    """Deal the whole set in rounds until `cards_wanted` cards were tested, then store the figures.

    Three jams, many unreadable cards, a failed shuffle, a failed count or MachineNotReady end the
    rounds earlier. Raises MachineNotReady if no card was tested before, and LineLost.
    """
    tally, most = RoundTotals(), 2 + -(-cards_wanted // session.card_set.cards)
    for number in range(1, most + 1):
        session.on_progress(f"round {number}", tally.cards, cards_wanted)
        try:
            await _run_round(session, tally)
        except MachineNotReady:
            if not tally.cards:
                raise
            break
        # After these failures, further rounds could not change the verdict.
        enough = tally.cards >= MIN_CARDS_TO_JUDGE
        unreadable = enough and tally.readings.unreadable * 10 > tally.cards
        gone = session.figures.has_failed("shuffle_time") or session.figures.has_failed("count")
        if tally.cards >= cards_wanted or unreadable or gone or len(tally.jams) >= 3:
            break
    _judge_totals(session, tally)


async def _run_round(session: SelftestSession, totals: RoundTotals) -> None:
    cards = await session.ensure_attempt(full_hopper=True)
    readings = CardReads(session.card_set.composition, session.card_set.back)
    cards.readings = readings
    await _shuffle(session, cards)
    cards.plan = round_robin_plan(session.card_set.hand)
    session.cards_out = True
    is_whole = cards.breakdown is None and await _feed_all(session, cards)
    indices = [
        card.index
        for card in cards.cards_by_index.values()
        if (card.landed_outlet in range(4) if is_whole else card.look_done and not card.doubled)
    ]
    other = readings.count(indices)
    totals.readings = ReadCounts(
        totals.readings.cards + other.cards,
        totals.readings.unreadable + other.unreadable,
        totals.readings.unread + other.unread,
        totals.readings.misread + other.misread,
        max(totals.readings.wrong, other.wrong),
    )
    totals.cards += len(indices)
    if is_whole:
        _add_times(cards, totals, session.card_set.cards)
        session.figures.record("count", abs(len(indices) - session.card_set.cards))
        status, told = await session.status(), await session.boards.reader.get_status()
        note = f"{status.fed} and {told.pulses}" if status.fed != told.pulses else ""
        session.figures.record("pulses", abs(status.fed - told.pulses), note=note)
        await _lift_hands(session, cards, totals)
    else:
        jam = cards.breakdown
        at_feeder = jam and jam.code is BoardEventCode.JAM and jam.place == JamPlace.FEEDER
        if at_feeder and cards.last_fed == session.card_set.cards:
            note = "the hopper's sensor sees cards, and the set is out"
            session.figures.record_failure("count", note=note)
        else:
            totals.jams.append(_breakdown_place(session, cards))
        session.boards.dealer.stop()
    cards.close()
    session.cards = None


async def _shuffle(session: SelftestSession, cards: FedCards) -> None:
    bench = session.boards
    mark, since_s = bench.mark(), bench.now_s
    if not (taken := await bench.try_command(bench.dealer.shuffle(cards.attempt, 1))):
        note = f"the board refuses: {taken.result.name}"
        session.figures.record_failure("shuffle_time", note=note)
        return
    done = (BoardEventCode.SHUFFLED, BoardEventCode.JAM, BoardEventCode.STALL)
    ended = await bench.wait_for_event(mark, lambda event: event.code in done, SHUFFLE_TIMEOUT_S)
    if ended is not None and ended.event.code is BoardEventCode.SHUFFLED:
        session.figures.record("shuffle_time", (ended.at_s - since_s) * 1000)
    else:
        session.figures.record_failure("shuffle_time", note="it does not end")


async def _feed_all(session: SelftestSession, cards: FedCards) -> bool:
    """Feed all cards of hopper and tray. Return False if the cards stop, else True."""
    size = session.card_set.cards
    if not (taken := await session.boards.try_command(cards.feed(size + 1))):
        raise MachineNotReady(f"the dealer board refuses to feed: {taken.result.name}")
    if not await _wait_for_landings(cards, FeedSource.HOPPER, size + 1):
        return False
    for _ in range(MAX_TRAY_FEEDS):
        in_tray = cards.cards_in_tray()
        if not in_tray:
            break
        for card in in_tray:
            card.landed_outlet = None  # it is fed again with another index
        cards.empty_sources.discard(FeedSource.TRAY)
        last = cards.last_fed + 2 * len(in_tray) + 1
        if not await session.boards.try_command(cards.feed(last, FeedSource.TRAY)):
            return False
        if not await _wait_for_landings(cards, FeedSource.TRAY, last):
            return False
    return True


async def _wait_for_landings(cards: FedCards, source: FeedSource, last: int) -> bool:
    """Return True once `source` is empty (or card `last` was fed) and every fed card has landed.

    Return False if the cards stop before that.
    """

    def done() -> bool:
        empty = source in cards.empty_sources or cards.last_fed >= last
        return empty and all(card.landed_s is not None for card in cards.cards_by_index.values())

    return await cards.wait_until(done, CARD_TIMEOUT_S)


async def _lift_hands(session: SelftestSession, cards: FedCards, totals: RoundTotals) -> None:
    """Lift the hands, ask people to put the cards back into the hopper, and lower the lift."""
    bench = session.boards
    if session.figures.has_failed("lift_up"):
        return
    mark, since_s = bench.mark(), bench.now_s
    taken = await bench.try_command(bench.dealer.release(cards.attempt))
    if not taken:
        if session.figures.has_failed("pocket") or session.figures.has_failed("at_rest"):
            session.figures.leave_out("lock", "a sensor that it asks is wrong")
            for name in ("lift_up", "lift_down"):
                session.figures.leave_out(name, "the board's lock refuses, for a sensor is wrong")
        else:
            totals.refusals += 1
            session.figures.record("lock", totals.refusals, note=f"RELEASE: {taken.result.name}")
        return
    done = (BoardEventCode.RELEASED, BoardEventCode.STALL, BoardEventCode.STOPPED)
    ended = await bench.wait_for_event(mark, lambda event: event.code in done, LIFT_TIMEOUT_S)
    if ended is None or ended.event.code is not BoardEventCode.RELEASED:
        session.figures.record_failure("lift_up", note="it was not seen at the top")
        return
    session.figures.record("lock", totals.refusals)
    session.figures.record("lift_up", (ended.at_s - since_s) * 1000)
    if not await session.operator.do("carry_back"):
        return
    session.cards_out = False
    status = await session.boards.wait_for_status(lambda now: not any(now.sees_pockets), 1.0)
    for seat, sees in enumerate(status.sees_pockets):
        note = "it sees a card in an empty pocket" if sees else ""
        part = f"pocket_{Outlet(seat).name}"
        session.figures.record("pocket", int(sees), part, note=note)
    took_ms = await session.lower_lift()
    if took_ms is not None:
        session.figures.record("lift_down", took_ms)


def _add_times(cards: FedCards, totals: RoundTotals, size: int) -> None:
    """Add the times and counts of one round to `totals`. A set has `size` cards."""
    totals.strays += cards.strays
    fed = [cards.cards_by_index[index] for index in sorted(cards.cards_by_index) if index <= size]
    totals.doubles += sum(card.doubled for card in fed)
    first = next((card.at_window_s for card in fed if card.at_window_s is not None), None)
    last = max((card.landed_s for card in fed if card.landed_s is not None), default=None)
    if first is not None and last is not None and last > first:
        totals.cards_per_s.append(len(fed) / (last - first))
    for before, card in pairwise(fed):
        if before.at_gate_s is not None and card.at_window_s is not None:
            totals.feed_times_ms.append((card.at_window_s - before.at_gate_s) * 1000)
    for card in fed:
        if card.at_window_s is not None and card.read_s is not None:
            totals.look_times_ms.append(max(0.0, card.read_s - card.at_window_s) * 1000)
        if card.routed_s is not None and card.at_gate_s is not None:
            totals.pass_times_ms.append((card.at_gate_s - card.routed_s) * 1000)


def _breakdown_place(session: SelftestSession, cards: FedCards) -> str:
    """Return the name of the place where the cards of a round stopped, and record the failure.

    A failure is recorded for the part that stalled or at which a landing was missed.
    """
    event = cards.breakdown
    if event is None:
        return "the cards do not continue"
    if event.code is BoardEventCode.STALL:
        session.record_breakdown(event)
        return "a motor"
    place = JamPlace(event.place)
    if place is JamPlace.LANDING:
        route = cards.card(event.index).route
        if route is not None:
            session.figures.record("landing", 1, BEAM_PARTS[route])
    return place.name.lower()


def _judge_totals(session: SelftestSession, totals: RoundTotals) -> None:
    figures = session.figures
    jams = ", ".join(totals.jams)
    figures.record("jams", len(totals.jams), note=jams)
    figures.record("strays", totals.strays)
    if totals.cards_per_s:
        figures.record("cards_per_s", statistics.median(totals.cards_per_s))
    if totals.feed_times_ms:
        median = statistics.median(totals.feed_times_ms)
        figures.record("feed_time", median)
        slow = sum(feed > SLOW_FEED_FACTOR * median for feed in totals.feed_times_ms)
        figures.record("slow_feeds", _per_500(slow, len(totals.feed_times_ms)))
        figures.record("doubles", _per_500(totals.doubles, len(totals.feed_times_ms)))
    if totals.look_times_ms:
        figures.record("read_time", percentile(totals.look_times_ms, 0.95))
    if totals.pass_times_ms:
        figures.record("pass_time", percentile(totals.pass_times_ms, 0.95))
    if totals.cards:
        read = totals.readings
        note = f"{totals.cards} cards"
        figures.record("unreadable", _per_500(read.unreadable, totals.cards), note=note)
        figures.record("unread", _per_500(read.unread, totals.cards), note=note)
        figures.record("misread", _per_500(read.misread, totals.cards), note=note)
        figures.record("wrong_cards", read.wrong)


def _per_500(count: int, of: int) -> float:
    return count * 500 / max(1, of)


SENSOR_DELAY_S = 0.1
"""The wait after a landing until the sensor of the place must detect the card."""
HOLD_S = 0.9
"""The time for which the card is held. It is longer than the board's first try and its way back."""


async def check_outlets(session: SelftestSession) -> None:
    """Send one card to each outlet, and check that both sensors of the outlet detect the card.

    These are the light beam of the outlet and the sensor in the pocket or tray.
    """
    for outlet in Outlet:
        cards = await session.ensure_attempt()
        card = await session.feed_one(cards, lambda _, to=outlet: to)  # type: ignore[misc]  # bound now
        if card is None:
            if cards.breakdown is not None:
                session.record_breakdown(cards.breakdown)
            else:
                session.figures.record_failure("feed_time", note="no card came to the window")
            return
        await _judge_card(session, cards, card, outlet)


async def check_tray_feed(session: SelftestSession) -> None:
    """Feed the card in the tray again, and measure how soon the card comes to the window."""
    cards = await session.ensure_attempt()
    if not cards.cards_in_tray():
        session.figures.leave_out("refeed", "no card landed in the tray")
        return
    bench, index = session.boards, cards.last_fed + 1
    cards.plan = lambda card: Outlet.N
    since_s = bench.now_s
    if not await bench.try_command(cards.feed(index, FeedSource.TRAY)):
        session.figures.record_failure("refeed", note="the board does not feed from the tray")
        return
    await cards.wait_until(lambda: cards.card(index).landed_s is not None, CARD_TIMEOUT_S)
    at_s = cards.card(index).at_window_s
    if at_s is None:
        session.figures.record_failure("refeed", note="the card does not come out of the tray")
        return
    session.figures.record("refeed", (at_s - since_s) * 1000)
    await asyncio.sleep(SENSOR_DELAY_S)
    if (await session.status()).sees_tray:
        session.figures.record("pocket", 1, "tray", note="it sees a card in an empty tray")


async def check_held_card(session: SelftestSession) -> None:
    """Check that the board can feed a card that a person held back for a moment."""
    cards = await session.ensure_attempt()
    if not await session.operator.do("hold_card"):
        session.figures.leave_out("jam_recovery", "a card could not be held")
        return
    bench, index = session.boards, cards.last_fed + 1
    cards.plan = session.plan_any_pocket()
    mark, since_s, session.cards_out = bench.mark(), bench.now_s, True
    if not await bench.try_command(cards.feed(index)):
        session.figures.leave_out("jam_recovery", "the board does not feed")
        return
    await asyncio.sleep(HOLD_S)
    await session.operator.signal("let_go")
    await cards.wait_until(lambda: cards.card(index).landed_s is not None, CARD_TIMEOUT_S)
    card = cards.card(index)
    if card.at_window_s is not None:
        session.figures.record("jam_recovery", (card.at_window_s - since_s) * 1000)
    else:
        jammed = bool(bench.events_since(mark, BoardEventCode.JAM))
        note = "the board gave up" if jammed else "no card came"
        session.figures.record_failure("jam_recovery", note=note)


async def check_double_feed(session: SelftestSession) -> None:
    """Feed two cards that a person taped together; check that the board reports a double feed."""
    cards = await session.ensure_attempt()
    if not await session.operator.do("double_card"):
        session.figures.leave_out("double_feed", "a pair could not be laid")
        return
    card = await session.feed_one(cards, lambda card: Outlet.TRAY)
    if card is None:
        session.figures.leave_out("double_feed", "the pair did not come to the window")
    else:
        session.figures.record("double_feed", 0 if card.doubled else 1)
    cards.close()
    session.cards = None
    session.boards.dealer.stop()
    if await session.operator.do("untape"):
        session.cards_out = False


async def _judge_card(
    session: SelftestSession, cards: FedCards, card: FedCard, outlet: Outlet
) -> None:
    broken, landing = cards.breakdown, (BoardEventCode.JAM, JamPlace.LANDING)
    if broken is not None and (broken.code, broken.place) != landing:
        session.record_breakdown(broken)
        session.figures.leave_out("landing", "the card stuck before it", BEAM_PARTS[outlet])
        return
    wrong = card.gate_outlet != outlet or card.landed_outlet not in (None, outlet)
    session.figures.record("wrong_outlet", int(wrong))
    session.figures.record("landing", int(card.landed_s is None), BEAM_PARTS[outlet])
    await asyncio.sleep(SENSOR_DELAY_S)
    status = await session.status()
    seen = status.sees_tray if outlet is Outlet.TRAY else status.sees_pockets[outlet]
    note = "" if seen else "it does not see the card there"
    session.figures.record("pocket", int(not seen), POCKET_PARTS[outlet], note=note)
