"""The whole set through the machine again and again, up to hands in the lift, and back."""

import statistics
from dataclasses import dataclass, field
from itertools import pairwise

from controller.acceptance.cards import Card, Cards
from controller.acceptance.session import (
    BEAM_PARTS,
    CARD_TIMEOUT_S,
    LIFT_S,
    MachineNotReady,
    Session,
    percentile,
    round_robin_plan,
)
from controller.vault.reading import Counted
from drivers.events import Code, JamPlace, Outlet, Source

CARDS = 500
"""So many cards are looked at, at least: a reader that misses one in a hundred shows."""
SHUFFLED_S = 25.0
"""Beyond the longest shuffle_limit_ms."""
SLOW = 3.0
"""So many times the median is a feed that slipped."""
EARLY = 100
"""From so many cards on, what has failed already ends the rounds."""
MAX_TRAY_FEEDS = 3
"""How often the tray is fed in a round: a pair that sticks again comes back to it."""


@dataclass
class Tally:
    """What all rounds come to so far. Times in milliseconds."""

    cards: int = 0
    read: Counted = field(default_factory=Counted)
    rates: list[float] = field(default_factory=list)
    feeds: list[float] = field(default_factory=list)
    looks: list[float] = field(default_factory=list)
    passes: list[float] = field(default_factory=list)
    doubles: int = 0
    strays: int = 0
    jams: list[str] = field(default_factory=list)
    refused: int = 0


