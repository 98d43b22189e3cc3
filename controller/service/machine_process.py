"""The machine process of a table: its start, its serial ports and panel pins, and its shutdown."""

import asyncio
import gc
import os
import shutil
import signal
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from controller.config import TableConfig
from controller.gateway_protocol import HelloMessage
from controller.host.loggers import structlog
from controller.host.users import User
from controller.journal.committer import ThreadCommitter
from controller.journal.entries import JournalError
from controller.journal.journal import Journal
from controller.journal.store import STORE_NAME, JournalStore
from controller.machine.gateway_socket import GatewaySocket
from controller.machine.machine import VERSION, MachineDeps, TableMachine
from controller.machine.machine_metrics import MachineMetrics
from controller.machine.machine_supervisor import MachineSupervisor
from controller.match.match_state import AnyMatch
from controller.match.phase import MatchPhase
from controller.messages import PublicEvent, PublicState
from controller.release.installed_program import read_running_release
from controller.roster import (
    ADMITTED_FOLDER,
    KEYS_FOLDER,
    TABLE_NAME,
    FolderRoster,
    RosterError,
    read_certificate,
    read_sign_secret,
)
from controller.rules.profile_files import load_profile
from controller.service.logging_setup import add_log_context
from controller.service.process_signals import SystemdNotifier, run_heartbeat
from controller.service.wall_clock import read_wall_clock
from controller.vault.sealing import AttemptKeyFiles
from drivers.board_events import BoardKind
from drivers.flash.firmware_image import own_image
from drivers.link.recording import (
    ChunkKind,
    RecordedBoard,
    Recorder,
    RecordingError,
    RecordingHeader,
    RecordingPort,
    create_recording,
)
from drivers.link.serial_port import USB_LATENCY_MS, LinkPort, SerialPort, read_latency_ms
from drivers.panel import PanelLost, PanelPins

_log = structlog.get_logger("machine")


def warn_about_latency(config: TableConfig) -> None:
    """Log a warning for each serial adapter that delays received bytes for too long.

    Most adapters have no timer for such a delay.
    """
    for board, port in (("dealer", config.dealer.port), ("reader", config.reader.port)):
        found_ms = read_latency_ms(port)
        if found_ms is not None and found_ms > USB_LATENCY_MS:
            _log.warning(
                "the adapter of a serial port holds bytes back: every card is late by that",
                board=board,
                port=port,
                latency_ms=found_ms,
                mend="dealtable deploy udev makes the rule that sets 1 ms; replug the adapter",
            )


async def pin_factory(pins: str) -> object:
    """Return the gpiozero pin factory that the setting `panel.pins` names.

    The setting is `lgpio`, `mock`, or `unix:PATH` for a simulated table. Raises PanelLost with the
    reason.
    """
    try:
        if pins == "lgpio":
            from gpiozero.pins.lgpio import LGPIOFactory

            return LGPIOFactory()
        if pins == "mock":
            from gpiozero.pins.mock import MockFactory

            return MockFactory()
        from sim.pin_factories import SocketFactory

        return await SocketFactory.connect(pins.removeprefix("unix:"))
    except Exception as error:  # Each pin library raises its own types.
        raise PanelLost(str(error)) from error


