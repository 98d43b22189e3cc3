"""`dealtable transfer`: a referee moves a match to another table (转台)."""

import asyncio
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import click
import msgspec

from controller.cli import CliError, raise_cli_error
from controller.cli.options import FILE, FOLDER, require_writable
from controller.cli.table_access import new_command_id, read_client_identity, read_table_endpoints
from controller.client.client import Client, NoAnswer
from controller.client.connection import BadAddress
from controller.host.printable_text import escape_unprintable
from controller.messages import Role
from controller.roster import KEYS_FOLDER, TABLE_NAME, RosterError, read_certificate
from controller.signing.signed_commands import BadSignature, check_document

EXAMPLES: Final = """\b
Examples:
  dealtable transfer --from T01 --to T02
  dealtable transfer --from T01 --to T02 --as referee --by "Chen Hua"

\b
If the two tables' directories are not on one computer, use two steps. Send the key, which the first
step prints, by another way than the file:
  dealtable transfer --from T01 --table T02 --file match.json
  dealtable transfer --file match.json --to T02 --from-key T01-table.key

\b
What happens: the first table stops the match, records its departure in the journal, and has no
match any more. A deal with released hands is continued at the other table. A deal that has not
begun is dealt again there. Then `dealtable send resume` continues the match, and `add_time` gives
back the time that the table lost during the transfer. The first table signs the match. The second
table accepts only a match with the signature of the key in the first table's keys/table.key, so the
match cannot be changed on the way. If the second step fails, correct the reported fault and give
the same command again: nothing is moved twice. A match that cannot arrive where it was sent may be
sent to a third table from the first one.
"""


class TransferPart(msgspec.Struct, frozen=True):
    """One part of the data of a transferred match, as the command `document` returns it."""

    match: str
    to: str
    digest: str
    sig: str
    part: int
    parts: int
    text: str


class TransferFailed(Exception):
    """The error for a transfer that a table refused, or for a match without a valid signature."""


class TransferClient:
    """A client that transfers a match between two tables, or between a table and a file.

    `source` and `target` are the state directories of the first and the second table. `verify` is
    the key (hex) that checks the first table's signature. The key of the client `client_name` signs
    the commands. `authority` has the chief's name, if a referee enters the chief's decision.
    """

    def __init__(
        self,
        source: Path | None,
        target: Path | None,
        verify: str,
        client_name: str,
        authority: dict[str, Any],
    ) -> None:
        self.source, self.target, self.verify_key = source, target, verify
        self._client_name, self._authority = client_name, authority

    async def fetch_match(self, table: str | None) -> tuple[TransferPart, ...]:
        """End the match at the first table, and return the data of the match in parts.

        The match goes to the second table, or to the table with the id `table` if the second
        table's state directory is not here. Raises TransferFailed.
        """
        assert self.source is not None  # checked by `_check_options`
        head = None
        if self.target is not None:
            present = await self._send_commands(self.target, [("snapshot", {})])
            table, head = present[-1]["table"], present[-1]["head"]
        leaves = {"table": table, "head": head, **self._authority}
        first = await self._send_commands(self.source, [("transfer", leaves), ("document", {})])
        rest = [("document", {"part": part}) for part in range(2, first[-1]["parts"] + 1)]
        more = await self._send_commands(self.source, rest)
        parts = tuple(msgspec.convert(part, TransferPart) for part in (first[-1], *more))
        self.check_signatures(parts, f"what {self.source} gave")
        return parts

    def check_signatures(self, parts: Sequence[TransferPart], description: str) -> None:
        """Raise TransferFailed (naming `description`) unless the first table signed the parts."""
        try:
            for part in parts:
                check_document(part.digest, self.verify_key, part.sig)
        except BadSignature:
            raise TransferFailed(
                f"{description} is not signed by the key {self.verify_key}: fetch the match again, "
                f"and compare the key with the first table's {KEYS_FOLDER}/{TABLE_NAME}.key"
            ) from None

    async def deliver_match(self, parts: Sequence[TransferPart]) -> dict[str, Any]:
        """Send a match in parts to the second table. Return the result: match, deal, phase."""
        assert self.target is not None  # checked by `_check_options`
        wanted = ("digest", "sig", "part", "parts", "text")
        known = {"verify": self.verify_key, **self._authority}
        taken = [{name: getattr(part, name) for name in wanted} | known for part in parts]
        answers = await self._send_commands(self.target, [("take_over", said) for said in taken])
        if "match" not in answers[-1]:
            raise CliError(f"parts {answers[-1]['missing']} are missing: give the command again")
        return answers[-1]

    async def _send_commands(
        self, state_dir: Path, commands: Sequence[tuple[str, dict[str, Any]]]
    ) -> list[dict[str, Any]]:
        """Send `commands` in order to one table. Return their results. Raises TransferFailed."""
        identity, found = read_client_identity(state_dir, self._client_name), []
        async with Client(read_table_endpoints(state_dir), identity, new_command_id) as client:
            for cmd, args in commands:
                reply = await client.ask(cmd, args)
                if (error := reply.error) is not None:
                    raise TransferFailed(
                        f"{state_dir} refused, {error.code}: {error.message}. {error.action}."
                    )
                found.append(reply.result or {})
        return found


