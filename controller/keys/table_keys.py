"""The pairs of a table and of its clients.

    keys/table.key          the table itself: what encrypts to it and what verifies its word
    keys/table.key_secret   its CURVE secret alone: the gateway's
    keys/table.sign         its Ed25519 secret alone: the machine's
    clients/NAME.key, clients/NAME.key_secret   a client whose pair was made here

Whom a table admits is enrolment.py's. No client's file is ever overwritten.
"""

from datetime import datetime
from pathlib import Path
from typing import Final

from nacl.signing import SigningKey

from controller.keys.certificate_files import (
    PUBLIC_MODE,
    SECRET_MODE,
    new_client_secret,
    new_sign_secret,
    public_text,
    replace_text,
    table_secret_text,
    write_new_text,
)
from controller.keys.enrolment import admit_file
from controller.messages import Role
from controller.roster import (
    CLIENTS_FOLDER,
    KEYS_FOLDER,
    TABLE_NAME,
    WATCH_CLIENT,
    Certificate,
    RosterError,
    fingerprint,
    read_certificate,
    read_sign_file,
)
from controller.roster.certificate import SIGN_FILE

FIRST_CLIENTS: Final = (*((role.value, role) for role in Role), (WATCH_CLIENT, Role.OBSERVER))
"""Whom a new table admits: a client of each role, and `dealtable watch` with a key of its own."""
ARCHIVE_FOLDER = "old"
"""The folder, in keys/ and in clients/, of what was replaced."""


def create_table_keys(state_dir: Path, gateway_dir: Path | None = None) -> None:
    """Create the table's keys and its first admitted clients, unless they are there.

    These are a client of each role, and an observer for `dealtable watch`.

    With a `gateway_dir` of its own the gateway's part lies there: keys/table.key, its CURVE
    secret, admitted/, and clients/, which is neither the gateway's nor the machine's. `state_dir`
    keeps keys/table.sign and a copy of keys/table.key. Whose the files are is the caller's
    business.

    The table's own come last: while they are missing, an interrupted call is finished by the
    next one; once they are there, nothing is done, but for a table without a table.sign (one
    of an older version, where the gateway's file held that secret): it gets a new one, since
    nothing was ever signed with the old. Raises OSError, RosterError.
    """
    gateways = gateway_dir or state_dir
    secret, public = _table_paths(state_dir, gateways)
    if not public[0].exists():
        for name, role in FIRST_CLIENTS:
            admit_file(gateways, create_client_keys(gateways, name, role))
    elif not secret.exists():
        raise RosterError(f"{secret} is missing, {public[0]} is not: bring it back from a copy")
    sign = state_dir / KEYS_FOLDER / SIGN_FILE
    if not sign.exists():
        write_new_text(sign, new_sign_secret(), SECRET_MODE)
    verify = bytes(SigningKey(read_sign_file(sign)).verify_key)
    if all(path.exists() and read_certificate(path).verify == verify for path in public):
        return
    if not secret.exists():
        write_new_text(secret, table_secret_text(verify), SECRET_MODE)
    there = read_certificate(secret)
    if there.curve_secret is None:
        raise RosterError(f"{secret}: holds no secret-key; put the table's secret file there")
    replace_text(secret, table_secret_text(verify, (there.curve, there.curve_secret)), SECRET_MODE)
    _write_public(read_certificate(secret), public)


def renew_table_keys(state_dir: Path, gateway_dir: Path | None = None) -> Certificate:
    """Make the table new keys over the old ones; return the new certificate.

    The old public file stays in keys/old/: what the table said under it can still be checked.
    Its secrets are gone. Who calls this knows that no journal goes on: the key is part of
    every commitment. Raises OSError, RosterError.
    """
    gateways = gateway_dir or state_dir
    secret, public = _table_paths(state_dir, gateways)
    before = read_certificate(public[0])
    name = f"{TABLE_NAME}-{fingerprint(before)}.key"
    for folder in dict.fromkeys((gateways, state_dir)):
        replace_text(folder / KEYS_FOLDER / ARCHIVE_FOLDER / name, public_text(before), PUBLIC_MODE)
    sign = state_dir / KEYS_FOLDER / SIGN_FILE
    replace_text(sign, new_sign_secret(), SECRET_MODE)
    verify = bytes(SigningKey(read_sign_file(sign)).verify_key)
    replace_text(secret, table_secret_text(verify), SECRET_MODE)
    after = read_certificate(secret)
    _write_public(after, public)
    return after


def create_client_keys(place: Path, name: str, role: Role) -> Path:
    """Create the certificates of a client in clients/ and return its public file.

    A client that is there already stays as it is. Raises OSError.
    """
    folder = place / CLIENTS_FOLDER
    secret = folder / f"{name}.key_secret"
    if not secret.exists():
        write_new_text(secret, new_client_secret(name, role), SECRET_MODE)
    public = secret.with_suffix(".key")
    if not public.exists():
        write_new_text(public, public_text(read_certificate(secret)), PUBLIC_MODE)
    return public


def write_key_request(folder: Path, name: str, role: Role, expires: datetime | None = None) -> Path:
    """Make a pair where it will be used, and return the public file that is to be admitted.

    Raises FileExistsError where a pair of that name is there, OSError.
    """
    secret = folder / f"{name}.key_secret"
    write_new_text(secret, new_client_secret(name, role, expires), SECRET_MODE)
    public = secret.with_suffix(".key")
    replace_text(public, public_text(read_certificate(secret)), PUBLIC_MODE)
    return public


def has_pair_here(place: Path, certificate: Certificate) -> bool:
    """Tell whether the pair of a client lies here, in use or set aside. Raises RosterError."""
    places = (_pair_path(place, certificate), _archived_pair_path(place, certificate))
    return any(
        path.exists() and read_certificate(path).curve == certificate.curve for path in places
    )


def archive_pair(place: Path, certificate: Certificate) -> None:
    """Move the pair of a key that was replaced or revoked to clients/old/, if it was made here.

    What was sealed to it can still be opened with it. Raises OSError, RosterError.
    """
    public, old = _pair_path(place, certificate), _archived_pair_path(place, certificate)
    if not public.exists() or read_certificate(public).curve != certificate.curve:
        return
    old.parent.mkdir(mode=0o700, exist_ok=True)
    for ending in (".key_secret", ".key"):  # the public one last: it says that all is done
        path = public.with_suffix(ending)
        if path.exists():
            path.rename(old.with_name(old.name.removesuffix(".key") + ending))


def _pair_path(place: Path, certificate: Certificate) -> Path:
    return place / CLIENTS_FOLDER / f"{certificate.name}.key"


def _archived_pair_path(place: Path, certificate: Certificate) -> Path:
    name = f"{certificate.name}-{fingerprint(certificate)}.key"
    return place / CLIENTS_FOLDER / ARCHIVE_FOLDER / name


def _table_paths(state_dir: Path, gateways: Path) -> tuple[Path, list[Path]]:
    """The table's CURVE secret, and its public files, the gateway's first."""
    public = [
        folder / KEYS_FOLDER / f"{TABLE_NAME}.key"
        for folder in dict.fromkeys((gateways, state_dir))
    ]
    return gateways / KEYS_FOLDER / f"{TABLE_NAME}.key_secret", public


def _write_public(table: Certificate, public: list[Path]) -> None:
    for path in reversed(public):  # the gateway's last: it says that all is done
        replace_text(path, public_text(table), PUBLIC_MODE)
