"""The simulated death of a daemon: the daemon stops between two instructions, as if killed.

After the death, nothing from the daemon reaches the journal, the feed or a board. A power cut also
removes the rows that were not synced and the keys of open attempts.
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
    """The plan of a daemon's simulated death: when it dies and restarts, and what is lost.

    The daemon dies `after_s` seconds after the commit of entry `entry`, and the next daemon starts
    `restart_after_s` seconds later. `power_lost`: unsynced rows and all keys are lost.
    `boards_reset`: the boards restart too.
    """

    entry: int
    after_s: float = 0.0
    restart_after_s: float = 1.0
    power_lost: bool = False
    boards_reset: bool = False


class KillableStore(JournalStore):
    """A journal store that refuses all writes after the simulated death of its daemon.

    Rows that are written together are all present or all absent, because a group is one
    transaction. `on_death` is called when the daemon dies. `is_disk_full()` returns True while the
    disk has no room.
    """

    death: DaemonDeath | None = None
    on_death: Callable[[], None]
    is_disk_full: Callable[[], bool] = staticmethod(lambda: False)
    is_alive = True
    last_synced = 0
    is_closed = False

    def write(self, rows: Sequence[StoredRow], *, durable: bool) -> None:
        """Write `rows`. If they reach the entry `death.entry`, the daemon dies at once or later.

        Raises StorageFailed if the daemon is dead or dies in this call, or if the disk is full.
        """
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
        """Close the journal's file, or do nothing if it is already closed."""
        if not self.is_closed:
            self.is_closed = True
            super().close()


def kill_daemon(sim: HardwareInProcess, store: KillableStore) -> bool:
    """Kill the daemon that uses `store`, and return whether the daemon was running.

    `store` refuses later writes, and the board ports are closed. If the daemon was dead or had
    ended normally, nothing happens.
    """
    if not store.is_alive or store.is_closed:
        return False
    store.is_alive = False
    for name in BOARDS:
        sim.port(name).close()
    return True


def apply_power_loss(state_dir: Path, runtime_dir: Path, last_synced: int, into: Path) -> None:
    """Create in `into` the journal that is left after a power cut, and delete the attempt keys.

    The synced rows are those up to number `last_synced` of the journal in `state_dir`. The attempt
    keys are in `runtime_dir`. `state_dir` stays unchanged for inspection.
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
