"""Access to a table from the command line: its addresses, its key, and the key of the client."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

import click
from nacl.utils import random as entropy

from controller.cli import CliError, raise_cli_error
from controller.client.client import ClientIdentity
from controller.client.discovery import ENDPOINTS_FILE as ENDPOINTS
from controller.client.discovery import Endpoints, NoEndpoints, read_endpoints
from controller.messages import Role
from controller.roster import (
    CLIENTS_FOLDER,
    KEYS_FOLDER,
    TABLE_NAME,
    WATCH_CLIENT,
    RosterError,
    read_certificate,
)


def read_table_endpoints(state_dir: Path) -> Endpoints:
    """Return the addresses and the key of the table that has this state directory.

    Raises CliError, also if the key in endpoints.json is not the one in keys/table.key. The gateway
    can write endpoints.json. With the key of another table in it, a signed command would be valid
    at that table.
    """
    file = _table_key_file(state_dir)
    with raise_cli_error(NoEndpoints, RosterError):
        told = read_endpoints(state_dir)
        own = read_certificate(file).curve
    if told.server_key != own:
        raise CliError(
            f"{state_dir / ENDPOINTS}: names another table's key than {file}: restart the gateway; "
            "if this is repeated, another program writes there"
        )
    return told


def read_client_identity(state_dir: Path, name: str) -> ClientIdentity:
    """Return the name and keys of the client `name` of a state directory. Raises CliError."""
    return read_identity(state_dir / CLIENTS_FOLDER / f"{name}.key_secret")


def read_identity(secret_file: Path) -> ClientIdentity:
    """Return a client's name and keys from its secret certificate file. Raises CliError."""
    with raise_cli_error(RosterError):
        certificate = read_certificate(secret_file)
    if certificate.curve_secret is None:
        raise CliError(f"{secret_file}: holds no secret-key; name the .key_secret file")
    return ClientIdentity(
        certificate.name, certificate.curve, certificate.curve_secret, certificate.sign
    )


def read_table_keys(key_or_file: str | Path) -> tuple[str, bytes | None]:
    """Return a table's two keys: the public key (Z85), and the key that checks its signed heads.

    `key_or_file` is a certificate file with both keys, or the public key itself. In the second case
    the key for signed heads is None. Raises CliError.
    """
    file = Path(key_or_file)
    if not file.exists():
        return str(key_or_file), None
    with raise_cli_error(RosterError):
        certificate = read_certificate(file)
        return certificate.curve, certificate.verify


def new_command_id() -> str:
    """Return a new random command id."""
    return entropy(12).hex()


_ADDRESS: Final = re.compile(r"tcp://.+:\d+|(ipc|inproc)://.+")


class WatchTarget(NamedTuple):
    """A table to watch: its addresses, the client's keys, and the key that checks the table's
    signed journal heads (None if unknown).
    """

    endpoints: Endpoints
    identity: ClientIdentity
    verify_key: bytes | None


def find_watch_targets(
    feeds: Sequence[str],
    state_dirs: Sequence[Path],
    server_keys: Sequence[str],
    key_file: Path | None,
) -> list[WatchTarget]:
    """Return every table that the options of `watch` name. Raises CliError or UsageError.

    `feeds` are addresses of tables. `server_keys` has the key of each table, or one key for all.
    Without `feeds`, the addresses come from `state_dirs`. The tables of these folders must then
    have the keys in `server_keys`. `key_file` is the client's key.
    """
    if not feeds:
        if not state_dirs:
            raise click.UsageError("name an ENDPOINT or a --state-dir")
        if server_keys and len(server_keys) not in (1, len(state_dirs)):
            raise click.UsageError("give --server-key once, or once for each --state-dir")
        pinned = server_keys or [str(_table_key_file(folder)) for folder in state_dirs]
        pinned = [*pinned] * (len(state_dirs) // len(pinned))
        return [
            _target_in_folder(folder, key, key_file)
            for folder, key in zip(state_dirs, pinned, strict=True)
        ]
    for feed in feeds:
        if not _ADDRESS.fullmatch(feed):
            raise CliError(f"{feed}: an ENDPOINT is an address such as tcp://192.168.1.12:5556")
    if len(state_dirs) > 1:
        raise click.UsageError("an ENDPOINT goes with one --state-dir at most")
    folder = state_dirs[0] if state_dirs else None
    identity = _choose_identity(key_file, folder)
    keys = [read_table_keys(key) for key in server_keys]
    if not keys and folder is not None:
        keys = [read_table_keys(_table_key_file(folder))]
    if len(keys) not in (1, len(feeds)):
        raise click.UsageError("an ENDPOINT needs its table's --server-key, or its --state-dir")
    keys *= len(feeds) // len(keys)
    return [
        WatchTarget(Endpoints(table=feed, feed=feed, commands="", server_key=key), identity, verify)
        for feed, (key, verify) in zip(feeds, keys, strict=True)
    ]


def _target_in_folder(folder: Path, key: str, key_file: Path | None) -> WatchTarget:
    """Return the target for the table of `folder`. Raises CliError if the table has another key."""
    endpoints = read_table_endpoints(folder)
    curve, verify = read_table_keys(key)
    if curve != endpoints.server_key:
        raise CliError(f"{folder}: its table's key is another than that of {key}")
    if verify is None:
        _, verify = read_table_keys(_table_key_file(folder))
    return WatchTarget(endpoints, _choose_identity(key_file, folder), verify)


def _table_key_file(state_dir: Path) -> Path:
    return state_dir / KEYS_FOLDER / f"{TABLE_NAME}.key"


def _choose_identity(key_file: Path | None, folder: Path | None) -> ClientIdentity:
    if key_file is not None:
        return read_identity(key_file)
    if folder is None:
        raise click.UsageError("an ENDPOINT needs a --key to come with, or its --state-dir")
    own = folder / CLIENTS_FOLDER / f"{WATCH_CLIENT}.key_secret"
    # The keys of a table that an older release made do not include this client.
    return read_client_identity(folder, WATCH_CLIENT if own.exists() else Role.OBSERVER)
