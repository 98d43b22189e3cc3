"""A line to a table's commands, to ask for the events that its feed did not bring."""

from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final

import msgspec
import zmq

from controller.client.client import Client, ClientIdentity, NoAnswer
from controller.client.endpoints import Endpoints
from controller.console.config import ConfiguredTable
from controller.console.lines.backfill import Ask
from controller.console.lines.taken import MessageRejected, convert_event
from controller.console.store.archive import Kept

ANSWER_S: Final = 8.0
"""How long a table has for a page of its events."""


def endpoints(line: ConfiguredTable) -> Endpoints:
    """Return where a table is and by which key it is known."""
    return Endpoints(
        table=line.id, feed=line.feed, commands=line.commands, server_key=line.server_key
    )


@asynccontextmanager
async def asking(
    line: ConfiguredTable,
    identity: ClientIdentity,
    ids: Callable[[], str],
    context: "zmq.Context[Any]",
    on_odd: Callable[[MessageRejected], None],
) -> AsyncIterator[Ask]:
    """Open a line to a table for the block; `on_odd` is told of what is no event of that table.

    Raises BadAddress; what is yielded raises NoAnswer.
    """

    async def ask(since: int) -> Sequence[Kept]:
        reply = await client.ask("events", {"since": since}, answer_s=ANSWER_S)
        told = (reply.result or {}).get("events")
        if not isinstance(told, list):
            raise NoAnswer(f"{line.commands}: {reply.error and reply.error.code}")
        kept = _stored_events(line.id, told, on_odd)
        return sorted((k for k in kept if k.event.n > since), key=lambda k: k.event.n)

    async with Client(endpoints(line), identity, ids, context=context) as client:
        yield ask


def _stored_events(
    table: str, told: Iterable[object], on_odd: Callable[[MessageRejected], None]
) -> Iterator[Kept]:
    for value in told:
        try:
            yield Kept(convert_event(value, table), msgspec.json.encode(value))
        except MessageRejected as wrong:
            on_odd(wrong)
