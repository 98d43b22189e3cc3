"""`dealtable deploy`: system files for the computer of a table, generated from its table.toml."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import click

from controller.cli import CliError
from controller.cli.options import FILE
from controller.config import RUNTIME_ROOT, BoardSection, TableConfig, load_table

EPILOG: Final = """\b
Examples:
  dealtable deploy udev /etc/dealtable/T01.toml > /etc/udev/rules.d/70-dealtable-T01.rules
  dealtable deploy tmpfiles /etc/dealtable/T01.toml > /etc/tmpfiles.d/dealtable-T01.conf
deploy/install.sh does both.
"""
MACHINE_USER: Final = "dealtable"
GATEWAY_USER: Final = "dealtable-gateway"
STATE_ROOT: Final = Path("/var/lib/dealtable")
_DEV: Final = Path("/dev")
_config = click.argument("path", metavar="TABLE.toml", type=FILE)


@click.group("deploy", epilog=EPILOG)
def command() -> None:
    """Print system files for a table's computer: names for its ports, and folders that exist
    only in memory.
    """


@command.command()
@_config
def udev(path: Path) -> None:
    """Print the udev rules of a table for its serial ports and its pins.

    A port is found by its USB serial number.

    A port outside /dev (of a simulated board or an adapter) needs no rule. Exit 2 for a port with
    the kernel's own name, such as /dev/ttyACM0, because that name can change.
    """
    click.echo("\n".join(make_udev_rules(load_table(path))))


@command.command()
@_config
def tmpfiles(path: Path) -> None:
    """Print systemd-tmpfiles lines: they create the table's folders in /run when Linux starts."""
    click.echo("\n".join(make_tmpfiles_lines(load_table(path))))


@command.command()
@_config
def check(path: Path) -> None:
    """Print every value of a table's configuration that does not match the services in
    deploy/units.

    The services are the same for every table and use its name. Exit 2, with one line for each
    mismatch.
    """
    wrong = list(find_unit_mismatches(load_table(path)))
    for line in wrong:
        click.echo(f"Error: {path}: {line}", err=True)
    if wrong:
        raise SystemExit(CliError.exit_code)


def find_unit_mismatches(config: TableConfig) -> Iterator[str]:
    """Yield one line for each configured value that differs from the value in deploy/units."""
    table, gateway = config.table, config.gateway
    for key, found, expected in (
        ("table.user", table.user, MACHINE_USER),
        ("gateway.user", gateway.user, GATEWAY_USER),
        ("table.state_dir", table.state_dir, STATE_ROOT / table.id),
        ("table.runtime_dir", table.runtime_dir, RUNTIME_ROOT / table.id),
        ("gateway.dir", gateway.dir, STATE_ROOT / f"{table.id}-gateway"),
    ):
        if found != expected:
            said = "missing" if found is None else f'"{found}"'
            yield f'{key}: {said}, expected "{expected}": the services are made for that'


def make_udev_rules(config: TableConfig) -> Iterator[str]:
    """Yield the lines of a table's udev rules. Raises CliError."""
    group = _require_machine_user(config)
    yield f"# Table {config.table.id}, from its configuration: `dealtable deploy udev` makes it."
    yield 'ACTION=="remove", GOTO="dealtable_end"'
    for key, board in (("dealer", config.dealer), ("reader", config.reader)):
        yield from _make_port_rule(key, board, group)
    yield "# An adapter of FTDI hands over what it has after 1 ms, not after 16."
    yield 'SUBSYSTEM=="usb-serial", DRIVER=="ftdi_sio", ATTR{latency_timer}="1"'
    if config.panel.pins == "lgpio":
        yield f'SUBSYSTEM=="gpio", KERNEL=="gpiochip*", GROUP:="{group}", MODE:="0660"'
    yield 'LABEL="dealtable_end"'


def make_tmpfiles_lines(config: TableConfig) -> Iterator[str]:
    """Yield the systemd-tmpfiles lines that create a table's folders in /run. Raises CliError."""
    machine, table = _require_machine_user(config), config.table.id
    folder, door = config.table.runtime_dir, config.socket.parent
    yield f"# Table {table}, from its configuration: `dealtable deploy tmpfiles` makes it."
    yield f"d {folder.parent} 0755 root root -"
    yield f"d {folder} 0700 {machine} {machine} -"
    yield f"d {door} 2710 {machine} {config.gateway.user} -"


def _make_port_rule(key: str, board: BoardSection, group: str) -> Iterator[str]:
    port = Path(board.port)
    if not port.is_relative_to(_DEV):
        yield f"# {key}: {port} is not the kernel's, nor named by it."
        return
    name = port.relative_to(_DEV)
    if name.name.startswith(("tty", "pts")) or name.parts[0] in ("pts", "shm", "serial"):
        raise CliError(
            f"{key}.port = {port}: expected a name of the table's own, such as /dev/table-{key}: "
            "the kernel's names change with the order in which boards are plugged in"
        )
    serials = "|".join(dict.fromkeys((board.usb,) if board.usb else (board.id, board.id.upper())))
    yield (
        f'SUBSYSTEM=="tty", SUBSYSTEMS=="usb", ATTRS{{serial}}=="{serials}", '
        f'SYMLINK+="{name}", GROUP:="{group}", MODE:="0660", ENV{{ID_MM_DEVICE_IGNORE}}="1"'
    )


def _require_machine_user(config: TableConfig) -> str:
    """Return the configured user of the machine process. Raises CliError if none is configured."""
    if config.table.user is None:
        raise CliError(
            "table.user and gateway.user: missing, expected two users: on a table's computer the "
            "machine and the gateway are never one"
        )
    return config.table.user
