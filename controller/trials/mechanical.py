"""How long an attempt takes by the mechanics alone: in virtual time, with no delay of line or host.

The floor under a deal's wall time: the same sequence of pockets over the same
machine, answered the instant it asks.
"""

import asyncio
import random

from controller.deal.attempt import Attempt
from controller.deal.sightings import Begun, Settled
from controller.machine.dealing import Dealing
from controller.machine.sightings import Sightings
from controller.rules.profile import Profile
from controller.vault.vault import Vault
from drivers.dealer import Dealer
from drivers.events import Event, Read
from drivers.link.link import Link
from drivers.reader import Reader
from sim.inproc import InprocTable
from sim.mechanics.settings import Settings
from sim.virtual import VirtualLoop


def mechanical_s(settings: Settings, profile: Profile, sequence: str, *, seed: int = 0) -> float:
    """Return the seconds from the first feed to the last landing of one attempt.

    `sequence` is the attempt's pocket letter per place; `seed` the mechanics'.
    """
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(_attempt(settings, profile, sequence, seed))


async def _attempt(settings: Settings, profile: Profile, sequence: str, seed: int) -> float:
    loop = asyncio.get_running_loop()
    table = InprocTable(settings, random.Random(seed), boots=iter(range(1, 9)).__next__)
    sessions = iter(range(1, 1000)).__next__
    dealer = Dealer(Link(table.port("dealer"), "dealer", session_ids=sessions))
    reader = Reader(Link(table.port("reader"), "reader", session_ids=sessions))
    vault = Vault(profile.deck.composition(), settings.sets[0].back)
    sightings = Sightings(1)
    ended: asyncio.Future[Attempt] = loop.create_future()
    dealing = Dealing(
        1,
        sequence,
        profile.shuffles(1),
        dealer=dealer.link.post,
        reader=reader.link.post,
        stop=dealer.stop,
        on_check=lambda: dealing.see(_right(dealing.attempt)),
        on_alone=lambda index: dealing.alone(index),
        on_end=ended.set_result,
        on_change=lambda: None,
    )

    def on_read(event: Event) -> None:
        if isinstance(event, Read):
            dealing.see(vault.read(event))

    def on_event(event: Event) -> None:
        if (seen := sightings.of(event)) is not None:
            dealing.told(seen)

    dealer.on_event, reader.on_event = on_event, on_read
    try:
        for board in (reader, dealer):
            await board.link.open({}, {})
            await board.begin(1, profile.deck.cards, profile.hand)
        vault.begin(1)
        dealing.see(Begun())
        await ended
        took_s = table.world.truth().mechanical_s
        return 0.0 if took_s is None else took_s
    finally:
        dealing.close()
        for board in (dealer, reader):
            board.link.close()
        table.close()


def _right(attempt: Attempt) -> Settled:
    """Answer the final check: only the time it took is asked here."""
    ledger = attempt.ledger
    n, w, s, e, _ = ledger.landed().values()
    return Settled(
        hopper_empty=True,
        path_empty=True,
        tray_empty=True,
        lift_down=True,
        pockets_seen=(True, True, True, True),
        board_fed=len(ledger.cards),
        board_landed=(n, w, s, e),
        board_locked=True,
        reader_pulses=len(ledger.cards),
        set_faults=(),
    )
