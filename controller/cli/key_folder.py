"""Work of `dealtable keys` on a table's key folders: show, compare, renew and revoke keys."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import NamedTuple

import click

from controller.client.discovery import NoEndpoints, read_endpoints
from controller.config import load_table
from controller.journal.store import STORE_NAME
from controller.keys.certificate_files import date_text
from controller.keys.enrolment import read_client_file, renew_client, revoke_client
from controller.keys.table_keys import (
    archive_pair,
    create_client_keys,
    has_pair_here,
    renew_table_keys,
)
from controller.roster import (
    ADMITTED_FOLDER,
    KEYS_FOLDER,
    TABLE_NAME,
    Certificate,
    Roster,
    RosterError,
    fingerprint,
    parse_moment,
    read_certificate,
)
from controller.roster.roster import format_moment
from controller.service.wall_clock import read_wall_clock


class KeysError(click.ClickException):
    """The error for a key that cannot be made, read or admitted (exit status 2)."""

    exit_code = 2


class FingerprintMismatch(KeysError):
    """The error for a key whose fingerprint is not the one that its owner gave (exit status 1)."""

    exit_code = 1


@contextmanager
def raise_keys_errors() -> Iterator[None]:
    """Raise KeysError if the `with` block raises an OSError, RosterError or ValueError."""
    try:
        yield
    except OSError as error:
        raise KeysError(f"{error.filename}: {error.strerror}") from error
    except (RosterError, ValueError) as error:
        raise KeysError(str(error)) from error


def format_certificate(certificate: Certificate) -> str:
    """Return a certificate as lines: name, role, fingerprint, and the expiry date if it has one."""
    return "\n".join(f"{what + ':':<13}{said}" for what, said in _certificate_fields(certificate))


def confirm_fingerprint(certificate: Certificate, expected_fingerprint: str | None) -> None:
    """Raise FingerprintMismatch unless the certificate's owner gave the same fingerprint.

    `expected_fingerprint` is the whole fingerprint. With None the user must type its last group,
    which is not shown, so that only a person who got it from the owner can type it. Raises
    KeysError if there is no answer.
    """
    whole = fingerprint(certificate)
    if expected_fingerprint is None:
        *first, last = whole.split("-")
        hidden = "-".join((*first, "?" * len(last)))
        for what, said in _certificate_fields(certificate):
            click.echo(f"{what + ':':<13}{hidden if said == whole else said}")
        try:
            said = click.prompt("Its owner reads the fingerprint out; the last group is")
        except click.Abort:
            raise KeysError(
                "no fingerprint was given, nothing is admitted; scripts use --fingerprint"
            ) from None
        known = [last, whole]
    else:
        said, known = expected_fingerprint, [whole]
    if _normalize_fingerprint(said) not in map(_normalize_fingerprint, known):
        raise FingerprintMismatch(
            f"{certificate.name}: that is not this key's fingerprint: nothing is admitted. "
            "Somebody else's file, or a slip: let its owner show it again (keys fingerprint)"
        )


def refuse_expired(certificate: Certificate, now: datetime) -> None:
    """Raise KeysError if a certificate has expired at the time `now`."""
    if certificate.expires is not None and certificate.expires <= now:
        raise KeysError(
            f"{certificate.name}: this key was good until {_expiry_text(certificate)}: "
            "let its owner make a new pair (`dealtable keys request`)"
        )


def format_clients(folder: Path, now: datetime) -> list[str]:
    """Return one line for each admitted or revoked client, then one for the table's key.

    Raises RosterError, and KeysError if no client is admitted.
    """
    there = Roster.load(folder)
    roster = Roster(there.clients, there.revoked, lambda: now)
    if not roster.clients:
        raise KeysError(
            f"{folder / ADMITTED_FOLDER}: no client is admitted; run `dealtable keys create`"
        )
    return [line.rstrip() for line in _format_roster(folder, roster)]


def _format_roster(folder: Path, roster: Roster) -> Iterator[str]:
    soon = roster.expiring_clients()
    for each in roster.clients:
        if roster.has_expired(each):
            how = f"EXPIRED {_expiry_text(each)}"
        elif each.expires is not None:
            how = f"{'ENDS SOON' if each in soon else 'until'} {_expiry_text(each)}"
        else:
            how = "no end"
        yield _format_client(each, how)
    for each in roster.revoked:
        yield _format_client(each, f"REVOKED {format_moment(each.revoked)}: {each.reason}")
    with suppress(RosterError):
        table = read_certificate(folder / KEYS_FOLDER / f"{TABLE_NAME}.key")
        where = f"{KEYS_FOLDER}/{TABLE_NAME}.key"
        yield f"{'(this table)':<14} {'':<11} {fingerprint(table)} {where}"


def _format_client(client: Certificate, how: str) -> str:
    return f"{client.name:<14} {client.role or '':<11} {fingerprint(client)} {how}"


def _certificate_fields(certificate: Certificate) -> Iterator[tuple[str, str]]:
    yield "name", certificate.name
    if certificate.role is not None:
        yield "role", certificate.role.value
    yield "fingerprint", fingerprint(certificate)
    if certificate.expires is not None:
        yield "until", _expiry_text(certificate)


def _expiry_text(certificate: Certificate) -> str:
    return "" if certificate.expires is None else date_text(certificate.expires)


def _normalize_fingerprint(mark: str) -> str:
    return mark.strip().lower().replace("-", "").replace(" ", "")


class KeyFolder(NamedTuple):
    """The folders with a table's keys: `state_dir` (machine) and `gateway_dir` (gateway)."""

    state_dir: Path
    gateway_dir: Path
    config: Path | None

    @classmethod
    def from_path(cls, path: Path) -> "KeyFolder":
        """Return the key folders of `path`, a state directory or table.toml. Raises ConfigError."""
        if not path.is_file():
            return cls(path, path, None)
        config = load_table(path)
        return cls(config.table.state_dir, config.gateway_dir, path)

    def require_clients(self) -> None:
        """Raise KeysError unless `gateway_dir` contains a table's clients. The text of the error
        names the path to use instead.
        """
        if (self.gateway_dir / ADMITTED_FOLDER).is_dir():
            return
        table = self.gateway_dir / KEYS_FOLDER / f"{TABLE_NAME}.key"
        if self.config is None and table.exists():
            raise KeysError(f"{self.gateway_dir}: its clients are elsewhere: name its table.toml")
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
    """Admit a new key for a client. The old key stays valid for `hours` hours; 0 revokes it.

    The new key is the one in `file`, after its fingerprint was compared (`expected_fingerprint`, or
    typed). Without `file` a new key pair is made here, if the old one was made here. Raises
    KeysError, RosterError, OSError.
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
    """Create a new key pair for the client `name`, and archive the old pair.

    Raises KeysError unless the old pair was created on this computer.
    """
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
    assert here[0].role is not None  # every admitted client has a role
    return read_certificate(create_client_keys(key_folder.gateway_dir, name, here[0].role))


def rotate_table_keys(key_folder: KeyFolder) -> None:
    """Replace the table's own keys by new keys. Raises KeysError if a journal or a gateway still
    uses them. Raises RosterError, OSError.
    """
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
        'they show "different key", and send nothing'
    )
