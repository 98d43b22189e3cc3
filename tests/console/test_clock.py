"""The console's clock: steady for whoever waits, and right once somebody has set the wall's."""

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from nacl.utils import random as entropy

from controller.console.accounts.account_store import SESSION_MS, Account, Accounts
from controller.console.accounts.sessions import Sessions
from controller.console.call_assignments import AssignmentStore, CallAssignments
from controller.console.console import MIN_STEP_MS, POLL_INTERVAL_S, ConsoleClock
from controller.console.freshness import (
    SILENT_AFTER_MS,
    ContactTimes,
    Freshness,
    freshness_of,
    shift_contact_times,
)
from controller.console.live_pages.hall_page import Hall
from controller.console.store.database import open_engine
from controller.console.table_snapshots import Result
from controller.messages import Role
from tests.console.fake import QUICK, now
from tests.console.timed_tables import Tables, parts

pytestmark = pytest.mark.virtual

YEAR_MS = 365 * 86_400_000
LI = Account(name="Li Na", role=Role.REFEREE)


class Wall:
    """The clock of the wall: it goes with the loop's, and may be set."""

    def __init__(self) -> None:
        self.set_ms = 0

    def __call__(self) -> int:
        return self.set_ms + int(asyncio.get_running_loop().time() * 1000)


@pytest.fixture
async def wall() -> Wall:
    """A wall's clock."""
    return Wall()


@pytest.fixture
async def clock(wall: Wall) -> ConsoleClock:
    """A console's clock by it."""
    return ConsoleClock(asyncio.get_running_loop().time, wall)


async def test_it_goes_on_where_the_wall_is_set_until_it_is_looked(
    clock: ConsoleClock, wall: Wall
) -> None:
    before = clock()
    wall.set_ms += YEAR_MS
    assert clock() == before
    assert clock.follow_wall_clock() == YEAR_MS
    assert clock() == wall()
    assert clock.follow_wall_clock() == 0


async def test_what_is_less_than_a_step_is_left_alone(clock: ConsoleClock, wall: Wall) -> None:
    wall.set_ms += MIN_STEP_MS - 1
    assert clock.follow_wall_clock() == 0
    wall.set_ms += 1
    assert clock.follow_wall_clock() == MIN_STEP_MS


@pytest.mark.parametrize("by_ms", [YEAR_MS, -YEAR_MS])
async def test_whoever_keeps_moments_is_told_of_every_step_once(
    clock: ConsoleClock, wall: Wall, by_ms: int
) -> None:
    steps: list[int] = []
    following = asyncio.create_task(clock.watch_wall_clock(steps.append))
    await asyncio.sleep(3 * POLL_INTERVAL_S)
    wall.set_ms += by_ms
    await asyncio.sleep(3 * POLL_INTERVAL_S)
    assert steps == [by_ms]
    assert clock() == wall()
    following.cancel()


@pytest.fixture
def takes(tmp_path: Path) -> Iterator[CallAssignments]:
    """Nobody goes anywhere."""
    engine = open_engine(f"sqlite:///{tmp_path / 'console.db'}")
    yield CallAssignments(AssignmentStore(engine), now, lambda: 0)
    engine.dispose()


@pytest.mark.parametrize("by_ms", [YEAR_MS, -YEAR_MS])
@pytest.mark.parametrize("ago_ms", [0, SILENT_AFTER_MS + 1])
def test_a_table_is_as_fresh_as_it_was_by_a_clock_that_was_set(by_ms: int, ago_ms: int) -> None:
    """A console set back by an hour must not show for an hour what fell silent before as live."""
    heard = ContactTimes(link_since_ms=1, received_ms=9_000 - ago_ms, changed_ms=9_000 - ago_ms)
    before, since_ms = freshness_of(heard, 9_000)
    assert before is (Freshness.SILENT if ago_ms else Freshness.LIVE)
    assert freshness_of(shift_contact_times(heard, by_ms), 9_000 + by_ms) == (
        before,
        since_ms + by_ms,
    )


async def test_a_table_whose_own_clock_was_right_all_the_time_is_no_longer_thought_behind() -> None:
    heard = ContactTimes(link_since_ms=0, received_ms=1, changed_ms=1, skew_ms=-YEAR_MS)
    assert shift_contact_times(heard, YEAR_MS).skew_ms == 0
    assert shift_contact_times(heard, -60_000).skew_ms == -YEAR_MS - 60_000


@pytest.mark.parametrize("by_ms", [YEAR_MS, -YEAR_MS])
async def test_who_is_logged_in_or_invited_is_so_as_long_as_he_would_have_been(
    clock: ConsoleClock, wall: Wall, tmp_path: Path, by_ms: int
) -> None:
    wall.set_ms += 2 * YEAR_MS
    clock.follow_wall_clock()
    engine = open_engine(f"sqlite:///{tmp_path / 'people.db'}")
    people = Accounts(engine, clock, entropy, QUICK)
    sessions = Sessions(people, now, clock)
    await sessions.accept_invitation(
        people.invite(Account(name="Li Na", role=Role.REFEREE)), "4711"
    )
    person, token = await sessions.log_in("Li Na", "4711")
    code = people.invite(Account(name="Wu Jun", role=Role.REFEREE))
    assert await sessions.session_owner(token) == person
    wall.set_ms += by_ms
    sessions.shift_times(clock.follow_wall_clock())
    assert await sessions.session_owner(token) == person
    await asyncio.sleep(SESSION_MS / 1000 - 60)
    assert await sessions.session_owner(token) == person
    await asyncio.sleep(61)
    assert await sessions.session_owner(token) is None
    assert people.accept_invitation(code, "4712").name == "Wu Jun"
    engine.dispose()


async def test_two_steps_at_once_move_whoever_is_logged_in_by_both(
    clock: ConsoleClock, wall: Wall, tmp_path: Path
) -> None:
    engine = open_engine(f"sqlite:///{tmp_path / 'people.db'}")
    people = Accounts(engine, clock, entropy, QUICK)
    let = asyncio.Event()

    async def slow(call: Callable[[], Result], /) -> Result:
        await let.wait()
        return call()

    sessions = Sessions(people, slow, clock)
    token = people.start_session(people.accept_invitation(people.invite(LI), "4711").name)
    for _ in range(2):
        wall.set_ms += YEAR_MS
        sessions.shift_times(clock.follow_wall_clock())
        await asyncio.sleep(0)
    closing = asyncio.ensure_future(sessions.close())
    await asyncio.sleep(1)
    assert not closing.done()
    let.set()
    await closing
    assert people.session_owner(token) == LI
    engine.dispose()


async def test_pages_keep_how_long_it_is_and_have_the_right_time_of_day(
    clock: ConsoleClock, wall: Wall, takes: CallAssignments
) -> None:
    tables = Tables()
    hall = Hall(tables, takes, clock)
    tables.begin("T01")
    hall.start()
    await asyncio.sleep(1)
    before = parts(hall, Role.CHIEF)["row/T01"]["since_ms"]
    wall.set_ms += YEAR_MS
    by_ms = clock.follow_wall_clock()
    seen = tables.snapshot("T01")
    tables._seen["T01"] = type(seen)(
        table="T01", area="A", contact_times=shift_contact_times(seen.contact_times, by_ms)
    )
    hall.shift_times(by_ms)
    await asyncio.sleep(1)
    assert parts(hall, Role.CHIEF)["row/T01"]["since_ms"] == before + YEAR_MS
    await hall.close()
