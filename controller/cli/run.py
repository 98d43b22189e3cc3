"""`dealtable run`: one table as two processes, its machine and its gateway."""

import asyncio
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from controller.cli import CliError, raise_cli_error
from controller.cli.options import ANY_PATH, FILE
from controller.config import TableConfig, load_table
from controller.host.loggers import structlog
from controller.service.logging_setup import (
    LogLevelName,
    add_log_context,
    log_level_option,
    set_log_level,
)

_log = structlog.get_logger("run")

# Each process imports its code when it begins, so that the machine never loads network code.
config_option = click.option(
    "--config",
    "path",
    type=ANY_PATH,
    required=True,
    help="The table's configuration, such as table.toml.",
)
record_option = click.option(
    "--record",
    type=FILE,
    help="Record the serial lines in this file. It shows hands: no match is opened meanwhile.",
)


@click.group(invoke_without_command=True)
@click.option("--config", "path", type=ANY_PATH, help="Such as table.toml.")
@log_level_option
@record_option
@click.pass_context
def command(
    context: click.Context, path: Path | None, level: LogLevelName, record: Path | None
) -> None:
    """Run a table: its machine and its gateway, until Ctrl-C or SIGTERM.

    \b
        dealtable run --config table.toml

    Missing keys are created in the state directory. Started as root, each process becomes
    the user that the file names for it (table.user, gateway.user). Under systemd each process
    has its own unit: `run machine` and `run gateway`.
    """
    set_log_level(level)
    add_log_context(part=context.invoked_subcommand or "run")
    if context.invoked_subcommand is not None:
        if record is not None:
            raise click.UsageError("give --record after `machine`")
        return
    if path is None:
        raise click.UsageError("which table? Say --config FILE, such as table.toml")
    config = load_table(path)
    from controller.rules.profile_files import load_profile
    from controller.service.process_users import (
        check_separation,
        create_table_folders,
        find_process_users,
    )
    from controller.service.supervisor import supervise_table

    add_log_context(table=config.table.id)
    load_profile(config.table.profile, config.table.event)
    create_table_folders(config)
    check_separation(config, path)
    users = find_process_users(config)
    named = {} if users is None else users._asdict()
    context.exit(asyncio.run(supervise_table(path, record, named)))


@command.command(short_help="Run the machine alone; no network.")
@config_option
@record_option
def machine(path: Path, record: Path | None) -> None:
    """Run only the machine process. It has ports, pins, state and journal, but no network.

    The process writes "ready" to its output when the gateway may start.
    """
    from controller.journal.entries import JournalError, StorageFailed
    from controller.roster import RosterError
    from controller.service.machine_process import run_machine
    from controller.service.process_signals import SystemdNotifier
    from controller.service.process_users import (
        check_process_user,
        check_separation,
        find_process_users,
        open_socket_folder,
    )
    from controller.service.sandbox import restrict_process
    from controller.vault.sealing import RuntimeDirError
    from drivers.link.recording import RecordingError

    restrict_process(hide_memory=True)
    config = load_table(path)
    add_log_context(table=config.table.id)
    check_process_user(config, "machine")
    open_socket_folder(config)
    check_separation(config, path)
    users = find_process_users(config)
    _deny_network()
    try:
        asyncio.run(
            run_machine(
                config,
                on_open=lambda: click.echo("ready"),
                record=record,
                gateway=None if users is None else users.gateway,
                notifier=SystemdNotifier.from_environment(os.environ),
            )
        )
    except (RuntimeDirError, RosterError, RecordingError) as error:
        raise CliError(str(error)) from error
    except (JournalError, StorageFailed) as error:
        raise click.ClickException(str(error)) from error


@command.command(short_help="Run the gateway alone; no faces, no ports.")
@config_option
def gateway(path: Path) -> None:
    """Run only the gateway process. It has feed and commands, but no faces and no ports.

    A table has only one gateway. If another one is running, this command changes nothing and exits
    2.
    """
    from controller.gateway.gateway import GatewayError
    from controller.service.process_users import check_process_user
    from controller.service.sandbox import restrict_process

    restrict_process(hide_memory=False)
    config = load_table(path)
    add_log_context(table=config.table.id)
    check_process_user(config, "gateway")
    with raise_cli_error(GatewayError), _lock_gateway(config):
        asyncio.run(_serve_gateway(config))


async def _serve_gateway(config: TableConfig) -> None:
    """Run the gateway. If systemd started it, send heartbeats, too. Raises GatewayError."""
    from controller.gateway.gateway import run_gateway
    from controller.service.process_signals import SystemdNotifier, run_heartbeat
    from controller.service.wall_clock import read_wall_clock

    notice = SystemdNotifier.from_environment(os.environ)
    status = f"table {config.table.id}: the gateway serves"
    try:
        async with run_heartbeat(notice, lambda: status):
            await run_gateway(
                config,
                read_wall_clock,
                on_open=lambda _: notice.report_ready(status),
                on_machine=lambda hello: add_log_context(boot=hello.boot),
            )
    finally:
        notice.report_stopping()


@contextmanager
def _lock_gateway(config: TableConfig) -> Iterator[None]:
    """Hold a lock during the `with` block, so that a second gateway cannot serve this table.

    Raises CliError if another gateway holds the lock. The locked file is the gateway's own secret.
    A gateway always has this file, and only its user can open and lock it. The kernel releases the
    lock if the process dies.
    """
    from controller.roster import KEYS_FOLDER, TABLE_NAME

    file = config.gateway_dir / KEYS_FOLDER / f"{TABLE_NAME}.key_secret"
    try:
        handle = os.open(file, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        yield  # the gateway reports what is wrong with its keys
        return
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise CliError(
                f"another gateway serves table {config.table.id} ({file} is locked): stop it first"
            ) from None
        yield
    finally:
        os.close(handle)


def _deny_network() -> None:
    """Make the kernel refuse this process every socket except Unix sockets.

    If the kernel cannot do this, only a warning is logged.

    This restricts a machine that an attacker controls. The unchanged program opens only
    Unix sockets.
    """
    from controller.service.sandbox import deny_network

    try:
        if deny_network():
            return
        why = "unknown kind of computer"
    except OSError as error:
        why = error.strerror or str(error)
    _log.warning("sockets are not refused by the kernel", why=why)
