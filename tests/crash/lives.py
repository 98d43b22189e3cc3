"""A table whose daemon dies and lives again, in virtual time; boards, cards and people live on.

A daemon dies as a killed process does: between two instructions, without a goodbye. From
then on nothing that it still does reaches the journal, the feed or a board. What people do is
a script, which every life begins anew: it looks at the table and goes on from there.
"""

import asyncio
import random
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count, pairwise
from pathlib import Path
from typing import Any, Self

from controller.journal.attempt_history import attempt_histories
from controller.journal.entries import ChainedEntry, StorageFailed, public_event
from controller.journal.store import JournalStore
from controller.journal.verify import verify
from controller.machine.state.table_match import TableMatch, fold_match
from controller.messages import ClientCommand, CommandReply, PublicEvent, PublicState, Role
from controller.rules.profile import Profile
from sim.hardware_in_process import BOARDS, HardwareInProcess
from sim.mechanics.fault_menu import parse_fault
from sim.mechanics.mechanics_settings import MechanicsSettings
from sim.tables.daemon_death import DaemonDeath, KillableStore, apply_power_loss, kill_daemon
from sim.tables.table_in_process import TableInProcess, run_table_in_process

SIGNERS = {role: random.Random(f"people {role}").randbytes(32) for role in Role}
"""People's keys: they stay the same people over all lives."""


@dataclass
class Life:
    """One run of the daemon: its store, and what it put on the feed."""

    store: KillableStore
    feed: list[PublicEvent] = field(default_factory=list)
    died: asyncio.Event = field(default_factory=asyncio.Event)
    wrote: int = 0


