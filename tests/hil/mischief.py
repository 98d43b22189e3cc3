"""A plugin that does mischief behind a scenario's back, for every check after it must see it.

`-p tests.hil.mischief --mischief alert,counter`: the first scenario gets the first, and so on.
"""

import sqlite3
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing

import pytest

from controller.journal.store import STORE_NAME
from hil_tests.harness import scenario_end as table_rest
from hil_tests.harness import targets
from hil_tests.harness.scenario_table import ScenarioTable, alert_names

OTHER_FIRMWARE = "0123456789abcdef"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--mischief", default="")


async def nothing(table: ScenarioTable) -> None:
    pass


async def alert(table: ScenarioTable) -> None:
    """Somebody opens the lid, and nobody says so."""
    await table.hands.do_step("open_lid")
    await table.until(lambda state: "LID_OPENED" in alert_names(state))
    await table.hands.do_step("close_lid")
    await table.wait_for_quiet()


async def counter(table: ScenarioTable) -> None:
    """The line is worse than anybody says."""
    for _ in range(3):
        await table.hands.cause_fault("bytes_corrupted", board="dealer", way="to_host")
        await table.wait(2)


async def card(table: ScenarioTable) -> None:
    """Somebody takes cards away."""
    table.expect_alerts("LID_OPENED")
    await table.hands.do_step("keep_80")
    await table.wait_for_quiet()


async def sensor(table: ScenarioTable) -> None:
    """A sensor breaks that nobody asks at rest."""
    await table.hands.cause_fault("sensor_stuck", sensor="double", value=0)


async def lid(table: ScenarioTable) -> None:
    """Somebody leaves the lid open once the daemon is gone."""
    _afterwards(table, lambda: table.hands.do_step("open_lid"))


async def journal(table: ScenarioTable) -> None:
    """Somebody changes the past."""

    async def change() -> None:
        with closing(sqlite3.connect(table.daemon.state_dir / STORE_NAME)) as file, file:
            file.execute("DROP TRIGGER journal_never_updates")
            file.execute("UPDATE journal SET head = zeroblob(32) WHERE n = 4")

    _afterwards(table, change)


def _afterwards(table: ScenarioTable, does: Callable[[], Awaitable[None]]) -> None:
    stop = table.stop

    async def stopped() -> None:
        await stop()
        await does()

    table.stop = stopped  # type: ignore[method-assign]  # mischief


DOES: dict[str, Callable[[ScenarioTable], Awaitable[None]]] = {
    each.__name__: each for each in (nothing, alert, counter, card, sensor, lid, journal)
}


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Get the next mischief ready for this scenario."""
    left = item.config.getoption("mischief").split(",")
    name = left.pop(0)
    item.config.option.mischief = ",".join(left)
    patch = pytest.MonkeyPatch()
    rest = table_rest.bring_to_rest

    async def rested(table: ScenarioTable) -> None:
        await rest(table)
        await DOES[name](table)

    if name == "hello":
        patch.setattr(targets, "own_firmware_hash", lambda: bytes.fromhex(OTHER_FIRMWARE))
    elif name:
        patch.setattr(table_rest, "bring_to_rest", rested)
    yield
    patch.undo()
