"""Who answered: a board's WELCOME, and what the configuration expects there."""

from typing import Literal

from msgspec import Struct

from drivers import errors
from drivers.board_events import BoardKind, ReportedKind
from drivers.firmware import protocol as wire

PROTOCOL_HEX = wire.PROTOCOL_HASH.hex()
HardwareKind = Literal["sim", "rp2", "adapter", "other"]
"""What stands behind a board's pins; "other": of a version that this program does not know."""
HARDWARE_KINDS: dict[int, HardwareKind] = {
    wire.HAL_SIM: "sim",
    wire.HAL_RP2: "rp2",
    wire.HAL_ADAPTER: "adapter",
}


class Welcome(Struct, frozen=True, gc=False):
    """A board's answer to HELLO.

    `uid` (16), `firmware_hash` (16) and `protocol` (16) are hex digits,
    `firmware` is "major.minor.patch". `boot` is a number of this run of the
    board. `events` is the number of its last event, `forgotten` the last one it
    no longer holds. `fed` and `landed` count cards in the board's life. `asked`: the
    reader has no trigger wire, and is told of each card by LOOK.
    """

    kind: ReportedKind
    hal: HardwareKind
    uid: str
    firmware: str
    firmware_hash: str
    protocol: str
    boot: int
    settings_crc: int
    reset_cause: int
    attempt: int
    events: int
    fed: int
    landed: int
    forgotten: int
    asked: bool = False

    @property
    def is_simulated(self) -> bool:
        """Whether the board's pins are simulated; an adapter's are not, whatever is behind it."""
        return self.hal == "sim"


class ExpectedBoard(Struct, frozen=True, gc=False):
    """The board that must be at a port.

    `uid` and `firmware` (the hash of the firmware's files) are 16 lower-case hex digits,
    `settings_crc` is the number as in WELCOME; with None any settings pass.
    `asked` is whether the reader is asked for each card by LOOK.
    """

    kind: BoardKind
    uid: str
    is_simulated: bool
    firmware: str
    settings_crc: int | None = None
    is_polled: bool = False


def check_protocol(welcome: Welcome) -> None:
    """Raise WrongProtocol where the board's wire is not this program's."""
    if welcome.protocol != PROTOCOL_HEX:
        raise errors.WrongProtocol(welcome.kind, PROTOCOL_HEX, welcome.protocol)


def check_identity(
    welcome: Welcome, expected: ExpectedBoard, other: ExpectedBoard | None = None
) -> None:
    """Raise the mismatch that says most about a wrong board; return None for the right one.

    `other` is what is pinned at the table's other port, so that two boards in
    each other's place are named as swapped. Raises WrongProtocol, Swapped,
    WrongKind, WrongBoard, BackendMismatch, WrongFirmware, WrongSettings or WrongTrigger.
    """
    check_protocol(welcome)
    at = expected.kind
    if other is not None and welcome.uid == other.uid != expected.uid:
        raise errors.BoardsSwapped(at, expected.uid, welcome.uid)
    if welcome.kind != expected.kind:
        raise errors.WrongKind(at, expected.kind, f"{welcome.kind} ({welcome.uid})")
    if welcome.uid != expected.uid:
        raise errors.WrongBoard(at, expected.uid, welcome.uid)
    # What is behind an adapter it cannot know: it goes with either kind of table.
    if welcome.is_simulated != expected.is_simulated and welcome.hal != "adapter":
        raise errors.BackendMismatch(
            at, _backend_word(expected.is_simulated), _backend_word(welcome.is_simulated)
        )
    if welcome.firmware_hash != expected.firmware:
        raise errors.WrongFirmware(at, expected.firmware, welcome.firmware_hash)
    if expected.settings_crc is not None and welcome.settings_crc != expected.settings_crc:
        raise errors.WrongSettings(
            at, f"{expected.settings_crc:08x}", f"{welcome.settings_crc:08x}"
        )
    if welcome.asked != expected.is_polled:
        raise errors.WrongTrigger(
            at, _trigger_word(expected.is_polled), _trigger_word(welcome.asked)
        )


def _trigger_word(is_polled: bool) -> str:
    return "asked" if is_polled else "wire"


def _backend_word(is_simulated: bool) -> str:
    return "sim" if is_simulated else "serial"
