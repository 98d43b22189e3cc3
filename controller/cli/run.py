"""`dealtable run`: one table, as two processes: its machine and its gateway."""

import asyncio
from pathlib import Path

import click

from controller.cli import LineError
from controller.cli.logs import LEVEL_VARIABLE, LEVELS, LevelName, describe, log_as_asked
from controller.config import TableConfig, load_table

# Each process imports what it needs when it begins: the machine never loads the network.
config_option = click.option(
    "--config",
    "path",
    type=click.Path(path_type=Path),
    required=True,
    help="The table's configuration, such as table.toml.",
)
record_option = click.option(
    "--record",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Record the serial lines in this file. It shows hands: no match is opened meanwhile.",
)


@click.group(invoke_without_command=True)
@click.option("--config", "path", type=click.Path(path_type=Path), help="Such as table.toml.")
@click.option(
    "--log-level",
    "level",
    type=click.Choice(list(LEVELS)),
    default="info",
    envvar=LEVEL_VARIABLE,
    show_default=True,
    help="What to log to stderr: lines for people in a terminal, JSON elsewhere.",
)
@record_option
@click.pass_context
def command(
    context: click.Context, path: Path | None, level: LevelName, record: Path | None
) -> None:
    """Run a table: its machine and its gateway, until Ctrl-C or SIGTERM.

    \b
        dealtable run --config table.toml

    Keys that are not there yet are made in the state directory. Under systemd
    each process has a unit of its own: `run machine` and `run gateway`.
    """
    log_as_asked(level)
    describe(part=context.invoked_subcommand or "run")
    if context.invoked_subcommand is not None:
        if record is not None:
            raise click.UsageError("--record is said behind `machine`")
        return
    if path is None:
        raise click.UsageError("which table? Say --config FILE, such as table.toml")
    config = load_table(path)
    from controller.cli.rulebook import profile_of
    from controller.cli.supervisor import machine_and_gateway
    from controller.gateway.certificates import create_keys

    describe(table=config.table.id)
    profile_of(config)
    create_keys(config.table.state_dir)
    _make_runtime_dir(config)
    context.exit(asyncio.run(machine_and_gateway(path, record)))


@command.command()
@config_option
@record_option
def machine(path: Path, record: Path | None) -> None:
    """Run the machine alone: ports, pins, state and journal; no network.

    Writes "ready" once its gateway may come.
    """
    from controller.cli.machine_process import run_machine
    from controller.journal.errors import JournalError, StorageFailed
    from controller.roster import RosterError
    from controller.vault.keyfile import RuntimeDirError
    from drivers.link.recording import RecordingError

    config = load_table(path)
    describe(table=config.table.id)
    try:
        asyncio.run(run_machine(config, on_open=lambda: click.echo("ready"), record=record))
    except (RuntimeDirError, RosterError, RecordingError) as error:
        raise LineError(str(error)) from error
    except (JournalError, StorageFailed) as error:
        raise click.ClickException(str(error)) from error


@command.command()
@config_option
def gateway(path: Path) -> None:
    """Run the gateway alone: feed and commands; no faces, no ports."""
    from controller.gateway.gateway import GatewayError, run_gateway

    config = load_table(path)
    describe(table=config.table.id)
    try:
        asyncio.run(run_gateway(config, on_machine=lambda hello: describe(boot=hello.boot)))
    except GatewayError as error:
        raise LineError(str(error)) from error


def _make_runtime_dir(config: TableConfig) -> None:
    folder = config.table.runtime_dir
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise LineError(
            f"runtime_dir {folder} cannot be made ({error.strerror}): "
            "name a folder under /run or /dev/shm that is yours"
        ) from error
