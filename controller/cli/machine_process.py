"""The machine's process: the one place where entropy and wall clock of the system come in."""

import asyncio
import gc
import os
import shutil
import signal
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from controller.bridge import HelloMessage
from controller.cli.logs import describe
from controller.cli.pins import panel_pins, pin_factory
from controller.cli.recorded import Recording
from controller.cli.rulebook import profile_of
from controller.config import TableConfig
from controller.journal.committer import ThreadCommitter
from controller.journal.errors import JournalError
from controller.journal.journal import Journal
from controller.journal.store import Store
from controller.machine.lasting import LastingMachine
from controller.machine.machine import VERSION, Machine, Surroundings
from controller.machine.metrics import Meter
from controller.machine.outlet import Outlet
from controller.messages import Event, State
from controller.roster import ADMITTED, KEYS, TABLE, Roster, RosterError, read_certificate
from controller.vault.keyfile import KeyFile

_SIGNALS = (signal.SIGTERM, signal.SIGINT)
_LEAVE_S = 5.0
ROOM_BYTES = 16 << 20
"""What a disk that was full must have free again: many matches of a journal (provisional)."""


async def run_machine(
    config: TableConfig, on_open: Callable[[], None], record: Path | None = None
) -> None:
    """Run the machine of `config` until SIGTERM, SIGINT or cancellation.

    `on_open` is called once the journal is this process's and its socket is there. The serial
    lines are recorded in `record`, where it is given. Raises RuntimeDirError, RosterError,
    JournalError or RecordingError.
    """
    recording = Recording(record, config)
    parts = _Parts(config, recording)
    lasting = LastingMachine(parts.build, parts.publish)
    await lasting.start()
    hello = HelloMessage(config.table.id, config.table.backend == "sim", parts.boot, metrics=True)
    parts.outlet = outlet = Outlet(
        hello, order=lasting.order, state=lasting.state, metrics=parts.meter.read
    )
    # What was built up to here lives as long as the process: no collection looks at it again.
    gc.collect()
    gc.freeze()
    try:
        match = lasting.machine.record.play.match
        recording.begin(match, version=VERSION, started=_wall())
        async with outlet.serving(config.table.runtime_dir):
            on_open()
            await _until_stopped(lasting)
    finally:
        await lasting.close()
        recording.close()


class _Parts:
    """What a machine of this process is made of, however often it is made."""

    def __init__(self, config: TableConfig, recording: Recording) -> None:
        """Read keys and rulebook. Raises RuntimeDirError, RosterError."""
        self._recording = recording
        state_dir = config.table.state_dir
        self._config, self._profile = config, profile_of(config)
        self._roster = Roster.load(state_dir)
        self._table_key = read_certificate(state_dir / KEYS / f"{TABLE}.key").curve
        self._chief = _chief_seal(self._roster, state_dir)
        self._key_file = KeyFile(config.table.runtime_dir, state_dir)
        self.meter = Meter()
        self.boot = ""
        self.outlet: Outlet | None = None

    def publish(self, value: State | Event) -> None:
        """Send what is public to the gateways."""
        if self.outlet is not None:
            self.outlet.publish(value)

    async def build(self) -> Machine:
        """Open the journal and make a machine of it; each is a run of its own.

        Raises JournalError, also where a disk that was full still is.
        """
        config, state_dir = self._config, self._config.table.state_dir
        recording = self._recording
        if self.boot and shutil.disk_usage(state_dir).free < ROOM_BYTES:
            raise JournalError(f"{state_dir}: there is no room yet")
        store = Store.open(state_dir)
        self.boot = boot = os.urandom(4).hex()
        describe(boot=boot)
        committer = self.meter.timed(ThreadCommitter(store))
        machine = Machine(
            config,
            self._profile,
            Surroundings(
                journal=Journal(store, committer, wall=_wall, boot=boot),
                ports={"dealer": recording.port("dealer"), "reader": recording.port("reader")},
                roster=self._roster,
                table_key=self._table_key,
                chief=self._chief,
                key_file=self._key_file,
                entropy=os.urandom,
                wall=_wall,
                boot=boot,
                publish=self.publish,
                meter=self.meter,
                testing=recording.wanted,
            ),
        )
        pins = partial(pin_factory, config.panel.pins)
        await machine.front.open(panel_pins(config.panel), pins)
        return machine


async def _until_stopped(machine: LastingMachine) -> None:
    """Run the machine until a signal; an attempt under way is ended before it goes."""
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
        await machine.leave(_LEAVE_S)
    finally:
        for task in (running, stopping):
            task.cancel()
        await asyncio.gather(running, stopping, return_exceptions=True)


def _chief_seal(roster: Roster, state_dir: Path) -> bytes:
    seals = roster.chief_seals()
    if not seals:
        raise RosterError(
            f"{state_dir / ADMITTED}: no chief with a sealing key; `dealtable keys` makes one"
        )
    return seals[0]


def _wall() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
