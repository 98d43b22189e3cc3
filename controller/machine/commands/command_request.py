"""A command with its signer: the key's name, the key's role, and the person."""

import asyncio
import hashlib
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

import msgspec

from controller.commands.argument_values import VerbalArgs
from controller.commands.registry import COMMANDS_WITH_PRIVATE_ARGS, BadArgs, parse_args
from controller.faults import fault
from controller.journal.entries import check_entry_data
from controller.machine.table_record import TableRecord
from controller.match.refusals import Refusal
from controller.messages import ClientCommand, Failure, Role
from controller.signing import canonical_json
from controller.words import Words, signer_text


class CommandSigner(msgspec.Struct, frozen=True, gc=False):
    """The signer of a command: the name and the role of the key, and the person if one is named.

    `name` is that of the key's certificate. `person` is the person who uses the key, or None if the
    command names no person.
    """

    name: str
    role: Role
    person: str | None = None

    @property
    def signed_text(self) -> str:
        """Return the signer as text: the person, if there is one, and the name of the key."""
        return signer_text(self.name, self.person)

    def decision_fields(self, args: VerbalArgs) -> dict[str, Any]:
        """Return the fields of an event that record who decided and who entered the decision.

        `by` decided: the chief for a verbal decision, otherwise the signer. `entered_by` entered a
        verbal decision; it is None if the signer decided.
        """
        return {
            "by": args.by or self.signed_text,
            "role": self.role,
            "verbal": args.verbal,
            "entered_by": self.signed_text if args.verbal else None,
        }


class RequestedCommand(msgspec.Struct, frozen=True, gc=False):
    """A command that must be checked, with its parsed arguments and its signer.

    `key` is the key that signed it. None means that the request only asks whether the command is
    possible.
    """

    cmd: str
    args: Any
    signer: CommandSigner
    key: str | None = None


MAX_COMMANDS_OF_KEY: Final = 100_000
"""Commands of one key that are remembered. After that the key can give no more in this run. At two
a second that is half a day without a break (provisional).
"""
MAX_WHOLE_ANSWERS: Final = 1000
"""Answers that are stored completely. For the others only the result is stored."""
DONE: Final = ""
"""The stored result of a command that was not refused."""

_HASH_BYTES: Final = 16
"""Length of the hashes that are stored for ids and contents."""
CommandAnswer = dict[str, Any] | Failure


def content_hash(command: ClientCommand) -> bytes:
    """Return a hash over the fields of a command without its id, run and signature."""
    of = [command.deal, command.attempt]
    return _short_hash(canonical_json([command.cmd, of, command.person, command.args]))


def row_content_hash(row: Mapping[str, Any]) -> bytes | None:
    """Return the content hash of a command from its journal row, or None for a row without args."""
    if "args" not in row:
        return None
    return _short_hash(canonical_json([row["cmd"], row["of"], row["person"], row["args"]]))


class CompletedCommands:
    """The completed commands of this run with their answers, by key and command id."""

    def __init__(
        self, max_commands: int = MAX_COMMANDS_OF_KEY, max_answers: int = MAX_WHOLE_ANSWERS
    ) -> None:
        self._max_commands, self._max_answers = max_commands, max_answers
        self._known: dict[str, dict[bytes, tuple[str, bytes]]] = {}
        self._answers: dict[tuple[str, str], CommandAnswer] = {}

    def remember(self, command: ClientCommand, answer: CommandAnswer | None) -> None:
        """Store a command with its answer, or with None if it has no answer.

        The first call counts. After a key has reached its limit, nothing more is stored, and none
        of its commands is executed.
        """
        key = command.key or ""
        known = self._known.setdefault(key, {})
        name = _short_hash(command.id.encode())
        if name in known or self.is_full(key):
            return
        code = answer.code if isinstance(answer, Failure) else DONE
        known[name] = code, content_hash(command)
        if answer is not None:
            self._answers[key, command.id] = answer
            if len(self._answers) > self._max_answers:
                del self._answers[next(iter(self._answers))]

    def answer_of(self, key: str, command_id: str) -> CommandAnswer | str | None:
        """Return the stored answer or result code of a command, or None for an unknown command.

        For an answer that is no longer stored, return its code: that of the refusal, or DONE.
        """
        answer = self._answers.get((key, command_id))
        if answer is not None:
            return answer
        known = self._known.get(key, {}).get(_short_hash(command_id.encode()))
        return None if known is None else known[0]

    def content_of(self, key: str, command_id: str) -> bytes | None:
        """Return the content hash of a completed command, or None if the id is not known."""
        known = self._known.get(key, {}).get(_short_hash(command_id.encode()))
        return None if known is None else known[1]

    def is_full(self, key: str) -> bool:
        """Return whether `key` has signed as many commands as it may sign in one run."""
        return len(self._known.get(key, ())) >= self._max_commands


def _short_hash(what: bytes) -> bytes:
    return hashlib.sha256(what).digest()[:_HASH_BYTES]


