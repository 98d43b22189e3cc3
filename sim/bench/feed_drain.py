"""A program that only receives and decodes feeds. Its cost is the floor for a console's cost.

As a program, the module reads one line of JSON, a list of `FeedAddress`. It prints a line when it
has received a state from every feed, and continues until it is terminated.
"""

import asyncio
import selectors
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import click
import msgspec
import zmq

from controller.client.connection import SOCKET_OPTIONS, SUBSCRIBER_OPTIONS, raise_open_file_limit
from controller.messages import PublicState
from sim.bench.simulated_feeds import FeedAddress

READ_INTERVAL_S = 0.05
_LOOK_INTERVAL_S = 0.005
_MAX_SOCKETS = 4_096


async def drain_feeds(feeds: list[FeedAddress]) -> None:
    """Receive and decode the messages of all feeds until the task is cancelled.

    Print a line after every feed has sent a state.
    """
    decoder = msgspec.json.Decoder(PublicState)
    sockets = _open_sockets(feeds, _make_context())
    selector = _make_selector(sockets)
    for socket in sockets:
        _read_tables(socket, decoder)
    heard: set[str] = set()
    while True:
        for key, _ in selector.select(0):
            for table in _read_tables(key.data, decoder):
                if len(heard) < len(feeds):
                    heard.add(table)
                    if len(heard) == len(feeds):
                        click.echo("{}")
        await asyncio.sleep(READ_INTERVAL_S)


@contextmanager
def open_lines(feeds: Sequence[FeedAddress]) -> Iterator[None]:
    """Connect to all feeds, wait for a message of each, and disconnect after the `with` block."""
    context = _make_context()
    sockets = silent = _open_sockets(feeds, context)
    selector = _make_selector(sockets)
    try:
        while silent := [socket for socket in silent if not _has_message(socket)]:
            selector.select(_LOOK_INTERVAL_S)
        yield
    finally:
        selector.close()
        for socket in sockets:
            socket.close()
        context.term()


def _make_context() -> "zmq.Context[zmq.Socket[bytes]]":
    raise_open_file_limit()
    context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
    context.set(zmq.MAX_SOCKETS, _MAX_SOCKETS)
    return context


def _open_sockets(
    feeds: Sequence[FeedAddress], context: "zmq.Context[zmq.Socket[bytes]]"
) -> list[Any]:
    sockets = []
    public, secret = zmq.curve_keypair()
    for one in feeds:
        socket: Any = context.socket(zmq.SUB)
        for option, value in (SOCKET_OPTIONS | SUBSCRIBER_OPTIONS).items():
            socket.setsockopt(option, value)
        socket.curve_serverkey = one.server_key.encode()
        socket.curve_publickey, socket.curve_secretkey = public, secret
        socket.subscribe(b"")
        socket.connect(one.feed)
        sockets.append(socket)
    return sockets


def _make_selector(sockets: Sequence[Any]) -> selectors.BaseSelector:
    """Return a selector that waits for messages at the sockets.

    The data of each key is the socket.
    """
    selector = selectors.DefaultSelector()
    for socket in sockets:
        selector.register(socket.fileno(), selectors.EVENT_READ, socket)
    return selector


def _has_message(socket: Any) -> bool:
    return bool(socket.getsockopt(zmq.EVENTS) & zmq.POLLIN)


def _read_tables(socket: Any, decoder: "msgspec.json.Decoder[PublicState]") -> list[str]:
    """Decode the states that a socket has received, and return the names of their tables."""
    told = []
    while _has_message(socket):
        topic, body = socket.recv_multipart(zmq.NOBLOCK)
        if topic.startswith(b"state/"):
            told.append(decoder.decode(body).table)
    return told


if __name__ == "__main__":
    asyncio.run(drain_feeds(msgspec.json.decode(sys.stdin.readline(), type=list[FeedAddress])))
