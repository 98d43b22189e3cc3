"""A whole table in this process and in virtual time: mechanics, firmware, machine, players.

Its parts are those of a real table, with these differences: byte pipes as ports, an inline
committer, and entropy and wall-clock times from a seed. A seed reproduces a trial.
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
    TableSection,
)
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
"""The table's secret key, with which its machine signs heads."""
_START_TIME = datetime(2027, 1, 1, tzinfo=UTC)
"""The wall-clock time at the start of virtual time."""

RETRY_INTERVAL_S = 0.2
"""The time that a referee waits before they send a refused command again."""


@dataclass
class TableInProcess(HandledTable):
    """A running table in this process, with its people and all published states and events.

    `command_prefix` comes before the numbers of the people's commands, so that their ids differ
    from those of an earlier daemon. `run_task` is the machine's task. It is done before the block
    ends only if it raised an error.
    """

    signers: Mapping[Role, bytes]
    events: list[PublicEvent] = field(default_factory=list)
    states: list[PublicState] = field(default_factory=list)
    command_prefix: str = ""
    run_task: asyncio.Future[None] | None = None
    _changed: asyncio.Event = field(default_factory=asyncio.Event)
    _commands_made: int = 0

    def publish(self, value: PublicState | PublicEvent) -> None:
        """Store a published state or event. A real table sends it to the gateway instead."""
        if isinstance(value, PublicState):
            self.states.append(value)
        else:
            self.events.append(value)
        self._changed.set()

    async def wait_for_state(self, condition: Callable[[PublicState], bool]) -> PublicState:
        """Wait until `condition` is true for the latest published state, and return that state.

        Raises TimeoutError after WAIT_TIMEOUT_S.
        """
        async with asyncio.timeout(WAIT_TIMEOUT_S):
            while not (self.states and condition(self.states[-1])):
                self._changed.clear()
                await self._changed.wait()
        return self.states[-1]

    async def wait_for_phase(self, phase: MachinePhase) -> PublicState:
        """Wait until the latest published state has the phase `phase`, and return that state."""
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
        """Return the new command `cmd`, signed with the key of `role`.

        `about` is the deal and attempt that the command names. Without `about`, these are the deal
        and attempt that such a command is bound to in the last state.
        """
        self._commands_made += 1
        deal, attempt = self._bound_to(cmd) if about is None else about
        number = f"{self.command_prefix}{self._commands_made}"
        command = ClientCommand(id=number, cmd=cmd, deal=deal, attempt=attempt, args=args)
        return self.sign_command(command, self.signers[role])

    def sign_command(self, command: ClientCommand, seed: bytes) -> ClientCommand:
        """Return a copy of `command` for the daemon's present run, signed with the key `seed`."""
        present = msgspec.structs.replace(command, boot=self.machine.processor.boot)
        return sign_command(present, TABLE_KEY, seed)

    async def send_command(self, role: Role, cmd: str, /, **args: Any) -> CommandReply:
        """Make a signed command as `make_command` does, send it, and return the reply."""
        return await self.lasting.submit(self.make_command(role, cmd, **args))

    def _bound_to(self, cmd: str) -> tuple[int | None, int | None]:
        bound = COMMANDS[cmd].bound_to if cmd in COMMANDS else "none"
        if bound == "match":
            match = self.states[-1].match
            return match.deal, match.attempt
        state = self.machine.record.state
        return (state.deal, state.attempt) if bound == "machine" else (None, None)

    async def play_attempt(self, cut: int = 40) -> PublicState:
        """Deal one attempt, and return the public state that first has the attempt's outcome."""
        ready = await self.wait_for_state(
            lambda state: state.machine.phase in (MachinePhase.EMPTY, MachinePhase.COMMITTED)
        )
        if any(alert.name == "SET_BARRED" for alert in ready.alerts):
            cards = len(self.sim.world.truth().hopper)  # a person has counted the cards
            await self.send_command(
                Role.REFEREE, "clear_set", set=ready.machine.card_set, cards=cards
            )
            ready = await self.wait_for_state(
                lambda state: state.machine.phase is not MachinePhase.FAULT
            )
        if ready.machine.phase is MachinePhase.EMPTY:
            await self.send_command(Role.REFEREE, "start_deal")
        number = (await self.wait_for_phase(MachinePhase.COMMITTED)).machine.attempt
        await self.send_command(Role.TABLE, "cut", n=cut)
        return await self.wait_for_state(
            lambda state: state.machine.attempt == number and state.fairness[-1].outcome is not None
        )

    async def return_hands(self) -> PublicState:
        """Release and take the hands, load the cards, and return a state that has the seed."""
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
    """Run a new table for the `with` block and yield it. Then remove its tasks and timers.

    `runtime_dir` is a folder in memory. `store` is the journal; by default a journal in memory.
    `board_ids` are the real unique ids of the dealer board and the reader board. `sim` is existing
    hardware that remains, with its boards and cards in their state. The randomness of the mechanics
    and of the machine come from `seed` separately. `profile` is a rulebook with or without a
    tournament's regulations; by default international-000. The sets of `card_sets` are at the
    table, with the packs of the profile. `signers` are people's secret keys; by default new ones.
    `chief` is the key that attempts are sealed to, or a function that returns it. `reopen` opens
    the journal again after its disk refused a write. `command_prefix` comes before the numbers of
    commands. `on_publish` receives each published value first. If it returns False, the value does
    not reach the feed, as after a daemon's death. `clock_offset_s` returns the current error of the
    wall clock. `wrap_port` returns the host's end of a line that the machine uses. `release` is the
    release of the machine's program. `reader` is the configuration of the reader board.
    """
    loop = asyncio.get_running_loop()
    chance = random.Random(f"machine {seed}")
    mechanics = random.Random(f"mechanics {seed}")
    boots = random.Random(f"boots {seed}")
    profile = profile or load_profile("international-000")
    table = sim or HardwareInProcess(
        replace(
            settings,
            packs=profile.deck.packs,
            jokers=profile.deck.jokers,
            sets=tuple(PhysicalSet(one.id, BACKS[one.back]) for one in card_sets),
        ),
        mechanics,
        boots=partial(boots.getrandbits, 32),
        ids=board_ids,
        delay_ms=delay_ms,
    )
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

    opened = iter([store or JournalStore.in_memory()])
    seal = bytes(PrivateKey(chance.randbytes(32)).public_key)
    sealed_to = chief if callable(chief) else lambda: chief or seal
    key_file = AttemptKeyFiles(runtime_dir, state_dir)

    def publish(value: PublicState | PublicEvent) -> None:
        if on_publish(value):
            at.publish(value)

    async def build() -> TableMachine:
        if (store := next(opened, None)) is None:
            if reopen is None:
                raise JournalError("this journal cannot be opened again")
            store = reopen()
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