async def rounds(of: Session, cards_wanted: int = CARDS) -> None:
    """Feed the set until so many cards were looked at. Raises Unready, LineLost."""
    tally, most = Tally(), 2 + -(-cards_wanted // of.card_set.cards)
    for number in range(1, most + 1):
        of.told(f"round {number}", tally.cards, cards_wanted)
        try:
            await _run_round(of, tally)
        except MachineNotReady:
            if not tally.cards:
                raise
            break
        if tally.cards >= cards_wanted or _should_stop_early(of, tally):
            break
    _judge_totals(of, tally)


async def _run_round(of: Session, tally: Tally) -> None:
    cards = await of.ensure(whole=True)
    readings = of.count_readings(cards)
    await _shuffle(of, cards)
    cards.plan = round_robin_plan(of.card_set.hand)
    of.loose = True
    if cards.broken is None and await _feed(of, cards):
        tally.read = _add_readings(tally.read, readings.counted(_dealt_indices(cards)))
        tally.cards += len(_dealt_indices(cards))
        _add_times(cards, tally, of.card_set.cards)
        extra = abs(len(_dealt_indices(cards)) - of.card_set.cards)
        of.figures.take("count", extra)
        await _compare_pulses(of, cards)
        await _lift_hands(of, cards, tally)
    else:
        tally.read = _add_readings(tally.read, readings.counted(_looked_indices(cards)))
        tally.cards += len(_looked_indices(cards))
        if cards.fed == of.card_set.cards and _is_feeder_jam(cards):
            of.figures.fail("count", note="the hopper's sensor sees cards, and the set is out")
        else:
            tally.jams.append(_breakdown_place(of, cards))
        of.bench.dealer.stop()
    cards.close()
    of.cards = None


async def _shuffle(of: Session, cards: Cards) -> None:
    bench = of.bench
    mark, since_s = bench.mark(), bench.now_s
    if not (taken := await bench.tried(bench.dealer.shuffle(cards.attempt, 1))):
        of.figures.fail("shuffle_time", note=f"the board refuses: {taken.result.name}")
        return
    ended = await bench.until(
        mark, lambda event: event.code in (Code.SHUFFLED, Code.JAM, Code.STALL), SHUFFLED_S
    )
    if ended is not None and ended.event.code is Code.SHUFFLED:
        of.figures.take("shuffle_time", (ended.at_s - since_s) * 1000)
    else:
        of.figures.fail("shuffle_time", note="it does not end")


async def _feed(of: Session, cards: Cards) -> bool:
    """Feed hopper and tray until both are empty; False where something breaks."""
    size = of.card_set.cards
    if not (taken := await of.bench.tried(cards.feed(size + 1))):
        raise MachineNotReady(f"the dealer board refuses to feed: {taken.result.name}")
    if not await _wait_for_landings(cards, Source.HOPPER, size + 1):
        return False
    for _ in range(MAX_TRAY_FEEDS):
        in_tray = cards.in_tray()
        if not in_tray:
            break
        for card in in_tray:
            card.landed = None  # it is fed again, by another index
        cards.empty_sources.discard(Source.TRAY)
        last = cards.fed + 2 * len(in_tray) + 1
        if not await of.bench.tried(cards.feed(last, Source.TRAY)):
            return False
        if not await _wait_for_landings(cards, Source.TRAY, last):
            return False
    return True


async def _wait_for_landings(cards: Cards, source: Source, last: int) -> bool:
    """Wait until a source ran empty, or gave its last card, and every card has landed."""

    def done() -> bool:
        empty = source in cards.empty_sources or cards.fed >= last
        return empty and all(card.landed_s is not None for card in cards.all.values())

    return await cards.settle(done, CARD_TIMEOUT_S)


async def _compare_pulses(of: Session, cards: Cards) -> None:
    status, told = await of.status(), await of.bench.reader.status()
    note = f"{status.fed} and {told.pulses}" if status.fed != told.pulses else ""
    of.figures.take("pulses", abs(status.fed - told.pulses), note=note)


async def _lift_hands(of: Session, cards: Cards, tally: Tally) -> None:
    """Bring the hands up, have them taken and put back, and go down again."""
    bench = of.bench
    if of.figures.failed("lift_up"):
        return
    mark, since_s = bench.mark(), bench.now_s
    taken = await bench.tried(bench.dealer.release(cards.attempt))
    if not taken:
        if of.figures.failed("pocket") or of.figures.failed("at_rest"):
            of.figures.leave_out("lock", "a sensor that it asks is wrong")
            of.figures.leave_out("lift_up", "the board's lock refuses, for a sensor is wrong")
            of.figures.leave_out("lift_down", "the board's lock refuses, for a sensor is wrong")
        else:
            tally.refused += 1
            of.figures.take("lock", tally.refused, note=f"RELEASE: {taken.result.name}")
        return
    ended = await bench.until(
        mark, lambda event: event.code in (Code.RELEASED, Code.STALL, Code.STOPPED), LIFT_S
    )
    if ended is None or ended.event.code is not Code.RELEASED:
        of.figures.fail("lift_up", note="it was not seen at the top")
        return
    of.figures.take("lock", tally.refused)
    of.figures.take("lift_up", (ended.at_s - since_s) * 1000)
    if not await of.hands.do("carry_back"):
        return
    of.loose = False
    status = await of.bench.settled(lambda now: not any(now.sees_pockets), 1.0)
    for seat, sees in enumerate(status.sees_pockets):
        note = "it sees a card in an empty pocket" if sees else ""
        part = f"pocket_{Outlet(seat).name}"
        of.figures.take("pocket", int(sees), part, note=note)
    took_ms = await of.lower()
    if took_ms is not None:
        of.figures.take("lift_down", took_ms)


def _dealt_indices(cards: Cards) -> list[int]:
    """Return the indices of the cards that lie in the four pockets."""
    return [card.index for card in cards.all.values() if card.landed in (0, 1, 2, 3)]


def _looked_indices(cards: Cards) -> list[int]:
    return [card.index for card in cards.all.values() if card.looked and not card.doubled]


def _add_times(cards: Cards, tally: Tally, size: int) -> None:
    """Take the times of a round whose cards all landed."""
    tally.strays += cards.strays
    fed = [cards.all[index] for index in sorted(cards.all) if index <= size]
    tally.doubles += sum(card.doubled for card in fed)
    first = next((card.at_s for card in fed if card.at_s is not None), None)
    last = max((card.landed_s for card in fed if card.landed_s is not None), default=None)
    if first is not None and last is not None and last > first:
        tally.rates.append(len(fed) / (last - first))
    for before, card in pairwise(fed):
        if before.gated_s is not None and card.at_s is not None:
            tally.feeds.append((card.at_s - before.gated_s) * 1000)
    for card in fed:
        _add_card_times(card, tally)


def _add_card_times(card: Card, tally: Tally) -> None:
    if card.at_s is not None and card.read_s is not None:
        tally.looks.append(max(0.0, card.read_s - card.at_s) * 1000)
    if card.routed_s is not None and card.gated_s is not None:
        tally.passes.append((card.gated_s - card.routed_s) * 1000)


def _is_feeder_jam(cards: Cards) -> bool:
    event = cards.broken
    return event is not None and event.code is Code.JAM and event.place == JamPlace.FEEDER


def _breakdown_place(of: Session, cards: Cards) -> str:
    """Return where a round broke; what is more than a passing jam is blamed on its part."""
    event = cards.broken
    if event is None:
        return "the cards do not go on"
    if event.code is Code.STALL:
        of.blame(event)
        return "a motor"
    place = JamPlace(event.place)
    if place is JamPlace.LANDING:
        route = cards.card(event.index).route
        if route is not None:
            of.figures.take("landing", 1, BEAM_PARTS[route])
    return place.name.lower()


def _should_stop_early(of: Session, tally: Tally) -> bool:
    """Whether more rounds would change nothing."""
    bad = tally.cards >= EARLY and tally.read.unreadable * 500 > tally.cards * 50
    gone = of.figures.failed("shuffle_time") or of.figures.failed("count")
    return bad or gone or len(tally.jams) >= 3


def _judge_totals(of: Session, tally: Tally) -> None:
    figures = of.figures
    jams = ", ".join(tally.jams)
    figures.take("jams", len(tally.jams), note=jams)
    figures.take("strays", tally.strays)
    if tally.rates:
        figures.take("cards_per_s", statistics.median(tally.rates))
    if tally.feeds:
        median = statistics.median(tally.feeds)
        figures.take("feed_time", median)
        slow = sum(feed > SLOW * median for feed in tally.feeds)
        figures.take("slow_feeds", _per_500(slow, len(tally.feeds)))
        figures.take("doubles", _per_500(tally.doubles, len(tally.feeds)))
    if tally.looks:
        figures.take("read_time", percentile(tally.looks, 0.95))
    if tally.passes:
        figures.take("pass_time", percentile(tally.passes, 0.95))
    if tally.cards:
        read = tally.read
        note = f"{tally.cards} cards"
        figures.take("unreadable", _per_500(read.unreadable, tally.cards), note=note)
        figures.take("unread", _per_500(read.unread, tally.cards), note=note)
        figures.take("misread", _per_500(read.misread, tally.cards), note=note)
        figures.take("wrong_cards", read.wrong)


def _per_500(count: int, of: int) -> float:
    return count * 500 / max(1, of)


def _add_readings(one: Counted, other: Counted) -> Counted:
    return Counted(
        one.cards + other.cards,
        one.unreadable + other.unreadable,
        one.unread + other.unread,
        one.misread + other.misread,
        max(one.wrong, other.wrong),
    )
