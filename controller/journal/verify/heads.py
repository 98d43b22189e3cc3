"""Heads that somebody kept: each must still lie in the chain, at its own number."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from controller.journal.chain import HEAD_BYTES, ZERO
from controller.journal.errors import JournalError
from controller.journal.verify.findings import Finding
from controller.journal.verify.sources import Source


class Kept(NamedTuple):
    """A head from elsewhere, and the number of its entry where that is known."""

    n: int | None
    head: bytes


def read_heads(path: Path) -> list[Kept]:
    """Read kept heads: lines of hex, or of events and states from the feed.

    Raises JournalError for a file that holds anything else, or nothing.
    """
    try:
        text = path.read_text(encoding="utf-8")
        heads = [head for line in _messages(text) for head in _heads_in(line)]
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise JournalError(
            f"{path} holds no head: expected 64 hex digits, or an event or state of the feed"
        ) from error
    if not heads:
        raise JournalError(f"{path} is empty: expected 64 hex digits, or an event or state")
    return heads


def check_heads(kept: list[Kept], source: Source) -> Iterator[Finding]:
    """Yield what is missing or different behind each kept head."""
    numbers = {chained.head: chained.entry.n for chained in source.entries}
    # A head before an entry is the head of the entry before it.
    numbers |= {chained.prev: chained.entry.n - 1 for chained in source.entries}
    heads = {n: head for head, n in numbers.items()}
    last = max(heads, default=0)
    for n, head in kept:
        if head == ZERO or numbers.get(head, -1) == (numbers.get(head) if n is None else n):
            continue
        if n is not None and n > last:
            what = f"the kept head is that of entry {n}, but entry {last} is the last here"
            yield Finding(None, what, "the journal's last rows are missing")
        elif n is not None and n in heads:
            what = f"the kept head {head.hex()[:16]}… is not the one here"
            yield Finding(n, what, "the rows up to here were written anew")
        elif source.whole:
            what = f"no entry has the kept head {head.hex()[:16]}…"
            means = "the journal's last rows are missing, or it was written anew"
            yield Finding(n, what, means)


def _messages(text: str) -> Iterator[str]:
    """One message a line, or one that fills the whole file, as people print JSON."""
    if text.lstrip().startswith("{\n"):
        yield text
        return
    yield from (line.strip() for line in text.splitlines() if line.strip())


def _heads_in(text: str) -> Iterator[Kept]:
    if not text.startswith("{"):
        yield Kept(None, _head(text))
        return
    message: dict[str, Any] = msgspec.json.decode(text)
    is_event = "prev" in message
    yield Kept(int(message["n"]) if is_event else None, _head(message["head"]))
    if is_event:
        yield Kept(int(message["n"]) - 1, _head(message["prev"]))


def _head(text: str) -> bytes:
    raw = bytes.fromhex(text)
    if len(raw) != HEAD_BYTES:
        raise ValueError("a head has 64 hex digits")
    return raw
