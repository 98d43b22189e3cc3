"""Many simulated feeds from one process: the load on a console in a large hall.

Each feed has its own key. It publishes its whole state at a steady rate, with increasing number,
time and count of cards. Sometimes it has an event. It answers requests for its events. At some of
the feeds, a call for a referee starts and ends repeatedly. There are no machines. Every client with
a table's public key is admitted.

    python -m sim.bench.simulated_feeds --count 400 --per-s 10

The program prints one line of JSON, a list of `FeedAddress`. After a line of input, the tables only
publish states, and the program prints the totals, a `FeedTotals`. The program ends when its input
ends.
"""

import asyncio
import hashlib
import re
import sys
import zlib
from collections import deque
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, Final

import click
import msgspec
import zmq
import zmq.asyncio

from controller.client.connection import SOCKET_OPTIONS, raise_open_file_limit
from controller.gateway_protocol import event_topic, state_topic
from controller.messages import ClientCommand, CommandReply, PublicEvent, PublicState, RefereeCall
from controller.service.process_signals import termination_signals
from controller.service.wall_clock import read_wall_clock, read_wall_clock_ms

SEND_INTERVAL_S: Final = 0.005
"""The interval between groups of messages.

Messages that are due within this time are sent together.
"""
CARDS_PER_DEAL: Final = 108
_EVENTS_PER_S, _CALLS_PER_S = 0.2, 2.0
_EXAMPLE: Final = re.compile(r"<!-- example: state -->\n```json\n(.*?)```", re.DOTALL)
_SEQ, _FED, _TIME, _HEAD = 987_654_321, 123_454_321, "@time@", "@head@"
_MAX_SOCKETS: Final = 16_384
_MAX_KEPT_EVENTS, _MAX_ANSWERED_EVENTS = 2_000, 200


