"""Orders that are over, known again for as long as the daemon runs: none is carried out twice.

What acted stands in the journal with its answer, in any run. This is for all else that was
validly signed: for what was refused, for what was answered without a row, and for the ids that
the journal's newest answers have pushed out. No id of it is ever forgotten in a run, and an order
names the run that it is for: so nothing that is forgotten with a run can act in another.
"""

import hashlib
from typing import Any, Final

from controller.messages import Failure

MOST: Final = 100_000
"""Orders of one key that are known again; behind them that key gives none in this run. At two a
second that is half a day of orders without a break (provisional)."""
WHOLE: Final = 1000
"""Answers that are kept whole; of the others it is known what they were."""
ACTED: Final = ""
"""What is known of an order that was not refused."""

_ID_BYTES: Final = 16
Answer = dict[str, Any] | Failure


class OrdersOver:
    """What became of every order of a run, by signer and id."""

    def __init__(self, most: int = MOST, whole: int = WHOLE) -> None:
        self._most, self._whole = most, whole
        self._codes: dict[str, dict[bytes, str]] = {}
        self._answers: dict[tuple[str, str], Answer] = {}

    def note(self, key: str, command_id: str, answer: Answer | None) -> None:
        """Know an order from now on; `answer` is None for one that has none. The first counts.

        Of a key that is full no more is known: none of its orders is carried out.
        """
        codes = self._codes.setdefault(key, {})
        name = _short(command_id)
        if name in codes or self.is_full(key):
            return
        codes[name] = answer.code if isinstance(answer, Failure) else ACTED
        if answer is not None:
            self._answers[key, command_id] = answer
            if len(self._answers) > self._whole:
                del self._answers[next(iter(self._answers))]

    def found(self, key: str, command_id: str) -> Answer | str | None:
        """Return the answer to an order that is over, or the code that is left of it, or ACTED;
        None for one that is not known.
        """
        answer = self._answers.get((key, command_id))
        if answer is not None:
            return answer
        return self._codes.get(key, {}).get(_short(command_id))

    def is_full(self, key: str) -> bool:
        """Tell whether a key has given so many orders that another could not be remembered."""
        return len(self._codes.get(key, ())) >= self._most


def _short(command_id: str) -> bytes:
    """Return what stands for an id of any length."""
    return hashlib.sha256(command_id.encode()).digest()[:_ID_BYTES]
