"""How `dealtable keys rotate` renews a client's key, and the table's own."""

from datetime import timedelta
from pathlib import Path
from typing import NamedTuple

import click

from controller.cli.keys_shown import KeysError, confirm, refuse_expired, shown
from controller.cli.wall import wall
from controller.client.endpoints import NoEndpoints, read_endpoints
from controller.config import load_table
from controller.gateway.certificates import (
    create_client_keys,
    made_here,
    renew_table_keys,
    set_aside,
)
from controller.gateway.enrolment import read_client_file, renew, revoke_client
from controller.gateway.key_files import date_text
from controller.journal.store import STORE_NAME
from controller.roster import (
    ADMITTED_FOLDER,
    KEYS,
    TABLE,
    Certificate,
    Roster,
    fingerprint,
    moment,
    read_certificate,
)


class Place(NamedTuple):
    """Where a table keeps its keys: `state_dir`, and `folder` for what its gateway needs."""

    state_dir: Path
    folder: Path
    config: Path | None

    @classmethod
    def of(cls, path: Path) -> "Place":
        """Return the place that a state directory, or a table.toml, names. Raises ConfigError."""
        if not path.is_file():
            return cls(path, path, None)
        config = load_table(path)
        return cls(config.table.state_dir, config.gateway_dir, path)

    def require_clients(self) -> None:
        """Return if a table keeps its clients here. Raises KeysError, with what to name instead."""
        if (self.folder / ADMITTED_FOLDER).is_dir():
            return
        table = self.folder / KEYS / f"{TABLE}.key"
        if self.config is None and table.exists():
            raise KeysError(f"{self.folder}: its clients lie elsewhere: name its table.toml")
        raise KeysError(
            f"{self.folder}: no table's keys are here: name its state directory or its table.toml, "
            "or make them (`dealtable keys create`)"
        )


def rotate_client(
    place: Place, name: str, file: Path | None, hours: float, mark: str | None
) -> None:
    """Give a client a new key, its old one so many `hours` more; 0 revokes that.

    The new one is that in `file`, once its fingerprint was compared (`mark`, or asked for), or
    made here where the old one was. Raises KeysError, RosterError, OSError.
    """
    now = moment(wall())
    if file is not None:
        new = read_client_file(file)
        if new.name != name:
            raise KeysError(f"{file}: is the key of {new.name}, not of {name}")
        refuse_expired(new, now)
        confirm(new, mark)
    else:
        new = _make_new_pair(place, name)
    ends = now + timedelta(hours=hours)
    old = renew(place.folder, new, ends)
    click.echo(shown(new))
    for each in old if hours == 0 else ():
        revoke_client(place.folder, name, "replaced by a new key", now, fingerprint(each))
    until = "is revoked" if hours == 0 else f"ends {date_text(ends)}"
    click.echo("\n".join(f"the old key {fingerprint(each)} {until}" for each in old))


def _make_new_pair(place: Place, name: str) -> Certificate:
    """Make a new pair where the old one was made here. Raises KeysError where it was not."""
    present = [each for each in Roster.load(place.folder).clients if each.name == name]
    if not present:
        raise KeysError(f"{name} is not admitted here: see `dealtable keys list`")
    here = [each for each in present if made_here(place.folder, each)]
    if not here:
        raise KeysError(
            f"the pair of {name} was not made here: let its owner run `dealtable keys request`, "
            "and name the new NAME.key behind NAME"
        )
    for each in here:
        set_aside(place.folder, each)
    assert here[0].role is not None  # nobody is admitted without one
    return read_certificate(create_client_keys(place.folder, name, here[0].role))


def rotate_table_keys(place: Place) -> None:
    """Renew the table's own keys. Raises KeysError where something still stands on them,
    RosterError, OSError."""
    journal = place.state_dir / STORE_NAME
    if journal.exists():
        raise KeysError(
            f"{journal}: the table's key is part of every commitment in it. End the match or "
            "transfer it, stop the table, move the journal away to keep it, then come again"
        )
    try:
        read_endpoints(place.folder)
    except NoEndpoints:
        before = read_certificate(place.folder / KEYS / f"{TABLE}.key")
        after = renew_table_keys(place.state_dir, place.folder)
    else:
        raise KeysError(f"{place.folder}: its gateway is running: stop the table first")
    click.echo(f"the table's fingerprint was {fingerprint(before)}, and is {fingerprint(after)}")
    click.echo(
        f"give every console and watcher the new {place.folder / KEYS / TABLE}.key: until then "
        'they say "different key", and send nothing'
    )
