"""The dealer board as a typed object: shuffler, feeder, gate, pockets and lift.

`on_event` is a plain function called inside the read callback; `route` and `stop`
write and return; everything else ends with the board's acknowledgement, or raises
Refused (the board says why), SessionRenewed (ask `status`, decide anew) or
LineLost. Every command says where to be, so that twice is once.
"""

import struct
from collections.abc import Callable

from msgspec import Struct

from drivers.board_events import BoardActivity, BoardEvent, FeedSource, Outlet
from drivers.errors import BoardRefused, BoardResult, WrongProtocol
from drivers.firmware import protocol
from drivers.link import frames
from drivers.link.link import Link

_DEALER_STATUS_BODY = struct.Struct(protocol.STATUS_BODIES[protocol.KIND_DEALER])
_POCKET_BITS = (protocol.SEES_NORTH, protocol.SEES_WEST, protocol.SEES_SOUTH, protocol.SEES_EAST)
_DEALER_SETTING_IDS = {row[0]: setting for setting, row in protocol.DEALER_SETTINGS.items()}
_UNKNOWN_SETTING = 0
DEALER_SETTING_BOUNDS = {
    name: (least, most) for name, _, least, most in protocol.DEALER_SETTINGS.values()
}
"""The least and the most of each setting, by its name."""


class DealerStatus(Struct, frozen=True, gc=False):
    """What the dealer board knows of its attempt, and what its sensors see now.

    `fed` counts cards seen at the window; `holding` is the index of the card held
    there, 0 for none, and `route` where that card was told to go. `landed` counts
    landings at N, W, S, E and the tray. `events` is the number of its last event.
    A lift that is neither `lift_up` nor `lift_down` stands between. `locked`: its own
    27-lock would release. `supply_low`: the motors' voltage is too low.
    """

    attempt: int
    doing: BoardActivity
    source: FeedSource
    upto: int
    fed: int
    holding: int
    route: Outlet | None
    landed: tuple[int, int, int, int, int]
    strays: int
    doubles: int
    sees_pockets: tuple[bool, bool, bool, bool]
    sees_tray: bool
    sees_hopper: bool
    sees_window: bool
    sees_path: bool
    sees_shuffler: bool
    lid_open: bool
    estop: bool
    lift_up: bool
    lift_down: bool
    events: int
    locked: bool
    supply_low: bool = False

    @property
    def is_clear(self) -> bool:
        """Tell whether BEGIN would find pockets, tray, window and path empty, and the lift down."""
        empty = not (any(self.sees_pockets) or self.sees_tray or self.sees_window or self.sees_path)
        return empty and self.lift_down and not self.lift_up


def decode_dealer_status(body: bytes) -> DealerStatus:
    """Return the Status in an acknowledgement's body; raises WrongProtocol where it is none."""
    try:
        attempt, doing, source, upto, fed, holding, route, *landed, sensors, events, locked = (
            _DEALER_STATUS_BODY.unpack(body)
        )
        n, w, s, e, tray, strays, doubles = landed
        pockets = [bool(sensors & bit) for bit in _POCKET_BITS]
        return DealerStatus(
            attempt=attempt,
            doing=BoardActivity(doing),
            source=FeedSource(source),
            upto=upto,
            fed=fed,
            holding=holding,
            route=None if route == protocol.NOWHERE else Outlet(route),
            landed=(n, w, s, e, tray),
            strays=strays,
            doubles=doubles,
            sees_pockets=(pockets[0], pockets[1], pockets[2], pockets[3]),
            sees_tray=bool(sensors & protocol.SEES_TRAY),
            sees_hopper=bool(sensors & protocol.SEES_HOPPER),
            sees_window=bool(sensors & protocol.SEES_WINDOW),
            sees_path=bool(sensors & protocol.SEES_PATH),
            sees_shuffler=bool(sensors & protocol.SEES_SHUFFLER),
            lid_open=bool(sensors & protocol.SEES_LID_OPEN),
            estop=bool(sensors & protocol.SEES_ESTOP),
            lift_up=bool(sensors & protocol.SEES_LIFT_UP),
            lift_down=bool(sensors & protocol.SEES_LIFT_DOWN),
            events=events,
            locked=bool(locked),
            supply_low=bool(sensors & protocol.SEES_SUPPLY_LOW),
        )
    except (struct.error, ValueError) as error:
        raise WrongProtocol("dealer", "a dealer's STATUS", body.hex() or "nothing") from error


