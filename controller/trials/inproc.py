"""A whole table in this process and in virtual time: mechanics, firmware, machine, players.

The same parts as a real table, but for what DESIGN §8 names: byte pipes for ports, an
inline committer, entropy and wall stamps from a seed. A trial replays from its seed.
"""

import asyncio
import random
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from nacl.public import PrivateKey
from nacl.signing import SigningKey

from controller.config import Board, CardSet, Panel, TableConfig
from controller.config import Table as TableSection
from controller.journal.committer import InlineCommitter
from controller.journal.journal import Journal
from controller.journal.store import Store
from controller.machine.machine import Machine, Surroundings
from controller.messages import Command, Event, Phase, Reply, Role, State
from controller.roster import Certificate, Roster
from controller.rules.rulebooks import load_profile
from controller.signing import sign
from controller.vault.keyfile import KeyFile
from sim.inproc import DEALER_ID, READER_ID, InprocTable
from sim.mechanics.settings import Settings

TABLE_KEY = "T" * 40
PATIENCE_S = 300.0
"""How long a trial waits for anything, in virtual seconds: many deals."""


IMPATIENCE_S = 0.2
"""How long a referee waits before an order that was refused is given again."""


@dataclass
class Trial:
    """A table in process. `events` and `states` are what its feed carried so far."""

    sim: InprocTable
    machine: Machine
    signers: Mapping[Role, bytes]
    events: list[Event] = field(default_factory=list)
    states: list[State] = field(default_factory=list)
    _changed: asyncio.Event = field(default_factory=asyncio.Event)
    _orders: int = 0

    def publish(self, value: State | Event) -> None:
        """Take what is public, as the gateway would."""
        if isinstance(value, State):
            self.states.append(value)
        else:
            self.events.append(value)
        self._changed.set()

    async def until(self, what: Callable[[State], bool]) -> State:
        """Return the first published state, from the present one on, of which `what` holds.

        Raises TimeoutError after PATIENCE_S.
        """
        async with asyncio.timeout(PATIENCE_S):
            while not (self.states and what(self.states[-1])):
                self._changed.clear()
                await self._changed.wait()
        return self.states[-1]

    async def phase(self, phase: Phase) -> State:
        """Wait for a phase."""
        return await self.until(lambda state: state.machine.phase is phase)

    async def order(self, role: Role, cmd: str, **args: Any) -> Reply:
        """Give a signed order about the present attempt."""
        self._orders += 1
        state = self.machine.record.state
        deal, attempt = (None, None) if cmd == "start_deal" else (state.deal, state.attempt)
        command = Command(id=str(self._orders), cmd=cmd, deal=deal, attempt=attempt, args=args)
        return await self.machine.order(sign(command, TABLE_KEY, self.signers[role]))

    async def deal(self, cut: int = 40) -> State:
        """Play one attempt as people would, up to held hands or its refusal."""
        ready = await self.until(
            lambda state: state.machine.phase in (Phase.EMPTY, Phase.COMMITTED)
        )
        if ready.machine.phase is Phase.EMPTY:
            await self.order(Role.REFEREE, "start_deal")
        committed = await self.phase(Phase.COMMITTED)
        number = committed.machine.attempt
        await self.order(Role.TABLE, "cut", n=cut)
        return await self.until(
            lambda state: state.machine.attempt == number and state.fairness[-1].outcome is not None
        )

    async def take_and_return(self) -> State:
        """Have the hands released, taken, and the set put back; return the state after it."""
        answer = await self.order(Role.REFEREE, "release")
        while not answer.ok:
            await asyncio.sleep(IMPATIENCE_S)
            answer = await self.order(Role.REFEREE, "release")
        await self.phase(Phase.RELEASED)
        self.sim.world.people.take_hands()
        await self.until(lambda state: not self.sim.world.truth().lift_up)
        self.sim.world.people.load()
        return await self.until(lambda state: state.fairness[-1].reveal is not None)


@asynccontextmanager
async def trial(
    settings: Settings,
    runtime_dir: Path,
    *,
    seed: int = 0,
    store: Store | None = None,
    delay_ms: float = 0,
    state_dir: Path = Path("nowhere"),
    ids: tuple[str, str] = (DEALER_ID, READER_ID),
    sim: InprocTable | None = None,
) -> AsyncIterator[Trial]:
    """Make a table, run it, and leave no task and no timer of it behind.

    `runtime_dir` lies in memory; `store` is a journal in memory where none is given;
    `ids` are the unique ids that the dealer and the reader board really have; `sim` is a
    table that was there before and stays, with its boards and cards as they are.
    The mechanics' randomness and the machine's come from `seed`, apart.
    """
    loop = asyncio.get_running_loop()
    chance = random.Random(f"machine {seed}")
    mechanics = random.Random(f"mechanics {seed}")
    boots = random.Random(f"boots {seed}")
    table = sim or InprocTable(
        settings, mechanics, boots=partial(boots.getrandbits, 32), ids=ids, delay_ms=delay_ms
    )
    store = store or Store.in_memory()
    signers = {role: chance.randbytes(32) for role in Role}
    profile = load_profile("international-000")
    boot = chance.randbytes(4).hex()
    given = Surroundings(
        journal=Journal(
            store, InlineCommitter(store), wall=lambda: f"{loop.time():.3f}", boot=boot
        ),
        ports={"dealer": table.port("dealer"), "reader": table.port("reader")},
        roster=_roster(signers),
        table_key=TABLE_KEY,
        chief=bytes(PrivateKey(chance.randbytes(32)).public_key),
        key_file=KeyFile(runtime_dir, state_dir),
        entropy=chance.randbytes,
        wall=lambda: f"{loop.time():.3f}",
        boot=boot,
        publish=lambda value: at.publish(value),
    )
    at = Trial(table, Machine(_config(runtime_dir, state_dir), profile, given), signers)
    running = asyncio.ensure_future(at.machine.run())
    try:
        yield at
    finally:
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running
        if sim is None:
            table.close()
        await given.journal.close()


def _config(runtime_dir: Path, state_dir: Path) -> TableConfig:
    return TableConfig(
        table=TableSection(
            id="T01",
            profile="international-000",
            backend="sim",
            state_dir=state_dir,
            runtime_dir=runtime_dir,
        ),
        dealer=Board(port="dealer pipe", id=DEALER_ID),
        reader=Board(port="reader pipe", id=READER_ID),
        panel=Panel(pins="mock"),
        card_set=CardSet(id="S1", back="A"),
    )


def _roster(signers: Mapping[Role, bytes]) -> Roster:
    return Roster(
        tuple(
            Certificate(
                name=role.value,
                role=role,
                curve="C" * 40,
                verify=bytes(SigningKey(seed).verify_key),
                seal=None,
            )
            for role, seed in signers.items()
        )
    )
