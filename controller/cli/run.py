"""`dealtable run`: one table, as two processes: its machine and its gateway.

The only place where the operating system's entropy and wall clock come in.
"""

import asyncio
import contextlib
import gc
import os
import signal
import sys
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import click
import structlog

from controller.bridge import HelloMessage
from controller.cli import LineError
from controller.cli.logs import log_to_stderr
from controller.cli.pins import panel_pins, pin_factory
from controller.config import TableConfig, load_table
from controller.gateway.certificates import KEYS, TABLE, create_keys
from controller.gateway.gateway import GatewayError, run_gateway
from controller.journal.committer import ThreadCommitter
from controller.journal.errors import JournalError, StorageFailed
from controller.journal.journal import Journal
from controller.journal.store import Store
from controller.machine.machine import Machine, Surroundings
from controller.machine.outlet import Outlet
from controller.messages import Event, State
from controller.roster import Roster, RosterError, read_certificate
from controller.rules.profile import load_profile
from controller.vault.keyfile import KeyFile, RuntimeDirError
from drivers.link.port import SerialPort

_SIGNALS = (signal.SIGTERM, signal.SIGINT)
_LEAVE_S = 5.0

config_option = click.option(
    "--config",
    "path",
    type=click.Path(path_type=Path),
    required=True,
    help="The table's configuration, such as table.toml.",
)


@click.group(invoke_without_command=True)
@click.option("--config", "path", type=click.Path(path_type=Path), help="Such as table.toml.")
@click.pass_context
def command(context: click.Context, path: Path | None) -> None:
    """Run a table: its machine and its gateway, until Ctrl-C or SIGTERM.

    \b
        dealtable run --config table.toml

    Keys that are not there yet are made in the state directory. Under systemd
    each process has a unit of its own: `run machine` and `run gateway`.
    """
    log_to_stderr()
    if context.invoked_subcommand is not None:
        return
    if path is None:
        raise click.UsageError("which table? Say --config FILE, such as table.toml")
    config = load_table(path)
    create_keys(config.table.state_dir)
    _make_runtime_dir(config)
    context.exit(asyncio.run(_both(path)))


@command.command()
@config_option
def machine(path: Path) -> None:
    """Run the machine alone: ports, pins, state and journal; no network."""
    config = load_table(path)
    try:
        asyncio.run(run_machine(config))
    except (RuntimeDirError, RosterError) as error:
        raise LineError(str(error)) from error
    except (JournalError, StorageFailed) as error:
        raise click.ClickException(str(error)) from error


@command.command()
@config_option
def gateway(path: Path) -> None:
    """Run the gateway alone: feed and commands; no faces, no ports."""
    config = load_table(path)
    try:
        asyncio.run(run_gateway(config))
    except GatewayError as error:
        raise LineError(str(error)) from error


async def run_machine(config: TableConfig) -> None:
    """Run the machine of `config` until SIGTERM, SIGINT or cancellation.

    Raises RuntimeDirError, RosterError, JournalError, or StorageFailed.
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
            await _until_stopped(machine)
    finally:
        with contextlib.suppress(StorageFailed):
            await journal.close()


async def _until_stopped(machine: Machine) -> None:
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
        await machine.table.leave(_LEAVE_S)
    finally:
        for task in (running, stopping):
            task.cancel()
        await asyncio.gather(running, stopping, return_exceptions=True)


async def _both(path: Path) -> int:
    """Run machine and gateway as processes of their own; return the exit status of both."""
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()
    for number in _SIGNALS:
        loop.add_signal_handler(number, stop.set)
    children = [
        await asyncio.create_subprocess_exec(
            sys.executable, "-m", "controller.cli", "run", part, "--config", str(path)
        )
        for part in ("machine", "gateway")
    ]
    ends = [asyncio.ensure_future(child.wait()) for child in children]
    stopping = asyncio.ensure_future(stop.wait())
    await asyncio.wait([*ends, stopping], return_when=asyncio.FIRST_COMPLETED)
    asked = stop.is_set()
    for child in reversed(children):  # the gateway first: it tells of the machine's last words
        if child.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                child.terminate()
    statuses = await asyncio.gather(*ends)
    stopping.cancel()
    if asked:
        return 0
    structlog.get_logger("run").error("a part of the table ended", statuses=statuses)
    return max(status if status > 0 else 1 for status in statuses)


def _make_runtime_dir(config: TableConfig) -> None:
    folder = config.table.runtime_dir
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise LineError(
            f"runtime_dir {folder} cannot be made ({error.strerror}): "
            "name a folder under /run or /dev/shm that is yours"
        ) from error


def _chief_seal(roster: Roster, state_dir: Path) -> bytes:
    seals = roster.chief_seals()
    if not seals:
        raise RosterError(
            f"{state_dir / 'admitted'}: no chief with a sealing key; `dealtable keys` makes one"
        )
    return seals[0]


def _wall() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
