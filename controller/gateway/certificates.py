"""The key files of a table and its clients: pyzmq's own certificates with our metadata.

    keys/table.key, keys/table.key_secret    the table itself
    clients/ROLE.key, clients/ROLE.key_secret   one client a role, to be carried to its computer
    admitted/*.key                           who may connect; removing a file shuts its client out

`zmq.auth` reads them all; controller/roster.py reads the metadata too, without
ZeroMQ. Nothing here ever overwrites a file.
"""

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import zmq
from nacl.public import PrivateKey
from nacl.signing import SigningKey

from controller.messages import Role
from controller.roster import ADMITTED, CLIENTS, KEYS, TABLE, RosterError, read_certificate

_SECRET_BANNER: Final = """\
#   ZeroMQ CURVE **Secret** Certificate
#   DO NOT PROVIDE THIS FILE TO OTHER USERS nor change its permissions.

"""
_PUBLIC_BANNER: Final = """\
#   ZeroMQ CURVE Public Certificate
#   Give it to whom this key shall be known.

"""


_SECRET_FIELDS: Final = ("sign =", "unseal =", "secret-key =")


def create_keys(state_dir: Path) -> None:
    """Create the table's keys and an admitted client of each role, unless they are there.

    The table's own come last: while they are missing, an interrupted call is
    finished by the next one; once they are there, nothing is done. Raises OSError.
    """
    keys = state_dir / KEYS
    if (keys / f"{TABLE}.key").exists():
        return
    for role in Role:
        admit(state_dir, create_client(state_dir, role.value, role))
    _create_pair(keys, TABLE, {"name": TABLE})


def create_client(state_dir: Path, name: str, role: Role) -> Path:
    """Create the certificates of a client in clients/ and return its public file.

    A client that is there already stays as it is. Raises OSError.
    """
    metadata = {"name": name, "role": role.value}
    if role is Role.CHIEF:  # opened hands are sealed to the chief
        unseal = PrivateKey.generate()
        metadata |= {"seal": bytes(unseal.public_key).hex(), "unseal": bytes(unseal).hex()}
    return _create_pair(state_dir / CLIENTS, name, metadata)


def admit(state_dir: Path, public_file: Path) -> Path:
    """Put a client's public certificate on the list and return its place there.

    The gateway sees it at the client's next knock. Raises RosterError for a file that is no
    public certificate of a client, FileExistsError when another client has its name.
    """
    certificate = read_certificate(public_file)
    if certificate.role is None or certificate.curve_secret is not None:
        raise RosterError(f"{public_file}: no client's public certificate: admit its NAME.key")
    text = public_file.read_text()
    admitted = state_dir / ADMITTED / f"{certificate.name}.key"
    if not admitted.exists() or admitted.read_text() != text:
        _write_new(admitted, text, 0o644)
    return admitted


def _create_pair(directory: Path, name: str, metadata: Mapping[str, str]) -> Path:
    """Write NAME.key_secret, and NAME.key from it; return the public file."""
    public_file = directory / f"{name}.key"
    secret_file = directory / f"{name}.key_secret"
    if not secret_file.exists():
        _write_new(secret_file, _new_secret(metadata), 0o600)
    if not public_file.exists():
        _write_new(public_file, _public_part(secret_file.read_text()), 0o644)
    return public_file


def _new_secret(metadata: Mapping[str, str]) -> str:
    """The text of a secret certificate with fresh keys for CURVE and for signing."""
    public, secret = zmq.curve_keypair()
    sign = SigningKey.generate()
    signing = {"verify": bytes(sign.verify_key).hex(), "sign": bytes(sign).hex()}
    lines = [f"    {key} = {value}\n" for key, value in {**metadata, **signing}.items()]
    curve = f'    public-key = "{public.decode()}"\n    secret-key = "{secret.decode()}"\n'
    return f"{_SECRET_BANNER}metadata\n{''.join(lines)}curve\n{curve}"


def _public_part(secret_text: str) -> str:
    """The same certificate without what is secret in it."""
    kept = [
        line
        for line in secret_text.removeprefix(_SECRET_BANNER).splitlines(keepends=True)
        if not line.strip().startswith(_SECRET_FIELDS)
    ]
    return _PUBLIC_BANNER + "".join(kept)


def _write_new(path: Path, text: str, mode: int) -> None:
    """Write `path` whole or not at all. Raises FileExistsError where there is one."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle, part = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".part")
    try:
        with os.fdopen(handle, "w") as file:
            file.write(text)
            os.fchmod(file.fileno(), mode)
            file.flush()
            os.fsync(file.fileno())
        os.link(part, path)
    finally:
        os.unlink(part)
