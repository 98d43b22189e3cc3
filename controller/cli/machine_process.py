"""The machine's process: the one place where entropy and wall clock of the system come in."""

import asyncio
import contextlib
import gc
import os
import signal
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from controller.bridge import HelloMessage
from controller.cli.pins import panel_pins, pin_factory
from controller.config import TableConfig
from controller.journal.committer import ThreadCommitter
from controller.journal.errors import StorageFailed
from controller.journal.journal import Journal
from controller.journal.store import Store
from controller.machine.machine import Machine, Surroundings
from controller.machine.outlet import Outlet
from controller.messages import Event, State
from controller.roster import ADMITTED, KEYS, TABLE, Roster, RosterError, read_certificate
from controller.rules.rulebooks import load_profile
from controller.vault.keyfile import KeyFile
from drivers.link.port import SerialPort

SIGNALS = (signal.SIGTERM, signal.SIGINT)
_LEAVE_S = 5.0


async def run_machine(config: TableConfig, on_open: Callable[[], None]) -> None:
    """Run the machine of `config` until SIGTERM, SIGINT or cancellation.

    `on_open` is called once the journal is this process's and its socket is there. Raises
    RuntimeDirError, RosterError, JournalError, or StorageFailed.
    """
    state_dir = config.table.state_dir
    roster = Roster.load(state_dir)
    table_key = read_certificate(state_dir / KEYS / f"{TABLE}.key").curve
    key_file = KeyFile(config.table.runtime_dir, state_dir)
    store = Store.open(state_dir)
    boot = os.urandom(4).hex()
    journal = Journal(store, ThreadCommitter(store), wall=_wall, boot=boot)
    simulated = config.table.backend == "sim"

    def publish(value: State | Event) -> None:
        outlet.publish(value)

    machine = Machine(
        config,
        load_profile(config.table.profile),
        Surroundings(
            journal=journal,
            ports={
                "dealer": SerialPort(config.dealer.port, config.dealer.baud),
                "reader": SerialPort(config.reader.port, config.reader.baud),
            },
            roster=roster,
            table_key=table_key,
            chief=_chief_seal(roster, state_dir),
            key_file=key_file,
            entropy=os.urandom,
            wall=_wall,
            boot=boot,
            publish=publish,
        ),
    )
    await machine.front.open(panel_pins(config.panel), partial(pin_factory, config.panel.pins))
    outlet = Outlet(
        HelloMessage(config.table.id, simulated), order=machine.order, state=machine.state
    )
    # What was built up to here lives as long as the process: no collection looks at it again.
    gc.collect()
    gc.freeze()
    try:
        async with outlet.serving(config.table.runtime_dir):
            on_open()
            await _until_stopped(machine)
    finally:
        with contextlib.suppress(StorageFailed):
            await journal.close()


async def _until_stopped(machine: Machine) -> None:
    """Run the machine until a signal; an attempt under way is ended before it goes."""
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()
    for number in SIGNALS:
        loop.add_signal_handler(number, stop.set)
    running = asyncio.ensure_future(machine.run())
    stopping = asyncio.ensure_future(stop.wait())
    try:
        await asyncio.wait({running, stopping}, return_when=asyncio.FIRST_COMPLETED)
        if running.done():
            running.result()
        await machine.table.leave(_LEAVE_S)
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
