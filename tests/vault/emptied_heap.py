"""A deal in a process of its own, whose heap holds nothing of it behind its end.

    python -m tests.vault.emptied_heap FOLDER

In the process of the tests, objects of other tests would be found, too.
"""

import asyncio
import gc
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec

from controller.messages import Role
from controller.vault.vault import ReaderLook
from drivers import board_events as of_boards
from sim.mechanics.mechanics_settings import MechanicsSettings
from sim.tables.table_in_process import run_table_in_process
from sim.virtual_loop import VirtualLoop
from tests.machine.opened_hands import opening


async def check_heap(folder: Path) -> None:
    """Deal, and assert that no object holds the hands, the reads or the key behind the deal."""
    async with run_table_in_process(MechanicsSettings(), folder, profile=opening("never")) as at:
        await at.play_attempt()
        run = at.machine.table_boards.run
        assert run is not None
        secrets = (run.writer.vault.hands or b"", run.writer._key.raw if run.writer._key else b"")
        sought = [bytes(255 - byte for byte in secret) for secret in secrets]
        assert found(sought) == [True, True]
        assert len(reads()) >= 108
        del run, secrets
        await at.return_hands()
        await at.send_command(Role.REFEREE, "start_deal")
        gc.collect()
        assert found(sought) == [False, False]
        assert reads() == []


def found(sought: list[bytes]) -> list[bool]:
    """Tell of each secret (turned over, so that it is not found here) whether an object has it."""
    plain = set(_bytes())
    return [
        any(bytes(255 - byte for byte in one) in each for each in plain if len(each) < 1 << 20)
        for one in sought
    ]


def _bytes() -> Iterator[bytes]:
    for each in _objects():
        if isinstance(each, bytes | bytearray):
            yield bytes(each)


def reads() -> list[object]:
    """Return all reads of cards that there are, in the form of the vault or of the driver."""
    found = {
        id(each): each
        for each in _objects()
        if isinstance(each, ReaderLook | of_boards.CardReadEvent)
    }
    return list(found.values())


def _objects() -> Iterator[object]:
    """Yield all objects that the collector knows, and what they refer to, two steps on."""
    for holder in gc.get_objects():
        for each in gc.get_referents(holder):
            yield each
            if isinstance(each, msgspec.Struct) or not gc.is_tracked(each):
                yield from gc.get_referents(each)


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        runner.run(check_heap(Path(sys.argv[1])))
