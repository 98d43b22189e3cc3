"""Nothing old is shown as the present: how a table stands, and since when."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.client.connection import TableConnectionState
from controller.console.freshness import (
    SILENT_AFTER_MS,
    STALE_AFTER_MS,
    ContactTimes,
    Freshness,
    after_console_stall,
    freshness_of,
)

NOW = 1_000_000


def heard(
    contact: TableConnectionState = TableConnectionState.OPEN,
    ago: int = 0,
    news_ago: int | None = None,
) -> ContactTimes:
    news = ago if news_ago is None else news_ago
    return ContactTimes(link=contact, link_since_ms=5, received_ms=NOW - ago, changed_ms=NOW - news)


def test_a_table_that_was_just_heard_is_live() -> None:
    assert freshness_of(heard(ago=10), NOW) == (Freshness.LIVE, NOW - 10)


def test_a_table_that_says_nothing_is_silent_since_it_was_last_heard() -> None:
    assert freshness_of(heard(ago=SILENT_AFTER_MS + 1), NOW) == (
        Freshness.SILENT,
        NOW - SILENT_AFTER_MS - 1,
    )


def test_a_line_that_is_down_is_silent_at_once() -> None:
    assert freshness_of(heard(TableConnectionState.DOWN, ago=1), NOW) == (Freshness.SILENT, NOW - 1)


def test_a_line_that_opens_again_makes_nothing_live_that_was_heard_before() -> None:
    again = ContactTimes(
        link=TableConnectionState.OPEN,
        link_since_ms=NOW - 10,
        received_ms=NOW - 30,
        changed_ms=NOW - 30,
    )
    assert freshness_of(again, NOW) == (Freshness.SILENT, NOW - 30)


def test_a_table_that_says_the_same_again_and_again_is_stale_since_its_last_news() -> None:
    same = heard(ago=100, news_ago=STALE_AFTER_MS + 1)
    assert freshness_of(same, NOW) == (Freshness.STALE, NOW - STALE_AFTER_MS - 1)


@pytest.mark.parametrize(
    ("contact", "said"),
    [
        (TableConnectionState.KEY_REFUSED, Freshness.KEY_REFUSED),
        (TableConnectionState.OTHER_KEY, Freshness.OTHER_KEY),
    ],
)
@given(ago=st.integers(0, 10 * SILENT_AFTER_MS))
def test_a_refused_key_and_another_key_are_told_apart_from_silence(
    contact: TableConnectionState, said: Freshness, ago: int
) -> None:
    assert freshness_of(heard(contact, ago=ago), NOW) == (said, 5)


def test_a_table_not_heard_yet_is_first_connecting_then_silent() -> None:
    new = ContactTimes(link=TableConnectionState.CONNECTING, link_since_ms=NOW)
    assert freshness_of(new, NOW + SILENT_AFTER_MS) == (Freshness.CONNECTING, NOW)
    assert freshness_of(new, NOW + SILENT_AFTER_MS + 1) == (Freshness.SILENT, NOW)


@given(
    contact=st.sampled_from(TableConnectionState),
    ago=st.integers(0, 3 * SILENT_AFTER_MS),
    news_ago=st.integers(0, 3 * STALE_AFTER_MS),
)
def test_nothing_is_live_that_was_not_heard_over_an_open_line_with_news(
    contact: TableConnectionState, ago: int, news_ago: int
) -> None:
    how, _ = freshness_of(heard(contact, ago, news_ago), NOW)
    fresh = ago <= SILENT_AFTER_MS and news_ago <= STALE_AFTER_MS
    lost = contact in (
        TableConnectionState.DOWN,
        TableConnectionState.KEY_REFUSED,
        TableConnectionState.OTHER_KEY,
    )
    assert (how is Freshness.LIVE) == (fresh and not lost)


@pytest.mark.parametrize(
    "contact",
    [TableConnectionState.OPEN, TableConnectionState.DOWN, TableConnectionState.CONNECTING],
)
def test_no_table_is_silent_for_the_time_in_which_the_console_itself_stood_still(
    contact: TableConnectionState,
) -> None:
    back = NOW + 16_000
    waking = after_console_stall(heard(), NOW, back)
    waking = msgspec.structs.replace(waking, link=contact, link_since_ms=back)
    assert freshness_of(waking, back + SILENT_AFTER_MS) == (Freshness.CONNECTING, NOW)
    assert freshness_of(waking, back + SILENT_AFTER_MS + 1) == (Freshness.SILENT, NOW)
    opened = msgspec.structs.replace(waking, link=TableConnectionState.OPEN, received_ms=back + 9)
    assert freshness_of(opened, back + 10) == (Freshness.LIVE, back + 9)


def test_a_table_not_heard_yet_is_not_silent_for_that_time_either() -> None:
    waking = after_console_stall(ContactTimes(link_since_ms=NOW), NOW, NOW + 16_000)
    assert freshness_of(waking, NOW + 16_000) == (Freshness.CONNECTING, NOW)


def test_a_table_that_was_silent_before_the_console_stood_still_stays_so() -> None:
    silent = heard(ago=SILENT_AFTER_MS + 1)
    assert after_console_stall(silent, NOW, NOW + 16_000) == silent
