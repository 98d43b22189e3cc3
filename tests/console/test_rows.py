"""A table's row of the hall: it changes when something happens, not whenever time goes on."""

import msgspec
import pytest

from controller.console.freshness import ContactTimes, Freshness, stamp_to_epoch_ms
from controller.console.table_snapshots import TableSnapshot
from controller.console.view.hall_rows import HallRow, build_hall_row
from controller.console.view.wait_reasons import WaitingTable
from controller.messages import PublicState
from tests.console.states import alert, call, list_reasons, state

LIVE = Freshness.LIVE, 0


def _running(second: int, **match: object) -> PublicState:
    """A table's state so many seconds on, its clock running to second 3000 of its own."""
    clock = {"left_s": 3000 - second, "running": True, "deadline_ms": 3_000_000}
    return state(
        time=f"2027-01-01T00:00:{second:02}.400+00:00",
        match={"clock": clock, "at_ms": second * 1000} | match,
    )


def _row(
    said: PublicState, wait: WaitingTable | None = None, standing: tuple[Freshness, int] = LIVE
) -> HallRow:
    return build_hall_row(TableSnapshot(table="T01", area="A", state=said), standing, wait)


def test_a_running_clock_alone_is_no_news() -> None:
    rows = {msgspec.json.encode(_row(_running(second))) for second in range(1, 60)}
    assert len(rows) == 1


def test_a_running_clock_is_told_by_its_end() -> None:
    found = _row(_running(1))
    assert found.ends_ms is not None
    assert found.ends_ms % 1000 == 0
    assert found.ends_ms - 1_798_761_600_000 == pytest.approx(3_000_000, abs=1000)
    assert found.left_s is None


def test_a_standing_clock_is_told_by_what_is_left() -> None:
    clock = {"left_s": 77, "running": False, "deadline_ms": None}
    found = _row(state(match={"clock": clock}))
    assert (found.left_s, found.ends_ms) == (77, None)


def test_a_table_that_was_never_heard_is_dark() -> None:
    found = build_hall_row(TableSnapshot(table="T01", area="A"), (Freshness.CONNECTING, 5))
    assert (found.light, found.since_ms, found.phase) == ("dark", 5, "")


@pytest.mark.parametrize("how", [one for one in Freshness if one is not Freshness.LIVE])
def test_what_is_not_live_is_dark_whatever_it_said_last(how: Freshness) -> None:
    assert _row(state(calls=[call("button")]), standing=(how, 9)).light == "dark"


def test_a_standing_machine_comes_before_who_waits() -> None:
    said = state(machine={"phase": "fault"}, alerts=[alert("LID_OPENED")])
    wait = WaitingTable(table="T01", reasons=list_reasons(said, Freshness.LIVE, 0))
    assert _row(said, wait).light == "stands"
    assert _row(state(), wait).light == "waits"


def test_what_only_a_technician_wants_to_know_makes_no_table_wait() -> None:
    said = state(alerts=[alert("PANEL_LOST")])
    wait = WaitingTable(table="T01", reasons=list_reasons(said, Freshness.LIVE, 0))
    assert _row(said, wait).light == "busy"


def test_a_table_is_found_by_who_plays_there() -> None:
    pair = {"id": "7", "name": "Plum", "players": {"S": "Li Na", "N": "Sun"}}
    found = _row(state(match={"pairs": {"NS": pair, "EW": None}}))
    assert [(one.id, one.players) for one in found.pairs.values()] == [("7", ("Li Na", "Sun"))]


def test_only_a_running_match_is_busy() -> None:
    assert _row(state()).light == "busy"
    assert _row(state(match={"started": False})).light == "calm"


def test_a_table_whose_wall_clock_is_wrong_ends_when_its_time_is_up() -> None:
    said = _running(1)
    heard_ms = stamp_to_epoch_ms(said.time) + 3_600_000
    times = ContactTimes(received_ms=heard_ms)
    seen = TableSnapshot(table="T01", area="A", state=said, contact_times=times)
    ends_ms = build_hall_row(seen, LIVE).ends_ms
    assert ends_ms == pytest.approx(heard_ms + 2_999_000, abs=1000)


def test_a_stop_of_the_area_stands_in_the_rows_that_it_holds_for_and_is_no_news() -> None:
    stop = {"since_ms": 400, "reason": "fire alarm", "by": "chief"}
    clock = {"left_s": 77, "running": False, "deadline_ms": None}
    rows = {
        msgspec.json.encode(_row(_running(second, clock=clock, area_stop=stop)))
        for second in range(1, 60)
    }
    assert len(rows) == 1
    held = _row(_running(1, clock=clock, area_stop=stop)).stop
    assert held is not None
    assert (held.why_en, held.by_zh) == ("fire alarm", "裁判长")
    assert _row(_running(1)).stop is None
    assert _row(_running(1, clock=clock, started=False)).stop is None
