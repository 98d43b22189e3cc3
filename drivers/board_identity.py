"""The check of a board's identity: its WELCOME message is compared with the configuration."""

from msgspec import Struct

from drivers import errors
from drivers.board_events import BoardKind
from drivers.link.frames import PROTOCOL_HEX, Welcome


class ExpectedBoard(Struct, frozen=True, gc=False):
    """The properties that the board at one port must have.

    `uid` and `firmware` (the hash of the firmware's files) are 16 lower-case hex digits.
    `settings_crc` is the number as in WELCOME. With None, any settings are accepted. `is_polled` is
    True if the reader must receive a LOOK message for each card.
    """

    kind: BoardKind
    uid: str
    is_simulated: bool
    firmware: str
    settings_crc: int | None = None
    is_polled: bool = False


def check_protocol(welcome: Welcome) -> None:
    """Raise WrongProtocol if the board uses another wire protocol than this program."""
    if welcome.protocol != PROTOCOL_HEX:
        raise errors.WrongProtocol(welcome.kind, PROTOCOL_HEX, welcome.protocol)


def check_identity(
    welcome: Welcome, expected: ExpectedBoard, other: ExpectedBoard | None = None
) -> None:
    """Raise an error if the board that sent `welcome` differs from `expected`.

    The most specific error is raised. `other` is the board that the configuration names for the
    table's other port. If `other` sent `welcome`, BoardsSwapped is raised. Raises
    WrongProtocol, BoardsSwapped, WrongKind, WrongBoard, BackendMismatch, WrongFirmware,
    WrongSettings or WrongTrigger.
    """
    check_protocol(welcome)
    at = expected.kind
    if other is not None and welcome.uid == other.uid != expected.uid:
        raise errors.BoardsSwapped(at, expected.uid, welcome.uid)
    if welcome.kind != expected.kind:
        raise errors.WrongKind(at, expected.kind, f"{welcome.kind} ({welcome.uid})")
    if welcome.uid != expected.uid:
        raise errors.WrongBoard(at, expected.uid, welcome.uid)
    # An adapter cannot detect what hardware it drives, so it is accepted at both kinds of table.
    if welcome.is_simulated != expected.is_simulated and welcome.hal != "adapter":
        backends = ("sim", "serial") if expected.is_simulated else ("serial", "sim")
        raise errors.BackendMismatch(at, *backends)
    if welcome.firmware_hash != expected.firmware:
        raise errors.WrongFirmware(at, expected.firmware, welcome.firmware_hash)
    if expected.settings_crc is not None and welcome.settings_crc != expected.settings_crc:
        raise errors.WrongSettings(
            at, f"{expected.settings_crc:08x}", f"{welcome.settings_crc:08x}"
        )
    if welcome.asked != expected.is_polled:
        triggers = ("asked", "wire") if expected.is_polled else ("wire", "asked")
        raise errors.WrongTrigger(at, *triggers)