@dataclass
class Scene:
    """A table with its people. `deal` names the set's faults by the menu of sim."""

    sim: HardwareInProcess
    folder: Path
    runtime_dir: Path
    lives: list[Life] = field(default_factory=list)
    asked: dict[str, ClientCommand] = field(default_factory=dict)
    told: dict[str, CommandReply] = field(default_factory=dict)
    refused: Counter[str] = field(default_factory=Counter)
    store_type: type[KillableStore] = KillableStore
    _journals: int = 0
    _hands: asyncio.Future[None] | None = None

    @classmethod
    def new(cls, faults: Sequence[str], folder: Path, runtime_dir: Path, seed: int = 1) -> Self:
        """Set a table up whose machine has these faults."""
        boots = count(1)
        settings = MechanicsSettings(faults=tuple(map(parse_fault, faults)))
        sim = HardwareInProcess(settings, random.Random(seed), boots=lambda: next(boots))
        folder.mkdir()
        scene = cls(sim, folder, runtime_dir)
        scene.state_dir.mkdir()
        return scene

    @property
    def state_dir(self) -> Path:
        """Where the journal lies now."""
        return self.folder / f"state{self._journals}"

    async def live(
        self, script: "Script", death: DaemonDeath | None = None, **options: Any
    ) -> bool:
        """Start a daemon and let people act until they are done (True) or it dies (False)."""
        store = self.store_type.open(self.state_dir)
        life = Life(store)
        self.lives.append(life)
        store.death, store.on_death = death, lambda: self._die(life)

        def told(value: PublicState | PublicEvent) -> bool:
            if life.store.is_alive and isinstance(value, PublicEvent):
                life.feed.append(value)
            return life.store.is_alive  # the feed of a dead daemon is silent

        try:
            with suppress(StorageFailed):
                async with run_table_in_process(
                    MechanicsSettings(),
                    self.runtime_dir,
                    store=store,
                    state_dir=self.folder,
                    sim=self.sim,
                    seed=len(self.lives),
                    signers=SIGNERS,
                    on_publish=told,
                    **options,
                ) as at:
                    await self._act(at, life, script)
        finally:
            store.close()
        if death is not None and not store.is_alive:
            await self._aftermath(store, death)
        return store.is_alive

    async def _act(self, at: TableInProcess, life: Life, script: "Script") -> None:
        acting = asyncio.ensure_future(script(self, at))
        dying = asyncio.ensure_future(life.died.wait())
        try:
            await asyncio.wait({acting, dying}, return_when=asyncio.FIRST_COMPLETED)
            if life.store.is_alive:
                acting.result()
        finally:
            for task in (acting, dying):
                task.cancel()
            await asyncio.gather(acting, dying, return_exceptions=True)
            if self._hands is not None:
                await self._hands

    def _die(self, life: Life) -> None:
        if kill_daemon(self.sim, life.store):
            life.wrote = life.store.last()[0]
            life.died.set()

    async def _aftermath(self, store: KillableStore, death: DaemonDeath) -> None:
        if death.power_lost:
            before = self.state_dir
            self._journals += 1
            apply_power_loss(before, self.runtime_dir, store.last_synced, self.state_dir)
            self.lives[-1].wrote = store.last_synced
        for name in BOARDS if death.boards_reset else ():
            self.sim.kill(name)
            self.sim.start(name)
        await asyncio.sleep(death.restart_after_s)

    # What people do.

    async def with_hands(self, work: Awaitable[None]) -> None:
        """Do something that people bring to its end, whatever becomes of the daemon."""
        self._hands = asyncio.ensure_future(work)
        await asyncio.shield(self._hands)

    async def order(
        self, at: TableInProcess, what: str, role: Role, cmd: str, **args: Any
    ) -> CommandReply:
        """Give an order; the same words under the same id, over all lives, until it is answered.

        After a refusal it is another order; for another life than it was signed in, at once.
        """
        name = f"{what} ({self.refused[what]})"
        if name not in self.asked:
            unsigned = at.make_command(role, cmd, **args)
            command = ClientCommand(
                id=name, cmd=cmd, deal=unsigned.deal, attempt=unsigned.attempt, args=args
            )
            self.asked[name] = at.sign_command(command, SIGNERS[role])
        reply = await at.lasting.submit(self.asked[name])
        self.told[name] = reply
        self.refused[what] += not reply.ok
        if reply.error is not None and reply.error.code == "OTHER_RUN":
            return await self.order(at, what, role, cmd, **args)
        return reply

    async def repeat(self, at: TableInProcess) -> None:
        """Say again whatever was answered well before: it is answered the same."""
        for name, before in self.told.items():
            if before.ok:
                again = await at.lasting.submit(self.asked[name])
                assert (again.ok, again.result) == (before.ok, before.result)

    # What was written.

    def entries(self) -> list[ChainedEntry]:
        """Return the journal as it lies there."""
        store = JournalStore.open(self.state_dir)
        try:
            return list(store.entries())
        finally:
            store.close()

    def outcomes(self) -> list[tuple[int, str | None, list[str]]]:
        """Return number, outcome and reasons of every attempt."""
        found = []
        for number, progress in attempt_histories(item.entry for item in self.entries()).items():
            ends = [progress.data(kind) for kind in ("recalled", "withdrawn", "verdict")]
            end = next((one for one in ends if one is not None), {})
            outcome = end.get("outcome", "void") if end else None
            found.append((number, outcome, end.get("reasons", [])))
        return found

    def play(self, profile: Profile) -> TableMatch:
        """Return what was played, as the journal has it."""
        play = TableMatch()
        for item in self.entries():
            play = fold_match(play, item.entry, profile)
        return play

    def commitments(self) -> list[str]:
        """Return every attempt's commitment, in order."""
        entries = (item.entry for item in self.entries())
        return [entry.data["commitment"] for entry in entries if entry.kind == "committed"]

    def check(self) -> None:
        """Assert what must hold however often the daemon died."""
        assert verify(self.state_dir).findings == []
        entries = self.entries()
        self._check_feed(entries)
        acted = Counter(
            (item.entry.data["key"], item.entry.data["id"])
            for item in entries
            if item.entry.kind == "command" and "result" in item.entry.data
        )
        assert not [command for command, times in acted.items() if times > 1]

    def _check_feed(self, entries: list[ChainedEntry]) -> None:
        public = {
            item.entry.n: public_event(item, "T01", True) for item in entries if item.entry.public
        }
        told = [event for life in self.lives for event in life.feed]
        assert [event.n for event in told] == sorted({event.n for event in told})
        assert all(public[event.n] == event for event in told)
        # What a life wrote and did not come to tell stands at its end: `events` gives it.
        untold = set(public) - {event.n for event in told}
        for life in self.lives:
            last = max((event.n for event in life.feed), default=0)
            untold -= set(range(last + 1, life.wrote + 1))
        assert not untold
        assert all(later.prev == earlier.head for earlier, later in pairwise(entries))


Script = Callable[[Scene, TableInProcess], Awaitable[None]]
"""What people do; it ends when they are done."""
