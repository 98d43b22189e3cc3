"""How `dealtable keys rotate` renews a client's key, and the table's own."""

from datetime import timedelta
from pathlib import Path
from typing import NamedTuple

import click

from controller.cli.keys_shown import (
    KeysError,
    confirm_fingerprint,
    format_certificate,
    refuse_expired,
)
from controller.cli.wall import read_wall_clock
from controller.client.endpoints import NoEndpoints, read_endpoints
from controller.config import load_table
from controller.gateway.certificates import (
    archive_pair,
    create_client_keys,
    has_pair_here,
    renew_table_keys,
)
from controller.gateway.enrolment import read_client_file, renew_client, revoke_client
from controller.gateway.key_files import date_text
from controller.journal.store import STORE_NAME
from controller.roster import (
    ADMITTED_FOLDER,
    KEYS_FOLDER,
    TABLE_NAME,
    Certificate,
    Roster,
    fingerprint,
    parse_moment,
    read_certificate,
)


class KeyFolder(NamedTuple):
    """Where a table keeps its keys: `state_dir`, and `folder` for what its gateway needs."""

    state_dir: Path
    gateway_dir: Path
    config: Path | None

    @classmethod
    def from_path(cls, path: Path) -> "KeyFolder":
        """Return the place that a state directory, or a table.toml, names. Raises ConfigError."""
        if not path.is_file():
            return cls(path, path, None)
        config = load_table(path)
        return cls(config.table.state_dir, config.gateway_dir, path)

    def require_clients(self) -> None:
        """Return if a table keeps its clients here. Raises KeysError, with what to name instead."""
        if (self.gateway_dir / ADMITTED_FOLDER).is_dir():
            return
        table = self.gateway_dir / KEYS_FOLDER / f"{TABLE_NAME}.key"
        if self.config is None and table.exists():
            raise KeysError(f"{self.gateway_dir}: its clients lie elsewhere: name its table.toml")
        raise KeysError(
            f"{self.gateway_dir}: no table's keys are here: name its state directory or its "
            "table.toml, or make them (`dealtable keys create`)"
        )


def rotate_client(
    key_folder: KeyFolder,
    name: str,
    file: Path | None,
    hours: float,
    expected_fingerprint: str | None,
) -> None:
    """Give a client a new key, its old one so many `hours` more; 0 revokes that.

    The new one is that in `file`, once its fingerprint was compared (`mark`, or asked for), or
    made here where the old one was. Raises KeysError, RosterError, OSError.
    """
    now = parse_moment(read_wall_clock())
    if file is not None:
        new = read_client_file(file)
        if new.name != name:
            raise KeysError(f"{file}: is the key of {new.name}, not of {name}")
        refuse_expired(new, now)
        confirm_fingerprint(new, expected_fingerprint)
    else:
        new = _make_new_pair(key_folder, name)
    ends = now + timedelta(hours=hours)
    old = renew_client(key_folder.gateway_dir, new, ends)
    click.echo(format_certificate(new))
    for each in old if hours == 0 else ():
        revoke_client(key_folder.gateway_dir, name, "replaced by a new key", now, fingerprint(each))
    until = "is revoked" if hours == 0 else f"ends {date_text(ends)}"
    click.echo("\n".join(f"the old key {fingerprint(each)} {until}" for each in old))


def _make_new_pair(key_folder: KeyFolder, name: str) -> Certificate:
    """Make a new pair where the old one was made here. Raises KeysError where it was not."""
    present = [each for each in Roster.load(key_folder.gateway_dir).clients if each.name == name]
    if not present:
        raise KeysError(f"{name} is not admitted here: see `dealtable keys list`")
    here = [each for each in present if has_pair_here(key_folder.gateway_dir, each)]
    if not here:
        raise KeysError(
            f"the pair of {name} was not made here: let its owner run `dealtable keys request`, "
            "and name the new NAME.key behind NAME"
        )
    for each in here:
        archive_pair(key_folder.gateway_dir, each)
    assert here[0].role is not None  # nobody is admitted without one
    return read_certificate(create_client_keys(key_folder.gateway_dir, name, here[0].role))


def rotate_table_keys(key_folder: KeyFolder) -> None:
    """Renew the table's own keys. Raises KeysError where something still stands on them,
    RosterError, OSError."""
    journal = key_folder.state_dir / STORE_NAME
    if journal.exists():
        raise KeysError(
            f"{journal}: the table's key is part of every commitment in it. End the match or "
            "transfer it, stop the table, move the journal away to keep it, then come again"
        )
    try:
        read_endpoints(key_folder.gateway_dir)
    except NoEndpoints:
        before = read_certificate(key_folder.gateway_dir / KEYS_FOLDER / f"{TABLE_NAME}.key")
        after = renew_table_keys(key_folder.state_dir, key_folder.gateway_dir)
    else:
        raise KeysError(f"{key_folder.gateway_dir}: its gateway is running: stop the table first")
    click.echo(f"the table's fingerprint was {fingerprint(before)}, and is {fingerprint(after)}")
    click.echo(
        "give every console and watcher the new "
        f"{key_folder.gateway_dir / KEYS_FOLDER / TABLE_NAME}.key: until then "
        'they say "different key", and send nothing'
    )
