"""The tables that a command follows: where they are, whom to come as, whose word to believe."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

import click

from controller.cli import CliError
from controller.cli.reach import (
    read_client_identity,
    read_identity,
    read_table_endpoints,
    read_table_key,
)
from controller.client.client import ClientIdentity
from controller.client.endpoints import Endpoints
from controller.messages import Role
from controller.roster import (
    CLIENTS_FOLDER,
    KEYS_FOLDER,
    TABLE_NAME,
    WATCH_CLIENT,
    RosterError,
    read_certificate,
)

_ADDRESS: Final = re.compile(r"tcp://.+:\d+|(ipc|inproc)://.+")


class WatchTarget(NamedTuple):
    """Where a table is, whom we come as, and the key its heads are signed with, if known."""

    endpoints: Endpoints
    identity: ClientIdentity
    verify_key: bytes | None


def find_watch_targets(
    feeds: Sequence[str],
    state_dirs: Sequence[Path],
    server_keys: Sequence[str],
    key_file: Path | None,
) -> list[WatchTarget]:
    """Return every table that is meant. Raises LineError or UsageError.

    `feeds` are addresses, with a key of `server_keys` for each of them or one for all; or the
    `state_dirs` say where their tables are, which must have those keys then. `key_file` is whom
    to come as.
    """
    if not feeds:
        if not state_dirs:
            raise click.UsageError("name an ENDPOINT or a --state-dir")
        if server_keys and len(server_keys) not in (1, len(state_dirs)):
            raise click.UsageError("give --server-key once, or once for each --state-dir")
        pinned = server_keys or [
            str(folder / KEYS_FOLDER / f"{TABLE_NAME}.key") for folder in state_dirs
        ]
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
    keys = [(read_table_key(key), _read_verify_key(Path(key))) for key in server_keys]
    if not keys and folder is not None:
        file = folder / KEYS_FOLDER / f"{TABLE_NAME}.key"
        keys = [(read_table_key(str(file)), _read_verify_key(file))]
    if len(keys) not in (1, len(feeds)):
        raise click.UsageError("an ENDPOINT needs its table's --server-key, or its --state-dir")
    keys *= len(feeds) // len(keys)
    return [
        WatchTarget(Endpoints(table=feed, feed=feed, commands="", server_key=key), identity, verify)
        for feed, (key, verify) in zip(feeds, keys, strict=True)
    ]


def _target_in_folder(folder: Path, key: str, key_file: Path | None) -> WatchTarget:
    """Return the table of a state directory, whose public key is `key`, or in that file."""
    endpoints = read_table_endpoints(folder)
    if read_table_key(key) != endpoints.server_key:
        raise CliError(f"{folder}: its table's key is another than that of {key}")
    verify = _read_verify_key(Path(key)) or _read_verify_key(
        folder / KEYS_FOLDER / f"{TABLE_NAME}.key"
    )
    return WatchTarget(endpoints, _choose_identity(key_file, folder), verify)


def _read_verify_key(file: Path) -> bytes | None:
    """Return the key that a table's heads are signed with, out of its table.key; None without."""
    try:
        return read_certificate(file).verify if file.is_file() else None
    except RosterError as error:
        raise CliError(str(error)) from error


def _choose_identity(key_file: Path | None, folder: Path | None) -> ClientIdentity:
    if key_file is not None:
        return read_identity(key_file)
    if folder is None:
        raise click.UsageError("an ENDPOINT needs a --key to come with, or its --state-dir")
    own = folder / CLIENTS_FOLDER / f"{WATCH_CLIENT}.key_secret"
    # A table whose keys an older release made has no such client.
    return read_client_identity(folder, WATCH_CLIENT if own.exists() else Role.OBSERVER)
