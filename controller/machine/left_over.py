"""What an earlier run of the daemon left open, and how its attempt is ended honestly.

Held hands stay held where the dealer board still keeps them. Cards of an attempt in
its middle are not known any more: it is void, its record opened with the key that
outlived the process. With the power the key is gone too; then only the chief can
open it (DESIGN §6).
"""

import base64
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, takewhile
from typing import Any, Self

from controller.deal.ledger import OUTLETS
from controller.deal.sequence import NONCE_BYTES
from controller.journal.entries import Entry
from controller.journal.fold import Progress, attempts
from controller.journal.wire_group import READ, WireEvent, opened, unpack
from controller.machine.attempt_book import AttemptBook, Bindings
from controller.messages import Outcome
from controller.vault.sealing import AttemptKey


@dataclass(frozen=True)
class LeftOver:
    """An attempt as its journal tells it. `key`: None where it went with the power.

    `release_ordered`: an order to let its hands out was taken and not refused.
    """

    bindings: Bindings
    progress: Progress
    key: AttemptKey | None
    release_ordered: bool

    @classmethod
    def read(cls, bindings: Bindings, number: int) -> Self:
        """Read attempt `number` out of the journal, and its key out of its file."""
        entries = [chained.entry for chained in bindings.record.journal.entries()]
        raw = bindings.key_file.read(number)
        return cls(
            bindings,
            attempts(entries)[number],
            None if raw is None else AttemptKey(raw, bindings.entropy),
            _release_ordered(entries, number),
        )

    @property
    def number(self) -> int:
        """The attempt's number."""
        return self.progress.attempt

    def book(self) -> AttemptBook:
        """Return the book of its held hands, to go on with."""
        assert self.key is not None
        return AttemptBook.of_held(self.bindings, self.progress, self.key)

    def events(self) -> list[WireEvent]:
        """Return its board events, up to the first READ whose face stayed shut."""
        key = self.key
        unseal = None if key is None else key.unseal
        groups = (unpack(entry.data, entry.attempt, unseal) for entry in self.progress.wire)
        return list(takewhile(_is_open, chain.from_iterable(groups)))

    def closing(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield the entries (kind, data) that end it: released hands are over, others void."""
        released = self.progress.data("released") is not None
        if not released:
            yield self._void()
        if self.key is None:
            if released:
                yield "closed", {}
            return
        if self.progress.data("committed") is not None:
            cut = self.progress.data("cut")
            seed = self._unsealed("seed")
            assert seed is not None
            yield "revealed", {"seed": seed.hex(), "cut": cut["cut"] if cut else None}
        if not released:
            yield "record", self._record()

    def _void(self) -> tuple[str, dict[str, Any]]:
        reasons = ["POWER" if self.key is None else "RESTARTED"]
        if self.progress.outcome is Outcome.OK:
            return "withdrawn", {"reasons": reasons}
        return "verdict", {
            "outcome": Outcome.VOID.value,
            "reasons": reasons,
            "landed": dict.fromkeys(OUTLETS, 0),
            "fed": 0,
            "refed": 0,
        }

    def _record(self) -> dict[str, Any]:
        plain = self._unsealed("hands_box")
        nonce, hands = (None, None)
        if plain is not None:
            nonce, hands = plain[:NONCE_BYTES].hex(), plain[NONCE_BYTES:].hex()
        return {"nonce": nonce, "hands": hands, "events": opened(self.events())}

    def _unsealed(self, kind: str) -> bytes | None:
        data = self.progress.data(kind)
        if data is None or self.key is None:
            return None
        return self.key.unseal(base64.b64decode(data["box"]))


def _release_ordered(entries: list[Entry], number: int) -> bool:
    orders = [
        entry.data
        for entry in entries
        if entry.kind == "command" and entry.attempt == number and entry.data["cmd"] == "release"
    ]
    return bool(orders) and "refused" not in orders[-1]


def _is_open(event: WireEvent) -> bool:
    return event.code != READ or event.look is not None
