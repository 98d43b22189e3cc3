"""What `dealtable keys` shows of certificates, and how a fingerprint is compared."""

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import click

from controller.gateway.key_files import date_text
from controller.roster import (
    ADMITTED_FOLDER,
    KEYS_FOLDER,
    TABLE_NAME,
    Certificate,
    Roster,
    RosterError,
    fingerprint,
    read_certificate,
)
from controller.roster.members import format_moment


class KeysError(click.ClickException):
    """A key that cannot be made, read or admitted: one line, exit 2."""

    exit_code = 2


class FingerprintMismatch(KeysError):
    """A key that is not the one whose fingerprint was read out: a finding, exit 1."""

    exit_code = 1


def format_certificate(certificate: Certificate) -> str:
    """Return a certificate in lines: name, role, fingerprint, its end where it has one."""
    return "\n".join(f"{what + ':':<13}{said}" for what, said in _certificate_fields(certificate))


def confirm_fingerprint(certificate: Certificate, expected_fingerprint: str | None) -> None:
    """Return if the certificate is the one that its owner means.

    `mark` is its whole fingerprint; None asks for the last group of it, which is not shown, so
    that only who has it from its owner can say it. Raises OtherFingerprint, or KeysError where
    nobody answers.
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
                "nobody said its fingerprint, nothing is admitted; scripts say --fingerprint"
            ) from None
        fits = _normalize_fingerprint(said) in (
            _normalize_fingerprint(last),
            _normalize_fingerprint(whole),
        )
    else:
        fits = _normalize_fingerprint(expected_fingerprint) == _normalize_fingerprint(whole)
    if not fits:
        raise FingerprintMismatch(
            f"{certificate.name}: that is not this key's fingerprint: nothing is admitted. "
            "Somebody else's file, or a slip: let its owner show it again (keys fingerprint)"
        )


def refuse_expired(certificate: Certificate, now: datetime) -> None:
    """Return if a certificate is valid at all. Raises KeysError for one whose time is over."""
    if certificate.expires is not None and certificate.expires <= now:
        raise KeysError(
            f"{certificate.name}: this key was good until {_expiry_text(certificate)}: "
            "let its owner make a new pair (`dealtable keys request`)"
        )


def format_clients(folder: Path, now: datetime) -> list[str]:
    """Return a line for each client and the table's own key. Raises RosterError, KeysError."""
    there = Roster.load(folder)
    roster = Roster(there.clients, there.revoked, lambda: now)
    if not roster.clients:
        raise KeysError(
            f"{folder / ADMITTED_FOLDER}: nobody is admitted; run `dealtable keys create`"
        )
    return [line.rstrip() for line in (*_format_roster(roster), *_format_table_key(folder))]


def _format_roster(roster: Roster) -> Iterator[str]:
    soon = roster.expiring_clients()
    for each in roster.clients:
        if roster.has_expired(each):
            how = f"EXPIRED {_expiry_text(each)}"
        elif each.expires is not None:
            how = f"{'ENDS SOON' if each in soon else 'until'} {_expiry_text(each)}"
        else:
            how = "no end"
        yield _format_client(each.name, each.role, each, how)
    for each in roster.revoked:
        yield _format_client(
            each.name, each.role, each, f"REVOKED {format_moment(each.revoked)}: {each.reason}"
        )


def _format_table_key(folder: Path) -> Iterator[str]:
    try:
        table = read_certificate(folder / KEYS_FOLDER / f"{TABLE_NAME}.key")
    except RosterError:
        return
    yield _format_client("(this table)", None, table, f"{KEYS_FOLDER}/{TABLE_NAME}.key")


def _format_client(name: str, role: object, certificate: Certificate, how: str) -> str:
    return f"{name:<14} {role or '':<11} {fingerprint(certificate)} {how}"


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
