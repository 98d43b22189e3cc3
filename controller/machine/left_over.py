"""What an earlier run of the daemon left open, and how its attempt is ended honestly.

Cards of an attempt in its middle are not known any more to a daemon that starts:
the attempt is void, its record opened with the key that outlived the process. With
the power the key is gone too; then only the chief can open it (DESIGN §6).
"""

import base64
from collections.abc import Iterator
from itertools import chain, takewhile
from typing import Any

from controller.deal.ledger import OUTLETS
from controller.deal.sequence import NONCE_BYTES
from controller.journal.fold import Progress
from controller.journal.wire_group import READ, WireEvent, opened, unpack
from controller.messages import Outcome
from controller.vault.sealing import AttemptKey


def voided(progress: Progress, key: AttemptKey | None) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the entries (kind, data) that end an attempt whose hands were never let out."""
    reason = "POWER" if key is None else "RESTARTED"
    if progress.outcome is None:
        yield (
            "verdict",
            {
                "outcome": Outcome.VOID.value,
                "reasons": [reason],
                "landed": dict.fromkeys(OUTLETS, 0),
                "fed": 0,
                "refed": 0,
            },
        )
    else:
        yield "withdrawn", {"reasons": [reason]}
    if key is not None:
        yield from revealed(progress, key)
        yield "record", _record(progress, key)


def revealed(progress: Progress, key: AttemptKey) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the entry that shows seed and cut, if the seed was promised to anybody."""
    box, cut = progress.data("seed"), progress.data("cut")
    if box is not None and progress.data("committed") is not None:
        seed = key.unseal(base64.b64decode(box["box"]))
        yield "revealed", {"seed": seed.hex(), "cut": cut["cut"] if cut else None}


def _record(progress: Progress, key: AttemptKey) -> dict[str, Any]:
    groups = (unpack(entry.data, entry.attempt, key.unseal) for entry in progress.wire)
    events = list(takewhile(_is_open, chain.from_iterable(groups)))
    nonce = hands = None
    box = progress.data("hands_box")
    if box is not None:
        plain = key.unseal(base64.b64decode(box["box"]))
        nonce, hands = plain[:NONCE_BYTES].hex(), plain[NONCE_BYTES:].hex()
    return {"nonce": nonce, "hands": hands, "events": opened(events)}


def _is_open(event: WireEvent) -> bool:
    """Whether what a READ saw is there: an attempt that lost its key early stays half shut."""
    return event.code != READ or event.look is not None
