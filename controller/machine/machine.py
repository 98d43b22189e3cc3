"""The machine: the construction of its parts, for real and for simulated tables.

The process (controller/service/machine_process.py) and the simulator (sim) build it from the same
parts. Only ports, pins, committer, entropy and wall clock differ.
"""

import asyncio
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from controller.config import TableConfig
from controller.expected_boards import expected_boards
from controller.journal.attempt_history import last_board_events
from controller.journal.entries import StorageFailed
from controller.journal.journal import Journal
from controller.machine.attempts.attempt_start import AttemptDeps
from controller.machine.attempts.attempt_writer import AttemptBinding
from controller.machine.attempts.deal_cycle import DealCycle, DealSettings
from controller.machine.boards.board_log import BoardLog
from controller.machine.boards.table_boards import BoardConnection, TableBoards
from controller.machine.commands.command_offers import CommandOffers
from controller.machine.commands.command_processor import CommandProcessor, ReadCommand
from controller.machine.commands.decision_preview import lost_time, preview_decision
from controller.machine.commands.match_commands import MatchCommands
from controller.machine.commands.opened_hands import OpenedHands
from controller.machine.commands.service_commands import ServiceCommands
from controller.machine.commands.table_command_checks import CommandParts
from controller.machine.commands.table_commands import TableCommands
from controller.machine.commands.table_transfers import TableTransfers
from controller.machine.machine_metrics import MachineMetrics
from controller.machine.panel_control import CutCounter, PanelControl
from controller.machine.public.public_state import (
    FeedPace,
    PhaseHeads,
    RunIdentity,
    StatePublisher,
    public_state,
)
from controller.machine.state.table_state import alert
from controller.machine.table_calls import OverdueWatch
from controller.machine.table_record import TableRecord
from controller.messages import (
    ClientCommand,
    CommandReply,
    MachinePhase,
    ProgramRelease,
    PublicEvent,
    PublicState,
)
from controller.roster import Roster
from controller.rules.profile import Profile
from controller.signing.signed_heads import verify_key
from controller.vault.sealing import AttemptKeyFiles
from drivers.board_events import BoardKind
from drivers.board_identity import check_identity
from drivers.link.link import Link
from drivers.link.serial_port import LinkPort
from drivers.typed_boards import DealerBoard, ReaderBoard

VERSION = "0.1.0"


@dataclass(frozen=True, kw_only=True)
class MachineDeps:
    """The parts of a machine that differ between a real table and a simulated one.

    `entropy` returns random bytes. `boot` is a unique id of this run of the daemon (hex). `publish`
    receives public data, in order. `chief_key` returns the key to which attempt keys are sealed, or
    None while no chief is admitted. `signing_key` is the table's Ed25519 secret for heads and
    leaving matches; with None nothing is signed. `release` is what the program reports about
    itself, or None without a manifest. `firmware` is the hash of the firmware that this program
    carries (16 hex digits). A table with `is_test` records its serial lines, so its state shows
    this, and it opens no match.
    """

    journal: Journal
    ports: Mapping[BoardKind, LinkPort]
    roster: Roster
    table_key: str
    chief_key: Callable[[], bytes | None]
    key_files: AttemptKeyFiles
    entropy: Callable[[int], bytes]
    wall_time: Callable[[], str]
    boot: str
    publish: Callable[[PublicState | PublicEvent], None]
    firmware: str
    signing_key: bytes | None = field(default=None, repr=False)
    release: ProgramRelease | None = None
    metrics: MachineMetrics = field(default_factory=MachineMetrics)
    is_test: bool = False


