"""Whom an attempt is sealed to: the chief who is admitted when it is committed to."""

import asyncio
import base64
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from nacl.exceptions import CryptoError
from nacl.public import PrivateKey, SealedBox

from controller.journal.store import JournalStore
from controller.messages import MachinePhase, Role
from sim.mechanics.mechanics_settings import MechanicsSettings
from sim.tables.table_in_process import TableInProcess, run_table_in_process
from tests.machine.stages import alerts, cut, ordered, refused

pytestmark = pytest.mark.virtual
LOOK_S = 2.0
"""Longer than a table that waits takes to look around again."""


class Chief:
    """What the roster says of the chief; `secret` is his.

    `looks`: how often he is still found in it; None as long as he is admitted.
    """

    def __init__(self) -> None:
        self.secret = PrivateKey.generate()
        self.admitted = True
        self.looks: int | None = None

    def __call__(self) -> bytes | None:
        if self.looks is not None:
            self.admitted, self.looks = self.looks > 0, self.looks - 1
        return bytes(self.secret.public_key) if self.admitted else None


@pytest.fixture
def chief() -> Chief:
    return Chief()


@pytest.fixture
def store() -> JournalStore:
    return JournalStore.in_memory()


@pytest.fixture
async def at(runtime_dir: Path, chief: Chief, store: JournalStore) -> AsyncIterator[TableInProcess]:
    """A table whose first deal may be ordered."""
    async with run_table_in_process(
        MechanicsSettings(), runtime_dir, store=store, chief=chief
    ) as at:
        await at.wait_for_phase(MachinePhase.EMPTY)
        await asyncio.sleep(LOOK_S)
        yield at


def sealed(store: JournalStore) -> list[bytes]:
    """Return the boxes of the attempts so far that only the chief opens."""
    rows = (chained.entry for chained in store.entries())
    return [base64.b64decode(row.data["for_chief"]) for row in rows if row.kind == "seed"]


async def test_no_deal_begins_without_a_chief_it_could_be_sealed_to_and_one_does_with_him(
    at: TableInProcess, chief: Chief, store: JournalStore
) -> None:
    chief.admitted = False
    await asyncio.sleep(LOOK_S)
    assert alerts(at) == ["NO_CHIEF"]
    assert at.states[-1].machine.phase is MachinePhase.EMPTY
    assert await refused(at, Role.REFEREE, "start_deal") == "NO_CHIEF"
    assert sealed(store) == []

    chief.admitted = True
    await asyncio.sleep(LOOK_S)
    assert alerts(at) == []
    await ordered(at, Role.REFEREE, "start_deal")
    assert len(sealed(store)) == 1


async def test_an_order_in_the_moment_in_which_the_chief_is_gone_begins_nothing(
    at: TableInProcess, chief: Chief, store: JournalStore
) -> None:
    chief.admitted = False  # and the table has not looked around since
    assert await refused(at, Role.REFEREE, "start_deal") == "NO_CHIEF"
    assert sealed(store) == []


@pytest.mark.parametrize("looks", range(6))
async def test_a_chief_who_goes_between_two_looks_leaves_an_attempt_of_his_or_none(
    at: TableInProcess, chief: Chief, store: JournalStore, looks: int
) -> None:
    chief.looks = looks
    reply = await at.send_command(Role.REFEREE, "start_deal")
    assert reply.ok == bool(sealed(store))
    assert reply.ok or (reply.error is not None and reply.error.code == "NO_CHIEF")
    if not reply.ok:
        chief.looks, chief.admitted = None, True
        await asyncio.sleep(LOOK_S)
        await ordered(at, Role.REFEREE, "start_deal")
    assert [SealedBox(chief.secret).decrypt(box) != b"" for box in sealed(store)] == [True]


async def test_an_attempt_is_sealed_to_the_chief_of_the_moment_it_begins_in(
    at: TableInProcess, chief: Chief, store: JournalStore
) -> None:
    former, chief.secret = chief.secret, PrivateKey.generate()
    await ordered(at, Role.REFEREE, "start_deal")

    (box,) = sealed(store)
    assert SealedBox(chief.secret).decrypt(box)
    with pytest.raises(CryptoError):
        SealedBox(former).decrypt(box)


async def test_an_attempt_under_way_goes_on_without_the_chief_it_was_sealed_to(
    at: TableInProcess, chief: Chief
) -> None:
    await ordered(at, Role.REFEREE, "start_deal")
    chief.admitted = False
    await cut(at)
    await at.wait_for_phase(MachinePhase.HELD)


async def test_the_next_attempt_of_a_deal_waits_for_a_chief_and_then_begins_by_itself(
    at: TableInProcess, chief: Chief, store: JournalStore
) -> None:
    await ordered(at, Role.REFEREE, "start_deal")
    chief.admitted = False
    await ordered(at, Role.CHIEF, "void", reason="the wrong set lies in the hopper")
    await at.wait_for_state(lambda state: "NO_CHIEF" in [alert.name for alert in state.alerts])
    await asyncio.sleep(LOOK_S)
    assert len(sealed(store)) == 1

    chief.admitted = True
    await at.wait_for_phase(MachinePhase.COMMITTED)
    assert alerts(at) == []
    assert len(sealed(store)) == 2
