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

from controller.commands.registry import COMMANDS
from controller.config import (
    BoardSection,
    CardSetSection,
    LimitsSection,
    PanelSection,
    PlaySection,
    ReaderSection,
    TableConfig,
)
from controller.config import TableSection as TableSection
from controller.journal.committer import InlineCommitter
from controller.journal.entries import JournalError
from controller.journal.journal import Journal
from controller.journal.store import JournalStore
from controller.machine.machine import MachineDeps, TableMachine
from controller.machine.machine_supervisor import MachineSupervisor
from controller.messages import (
    ClientCommand,
    CommandReply,
    MachinePhase,
    ProgramRelease,
    PublicEvent,
    PublicState,
    Role,
)
from controller.roster import Certificate, Roster
from controller.rules.profile import Profile
from controller.rules.profile_files import load_profile
from controller.signing.signed_commands import sign_command
from controller.vault.sealing import AttemptKeyFiles
from drivers.link.serial_port import LinkPort
from sim.board_faults import BoardName
from sim.hardware_in_process import (
    BOARDS,
    DEALER_ID,
    READER_ID,
    HardwareInProcess,
    own_firmware_hash,
)
from sim.mechanics.mechanics_settings import BACKS, MechanicsSettings, PhysicalSet
from sim.tables.handled_table import WAIT_TIMEOUT_S, HandledTable

TABLE_KEY = "T" * 40
TABLE_SIGN = b"T" * 32
"""The table's secret: what its machine signs heads with."""
_START_TIME = datetime(2027, 1, 1, tzinfo=UTC)
"""What a wall clock shows when virtual time begins."""

RETRY_INTERVAL_S = 0.2
"""How long a referee waits before an order that was refused is given again."""


@dataclass
class TableInProcess(HandledTable):
    """A table in process, and its people. `events` and `states` are what its feed carried.

    `name` goes before the numbers of its people's orders, so that they are others than those
    of an earlier daemon; `running` is the machine's own task: done before the block ends only
    where it raised.
    """

    signers: Mapping[Role, bytes]
    events: list[PublicEvent] = field(default_factory=list)
    states: list[PublicState] = field(default_factory=list)
    command_prefix: str = ""
    run_task: asyncio.Future[None] | None = None
    _changed: asyncio.Event = field(default_factory=asyncio.Event)
    _commands_made: int = 0

    def publish(self, value: PublicState | PublicEvent) -> None:
        """Take what is public, as the gateway would."""
        if isinstance(value, PublicState):
            self.states.append(value)
        else:
            self.events.append(value)
        self._changed.set()

    async def wait_for_state(self, condition: Callable[[PublicState], bool]) -> PublicState:
        """Return the first published state, from the present one on, of which `what` holds.

        Raises TimeoutError after PATIENCE_S.
        """
        async with asyncio.timeout(WAIT_TIMEOUT_S):
            while not (self.states and condition(self.states[-1])):
                self._changed.clear()
                await self._changed.wait()
        return self.states[-1]

    async def wait_for_phase(self, phase: MachinePhase) -> PublicState:
        """Wait for a phase."""
        return await self.wait_for_state(lambda state: state.machine.phase is phase)

    def make_command(
        self,
        role: Role,
        cmd: str,
        /,
        *,
        about: tuple[int | None, int | None] | None = None,
        **args: Any,
    ) -> ClientCommand:
        """Return a signed command; `about` is the deal and attempt that it names.

        Where that is not said: those that such a command is bound to, as the last state has
        them.
        """
        self._commands_made += 1
        deal, attempt = self._bound_to(cmd) if about is None else about
        command = ClientCommand(
            id=f"{self.command_prefix}{self._commands_made}",
            cmd=cmd,
            deal=deal,
            attempt=attempt,
            args=args,
        )
        return self.sign_command(command, self.signers[role])

    def sign_command(self, command: ClientCommand, seed: bytes) -> ClientCommand:
        """Return a command as the holder of a key signs it, for the present run of the table."""
        present = msgspec.structs.replace(command, boot=self.machine.processor.boot)
        return sign_command(present, TABLE_KEY, seed)

    async def send_command(
        self,
        role: Role,
        cmd: str,
        /,
        *,
        about: tuple[int | None, int | None] | None = None,
        **args: Any,
    ) -> CommandReply:
        """Give a signed order, as `command` makes it."""
        return await self.lasting.submit(self.make_command(role, cmd, about=about, **args))

    def _bound_to(self, cmd: str) -> tuple[int | None, int | None]:
        bound = COMMANDS[cmd].bound_to if cmd in COMMANDS else "none"
        if bound == "match":
            match = self.states[-1].match
            return match.deal, match.attempt
        state = self.machine.record.state
        return (state.deal, state.attempt) if bound == "machine" else (None, None)

    async def play_attempt(self, cut: int = 40) -> PublicState:
        """Play one attempt as people would, up to held hands or its refusal."""
        ready = await self.wait_for_state(
            lambda state: state.machine.phase in (MachinePhase.EMPTY, MachinePhase.COMMITTED)
        )
        if any(alert.name == "SET_BARRED" for alert in ready.alerts):
            cards = len(self.sim.world.truth().hopper)  # somebody has counted them
            await self.send_command(
                Role.REFEREE, "clear_set", set=ready.machine.card_set, cards=cards
            )
            ready = await self.wait_for_state(
                lambda state: state.machine.phase is not MachinePhase.FAULT
            )
        if ready.machine.phase is MachinePhase.EMPTY:
            await self.send_command(Role.REFEREE, "start_deal")
        committed = await self.wait_for_phase(MachinePhase.COMMITTED)
        number = committed.machine.attempt
        await self.send_command(Role.TABLE, "cut", n=cut)
        return await self.wait_for_state(
            lambda state: state.machine.attempt == number and state.fairness[-1].outcome is not None
        )

    async def return_hands(self) -> PublicState:
        """Have the hands released, taken, and the set put back; return the state after it."""
        answer = await self.send_command(Role.REFEREE, "release")
        while not answer.ok:
            await asyncio.sleep(RETRY_INTERVAL_S)
            answer = await self.send_command(Role.REFEREE, "release")
        await self.wait_for_phase(MachinePhase.RELEASED)
        await self.take_hands()
        await self.wait_until_seen(lambda truth: truth.lift_down)
        await self.load()
        return await self.wait_for_state(lambda state: state.fairness[-1].reveal is not None)


