"""The checks of commands: signature, role, single use and effects.

The row of a command is compared with its effects and with the arguments and the signature of its
sender. A check finds: a cut that differs from the command, an uncut deal or a redeal without a
command, and a command that was forged, used twice, or used for something else. command_effects.py
lists the effects of each command.
"""

from collections.abc import Sequence
from typing import Any, Final

import msgspec

from controller.commands.registry import COMMANDS, COMMANDS_WITH_PRIVATE_ARGS, PANEL_KEY
from controller.journal.attempt_history import AttemptHistory
from controller.journal.entries import JournalEntry
from controller.journal.verify.command_effects import check_command_effects, check_person_events
from controller.journal.verify.verify_report import Findings, VerifyFinding
from controller.messages import ClientCommand, Role
from controller.signing.signed_commands import BadSignature, check_command, check_document

BUTTON_COMMANDS: Final = frozenset({"start_deal", "cut", "release", "call", "out", "confirm"})
"""Commands that the table's buttons give."""
_KINDS_WITH_TABLE_KEY = frozenset({"opened", "committed"})
_SIGNED_FIELDS = ("person", "args", "of", "boot")
"""The signed fields, which the row must contain."""
_NOT_GIVEN_MEANS = "this command was not given, or another one was given"
_UNKNOWN_SIGNER_MEANS = "the sender of this command is unknown"


def check_commands(
    entries: Sequence[JournalEntry], progresses: Sequence[AttemptHistory], *, whole: bool
) -> Findings:
    """Yield the findings about commands: their signatures, their roles and their effects.

    If `whole` is False, rows of commands may be missing.
    """
    commands = [entry for entry in entries if entry.kind == "command"]
    yield from _check_each_command(entries, commands, whole=whole)
    for entry in entries:
        if entry.kind != "taken_over":
            continue
        said = [str(entry.data.get(name)) for name in ("digest", "verify", "sig")]
        try:
            check_document(*said)
        except BadSignature:
            what = f"the match from {entry.data.get('table')} is not signed by that table"
            yield VerifyFinding(entry.n, what, "the match was made up, or changed on its way")
    yield from check_command_effects(entries, commands, progresses, whole=whole)
    if whole:
        yield from check_person_events(entries, progresses)


def _check_each_command(
    entries: Sequence[JournalEntry], commands: Sequence[JournalEntry], *, whole: bool
) -> Findings:
    """Yield a finding for each command that is forged, not allowed, not answered, or used twice."""
    kept = {entry.n: entry.data for entry in entries if entry.kind == "command_kept"}
    keys = (entry.data.get("table_key") for entry in entries if entry.kind in _KINDS_WITH_TABLE_KEY)
    table_key = next((key for key in keys if isinstance(key, str)), None)
    acted: dict[tuple[object, object], int] = {}
    for command in commands:
        data = command.data
        if "result" in data:
            first = acted.setdefault((str(data.get("key")), str(data.get("id"))), command.n)
            if first != command.n:
                what = f"{data.get('cmd')} is the command of entry {first}, used twice"
                yield VerifyFinding(command.n, what, "an old command was used again")
        elif "refused" not in data:
            what = f"{data.get('cmd')} was neither carried out nor refused"
            yield VerifyFinding(command.n, what, "its answer was taken out")
        yield from _check_role(command)
        if data.get("key") != PANEL_KEY:
            beside = kept.pop(command.n - 1, {})
            if whole or command.data.get("cmd") not in COMMANDS_WITH_PRIVATE_ARGS:
                yield from _check_signature(command, beside, table_key)
    for n in kept:
        yield VerifyFinding(n, "a withheld command has no row after it", _NOT_GIVEN_MEANS)


