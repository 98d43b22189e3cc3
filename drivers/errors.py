"""Every exception that the drivers raise.

Each exception contains the values that explain it. Each message is one line with the fault, its
place and the values. The fault catalogue has the number and the advice for people, under the
name of the exception's class.
"""

from drivers.board_events import BoardKind, ReportedKind
from drivers.link.frames import BoardCommand, BoardResult


class DriverError(Exception):
    """Base class of all errors in this module. The drivers raise no other hardware error."""


class PortMissing(DriverError):
    """The port does not exist, or is no serial port."""

    def __init__(self, path: str, why: str) -> None:
        super().__init__(f"port {path} cannot be opened: {why}")
        self.path, self.why = path, why


class PortBusy(DriverError):
    """Another program has locked the port."""

    def __init__(self, path: str) -> None:
        super().__init__(f"port {path} is held by another program")
        self.path = path


class LineLost(DriverError):
    """The board can no longer be reached, or the link was closed."""

    def __init__(self, board: BoardKind, why: str) -> None:
        super().__init__(f"line to the {board} board lost: {why}")
        self.board, self.why = board, why


class SessionRenewed(LineLost):
    """A new session began before the board acknowledged the command.

    Request STATUS, then decide again.
    """

    def __init__(self, board: BoardKind, why: str) -> None:
        super().__init__(board, f"{why}; a new session is open")


class BoardReset(LineLost):
    """The board restarted unexpectedly: its boot id changed, or its event numbers began again."""

    def __init__(self, board: BoardKind, expected: int, found: int) -> None:
        became = f"became {found:08x}" if found != expected else "began again"
        super().__init__(board, f"it restarted, boot {expected:08x} {became}")
        self.expected, self.found = expected, found


class BoardRefused(DriverError):
    """The board refuses a command. The command was not done and is not repeated."""

    def __init__(self, board: BoardKind, command: BoardCommand, result: BoardResult) -> None:
        super().__init__(f"the {board} board refuses {command}: {result.name}")
        self.board, self.command, self.result = board, command, result


class Mismatch(DriverError):
    """The board's identity differs from the configuration. The message has both values."""

    what = "identity"

    def __init__(self, board: ReportedKind, expected: str, found: str) -> None:
        super().__init__(
            f"{board} board: {self.what} is {found}, the configuration expects {expected}"
        )
        self.board, self.expected, self.found = board, expected, found


class WrongKind(Mismatch):
    """The board at this port is of another kind than the port requires (dealer or reader)."""

    what = "kind"


class WrongBoard(Mismatch):
    """The board has the right kind, but another unique id than the configuration names."""

    what = "unique id"


class BoardsSwapped(Mismatch):
    """The board at this port is the one that the configuration names for the other port."""

    what = "unique id (the two boards are swapped)"


class WrongProtocol(Mismatch):
    """The board uses another version of the serial protocol than this program."""

    what = "protocol"


class WrongFirmware(Mismatch):
    """The board runs another firmware than the configuration names."""

    what = "firmware"


class WrongSettings(Mismatch):
    """The board's settings are not those that the configuration names."""

    what = "settings CRC"


class WrongTrigger(WrongSettings):
    """The reader's trigger (wire or LOOK messages) is not the one in the configuration."""

    what = "trigger"


class BackendMismatch(Mismatch):
    """The board is simulated although the configuration names a real board, or the reverse."""

    what = "backend"
