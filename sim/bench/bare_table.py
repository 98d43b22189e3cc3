"""A table for benchmarks that has only two boards and the card loop.

There is no journal, no state and no gateway. So the time of a card is the time of its serial line
and of its decision only.
"""

import asyncio
import gc
import random
import sys
from dataclasses import replace

import click

from controller.deal.attempt import AttemptState
from controller.deal.observations import BothBegan, FinalCount
from controller.deal.sequence import sequence
from controller.machine.attempts.card_loop import CardLoop
from controller.machine.boards.board_observations import BoardObservations
from controller.rules.profile import Profile
from controller.rules.profile_files import load_profile
from controller.vault.vault import Vault
from drivers.board_events import BoardEvent, BoardEventCode, BoardStopReason, CardReadEvent
from drivers.errors import DriverError
from drivers.link.link import Link
from drivers.link.serial_port import LinkPort, SerialPort
from drivers.typed_boards import DealerBoard, ReaderBoard
from sim.hardware_in_process import HardwareInProcess
from sim.mechanics.mechanics_settings import MechanicsSettings, PhysicalSet
from sim.people.practice_players import DealResult
from sim.tables.table_processes import ControlClient
from sim.virtual_loop import VirtualLoop


class BareTable:
    """The two boards of a table with their serial links, and a card loop for each attempt.

    `back` is the back of the set in the hopper.
    """

    def __init__(self, dealer: LinkPort, reader: LinkPort, profile: Profile, back: int) -> None:
        sessions = iter(range(1, 1 << 16)).__next__
        self.dealer = DealerBoard(Link(dealer, "dealer", session_ids=sessions))
        self.reader = ReaderBoard(Link(reader, "reader", session_ids=sessions))
        self._profile = profile
        self._vault = Vault(profile.deck.composition(), back)

    async def open(self) -> None:
        """Open the serial links of both boards."""
        for board in (self.reader, self.dealer):
            await board.link.open({}, {})

    async def run_attempt(self, number: int, sequence: str) -> AttemptState:
        """Deal the hopper's cards by the fair sequence `sequence`, and return the final state.

        `sequence` has one pocket letter for each card. Raises DriverError if a board refuses a
        command or is lost. There is no retry.
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
            on_count_due=lambda: dealing.observe(_matching_count(dealing.attempt)),
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
                # No part of this table keeps events longer than the boards do.
                board.link.mark_kept(board.link.last_event)

    def close(self) -> None:
        """Close the serial links of both boards."""
        for board in (self.dealer, self.reader):
            board.link.close()


def _matching_count(attempt: AttemptState) -> FinalCount:
    """Return a final count that agrees with the ledger of `attempt`, so that the hands are held."""
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


def mechanical_s(
    settings: MechanicsSettings, profile: Profile, sequence: str, *, feeding_ms: float | None = None
) -> float:
    """Simulate an attempt in virtual time, and return the seconds from first feed to last landing.

    `sequence` has one pocket letter for each place. All cards take the same time. This
    time is the mean of `settings`. With `feeding_ms`, it is the mean of an attempt in which the
    feeder took `feeding_ms` for all cards (sim.mechanics.truth), without random differences.
    """
    feed_ms = settings.feed_ms if feeding_ms is None else feeding_ms / len(sequence)
    even = replace(settings, feed_ms=feed_ms, feed_spread_ms=0.0, flight_spread_ms=0.0)
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(_run_attempt(even, profile, sequence))


def dealt_mechanical_s(dealt: DealResult, speed: float) -> float:
    """Simulate the deal `dealt` again at `speed`. Return its seconds, as `mechanical_s` does."""
    profile = load_profile("international-000")
    seed, commitment = bytes.fromhex(dealt.seed), bytes.fromhex(dealt.commitment)
    order = sequence(commitment, seed, dealt.cut, profile.deck.cards)
    settings = MechanicsSettings(speed=speed)
    return mechanical_s(settings, profile, order, feeding_ms=dealt.feeding_ms)


async def _run_attempt(settings: MechanicsSettings, profile: Profile, sequence: str) -> float:
    sim = HardwareInProcess(settings, random.Random(0), boots=iter(range(1, 9)).__next__)
    table = BareTable(sim.port("dealer"), sim.port("reader"), profile, settings.sets[0].back)
    try:
        await table.open()
        await table.run_attempt(1, sequence)
        took_s = sim.world.truth().mechanical_s
        return 0.0 if took_s is None else took_s
    finally:
        table.close()
        sim.close()


_SEED = bytes(range(32))
_BAUD = 921_600


async def deal_on_input(dealer: str, reader: str, control: str) -> None:
    """Run one attempt whenever standard input receives a line, until the input ends.

    `dealer`, `reader`: the boards' serial ports. `control`: the control socket of the simulator.
    Print the number of each attempt when it has ended.
    """
    profile = load_profile("international-000")
    ports = (SerialPort(dealer, _BAUD), SerialPort(reader, _BAUD))
    table = BareTable(*ports, profile, PhysicalSet().back)
    hands = ControlClient(control)
    orders = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(orders), sys.stdin)
    await table.open()
    gc.collect()
    gc.freeze()
    gc.disable()
    attempt = 0
    try:
        while await orders.readline():
            attempt += 1
            order = sequence(attempt.to_bytes(32), _SEED, None, profile.deck.cards)
            await table.run_attempt(attempt, order)
            await hands.request("collect")
            click.echo(attempt)
    finally:
        table.close()


if __name__ == "__main__":
    asyncio.run(deal_on_input(*sys.argv[1:]))
