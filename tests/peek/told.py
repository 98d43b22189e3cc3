"""When the machine told what: the clock of the search, in numbers of exhibits."""

import json
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from controller.journal.entries import StoredRow, decode
from tests.peek.evidence import Evidence
from tests.peek.hidden import NEVER
from tests.peek.overheard import MACHINE_SOCKET, SECOND_GATEWAY

_TOLD_BY = (MACHINE_SOCKET, SECOND_GATEWAY)


@dataclass
class Told:
    """When the machine first told a row of its journal to any gateway: numbers of exhibits.

    That is its line of the feed. A row that was written while no gateway was there has none: such
    a one is told by the first state that stands on it, whose `head` is that row's or a later one's.
    """

    events: dict[int, tuple[int, dict[str, Any]]] = field(default_factory=dict)
    _rows: dict[tuple[str, int], int] = field(default_factory=dict)
    _stood_on: list[tuple[int, int]] = field(default_factory=list)

    @classmethod
    def of(cls, evidence: Evidence, journal: Iterable[StoredRow]) -> "Told":
        """Read what the machine said at its socket."""
        told, heads = cls(), {}
        for row in journal:
            heads[row.head.hex()] = row.n
            entry = decode(row.body)
            told._rows.setdefault((entry.kind, entry.attempt or 0), entry.n)
        for number, exhibit in enumerate(evidence.exhibits):
            if exhibit.place in _TOLD_BY and exhibit.data.startswith(b'{"to":"feed"'):
                try:
                    message = json.loads(exhibit.data)
                except ValueError:  # a line that was planted, or cut off by a death
                    continue
                body = message["body"]
                if message["topic"].startswith("event/") and "kind" in body:
                    told.events.setdefault(body["n"], (number, body))
                elif message["topic"].startswith("state/"):
                    told._stands_on(heads.get(body["head"], 0), number)
        return told

    def until(self, kind: str, attempt: int) -> int:
        """Return from which exhibit on an attempt's first row of a kind is known."""
        n = self._rows.get((kind, attempt))
        if n is None:
            return NEVER
        number, _ = self.events.get(n, (NEVER, {}))
        later = self._stood_on[bisect_left(self._stood_on, (n, 0)) :][:1]
        return min([number, *(shown for _, shown in later)])

    def _stands_on(self, n: int, number: int) -> None:
        if not self._stood_on or n > self._stood_on[-1][0]:
            self._stood_on.append((n, number))
