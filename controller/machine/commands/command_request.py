"""Who gives an order: the name that answers for it, and the role that allows it."""

import hashlib
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from controller.commands.match_arguments import VerbalArgs
from controller.messages import ClientCommand, Failure, Role
from controller.signing.encoding import canonical_json
from controller.words import signer_text


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
