"""Signed commands: one vector to compare other programs with, and no field that can be changed."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.messages import Command
from controller.signing import BadSignature, check, message, sign

TABLE = "rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7"
OTHER_TABLE = "Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID"
SEED = bytes(range(32))
CUT = Command(id="c-1", deal=3, attempt=7, cmd="cut", args={"seat": "N", "n": 40})

KEY = "03a107bff3ce10be1d70dd18e74bc09967e4d6309ba50d5f1ddc8664125531b8"
SIG = (
    "3b5f785db02d6dfff934b532eb8d896257207828dc2e5055cfc7ca3147ee972d"
    "5d313e7d524b4cc62941931e78e70a1562f84e76200f657afab3bb01f7312a0e"
)

values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=5,
)
commands = st.builds(
    Command,
    id=st.text(max_size=20),
    cmd=st.text(max_size=20),
    deal=st.none() | st.integers(0, 2**40),
    attempt=st.none() | st.integers(0, 2**40),
    args=st.dictionaries(st.text(max_size=10), values, max_size=3),
)


def test_the_signed_bytes_are_the_documented_ones() -> None:
    assert message(TABLE, CUT) == (
        b"\0\x13dealtable/command/1"
        b"\0\x28rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7"
        b"\0\x03c-1\0\x013\0\x017\0\x03cut"
        b'\0\x13{"n":40,"seat":"N"}'
    )


def test_a_null_deal_counts_as_empty_text() -> None:
    assert message(TABLE, Command(id="c-2", cmd="start_deal")).endswith(
        b"\0\x03c-2\0\0\0\0\0\x0astart_deal\0\x02{}"
    )


def test_the_signature_is_the_known_one() -> None:
    signed = sign(CUT, TABLE, SEED)

    assert signed.key == KEY
    assert signed.sig == SIG
    check(signed, TABLE)


@given(commands, commands)
def test_a_signature_fits_its_own_command_alone(one: Command, other: Command) -> None:
    signed = sign(one, TABLE, SEED)
    check(signed, TABLE)

    for field in ("id", "cmd", "deal", "attempt", "args"):
        changed = getattr(other, field)
        if msgspec.json.encode(changed, order="sorted") != msgspec.json.encode(
            getattr(one, field), order="sorted"
        ):
            with pytest.raises(BadSignature):
                check(msgspec.structs.replace(signed, **{field: changed}), TABLE)


@given(st.integers(0, 511))
def test_no_bit_of_the_signature_can_be_changed(bit: int) -> None:
    signed = sign(CUT, TABLE, SEED)
    raw = bytearray.fromhex(signed.sig or "")
    raw[bit // 8] ^= 1 << bit % 8

    with pytest.raises(BadSignature):
        check(msgspec.structs.replace(signed, sig=raw.hex()), TABLE)


@pytest.mark.parametrize(
    "changes",
    [
        {"key": None},
        {"sig": None},
        {"key": ""},
        {"key": "00" * 32},
        {"key": "03a1"},
        {"key": "zz" * 32},
        {"sig": "00" * 64},
        {"deal": -1},
        {"key": KEY.upper()},
    ],
)
def test_what_is_no_signature_is_a_bad_one(changes: dict[str, Any]) -> None:
    with pytest.raises(BadSignature):
        check(msgspec.structs.replace(sign(CUT, TABLE, SEED), **changes), TABLE)


def test_a_signature_for_one_table_is_worth_nothing_at_another() -> None:
    with pytest.raises(BadSignature):
        check(sign(CUT, TABLE, SEED), OTHER_TABLE)


def test_order_and_spelling_of_the_arguments_do_not_matter() -> None:
    signed = msgspec.json.encode(sign(CUT, TABLE, SEED))
    rewritten = msgspec.json.format(signed).replace(b'"seat"', rb'"\u0073eat"')

    check(msgspec.json.decode(rewritten, type=Command), TABLE)
