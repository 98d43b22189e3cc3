"""Each way that a card can go, once: five outlets, out of the tray again, held, and doubled."""

import asyncio

from controller.acceptance.cards import FedCard, FedCards
from controller.acceptance.session import BEAM_PARTS, CARD_TIMEOUT_S, POCKET_PARTS, SelftestSession
from drivers.dealer import DealerStatus
from drivers.events import BoardEventCode, FeedSource, JamPlace, Outlet

SENSOR_DELAY_S = 0.1
"""After a landing, until the sensor of the place has to see the card."""
HOLD_S = 0.9
"""Behind the board's first try and its way back: then the card is let go."""


async def check_outlets(session: SelftestSession) -> None:
    """Send one card to each outlet, and look whether beam and sensor there see it."""
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
    """Feed the card that lies in the tray again."""
    cards = await session.ensure_attempt()
    if not cards.cards_in_tray():
        session.figures.leave_out("refeed", "no card came to lie in the tray")
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
    """Have a card held fast at the feeder, and see the board free it."""
    cards = await session.ensure_attempt()
    if not await session.operator.do("hold_card"):
        session.figures.leave_out("jam_recovery", "nobody could hold a card")
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
    """Have two cards stick together, and see whether they are noticed."""
    cards = await session.ensure_attempt()
    if not await session.operator.do("double_card"):
        session.figures.leave_out("double_feed", "nobody could lay a pair")
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
    """Judge what one card on its way to one outlet was seen to do."""
    broken = cards.breakdown
    if broken is not None and not (
        broken.code is BoardEventCode.JAM and broken.place == JamPlace.LANDING
    ):
        session.record_breakdown(broken)
        session.figures.leave_out("landing", "the card stuck before it", BEAM_PARTS[outlet])
        return
    session.figures.record(
        "wrong_outlet", int(card.gate_outlet != outlet or card.landed_outlet not in (None, outlet))
    )
    session.figures.record("landing", int(card.landed_s is None), BEAM_PARTS[outlet])
    await asyncio.sleep(SENSOR_DELAY_S)
    seen = _sees_card(await session.status(), outlet)
    note = "" if seen else "it does not see the card that lies there"
    session.figures.record("pocket", int(not seen), POCKET_PARTS[outlet], note=note)


def _sees_card(status: DealerStatus, outlet: Outlet) -> bool:
    return status.sees_tray if outlet is Outlet.TRAY else status.sees_pockets[outlet]
