"""Signed heads: one vector for other programs, and what it means when two do not agree."""

from collections.abc import Callable

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.messages import SignedHead
from controller.signing.signed_heads import (
    HeadConflict,
    KeptHead,
    KeptHeads,
    head_signed_bytes,
    is_signed_by,
    sign_head,
    verify_key,
)

TABLE = "rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7"
OTHER_TABLE = "Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID"
SECRET = bytes(range(32))
VERIFY = verify_key(SECRET)
HEAD = bytes(range(100, 132))
SIG = (
    "97c1d332b867e032a7656c686732b49911ce6b11de2754dce489a84a61ecca2e"
    "7767e7035fb819cbbcc7a0b5568016fa6ca04a0de0daa8b62354fde05733c00c"
)


def test_the_signed_bytes_are_the_documented_ones() -> None:
    assert head_signed_bytes(TABLE, 1234, HEAD) == (
        b"\0\x10dealtable/head/1"
        b"\0\x28rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7"
        b"\0\x041234"
        b"\0\x20" + HEAD
    )


def test_the_signature_is_the_known_one() -> None:
    signed = sign_head(TABLE, 1234, HEAD, SECRET)

    assert signed == SignedHead(n=1234, head=HEAD.hex(), sig=SIG)
    assert is_signed_by(signed, TABLE, VERIFY)


SPOILT: list[Callable[[SignedHead], SignedHead]] = [
    lambda signed: msgspec.structs.replace(signed, n=1235),
    lambda signed: msgspec.structs.replace(signed, n=-1),
    lambda signed: msgspec.structs.replace(signed, head="00" * 32),
    lambda signed: msgspec.structs.replace(signed, head=signed.head.upper()),
    lambda signed: msgspec.structs.replace(signed, head=signed.head[2:]),
    lambda signed: msgspec.structs.replace(signed, head="no hex"),
    lambda signed: msgspec.structs.replace(signed, sig="00" * 64),
    lambda signed: msgspec.structs.replace(signed, sig=""),
]


@pytest.mark.parametrize("spoil", SPOILT)
def test_a_head_that_was_changed_is_not_signed(spoil: Callable[[SignedHead], SignedHead]) -> None:
    assert not is_signed_by(spoil(sign_head(TABLE, 1234, HEAD, SECRET)), TABLE, VERIFY)


def test_a_head_is_signed_for_one_table_by_one_key() -> None:
    signed = sign_head(TABLE, 1234, HEAD, SECRET)

    assert not is_signed_by(signed, OTHER_TABLE, VERIFY)
    assert not is_signed_by(signed, TABLE, verify_key(bytes(32)))
    assert not is_signed_by(signed, TABLE, b"short")


# -- heads that were kept --------------------------------------------------------


def kept(n: int, head: int = 0, table: str = TABLE, time: str = "12:00") -> KeptHead:
    """A head as it was kept; which one `head` is, is all that counts here."""
    signed = sign_head(table, n, head.to_bytes(32, "big"), SECRET)
    return KeptHead(table="T01", table_key=table, n=n, head=signed.head, sig=signed.sig, time=time)


def test_a_journal_that_grows_agrees_with_every_head_that_was_kept() -> None:
    heads = KeptHeads()

    assert [heads.add(kept(n, n)) for n in (4, 4, 9, 9, 9, 30)] == [None] * 6
    assert heads.contains(kept(9, 9))
    assert not heads.contains(kept(9, 8))


def test_two_heads_of_one_entry_are_a_journal_that_was_written_anew() -> None:
    heads = KeptHeads([kept(9, 1, time="noon"), kept(30, 2)])

    wrong = heads.add(kept(9, 7))

    assert wrong == HeadConflict("forked", kept(9, 1, time="noon"), kept(9, 7))
    assert "entry 9" in wrong.en
    assert "noon" in wrong.en
    assert "第9条" in wrong.zh


def test_a_table_at_an_earlier_entry_than_before_has_lost_its_end() -> None:
    heads = KeptHeads([kept(9, 1), kept(30, 2, time="noon")])

    wrong = heads.add(kept(12, 7))

    assert wrong == HeadConflict("rewound", kept(30, 2, time="noon"), kept(12, 7))
    assert "entry 12" in wrong.en
    assert "entry 30 at noon" in wrong.en
    assert "第12条" in wrong.zh


def test_an_older_copy_of_a_journal_is_seen_though_its_head_was_kept() -> None:
    heads = KeptHeads([kept(9, 1), kept(30, 2)])

    wrong = heads.add(kept(9, 1, time="later"))

    assert wrong is not None
    assert wrong.kind == "rewound"


def test_what_a_table_goes_on_showing_is_said_once() -> None:
    heads = KeptHeads([kept(9, 1)])

    assert heads.add(kept(9, 2)) is not None
    assert heads.add(kept(9, 2)) is None
    assert heads.add(kept(9, 1)) is None  # what was kept first
    assert heads.add(kept(9, 2)) is not None


def test_tables_are_told_apart_by_their_keys_not_by_their_names() -> None:
    heads = KeptHeads([kept(9, 1), kept(30, 2)])

    assert heads.add(kept(9, 7, table=OTHER_TABLE)) is None
    assert heads.add(kept(3, 7, table=OTHER_TABLE)) is not None


def test_heads_that_were_kept_may_disagree_among_themselves() -> None:
    both = KeptHeads([kept(9, 1), kept(9, 2), kept(30, 3), kept(12, 4)])

    assert [wrong.kind for wrong in both.conflicts] == ["forked", "rewound"]


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 2)), max_size=12))
def test_a_past_is_believed_exactly_as_long_as_it_only_grows(shown: list[tuple[int, int]]) -> None:
    heads, told, before = KeptHeads(), dict[int, int](), None
    for n, head in shown:
        if (n, head) == before:
            expected = None
        elif told.setdefault(n, head) != head:
            expected = "forked"
        else:
            expected = "rewound" if n < max(told) else None
        before = n, head
        wrong = heads.add(_cheap(n, head))
        assert (wrong.kind if wrong else None) == expected


def _cheap(n: int, head: int) -> KeptHead:
    return KeptHead(table="T01", table_key=TABLE, n=n, head=f"{head:064x}", sig="", time="now")
