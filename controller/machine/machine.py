"""The machine: its parts put together, whatever is at the other end of its ports.

The process around it (controller/cli/run.py) and the trials (controller/trials)
build it from the same pieces; only ports, pins, committer, entropy and wall clock
differ.
"""

import asyncio
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from controller.config import TableConfig
from controller.heads import verify_key
from controller.journal.errors import StorageFailed
from controller.journal.fold import last_taken
from controller.journal.journal import Journal
from controller.machine.acts import TableCommands
from controller.machine.alerts import alert
from controller.machine.attempt_book import AttemptBinding
from controller.machine.attempt_run import AttemptDeps
from controller.machine.boards import BoardConnection
from controller.machine.cut_counter import CutCounter
from controller.machine.deals import Deals, DealSettings
from controller.machine.front import Front
from controller.machine.metrics import MachineMetrics
from controller.machine.order.desk import CommandProcessor, Reading
from controller.machine.order.match_desk import MatchCommands
from controller.machine.order.offers import CommandOffers
from controller.machine.order.opening import OpenedHands
from controller.machine.order.transfers import TableTransfers
from controller.machine.pace import Pace
from controller.machine.patience import Limits, Waiting
from controller.machine.phase_heads import PhaseHeads
from controller.machine.public.state import About, public_state
from controller.machine.publisher import StatePublisher
from controller.machine.record import Record
from controller.machine.table import Table
from controller.machine.wire_log import BoardLog
from controller.messages import Command, Event, Phase, Release, Reply, State
from controller.pinned import expected_boards
from controller.roster import Roster
from controller.rules.profile import Profile
from controller.vault.keyfile import AttemptKeyFiles
from drivers.dealer import Dealer
from drivers.events import Board
from drivers.identity import Welcome, check
from drivers.link.link import Link
from drivers.link.port import Port
from drivers.reader import Reader

VERSION = "0.1.0"


@dataclass(frozen=True, kw_only=True)
class MachineDeps:
    """What a machine is given: everything that differs between a table and a trial.

    `entropy` gives fresh bytes; `boot` names this run of the daemon (hex), as no other is or will
    be. `publish` takes what is public, in order. `chief` gives the key that attempt keys are sealed
    to now, None while no chief is admitted. `sign` is the table's Ed25519 secret, with which heads
    and matches that leave are signed; None signs none. `release` is what the program says it is;
    None for one without a manifest. `firmware` is the hash of the firmware that this program
    carries (16 hex digits). What passes the ports of a table that is `testing` is seen by
    people: it says so, and opens no match.
    """

    journal: Journal
    ports: Mapping[Board, Port]
    roster: Roster
    table_key: str
    chief: Callable[[], bytes | None]
    key_file: AttemptKeyFiles
    entropy: Callable[[int], bytes]
    wall: Callable[[], str]
    boot: str
    publish: Callable[[State | Event], None]
    firmware: str
    sign: bytes | None = field(default=None, repr=False)
    release: Release | None = None
    meter: MachineMetrics = field(default_factory=MachineMetrics)
    testing: bool = False


