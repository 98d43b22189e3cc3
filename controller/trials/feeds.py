"""Many simulated feeds from one process: what a console has to drain in a large hall.

Each has a key of its own, says its whole state at a steady rate, with its number, time and count
of cards growing, and answers on a socket for commands that it has no events. There are no
machines behind. Everybody who knows a table's key may come in.

    python -m controller.trials.feeds --count 400 --per-s 10

prints one line of JSON, a list of `FeedAt`, and goes on until its input ends.
"""

import asyncio
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Final

import click
import msgspec
import zmq
import zmq.asyncio

from controller.bridge import event_topic, state_topic
from controller.cli.ending import ending_signals
from controller.cli.wall import wall
from controller.client.sockets import OPTIONS
from controller.messages import Command, Event, Reply, State

STEP_S: Final = 0.005
"""What is due within so short a time goes out together."""
DEAL: Final = 108
_EXAMPLE: Final = re.compile(r"<!-- example: state -->\n```json\n(.*?)```", re.DOTALL)
_SEQ, _FED, _TIME = 987_654_321, 123_454_321, "@time@"
_MOST_SOCKETS: Final = 16_384


class FeedAt(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """Where one simulated feed is, and its public CURVE key in Z85."""

    id: str
    feed: str
    commands: str
    server_key: str


class Template:
    """A state in which number, time and cards fed are set anew each time, at little cost."""

    def __init__(self, state: State) -> None:
        """Take what stays the same."""
        value = msgspec.to_builtins(state)
        value |= {"seq": _SEQ, "time": _TIME, "machine": value["machine"] | {"fed": _FED}}
        text = msgspec.json.encode(value)
        marks = [str(_SEQ).encode(), b'"%s"' % _TIME.encode(), str(_FED).encode()]
        parts = re.split(b"(" + b"|".join(map(re.escape, marks)) + b")", text)
        self._fixed = parts[::2]
        self._which = [marks.index(part) for part in parts[1::2]]

    def body(self, seq: int, time: str, fed: int) -> bytes:
        """Return the JSON of a state."""
        said = (b"%d" % seq, b'"%s"' % time.encode(), b"%d" % fed)
        between = [said[which] for which in self._which] + [b""]
        return b"".join(part for pair in zip(self._fixed, between, strict=True) for part in pair)


def example_state() -> State:
    """Return the state that messages.md shows: a match in play."""
    page = Path(__file__).parents[1] / "messages.md"
    found = _EXAMPLE.search(page.read_text(encoding="utf-8"))
    assert found is not None
    return msgspec.json.decode(found[1], type=State)


class SimFeed:
    """One table's two sockets, without a table behind. `at` says where they are.

    `events` answers what is asked for: the public entries behind a number.
    """

    def __init__(
        self,
        context: zmq.asyncio.Context,
        state: State,
        keys: tuple[bytes, bytes] | None = None,
        ports: tuple[int, int] | None = None,
    ) -> None:
        """Bind at free ports of this computer, or at those. Raises ZMQError."""
        self.id = state.table
        public, secret = keys or zmq.curve_keypair()
        self._template = Template(state)
        self._topic = state_topic(state.table).encode()
        self.seq = state.seq
        self.events: Callable[[int], Sequence[Event]] = lambda since: ()
        self._feed = _bound(context, zmq.PUB, secret, ports and ports[0])
        self._commands = _bound(context, zmq.ROUTER, secret, ports and ports[1])
        self.at = FeedAt(
            id=state.table,
            feed=self._feed.getsockopt_string(zmq.LAST_ENDPOINT),
            commands=self._commands.getsockopt_string(zmq.LAST_ENDPOINT),
            server_key=public.decode(),
        )

    def say(self, time: str) -> None:
        """Say the state once more, with the next number."""
        self.seq += 1
        self.send(self._topic, self._template.body(self.seq, time, self.seq % (DEAL + 1)))

    def happened(self, event: Event) -> None:
        """Say an event."""
        self.send(event_topic(self.id).encode(), msgspec.json.encode(event))

    def send(self, *frames: bytes) -> None:
        """Send any frames at all."""
        self._feed.send_multipart(list(frames), flags=zmq.NOBLOCK)

    async def answer(self) -> None:
        """Answer commands until cancelled."""
        while True:
            who, *_, body = await self._commands.recv_multipart()
            command = msgspec.json.decode(body, type=Command)
            since = command.args.get("since", 0)
            result = {"events": self.events(since)} if command.cmd == "events" else {}
            reply = Reply(id=command.id, ok=True, result=msgspec.to_builtins(result))
            await self._commands.send_multipart([who, msgspec.json.encode(reply)])

    def close(self) -> None:
        """Close both sockets."""
        self._feed.close(linger=0)
        self._commands.close(linger=0)


async def publish(feeds: Sequence[SimFeed], per_s: float, now: Callable[[], str]) -> None:
    """Let each feed say its state so many times a second, evenly spread, until cancelled."""
    loop = asyncio.get_running_loop()
    began, said = loop.time(), 0
    while True:
        due = int((loop.time() - began) * per_s * len(feeds))
        for number in range(said, due):
            feeds[number % len(feeds)].say(now())
        said = max(said, due)
        await asyncio.sleep(STEP_S)


async def serve(
    ids: Iterable[str],
    per_s: float,
    now: Callable[[], str],
    on_open: Callable[[list[FeedAt]], None],
) -> None:
    """Open a feed for each id, say where, and serve them until cancelled."""
    context = zmq.asyncio.Context()
    context.set(zmq.MAX_SOCKETS, _MOST_SOCKETS)
    state = example_state()
    feeds = [SimFeed(context, msgspec.structs.replace(state, table=name)) for name in ids]
    answering = [asyncio.create_task(feed.answer()) for feed in feeds]
    try:
        on_open([feed.at for feed in feeds])
        await publish(feeds, per_s, now)
    finally:
        for task in answering:
            task.cancel()
        await asyncio.gather(*answering, return_exceptions=True)
        for feed in feeds:
            feed.close()
        context.destroy(linger=0)


def _bound(
    context: zmq.asyncio.Context, kind: zmq.SocketType, secret: bytes, port: int | None
) -> Any:
    socket = context.socket(kind)
    for option, value in OPTIONS.items():
        socket.setsockopt(option, value)
    socket.curve_server = True
    socket.curve_secretkey = secret
    socket.bind(f"tcp://127.0.0.1:{port or '*'}")
    return socket


@click.command()
@click.option("--count", default=400, show_default=True, help="feeds")
@click.option("--per-s", default=10.0, show_default=True, help="states of each in a second")
def main(count: int, per_s: float) -> None:
    """Publish simulated feeds until the input ends."""
    ids = [f"T{number:03}" for number in range(1, count + 1)]

    async def run() -> None:
        loop = asyncio.get_running_loop()
        task = asyncio.current_task()
        assert task is not None
        for number in ending_signals():
            loop.add_signal_handler(number, task.cancel)
        loop.add_reader(sys.stdin, lambda: None if sys.stdin.readline() else task.cancel())
        try:
            await serve(ids, per_s, wall, lambda at: click.echo(msgspec.json.encode(at)))
        except asyncio.CancelledError:
            return

    asyncio.run(run())


if __name__ == "__main__":
    main()
