"""A line to a table's commands, to ask for the events that its feed did not bring."""

from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final

import msgspec
import zmq

from controller.client.client import Client, ClientIdentity, NoAnswer
from controller.client.endpoints import Endpoints
from controller.console.config import ConfiguredTable
from controller.console.lines.backfill import FetchEvents
from controller.console.lines.taken import MessageRejected, convert_event
from controller.console.store.archive import StoredEvent

ANSWER_TIMEOUT_S: Final = 8.0
"""How long a table has for a page of its events."""


def endpoints_of(configured: ConfiguredTable) -> Endpoints:
    """Return where a table is and by which key it is known."""
    return Endpoints(
        table=configured.id,
        feed=configured.feed,
        commands=configured.commands,
        server_key=configured.server_key,
    )


@asynccontextmanager
async def open_event_source(
    configured: ConfiguredTable,
    identity: ClientIdentity,
    new_id: Callable[[], str],
    context: "zmq.Context[Any]",
    on_rejected: Callable[[MessageRejected], None],
) -> AsyncIterator[FetchEvents]:
    """Open a line to a table for the block; `on_odd` is told of what is no event of that table.

    Raises BadAddress; what is yielded raises NoAnswer.
    """

    async def ask(since: int) -> Sequence[StoredEvent]:
        reply = await client.ask("events", {"since": since}, timeout_s=ANSWER_TIMEOUT_S)
        told = (reply.result or {}).get("events")
        if not isinstance(told, list):
            raise NoAnswer(f"{configured.commands}: {reply.error and reply.error.code}")
        kept = _stored_events(configured.id, told, on_rejected)
        return sorted((k for k in kept if k.event.n > since), key=lambda k: k.event.n)

    async with Client(endpoints_of(configured), identity, new_id, context=context) as client:
        yield ask


def _stored_events(
    table: str, values: Iterable[object], on_rejected: Callable[[MessageRejected], None]
) -> Iterator[StoredEvent]:
    for value in values:
        try:
            yield StoredEvent(convert_event(value, table), msgspec.json.encode(value))
        except MessageRejected as wrong:
            on_rejected(wrong)
