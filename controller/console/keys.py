"""With which keys the console comes to a table: one for each role, from a folder of `keys`."""

import base64
import binascii
from pathlib import Path
from typing import Any

from nacl.exceptions import CryptoError
from nacl.public import PrivateKey, SealedBox

from controller.client.client import ClientIdentity
from controller.console.wrong import RequestError
from controller.messages import Role
from controller.roster import RosterError, read_certificate
from controller.roster.certificate import Certificate
from controller.words import roles_with_article


def secret_key_file(folder: Path, role: Role) -> Path:
    """Return where the key of a role lies."""
    return folder / f"{role.value}.key_secret"


def load_certificate(folder: Path, role: Role) -> Certificate:
    """Return the certificate of a role with its secrets. Raises RosterError."""
    file = secret_key_file(folder, role)
    found = read_certificate(file)
    if found.curve_secret is None or found.sign is None:
        raise RosterError(f"{file}: holds no secret; name the folder of the .key_secret files")
    if found.role is not role:
        raise RosterError(f"{file}: is of the role {found.role}, expected {role.value}")
    return found


def load_identity(folder: Path, role: Role) -> ClientIdentity:
    """Return as whom the console comes to a table for people of a role. Raises Wrong."""
    try:
        own = load_certificate(folder, role)
    except RosterError as missing:
        who = roles_with_article([role])
        raise RequestError(
            409, f"the console has no key of {who.en}: {missing}", f"控制台没有{who.zh}的密钥"
        ) from None
    assert own.curve_secret is not None
    return ClientIdentity(own.name, own.curve, own.curve_secret, own.sign)


def unseal_result(folder: Path, role: Role, result: dict[str, Any]) -> dict[str, Any]:
    """Return a result with what was sealed to the role's key as `hand`; nothing is kept of it.

    A box that this key does not open stays as it is.
    """
    box = result.get("sealed")
    if not isinstance(box, str):
        return result
    said = {name: value for name, value in result.items() if name != "sealed"}
    try:
        unseal = load_certificate(folder, role).unseal
        if unseal is None:
            return result
        plain = SealedBox(PrivateKey(unseal)).decrypt(base64.b64decode(box, validate=True))
        return said | {"hand": plain.decode().split()}
    except (RosterError, CryptoError, ValueError, binascii.Error):
        return result
