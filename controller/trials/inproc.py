"""A whole table in this process and in virtual time: mechanics, firmware, machine, players.

The same parts as a real table, but for what differs: byte pipes for ports, an
inline committer, entropy and wall stamps from a seed. A trial replays from its seed.
"""

import asyncio
import random
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
from nacl.public import PrivateKey
from nacl.signing import SigningKey

from controller.commands import COMMANDS
from controller.config import Board, CardSet, Limits, Panel, Play, Reader, TableConfig
from controller.config import Table as TableSection
from controller.journal.committer import InlineCommitter
from controller.journal.errors import JournalError
from controller.journal.journal import Journal
from controller.journal.store import JournalStore
from controller.machine.lasting import MachineSupervisor
from controller.machine.machine import Machine, MachineDeps
from controller.messages import Command, Event, Phase, Release, Reply, Role, State
from controller.roster import Certificate, Roster
from controller.rules.profile import Profile
from controller.rules.rulebooks import load_profile
from controller.signing import sign
from controller.trials.at_table import PATIENCE_S, AtTable
from controller.vault.keyfile import AttemptKeyFiles
from drivers.link.port import Port
from sim.inproc import BOARDS, DEALER_ID, READER_ID, BoardName, HardwareInProcess, own_firmware_hash
from sim.mechanics.settings import BACKS, Settings
from sim.mechanics.settings import CardSet as PhysicalSet

TABLE_KEY = "T" * 40
TABLE_SIGN = b"T" * 32
"""The table's secret: what its machine signs heads with."""
_START_TIME = datetime(2027, 1, 1, tzinfo=UTC)
"""What a wall clock shows when virtual time begins."""

RETRY_INTERVAL_S = 0.2
"""How long a referee waits before an order that was refused is given again."""


@dataclass
class TableInProcess(AtTable):
    """A table in process, and its people. `events` and `states` are what its feed carried.

    `name` goes before the numbers of its people's orders, so that they are others than those
    of an earlier daemon; `running` is the machine's own task: done before the block ends only
    where it raised.
    """

    signers: Mapping[Role, bytes]
    events: list[Event] = field(default_factory=list)
    states: list[State] = field(default_factory=list)
    name: str = ""
    running: asyncio.Future[None] | None = None
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

    def command(
        self,
        role: Role,
        cmd: str,
        /,
        *,
        about: tuple[int | None, int | None] | None = None,
        **args: Any,
    ) -> Command:
        """Return a signed command; `about` is the deal and attempt that it names.

        Where that is not said: those that such a command is bound to, as the last state has
        them.
        """
        self._orders += 1
        deal, attempt = self._present(cmd) if about is None else about
        command = Command(
            id=f"{self.name}{self._orders}", cmd=cmd, deal=deal, attempt=attempt, args=args
        )
        return self.signed(command, self.signers[role])

    def signed(self, command: Command, seed: bytes) -> Command:
        """Return a command as the holder of a key signs it, for the present run of the table."""
        present = msgspec.structs.replace(command, boot=self.machine.desk.boot)
        return sign(present, TABLE_KEY, seed)

    async def order(
        self,
        role: Role,
        cmd: str,
        /,
        *,
        about: tuple[int | None, int | None] | None = None,
        **args: Any,
    ) -> Reply:
        """Give a signed order, as `command` makes it."""
        return await self.lasting.order(self.command(role, cmd, about=about, **args))

    def _present(self, cmd: str) -> tuple[int | None, int | None]:
        bound = COMMANDS[cmd].bound if cmd in COMMANDS else "none"
        if bound == "match":
            match = self.states[-1].match
            return match.deal, match.attempt
        state = self.machine.record.state
        return (state.deal, state.attempt) if bound == "machine" else (None, None)

    async def deal(self, cut: int = 40) -> State:
        """Play one attempt as people would, up to held hands or its refusal."""
        ready = await self.until(
            lambda state: state.machine.phase in (Phase.EMPTY, Phase.COMMITTED)
        )
        if any(alert.name == "SET_BARRED" for alert in ready.alerts):
            cards = len(self.sim.world.truth().hopper)  # somebody has counted them
            await self.order(Role.REFEREE, "clear_set", set=ready.machine.card_set, cards=cards)
            ready = await self.until(lambda state: state.machine.phase is not Phase.FAULT)
        if ready.machine.phase is Phase.EMPTY:
            await self.order(Role.REFEREE, "start_deal")
        committed = await self.phase(Phase.COMMITTED)
        number = committed.machine.attempt
        await self.order(Role.TABLE, "cut", n=cut)
        return await self.until(
            lambda state: state.machine.attempt == number and state.fairness[-1].outcome is not None
        )

    async def return_hands(self) -> State:
        """Have the hands released, taken, and the set put back; return the state after it."""
        answer = await self.order(Role.REFEREE, "release")
        while not answer.ok:
            await asyncio.sleep(RETRY_INTERVAL_S)
            answer = await self.order(Role.REFEREE, "release")
        await self.phase(Phase.RELEASED)
        await self.take_hands()
        await self.seen(lambda truth: truth.lift_down)
        await self.load()
        return await self.until(lambda state: state.fairness[-1].reveal is not None)