class TableMachine:
    """The machine of one table: it connects the boards, deals, and handles commands.

    `run` works until cancelled.
    """

    def __init__(self, config: TableConfig, profile: Profile, deps: MachineDeps) -> None:
        self._config, self._profile, self._deps = config, profile, deps
        simulated = config.table.backend == "sim"
        self._identity = RunIdentity(
            table=config.table.id,
            boot=deps.boot,
            simulated=simulated,
            profile=profile.name,
            card_set=config.card_sets[0].id,
            mode="test" if deps.is_test else "play",
            release=deps.release,
        )
        self._state_number = 0
        self._feed_pace = FeedPace()
        self._phase_heads = PhaseHeads(deps.table_key, deps.signing_key)
        self._loop = asyncio.get_running_loop()
        self.publisher = StatePublisher(self.publish_state, deps.metrics.loop_lag.add)
        self.record = TableRecord(
            deps.journal,
            profile,
            table=config.table.id,
            simulated=simulated,
            now=deps.wall_time(),
            on_public=deps.publish,
            on_state=self._on_changed,
            on_entry=deps.metrics.count_entry,
        )
        self._pinned_boards = expected_boards(config, deps.firmware)
        self.dealer = DealerBoard(self._new_link("dealer"))
        self.reader = ReaderBoard(self._new_link("reader"))
        self._board_log = BoardLog(
            deps.journal,
            seal=lambda attempt: self.table_boards.seal_of(attempt),
            on_synced=self._release_board_memory,
        )
        self._taken_events = last_board_events(chained.entry for chained in deps.journal.entries())
        self.processor = CommandProcessor(
            self.record,
            deps.roster,
            deps.table_key,
            boot=deps.boot,
            phase=lambda: self.table_boards.phase,
            read_commands=self._read_commands(),
            refused_counts=deps.metrics.refused_commands,
        )
        self.table_boards = TableBoards(self.record, self.dealer, self._board_log, self._on_changed)
        self.match_commands = MatchCommands(
            self.record, profile, self.table_boards.hands_with_players.dealt_hands
        )
        custom = DealSettings(
            practice_match=config.table.match,
            sets={each.id: each.back for each in config.card_sets},
            deal_ahead=config.play.deal_ahead,
            is_test=deps.is_test,
        )
        self.deal_cycle = DealCycle(self._attempt_deps(), self.table_boards, custom)
        dealt = self.table_boards.hands_with_players.dealt_hands
        self.transfers = TableTransfers(
            self.record,
            profile,
            self.match_commands,
            is_busy=lambda: self.table_boards.is_busy,
            table_id=config.table.id,
            table_key=deps.table_key,
            signing_key=deps.signing_key,
            wall_time=deps.wall_time,
        )
        parts = CommandParts(
            record=self.record,
            table_boards=self.table_boards,
            deal_cycle=self.deal_cycle,
            match_commands=self.match_commands,
            settings=custom,
            opened_hands=OpenedHands(self.record, deps.roster, dealt, deps.entropy),
            transfers=self.transfers,
            service_commands=ServiceCommands(
                self.record, self.table_boards, self.dealer, self.reader
            ),
        )
        commands = TableCommands(parts, self.dealer)
        self.processor.action_for, self.processor.checks = commands.action_for, commands.checks
        self.offers = CommandOffers(
            self.record,
            self.processor,
            profile,
            tuple(custom.sets),
            outside_state=self._unjournalled_state,
        )
        self._cut_counter = CutCounter(profile.cuts(), self.publisher.mark_changed)
        self._overdue_watch = OverdueWatch(self.record, config.limits)
        self.panel_control = PanelControl(
            record=self.record,
            desk=self.processor,
            counter=self._cut_counter,
            cutters=self.deal_cycle.cutters,
            phase=lambda: self.table_boards.phase,
            on_switch=self.deal_cycle.on_switch,
        )
        ports = ((self.dealer.link, config.dealer.port), (self.reader.link, config.reader.port))
        self._board_connections = [
            BoardConnection(link, port, self.table_boards, lambda: self._taken_events)
            for link, port in ports
        ]
        for board in (self.dealer, self.reader):
            board.on_event = self.table_boards.on_event
            board.link.on_renewed = lambda welcome: self.table_boards.on_session_renewed()
            board.link.on_refused = self.table_boards.on_refused
        self._is_match_check_due = False
        self.record.on_match = self._on_match_changed
        self.metrics = deps.metrics
        self.metrics.attach(self._board_log, self.dealer.link, self.reader.link)
        self._is_journal_ok = True  # The journal can be written.
        self._failure: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        deps.journal.on_failed = self._storage_failed

    async def run(self) -> None:
        """Connect the boards and deal until cancelled; raise StorageFailed if the journal fails."""
        self.record.write("opened", self._opened_data())
        await self.record.sync()
        self._on_match_changed()
        parts = [self.deal_cycle.run(), *(line.keep_open() for line in self._board_connections)]
        tasks: list[asyncio.Future[None]] = [asyncio.ensure_future(part) for part in parts]
        tasks.append(self._failure)
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
            for task in done:
                task.result()
        finally:
            self._board_log.write()  # Write them while the attempt exists that can seal them.
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await self._board_log.close()
            self.publisher.close()
            self.panel_control.close()
            self.match_commands.close()
            self._overdue_watch.close()
            self.deal_cycle.close()
            self._cut_counter.set_running(running=False)

    def _opened_data(self) -> dict[str, Any]:
        """Return the data of the entry `opened`: the table and the program of this run."""
        about, given = self._identity, self._deps
        opened = {"table": about.table, "table_key": given.table_key} | {
            "simulated": about.simulated,
            "version": VERSION,
            "sets": {each.id: each.back for each in self._config.card_sets},
        }
        if given.signing_key is not None:
            opened["verify"] = verify_key(given.signing_key).hex()
        if given.release is not None:
            opened["release"] = msgspec.to_builtins(given.release)
        return opened

    async def submit(self, command: ClientCommand) -> CommandReply:
        """Execute a client's command, and return the answer. Never raise for a bad command."""
        return await self.processor.submit(command)

    def state(self) -> PublicState:
        """Return the present public state, with the next sequence number.

        If the journal cannot be written, its phase is FAULT.
        """
        self._state_number += 1
        run = self.table_boards.run
        state = public_state(
            self._identity,
            self.record.state,
            self.record.match_committed,
            self.table_boards.phase,
            seq=self._state_number,
            time=self._deps.wall_time(),
            now_ms=self.record.clock(),
            head=self.record.head,
            signed=self._phase_heads.latest,
            boards=self.table_boards.firmware,
            fed=run.fed if run is not None else 0,
            counter=self._cut_counter.number,
            card_set=self.deal_cycle.loaded_set.id,
            cutters=self.deal_cycle.cutters(),
            ready_in_s=self._feed_pace.ready_in_s(self._profile.deck.cards),
        )
        if self._is_journal_ok:
            return state
        machine = msgspec.structs.replace(state.machine, phase=MachinePhase.FAULT)
        alerts = [*state.alerts, alert("STORAGE_FAILED", state.time)]
        return msgspec.structs.replace(state, machine=machine, alerts=alerts)

    def _storage_failed(self, failure: StorageFailed) -> None:
        """Stop all motion, show the fault, and end the machine: nothing can be recorded now."""
        self.dealer.stop()
        self._is_journal_ok = False
        self.publish_state()
        if not self._failure.done():
            self._failure.set_exception(failure)
            self._failure.exception()  # Retrieved: `run` may end before it reads the failure.

    def _on_changed(self) -> None:
        phase = self.table_boards.phase
        self._cut_counter.set_running(running=phase is MachinePhase.COMMITTED)
        if (run := self.table_boards.run) is not None:
            self._feed_pace.observe(run.number, run.fed, self._loop.time())
        self._phase_heads.on_phase(phase, self.record.synced_head)
        self.publisher.mark_changed()
        self.panel_control.show_lamps()

    def _on_match_changed(self) -> None:
        """Schedule the handling of a changed match for the next turn of the event loop."""
        if not self._is_match_check_due:
            self._is_match_check_due = True
            self._loop.call_soon(self._handle_match_change)

    def _handle_match_change(self) -> None:
        self._is_match_check_due = False
        self.match_commands.on_match_changed()
        self.deal_cycle.on_match_changed()
        self._overdue_watch.on_match_changed()

    def publish_state(self) -> None:
        """Publish the whole public state."""
        self._deps.publish(self.state())

    def _attempt_deps(self) -> AttemptDeps:
        config, given = self._config, self._deps
        bindings = AttemptBinding(
            record=self.record,
            key_files=given.key_files,
            chief_key=given.chief_key,
            profile=self._profile,
            table_key=given.table_key,
            entropy=given.entropy,
        )
        return AttemptDeps(
            binding=bindings,
            board_log=self._board_log,
            dealer=self.dealer,
            reader=self.reader,
            processor=self.processor,
            first_cutter=lambda: next(iter(self.deal_cycle.cutters()), None),
            cut_timeout_s=config.limits.cut_s,
            look_timeout_s=config.reader.look_s,
            on_change=self._on_changed,
        )

    def _new_link(self, board: BoardKind) -> Link:
        other: BoardKind = "reader" if board == "dealer" else "dealer"

        pinned = self._pinned_boards
        return Link(
            self._deps.ports[board],
            board,
            session_ids=lambda: int.from_bytes(self._deps.entropy(4), "big"),
            check=lambda welcome: check_identity(welcome, pinned[board], pinned[other]),
        )

    def _release_board_memory(self, board: str, boot: int, number: int) -> None:
        self._taken_events = self._taken_events | {boot: number}
        link = self.dealer.link if board == "dealer" else self.reader.link
        link.mark_kept(number, boot)

    def _unjournalled_state(self) -> Hashable:
        """Return the values outside the journal on which the offers of commands depend."""
        table, deals = self.table_boards, self.deal_cycle
        run = table.run
        return (
            table.phase,
            None if run is None else (run.number, run.is_released),
            table.hands_with_players.run is None,
            table.hands_with_players.dealt_hands() is None,
            table.event_listener is None,
            deals.startable_deal,
            deals.chief_key is None,
            deals.is_ahead,
            deals.is_practice,
            deals.cutters(),
        )

    def _read_commands(self) -> dict[str, ReadCommand]:
        """Return the handlers of the commands that change nothing, by command name."""
        return {
            "snapshot": lambda args: dict(msgspec.to_builtins(self.state())),
            "events": lambda args: {"events": self.record.public_events(args.since)},
            "sheet": lambda args: self.match_commands.score_sheet(
                self._identity.table, self.record.head
            ),
            "rulings": lambda args: self.match_commands.legal_rulings(args),
            "foresee": lambda args: preview_decision(
                self.record.match_written, args, self.record.clock()
            ),
            "lost_time": lambda args: lost_time(
                self.record.match_written.match, self.record.clock()
            ),
            "document": lambda args: self.transfers.document_part(args),
            "offers": lambda args: self.offers.answer_for(args.role),
        }
