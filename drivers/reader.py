"""The reader board as a typed object: it looks at the card in the window.

`on_event` is a plain function called inside the read callback, with a Read for
each answer of the recognition engine. Errors are those of drivers/dealer.py.
"""

import struct
from collections.abc import Callable

from msgspec import Struct

from drivers.errors import WrongProtocol
from drivers.events import BoardActivity, BoardEvent
from drivers.firmware import wire
from drivers.link import frames
from drivers.link.link import Link

_READER_STATUS_BODY = struct.Struct(wire.STATUS_BODIES[wire.KIND_READER])
_READER_SETTING_IDS = {row[0]: setting for setting, row in wire.READER_SETTINGS.items()}
READER_SETTING_BOUNDS = {
    name: (least, most) for name, _, least, most in wire.READER_SETTINGS.values()
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
