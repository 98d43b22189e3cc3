"""Each way that a card can go, once: five outlets, out of the tray again, held, and doubled."""

import asyncio

from controller.acceptance.cards import Card, Cards
from controller.acceptance.session import BEAM_PARTS, CARD_TIMEOUT_S, POCKETS, Session
from drivers.dealer import Status
from drivers.events import Code, JamPlace, Outlet, Source

SENSOR_DELAY_S = 0.1
"""After a landing, until the sensor of the place has to see the card."""
HOLD_S = 0.9
"""Behind the board's first try and its way back: then the card is let go."""


async def outlets(of: Session) -> None:
    """Send one card to each outlet, and look whether beam and sensor there see it."""
    for outlet in Outlet:
        cards = await of.ensure()
        card = await of.one(cards, lambda _, to=outlet: to)  # type: ignore[misc]  # bound now
        if card is None:
            if cards.broken is not None:
                of.blame(cards.broken)
            else:
                of.figures.fail("feed_time", note="no card came to the window")
            return
        await _judge_card(of, cards, card, outlet)


async def check_tray_feed(of: Session) -> None:
    """Feed the card that lies in the tray again."""
    cards = await of.ensure()
    if not cards.in_tray():
        of.figures.leave_out("refeed", "no card came to lie in the tray")
        return
    bench, index = of.bench, cards.fed + 1
    cards.plan = lambda card: Outlet.N
    since_s = bench.now_s
    if not await bench.tried(cards.feed(index, Source.TRAY)):
        of.figures.fail("refeed", note="the board does not feed from the tray")
        return
    await cards.settle(lambda: cards.card(index).landed_s is not None, CARD_TIMEOUT_S)
    at_s = cards.card(index).at_s
    if at_s is None:
        of.figures.fail("refeed", note="the card does not come out of the tray")
        return
    of.figures.take("refeed", (at_s - since_s) * 1000)
    await asyncio.sleep(SENSOR_DELAY_S)
    if (await of.status()).sees_tray:
        of.figures.take("pocket", 1, "tray", note="it sees a card in an empty tray")


async def held(of: Session) -> None:
    """Have a card held fast at the feeder, and see the board free it."""
    cards = await of.ensure()
    if not await of.hands.do("hold_card"):
        of.figures.leave_out("jam_recovery", "nobody could hold a card")
        return
    bench, index = of.bench, cards.fed + 1
    cards.plan = of.plan_any_pocket()
    mark, since_s, of.loose = bench.mark(), bench.now_s, True
    if not await bench.tried(cards.feed(index)):
        of.figures.leave_out("jam_recovery", "the board does not feed")
        return
    await asyncio.sleep(HOLD_S)
    await of.hands.now("let_go")
    await cards.settle(lambda: cards.card(index).landed_s is not None, CARD_TIMEOUT_S)
    card = cards.card(index)
    if card.at_s is not None:
        of.figures.take("jam_recovery", (card.at_s - since_s) * 1000)
    else:
        jammed = bool(bench.since(mark, Code.JAM))
        note = "the board gave up" if jammed else "no card came"
        of.figures.fail("jam_recovery", note=note)


async def doubled(of: Session) -> None:
    """Have two cards stick together, and see whether they are noticed."""
    cards = await of.ensure()
    if not await of.hands.do("double_card"):
        of.figures.leave_out("double_feed", "nobody could lay a pair")
        return
    card = await of.one(cards, lambda card: Outlet.TRAY)
    if card is None:
        of.figures.leave_out("double_feed", "the pair did not come to the window")
    else:
        of.figures.take("double_feed", 0 if card.doubled else 1)
    cards.close()
    of.cards = None
    of.bench.dealer.stop()
    if await of.hands.do("untape"):
        of.loose = False


async def _judge_card(of: Session, cards: Cards, card: Card, outlet: Outlet) -> None:
    """Judge what one card on its way to one outlet was seen to do."""
    broken = cards.broken
    if broken is not None and not (broken.code is Code.JAM and broken.place == JamPlace.LANDING):
        of.blame(broken)
        of.figures.leave_out("landing", "the card stuck before it", BEAM_PARTS[outlet])
        return
    of.figures.take("wrong_outlet", int(card.outlet != outlet or card.landed not in (None, outlet)))
    of.figures.take("landing", int(card.landed_s is None), BEAM_PARTS[outlet])
    await asyncio.sleep(SENSOR_DELAY_S)
    seen = _seen(await of.status(), outlet)
    note = "" if seen else "it does not see the card that lies there"
    of.figures.take("pocket", int(not seen), POCKETS[outlet], note=note)


def _seen(status: Status, outlet: Outlet) -> bool:
    return status.sees_tray if outlet is Outlet.TRAY else status.sees_pockets[outlet]
