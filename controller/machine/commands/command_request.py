"""Who gives an order: the name that answers for it, and the role that allows it."""

import asyncio
import hashlib
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

import msgspec

from controller.commands.argument_values import VerbalArgs
from controller.commands.registry import (
    COMMANDS_WITH_PRIVATE_ARGS,
    BadArgs,
    parse_args,
)
from controller.faults import fault
from controller.journal.entries import check_entry_data
from controller.machine.table_record import TableRecord
from controller.match.refusals import Refusal
from controller.messages import ClientCommand, Failure, Role
from controller.signing.encoding import canonical_json
from controller.words import Words, signer_text


class CommandSigner(msgspec.Struct, frozen=True, gc=False):
    """A key that gives an order: the name of its certificate, its role, and who has it in hand.

    `person` is null where he did not say.
    """

    name: str
    role: Role
    person: str | None = None

    @property
    def signed_text(self) -> str:
        """What rows and people read: the key's name, behind the person's where he said it."""
        return signer_text(self.name, self.person)

    def decided_by(self, args: VerbalArgs) -> str:
        """Return who decided: the chief where this one enters his word, else himself."""
        return args.by or self.signed_text

    def entered_by(self, args: VerbalArgs) -> str | None:
        """Return who entered a decision as the chief's word; None: it is his own who gives it."""
        return self.signed_text if args.verbal else None


class RequestedCommand(msgspec.Struct, frozen=True, gc=False):
    """What somebody wants: a command, its arguments (as the command takes them), and who he is.

    `key` is the one that signed it; None where nobody did: then it is only asked whether it could
    be given.
    """

    cmd: str
    args: Any
    signer: CommandSigner
    key: str | None = None


MAX_COMMANDS_OF_KEY: Final = 100_000
"""Orders of one key that are known again; behind them that key gives none in this run. At two a
second that is half a day of orders without a break (provisional)."""
MAX_WHOLE_ANSWERS: Final = 1000
"""Answers that are kept whole; of the others it is known what they were."""
DONE: Final = ""
"""What is known of an order that was not refused."""

_HASH_BYTES: Final = 16
"""Length of a hash that is kept instead of an id, or of what an order asked."""
CommandAnswer = dict[str, Any] | Failure


def content_hash(command: ClientCommand) -> bytes:
    """Return a hash of all that an order asks: its fields without id, run and signature."""
    of = [command.deal, command.attempt]
    return _short_hash(canonical_json([command.cmd, of, command.person, command.args]))


def row_content_hash(row: Mapping[str, Any]) -> bytes | None:
    """Return `content` of the data of a `command` row; None if the row has no arguments."""
    if "args" not in row:
        return None
    return _short_hash(canonical_json([row["cmd"], row["of"], row["person"], row["args"]]))


class CompletedCommands:
    """What became of every order of a run, by signer and id."""

    def __init__(
        self, max_commands: int = MAX_COMMANDS_OF_KEY, max_answers: int = MAX_WHOLE_ANSWERS
    ) -> None:
        self._max_commands, self._max_answers = max_commands, max_answers
        self._known: dict[str, dict[bytes, tuple[str, bytes]]] = {}
        self._answers: dict[tuple[str, str], CommandAnswer] = {}

    def remember(self, command: ClientCommand, answer: CommandAnswer | None) -> None:
        """Know an order from now on; `answer` is None for one that has none. The first counts.

        Of a key that is full no more is known: none of its orders is carried out.
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
        """Return the answer to an order that is over, or the code that is left of it, or ACTED;
        None for one that is not known.
        """
        answer = self._answers.get((key, command_id))
        if answer is not None:
            return answer
        known = self._known.get(key, {}).get(_short_hash(command_id.encode()))
        return None if known is None else known[0]

    def content_of(self, key: str, command_id: str) -> bytes | None:
        """Return the content of an order that is over; None for one that is not known."""
        known = self._known.get(key, {}).get(_short_hash(command_id.encode()))
        return None if known is None else known[1]

    def is_full(self, key: str) -> bool:
        """Tell whether a key has given so many orders that another could not be remembered."""
        return len(self._known.get(key, ())) >= self._max_commands


def _short_hash(what: bytes) -> bytes:
    return hashlib.sha256(what).digest()[:_HASH_BYTES]


class CommandRefused(Exception):
    """A command that is not carried out, with what the client is told."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


def failure(name: str, **evidence: object) -> Failure:
    """Return a refusal out of the fault catalogue."""
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
    """Return what the match refuses, for whoever asked."""
    named = refusal.subject if isinstance(refusal.subject, str) else None
    return msgspec.structs.replace(failure(refusal.code, **refusal.evidence), found=named or None)


class AcceptedCommand:
    """A command that was found in order. It ends with `done` or `refuse`.

    `args` are of the type that controller/commands/registry.py has for it; `who` gave it.
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
        """What is asked, by whom, with whose signature."""
        return RequestedCommand(self.message.cmd, self.args, self.signer, self.message.key)

    def write(self, result: Mapping[str, Any] | None = None) -> None:
        """Journal that the command acts; whoever took it syncs, then calls `done`."""
        self._result = dict(result or {})
        self._write({"result": self._result})

    def send_answer(self, sealed: Mapping[str, Any] | None = None) -> None:
        """Answer with the result that was written, and with what only the asker may have."""
        if not self.answer.done():
            self.answer.set_result({**(self._result or {}), **(sealed or {})})

    async def write_and_answer(self, result: Mapping[str, Any] | None = None) -> None:
        """Journal that the command acts, and answer once that is durable."""
        self.write(result)
        await self._record.sync()
        self.send_answer()

    def refuse(self, name: str, **evidence: object) -> None:
        """Answer that it is not carried out, and why; its id is known to have failed."""
        self.refuse_with(failure(name, **evidence))

    def refuse_with(self, why: Failure) -> None:
        """Answer that it is not carried out, for a reason that was found elsewhere."""
        if self._result is not None:
            self._write({"refused": why.code})
            self._record.journal.flush()
        if not self.answer.done():
            self.answer.set_exception(CommandRefused(why))

    def write_refusal(self, why: Failure) -> None:
        """Journal the refusal of an order that was not begun."""
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
        if command.sig is not None:
            of = [command.deal, command.attempt]
            signed = {
                "args": _storable_args(command.args),
                "of": of,
                "boot": command.boot,
                "sig": command.sig,
            }
            if command.cmd in COMMANDS_WITH_PRIVATE_ARGS:
                kept = {"id": command.id, "key": command.key} | signed
                self._record.write("command_kept", kept, public=False, **at)
            else:
                data |= signed
        else:
            data |= {"args": dict(command.args)}
        self._record.write("command", data | how, **at)


def uncut_reason(command: AcceptedCommand) -> str | None:
    """Return why an order starts a deal without its cut; None where it does not say so."""
    return (
        command.args.reason if command.message.cmd == "start_deal" and command.args.uncut else None
    )


def parse_command(command: ClientCommand) -> msgspec.Struct:
    """Return the arguments of a command; raises CommandRefused for what its form does not allow."""
    try:
        return parse_args(command.cmd, command.args)
    except BadArgs as bad:
        why = failure("BAD_COMMAND", found=bad.found, expected=bad.expected)
        raise CommandRefused(why) from None


def _storable_args(args: dict[str, Any]) -> dict[str, Any] | str:
    """Return a command's arguments as an entry can hold them.

    Where it cannot hold them as they are, that is the JSON text that was signed.
    """
    try:
        check_entry_data("command", args)
    except ValueError:
        return canonical_json(args).decode()
    return dict(args)
