"""The hall's parts: what time alone changes, who goes where, tables that come and go."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from controller.console.call_assignments import AssignmentStore, CallAssignments
from controller.console.console_config import ConfiguredTable
from controller.console.freshness import SILENT_AFTER_MS
from controller.console.live_pages.hall_page import Hall, HallPart
from controller.console.store.database import open_engine
from controller.console.table_snapshots import TableSnapshot
from controller.console.view.wait_reasons import DEAL_OVERDUE_MS, ESCALATION_MS
from controller.messages import Role
from tests.console.fake import now
from tests.console.states import call
from tests.console.timed_tables import AT, Tables, clock_ms, parts

pytestmark = pytest.mark.virtual


@pytest.fixture
def tables() -> Tables:
    """A hall without tables."""
    return Tables()


@pytest.fixture
async def takes(tmp_path: Path) -> AsyncIterator[CallAssignments]:
    """Nobody goes anywhere."""
    engine = open_engine(f"sqlite:///{tmp_path / 'console.db'}")
    takes = CallAssignments(AssignmentStore(engine), now, clock_ms)
    await takes.load(())
    yield takes
    await takes.close()
    engine.dispose()


@pytest.fixture
async def hall(tables: Tables, takes: CallAssignments) -> AsyncIterator[Hall]:
    """A hall that is shown."""
    hall = Hall(tables, takes, clock_ms)
    hall.start()
    yield hall
    await hall.close()


async def test_a_table_that_says_nothing_grows_silent_by_itself(hall: Hall, tables: Tables) -> None:
    tables.hear("T01")
    await asyncio.sleep(1)
    assert parts(hall)["row/T01"]["standing"] == "live"
    assert parts(hall)["waits"] == []
    await asyncio.sleep(SILENT_AFTER_MS / 1000)
    assert parts(hall)["row/T01"]["standing"] == "silent"
    assert [wait["table"] for wait in parts(hall)["waits"]] == ["T01"]


async def test_a_table_that_is_heard_and_says_nothing_new_changes_nothing(
    hall: Hall, tables: Tables
) -> None:
    tables.hear("T01")
    await asyncio.sleep(1)
    version, _ = hall.parts_for(Role.REFEREE).changes_since(0)
    for seq in range(5):
        tables.hear("T01", seq=200 + seq)
        await asyncio.sleep(1)
    assert hall.parts_for(Role.REFEREE).changes_since(version)[1] == {}


async def test_whoever_nobody_goes_to_becomes_the_chiefs(
    hall: Hall, tables: Tables, takes: CallAssignments
) -> None:
    async def wait_s(seconds: float) -> dict[str, Any]:
        for _ in range(int(seconds)):
            for table in ("T01", "T02"):
                tables.hear(table, calls=[call("button", AT)])
            await asyncio.sleep(1)
        return {wait["table"]: wait["chiefs"] for wait in parts(hall)["waits"]}

    await wait_s(2)
    takes.assign("T02", "Li Na")
    assert await wait_s(ESCALATION_MS / 1000 - 5) == {"T01": False, "T02": False}
    assert await wait_s(6) == {"T01": True, "T02": False}


async def test_nobody_goes_to_a_silent_table_for_so_long_that_it_is_the_chiefs(
    hall: Hall, tables: Tables
) -> None:
    tables.hear("T01", calls=[call("button", AT)])
    await asyncio.sleep(ESCALATION_MS / 1000 - 5)
    assert [wait["chiefs"] for wait in parts(hall)["waits"]] == [False]
    await asyncio.sleep(6)
    assert [wait["chiefs"] for wait in parts(hall)["waits"]] == [True]


async def test_who_goes_stays_gone_there_until_the_table_is_heard_again(
    tables: Tables, takes: CallAssignments
) -> None:
    takes.assign("T01", "Li Na")  # before the console's restart
    tables.begin("T01")
    hall = Hall(tables, takes, clock_ms)
    hall.start()
    await asyncio.sleep(1)
    assert takes.assigned_to("T01") == "Li Na"
    tables.hear("T01", calls=[call("button", AT)])
    await asyncio.sleep(1)
    assert parts(hall)["row/T01"]["taken_by"] == "Li Na"
    await hall.close()


async def test_who_goes_is_known_after_a_restart(takes: CallAssignments, tmp_path: Path) -> None:
    takes.assign("T01", "Li Na")
    takes.assign("T02", "Wu Jun")
    takes.assign("T02", None)
    await takes.close()
    engine = open_engine(f"sqlite:///{tmp_path / 'console.db'}")
    again = CallAssignments(AssignmentStore(engine), now, clock_ms)
    await again.load(("T01", "T02"))
    assert (again.assigned_to("T01"), again.assigned_to("T02")) == ("Li Na", None)
    engine.dispose()


async def test_nobody_goes_to_a_table_that_was_let_go_while_the_console_was_down(
    takes: CallAssignments, tmp_path: Path
) -> None:
    takes.assign("T01", "Li Na")
    takes.assign("T02", "Wu Jun")
    await takes.close()
    engine = open_engine(f"sqlite:///{tmp_path / 'console.db'}")
    again = CallAssignments(AssignmentStore(engine), now, clock_ms)
    await again.load(("T02", "T03"))
    await again.close()
    assert (again.assigned_to("T01"), again.assigned_to("T02")) == (None, "Wu Jun")
    assert AssignmentStore(engine).load() == {"T02": "Wu Jun"}
    engine.dispose()


async def test_who_went_there_is_done_with_the_last_that_waits_but_not_with_silence(
    hall: Hall, tables: Tables, takes: CallAssignments
) -> None:
    tables.hear("T01", calls=[call("button", AT)])
    takes.assign("T01", "Li Na")
    await asyncio.sleep(60)
    assert parts(hall)["row/T01"]["standing"] == "silent"
    assert takes.assigned_to("T01") == "Li Na"
    tables.hear("T01", calls=[])
    await asyncio.sleep(1)
    assert takes.assigned_to("T01") is None
    assert parts(hall)["row/T01"]["taken_by"] is None


async def test_a_table_that_is_taken_out_is_gone(hall: Hall, tables: Tables) -> None:
    tables.hear("T01", calls=[call("button", AT)])
    tables.add(
        ConfiguredTable(
            id="T02", feed="tcp://h:1", commands="tcp://h:2", server_key="k" * 40, area="B"
        )
    )
    await asyncio.sleep(1)
    assert parts(hall)["row/T02"]["standing"] in ("connecting", "silent")
    tables.remove("T01")
    await asyncio.sleep(1)
    assert "row/T01" not in parts(hall)
    assert "T01" not in [wait["table"] for wait in parts(hall)["waits"]]


@asynccontextmanager
async def chiefs(
    tables: Tables, takes: CallAssignments, name: str, made: HallPart
) -> AsyncIterator[Hall]:
    """A hall with one part for the chief that is made of all tables."""
    hall = Hall(tables, takes, clock_ms, {name: (made, frozenset({Role.CHIEF}))})
    hall.start()
    yield hall
    await hall.close()


async def test_what_is_made_of_all_tables_is_shown_to_its_roles(
    tables: Tables, takes: CallAssignments
) -> None:
    tables.hear("T01")
    async with chiefs(tables, takes, "count", lambda seen, now_ms: len(seen)) as hall:
        await asyncio.sleep(1)
        assert parts(hall, Role.CHIEF)["count"] == 1
        assert "count" not in parts(hall, Role.REFEREE)


async def test_a_deal_that_is_due_and_does_not_begin_is_a_row_after_a_while(
    hall: Hall, tables: Tables
) -> None:
    """A sensor that takes a full hopper for empty raises no alert: somebody has to go and see."""
    since_ms = clock_ms()
    waiting = {"started": True, "phase": "cut", "suspended": None}

    async def heard_s(seconds: float) -> list[dict[str, Any]]:
        for _ in range(int(seconds)):
            tables.hear("T01", machine={"phase": "empty"}, match=waiting)
            seen = msgspec.structs.replace(tables.snapshot("T01"), deal_due_since_ms=since_ms)
            tables._seen["T01"] = seen
            await asyncio.sleep(1)
        return list(parts(hall)["waits"])

    assert await heard_s(DEAL_OVERDUE_MS / 1000 - 5) == []
    (wait,) = await heard_s(7)
    (reason,) = wait["reasons"]
    assert (reason["name"], reason["since_ms"], reason["rank"]) == ("no_deal", since_ms, 4)
    assert reason["words_zh"]
    assert parts(hall)["row/T01"]["light"] == "waits"
    tables.hear("T01", machine={"phase": "shuffling"}, match=waiting)
    await asyncio.sleep(1)
    assert parts(hall)["waits"] == []
    await asyncio.sleep(DEAL_OVERDUE_MS / 1000)
    assert [one["reasons"][0]["name"] for one in parts(hall)["waits"]] == ["silent"]


async def test_a_state_that_cannot_be_shown_is_not_shown_as_the_present_and_harms_no_other(
    hall: Hall, tables: Tables
) -> None:
    tables.hear("T01")
    tables.hear("T02")
    await asyncio.sleep(1)
    tables.hear("T01", calls=[call("button", "no time at all")])
    tables.hear("T02", calls=[call("button", AT)])
    await asyncio.sleep(1)
    assert parts(hall)["row/T01"]["standing"] == "stale"
    assert parts(hall)["row/T01"]["light"] == "dark"
    assert [wait["table"] for wait in parts(hall)["waits"]] == ["T02", "T01"]
    tables.hear("T01")
    await asyncio.sleep(1)
    assert parts(hall)["row/T01"]["standing"] == "live"


async def test_a_part_of_all_tables_that_fails_is_gone_until_it_is_made_again(
    tables: Tables, takes: CallAssignments
) -> None:
    fails = False

    def made(seen: Sequence[TableSnapshot], now_ms: int) -> int:
        return 1 // (not fails)

    tables.hear("T01")
    async with chiefs(tables, takes, "count", made) as hall:
        await asyncio.sleep(1)
        assert parts(hall, Role.CHIEF)["count"] == 1
        fails = True
        await asyncio.sleep(1)
        assert "count" not in parts(hall, Role.CHIEF)
        assert parts(hall, Role.CHIEF)["row/T01"]["standing"] == "live"
        fails = False
        await asyncio.sleep(1)
        assert parts(hall, Role.CHIEF)["count"] == 1


async def test_a_part_that_fails_hides_no_table_that_is_called_like_it(
    tables: Tables, takes: CallAssignments
) -> None:
    def heard(seen: Sequence[TableSnapshot], now_ms: int) -> list[str]:
        return [one.table for one in seen if one.state is not None]

    def fails(seen: Sequence[TableSnapshot], now_ms: int) -> None:
        raise ValueError

    chief = frozenset({Role.CHIEF})
    hall = Hall(tables, takes, clock_ms, {"store": (fails, chief), "heard": (heard, chief)})
    tables.hear("store")
    hall.start()
    await asyncio.sleep(1)
    assert parts(hall, Role.CHIEF)["heard"] == ["store"]
    await hall.close()


async def test_nobody_goes_to_a_table_that_was_let_go(
    hall: Hall, tables: Tables, takes: CallAssignments, tmp_path: Path
) -> None:
    tables.hear("T01", calls=[call("button", AT)])
    tables.hear("T02", calls=[call("button", "no time at all")])
    takes.assign("T01", "Li Na")
    await asyncio.sleep(1)
    assert takes.assigned_to("T01") == "Li Na"
    for table in ("T01", "T02"):
        tables.remove(table)
    await asyncio.sleep(1)
    assert takes.assigned_to("T01") is None
    assert hall._unrenderable == {}
    await takes.close()
    engine = open_engine(f"sqlite:///{tmp_path / 'console.db'}")
    assert AssignmentStore(engine).load() == {}
    engine.dispose()
