"""The keys with which a console comes to its tables: one for each role, made where they stay.

    ROLE.key_secret   the pair; it never leaves the console
    ROLE.key          its public part, signed by its owner: what tables are to admit

A key's name has the console's in it: tables know other clients, and other consoles.
"""

import re
from pathlib import Path
from typing import Final

from controller.cli.keys_shown import KeysError
from controller.gateway.key_files import (
    PUBLIC_MODE,
    SECRET_MODE,
    new_client_secret,
    public_text,
    replace_text,
    write_new_text,
)
from controller.messages import Role
from controller.roster import RosterError, read_certificate

_MAX_NAME_LETTERS: Final = 28
"""Letters of a console's name in a key's, which has 40: the role stands behind it."""
_NOT_IN_NAMES: Final = re.compile(r"[^\w.-]+")


def make_console_keys(folder: Path, name: str) -> list[Role]:
    """Make the keys that are missing in `folder`; return the roles of those that are new.

    `name` is the console's. A key that is there stays as it is. Raises KeysError, one line.
    """
    made = []
    try:
        for role in Role:
            secret = folder / f"{role.value}.key_secret"
            if not secret.exists():
                write_new_text(
                    secret, new_client_secret(make_key_name(name, role), role), SECRET_MODE
                )
                made.append(role)
            public = public_text(read_certificate(secret))
            replace_text(secret.with_suffix(".key"), public, PUBLIC_MODE)
    except OSError as error:
        raise KeysError(f"{error.filename}: {error.strerror}") from None
    except RosterError as error:
        raise KeysError(str(error)) from None
    return made


def make_key_name(console: str, role: Role) -> str:
    """Return what the key of a role is called at the tables: "Hall-1-referee"."""
    plain = _NOT_IN_NAMES.sub("-", console).strip("-._")[:_MAX_NAME_LETTERS] or "console"
    return f"{plain}-{role.value}"
