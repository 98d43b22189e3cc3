"""Where a table's sockets are: `endpoints.json` in its state directory.

Written when the sockets are bound, with the ports they really have, so that
`watch`, `send` and the console of the same computer need no configuration.
"""

import os
from pathlib import Path

import msgspec

FILE = "endpoints.json"


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
    path = state_dir / FILE
    part = path.with_suffix(".part")
    part.write_bytes(msgspec.json.format(msgspec.json.encode(endpoints)) + b"\n")
    os.replace(part, path)


def read_endpoints(state_dir: Path) -> Endpoints:
    """Return what `state_dir` says. Raises NoEndpoints in one line that says what to do."""
    path = state_dir / FILE
    try:
        return msgspec.json.decode(path.read_bytes(), type=Endpoints)
    except OSError as missing:
        raise NoEndpoints(
            f"{path}: {missing.strerror}; is the gateway of this table running?"
        ) from missing
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as wrong:
        raise NoEndpoints(f"{path}: {wrong}; restart the gateway") from wrong


def remove_endpoints(state_dir: Path) -> None:
    """Forget them: nobody listens there any more."""
    (state_dir / FILE).unlink(missing_ok=True)


def reachable(bound: str) -> str:
    """Return the address at which this computer reaches a socket bound at `bound`."""
    return bound.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:")
