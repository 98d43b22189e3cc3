"""What the drivers raise: one line, with board, place and both values."""

import pytest

from drivers import errors
from drivers.board_events import Outlet
from drivers.errors import DriverError, LineLost, Mismatch
from drivers.link.frames import BoardResult, RouteCommand

EVERY = [
    errors.PortMissing("/dev/table-dealer", "No such file or directory"),
    errors.PortBusy("/dev/table-dealer"),
    errors.LineLost("dealer", "no answer to HELLO"),
    errors.SessionRenewed("dealer", "nothing received for 500 ms"),
    errors.BoardReset("reader", 0xB0070001, 0xB0070002),
    errors.BoardRefused("dealer", RouteCommand(7, 12, Outlet.S), BoardResult.ROUTE_DIFFERS),
    errors.WrongKind("dealer", "dealer", "reader (0011223344556677)"),
    errors.WrongBoard("dealer", "e660a4931754432f", "0011223344556677"),
    errors.BoardsSwapped("dealer", "e660a4931754432f", "0011223344556677"),
    errors.WrongProtocol("dealer", "fccc88d111684ba2", "0011223344556677"),
    errors.WrongFirmware("dealer", "0.1.0", "0.2.0"),
    errors.WrongSettings("dealer", "1c291ca3", "cbf43926"),
    errors.WrongTrigger("reader", "wire", "asked"),
    errors.BackendMismatch("dealer", "serial", "sim"),
]


def test_the_set_is_closed() -> None:
    types = {
        value
        for value in vars(errors).values()
        if isinstance(value, type) and issubclass(value, DriverError)
    }
    assert types == {type(error) for error in EVERY} | {DriverError, Mismatch}


@pytest.mark.parametrize("error", EVERY, ids=lambda error: type(error).__name__)
def test_a_message_is_one_line_that_names_what_and_where(error: DriverError) -> None:
    text = str(error)
    assert text
    assert "\n" not in text
    assert "dealer" in text or "reader" in text


@pytest.mark.parametrize("error", [error for error in EVERY if isinstance(error, Mismatch)])
def test_a_mismatch_names_both_values(error: Mismatch) -> None:
    assert error.expected in str(error)
    assert error.found in str(error)


def test_a_refusal_names_the_command_and_the_reason() -> None:
    refused = errors.BoardRefused(
        "dealer", RouteCommand(7, 12, Outlet.S), BoardResult.ROUTE_DIFFERS
    )
    assert "index=12" in str(refused)
    assert "ROUTE_DIFFERS" in str(refused)


def test_whoever_catches_a_lost_line_catches_a_reset_and_a_renewed_session() -> None:
    assert issubclass(errors.BoardReset, LineLost)
    assert issubclass(errors.SessionRenewed, LineLost)
    assert "b0070001 became b0070002" in str(errors.BoardReset("reader", 0xB0070001, 0xB0070002))
