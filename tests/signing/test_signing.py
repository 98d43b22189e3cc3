"""Signed commands: one vector to compare other programs with, and no field that can be changed."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.messages import ClientCommand
from controller.signing import signed_heads
from controller.signing.signed_commands import (
    BadSignature,
    check_command,
    check_document,
    command_signed_bytes,
    sign_command,
    sign_document,
)

TABLE = "rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7"
OTHER_TABLE = "Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID"
SEED = bytes(range(32))
CUT = ClientCommand(
    id="c-1", deal=3, attempt=7, boot="b001", person="Li Na", cmd="cut", args={"seat": "N", "n": 40}
)

KEY = "03a107bff3ce10be1d70dd18e74bc09967e4d6309ba50d5f1ddc8664125531b8"
SIG = (
    "a33e5a0acd64a04e61d42bb9976ada99b3d547133e234f870217d9056482facc"
    "28f2df7461916a11321096b353da05108c5ee33476796b1e8d8aba7786a2f900"
)

values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=5,
)
commands = st.builds(
    ClientCommand,
    id=st.text(max_size=20),
    cmd=st.text(max_size=20),
    deal=st.none() | st.integers(0, 2**40),
    attempt=st.none() | st.integers(0, 2**40),
    boot=st.none() | st.text(min_size=1, max_size=32),
    person=st.none() | st.text(min_size=1, max_size=20),
    args=st.dictionaries(st.text(max_size=10), values, max_size=3),
)


def test_the_signed_bytes_are_the_documented_ones() -> None:
    assert command_signed_bytes(TABLE, CUT) == (
        b"\0\x13dealtable/command/2"
        b"\0\x28rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7"
        b"\0\x04b001\0\x03c-1\0\x013\0\x017\0\x03cut\0\x05Li Na"
        b'\0\x13{"n":40,"seat":"N"}'
    )


def test_what_is_null_counts_as_empty_text() -> None:
    assert command_signed_bytes(TABLE, ClientCommand(id="c-2", cmd="start_deal")).endswith(
        b"\0\0\0\x03c-2\0\0\0\0\0\x0astart_deal\0\0\0\x02{}"
    )


def test_the_signature_is_the_known_one() -> None:
    signed = sign_command(CUT, TABLE, SEED)

    assert signed.key == KEY
    assert signed.sig == SIG
    check_command(signed, TABLE)


@pytest.mark.slow
@given(commands, commands)
def test_a_signature_fits_its_own_command_alone(one: ClientCommand, other: ClientCommand) -> None:
    signed = sign_command(one, TABLE, SEED)
    check_command(signed, TABLE)

    for field in ("id", "cmd", "deal", "attempt", "boot", "person", "args"):
        changed = getattr(other, field)
        if msgspec.json.encode(changed, order="sorted") != msgspec.json.encode(
            getattr(one, field), order="sorted"
        ):
            with pytest.raises(BadSignature):
                check_command(msgspec.structs.replace(signed, **{field: changed}), TABLE)


@given(st.integers(0, 511))
def test_no_bit_of_the_signature_can_be_changed(bit: int) -> None:
    signed = sign_command(CUT, TABLE, SEED)
    raw = bytearray.fromhex(signed.sig or "")
    raw[bit // 8] ^= 1 << bit % 8

    with pytest.raises(BadSignature):
        check_command(msgspec.structs.replace(signed, sig=raw.hex()), TABLE)


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
        check_command(msgspec.structs.replace(sign_command(CUT, TABLE, SEED), **changes), TABLE)


def test_a_signature_for_one_table_is_worth_nothing_at_another() -> None:
    with pytest.raises(BadSignature):
        check_command(sign_command(CUT, TABLE, SEED), OTHER_TABLE)


def test_order_and_spelling_of_the_arguments_do_not_matter() -> None:
    signed = msgspec.json.encode(sign_command(CUT, TABLE, SEED))
    rewritten = msgspec.json.format(signed).replace(b'"seat"', rb'"\u0073eat"')

    check_command(msgspec.json.decode(rewritten, type=ClientCommand), TABLE)


# -- a match that leaves -----------------------------------------------------------------

DIGEST = "5a" * 32
DOCUMENT_SIG = (
    "7156faa2f953124f781edbeee91d2d6572133aaf9129ca80a7e9602f52b7d8a2"
    "8ec8d3d911ad1ba853e9fa29941a9a96d6dfa92ffaa3ddc45619d5e5974cbb04"
)


def test_the_signature_of_a_document_is_the_known_one_and_only_its_own() -> None:
    assert sign_document(DIGEST, SEED) == DOCUMENT_SIG
    check_document(DIGEST, KEY, DOCUMENT_SIG)


@pytest.mark.parametrize(
    ("digest", "verify", "sig"),
    [
        ("5b" * 32, KEY, DOCUMENT_SIG),
        (DIGEST, "03" * 32, DOCUMENT_SIG),
        (DIGEST, KEY, "00" * 64),
        (DIGEST, KEY, ""),
        (DIGEST, KEY.upper(), DOCUMENT_SIG),
        (DIGEST.upper(), KEY, DOCUMENT_SIG),
        ("", KEY, DOCUMENT_SIG),
    ],
)
def test_what_is_not_the_signature_of_a_document_is_a_bad_one(
    digest: str, verify: str, sig: str
) -> None:
    with pytest.raises(BadSignature):
        check_document(digest, verify, sig)


def test_a_signed_head_is_no_signed_document() -> None:
    signed = signed_heads.sign_head(TABLE, 1, bytes.fromhex(DIGEST), SEED)
    with pytest.raises(BadSignature):
        check_document(DIGEST, KEY, signed.sig)
