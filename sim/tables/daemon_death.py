"""The death of a daemon, as a killed process dies: between two instructions, without a goodbye.

From then on nothing that it still does reaches the journal, the feed or a board. With the
power go the rows that were not synced, and the keys of open attempts.
"""

import asyncio
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from controller.journal.entries import StorageFailed, StoredRow
from controller.journal.store import STORE_NAME, JournalStore, open_read_only
from sim.hardware_in_process import BOARDS, HardwareInProcess


@dataclass(frozen=True)
class DaemonDeath:
    """How a daemon dies: `after_s` behind the commit of entry `entry`; `away_s` until the next.

    `power`: rows that were not synced and all keys go with it. `reset`: the boards, too.
    """

    entry: int
    after_s: float = 0.0
    restart_after_s: float = 1.0
    power_lost: bool = False
    boards_reset: bool = False


class KillableStore(JournalStore):
    """A journal's file of which a death cuts a part off: the groups behind the entry of death.

    Rows that are written together are all there, or none is: a group is one transaction.
    `die` is called when the daemon dies; `full()` says whether the disk has no room now.
    """

    death: DaemonDeath | None = None
    on_death: Callable[[], None]
    is_disk_full: Callable[[], bool] = staticmethod(lambda: False)
    is_alive = True
    last_synced = 0
    is_closed = False

    def write(self, rows: Sequence[StoredRow], *, durable: bool) -> None:
        """Write up to the group of the death, and nothing behind it. Raises StorageFailed."""
        if not self.is_alive:
            raise StorageFailed("the daemon is dead")
        if self.is_disk_full():
            raise StorageFailed("database or disk is full")
        super().write(rows, durable=durable)
        if durable:
            self.last_synced = self.last()[0]
        if self.death is not None and self.last()[0] >= self.death.entry:
            if self.death.after_s:
                asyncio.get_running_loop().call_later(self.death.after_s, self.on_death)
                self.death = None
                return
            self.on_death()
            raise StorageFailed("the daemon is dead")

    def close(self) -> None:
        """Close the file, once."""
        if not self.is_closed:
            self.is_closed = True
            super().close()


def kill_daemon(sim: HardwareInProcess, store: KillableStore) -> bool:
    """Let the daemon of `store` be dead from now on; False where it was, or had ended by itself.

    Nothing of it reaches a board any more.
    """
    if not store.is_alive or store.is_closed:
        return False
    store.is_alive = False
    for name in BOARDS:
        sim.port(name).close()
    return True


def apply_power_loss(state_dir: Path, runtime_dir: Path, last_synced: int, into: Path) -> None:
    """Have `into` hold what a power cut leaves of a journal: the rows up to number `synced`.

    The keys in `runtime_dir` are gone; `state_dir` stays as it was for whoever wants to look.
    """
    for key in runtime_dir.glob("attempt-*.key"):
        key.unlink()
    with open_read_only(state_dir / STORE_NAME) as rows:
        kept = [row for row in rows if row.n <= last_synced]
    shutil.rmtree(into, ignore_errors=True)
    into.mkdir()
    fresh = JournalStore.open(into)
    fresh.write(kept, durable=True)
    fresh.close()
