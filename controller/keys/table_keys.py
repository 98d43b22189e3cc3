"""The key pairs of a table and of its clients.

    keys/table.key          public keys of the table: for encryption, and for its signatures
    keys/table.key_secret   only the table's CURVE secret, for the gateway
    keys/table.sign         only the table's Ed25519 secret, for the machine
    clients/NAME.key, clients/NAME.key_secret   a client whose pair was made here

The list of admitted clients is in enrolment.py. A client's file is never overwritten.
"""

from datetime import datetime
from pathlib import Path
from typing import Final

from nacl.signing import SigningKey

from controller.host.atomic_files import replace_file, write_new_file
from controller.keys.certificate_files import (
    PUBLIC_MODE,
    SECRET_MODE,
    new_client_secret,
    new_sign_secret,
    public_text,
    table_secret_text,
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
"""The clients that a new table admits: one of each role, and a separate key for `dealtable watch`.
"""
ARCHIVE_FOLDER = "old"
"""The folder of replaced files, in keys/ and in clients/."""


def create_table_keys(state_dir: Path, gateway_dir: Path | None = None) -> None:
    """Create the keys of a new table and of its first clients, and admit these clients.

    These clients are one of each role, and an observer for `dealtable watch`.

    If `gateway_dir` is given, it contains the gateway's part: keys/table.key, its CURVE secret,
    admitted/, and clients/, which belongs neither to the gateway nor to the machine. `state_dir`
    contains keys/table.sign and a copy of keys/table.key. The caller sets the owners of the files.

    The table's own keys are written last. While they are missing, the next call completes an
    interrupted call. When they exist, nothing is changed. The exception is a table of an older
    version without a table.sign, where the gateway's file contained that secret: it gets a new
    secret, because nothing was ever signed with the old one. Raises OSError, RosterError.
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
        write_new_file(sign, new_sign_secret().encode(), SECRET_MODE)
    verify = bytes(SigningKey(read_sign_file(sign)).verify_key)
    if all(path.exists() and read_certificate(path).verify == verify for path in public):
        return
    if not secret.exists():
        write_new_file(secret, table_secret_text(verify).encode(), SECRET_MODE)
    there = read_certificate(secret)
    if there.curve_secret is None:
        raise RosterError(f"{secret}: holds no secret-key; put the table's secret file there")
    text = table_secret_text(verify, (there.curve, there.curve_secret))
    replace_file(secret, text.encode(), SECRET_MODE)
    _write_public(read_certificate(secret), public)


def renew_table_keys(state_dir: Path, gateway_dir: Path | None = None) -> Certificate:
    """Replace the keys of the table by new keys, and return the table's new certificate.

    The old public file is kept in keys/old/, so that old signatures can still be checked. The old
    secrets are deleted. The caller must make sure that no journal is in use, because the key is
    part of every commitment. Raises OSError, RosterError.
    """
    gateways = gateway_dir or state_dir
    secret, public = _table_paths(state_dir, gateways)
    before = read_certificate(public[0])
    name = f"{TABLE_NAME}-{fingerprint(before)}.key"
    for folder in dict.fromkeys((gateways, state_dir)):
        archive = folder / KEYS_FOLDER / ARCHIVE_FOLDER / name
        replace_file(archive, public_text(before).encode(), PUBLIC_MODE)
    sign = state_dir / KEYS_FOLDER / SIGN_FILE
    replace_file(sign, new_sign_secret().encode(), SECRET_MODE)
    verify = bytes(SigningKey(read_sign_file(sign)).verify_key)
    replace_file(secret, table_secret_text(verify).encode(), SECRET_MODE)
    after = read_certificate(secret)
    _write_public(after, public)
    return after


def create_client_keys(place: Path, name: str, role: Role) -> Path:
    """Create a client's key files in `place`/clients/. Return the path of the public file.

    Existing files are not changed. Raises OSError.
    """
    folder = place / CLIENTS_FOLDER
    secret = folder / f"{name}.key_secret"
    if not secret.exists():
        write_new_file(secret, new_client_secret(name, role).encode(), SECRET_MODE)
    public = secret.with_suffix(".key")
    if not public.exists():
        write_new_file(public, public_text(read_certificate(secret)).encode(), PUBLIC_MODE)
    return public


def write_key_request(folder: Path, name: str, role: Role, expires: datetime | None = None) -> Path:
    """Create a client's key files in `folder`, and return the path of the public file.

    The public file is the request: a table can admit it. Raises FileExistsError if a pair of that
    name exists, and OSError.
    """
    secret = folder / f"{name}.key_secret"
    write_new_file(secret, new_client_secret(name, role, expires).encode(), SECRET_MODE)
    public = secret.with_suffix(".key")
    replace_file(public, public_text(read_certificate(secret)).encode(), PUBLIC_MODE)
    return public


def has_pair_here(place: Path, certificate: Certificate) -> bool:
    """Return whether clients/ or clients/old/ of `place` has the key pair of the certificate.

    Raises RosterError.
    """
    places = (_pair_path(place, certificate), _archived_pair_path(place, certificate))
    return any(
        path.exists() and read_certificate(path).curve == certificate.curve for path in places
    )


def archive_pair(place: Path, certificate: Certificate) -> None:
    """Move the key pair of a replaced or revoked certificate from clients/ to clients/old/.

    Nothing happens if clients/ does not have the pair. Data that was sealed for the key can still
    be opened after the move. Raises OSError, RosterError.
    """
    public, old = _pair_path(place, certificate), _archived_pair_path(place, certificate)
    if not public.exists() or read_certificate(public).curve != certificate.curve:
        return
    old.parent.mkdir(mode=0o700, exist_ok=True)
    # the public file moves last and marks the end of the operation
    for ending in (".key_secret", ".key"):
        path = public.with_suffix(ending)
        if path.exists():
            path.rename(old.with_name(old.name.removesuffix(".key") + ending))


def _pair_path(place: Path, certificate: Certificate) -> Path:
    return place / CLIENTS_FOLDER / f"{certificate.name}.key"


def _archived_pair_path(place: Path, certificate: Certificate) -> Path:
    name = f"{certificate.name}-{fingerprint(certificate)}.key"
    return place / CLIENTS_FOLDER / ARCHIVE_FOLDER / name


def _table_paths(state_dir: Path, gateways: Path) -> tuple[Path, list[Path]]:
    """Return the path of a table's secret CURVE key file, and the paths of its public key files.

    The gateway's public file is the first.
    """
    folders = dict.fromkeys((gateways, state_dir))
    public = [folder / KEYS_FOLDER / f"{TABLE_NAME}.key" for folder in folders]
    return gateways / KEYS_FOLDER / f"{TABLE_NAME}.key_secret", public


def _write_public(table: Certificate, public: list[Path]) -> None:
    # the gateway's file is written last and marks the end of the operation
    for path in reversed(public):
        replace_file(path, public_text(table).encode(), PUBLIC_MODE)
