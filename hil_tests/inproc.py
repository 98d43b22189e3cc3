"""A table in this process, in virtual time: its program, and the people's ways to it."""

import asyncio
import random
from contextlib import AbstractAsyncContextManager, suppress
from pathlib import Path
from typing import Any

from controller.config import CardSet
from controller.journal.store import Store
from controller.messages import Event, Reply, Role, State
from controller.trials.inproc import Trial, trial
from hil_tests.hands import Skipped
from hil_tests.program import LINE_COUNTERS, Asked, Numbers
from sim.inproc import InprocTable
from sim.mechanics.settings import BACKS, Settings
from sim.mechanics.settings import CardSet as PhysicalSet

SETS = (CardSet(id="S1", back="A"), CardSet(id="S2", back="B"))


def boards(rng: random.Random) -> InprocTable:
    """Return simulated boards and mechanics with two sets; the caller closes them."""
    packed = tuple(PhysicalSet(one.id, BACKS[one.back]) for one in SETS)
    return InprocTable(
        Settings(sets=packed),
        random.Random(rng.random()),
        boots=lambda: rng.getrandbits(32),
    )


class InProcess:
    """A machine in this process (Program), over `sim`. Each life has keys of its own."""

    def __init__(self, sim: InprocTable, state_dir: Path, runtime_dir: Path) -> None:
        """A journal that lies in `state_dir` goes on."""
        self.state_dir = state_dir
        state_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._sim, self._runtime_dir = sim, runtime_dir
        self.states: list[State] = []
        self.events: list[Event] = []
        self._lives = 0
        self._running: AbstractAsyncContextManager[Trial] | None = None
        self._trial: Trial | None = None

    async def start(self) -> None:
        """See Program."""
        self._lives += 1
        self._running = trial(
            Settings(),
            self._runtime_dir,
            seed=self._lives,
            store=Store.open(self.state_dir),
            state_dir=self.state_dir,
            sim=self._sim,
            card_sets=SETS,
        )
        self._trial = await self._running.__aenter__()
        self._trial.states, self._trial.events = self._joined(self._trial)
        await self._trial.panel()

    async def stop(self) -> None:
        """See Program."""
        if self._running is None or self._trial is None:
            return
        running, ended = self._running, self._trial
        self._running = None
        await ended.lasting.leave(2.0)
        await running.__aexit__(None, None, None)
        self._trial = None

    async def kill(self) -> None:
        """See Program."""
        raise Skipped("a daemon in this process cannot be killed")

    async def later(self, limit_s: float) -> None:
        """See Program."""
        known = len(self._here.states)
        with suppress(TimeoutError):
            async with asyncio.timeout(limit_s):
                await self._here.until(lambda state: len(self._here.states) > known)

    async def ask(self, role: Role, cmd: str, about: Asked, args: dict[str, Any]) -> Reply:
        """See Program."""
        return await self._here.order(role, cmd, about=about, **args)

    async def numbers(self) -> Numbers:
        """See Program."""
        found: dict[str, float] = {}
        for sample in self._here.machine.meter.read().samples:
            name = sample.name.removeprefix("line_")
            if name in LINE_COUNTERS:
                found[f"{name} {sample.labels[0]}"] = float(sample.value)
            else:
                found[sample.name] = found.get(sample.name, 0.0) + float(sample.value)
        return found

    async def press(self, button: str, down: bool) -> None:
        """Move a button of the panel."""
        contacts = await self._here.panel()
        (contacts.press if down else contacts.release)(button)

    def _joined(self, begun: Trial) -> tuple[list[State], list[Event]]:
        """Return the lists of all lives, with what this one has told already."""
        self.states += begun.states
        self.events += begun.events
        return self.states, self.events

    @property
    def _here(self) -> Trial:
        assert self._trial is not None, "the daemon does not run"
        return self._trial
