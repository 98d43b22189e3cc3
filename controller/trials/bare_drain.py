"""The floor of `bench console`: the same feeds, drained and decoded, and nothing else.

Reads one line of JSON, a list of `FeedAt`; prints a line as soon as it has heard them all, and
goes on until it is ended.
"""

import asyncio
import selectors
import sys
from typing import Any

import click
import msgspec
import zmq

from controller.client.sockets import OF_A_HEARER, OPTIONS, let_open_many_files
from controller.messages import State
from controller.trials.feeds import FeedAt

TICK_S = 0.05
_MOST_SOCKETS = 4_096


async def drain(feeds: list[FeedAt]) -> None:
    """Hear all feeds until cancelled; say so once each of them was heard."""
    let_open_many_files()
    context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
    context.set(zmq.MAX_SOCKETS, _MOST_SOCKETS)
    decoder = msgspec.json.Decoder(State)
    selector = selectors.DefaultSelector()
    public, secret = zmq.curve_keypair()
    for one in feeds:
        socket: Any = context.socket(zmq.SUB)
        for option, value in (OPTIONS | OF_A_HEARER).items():
            socket.setsockopt(option, value)
        socket.curve_serverkey = one.server_key.encode()
        socket.curve_publickey, socket.curve_secretkey = public, secret
        socket.subscribe(b"")
        socket.connect(one.feed)
        selector.register(socket.fileno(), selectors.EVENT_READ, socket)
        _read(socket, decoder)
    heard: set[str] = set()
    while True:
        for key, _ in selector.select(0):
            for table in _read(key.data, decoder):
                if len(heard) < len(feeds):
                    heard.add(table)
                    if len(heard) == len(feeds):
                        click.echo("{}")
        await asyncio.sleep(TICK_S)


def _read(socket: Any, decoder: "msgspec.json.Decoder[State]") -> list[str]:
    """Read and decode what has come; return whose states it was."""
    told = []
    while socket.getsockopt(zmq.EVENTS) & zmq.POLLIN:
        topic, body = socket.recv_multipart(zmq.NOBLOCK)
        if topic.startswith(b"state/"):
            told.append(decoder.decode(body).table)
    return told


if __name__ == "__main__":
    asyncio.run(drain(msgspec.json.decode(sys.stdin.readline(), type=list[FeedAt])))
