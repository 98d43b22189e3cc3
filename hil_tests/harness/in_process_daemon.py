"""A daemon in this process and in virtual time, with simulated boards."""

import random
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from shutil import rmtree
from typing import Any

from controller.config import CardSetSection
from controller.journal.entries import JournalError
from controller.journal.store import JournalStore
from controller.messages import CommandReply, PublicEvent, PublicState, Role
from hil_tests.harness.table_daemon import LINE_COUNTERS, CounterValues, DealAndAttempt
from sim.hardware_in_process import HardwareInProcess
from sim.mechanics.mechanics_settings import BACKS, MechanicsSettings, PhysicalSet
from sim.tables.daemon_death import KillableStore, apply_power_loss, kill_daemon
from sim.tables.table_in_process import TableInProcess, run_table_in_process

CARD_SETS = (CardSetSection(id="S1", back="A"), CardSetSection(id="S2", back="B"))


def make_table(rng: random.Random) -> HardwareInProcess:
    """Return a new simulated table with two sets of cards. The caller must close it."""
    packed = tuple(PhysicalSet(one.id, BACKS[one.back]) for one in CARD_SETS)
    settings, chance = MechanicsSettings(sets=packed), random.Random(rng.random())
    return HardwareInProcess(settings, chance, boots=lambda: rng.getrandbits(32))


class InProcessDaemon:
    """A TableDaemon that runs in this process and controls the simulated table `sim`.

    Each start has its own keys.
    """

    def __init__(self, sim: HardwareInProcess, state_dir: Path, runtime_dir: Path) -> None:
        """Prepare a daemon whose journal is in the folder `state_dir`.

        An existing journal is continued.
        """
        self.state_dir = state_dir
        state_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._sim, self._runtime_dir = sim, runtime_dir
        self.states: list[PublicState] = []
        self.events: list[PublicEvent] = []
        self._starts = 0
        self._running: AbstractAsyncContextManager[TableInProcess] | None = None
        self._trial: TableInProcess | None = None
        self._store: KillableStore | None = None
        self._is_disk_full = False
        self._jumped_s = 0.0

    async def start(self) -> None:
        """Start the daemon in this process on the existing journal, and connect its panel."""
        self._starts += 1
        store = self._open_store()
        self._running = run_table_in_process(
            MechanicsSettings(),
            self._runtime_dir,
            seed=self._starts,
            store=store,
            state_dir=self.state_dir,
            sim=self._sim,
            card_sets=CARD_SETS,
            reopen=self._reopen_store,
            clock_offset_s=lambda: self._jumped_s,
            on_publish=lambda value: store.is_alive,  # The feed of a dead daemon is silent.
        )
        self._trial = await self._running.__aenter__()
        # The lists of all starts receive everything that this start publishes.
        self.states += self._trial.states
        self.events += self._trial.events
        self._trial.states, self._trial.events = self.states, self.events
        await self._trial.panel()

    async def stop(self) -> None:
        """Shut the daemon down as Ctrl-C does. Do nothing if it does not run."""
        if self._trial is not None:
            await self._trial.lasting.shut_down(2.0)
            await self._end()

    async def kill(self, *, power: bool = False) -> None:
        """Kill the daemon. If `power`, delete its attempt keys, and entries not yet on disk."""
        assert self._store is not None
        store = self._store
        kill_daemon(self._sim, store)
        await self._end()
        store.close()
        if power:
            rest = self.state_dir.with_name("rest")
            apply_power_loss(self.state_dir, self._runtime_dir, store.last_synced, rest)
            rmtree(self.state_dir)
            rest.rename(self.state_dir)

    async def set_disk_full(self, *, full: bool) -> None:
        """Simulate a full disk, where all journal writes fail. If `full` is False, end this."""
        self._is_disk_full = full

    async def move_clock(self, by_s: float) -> None:
        """Add `by_s` seconds to the wall clock that the daemon reads."""
        self._jumped_s += by_s

    async def _end(self) -> None:
        assert self._running is not None
        running, self._running, self._trial = self._running, None, None
        await running.__aexit__(None, None, None)

    def _open_store(self) -> KillableStore:
        store = self._store = KillableStore.open(self.state_dir)
        store.last_synced = store.last()[0]
        store.is_disk_full = lambda: self._is_disk_full
        return store

    def _reopen_store(self) -> JournalStore:
        if self._is_disk_full:
            raise JournalError("there is no room yet")
        return self._open_store()

    async def wait_for_news(self) -> None:
        """Wait until the daemon publishes a new state."""
        known = len(self._running_trial.states)
        await self._running_trial.wait_for_state(
            lambda state: len(self._running_trial.states) > known
        )

    async def ask(
        self, role: Role, cmd: str, about: DealAndAttempt, args: dict[str, Any]
    ) -> CommandReply:
        """Sign the command `cmd` with the key of `role`, send it, and return the reply."""
        return await self._running_trial.send_command(role, cmd, about=about, **args)

    async def read_counters(self) -> CounterValues:
        """Return all counters of the daemon, with names such as `misreads` and `resends dealer`."""
        found: dict[str, float] = {}
        for sample in self._running_trial.machine.metrics.collect().samples:
            name = sample.name.removeprefix("line_")
            if name in LINE_COUNTERS:
                found[f"{name} {sample.labels[0]}"] = float(sample.value)
            else:
                found[sample.name] = found.get(sample.name, 0.0) + float(sample.value)
        return found

    async def move_button(self, button: str, down: bool) -> None:
        """Press a button of the panel, or release the button if `down` is False."""
        contacts = await self._running_trial.panel()
        (contacts.press if down else contacts.release)(button)

    @property
    def _running_trial(self) -> TableInProcess:
        assert self._trial is not None, "the daemon does not run"
        return self._trial
