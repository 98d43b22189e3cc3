"""Where a table's sockets are: `endpoints.json` in the gateway's folder, as a rule state_dir.

Written when the sockets are bound, with the ports they really have, so that
`watch`, `send` and the console of the same computer need no configuration.

A gateway that is a user of its own may write nothing in that folder but this one file, which is
lent to it: made for it beforehand. So it is filled and emptied in place, and never removed.
"""

import os
from pathlib import Path

import msgspec

ENDPOINTS_FILE = "endpoints.json"
_LENT_FILE_BYTES = 4096
"""A lent file has always as many bytes, and one write puts them all there."""


class NoEndpoints(Exception):
    """The state directory says of no running gateway."""


class Endpoints(msgspec.Struct, frozen=True, kw_only=True):
    """Addresses as ZeroMQ writes them, and the table's public CURVE key in Z85.

    `console` and `metrics` are addresses of the web.
    """

    table: str
    feed: str
    commands: str
    server_key: str
    console: str | None = None
    metrics: str | None = None


def write_endpoints(state_dir: Path, endpoints: Endpoints) -> None:
    """Put `endpoints` into `state_dir`, whole or not at all. Raises OSError."""
    path = state_dir / ENDPOINTS_FILE
    text = msgspec.json.format(msgspec.json.encode(endpoints)) + b"\n"
    if _is_lent(path):
        with path.open("r+b", buffering=0) as file:
            file.write(text.rjust(_LENT_FILE_BYTES))
            file.truncate()
        return
    part = path.with_suffix(".part")
    part.write_bytes(text)
    os.replace(part, path)


def read_endpoints(state_dir: Path) -> Endpoints:
    """Return what `state_dir` says. Raises NoEndpoints in one line that says what to do."""
    path = state_dir / ENDPOINTS_FILE
    try:
        text = path.read_bytes()
        if not text:
            raise NoEndpoints(f"{path}: empty; is the gateway of this table running?")
        return msgspec.json.decode(text, type=Endpoints)
    except OSError as missing:
        raise NoEndpoints(
            f"{path}: {missing.strerror}; is the gateway of this table running?"
        ) from missing
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as wrong:
        raise NoEndpoints(f"{path}: {wrong}; restart the gateway") from wrong


def remove_endpoints(state_dir: Path) -> None:
    """Forget them: nobody listens there any more."""
    path = state_dir / ENDPOINTS_FILE
    if _is_lent(path):
        os.truncate(path, 0)
    else:
        path.unlink(missing_ok=True)


def _is_lent(path: Path) -> bool:
    """Tell whether the file is another's than its folder, or a link to such a one."""
    try:
        return path.is_symlink() or path.stat().st_uid != path.parent.stat().st_uid
    except FileNotFoundError:
        return False


def reachable_address(bound: str) -> str:
    """Return the address at which this computer reaches a socket bound at `bound`."""
    return bound.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:")