class CommandRefused(Exception):
    """A refusal of a command, as an exception with the answer for the client."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


def failure(name: str, **evidence: object) -> Failure:
    """Return the refusal `name` of the fault catalogue, with `evidence` in its text."""
    said = ((what, v if isinstance(v, Words) else str(v)) for what, v in evidence.items())
    return _cached_failure(name, tuple(said))


@lru_cache(maxsize=512)
def _cached_failure(name: str, said: tuple[tuple[str, str | Words], ...]) -> Failure:
    row, evidence = fault(name), dict(said)
    found = evidence.get("found")
    if isinstance(found, Words) and found.en == found.zh:
        found = found.en
    return Failure(
        code=name,
        message=row.cause(evidence),
        action=row.action(evidence),
        message_zh=row.cause(evidence, "zh"),
        action_zh=row.action(evidence, "zh"),
        found=found if isinstance(found, str) else None,
    )


def failure_of(refusal: Refusal) -> Failure:
    """Convert a refusal of the match into a refusal for the client."""
    named = refusal.subject if isinstance(refusal.subject, str) else None
    return msgspec.structs.replace(failure(refusal.code, **refusal.evidence), found=named or None)


class AcceptedCommand:
    """A command that passed all checks. It ends with `send_answer` or `refuse`.

    `args` have the type of controller/commands/registry.py. `signer` gave the command.
    """

    def __init__(
        self, command: ClientCommand, who: CommandSigner, args: Any, record: TableRecord
    ) -> None:
        self.message = command
        self.signer = who
        self.args = args
        self.answer: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._record = record
        self._result: dict[str, Any] | None = None

    @property
    def request(self) -> RequestedCommand:
        """Return a RequestedCommand with the arguments, signer and key of this command."""
        return RequestedCommand(self.message.cmd, self.args, self.signer, self.message.key)

    def write(self, result: Mapping[str, Any] | None = None) -> None:
        """Write the command into the journal, with its result.

        The executor syncs, and then calls `send_answer`.
        """
        self._result = dict(result or {})
        self._write({"result": self._result})

    def send_answer(self, sealed: Mapping[str, Any] | None = None) -> None:
        """Send the client the result, and the data `sealed`, which only this client can decrypt."""
        if not self.answer.done():
            self.answer.set_result({**(self._result or {}), **(sealed or {})})

    async def write_and_answer(self, result: Mapping[str, Any] | None = None) -> None:
        """Write the command into the journal, wait until the entry is on the disk, and answer."""
        self.write(result)
        await self._record.sync()
        self.send_answer()

    def refuse(self, name: str, **evidence: object) -> None:
        """Answer that the command is refused for the fault `name`. Its id stays refused."""
        self.refuse_with(failure(name, **evidence))

    def refuse_with(self, why: Failure) -> None:
        """Answer that the command is refused for the reason `why`."""
        if self._result is not None:
            self.write_refusal(why)
        if not self.answer.done():
            self.answer.set_exception(CommandRefused(why))

    def write_refusal(self, why: Failure) -> None:
        """Write into the journal that the command was refused for the reason `why`."""
        self._write({"refused": why.code})
        self._record.journal.flush()

    def _write(self, how: dict[str, Any]) -> None:
        command, state = self.message, self._record.state
        data: dict[str, Any] = {
            "id": command.id,
            "key": command.key,
            "cmd": command.cmd,
            "role": self.signer.role.value,
            "who": self.signer.name,
            "person": self.signer.person,
        }
        at: dict[str, Any] = {"deal": state.deal, "attempt": state.attempt}
        signed: dict[str, Any] = {"args": dict(command.args)}
        if command.sig is not None:
            signed = {
                "args": _storable_args(command.args),
                "of": [command.deal, command.attempt],
                "boot": command.boot,
                "sig": command.sig,
            }
        if command.sig is not None and command.cmd in COMMANDS_WITH_PRIVATE_ARGS:
            kept = {"id": command.id, "key": command.key} | signed
            self._record.write("command_kept", kept, public=False, **at)
            signed = {}
        self._record.write("command", data | signed | how, **at)


def uncut_reason(command: AcceptedCommand) -> str | None:
    """Return the reason for a deal without a cut, or None if the command starts no such deal."""
    uncut = command.message.cmd == "start_deal" and command.args.uncut
    return command.args.reason if uncut else None


def parse_command(command: ClientCommand) -> msgspec.Struct:
    """Convert a command's arguments into the command's argument class. Raises CommandRefused."""
    try:
        return parse_args(command.cmd, command.args)
    except BadArgs as bad:
        why = failure("BAD_COMMAND", found=bad.found, expected=bad.expected)
        raise CommandRefused(why) from None


def _storable_args(args: dict[str, Any]) -> dict[str, Any] | str:
    """Return a command's arguments, or their JSON text if no entry can contain the arguments."""
    try:
        check_entry_data("command", args)
    except ValueError:
        return canonical_json(args).decode()
    return dict(args)
