"""Checks of the boards at a table's serial ports, by HELLO and STATUS, while no daemon runs."""

import random
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import partial

import msgspec

from drivers.board_events import BoardKind
from drivers.errors import DriverError
from drivers.link.frames import PROTOCOL_HEX, Welcome
from drivers.link.link import Link
from drivers.link.serial_port import LinkPort
from drivers.typed_boards import DealerBoard, DealerStatus

BoardPorts = Mapping[BoardKind, LinkPort]


class ExpectedIdentity(msgspec.Struct, frozen=True):
    """The identity of the board that must be at a port.

    With `settings_crc` None, all settings are accepted.
    """

    uid: str
    is_simulated: bool
    firmware_hash: str
    settings_crc: int | None = None


class BoardNotAnswering(Exception):
    """An error: a board does not answer. The text is one line with the board and the reason."""


class WrongBoards(AssertionError):
    """An error: at least one board has a wrong identity. The text lists each difference."""


@asynccontextmanager
async def open_link(
    board: BoardKind, port: LinkPort, session_ids: random.Random
) -> AsyncIterator[Link]:
    """Open a link to the board at `port`, yield it, and close it after the `with` block.

    Raises BoardNotAnswering. `session_ids` draws the session's number. The identity is not checked
    here. The caller compares the expected values with those of the board.
    """
    draw = partial(session_ids.randrange, 1, 1 << 32)
    link = Link(port, board, session_ids=draw, check=lambda welcome: None)
    try:
        await link.open({}, {})
        yield link
    except DriverError as error:
        raise BoardNotAnswering(f"the {board} board does not answer: {error}") from error
    finally:
        link.close()


async def read_dealer_status(port: LinkPort, session_ids: random.Random) -> DealerStatus:
    """Return the present status of the dealer board. Raises BoardNotAnswering."""
    async with open_link("dealer", port, session_ids) as link:
        return await DealerBoard(link).get_status()


def check_boards(
    expected: Mapping[BoardKind, ExpectedIdentity], found: Mapping[BoardKind, Welcome]
) -> None:
    """Raise WrongBoards unless each board has the expected identity.

    The text has the expected and the found value of each difference.
    """
    wrong = []
    for board, right in expected.items():
        answer = found[board]
        rows: list[tuple[str, object, object]] = [
            ("kind", board, answer.kind),
            ("id", right.uid, answer.uid),
            ("protocol", PROTOCOL_HEX, answer.protocol),
            ("firmware hash", right.firmware_hash, answer.firmware_hash),
            ("simulated", right.is_simulated, answer.is_simulated),
        ]
        if right.settings_crc is not None:
            rows.append(("settings", f"{right.settings_crc:08x}", f"{answer.settings_crc:08x}"))
        wrong += [
            f"the {board} board's {what} is {is_now}, expected {wanted}"
            for what, wanted, is_now in rows
            if is_now != wanted
        ]
    if wrong:
        raise WrongBoards("; ".join(wrong))


def table_disorder(status: DealerStatus) -> list[str]:
    """Return the reasons why a table with the sensor values `status` is not ready to deal.

    At a ready table the lid is closed, the lift is down, and cards are only in the hopper.
    """
    pockets = [pocket for pocket, there in zip("NWSE", status.sees_pockets, strict=True) if there]
    rows = {
        f"cards in the pockets {' '.join(pockets)}": bool(pockets),
        "cards in the tray": status.sees_tray,
        "a card in the window": status.sees_window,
        "a card in the path": status.sees_path,
        "cards in the shuffler": status.sees_shuffler,
        "no cards in the hopper": not status.sees_hopper,
        "the lid is open": status.lid_open,
        "the e-stop is pressed": status.estop,
        "the lift is not down": status.lift_up or not status.lift_down,
    }
    return [what for what, so in rows.items() if so]
