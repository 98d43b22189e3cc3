"""`dealtable bundle`: a diagnostics bundle of one table, for people who look for a fault."""

import base64
import gzip
import io
import os
import tarfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import reduce
from pathlib import Path
from typing import Final

import click

from controller.cli import CliError
from controller.cli.bundle_parts import BundlePart, BundleRequest, collect_parts, read_table_name
from controller.cli.options import FILE, PRESENT_FILE, PRESENT_FOLDER
from controller.config import RUNTIME_ROOT, ConfigError, load_table
from controller.host.printable_text import safe_line
from controller.journal.entries import JournalError
from controller.journal.verify.sources import read_source
from controller.roster import CLIENTS_FOLDER, KEYS_FOLDER

EPILOG = """\b
Examples:
  dealtable bundle --state-dir state
  dealtable bundle --state-dir /var/lib/dealtable/T01 --config table.toml --out t01.tar.gz
  dealtable bundle --state-dir state --last 500 --replace
  tar -xzOf t01.tar.gz dealtable-T01/events.jsonl > events.jsonl; dealtable verify events.jsonl
"""

_SECRET_FILES: Final = (".key_secret", ".sign")
_SECRET_LINES: Final = ("secret-key", "sign", "unseal")
_REPLACEMENT: Final = b"(secret)"
_MIN_SEALED_CHARS: Final = 24
"""Minimum length of a text in a private entry that is treated as sealed data or an attempt's
events.
"""


@click.command("bundle", epilog=EPILOG)
@click.option(
    "--state-dir",
    type=PRESENT_FOLDER,
    required=True,
    help="Where the table keeps its journal and its keys.",
)
@click.option(
    "--config",
    type=PRESENT_FILE,
    help="The table's configuration. [default: table.toml in the state directory]",
)
@click.option(
    "--event",
    "events",
    multiple=True,
    type=PRESENT_FILE,
    metavar="FILE",
    help="An event's own regulations, for the check of the journal; may be given again.",
)
@click.option(
    "--last",
    type=click.IntRange(min=0),
    metavar="N",
    help="Only the newest N public entries. [default: all]",
)
@click.option(
    "--out",
    type=FILE,
    metavar="FILE.tar.gz",
    help="What to write. [default: dealtable-TABLE.tar.gz here]",
)
@click.option("--replace", is_flag=True, help="Replace FILE.tar.gz if it is there already.")
def command(
    state_dir: Path,
    config: Path | None,
    events: tuple[Path, ...],
    last: int | None,
    out: Path | None,
    replace: bool,
) -> None:
    """Write a diagnostics bundle of a table: data that helps to find a fault, and no secrets.

    It contains the configuration, the journal's public entries and their `verify` report, the
    numbers of the boards' events, logs, metrics, the certificates' names and fingerprints, system
    and packages. It does not contain keys, seeds that are not revealed yet, faces that are not
    public, or anything sealed. The table may run meanwhile.

    Exit 0: written; 2: it cannot be.
    """
    name = read_table_name(state_dir)
    target = out or Path(f"dealtable-{name}.tar.gz")
    if target.exists() and not replace:
        raise CliError(f"{target} exists already: name another with --out, or give --replace")
    asked = BundleRequest(state_dir, config or state_dir / "table.toml", last, events)
    secrets = sorted(set(_encodings(_collect_secrets(asked))), key=len, reverse=True)
    taken = [
        part._replace(
            body=reduce(lambda body, one: body.replace(one, _REPLACEMENT), secrets, part.body)
        )
        for part in collect_parts(asked)
    ]
    try:
        _write(target, _build_archive(f"dealtable-{name}", taken))
    except OSError as error:
        raise CliError(f"{target} cannot be written: {error.strerror}") from error
    for part in taken:
        click.echo(safe_line(f"{part.name:<24} {len(part.body):>9} bytes  {part.description}"))
    click.echo(f"{target}: {len(taken)} parts of table {name}; no key, seed or hidden face in it")


def _build_archive(folder: str, parts: Iterable[BundlePart]) -> bytes:
    """Return the bytes of a tar.gz of `parts`. The same parts always give the same bytes."""
    packed = io.BytesIO()
    with (
        gzip.GzipFile(fileobj=packed, mode="wb", mtime=0) as squeezed,
        tarfile.open(fileobj=squeezed, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        for part in sorted(parts):
            entry = tarfile.TarInfo(f"{folder}/{part.name}")
            entry.size, entry.mode = len(part.body), 0o600
            archive.addfile(entry, io.BytesIO(part.body))
    return packed.getvalue()


def _write(target: Path, body: bytes) -> None:
    """Write `body` into the file `target`, completely or not at all. Only this user can read it."""
    part = target.with_name(f".{target.name}.part")
    part.unlink(missing_ok=True)
    handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(body)
    part.replace(target)


# A last check: every known secret is removed from all parts, wherever it came from.


def _collect_secrets(request: BundleRequest) -> Iterator[bytes]:
    """Yield every secret that this user can read. The bundle must contain none of them."""
    for folder in (KEYS_FOLDER, CLIENTS_FOLDER):
        there = (request.state_dir / folder).rglob("*")
        for path in sorted(path for path in there if path.suffix in _SECRET_FILES):
            with suppress(OSError, UnicodeDecodeError):
                yield from _secrets_in(path.read_text(encoding="utf-8"))
    try:
        runtime_dir = load_table(request.config).table.runtime_dir
    except ConfigError:
        runtime_dir = RUNTIME_ROOT / read_table_name(request.state_dir)
    for path in sorted(runtime_dir.glob("attempt-*.key")):
        with suppress(OSError):
            yield path.read_bytes()
    with suppress(JournalError, OSError):
        for chained in read_source(request.state_dir).entries:
            if not chained.entry.public:
                texts = (text for text in chained.entry.data.values() if isinstance(text, str))
                yield from (text.encode() for text in texts if len(text) >= _MIN_SEALED_CHARS)


def _secrets_in(certificate: str) -> Iterator[bytes]:
    for line in certificate.splitlines():
        name, _, value = line.partition("=")
        if name.strip() in _SECRET_LINES:
            text = value.strip().strip('"')
            yield text.encode()
            with suppress(ValueError):
                yield bytes.fromhex(text)


def _encodings(secrets: Iterable[bytes]) -> Iterator[bytes]:
    """Yield each secret as bytes, as hexadecimal digits and as Base64."""
    for secret in secrets:
        if secret:
            yield from (secret, secret.hex().encode())
            yield from (base64.b64encode(secret), base64.urlsafe_b64encode(secret))
