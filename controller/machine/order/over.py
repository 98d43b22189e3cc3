"""Orders that are over, known again for as long as the daemon runs: none is carried out twice.

What acted stands in the journal with its answer, in any run. This is for all else that was
validly signed: for what was refused, for what was answered without a row, and for the ids that
the journal's newest answers have pushed out. No id of it is ever forgotten in a run, and an order
names the run that it is for: so nothing that is forgotten with a run can act in another.
"""

import hashlib
from collections.abc import Mapping
from typing import Any, Final

from controller.framing import canonical_json
from controller.messages import ClientCommand, Failure

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
