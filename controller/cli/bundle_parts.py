"""The parts of a diagnostics bundle: configuration, entries, logs, metrics and certificates."""

import asyncio
import importlib.metadata
import ipaddress
import os
import platform
import re
import shutil
import socket
import sys
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

import msgspec

from controller.client.discovery import NoEndpoints, read_endpoints
from controller.gateway.metrics_endpoint import METRICS_PATH
from controller.journal.entries import ChainedEntry, JournalError, public_event
from controller.journal.entry_kinds import ENTRY_KINDS
from controller.journal.verify import verify
from controller.journal.verify.sources import JournalSource, read_source
from controller.roster import (
    ADMITTED_FOLDER,
    CLIENTS_FOLDER,
    KEYS_FOLDER,
    REVOKED_FOLDER,
    RosterError,
    fingerprint,
    read_certificate,
)
from controller.rules.profile_files import ProfileError

METRICS_TIMEOUT_S: Final = 3.0
"""Time limit for the gateway to send all of its metrics."""
MAX_METRICS_BYTES: Final = 1 << 20
"""Maximum bytes of an answer."""


def fetch_metrics(address: str) -> bytes:
    """Request the metrics of a gateway at `address`, and return them.

    The address must be `http://HOST:PORT/metrics`, and its host must be this computer. Raises
    ValueError or OSError with a text for people.
    """
    where = urlsplit(address)
    host, port = where.hostname or "", where.port or 0
    if (where.scheme, where.path) != ("http", METRICS_PATH) or not (port and _is_own_address(host)):
        raise ValueError("its gateway names no address of this computer for its metrics")
    try:
        answer = asyncio.run(_get_metrics(host, port))
    except TimeoutError:
        raise ValueError(f"no metrics in {METRICS_TIMEOUT_S:g} s") from None
    if len(answer) > MAX_METRICS_BYTES:
        raise ValueError(f"more than {MAX_METRICS_BYTES} bytes of metrics")
    head, end, body = answer.partition(b"\r\n\r\n")
    if not end or not re.match(rb"HTTP/1\.[01] 200 ", head):
        raise ValueError("what answers there has no metrics")
    return body


def _is_own_address(host: str) -> bool:
    """Return True if `host` is an IP address of this computer."""
    try:
        address = ipaddress.ip_address(host)
        family = socket.AF_INET6 if address.version == 6 else socket.AF_INET
        with socket.socket(family) as probe:
            probe.bind((host, 0))  # only an address of this computer can be bound
    except (ValueError, OSError):
        return False
    return not address.is_multicast


async def _get_metrics(host: str, port: int) -> bytes:
    """Send a gateway an HTTP request for its metrics, and return the reply. Raises OSError."""
    async with asyncio.timeout(METRICS_TIMEOUT_S):
        reader, writer = await asyncio.open_connection(host, port)
        try:
            writer.write(f"GET {METRICS_PATH} HTTP/1.0\r\n\r\n".encode())
            answer = b""
            while len(answer) <= MAX_METRICS_BYTES and (more := await reader.read(1 << 16)):
                answer += more
            return answer
        finally:
            writer.close()


MAX_LOG_BYTES: Final = 1 << 20
"""Bytes at the end of a log that are included."""
_SECRET_NAME: Final = re.compile(r"secret|passw|token|seed|private|^key$|_key$|^sign$", re.I)
_FAILURES: Final = (OSError, ValueError, JournalError, NoEndpoints, RosterError, ProfileError)


class BundlePart(NamedTuple):
    """One file of a diagnostics bundle: its name, its bytes, and a description for people."""

    name: str
    body: bytes
    description: str


class BundleRequest(NamedTuple):
    """The folders and files from which a diagnostics bundle is made.

    `last` is the number of public entries to include, the newest ones. With None all are included.
    """

    state_dir: Path
    config: Path
    last: int | None
    events: tuple[Path, ...]


def collect_parts(request: BundleRequest) -> Iterator[BundlePart]:
    """Yield the parts of a diagnostics bundle in a fixed order. If a part is not available, its
    file contains the reason instead.
    """
    for name, take, says in _PARTS:
        try:
            body = take(request)
        except _FAILURES as failure:
            yield BundlePart(
                f"{name}.missing.txt", f"{failure}\n".encode(), f"not available: {failure}"
            )
        else:
            yield BundlePart(name, body, says)
    for log in sorted(request.state_dir.glob("*.log")):
        with log.open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - MAX_LOG_BYTES))
            yield BundlePart(f"logs/{log.name}", file.read(), "a log, at most its last megabyte")


def read_table_name(state_dir: Path) -> str:
    """Return the table's name from the journal in `state_dir`, or "table" if it has none."""
    try:
        opened = _opened_data(read_source(state_dir))
    except (JournalError, OSError):
        return "table"
    name = str(opened.get("table", "table"))
    return re.sub(r"[^A-Za-z0-9_-]", "_", name) or "table"


def _read_config(request: BundleRequest) -> bytes:
    """Return the configuration as JSON, without secrets. Comments may contain secrets, too."""
    return _json(_redact(tomllib.loads(request.config.read_text(encoding="utf-8"))))


def _redact(value: Any, name: str = "") -> Any:
    if isinstance(value, dict):
        return {key: _redact(inner, key) for key, inner in value.items()}
    if isinstance(value, list):
        return [_redact(inner, name) for inner in value]
    return "(not shown)" if _SECRET_NAME.search(name) else value