class FeedAddress(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """The addresses of one simulated feed, and its public CURVE key in Z85."""

    id: str
    feed: str
    commands: str
    server_key: str


class CallChange(msgspec.Struct, frozen=True, gc=False):
    """The start or end of a call for a referee, at `at_ms` (wall clock).

    `calls`: True if table `id` began to publish a call, False if it ceased.
    """

    id: str
    at_ms: float
    calls: bool


class FeedTotals(msgspec.Struct, frozen=True):
    """Totals of all feeds: numbers of states and events, and a list of the calls for a referee.

    `states` counts the states in `seconds` seconds. `events` has for each table the number of all
    its events, also of those before the feed was opened. `called` has each start and end of a call.
    """

    seconds: float
    states: int
    events: dict[str, int]
    called: list[CallChange]


class StateTemplate:
    """The JSON of a public state with gaps for the fields that change.

    Number, time, cards fed and the journal's head are filled in each time.
    """

    def __init__(self, state: PublicState) -> None:
        """Store the parts of the JSON of `state` that do not change."""
        value = msgspec.to_builtins(state)
        value |= {"seq": _SEQ, "time": _TIME, "machine": value["machine"] | {"fed": _FED}}
        text = msgspec.json.encode(value | {"head": _HEAD})
        marks = [mark.encode() for mark in (str(_SEQ), f'"{_TIME}"', str(_FED), f'"{_HEAD}"')]
        parts = re.split(b"(" + b"|".join(map(re.escape, marks)) + b")", text)
        self._fixed = parts[::2]
        self._which = [marks.index(part) for part in parts[1::2]]

    def encode(self, seq: int, time: str, fed: int, head: str) -> bytes:
        """Return the JSON with all gaps filled. `fed`: cards fed. `head`: the journal's head."""
        said = (b"%d" % seq, b'"%s"' % time.encode(), b"%d" % fed, b'"%s"' % head.encode())
        between = [said[which] for which in self._which] + [b""]
        return b"".join(part for pair in zip(self._fixed, between, strict=True) for part in pair)


def read_example_state() -> PublicState:
    """Return the example state of messages.md, which shows a match in play."""
    page = Path(__file__).parents[2] / "controller" / "messages.md"
    found = _EXAMPLE.search(page.read_text(encoding="utf-8"))
    assert found is not None
    return msgspec.json.decode(found[1], type=PublicState)


class PublicEventChain:
    """The chain of public journal entries of one simulated table.

    The newest entries are stored for requests.
    """

    def __init__(self, state: PublicState) -> None:
        """Create an empty chain. `state` has the table, boot, deal and attempt of its entries."""
        self._state = state
        self._newest: deque[PublicEvent] = deque(maxlen=_MAX_KEPT_EVENTS)
        self.n, self.head = 0, "0" * 64

    def append_event(self, time: str) -> PublicEvent:
        """Append the next entry to the chain and return it."""
        prev, state = self.head, self._state
        self.n += 1
        self.head = hashlib.sha256(f"{prev}{self.n}".encode()).hexdigest()
        event = PublicEvent(
            table=state.table,
            boot=state.boot,
            n=self.n,
            time=time,
            simulated=True,
            kind="acknowledged",
            deal=state.machine.deal,
            attempt=state.machine.attempt,
            data={"by": "bench"},
            prev=prev,
            head=self.head,
        )
        self._newest.append(event)
        return event

    def events_after(self, since: int) -> Sequence[PublicEvent]:
        """Return stored entries with numbers above `since`: the oldest _MAX_ANSWERED_EVENTS."""
        return [event for event in self._newest if event.n > since][:_MAX_ANSWERED_EVENTS]


class SimulatedFeed:
    """One simulated table as its clients see it: a socket for the feed and one for commands.

    `address` contains their addresses. `head` returns the journal's head. `events` returns the
    public entries after a number. `is_calling`: True while a call for a referee is published.
    """

    def __init__(self, context: zmq.asyncio.Context, state: PublicState) -> None:
        """Bind the sockets to free ports of this computer. Raises ZMQError."""
        self.id = state.table
        public, secret = zmq.curve_keypair()
        self._quiet_template = StateTemplate(msgspec.structs.replace(state, calls=[]))
        call = RefereeCall(seat="N", reason="button", since=state.time)
        self._calling_template = StateTemplate(msgspec.structs.replace(state, calls=[call]))
        self.is_calling = bool(state.calls)
        self.chain = PublicEventChain(state)
        self._topic = state_topic(state.table).encode()
        self.seq = state.seq
        # The tables of a hall are not synchronous. Each is at another card.
        self._card_offset = zlib.crc32(self.id.encode())
        self.head: Callable[[], str] = lambda: self.chain.head
        self.events: Callable[[int], Sequence[PublicEvent]] = self.chain.events_after
        # The sockets of asyncio need more processor time to send.
        plain: zmq.Context[Any] = zmq.Context.shadow(context.underlying)
        self._feed = _bind_socket(plain, zmq.PUB, secret)
        self._commands = _bind_socket(context, zmq.ROUTER, secret)
        self.address = FeedAddress(
            id=state.table,
            feed=self._feed.getsockopt_string(zmq.LAST_ENDPOINT),
            commands=self._commands.getsockopt_string(zmq.LAST_ENDPOINT),
            server_key=public.decode(),
        )

    def publish_state(self, time: str) -> None:
        """Publish the state with the next number and the time `time`."""
        self.seq += 1
        template = self._calling_template if self.is_calling else self._quiet_template
        fed = (self.seq + self._card_offset) % (CARDS_PER_DEAL + 1)
        self.send_frames(self._topic, template.encode(self.seq, time, fed, self.head()))

    def publish_event(self, event: PublicEvent) -> None:
        """Publish `event` on the feed."""
        self.send_frames(event_topic(self.id).encode(), msgspec.json.encode(event))

    def send_frames(self, *frames: bytes) -> None:
        """Publish frames on the feed, even frames that are no valid message."""
        self._feed.send_multipart(list(frames), flags=zmq.NOBLOCK)

    async def answer_commands(self) -> None:
        """Answer commands until cancelled. `events` gets stored events, other commands get {}."""
        while True:
            who, *_, body = await self._commands.recv_multipart()
            command = msgspec.json.decode(body, type=ClientCommand)
            since = command.args.get("since", 0)
            result = {"events": self.events(since)} if command.cmd == "events" else {}
            reply = CommandReply(id=command.id, ok=True, result=msgspec.to_builtins(result))
            await self._commands.send_multipart([who, msgspec.json.encode(reply)])

    def close(self) -> None:
        """Close both sockets."""
        self._feed.close(linger=0)
        self._commands.close(linger=0)


async def pace_feeds(
    feeds: Sequence[SimulatedFeed], per_s: float, act: Callable[[SimulatedFeed], None]
) -> None:
    """Call `act(feed)` for each feed `per_s` times a second, at even intervals, until cancelled."""
    loop = asyncio.get_running_loop()
    began, done = loop.time(), 0
    while True:
        due = int((loop.time() - began) * per_s * len(feeds))
        for number in range(done, due):
            act(feeds[number % len(feeds)])
        done = max(done, due)
        await asyncio.sleep(SEND_INTERVAL_S)


class FeedRates(msgspec.Struct, frozen=True):
    """The load of simulated feeds: their states, their calls for a referee, and earlier events.

    `per_s`: the number of states that each feed publishes a second. `callers`: the number of feeds
    with calls for a referee. `past`: the number of events of each feed before it is opened.
    """

    per_s: float = 10.0
    callers: int = 0
    past: int = 0


async def serve_feeds(ids: Iterable[str], pace: FeedRates, quiet: asyncio.Event) -> None:
    """Serve a feed for each id in `ids` until cancelled, and print the addresses of the feeds.

    `pace` is the load. When `quiet` is set, events and calls stop, and the totals are printed.
    """
    called: list[CallChange] = []

    def say(feed: SimulatedFeed) -> None:
        feed.publish_state(read_wall_clock())

    def grow(feed: SimulatedFeed) -> None:
        feed.publish_event(feed.chain.append_event(read_wall_clock()))

    def call(feed: SimulatedFeed) -> None:
        feed.is_calling = not feed.is_calling
        called.append(CallChange(feed.id, read_wall_clock_ms(), feed.is_calling))
        say(feed)

    loop = asyncio.get_running_loop()
    async with _open_feeds(ids) as feeds:
        for feed in feeds:
            for _ in range(pace.past):
                feed.chain.append_event(read_wall_clock())
        began_s, first = loop.time(), sum(feed.seq for feed in feeds)
        click.echo(msgspec.json.encode([feed.address for feed in feeds]))
        async with _run_tasks(pace_feeds(feeds, pace.per_s, say)):
            growing = pace_feeds(feeds, _EVENTS_PER_S, grow)
            calling = pace_feeds(feeds[: pace.callers], _CALLS_PER_S, call)
            async with _run_tasks(growing, calling):
                await quiet.wait()
            states, passed_s = sum(feed.seq for feed in feeds) - first, loop.time() - began_s
            events = {feed.id: feed.chain.n for feed in feeds}
            click.echo(msgspec.json.encode(FeedTotals(passed_s, states, events, called)))
            await asyncio.Event().wait()


@asynccontextmanager
async def _open_feeds(ids: Iterable[str]) -> AsyncIterator[list[SimulatedFeed]]:
    """Yield a simulated feed for each id during the `with` block. The feeds answer commands."""
    raise_open_file_limit()
    context = zmq.asyncio.Context()
    context.set(zmq.MAX_SOCKETS, _MAX_SOCKETS)
    state = read_example_state()
    feeds = [SimulatedFeed(context, msgspec.structs.replace(state, table=name)) for name in ids]
    try:
        async with _run_tasks(*(feed.answer_commands() for feed in feeds)):
            yield feeds
    finally:
        for feed in feeds:
            feed.close()
        context.destroy(linger=0)


@asynccontextmanager
async def _run_tasks(*running: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """Run the coroutines `running` as tasks during the `with` block, then cancel the tasks."""
    tasks = [asyncio.create_task(one) for one in running]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _bind_socket(context: "zmq.Context[Any]", kind: zmq.SocketType, secret: bytes) -> Any:
    socket = context.socket(kind)
    for option, value in SOCKET_OPTIONS.items():
        socket.setsockopt(option, value)
    socket.curve_server = True
    socket.curve_secretkey = secret
    socket.bind("tcp://127.0.0.1:*")
    return socket


@click.command()
@click.option("--count", default=400, show_default=True, help="number of feeds")
@click.option("--per-s", default=10.0, show_default=True, help="states of each feed in a second")
@click.option("--callers", default=0, show_default=True, help="number of feeds with referee calls")
@click.option("--past", default=0, show_default=True, help="earlier events of each feed")
def main(count: int, **pace: float) -> None:
    """Publish simulated feeds until the standard input ends."""
    ids = [f"T{number:03}" for number in range(1, count + 1)]

    async def run() -> None:
        loop = asyncio.get_running_loop()
        task = asyncio.current_task()
        assert task is not None
        for number in termination_signals():
            loop.add_signal_handler(number, task.cancel)

        quiet = asyncio.Event()

        def read() -> None:
            if sys.stdin.readline():
                quiet.set()
            else:
                loop.remove_reader(sys.stdin)
                task.cancel()

        loop.add_reader(sys.stdin, read)
        with suppress(asyncio.CancelledError):
            await serve_feeds(ids, msgspec.convert(pace, FeedRates, strict=False), quiet)

    asyncio.run(run())


if __name__ == "__main__":
    main()