@click.command(epilog=EXAMPLES)
@click.option("--from", "source", type=FOLDER, help="State directory of the table it leaves.")
@click.option("--to", "target", type=FOLDER, help="State directory of the table it goes to.")
@click.option("--table", metavar="ID", help="Id of the table it goes to, where --to is not here.")
@click.option(
    "--file",
    type=FILE,
    help="The match on its way: written where --to is missing, read where --from is.",
)
@click.option(
    "--from-key",
    "key",
    metavar="KEY",
    help="The key of the table it leaves, where --from is missing: a copy of its keys/table.key, "
    "or the `verify` of that in hex.",
)
@click.option("--as", "name", default=Role.CHIEF.value, show_default=True, help="Whose key.")
@click.option("--by", metavar="NAME", help="The chief who decided, if a referee gives the command.")
def command(
    source: Path | None,
    target: Path | None,
    table: str | None,
    file: Path | None,
    key: str | None,
    name: str,
    by: str | None,
) -> None:
    """Move a match to another table.

    The chief decides it; a referee may enter a verbal decision of the chief. Exit 0: the match is
    at its destination; 1: a table refused or did not answer, or the data was changed.
    """
    _check_options(source, target, table, file)
    if (source is None) is not (key is not None):
        raise click.UsageError("--from-key KEY: with --file alone, and never with --from")
    word = {} if by is None else {"verbal": True, "by": by}
    if file is not None and target is None:
        require_writable(file)  # before the match leaves its table
    verify = read_verify_key(
        source / KEYS_FOLDER / f"{TABLE_NAME}.key" if source is not None else key or ""
    )
    ends = TransferClient(source, target, verify, name, word)
    try:
        asyncio.run(_transfer_match(ends, table, file))
    except (NoAnswer, TransferFailed) as error:
        click.echo(f"{'no answer: ' if isinstance(error, NoAnswer) else ''}{error}", err=True)
        sys.exit(1)
    except BadAddress as error:
        raise CliError(str(error)) from None


def _check_options(
    source: Path | None, target: Path | None, table: str | None, file: Path | None
) -> None:
    """Raise click.UsageError unless the options name one source and one destination."""
    if source is None and (file is None or target is None):
        raise click.UsageError("name a source: --from DIR, or --file FILE with --to DIR")
    if source is not None and target is None and (table is None or file is None):
        raise click.UsageError("name a destination: --to DIR, or --table ID with --file FILE")
    if target is not None and table is not None:
        raise click.UsageError("give --to or --table, not both")
    if source is not None and target is not None and file is not None:
        raise click.UsageError("--file: there is no need of it between --from and --to")


def read_verify_key(key: str | Path) -> str:
    """Return the public key (in hex) that checks a table's signatures.

    `key` is this key itself, or the table's public certificate file. Raises CliError.
    """
    if isinstance(key, str) and re.fullmatch("[0-9a-f]{64}", key):
        return key
    with raise_cli_error(RosterError):
        return read_certificate(Path(key)).verify.hex()


async def _transfer_match(client: TransferClient, table: str | None, file: Path | None) -> None:
    if client.source is not None:
        parts = await client.fetch_match(table)
    else:
        parts = _read_parts(file)
        client.check_signatures(parts, f"{file}")
    if client.target is None:
        _write_parts(file, parts, client.verify_key)
        return
    stands = await client.deliver_match(parts)
    deal = f", deal {stands['deal']}" if stands["deal"] else ""
    where = f"match {stands['match']} is at {parts[0].to}{deal}, phase {stands['phase']}"
    click.echo(escape_unprintable(where))


def _write_parts(file: Path | None, parts: tuple[TransferPart, ...], verify_key: str) -> None:
    """Write the parts into `file`, and print the --from-key option that the second step needs."""
    assert file is not None  # checked by `_check_options`
    file.write_bytes(msgspec.json.encode(parts))
    left = f"match {parts[0].match} left for {parts[0].to}: it is in {file} now"
    click.echo(escape_unprintable(left))
    click.echo(f"there: --from-key {verify_key} (not out of the hands that carry the file)")


def _read_parts(file: Path | None) -> tuple[TransferPart, ...]:
    """Return the parts that `file` contains. Raises CliError if `file` has no valid parts."""
    assert file is not None  # checked by `_check_options`
    try:
        parts = msgspec.json.decode(file.read_bytes(), type=tuple[TransferPart, ...])
    except FileNotFoundError:
        raise CliError(f"{file}: there is no such file") from None
    except OSError as error:
        raise CliError(f"{file}: cannot be read: {error.strerror}") from None
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as wrong:
        raise CliError(f"{file}: no match on its way ({wrong})") from None
    if not parts:
        raise CliError(f"{file}: no match on its way (no parts)")
    return parts
