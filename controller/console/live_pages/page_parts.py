"""The content of a page in named parts, and the stream that sends changed parts to a browser.

A part is JSON under a name: a row of the hall, the list of waiting tables, a table's state. Every
change has a number. A stream sends all parts first, then each changed part in its newest form. A
slow browser misses the values in between and delays no other browser. After the end of a stream, a
browser requests the next stream with the last number that it received (`Last-Event-ID`). It then
receives the changes since that number.
"""

import asyncio
import itertools
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Final

import msgspec

FRAME_INTERVAL_S: Final = 0.03
"""Seconds for which changes are collected before they are sent together."""
BEAT_INTERVAL_S: Final = 2.0
"""Seconds between two beats of a stream. A page that receives nothing for two beats shows that it
has no connection."""

_PAGE_NUMBERS: Final = itertools.count(1)
_MAX_VERSION_DIGITS: Final = 15
"""The maximum of digits of a valid version."""


class PageParts:
    """The parts of one page, each as JSON. `number` is the page's number in this process."""

    def __init__(self) -> None:
        self.number = next(_PAGE_NUMBERS)
        self._parts: dict[str, tuple[int, bytes | None]] = {}
        self._version = 0
        self._change = asyncio.Event()

    def put(self, name: str, value: object) -> bool:
        """Publish `value` as the part called `name`, and return True if the part has changed."""
        return self.put_json(name, msgspec.json.encode(value))

    def put_json(self, name: str, body: bytes | None) -> bool:
        """Publish `body` (encoded JSON) as the part `name`, or remove that part if `body` is None.

        Several pages can share the encoded JSON. Return True if the part has changed.
        """
        if name in self._parts and self._parts[name][1] == body:
            return False
        self._version += 1
        self._parts[name] = self._version, body
        self._change.set()
        self._change = asyncio.Event()
        return True

    def drop(self, name: str) -> bool:
        """Remove the part with this name, and return True if there was such a part."""
        return name in self._parts and self.put_json(name, None)

    def changes_since(self, version: int) -> tuple[int, dict[str, bytes | None]]:
        """Return the present version, and all parts that changed after `version`.

        The value of a removed part is None. After version 0, all parts are returned.
        """
        changed = {
            name: body
            for name, (at, body) in self._parts.items()
            if at > version and (version or body is not None)
        }
        return self._version, changed

    async def wait_for_change(self, version: int) -> None:
        """Wait until the parts have a later version than `version`."""
        while self._version <= version:
            await self._change.wait()


async def event_stream(
    page_parts: PageParts,
    now_ms: Callable[[], int] | None = None,
    own_parts: Mapping[str, object] | None = None,
    may_continue: Callable[[], Awaitable[bool]] | None = None,
    *,
    run_id: str = "",
    last_event_id: str = "",
) -> AsyncGenerator[bytes, None]:
    """Yield server-sent events: all parts of a page, then changed parts, and a beat every 2 s.

    The first event is `all`. An event `some` follows after changes. A `beat` needs no change.
    `now_ms` (the console's clock) is in the first event and in every beat. `own_parts` are parts
    for this browser alone, sent once. `may_continue` is called at every beat. If it returns False,
    `gone` is the last event. `run_id` identifies the console's run. `last_event_id` is the id of
    the last event that this browser received. If that event belongs to the same parts, the stream
    begins with the changes since then, as `some`, instead of all parts.
    """
    loop = asyncio.get_running_loop()
    of = f"{run_id}.{page_parts.number}."
    before = _known_version(last_event_id, of)
    version, parts = page_parts.changes_since(before)
    if before == 0 or before > version:
        version, parts = page_parts.changes_since(0)
        mine = {name: msgspec.json.encode(value) for name, value in (own_parts or {}).items()}
        yield _encode_event("all", _stamp(now_ms) | mine | parts, f"{of}{version}")
    else:
        yield _encode_event("some", _stamp(now_ms) | parts, f"{of}{version}")
    beat_s = loop.time() + BEAT_INTERVAL_S
    while True:
        with suppress(TimeoutError):
            async with asyncio.timeout_at(beat_s):
                await page_parts.wait_for_change(version)
        if loop.time() >= beat_s:  # A beat is due even if changes never end.
            if may_continue is not None and not await may_continue():
                yield _encode_event("gone", {})
                return
            yield _encode_event("beat", _stamp(now_ms))
            beat_s = loop.time() + BEAT_INTERVAL_S
            continue
        version, parts = page_parts.changes_since(version)
        if parts:
            yield _encode_event("some", parts, f"{of}{version}")
        await asyncio.sleep(FRAME_INTERVAL_S)


def _stamp(now_ms: Callable[[], int] | None) -> dict[str, bytes | None]:
    return {} if now_ms is None else {"now_ms": b"%d" % now_ms()}


def _known_version(last_event_id: str, prefix: str) -> int:
    """Return the version in an event's id, or 0 if the id has another prefix or is invalid.

    The id comes from a browser and may be forged.
    """
    number = last_event_id.removeprefix(prefix)
    mine = last_event_id.startswith(prefix) and number.isascii() and number.isdigit()
    return int(number) if mine and len(number) <= _MAX_VERSION_DIGITS else 0


def _encode_event(kind: str, parts: dict[str, bytes | None], event_id: str = "") -> bytes:
    name = b"id: %s\n" % event_id.encode() if event_id else b""
    body = b",".join(
        b"%s:%s" % (msgspec.json.encode(name), body or b"null") for name, body in parts.items()
    )
    return b"%sevent: %s\ndata: {%s}\n\n" % (name, kind.encode(), body)
