"""A table in this process, in virtual time: its program, and the people's ways to it."""

import random
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from shutil import rmtree
from typing import Any

from controller.config import CardSet
from controller.journal.errors import JournalError
from controller.journal.store import JournalStore
from controller.messages import Event, Reply, Role, State
from controller.trials.inproc import TableInProcess, trial
from controller.trials.mortal import KillableStore, cut_off, lose_power
from hil_tests.program import LINE_COUNTERS, Asked, Numbers
from sim.inproc import HardwareInProcess
from sim.mechanics.settings import BACKS, Settings
from sim.mechanics.settings import CardSet as PhysicalSet

SETS = (CardSet(id="S1", back="A"), CardSet(id="S2", back="B"))


def boards(rng: random.Random) -> HardwareInProcess:
    """Return simulated boards and mechanics with two sets; the caller closes them."""
    packed = tuple(PhysicalSet(one.id, BACKS[one.back]) for one in SETS)
    return HardwareInProcess(
        Settings(sets=packed),
        random.Random(rng.random()),
        boots=lambda: rng.getrandbits(32),
    )


class InProcess:
    """A machine in this process (Program), over `sim`. Each life has keys of its own."""

    def __init__(self, sim: HardwareInProcess, state_dir: Path, runtime_dir: Path) -> None:
        """A journal that lies in `state_dir` goes on."""
        self.state_dir = state_dir
        state_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._sim, self._runtime_dir = sim, runtime_dir
        self.states: list[State] = []
        self.events: list[Event] = []
        self._starts = 0
        self._running: AbstractAsyncContextManager[TableInProcess] | None = None
        self._trial: TableInProcess | None = None
        self._store: KillableStore | None = None
        self._is_disk_full = False
        self._jumped_s = 0.0

    async def start(self) -> None:
        """See Program."""
        self._starts += 1
        store = self._open()
        self._running = trial(
            Settings(),
            self._runtime_dir,
            seed=self._starts,
            store=store,
            state_dir=self.state_dir,
            sim=self._sim,
            card_sets=SETS,
            reopen=self._reopen_store,
            jumped_s=lambda: self._jumped_s,
            told=lambda value: store.alive,  # the feed of a dead daemon is silent
        )
        self._trial = await self._running.__aenter__()
        self._trial.states, self._trial.events = self._join_feed(self._trial)
        await self._trial.panel()

    async def stop(self) -> None:
        """See Program."""
        if self._trial is not None:
            await self._trial.lasting.leave(2.0)
            await self._end()

    async def kill(self, *, power: bool = False) -> None:
        """See Program: with the power go the rows that were not synced."""
        assert self._store is not None
        store = self._store
        cut_off(self._sim, store)
        await self._end()
        store.close()
        if power:
            rest = self.state_dir.with_name("rest")
            lose_power(self.state_dir, self._runtime_dir, store.synced, rest)
            rmtree(self.state_dir)
            rest.rename(self.state_dir)

    async def disk(self, *, full: bool) -> None:
        """See Program."""
        self._is_disk_full = full

    async def jump(self, by_s: float) -> None:
        """See Program."""
        self._jumped_s += by_s

    async def _end(self) -> None:
        assert self._running is not None
        running, self._running, self._trial = self._running, None, None
        await running.__aexit__(None, None, None)

    def _open(self) -> KillableStore:
        store = self._store = KillableStore.open(self.state_dir)
        store.synced = store.last()[0]
        store.full = lambda: self._is_disk_full
        return store

    def _reopen_store(self) -> JournalStore:
        if self._is_disk_full:
            raise JournalError("there is no room yet")
        return self._open()

    async def later(self) -> None:
        """See Program."""
        known = len(self._running_trial.states)
        await self._running_trial.until(lambda state: len(self._running_trial.states) > known)

    async def ask(self, role: Role, cmd: str, about: Asked, args: dict[str, Any]) -> Reply:
        """See Program."""
        return await self._running_trial.order(role, cmd, about=about, **args)

    async def numbers(self) -> Numbers:
        """See Program."""
        found: dict[str, float] = {}
        for sample in self._running_trial.machine.meter.read().samples:
            name = sample.name.removeprefix("line_")
            if name in LINE_COUNTERS:
                found[f"{name} {sample.labels[0]}"] = float(sample.value)
            else:
                found[sample.name] = found.get(sample.name, 0.0) + float(sample.value)
        return found

    async def press(self, button: str, down: bool) -> None:
        """Move a button of the panel."""
        contacts = await self._running_trial.panel()
        (contacts.press if down else contacts.release)(button)

    def _join_feed(self, begun: TableInProcess) -> tuple[list[State], list[Event]]:
        """Return the lists of all lives, with what this one has told already."""
        self.states += begun.states
        self.events += begun.events
        return self.states, self.events

    @property
    def _running_trial(self) -> TableInProcess:
        assert self._trial is not None, "the daemon does not run"
        return self._trial
