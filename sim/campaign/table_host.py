"""The computer of one simulated table (`TableHost`), with faults of power, disk, clock and daemon.

Boards, cards and people outlive each daemon. The daemons follow each other on the same journal.
"""

import asyncio
import random
import shutil
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nacl.public import PrivateKey

from controller.config import CardSetSection
from controller.journal.entries import JournalError, public_event
from controller.journal.store import JournalStore
from controller.messages import CommandReply, PublicEvent, PublicState, Role
from controller.rules.profile import Profile
from drivers.link.serial_port import LinkPort
from sim.board_faults import BoardName
from sim.campaign.campaign_lives import LifePlan
from sim.campaign.ground_truth import ObservedHardware
from sim.campaign.life_judge import JudgedCardSet
from sim.mechanics.fault_menu import SimulatedFault
from sim.mechanics.mechanics_settings import BACKS, MechanicsSettings, PhysicalSet
from sim.tables.daemon_death import DaemonDeath, KillableStore, apply_power_loss, kill_daemon
from sim.tables.table_in_process import TableInProcess, run_table_in_process

SETS = (CardSetSection(id="S1", back="A"), CardSetSection(id="S2", back="B"))
SIGNERS = {role: random.Random(f"people {role}").randbytes(32) for role in Role}
"""People's keys, which stay the same for all daemons."""
_MAX_ROWS_TO_DEATH = 3
"""A kill occurs between the rows of the next commit, at most this many rows after its first row."""
_KILL_TIMEOUT_S = 2.0
"""A daemon that writes nothing is killed after this time."""


@dataclass
class DaemonFeed:
    """The numbers of the public events that one run of the daemon published.

    `last_written` is the number of the last entry in its journal.
    """

    numbers: list[int] = field(default_factory=list)
    last_written: int = 0


def chief_key(seed: str) -> PrivateKey:
    """Return the chief's key of the simulated table (life) with the seed `seed`.

    Attempts are encrypted with this key.
    """
    return PrivateKey(random.Random(f"chief {seed}").randbytes(32))


