"""Who stands at a table's ports: asked by HELLO, while no machine runs."""

import secrets
import time
from typing import Final

from controller.config import TableConfig
from controller.doctor.facts import BoardAnswer
from controller.doctor.of_boards import BOARDS
from controller.faults import Evidence, driver_error_fault, fault
from controller.journal.errors import JournalError
from controller.journal.store import hold_journal_lock
from controller.pinned import expected_boards
from drivers.errors import DriverError, Mismatch, PortBusy, PortMissing
from drivers.events import BoardKind
from drivers.flash.greeting import BoardQuery
from drivers.flash.image import own_image
from drivers.identity import Welcome, check_identity

PORT_IN_USE: Final = BoardAnswer(
    why_not_asked="what stands at its port, which is in use: the table's feed says"
)
STATE_UNREADABLE: Final = BoardAnswer(
    why_not_asked="what stands at its port; whether a machine runs is closed to you"
)


def ask_boards(config: TableConfig) -> dict[BoardKind, BoardAnswer]:
    """Ask both boards who they are, with the table's journal kept shut meanwhile."""
    try:
        with hold_journal_lock(config.table.state_dir):
            return {board: _ask_board(config, board) for board in BOARDS}
    except JournalError:
        return dict.fromkeys(BOARDS, PORT_IN_USE)


def _ask_board(config: TableConfig, board: BoardKind) -> BoardAnswer:
    section = config.dealer if board == "dealer" else config.reader
    who = expected_boards(config, own_image().hash)
    other = who["reader" if board == "dealer" else "dealer"]
    session = secrets.randbelow(2**32 - 1) + 1
    welcome: Welcome | None = None
    try:
        with BoardQuery(
            section.port, section.baud, board, clock=time.monotonic, session=session
        ) as greeting:
            welcome = greeting.hello()
        if welcome is None:
            return _answer_for_fault("BOARD_SILENT", {"board": board, "port": section.port})
        check_identity(welcome, who[board], other)
    except DriverError as error:
        return _answer_for_error(error, board, section.port, welcome)
    return BoardAnswer(welcome)


def _answer_for_error(
    error: DriverError, board: BoardKind, port: str, welcome: Welcome | None
) -> BoardAnswer:
    """Return an error of the drivers in the catalogue's words, as the table would say it."""
    evidence: dict[str, object] = {"board": board, "port": port, "why": str(error)}
    if isinstance(error, Mismatch):
        evidence |= {"expected": error.expected, "found": error.found}
    elif isinstance(error, PortMissing | PortBusy):
        evidence["port"] = error.path
    return _answer_for_fault(driver_error_fault(error), evidence, welcome)


def _answer_for_fault(name: str, evidence: Evidence, welcome: Welcome | None = None) -> BoardAnswer:
    row = fault(name)
    return BoardAnswer(
        welcome, fault=row.name, cause=row.cause(evidence), action=row.action(evidence)
    )
