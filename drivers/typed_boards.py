"""The dealer board and the reader board as typed objects.

`on_event` is a plain function called inside the read callback. `route` and `stop` return at once.
The other commands return with the board's acknowledgement, or raise BoardRefused (with the board's
reason), SessionRenewed (request the status, then decide again) or LineLost. Every command names a
target state, so that repeating it changes nothing.
"""

import struct
from collections.abc import Callable
from typing import ClassVar

from msgspec import Struct

from drivers.board_events import BoardActivity, BoardEvent, BoardKind, FeedSource, Outlet
from drivers.errors import BoardRefused, WrongProtocol
from drivers.firmware import protocol
from drivers.link import frames
from drivers.link.frames import BoardResult
from drivers.link.link import Link

_DEALER_STATUS_BODY = struct.Struct(protocol.STATUS_BODIES[protocol.KIND_DEALER])
_POCKET_BITS = (protocol.SEES_NORTH, protocol.SEES_WEST, protocol.SEES_SOUTH, protocol.SEES_EAST)
_UNKNOWN_SETTING = 0
DEALER_SETTING_BOUNDS = {
    name: (least, most) for name, _, least, most in protocol.DEALER_SETTINGS.values()
}
"""The minimum and the maximum of each setting, by its name."""


class _Board:
    """The base class of both boards, with the commands that both have.

    The board is at the other end of `link`. The owner opens and closes the link.
    """

    kind: ClassVar[BoardKind]

    def __init__(self, link: Link) -> None:
        self.link = link

    @property
    def on_event(self) -> Callable[[BoardEvent], None]:
        """The function that receives each event of the board, inside the port's read callback."""
        return self.link.on_event

    @on_event.setter
    def on_event(self, on_event: Callable[[BoardEvent], None]) -> None:
        self.link.on_event = on_event

    async def begin(self, attempt: int, cards: int, cards_per_pocket: int) -> None:
        """Begin an attempt with `cards` cards in total, `cards_per_pocket` of them for each pocket.

        All counts of the board restart at 0.
        """
        await self.link.request(frames.BeginCommand(attempt, cards, cards_per_pocket))

    async def selftest(self) -> None:
        """Start the board's self-test: of the gate (dealer) or of the recognition engine (reader).

        The dealer board refuses unless pockets, tray and path are empty and the lift is down.
        """
        await self.link.request(frames.SelftestCommand())

    async def configure(self, setting: str, value: int) -> None:
        """Set the setting named `setting` to `value`. Raise KeyError for an unknown name."""
        setting_id = frames.SETTING_IDS[self.kind][setting]
        await self.link.request(frames.ConfigureCommand(setting_id, value))

    def stop(self) -> None:
        """Stop all motion of the board at once. Unfinished commands end with SessionRenewed."""
        self.link.stop()


