"""`dealtable open`: decrypts an attempt with the chief's key if the attempt's key was lost."""

import base64
from pathlib import Path
from typing import Any

import click
import msgspec
from nacl.utils import random as entropy

from controller.cli import CliError, raise_cli_error
from controller.cli.options import PRESENT_FILE, PRESENT_FOLDER
from controller.journal.attempt_history import AttemptHistory, attempt_histories
from controller.journal.entries import JournalError
from controller.journal.packed_board_events import pack_opened, unpack_events
from controller.journal.verify import check_unsealed_attempt
from controller.journal.verify.sources import read_source
from controller.roster import RosterError, read_certificate
from controller.vault.sealing import AttemptKey, UnsealError, unseal_with

EPILOG = """\b
Examples:
  dealtable open state --attempt 7 --key chief.key_secret
  dealtable open state --attempt 7 --key chief.key_secret --json > attempt-7.json
"""
_NONCE_BYTES = 32


@click.command("open", epilog=EPILOG)
@click.argument("state_dir", type=PRESENT_FOLDER)
@click.option("--attempt", type=click.IntRange(1), required=True, help="Its number.")
@click.option(
    "--key",
    type=PRESENT_FILE,
    required=True,
    help="The chief's .key_secret, which the attempt's key was sealed to.",
)
@click.option("--json", "as_json", is_flag=True, help="Print seed, cut and record as JSON.")
@click.pass_context
def command(ctx: click.Context, state_dir: Path, attempt: int, key: Path, as_json: bool) -> None:
    """Decrypt and check the data of an attempt whose key the machine has lost.

    After a power cut the machine has lost the key of the attempt in progress, and writes the entry
    `sealed_to_chief`. The chief's key opens the attempt here: seed, cut and all observations of the
    boards. They are checked as `verify` checks every other attempt. An attempt that is still in
    progress, or whose record is already open, is refused.

    Exit 0: all checks pass; 1: a finding; 2: it cannot be opened.
    """
    progress = _find_sealed_attempt(state_dir, attempt)
    revealed, record = _open_boxes(progress, _unseal_attempt_key(progress, key))
    standing, findings = check_unsealed_attempt(progress, revealed, record)
    if as_json:
        shown = {"attempt": attempt, "deal": progress.deal, "revealed": revealed, "record": record}
        click.echo(msgspec.json.encode(shown))
    else:
        click.echo(f"{standing}; seed {revealed['seed']}, cut {revealed['cut']}")
    for finding in findings:
        click.echo(str(finding), err=as_json)
    ctx.exit(1 if findings else 0)


def _find_sealed_attempt(state_dir: Path, number: int) -> AttemptHistory:
    """Return the entries of the attempt `number`, which only the chief's key can decrypt.

    Raises CliError if there is no such attempt, or if the chief's key is not needed for it.
    """
    with raise_cli_error(JournalError):
        entries = [chained.entry for chained in read_source(state_dir).entries]
    if (progress := attempt_histories(entries).get(number)) is None:
        raise CliError(f"{state_dir}: there is no attempt {number}; see `dealtable verify`")
    if "sealed_to_chief" not in progress.steps:
        raise CliError(
            f"attempt {number} was not left to the chief: its record is open, or it is under way"
        )
    return progress


def _unseal_attempt_key(progress: AttemptHistory, key: Path) -> AttemptKey:
    """Return the attempt's key, decrypted with the chief's key in the file `key`.

    Raises CliError for another chief's key.
    """
    with raise_cli_error(RosterError):
        chief = read_certificate(key)
    if chief.unseal is None:
        raise CliError(f"{key}: holds no unsealing key; name the chief's .key_secret file")
    try:
        raw = unseal_with(chief.unseal, _read_box(progress, "seed", "for_chief"))
    except UnsealError:
        raise CliError(
            f"{key}: attempt {progress.attempt} was sealed to another chief's key"
        ) from None
    return AttemptKey(raw, entropy)


def _open_boxes(progress: AttemptHistory, key: AttemptKey) -> tuple[dict[str, Any], dict[str, Any]]:
    """Decrypt an attempt's sealed data. Return the data of two entries: `revealed` and `record`.

    The machine did not write these two entries. Raises CliError if the data was changed.
    """
    unseal = key.unseal
    cut = progress.data("cut")
    try:
        revealed = {
            "seed": unseal(_read_box(progress, "seed", "box")).hex(),
            "cut": None if cut is None else cut["cut"],
        }
        hands = (
            unseal(_read_box(progress, "hands_box", "box")) if progress.data("hands_box") else b""
        )
        # only the entries that the machine would have published
        until = progress.steps["sealed_to_chief"].n
        events = [
            event
            for entry in progress.wire_entries
            if entry.n < until
            for event in unpack_events(entry.data, entry.attempt, unseal)
        ]
    except UnsealError as error:
        raise CliError(f"attempt {progress.attempt}: {error}; its rows were changed") from None
    record: dict[str, Any] = {
        "nonce": hands[:_NONCE_BYTES].hex() or None,
        "hands": hands[_NONCE_BYTES:].hex() or None,
        "events": pack_opened(events),
        "key": key.raw.hex(),
    }
    return revealed, record


def _read_box(progress: AttemptHistory, kind: str, field: str) -> bytes:
    data = progress.data(kind) or {}
    return base64.b64decode(data.get(field, ""))
