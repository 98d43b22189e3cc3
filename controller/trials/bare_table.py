"""Two boards and the dealing loop between them, and nothing else of a table.

No journal, no state, no gateway: what a card costs by its line and its decision alone.
"""

import asyncio

from controller.deal.attempt import AttemptState
from controller.deal.sightings import BothBegan, FinalCount
from controller.machine.dealing import CardLoop
from controller.machine.sightings import BoardObservations
from controller.rules.profile import Profile
from controller.vault.vault import Vault
from drivers.dealer import DealerBoard
from drivers.errors import DriverError
from drivers.events import BoardEvent, BoardEventCode, BoardStopReason, CardReadEvent
from drivers.link.link import Link
from drivers.link.port import LinkPort
from drivers.reader import ReaderBoard


class BareTable:
    """The two boards behind their ports; `back` is that of the set in the hopper."""

    def __init__(self, dealer: LinkPort, reader: LinkPort, profile: Profile, back: int) -> None:
        sessions = iter(range(1, 1 << 16)).__next__
        self.dealer = DealerBoard(Link(dealer, "dealer", session_ids=sessions))
        self.reader = ReaderBoard(Link(reader, "reader", session_ids=sessions))
        self._profile = profile
        self._vault = Vault(profile.deck.composition(), back)

    async def open(self) -> None:
        """Open both lines."""
        for board in (self.reader, self.dealer):
            await board.link.open({}, {})

    async def run_attempt(self, number: int, sequence: str) -> AttemptState:
        """Deal the set in the hopper by `sequence`, a pocket's letter for each place.

        Raises DriverError where a board refuses, or is lost: nothing here begins again.
        """
        ended: asyncio.Future[AttemptState] = asyncio.get_running_loop().create_future()
        sightings = BoardObservations(number)
        dealing = CardLoop(
            number,
            sequence,
            self._profile.shuffles(1),
            dealer=self.dealer.link.send,
            reader=self.reader.link.send,
            stop_motion=self.dealer.stop,
            on_count_due=lambda: dealing.observe(_passing_check(dealing.attempt)),
            on_look_overdue=lambda index: dealing.give_up_look(index),
            on_end=ended.set_result,
            on_change=lambda: None,
        )

        def on_read(event: BoardEvent) -> None:
            if isinstance(event, CardReadEvent) and event.attempt == number:
                dealing.observe(self._vault.take_read(event))

        def on_event(event: BoardEvent) -> None:
            if event.code is BoardEventCode.STOPPED and event.place == BoardStopReason.HOST_SILENT:
                dealing.resend_targets()
            elif (seen := sightings.observation_of(event)) is not None:
                dealing.observe_board(seen)

        def fails(error: DriverError) -> None:
            if not ended.done():
                ended.set_exception(error)

        self.dealer.on_event, self.reader.on_event = on_event, on_read
        for board in (self.dealer, self.reader):
            board.link.on_down = board.link.on_refused = fails
            board.link.on_renewed = lambda _: dealing.resend_targets()
        try:
            for board in (self.reader, self.dealer):
                await board.begin(number, self._profile.deck.cards, self._profile.hand)
            self._vault.begin(number)
            dealing.observe(BothBegan())
            return await ended
        finally:
            self.dealer.on_event = self.reader.on_event = lambda event: None
            dealing.close()
            for board in (self.dealer, self.reader):
                board.link.mark_kept(
                    board.link.last_event
                )  # nothing here remembers more than they do

    def close(self) -> None:
        """Let go of both lines."""
        for board in (self.dealer, self.reader):
            board.link.close()


def _passing_check(attempt: AttemptState) -> FinalCount:
    """Answer the final check: only the time it took is asked here."""
    ledger = attempt.ledger
    n, w, s, e, _ = ledger.count_landed().values()
    return FinalCount(
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