def _check_role(command: JournalEntry) -> Findings:
    """Yield a finding if the role or the button that sent a command is not allowed to send it."""
    cmd, role = command.data.get("cmd"), command.data.get("role")
    if command.data.get("key") == PANEL_KEY:
        if cmd not in BUTTON_COMMANDS or role != Role.TABLE or is_uncut_command(command):
            uncut = " without a cut" * is_uncut_command(command)
            what = f"no button gives {cmd}{uncut} as {role}"
            yield VerifyFinding(command.n, what, _NOT_GIVEN_MEANS)
        return
    known = COMMANDS.get(str(cmd))
    if known is not None and known.signed and role not in known.roles:
        what = f"{cmd} is not for the role {role}"
        yield VerifyFinding(command.n, what, "the machine refuses such a command")


def _check_signature(
    command: JournalEntry, kept_fields: dict[str, Any], table_key: str | None
) -> Findings:
    """Yield a finding for each error in the signature and the signed fields of one command.

    `kept_fields` has the data of the private row of a withheld command, or is empty.
    """
    cmd = command.data.get("cmd")
    data = {**command.data, **kept_fields}
    other = (kept_fields.get(name) != command.data.get(name) for name in ("id", "key"))
    if kept_fields and any(other):
        what = f"{cmd} is not the command that was withheld"
        yield VerifyFinding(command.n, what, _NOT_GIVEN_MEANS)
    if data.get("sig") is None:
        yield VerifyFinding(command.n, f"{cmd} has no signature", _UNKNOWN_SIGNER_MEANS)
        return
    lacking = [name for name in _SIGNED_FIELDS if name not in data]
    if lacking:
        yield VerifyFinding(command.n, f"{cmd} lacks {', '.join(lacking)}", _UNKNOWN_SIGNER_MEANS)
        return
    if table_key is not None and not _has_valid_signature(data, table_key):
        what = f"{cmd} is not signed by the key that it names"
        yield VerifyFinding(command.n, what, _NOT_GIVEN_MEANS)
    if data.get("boot") != command.boot:
        run = data.get("boot")
        what = f"{cmd} was given to run {run} of the table, but another run acted on it"
        yield VerifyFinding(command.n, what, "an old command was used again")
    known, (deal, attempt) = COMMANDS.get(str(cmd)), _signed_attempt(data)
    names_attempt = known is not None and known.bound_to == "machine"
    if names_attempt and "result" in data and (deal, attempt) != (command.deal, command.attempt):
        what = (
            f"{cmd} was signed for deal {deal}, attempt {attempt}, and was used for "
            f"deal {command.deal}, attempt {command.attempt}"
        )
        yield VerifyFinding(command.n, what, "an old command was used again")


def is_uncut_command(command: JournalEntry) -> bool:
    """Return whether the command is a `start_deal` that orders a deal without a cut."""
    data = command.data
    said = [data.get("result"), data.get("args")]
    result, args = (each if isinstance(each, dict) else {} for each in said)
    ends_waiting = "cut" in result and result["cut"] is None
    is_ordered = "uncut" in result or args.get("uncut") is True
    return data.get("cmd") == "start_deal" and (ends_waiting or is_ordered)


def _has_valid_signature(data: dict[str, Any], table_key: str) -> bool:
    deal, attempt = _signed_attempt(data)
    fields = ClientCommand.__struct_fields__
    said = {name: data[name] for name in fields if name in data} | {"deal": deal}
    try:
        # Refused arguments may be JSON text.
        if isinstance(data["args"], str) and "result" not in data:
            said["args"] = msgspec.json.decode(data["args"])
        check_command(msgspec.convert(said | {"attempt": attempt}, ClientCommand), table_key)
    except (msgspec.MsgspecError, BadSignature, ValueError, RecursionError):
        return False
    return True


def _signed_attempt(data: dict[str, Any]) -> tuple[Any, Any]:
    """Return the signed deal and attempt of a command, or (None, None) if it names neither."""
    of = data.get("of")
    return (of[0], of[1]) if isinstance(of, list | tuple) and len(of) == 2 else (None, None)