class Machine:
    """One table's machine on the running loop. `run` lives until cancelled."""

    def __init__(self, config: TableConfig, profile: Profile, given: MachineDeps) -> None:
        self._config, self._profile, self._given = config, profile, given
        simulated = config.table.backend == "sim"
        self._identity = About(
            table=config.table.id,
            boot=given.boot,
            simulated=simulated,
            profile=profile.name,
            card_set=config.card_sets[0].id,
            mode="test" if given.testing else "play",
            release=given.release,
        )
        self._state_number = 0
        self._feed_pace = Pace()
        self._phase_heads = PhaseHeads(given.table_key, given.sign)
        self._loop = asyncio.get_running_loop()
        self.publisher = StatePublisher(self.publish_state, given.meter.loop_lag.add)
        self.record = Record(
            given.journal,
            profile,
            table=config.table.id,
            simulated=simulated,
            now=given.wall(),
            on_public=given.publish,
            on_state=self._changed,
            on_entry=given.meter.take,
        )
        self._pinned_boards = expected_boards(config, given.firmware)
        self.dealer = Dealer(self._new_link("dealer"))
        self.reader = Reader(self._new_link("reader"))
        self._board_log = BoardLog(
            given.journal,
            seal=lambda attempt: self.table.seal_of(attempt),
            kept=self._release_board_memory,
        )
        self._taken_events = last_taken(chained.entry for chained in given.journal.entries())
        self.desk = CommandProcessor(
            self.record,
            given.roster,
            given.table_key,
            boot=given.boot,
            phase=lambda: self.table.phase,
            reading=self._read_commands(),
            refused=given.meter.refused_commands,
        )
        self.table = Table(self.record, self.dealer, self._board_log, self._changed)
        self.match = MatchCommands(self.record, profile, self.table.out.dealt)
        custom = DealSettings(
            practice=config.table.match,
            sets={each.id: each.back for each in config.card_sets},
            ahead=config.play.deal_ahead,
            testing=given.testing,
        )
        self.deals = Deals(self._attempt_deps(), self.table, custom)
        boards = (self.dealer, self.reader)
        opened = OpenedHands(self.record, given.roster, self.table.out.dealt, given.entropy)
        self.transfers = TableTransfers(
            self.record,
            profile,
            self.match,
            busy=lambda: self.table.busy,
            table_id=config.table.id,
            table_key=given.table_key,
            sign=given.sign,
            wall=given.wall,
        )
        self.desk.acts = TableCommands(
            self.record,
            self.table,
            self.deals,
            self.match,
            custom,
            boards,
            opened,
            self.transfers,
        )
        self.offers = CommandOffers(
            self.record, self.desk, profile, tuple(custom.sets), apart=self._unjournalled_state
        )
        self._cut_counter = CutCounter(profile.cuts(), self.publisher.changed)
        self._waiting = Waiting(self.record, _waiting_limits(config))
        self.front = Front(
            record=self.record,
            desk=self.desk,
            counter=self._cut_counter,
            cutters=self.deals.cutters,
            phase=lambda: self.table.phase,
            stopped=self.deals.stopped,
        )
        self._lines = [
            self._new_connection(self.dealer.link, config.dealer.port),
            self._new_connection(self.reader.link, config.reader.port),
        ]
        self._connect()
        self._looking = False
        self.record.on_play = self._on_match_changed
        self.meter = given.meter
        self.meter.watch(self._board_log, self.dealer.link, self.reader.link)
        self._is_journal_ok = True  # what is written: the journal can be written
        self._failure: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        given.journal.on_failed = self._storage_failed

    async def run(self) -> None:
        """Watch the boards and deal, until cancelled or the journal cannot be written.

        Raises StorageFailed.
        """
        self.record.write("opened", self._opened())
        await self.record.sync()
        self._on_match_changed()
        parts = [self.deals.deal_on(), *(line.watch() for line in self._lines)]
        tasks: list[asyncio.Future[None]] = [asyncio.ensure_future(part) for part in parts]
        tasks.append(self._failure)
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
            for task in done:
                task.result()
        finally:
            self._board_log.write()  # while the attempt that can seal it still lives
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await self._board_log.close()
            for part in (self.publisher, self.front, self.match, self._waiting, self.deals):
                part.close()
            self._cut_counter.run(wanted=False)

    def _opened(self) -> dict[str, Any]:
        """Return what the journal says first of each run: whose it is, and by which program."""
        about, given = self._identity, self._given
        opened = {
            "table": about.table,
            "table_key": given.table_key,
            "simulated": about.simulated,
            "version": VERSION,
            "sets": {each.id: each.back for each in self._config.card_sets},
        }
        if given.sign is not None:
            opened["verify"] = verify_key(given.sign).hex()
        if given.release is not None:
            opened["release"] = msgspec.to_builtins(given.release)
        return opened

    async def order(self, command: Command) -> Reply:
        """Return the answer to a command, whoever sent it."""
        return await self.desk.submit(command)

    def state(self) -> State:
        """Return the public state as of now, numbered; without a journal it is a fault's."""
        self._state_number += 1
        run = self.table.run
        state = public_state(
            self._identity,
            self.record.state,
            self.record.shown,
            self.table.phase,
            seq=self._state_number,
            time=self._given.wall(),
            now_ms=self.record.clock(),
            head=self.record.head,
            signed=self._phase_heads.latest,
            boards=self.table.firmware,
            fed=run.fed if run is not None else 0,
            counter=self._cut_counter.shown,
            card_set=self.deals.loaded.id,
            cutters=self.deals.cutters(),
            ready_in_s=self._feed_pace.ready_in_s(self._profile.deck.cards),
        )
        if self._is_journal_ok:
            return state
        machine = msgspec.structs.replace(state.machine, phase=Phase.FAULT)
        alerts = [*state.alerts, alert("STORAGE_FAILED", state.time)]
        return msgspec.structs.replace(state, machine=machine, alerts=alerts)

    def _storage_failed(self, failure: StorageFailed) -> None:
        """Stop all motion, say so from now on, and end: nothing can be proved any more."""
        self.dealer.stop()
        self._is_journal_ok = False
        self.publish_state()
        if not self._failure.done():
            self._failure.set_exception(failure)
            self._failure.exception()  # seen: `run` may end before it comes to look

    def _changed(self) -> None:
        phase = self.table.phase
        self._cut_counter.run(wanted=phase is Phase.COMMITTED)
        if (run := self.table.run) is not None:
            self._feed_pace.see(run.number, run.fed, self._loop.time())
        self._phase_heads.see(phase, self.record.synced)
        self.publisher.changed()
        self.front.show()

    def _on_match_changed(self) -> None:
        """Let every part look at the match, once what changed it is written whole."""
        if not self._looking:
            self._looking = True
            self._loop.call_soon(self._handle_match_change)

    def _handle_match_change(self) -> None:
        self._looking = False
        self.match.changed()
        self.deals.changed()
        self._waiting.changed()

    def publish_state(self) -> None:
        """Put the whole public state on the feed."""
        self._given.publish(self.state())

    def _attempt_deps(self) -> AttemptDeps:
        config, given, profile = self._config, self._given, self._profile
        bindings = AttemptBinding(
            record=self.record,
            key_file=given.key_file,
            chief=given.chief,
            profile=profile,
            table_key=given.table_key,
            entropy=given.entropy,
        )
        return AttemptDeps(
            bindings=bindings,
            wire_log=self._board_log,
            dealer=self.dealer,
            reader=self.reader,
            desk=self.desk,
            cutter=lambda: next(iter(self.deals.cutters()), None),
            cut_s=config.limits.cut_s,
            look_s=config.reader.look_s,
            on_change=self._changed,
        )

    def _new_link(self, board: Board) -> Link:
        other: Board = "reader" if board == "dealer" else "dealer"

        def right_one(welcome: Welcome) -> None:
            check(welcome, self._pinned_boards[board], self._pinned_boards[other])

        return Link(
            self._given.ports[board],
            board,
            session_ids=lambda: int.from_bytes(self._given.entropy(4), "big"),
            check=right_one,
        )

    def _new_connection(self, link: Link, port: str) -> BoardConnection:
        return BoardConnection(
            link,
            port,
            watcher=self.table,
            taken=lambda: self._taken_events,
            kept=lambda: self._taken_events,
            may_reopen=self.table.may_reopen,
        )

    def _connect(self) -> None:
        table = self.table
        self.dealer.on_event = table.on_event
        self.reader.on_event = table.on_event
        for link in (self.dealer.link, self.reader.link):
            link.on_renewed = lambda welcome: table.renewed()
            link.on_refused = table.refused

    def _release_board_memory(self, board: str, boot: int, number: int) -> None:
        self._taken_events = self._taken_events | {boot: number}
        link = self.dealer.link if board == "dealer" else self.reader.link
        link.kept(number, boot)

    def _unjournalled_state(self) -> Hashable:
        """Return what decides which orders can be given and stands in no entry."""
        table, deals = self.table, self.deals
        run = table.run
        return (
            table.phase,
            None if run is None else (run.number, run.released),
            table.out.run is None,
            table.out.dealt() is None,
            table.overheard is None,
            deals.startable_deal,
            deals.chief is None,
            deals.is_ahead,
            deals.is_practice,
            deals.cutters(),
        )

    def _read_commands(self) -> dict[str, Reading]:
        """Return the commands that change nothing."""
        return {
            "snapshot": lambda args: dict(msgspec.to_builtins(self.state())),
            "events": lambda args: {"events": self.record.public_events(args.since)},
            "sheet": lambda args: self.match.sheet(self._identity.table, self.record.head),
            "rulings": lambda args: self.match.legal_rulings(args),
            "foresee": lambda args: self.match.preview(args),
            "lost_time": lambda args: self.match.lost_time(),
            "document": lambda args: self.transfers.part(args),
            "offers": lambda args: self.offers.told(args.role),
        }


def _waiting_limits(config: TableConfig) -> Limits:
    limits = config.limits
    return Limits(
        take_ms=round(limits.take_s * 1000),
        out_ms=round(limits.out_s * 1000),
        result_ms=round(limits.result_s * 1000),
        slow_deal_ms=round(limits.slow_deal_s * 1000),
    )
