"""Who answered, and who should have: the mismatch that says most is the one raised."""

import msgspec
import pytest

from drivers import errors
from drivers.board_identity import ExpectedBoard, check_identity
from drivers.link.frames import PROTOCOL_HEX, Welcome

FIRMWARE = "0011223344556677"
DEALER = ExpectedBoard("dealer", "e660a4931754432f", is_simulated=False, firmware=FIRMWARE)
READER = ExpectedBoard("reader", "e660a49317001d2c", is_simulated=False, firmware=FIRMWARE)
WELCOME = Welcome(
    kind="dealer",
    hal="rp2",
    uid=DEALER.uid,
    firmware="0.1.0",
    firmware_hash=FIRMWARE,
    protocol=PROTOCOL_HEX,
    boot=1,
    settings_crc=0x1C291CA3,
    reset_cause=0,
    attempt=0,
    events=0,
    fed=0,
    landed=0,
    forgotten=0,
)


def answered(**fields: object) -> Welcome:
    return msgspec.structs.replace(WELCOME, **fields)


def pinned(**fields: object) -> ExpectedBoard:
    return msgspec.structs.replace(DEALER, **fields)


def test_the_board_that_was_expected_passes() -> None:
    check_identity(WELCOME, DEALER)
    check_identity(WELCOME, DEALER, other=READER)
    check_identity(WELCOME, pinned(settings_crc=0x1C291CA3), other=READER)


@pytest.mark.parametrize(
    ("welcome", "expected", "error"),
    [
        (answered(protocol="0" * 16), DEALER, errors.WrongProtocol),
        (answered(uid="0" * 16), DEALER, errors.WrongBoard),
        (answered(kind="reader", uid="0" * 16), DEALER, errors.WrongKind),
        (answered(kind="reader"), DEALER, errors.WrongKind),
        (answered(hal="sim"), DEALER, errors.BackendMismatch),
        (WELCOME, pinned(is_simulated=True), errors.BackendMismatch),
        (WELCOME, pinned(firmware="0" * 16), errors.WrongFirmware),
        # The version of the board is the right one; only its files differ.
        (answered(firmware_hash="7766554433221100"), DEALER, errors.WrongFirmware),
        (WELCOME, pinned(settings_crc=1), errors.WrongSettings),
        (answered(asked=True), DEALER, errors.WrongTrigger),
        (WELCOME, pinned(is_polled=True), errors.WrongTrigger),
        (answered(hal="rp2"), pinned(is_simulated=True), errors.BackendMismatch),
        (answered(kind="reader", uid=READER.uid), DEALER, errors.BoardsSwapped),
        (answered(kind="reader", uid=READER.uid, hal="sim"), DEALER, errors.BoardsSwapped),
        (answered(protocol="0" * 16, uid="1" * 16), DEALER, errors.WrongProtocol),
        (answered(uid="0" * 16, hal="sim"), DEALER, errors.WrongBoard),
    ],
)
def test_another_board_is_refused_by_name(
    welcome: Welcome, expected: ExpectedBoard, error: type[errors.Mismatch]
) -> None:
    with pytest.raises(errors.Mismatch) as caught:
        check_identity(welcome, expected, other=READER)
    assert type(caught.value) is error
    assert caught.value.board == "dealer"


def test_both_values_are_named_as_a_person_reads_them() -> None:
    with pytest.raises(errors.BackendMismatch, match=r"backend is sim, .* expects serial"):
        check_identity(answered(hal="sim"), DEALER)
    with pytest.raises(errors.WrongSettings, match=r"is 1c291ca3, .* expects 000000ff"):
        check_identity(WELCOME, pinned(settings_crc=0xFF))


def test_without_the_other_board_pinned_a_swap_is_a_wrong_kind() -> None:
    with pytest.raises(errors.WrongKind):
        check_identity(answered(kind="reader", uid=READER.uid), DEALER)


@pytest.mark.parametrize("simulated", [False, True])
def test_an_adapter_goes_with_either_kind_of_table_and_is_not_simulated(simulated: bool) -> None:
    adapter = answered(hal="adapter")
    check_identity(adapter, pinned(is_simulated=simulated))
    assert not adapter.is_simulated
