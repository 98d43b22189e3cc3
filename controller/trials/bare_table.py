"""Two boards and the dealing loop between them, and nothing else of a table.

No journal, no state, no gateway: what a card costs by its line and its decision alone.
"""

import asyncio

from controller.deal.attempt import Attempt
from controller.deal.sightings import BothBegan, Settled
from controller.machine.dealing import CardLoop
from controller.machine.sightings import BoardObservations
from controller.rules.profile import Profile
from controller.vault.vault import Vault
from drivers.dealer import Dealer
from drivers.errors import DriverError
from drivers.events import BoardStopReason, Code, Event, Read
from drivers.link.link import Link
from drivers.link.port import Port
from drivers.reader import Reader


class BareTable:
    """The two boards behind their ports; `back` is that of the set in the hopper."""

    def __init__(self, dealer: Port, reader: Port, profile: Profile, back: int) -> None:
        sessions = iter(range(1, 1 << 16)).__next__
        self.dealer = Dealer(Link(dealer, "dealer", session_ids=sessions))
        self.reader = Reader(Link(reader, "reader", session_ids=sessions))
        self._profile = profile
        self._vault = Vault(profile.deck.composition(), back)

    async def open(self) -> None:
        """Open both lines."""
        for board in (self.reader, self.dealer):
            await board.link.open({}, {})

    async def attempt(self, number: int, sequence: str) -> Attempt:
        """Deal the set in the hopper by `sequence`, a pocket's letter for each place.

        Raises DriverError where a board refuses, or is lost: nothing here begins again.
        """
        ended: asyncio.Future[Attempt] = asyncio.get_running_loop().create_future()
        sightings = BoardObservations(number)
        dealing = CardLoop(
            number,
            sequence,
            self._profile.shuffles(1),
            dealer=self.dealer.link.post,
            reader=self.reader.link.post,
            stop=self.dealer.stop,
            on_check=lambda: dealing.see(_passing_check(dealing.attempt)),
            on_alone=lambda index: dealing.alone(index),
            on_end=ended.set_result,
            on_change=lambda: None,
        )

        def on_read(event: Event) -> None:
            if isinstance(event, Read) and event.attempt == number:
                dealing.see(self._vault.read(event))

        def on_event(event: Event) -> None:
            if event.code is Code.STOPPED and event.place == BoardStopReason.HOST_SILENT:
                dealing.resume()
            elif (seen := sightings.of(event)) is not None:
                dealing.told(seen)

        def fails(error: DriverError) -> None:
            if not ended.done():
                ended.set_exception(error)

        self.dealer.on_event, self.reader.on_event = on_event, on_read
        for board in (self.dealer, self.reader):
            board.link.on_down = board.link.on_refused = fails
            board.link.on_renewed = lambda _: dealing.resume()
        try:
            for board in (self.reader, self.dealer):
                await board.begin(number, self._profile.deck.cards, self._profile.hand)
            self._vault.begin(number)
            dealing.see(BothBegan())
            return await ended
        finally:
            self.dealer.on_event = self.reader.on_event = lambda event: None
            dealing.close()
            for board in (self.dealer, self.reader):
                board.link.kept(board.link.taken)  # nothing here remembers more than they do

    def close(self) -> None:
        """Let go of both lines."""
        for board in (self.dealer, self.reader):
            board.link.close()


def _passing_check(attempt: Attempt) -> Settled:
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