@asynccontextmanager
async def run_table_in_process(
    settings: MechanicsSettings,
    runtime_dir: Path,
    *,
    seed: int = 0,
    store: JournalStore | None = None,
    delay_ms: float = 0,
    state_dir: Path = Path("nowhere"),
    board_ids: tuple[str, str] = (DEALER_ID, READER_ID),
    sim: HardwareInProcess | None = None,
    profile: Profile | None = None,
    card_sets: tuple[CardSetSection, ...] = (CardSetSection(id="S1", back="A"),),
    deal_ahead: bool = False,
    limits: LimitsSection | None = None,
    signers: Mapping[Role, bytes] | None = None,
    chief: bytes | Callable[[], bytes | None] | None = None,
    reopen: Callable[[], JournalStore] | None = None,
    table_id: str = "T01",
    command_prefix: str = "",
    on_publish: Callable[[PublicState | PublicEvent], bool] = lambda value: True,
    clock_offset_s: Callable[[], float] = lambda: 0.0,
    wrap_port: Callable[[BoardName, LinkPort], LinkPort] = lambda board, port: port,
    release: ProgramRelease | None = None,
    reader: ReaderSection | None = None,
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
        ids=board_ids,
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
        dealer=BoardSection(port="dealer pipe", id=DEALER_ID),
        reader=reader or ReaderSection(port="reader pipe", id=READER_ID),
        panel=PanelSection(pins="mock"),
        card_sets=card_sets,
        play=PlaySection(deal_ahead=deal_ahead),
        limits=limits or LimitsSection(),
    )

    def wall() -> str:
        now = _START_TIME + timedelta(seconds=loop.time() + clock_offset_s())
        return now.isoformat(timespec="milliseconds")

    opened = iter([first])

    def open_again() -> JournalStore:
        if reopen is None:
            raise JournalError("this journal cannot be opened again")
        return reopen()

    seal = bytes(PrivateKey(chance.randbytes(32)).public_key)
    sealed_to = chief if callable(chief) else lambda: chief or seal
    key_file = AttemptKeyFiles(runtime_dir, state_dir)

    def publish(value: PublicState | PublicEvent) -> None:
        if on_publish(value):
            at.publish(value)

    async def build() -> TableMachine:
        store = next(opened, None) or open_again()
        boot = chance.randbytes(4).hex()
        given = MachineDeps(
            journal=Journal(store, InlineCommitter(store), wall=wall, boot=boot),
            ports={board: wrap_port(board, table.port(board)) for board in BOARDS},
            roster=_roster(signers),
            table_key=TABLE_KEY,
            signing_key=TABLE_SIGN,
            release=release,
            firmware=own_firmware_hash().hex(),
            chief_key=sealed_to,
            key_files=key_file,
            entropy=chance.randbytes,
            wall_time=wall,
            boot=boot,
            publish=publish,
        )
        return TableMachine(config, profile, given)

    lasting = MachineSupervisor(build, publish)
    await lasting.start()
    at = TableInProcess(table, lasting, signers, command_prefix=command_prefix)
    running = at.run_task = asyncio.ensure_future(lasting.run())
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


def _pack_sets(
    settings: MechanicsSettings, profile: Profile, card_sets: tuple[CardSetSection, ...]
) -> MechanicsSettings:
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
