"""Every exception that the drivers raise: a closed set of types with their evidence.

Each message is one line with the fault, its place and the values. The fault catalogue has the
number and the advice for people, by the name of the type.
"""

from drivers.board_events import BoardKind, ReportedKind
from drivers.link.frames import BoardCommand, BoardResult


class DriverError(Exception):
    """Base class of the errors below. No other error is raised about the hardware."""


class PortMissing(DriverError):
    """The port does not exist, or is no serial port."""

    def __init__(self, path: str, why: str) -> None:
        super().__init__(f"port {path} cannot be opened: {why}")
        self.path = path
        self.why = why


class PortBusy(DriverError):
    """Another program has locked the port."""

    def __init__(self, path: str) -> None:
        super().__init__(f"port {path} is held by another program")
        self.path = path


class LineLost(DriverError):
    """The board can no longer be reached, or the link was closed."""

    def __init__(self, board: BoardKind, why: str) -> None:
        super().__init__(f"line to the {board} board lost: {why}")
        self.board = board
        self.why = why


class SessionRenewed(LineLost):
    """The command's session ended and a new one is open. Request STATUS, then decide again."""

    def __init__(self, board: BoardKind, why: str) -> None:
        super().__init__(board, f"{why}; a new session is open")


class BoardReset(LineLost):
    """The board restarted without a request: its boot id changed."""

    def __init__(self, board: BoardKind, expected: int, found: int) -> None:
        became = f"became {found:08x}" if found != expected else "began again"
        super().__init__(board, f"it restarted, boot {expected:08x} {became}")
        self.expected = expected
        self.found = found


class BoardRefused(DriverError):
    """The board refuses a command. The command was not done and is not repeated."""

    def __init__(self, board: BoardKind, command: BoardCommand, result: BoardResult) -> None:
        super().__init__(f"the {board} board refuses {command}: {result.name}")
        self.board = board
        self.command = command
        self.result = result


class Mismatch(DriverError):
    """The board's identity differs from the configuration. Both values are named."""

    what = "identity"

    def __init__(self, board: ReportedKind, expected: str, found: str) -> None:
        super().__init__(
            f"{board} board: {self.what} is {found}, the configuration expects {expected}"
        )
        self.board = board
        self.expected = expected
        self.found = found


class WrongKind(Mismatch):
    """A dealer board at the reader's port, or the reverse."""

    what = "kind"


class WrongBoard(Mismatch):
    """A board of the right kind, but of another table."""

    what = "unique id"


class BoardsSwapped(Mismatch):
    """The two boards of the table are exchanged."""

    what = "unique id (the two boards are swapped)"


class WrongProtocol(Mismatch):
    """The board's firmware speaks another version of the wire."""

    what = "protocol"


class WrongFirmware(Mismatch):
    """The board runs another firmware than the one pinned."""

    what = "firmware"


class WrongSettings(Mismatch):
    """The board's settings are not the ones pinned."""

    what = "settings CRC"


class WrongTrigger(WrongSettings):
    """The reader learns of cards in another way than configured: by its wire, or by LOOK."""

    what = "trigger"


class BackendMismatch(Mismatch):
    """A simulated board although a real one is configured, or the reverse."""

    what = "backend"