class DealerBoard:
    """The dealer board behind `link`; its owner opens and closes the link."""

    def __init__(self, link: Link) -> None:
        self.link = link

    @property
    def on_event(self) -> Callable[[BoardEvent], None]:
        """What is called with each event, inside the read callback."""
        return self.link.on_event

    @on_event.setter
    def on_event(self, on_event: Callable[[BoardEvent], None]) -> None:
        self.link.on_event = on_event

    async def begin(self, attempt: int, cards: int, cards_per_pocket: int) -> None:
        """Begin an attempt: `cards` cards, `per` to a pocket."""
        await self.link.request(frames.BeginCommand(attempt, cards, cards_per_pocket))

    async def shuffle(self, attempt: int, passes: int) -> None:
        """Start shuffling until `passes` passes are done; SHUFFLED says when."""
        await self.link.request(frames.ShuffleCommand(attempt, passes))

    async def feed(self, attempt: int, source: FeedSource, upto: int) -> None:
        """Start feeding from `source`, up to card `upto`; each waits for its route."""
        await self.link.request(frames.FeedCommand(attempt, source, upto))

    def route(self, attempt: int, index: int, pocket: Outlet) -> None:
        """Send card `index` to `pocket`; on the line before this returns."""
        self.link.send(frames.RouteCommand(attempt, index, pocket))

    async def release(self, attempt: int) -> None:
        """Start lifting the hands out, or go on after a stop; RELEASED says when they are up."""
        await self.link.request(frames.ReleaseCommand(attempt))

    async def retract(self) -> None:
        """Start lowering the lift, from wherever it stands; refused while a pocket is occupied."""
        await self.link.request(frames.RetractCommand())

    async def purge(self, attempt: int) -> None:
        """Start moving what is in the path into the tray."""
        await self.link.request(frames.PurgeCommand(attempt))

    async def selftest(self) -> None:
        """Start the test of motors and sensors of an empty machine."""
        await self.link.request(frames.SelftestCommand())

    async def configure(self, setting: str, value: int) -> None:
        """Change a setting by its name in wire.DEALER_SETTINGS; KeyError for another name."""
        await self.link.request(frames.ConfigureCommand(_DEALER_SETTING_IDS[setting], value))

    async def is_moving(self) -> bool:
        """Tell whether anything moves, a self-test as well, of which STATUS does not tell.

        Asks for a setting that no board has: BUSY while something moves, else BAD_VALUE.
        """
        try:
            await self.link.request(frames.ConfigureCommand(_UNKNOWN_SETTING, 0))
        except BoardRefused as refused:
            return refused.result is BoardResult.BUSY
        return False

    async def get_status(self) -> DealerStatus:
        """Return what the board knows and sees now."""
        return decode_dealer_status((await self.link.request(frames.GetStatusCommand())).body)

    def stop(self) -> None:
        """Stop all motion at once; commands under way end with SessionRenewed."""
        self.link.stop()


_READER_STATUS_BODY = struct.Struct(protocol.STATUS_BODIES[protocol.KIND_READER])
_READER_SETTING_IDS = {row[0]: setting for setting, row in protocol.READER_SETTINGS.items()}
READER_SETTING_BOUNDS = {
    name: (least, most) for name, _, least, most in protocol.READER_SETTINGS.values()
}
"""The least and the most of each setting, by its name."""


class ReaderStatus(Struct, frozen=True, gc=False):
    """What the reader board knows of its attempt.

    `pulses` counts cards announced since BEGIN, by the dealer board's wire or by `at_window`,
    `reads` the answers sent. `events` is the number of its last event.
    """

    attempt: int
    doing: BoardActivity
    pulses: int
    reads: int
    events: int


def decode_reader_status(body: bytes) -> ReaderStatus:
    """Return the Status in an acknowledgement's body; raises WrongProtocol where it is none."""
    try:
        attempt, doing, pulses, reads, events = _READER_STATUS_BODY.unpack(body)
        return ReaderStatus(attempt, BoardActivity(doing), pulses, reads, events)
    except (struct.error, ValueError) as error:
        raise WrongProtocol("reader", "a reader's STATUS", body.hex() or "nothing") from error


class ReaderBoard:
    """The reader board behind `link`; its owner opens and closes the link."""

    def __init__(self, link: Link) -> None:
        self.link = link

    @property
    def on_event(self) -> Callable[[BoardEvent], None]:
        """What is called with each event, inside the read callback."""
        return self.link.on_event

    @on_event.setter
    def on_event(self, on_event: Callable[[BoardEvent], None]) -> None:
        self.link.on_event = on_event

    async def begin(self, attempt: int, cards: int, cards_per_pocket: int) -> None:
        """Begin an attempt: pulses and reads count from 0."""
        await self.link.request(frames.BeginCommand(attempt, cards, cards_per_pocket))

    @property
    def is_polled(self) -> bool:
        """Whether it has no trigger wire, so that `at_window` must tell it of each card."""
        welcome = self.link.welcome
        return welcome is not None and welcome.asked

    def announce_card(self, attempt: int, index: int) -> None:
        """Say that card `index` came into the window; no wire does where the reader is asked."""
        if self.is_polled:
            self.link.send(frames.LookCommand(attempt, index))

    def send(self, command: frames.BoardCommand) -> None:
        """Send a command nobody waits for.

        A card that is to be read once more was in the window: where the reader is asked, and a
        line that was lost had swallowed that, it hears it first.
        """
        if isinstance(command, frames.RereadCommand):
            self.announce_card(command.attempt, command.index)
        self.link.send(command)

    def reread(self, attempt: int, index: int) -> None:
        """Read card `index` once more, while it stands in the window; another READ answers."""
        self.send(frames.RereadCommand(attempt, index))

    async def selftest(self) -> None:
        """Start the test of the recognition engine."""
        await self.link.request(frames.SelftestCommand())

    async def configure(self, setting: str, value: int) -> None:
        """Change a setting by its name in wire.READER_SETTINGS; KeyError for another name."""
        await self.link.request(frames.ConfigureCommand(_READER_SETTING_IDS[setting], value))

    async def get_status(self) -> ReaderStatus:
        """Return what the board knows now."""
        return decode_reader_status((await self.link.request(frames.GetStatusCommand())).body)

    def stop(self) -> None:
        """Stop at once; commands under way end with SessionRenewed."""
        self.link.stop()