@asynccontextmanager
async def trial(
    settings: Settings,
    runtime_dir: Path,
    *,
    seed: int = 0,
    store: JournalStore | None = None,
    delay_ms: float = 0,
    state_dir: Path = Path("nowhere"),
    ids: tuple[str, str] = (DEALER_ID, READER_ID),
    sim: HardwareInProcess | None = None,
    profile: Profile | None = None,
    card_sets: tuple[CardSet, ...] = (CardSet(id="S1", back="A"),),
    deal_ahead: bool = False,
    limits: Limits | None = None,
    signers: Mapping[Role, bytes] | None = None,
    chief: bytes | Callable[[], bytes | None] | None = None,
    reopen: Callable[[], JournalStore] | None = None,
    table_id: str = "T01",
    name: str = "",
    told: Callable[[State | Event], bool] = lambda value: True,
    jumped_s: Callable[[], float] = lambda: 0.0,
    line: Callable[[BoardName, Port], Port] = lambda board, port: port,
    release: Release | None = None,
    reader: Reader | None = None,
) -> AsyncIterator[TableInProcess]:
    """Make a table, run it, and leave no task and no timer of it behind.

    `runtime_dir` lies in memory; `store` is a journal in memory where none is given;
    `ids` are the unique ids that the dealer and the reader board really have; `sim` is a
    table that was there before and stays, with its boards and cards as they are.
    The mechanics' randomness and the machine's come from `seed`, apart. A `profile` is a
    rulebook with or without an event's regulations, international-000 where none is given;
    the sets of `card_sets` lie at the table, packed as it says. `signers` are people's
    secret keys, fresh ones where none are given; `chief` is what attempts are sealed to, or gives
    it. `reopen` opens the journal again after
    its disk refused a write; `name` goes before the numbers of orders. `told` sees what is
    published before the trial does, and keeps it from the feed with False, as a daemon's death
    does. `jumped_s`: how far the wall's clock is off by now; `line` gives the host's end of a
    line that the machine uses; `release` is what its program says it is; `reader` is what its
    configuration says of the reader board.
    """
    loop = asyncio.get_running_loop()
    chance = random.Random(f"machine {seed}")
    mechanics = random.Random(f"mechanics {seed}")
    boots = random.Random(f"boots {seed}")
    profile = profile or load_profile("international-000")
    table = sim or HardwareInProcess(
        _pack_sets(settings, profile, card_sets),
        mechanics,
        boots=partial(boots.getrandbits, 32),
        ids=ids,
        delay_ms=delay_ms,
    )
    first = store or JournalStore.in_memory()
    signers = signers or {role: chance.randbytes(32) for role in Role}
    config = TableConfig(
        table=TableSection(
            id=table_id,
            profile=profile.name,
            backend="sim",
            state_dir=state_dir,
            runtime_dir=runtime_dir,
        ),
        dealer=Board(port="dealer pipe", id=DEALER_ID),
        reader=reader or Reader(port="reader pipe", id=READER_ID),
        panel=Panel(pins="mock"),
        card_sets=card_sets,
        play=Play(deal_ahead=deal_ahead),
        limits=limits or Limits(),
    )

    def wall() -> str:
        now = _START_TIME + timedelta(seconds=loop.time() + jumped_s())
        return now.isoformat(timespec="milliseconds")

    opened = iter([first])

    def open_again() -> JournalStore:
        if reopen is None:
            raise JournalError("this journal cannot be opened again")
        return reopen()

    seal = bytes(PrivateKey(chance.randbytes(32)).public_key)
    sealed_to = chief if callable(chief) else lambda: chief or seal
    key_file = AttemptKeyFiles(runtime_dir, state_dir)

    def publish(value: State | Event) -> None:
        if told(value):
            at.publish(value)

    async def build() -> Machine:
        store = next(opened, None) or open_again()
        boot = chance.randbytes(4).hex()
        given = MachineDeps(
            journal=Journal(store, InlineCommitter(store), wall=wall, boot=boot),
            ports={board: line(board, table.port(board)) for board in BOARDS},
            roster=_roster(signers),
            table_key=TABLE_KEY,
            sign=TABLE_SIGN,
            release=release,
            firmware=own_firmware_hash().hex(),
            chief=sealed_to,
            key_file=key_file,
            entropy=chance.randbytes,
            wall=wall,
            boot=boot,
            publish=publish,
        )
        return Machine(config, profile, given)

    lasting = MachineSupervisor(build, publish)
    await lasting.start()
    at = TableInProcess(table, lasting, signers, name=name)
    running = at.running = asyncio.ensure_future(lasting.run())
    try:
        yield at
    finally:
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running
        at.close()
        if sim is None:
            table.close()
        await lasting.close()


def _pack_sets(settings: Settings, profile: Profile, card_sets: tuple[CardSet, ...]) -> Settings:
    """Return the settings with the sets of a table, packed as its rulebook says."""
    return replace(
        settings,
        packs=profile.deck.packs,
        jokers=profile.deck.jokers,
        sets=tuple(PhysicalSet(one.id, BACKS[one.back]) for one in card_sets),
    )


def _roster(signers: Mapping[Role, bytes]) -> Roster:
    return Roster(
        tuple(
            Certificate(
                name=role.value,
                role=role,
                curve="C" * 40,
                verify=bytes(SigningKey(seed).verify_key),
                seal=bytes(PrivateKey(seed).public_key),
            )
            for role, seed in signers.items()
        )
    )
