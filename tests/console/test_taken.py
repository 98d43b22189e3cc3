"""What is none of the table's is known as such, and what is taken can be kept."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.console.feed.message_checks import (
    MessageRejected,
    convert_event,
    is_storable_head,
    parse_event,
    parse_state,
)
from controller.messages import SignedHead
from tests.console.journal import Journal
from tests.console.states import state

EVENT = msgspec.to_builtins(Journal().happens(match="M1"))
_ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


def body(**changes: Any) -> bytes:
    return msgspec.json.encode(EVENT | changes)


def test_a_tables_own_state_and_event_are_taken() -> None:
    assert parse_state(msgspec.json.encode(state()), "T01").table == "T01"
    assert parse_event(body(), "T01").n == 1
    assert convert_event(EVENT, "T01").n == 1


@pytest.mark.parametrize(
    ("wrong", "why", "other"),
    [
        (body(table="T02"), "other_table", "T02"),
        (body(schema=2), "other_version", ""),
        (b"", "junk", ""),
        (b"\xff", "junk", ""),
        (b"[" * 100_000, "junk", ""),
        (body(n=0), "junk", ""),
        (body(n=1 << 60), "junk", ""),
        (body(deal=1 << 31), "junk", ""),
        (body(head="x" * 64), "junk", ""),
        (body(head=""), "junk", ""),
        (body(kind="a\0b"), "junk", ""),
        (body(kind="k" * 65), "junk", ""),
        (body(time="t" * 41), "junk", ""),
        (body(data={"match": "M\0"}), "junk", ""),
    ],
)
def test_what_is_not_taken_says_why(wrong: bytes, why: str, other: str) -> None:
    with pytest.raises(MessageRejected) as raised:
        parse_event(wrong, "T01")
    assert (raised.value.reason, raised.value.other_table) == (why, other)


def test_another_tables_state_is_not_taken_and_named() -> None:
    with pytest.raises(MessageRejected) as raised:
        parse_state(msgspec.json.encode(state(table="T07")), "T01")
    assert (raised.value.reason, raised.value.other_table) == ("other_table", "T07")


@given(_ANY, st.sampled_from(sorted(EVENT)))
def test_nothing_but_an_event_or_a_refusal_comes_of_anything(value: object, field: str) -> None:
    try:
        event = convert_event(EVENT | {field: value}, "T01")
    except MessageRejected:
        return
    assert event.table == "T01"
    assert 0 < event.n < 1 << 53


@pytest.mark.parametrize(
    ("head", "time"),
    [
        (SignedHead(n=-1, head="0" * 64, sig="1" * 128), "t"),
        (SignedHead(n=1 << 60, head="0" * 64, sig="1" * 128), "t"),
        (SignedHead(n=1, head="0", sig="1" * 128), "t"),
        (SignedHead(n=1, head="0" * 64, sig="\0"), "t"),
        (SignedHead(n=1, head="0" * 64, sig="1" * 128), "\0"),
    ],
)
def test_a_head_that_cannot_be_kept_is_not(head: SignedHead, time: str) -> None:
    assert not is_storable_head(head, time)
    assert is_storable_head(SignedHead(n=1, head="0" * 64, sig="1" * 128), "2027-01-01T00:00:00Z")