class DealerStatus(Struct, frozen=True, gc=False):
    """Status of the dealer board: its progress in the attempt, and the present sensor states.

    `fed` counts cards seen at the window. `holding` is the index of the card held at the window (0
    if none), and `route` is the outlet commanded for that card. `landed` counts landings at N, W,
    S, E and the tray. `events` is the number of the board's last event. A lift that is neither
    `lift_up` nor `lift_down` is between the ends. `locked` is True if the board's own 27-lock would
    permit a release. `supply_low` means that the voltage of the motors is too low.
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
        """Return True if the lift is down, and pockets, tray and path are empty."""
        empty = not (any(self.sees_pockets) or self.sees_tray or self.sees_window or self.sees_path)
        return empty and self.lift_down and not self.lift_up


def decode_dealer_status(body: bytes) -> DealerStatus:
    """Return the dealer board's status, decoded from the body of its answer to STATUS.

    Raise WrongProtocol if the body contains no such status.
    """
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


class DealerBoard(_Board):
    """The dealer board at the other end of `link`. The owner opens and closes the link."""

    kind = "dealer"

    async def shuffle(self, attempt: int, passes: int) -> None:
        """Start to shuffle until the attempt has `passes` passes. SHUFFLED reports the end."""
        await self.link.request(frames.ShuffleCommand(attempt, passes))

    async def feed(self, attempt: int, source: FeedSource, upto: int) -> None:
        """Start to feed cards from `source` up to card `upto`. Each card waits for its route."""
        await self.link.request(frames.FeedCommand(attempt, source, upto))

    def route(self, attempt: int, index: int, pocket: Outlet) -> None:
        """Send card `index` to the outlet `pocket`, without waiting for the acknowledgement."""
        self.link.send(frames.RouteCommand(attempt, index, pocket))

    async def release(self, attempt: int) -> None:
        """Start lifting the hands, or continue a lifting that was interrupted.

        A RELEASED event reports that the hands are up.
        """
        await self.link.request(frames.ReleaseCommand(attempt))

    async def retract(self) -> None:
        """Start lowering the lift from any position. Refused while a pocket is occupied."""
        await self.link.request(frames.RetractCommand())

    async def purge(self, attempt: int) -> None:
        """Start moving the cards that are in the path into the tray."""
        await self.link.request(frames.PurgeCommand(attempt))

    async def is_moving(self) -> bool:
        """Return True if a motor moves or a card falls. Unlike STATUS, this includes self-tests.

        It sets a setting that no board has. The board answers BUSY while something moves, otherwise
        BAD_VALUE.
        """
        try:
            await self.link.request(frames.ConfigureCommand(_UNKNOWN_SETTING, 0))
        except BoardRefused as refused:
            return refused.result is BoardResult.BUSY
        return False

    async def get_status(self) -> DealerStatus:
        """Request the present status of the dealer board, and return it."""
        return decode_dealer_status((await self.link.request(frames.GetStatusCommand())).body)


_READER_STATUS_BODY = struct.Struct(protocol.STATUS_BODIES[protocol.KIND_READER])
READER_SETTING_BOUNDS = {
    name: (least, most) for name, _, least, most in protocol.READER_SETTINGS.values()
}
"""The minimum and maximum of each setting, by its name."""


class ReaderStatus(Struct, frozen=True, gc=False):
    """Status of the reader board: its attempt, its activity, and counts of cards and events.

    `pulses` counts cards announced since BEGIN, by the dealer board's wire or by `announce_card`.
    `reads` counts the answers sent. `events` is the number of the board's last event.
    """

    attempt: int
    doing: BoardActivity
    pulses: int
    reads: int
    events: int


def decode_reader_status(body: bytes) -> ReaderStatus:
    """Return the reader board's status, decoded from the body of its answer to STATUS.

    Raise WrongProtocol if the body contains no such status.
    """
    try:
        attempt, doing, pulses, reads, events = _READER_STATUS_BODY.unpack(body)
        return ReaderStatus(attempt, BoardActivity(doing), pulses, reads, events)
    except (struct.error, ValueError) as error:
        raise WrongProtocol("reader", "a reader's STATUS", body.hex() or "nothing") from error


class ReaderBoard(_Board):
    """The reader board at the other end of `link`. The owner opens and closes the link."""

    kind = "reader"

    @property
    def is_polled(self) -> bool:
        """Return True if the host must announce each card, because there is no trigger wire."""
        welcome = self.link.welcome
        return welcome is not None and welcome.asked

    def announce_card(self, attempt: int, index: int) -> None:
        """Send a LOOK for card `index`, which came into the window.

        Do nothing if the reader has a trigger wire.
        """
        if self.is_polled:
            self.link.send(frames.LookCommand(attempt, index))

    def send(self, command: frames.BoardCommand) -> None:
        """Send `command` to the board without waiting for its acknowledgement.

        If the reader has no trigger wire, announce the card of a RereadCommand first, because a
        fault of the line may have lost the first announcement.
        """
        if isinstance(command, frames.RereadCommand):
            self.announce_card(command.attempt, command.index)
        self.link.send(command)

    def reread(self, attempt: int, index: int) -> None:
        """Request a new look at card `index` in the window. Another READ reports the answer."""
        self.send(frames.RereadCommand(attempt, index))

    async def get_status(self) -> ReaderStatus:
        """Request the present status of the reader board, and return it."""
        return decode_reader_status((await self.link.request(frames.GetStatusCommand())).body)
