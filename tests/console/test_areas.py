"""An area's clock, as its tables say it: most of them are right, the others are named."""

import random
from typing import Any

import msgspec
import pytest

from controller.client.connection import TableConnectionState
from controller.console.freshness import ContactTimes, stamp_to_epoch_ms
from controller.console.table_snapshots import TableSnapshot
from controller.console.view.area_clocks import AreaView, DifferingClock, SlowTable, build_areas
from controller.messages import PublicState
from tests.console.states import call, state

BEGUN = "2027-01-01T00:00:00.400+00:00"
NOW_MS = stamp_to_epoch_ms(BEGUN)
END_MS = 3_000_000


def running(second: int = 1, added_s: int = 0, off_s: int = 0, **match: Any) -> PublicState:
    """Return a table's state so many seconds on; its clock runs to the end, or `off_s` later."""
    end_ms = END_MS + 1000 * (added_s + off_s)
    clock = {"left_s": end_ms // 1000 - second, "running": True, "deadline_ms": end_ms}
    return state(
        time=f"2027-01-01T00:00:{second:02}.400+00:00",
        match={"clock": clock, "at_ms": second * 1000, "added_time_s": added_s} | match,
    )


def standing_still(left_s: int = 2000, **match: Any) -> PublicState:
    """Return a table's state with its clock stopped."""
    clock = {"left_s": left_s, "running": False, "deadline_ms": None}
    return state(time=BEGUN, match={"clock": clock, "at_ms": 1000, "added_time_s": 0} | match)


def heard(
    table: str, said: PublicState | None, area: str = "A", late_ms: int = 20
) -> TableSnapshot:
    """Return a table whose state was heard just now, a moment after it was made."""
    if said is None:
        return TableSnapshot(table=table, area=area)
    at_ms = stamp_to_epoch_ms(said.time) + late_ms
    told = ContactTimes(
        link=TableConnectionState.OPEN, link_since_ms=0, received_ms=at_ms, changed_ms=at_ms
    )
    return TableSnapshot(table=table, area=area, state=said, contact_times=told)


def area(*states: PublicState | None, late_ms: int = 20) -> AreaView:
    """Return the one area of tables T1, T2, …"""
    seen = [heard(f"T{n}", said, late_ms=late_ms) for n, said in enumerate(states, start=1)]
    (found,) = build_areas(seen, NOW_MS + 1000)
    return found


def test_tables_are_gathered_by_their_areas() -> None:
    seen = [heard("T1", running(), "B"), heard("T2", running()), heard("T3", None, "B")]
    assert [(one.area, one.tables) for one in build_areas(seen, NOW_MS)] == [
        ("A", ("T2",)),
        ("B", ("T1", "T3")),
    ]


def test_a_running_clock_is_told_by_its_end_and_is_no_news_each_second() -> None:
    told = {
        msgspec.json.encode(area(running(second), running(second), late_ms=7 * second))
        for second in range(1, 50)
    }
    assert len(told) == 1
    found = area(running(), running())
    assert (found.running, found.left_s, found.differs) == (True, None, ())
    assert found.ends_ms == pytest.approx(NOW_MS + END_MS, abs=1000)


def test_a_table_whose_stamps_are_off_is_counted_by_when_it_was_heard() -> None:
    hour_ms = 3_600_000
    right, wrong = area(running(), running()), area(running(), running(), late_ms=hour_ms)
    assert right.ends_ms is not None
    assert wrong.ends_ms == right.ends_ms + hour_ms


def test_an_area_that_stands_says_what_is_left() -> None:
    found = area(standing_still(), standing_still())
    assert (found.running, found.ends_ms, found.left_s) == (False, None, 2000)


def test_before_the_start_there_is_no_clock() -> None:
    found = area(standing_still(started=False), None)
    assert (found.not_started, found.playing, found.left_s, found.ends_ms) == (1, 0, None, None)


def test_tables_that_differ_are_named_with_how_much() -> None:
    found = area(running(), running(), running(off_s=40), standing_still())
    assert found.differs == (DifferingClock("T3", True, 40), DifferingClock("T4", False, None))


def test_added_time_is_told_and_is_no_difference() -> None:
    found = area(running(), running(), running(added_s=120))
    assert [(one.table, one.seconds) for one in found.added] == [("T3", 120)]
    assert found.differs == ()


def test_one_table_that_stands_does_not_stop_the_area() -> None:
    found = area(standing_still(), running(), running())
    assert found.running
    assert [one.table for one in found.differs] == ["T1"]


def test_tables_that_are_silent_have_no_word_in_the_clock_of_their_area() -> None:
    """They may stand still with the others by now; nobody knows."""
    now_ms = NOW_MS + 60_000
    live = ContactTimes(
        link=TableConnectionState.OPEN, link_since_ms=0, received_ms=now_ms, changed_ms=now_ms
    )
    stands = heard("T1", standing_still())
    seen = [
        msgspec.structs.replace(stands, contact_times=live),
        heard("T2", running()),
        heard("T3", running()),
    ]
    (found,) = build_areas(seen, now_ms)
    assert (found.running, found.left_s, found.live) == (False, 2000, 1)
    assert found.differs == ()
    (unheard,) = build_areas(seen[1:], now_ms)
    assert unheard.running  # of an area that is all silent, what it was


def test_the_last_word_of_most_clocks_is_the_areas() -> None:
    five, fifteen = "announce_5", "announce_15"
    assert area(running(announced=five), running(announced=fifteen)).announced == five
    found = area(running(announced=five), running(announced=fifteen), running(announced=fifteen))
    assert found.announced == fifteen


def test_tables_are_counted_by_what_they_do() -> None:
    verdict = {"winner": "NS", "how": "past_a", "how_en": "past A", "how_zh": "过A"}
    found = area(
        running(announced="last_deal"),
        running(verdict=verdict),
        running(phase="signed", game="bigtwo"),
        standing_still(started=False),
        state(match={"match": None, "started": False, "clock": None}),
        running(suspended="count"),
        state(calls=[call("button", BEGUN)], machine={"phase": "fault"}),
        None,
    )
    assert (found.playing, found.over, found.not_started, found.last_deal) == (3, 2, 1, 1)
    assert (found.waiting, found.stopped, found.suspended) == (1, 1, ("T6",))


def test_who_is_two_deals_behind_the_middle_is_named() -> None:
    found = area(*(running(deal=deal) for deal in (5, 5, 4, 3, 6)))
    assert found.behind == (SlowTable("T4", 2),)


def test_areas_stand_in_the_order_of_their_numbers() -> None:
    seen = [heard(f"T{n}", running(), f"Hall {n}") for n in (10, 2, 1)]
    assert [one.area for one in build_areas(seen, NOW_MS)] == ["Hall 1", "Hall 2", "Hall 10"]


def test_an_area_is_the_same_whatever_the_order_of_its_tables() -> None:
    chance = random.Random(7)
    for _ in range(200):
        states = [
            chance.choice(
                (running(off_s=chance.choice((0, 0, 60))), standing_still(chance.choice((5, 9))))
            )
            for _ in range(chance.randint(1, 6))
        ]
        named = [heard(f"T{n}", said) for n, said in enumerate(states)]
        mixed = chance.sample(named, len(named))
        one, other = build_areas(named, NOW_MS)[0], build_areas(mixed, NOW_MS)[0]
        alike = ("running", "ends_ms", "left_s", "announced", "playing")
        assert [getattr(one, name) for name in alike] == [getattr(other, name) for name in alike]
        assert set(one.differs) == set(other.differs)


STOPPED: dict[str, Any] = {"since_ms": 400, "reason": "fire alarm", "by": "Zhang Hui (chief)"}


def test_a_stop_of_an_area_says_since_when_why_and_by_whom_and_where_it_holds() -> None:
    found = area(standing_still(area_stop=STOPPED), standing_still(area_stop=STOPPED), running())
    assert found.held == ("T1", "T2")
    assert found.stop is not None
    assert found.stop.since_ms == pytest.approx(NOW_MS - 600, abs=1000)
    assert (found.stop.why_en, found.stop.by_en) == ("fire alarm", "Zhang Hui (chief)")
    assert found.stop.by_zh == "Zhang Hui（裁判长）"


def test_nothing_is_stopped_where_all_clocks_run_nor_before_a_start() -> None:
    for found in (area(running(), running()), area(standing_still(started=False))):
        assert (found.stop, found.held) == (None, ())


def test_a_match_that_no_time_ends_is_stopped_as_well() -> None:
    untimed = state(match={"clock": None, "at_ms": 1000, "area_stop": STOPPED})
    assert area(untimed).held == ("T1",)


def test_an_older_table_that_stands_is_stopped_and_says_no_more() -> None:
    found = area(standing_still(area_stop=None))
    assert found.held == ("T1",)
    assert found.stop is not None
    assert (found.stop.since_ms, found.stop.why_en, found.stop.by_en) == (None, "", "")


def test_of_two_orders_the_one_that_most_tables_tell_of_is_the_areas() -> None:
    other = {"since_ms": 1, "reason": "lunch", "by": "chief"}
    found = area(*(standing_still(area_stop=one) for one in (STOPPED, other, STOPPED)))
    assert found.stop is not None
    assert found.stop.why_en == "fire alarm"


def test_a_reason_that_has_a_key_is_told_in_both_languages() -> None:
    found = area(standing_still(area_stop=STOPPED | {"reason": "at_table"}))
    assert found.stop is not None
    assert (found.stop.why_en, found.stop.why_zh) == ("the referee is at the table", "裁判到台处理")