class TableHost:
    """The simulated computer and hardware of one table, on which one daemon runs after another.

    `table` is the daemon's table while it runs, otherwise None. `on_published` receives the values
    that a running daemon publishes. `log` receives a line of text for each event of this
    computer.
    """

    def __init__(
        self,
        plan: LifePlan,
        profile: Profile,
        state_dir: Path,
        runtime_dir: Path,
        *,
        on_published: Callable[[PublicState | PublicEvent], None],
        log: Callable[[str], None],
        wrap_port: Callable[[BoardName, LinkPort], LinkPort],
    ) -> None:
        self.table: TableInProcess | None = None
        self.feeds: list[DaemonFeed] = []
        self.state_dir = state_dir
        self.crashes: list[str] = []
        self.chief = chief_key(plan.seed)
        self.needs_person: set[str] = set()
        deck = profile.deck
        self.judged_sets = {
            one.id: JudgedCardSet(deck.packs, deck.cards // deck.packs, BACKS[one.back])
            for one in SETS
        }
        self._seed, self.profile = plan.seed, profile
        self._runtime_dir = runtime_dir
        self._on_published, self._log, self._wrap_port = on_published, log, wrap_port
        self._loop = asyncio.get_running_loop()
        self._rng = random.Random(f"house {plan.seed}")
        boots = random.Random(f"boots {plan.seed}")
        settings = MechanicsSettings(
            packs=deck.packs,
            jokers=deck.jokers,
            sets=tuple(PhysicalSet(one.id, BACKS[one.back]) for one in SETS),
            faults=plan.wear.rates,
            together=plan.wear.together,
        )
        self.sim = ObservedHardware(
            settings, random.Random(f"mechanics {plan.seed}"), boots=lambda: boots.getrandbits(32)
        )
        handlers = {
            "daemon_killed": self._kill_daemon,
            "power_lost": self._lose_power,
            "disk_full": self._fill_disk,
            "clock_jump": self._jump_clock,
        }
        self.sim.world.outside_handlers["host"] = lambda fault: handlers[fault.name](fault)
        self._store: KillableStore | None = None
        self._daemon_died = asyncio.Event()
        self._death_fault: SimulatedFault | None = None
        self._start_requested = asyncio.Event()
        self._disk_fault: SimulatedFault | None = None
        self._clock_offset_s = 0.0
        self._timers: list[asyncio.TimerHandle] = []
        self._pending_commands: set[asyncio.Future[Any]] = set()

    async def run(self, people: "asyncio.Future[None]") -> None:
        """Run one daemon after another until `people` is done or the code of a daemon crashes."""
        while not (people.done() or self.crashes):
            await self._run_daemon(people)
            if self._death_fault is not None and not people.done():
                await self._recover(self._death_fault)

    def close(self) -> None:
        """Cancel all timers and close the simulated hardware."""
        for timer in self._timers:
            timer.cancel()
        self.sim.close()

    # Actions of people.

    def command(self, role: Role, cmd: str, **args: Any) -> "asyncio.Future[CommandReply] | None":
        """Send a signed command. Return the future of its answer, or None if no daemon runs.

        The future is cancelled when the daemon ends.
        """
        if self.table is None:
            return None
        command = self.table.make_command(role, cmd, **args)
        asked = asyncio.ensure_future(self.table.lasting.submit(command))
        self._pending_commands.add(asked)
        asked.add_done_callback(self._on_answer)
        return asked

    def start_daemon(self) -> None:
        """Start the daemon after a fault that ended it and requires a person for the restart."""
        self._start_requested.set()

    def free_disk(self) -> None:
        """End the fault of a full disk, if it is active, as if a person had deleted files."""
        if self._disk_fault is not None:
            self.sim.world.end_fault(self._disk_fault)
            self._disk_fault = None
        self.needs_person.discard("disk")

    def mend(self) -> None:
        """End all present faults of boards, cables and disk."""
        self.sim.mend()
        self.free_disk()

    def _on_answer(self, asked: "asyncio.Future[CommandReply]") -> None:
        self._pending_commands.discard(asked)
        if asked.cancelled():
            return
        if (raised := asked.exception()) is not None:
            self._record_crash(raised)
            return
        error = asked.result().error
        if error is not None and error.code == "NOT_CARRIED_OUT":
            self._record_crash(RuntimeError(error.message))

    # The daemon.

    async def _run_daemon(self, people: "asyncio.Future[None]") -> None:
        number = len(self.feeds)
        self._daemon_died = asyncio.Event()
        store = self._open()
        dying = asyncio.ensure_future(self._daemon_died.wait())
        try:
            async with run_table_in_process(
                MechanicsSettings(),
                self._runtime_dir,
                seed=random.Random(f"daemon {number} {self._seed}").getrandbits(60),
                store=store,
                state_dir=self.state_dir,
                sim=self.sim,
                profile=self.profile,
                card_sets=SETS,
                signers=SIGNERS,
                chief=bytes(self.chief.public_key),
                reopen=self._reopen,
                on_publish=self._publish,
                clock_offset_s=lambda: self._clock_offset_s,
                wrap_port=self._wrap_port,
                command_prefix=f"{number}.",
            ) as at:
                self.table = at
                assert at.run_task is not None
                ends: set[asyncio.Future[Any]] = {people, dying, at.run_task}
                await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        except Exception as error:
            self._record_crash(error)
        finally:
            self.table = None
            pending = [*self._pending_commands, dying]
            for one in pending:
                one.cancel()
            await asyncio.gather(*pending, return_exceptions=True)
            assert self._store is not None
            if self._store.is_alive and not self._store.is_closed:
                self.feeds[-1].last_written = self._store.last()[0]
            self._store.close()

    def _open(self) -> KillableStore:
        store = KillableStore.open(self.state_dir)
        store.last_synced = store.last()[0]
        store.on_death = lambda: self._on_daemon_death(store)
        store.is_disk_full = lambda: self._disk_fault is not None
        self._store = store
        # The public entries that the previous daemon wrote and did not publish come first.
        last = max((n for feed in self.feeds for n in feed.numbers), default=0)
        for chained in store.entries(last):
            if chained.entry.public and self.feeds:
                self._on_published(public_event(chained, "T01", simulated=True))
        self.feeds.append(DaemonFeed())
        return store

    def _reopen(self) -> JournalStore:
        """Return the reopened journal. Raises JournalError if the disk is full or a daemon died."""
        before = self._store
        if self._disk_fault is not None or before is None or not before.is_alive:
            raise JournalError("there is no room yet")
        store = self._open()
        self.feeds[-2].last_written = store.last()[0]
        return store

    def _publish(self, value: PublicState | PublicEvent) -> bool:
        if self._store is None or not self._store.is_alive:
            return False
        if isinstance(value, PublicEvent):
            self.feeds[-1].numbers.append(value.n)
        self._on_published(value)
        return True

    def _record_crash(self, error: BaseException) -> None:
        if self._store is not None and not self._store.is_alive:
            return  # errors of a dying daemon are ignored
        where = ""
        for frame in traceback.extract_tb(error.__traceback__)[-1:]:
            path = Path(frame.filename)
            where = f" in {path.parent.name}/{path.name}:{frame.lineno}"
        self.crashes.append(f"{type(error).__name__}{where}: {error}")

    def handle_loop_error(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Record an error that reached the loop's exception handler."""
        self._record_crash(context.get("exception") or RuntimeError(context.get("message")))

    # Faults of the environment.

    def _begin_death(self, fault: SimulatedFault) -> KillableStore | None:
        """Record that `fault` kills the daemon, and return the daemon's store.

        If no daemon runs, or it dies already, end `fault` and return None.
        """
        store = self._store
        is_ending = self._death_fault is not None or self.table is None
        if is_ending or store is None or not store.is_alive:
            self.sim.world.end_fault(fault)  # a dead daemon cannot die again
            return None
        self._death_fault = fault
        return store

    def _kill_daemon(self, fault: SimulatedFault) -> None:
        store = self._begin_death(fault)
        if store is None:
            return
        if self._disk_fault is None and self._rng.random() < 0.5:
            store.death = DaemonDeath(store.last()[0] + 1 + self._rng.randrange(_MAX_ROWS_TO_DEATH))
            self._call_later(_KILL_TIMEOUT_S, lambda: self._on_daemon_death(store))
        else:
            self._on_daemon_death(store)

    def _lose_power(self, fault: SimulatedFault) -> None:
        store = self._begin_death(fault)
        if store is not None:
            self.sim.set_power(on=False)
            self._on_daemon_death(store)

    def _on_daemon_death(self, store: KillableStore) -> None:
        wrote = 0 if store.is_closed else store.last()[0]
        if kill_daemon(self.sim, store):
            self.feeds[-1].last_written = wrote
            self._log("the daemon dies")
            self._daemon_died.set()

    def _fill_disk(self, fault: SimulatedFault) -> None:
        if self._disk_fault is not None:
            self.sim.world.end_fault(fault)
            return
        self._disk_fault = fault
        if fault.for_ms is None:
            self.needs_person.add("disk")
        else:
            self._call_later(fault.for_ms / 1000, self.free_disk)

    def _jump_clock(self, fault: SimulatedFault) -> None:
        self._clock_offset_s += fault.by_s
        self.sim.world.end_fault(fault)

    def _call_later(self, after_s: float, do: Callable[[], None]) -> None:
        now_s = self._loop.time()
        self._timers = [timer for timer in self._timers if timer.when() > now_s]
        self._timers.append(self._loop.call_later(after_s, do))

    async def _recover(self, fault: SimulatedFault) -> None:
        """Wait until the daemon may restart after its death by `fault`.

        After a power cut, first remove the destroyed data, and at the end restore the power.
        """
        self._daemon_died.clear()
        if fault.name == "power_lost":
            assert self._store is not None
            synced, rest = self._store.last_synced, self.state_dir.with_name("rest")
            apply_power_loss(self.state_dir, self._runtime_dir, synced, rest)
            self.feeds[-1].last_written = min(self.feeds[-1].last_written, synced)
            shutil.rmtree(self.state_dir)
            rest.rename(self.state_dir)
        if fault.for_ms is None:
            self._start_requested.clear()
            self.needs_person.add("daemon")
            await self._start_requested.wait()
            self.needs_person.discard("daemon")
        else:
            await asyncio.sleep(fault.for_ms / 1000)
        if fault.name == "power_lost":
            self.sim.set_power(on=True)
        self._death_fault = None
        self.sim.world.end_fault(fault)
        self._log("the daemon starts")