class SerialRecording:
    """An optional recording of the machine's serial lines.

    `path` is the file of the recording; with None nothing is recorded. Its ports may be created
    before `start`. Data before `start` is not recorded.
    """

    def __init__(self, path: Path | None, config: TableConfig) -> None:
        self._path, self._config = path, config
        self._recorder: Recorder | None = None

    @property
    def is_requested(self) -> bool:
        """Return True if the serial lines are to be recorded. The table is then not in play."""
        return self._path is not None

    def port(self, board: BoardKind) -> LinkPort:
        """Return the serial port of a board, which also records its data if this was requested."""
        section = self._config.dealer if board == "dealer" else self._config.reader
        port = SerialPort(section.port, section.baud)
        return RecordingPort(port, board, self._record_chunk) if self.is_requested else port

    def start(self, match: AnyMatch | None, *, version: str, started_at: str) -> None:
        """Start the recording if it was requested. `match` is the last match of the table, if any.

        `started_at` is the present time stamp of the wall clock. Raises RecordingError while the
        table has a match open. Raises RecordingError also for a file that cannot be created, or
        that `dealtable bundle` would include.
        """
        if self._path is None:
            return
        table = self._config.table
        if match is not None and match.phase is not MatchPhase.SIGNED:
            raise RecordingError(
                f"--record {self._path}: table {table.id} has match {match.meeting.match_id} "
                "open, and a recording shows hands: sign or transfer the match first"
            )
        if self._path.resolve().is_relative_to(table.state_dir.resolve()):
            raise RecordingError(
                f"--record {self._path}: the files in the state directory are bundled and handed "
                "on, and a recording shows hands: name a file elsewhere"
            )
        try:
            file, path = create_recording(self._path)
        except OSError as error:
            raise RecordingError(
                f"--record {self._path}: {error.strerror}: name a file that can be made"
            ) from None
        dealer, reader = self._config.dealer, self._config.reader
        header = RecordingHeader(
            table=table.id,
            boards={
                "dealer": RecordedBoard(dealer.port, dealer.id, dealer.firmware),
                "reader": RecordedBoard(reader.port, reader.id, reader.firmware),
            },
            version=version,
            started=started_at,
            simulated=table.backend == "sim",
        )
        self._recorder = Recorder(file, header, on_ended=self._on_ended)
        _log.warning(
            "the serial lines are recorded: the file shows hands, so no match is opened",
            file=str(path),
        )

    def close(self) -> None:
        """Write pending data, and close the file of the recording."""
        if self._recorder is not None:
            self._recorder.close()

    def _record_chunk(self, board: BoardKind, way: ChunkKind, data: bytes) -> None:
        if self._recorder is not None:
            self._recorder.add_chunk(board, way, data)

    def _on_ended(self, why: str) -> None:
        _log.warning("the recording of the serial lines has ended", why=why)


_SIGNALS = (signal.SIGTERM, signal.SIGINT)
_LEAVE_TIMEOUT_S = 5.0
_BOOT_BYTES = 16
"""Size of the name of a run. Signed commands are valid in one run, so a name must never repeat."""
MIN_FREE_BYTES = 16 << 20
"""Free space that is required after a full disk: enough for a journal of many matches
(provisional).
"""


async def run_machine(
    config: TableConfig,
    on_open: Callable[[], None],
    record: Path | None = None,
    gateway: User | None = None,
    notifier: SystemdNotifier | None = None,
) -> None:
    """Run the machine of a table until SIGTERM or SIGINT arrives or this task is cancelled.

    `on_open` is called when this process holds the journal and has opened its socket. The serial
    lines are recorded in `record`, if given. `gateway` is the gateway's user, or None if it is the
    user of this process. `notifier` is the supervisor of this process, if any. Raises
    RuntimeDirError, RosterError, JournalError or RecordingError.
    """
    notifier = notifier or SystemdNotifier()
    recording = SerialRecording(record, config)
    parts = _MachineFactory(config, recording)
    lasting = MachineSupervisor(parts.build, parts.publish)
    await lasting.start()
    hello = HelloMessage(config.table.id, config.table.backend == "sim", parts.boot, metrics=True)
    parts.door = door = GatewaySocket(
        hello,
        submit=lasting.submit,
        state=lasting.state,
        metrics=parts.meter.collect,
        allowed_uids=None if gateway is None else frozenset((gateway.uid,)),
    )
    # Objects created so far live as long as the process, so garbage collection can skip them.
    gc.collect()
    gc.freeze()
    try:
        match = lasting.machine.record.match_written.match
        recording.start(match, version=VERSION, started_at=read_wall_clock())
        group = None if gateway is None else gateway.gid
        async with door.serve(config.socket.parent, group):
            on_open()
            notifier.report_ready(_format_status(lasting))
            async with run_heartbeat(
                notifier, lambda: _format_status(lasting), parts.meter.oldest_write_wait_s
            ):
                await _run_until_signal(lasting, notifier.report_stopping)
    finally:
        await lasting.close()
        recording.close()