def _read_events(request: BundleRequest) -> bytes:
    """Return the public entries in the form of the feed, which `dealtable verify` can check."""
    source = read_source(request.state_dir)
    opened = _opened_data(source)
    table, simulated = str(opened.get("table", "")), bool(opened.get("simulated"))
    public = [chained for chained in source.entries if _is_public(chained)]
    shown = public if request.last is None else public[-request.last :] if request.last else []
    events = (public_event(chained, table, simulated) for chained in shown)
    return b"".join(msgspec.json.encode(event) + b"\n" for event in events)


def _count_private(request: BundleRequest) -> bytes:
    """Count the private entries of each kind. Return the counts as JSON, without any content.

    For each group of board events the JSON also has the first and the last event number.
    """
    private = [
        item.entry for item in read_source(request.state_dir).entries if not _is_public(item)
    ]
    wire = [
        {"n": entry.n, "attempt": entry.attempt, "boots": _event_numbers(entry.data.get("boots"))}
        for entry in private
        if entry.kind == "wire"
    ]
    return _json({"entries": dict(sorted(Counter(e.kind for e in private).items())), "wire": wire})


def _event_numbers(boots: Any) -> dict[str, list[int]]:
    """Map each board to its boot id, first and last event number. Invalid data is left out."""
    if not isinstance(boots, Mapping):
        return {}
    return {
        str(board): [number for number in numbers if isinstance(number, int)]
        for board, numbers in boots.items()
        if isinstance(numbers, list)
    }


def _read_certificates(request: BundleRequest) -> bytes:
    """Return the names, roles and fingerprints of all certificates, read from public files only."""
    shown = [
        {"file": f"{folder}/{path.name}"} | _describe_certificate(path)
        for folder in (KEYS_FOLDER, CLIENTS_FOLDER, ADMITTED_FOLDER, REVOKED_FOLDER)
        for path in sorted((request.state_dir / folder).glob("*.key"))
    ]
    if not shown:
        raise RosterError(f"{request.state_dir}: no certificate is there")
    return _json(shown)


def _describe_certificate(path: Path) -> dict[str, Any]:
    try:
        read_ = read_certificate(path)
    except RosterError:
        return {"error": "no certificate that can be used"}
    return {
        "name": read_.name,
        "role": read_.role,
        "fingerprint": fingerprint(read_),
        "expires": read_.expires,
        "secret_beside_it": path.with_suffix(".key_secret").exists(),
    }


def _read_metrics(request: BundleRequest) -> bytes:
    if told := read_endpoints(request.state_dir).metrics:
        return fetch_metrics(told)
    raise NoEndpoints(f"{request.state_dir}: its gateway serves no metrics")


def _describe_system(request: BundleRequest) -> bytes:
    disk = shutil.disk_usage(request.state_dir)
    memory = (line.partition(":") for line in Path("/proc/meminfo").read_text().splitlines())
    shown = ("MemTotal", "MemAvailable", "SwapTotal")
    found = importlib.metadata.distributions()
    return _json(
        {
            "os": platform.freedesktop_os_release().get("PRETTY_NAME"),
            "kernel": platform.release(),
            "machine": platform.machine(),
            "board": _read_line("/proc/device-tree/model"),
            "python": sys.version.split()[0],
            "cpus": os.cpu_count(),
            "load": _read_line("/proc/loadavg"),
            "memory": {name: text.strip() for name, _, text in memory if name in shown},
            "state_dir_disk_bytes": {"total": disk.total, "free": disk.free},
            "packages": dict(sorted((each.metadata["Name"], each.version) for each in found)),
        }
    )


def _read_line(path: str) -> str | None:
    try:
        return Path(path).read_text().strip("\0\n")
    except OSError:
        return None


def _opened_data(source: JournalSource) -> dict[str, Any]:
    return next((c.entry.data for c in source.entries if c.entry.kind == "opened"), {})


def _is_public(chained: ChainedEntry) -> bool:
    """Return True if an entry is marked as public, and its kind is a public or an unknown kind.

    The mark or the kind may be forged.
    """
    kind = ENTRY_KINDS.get(chained.entry.kind)
    return chained.entry.public and (kind is None or kind.public)


def _json(value: Any) -> bytes:
    return msgspec.json.format(msgspec.json.encode(value), indent=1) + b"\n"


_PARTS: Final[tuple[tuple[str, Callable[[BundleRequest], bytes], str], ...]] = (
    ("configuration.json", _read_config, "the configuration, without comments and secrets"),
    ("endpoints.json", lambda of: _json(read_endpoints(of.state_dir)), "where the gateway serves"),
    ("events.jsonl", _read_events, "public entries of the journal; `dealtable verify` reads them"),
    ("keys.json", _read_certificates, "names, roles and fingerprints of the certificates"),
    ("metrics.txt", _read_metrics, "the metrics of this moment"),
    (
        "private.json",
        _count_private,
        "how many private entries there are, and the boards' event numbers",
    ),
    ("system.json", _describe_system, "system, packages, memory, disk"),
    (
        "verify.json",
        lambda of: _json(verify(of.state_dir, events=of.events)),
        "the findings of `dealtable verify` on the journal",
    ),
)