class _MachineFactory:
    """A factory that builds the machine of this process. It can build several in turn."""

    def __init__(self, config: TableConfig, recording: SerialRecording) -> None:
        """Read the table's keys, roster and rulebook, and the program's release.

        Raises RuntimeDirError, RosterError and FileError.
        """
        self._recording = recording
        state_dir = config.table.state_dir
        self._config, self._profile = config, load_profile(config.table.profile, config.table.event)
        self._roster = FolderRoster(config.gateway_dir, read_wall_clock, _on_roster_changed)
        self._table_key = read_certificate(state_dir / KEYS_FOLDER / f"{TABLE_NAME}.key").curve
        if not self._roster.chief_seals():
            raise RosterError(
                f"{config.gateway_dir / ADMITTED_FOLDER}: no chief with a sealing key; "
                "`dealtable keys` makes one"
            )
        self._sign = read_sign_secret(state_dir)
        self._release = read_running_release(state_dir)
        self._key_file = AttemptKeyFiles(config.table.runtime_dir, state_dir)
        self.meter = MachineMetrics()
        self.boot = ""
        self.door: GatewaySocket | None = None

    def publish(self, value: PublicState | PublicEvent) -> None:
        """Send a public state or event to the gateways, or discard it before the socket exists."""
        if self.door is not None:
            self.door.publish(value)

    async def build(self) -> TableMachine:
        """Open the journal, and build a machine that writes to it. Each machine is a new run.

        If a step fails, everything is closed again. Raises OSError and JournalError (for example
        while the disk is still full).
        """
        config, state_dir = self._config, self._config.table.state_dir
        recording = self._recording
        if self.boot and shutil.disk_usage(state_dir).free < MIN_FREE_BYTES:
            raise JournalError(f"{state_dir}: there is no room yet")
        with ExitStack() as opened:
            store = JournalStore.open(state_dir)
            opened.callback(store.close)
            _require_same_table_key(store, self._table_key, state_dir)
            self.boot = boot = os.urandom(_BOOT_BYTES).hex()
            add_log_context(boot=boot)
            committer = self.meter.time_commits(ThreadCommitter(store))
            # The thread is closed first, then the file that it writes.
            opened.callback(committer.close)
            machine = TableMachine(
                config,
                self._profile,
                MachineDeps(
                    journal=Journal(store, committer, wall=read_wall_clock, boot=boot),
                    ports={"dealer": recording.port("dealer"), "reader": recording.port("reader")},
                    roster=self._roster,
                    table_key=self._table_key,
                    signing_key=self._sign,
                    release=self._release,
                    # Attempts are sealed to the key of the first admitted chief.
                    chief_key=lambda: next(iter(self._roster.chief_seals()), None),
                    key_files=self._key_file,
                    entropy=os.urandom,
                    wall_time=read_wall_clock,
                    boot=boot,
                    publish=self.publish,
                    firmware=own_image().hash,
                    metrics=self.meter,
                    is_test=recording.is_requested,
                ),
            )
            opened.callback(machine.panel_control.close)
            warn_about_latency(config)
            pins = partial(pin_factory, config.panel.pins)
            numbers = {name: getattr(config.panel, name) for name in PanelPins.__struct_fields__}
            await machine.panel_control.open(PanelPins(**numbers), pins)
            opened.pop_all()  # From here on the machine closes them.
        return machine


def _require_same_table_key(store: JournalStore, table_key: str, state_dir: Path) -> None:
    """Raise JournalError if the journal was begun under another table key.

    The commitments in the journal depend on that key.
    """
    for first in store.entries(limit=1):
        if first.entry.data.get("table_key", table_key) != table_key:
            raise JournalError(
                f"{state_dir / STORE_NAME}: was begun under another table key: bring that key "
                f"back ({KEYS_FOLDER}/), or move the journal away to begin a new one"
            )


def _format_status(machine: MachineSupervisor) -> str:
    """Return a status line for people, which has only public facts about the machine."""
    state = machine.state()
    return f"table {state.table}: {state.machine.phase.value}, {len(state.alerts)} alerts"


async def _run_until_signal(machine: MachineSupervisor, on_stop: Callable[[], None]) -> None:
    """Run the machine until SIGTERM or SIGINT arrives, then end its attempt and the machine."""
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()
    for number in _SIGNALS:
        loop.add_signal_handler(number, stop.set)
    running = asyncio.ensure_future(machine.run())
    stopping = asyncio.ensure_future(stop.wait())
    try:
        await asyncio.wait({running, stopping}, return_when=asyncio.FIRST_COMPLETED)
        if running.done():
            running.result()
        on_stop()
        await machine.shut_down(_LEAVE_TIMEOUT_S)
    finally:
        for task in (running, stopping):
            task.cancel()
        await asyncio.gather(running, stopping, return_exceptions=True)


def _on_roster_changed(roster: FolderRoster, errors: Sequence[RosterError]) -> None:
    for error in errors:
        _log.error("a key file that cannot be used", why=str(error))
    _log.info("roster changed", admitted=len(roster.clients), revoked=len(roster.revoked))
