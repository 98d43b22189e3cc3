"""Relays that stand in the way of a socket and let everything by, once it was taken down."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Self

from tests.answers import answer_once

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Taken = Callable[[str, bytes], None]
_AT_ONCE = 1 << 16
_OVERLAP = 512
_LAST_WORDS_S = 3.0


class Relay:
    """Takes down what goes through a socket: `taken(way, bytes)`, with the way "out" or "in".

    "out" is from the far end (`reach`), who serves, to whoever came. Taken down is all that came
    at once, with the end of what was before it; with `lines` each line first.
    """

    def __init__(
        self, reach: Callable[[], Awaitable[Streams]], taken: Taken, *, lines: bool = False
    ) -> None:
        self._reach, self._taken, self._lines = reach, taken, lines
        self._server: asyncio.Server | None = None
        self._talks: set[asyncio.Task[None]] = set()

    async def at_path(self, path: Path) -> Self:
        """Listen at a Unix socket."""
        self._server = await asyncio.start_unix_server(self._came, str(path))
        return self

    async def at_port(self) -> int:
        """Listen at a free port of this computer, and return it."""
        self._server = await asyncio.start_server(self._came, "127.0.0.1", 0)
        return int(self._server.sockets[0].getsockname()[1])

    async def close(self) -> None:
        """Listen no more, and hang up."""
        if self._server is not None:
            self._server.close()
        for talk in list(self._talks):
            talk.cancel()
        await asyncio.gather(*self._talks, return_exceptions=True)

    async def _came(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        talk = asyncio.current_task()
        assert talk is not None
        self._talks.add(talk)
        talk.add_done_callback(self._talks.discard)
        with suppress(OSError, asyncio.CancelledError):
            far_reader, far_writer = await self._reach()
            ways = [
                asyncio.ensure_future(self.take_down("in", reader, far_writer)),
                asyncio.ensure_future(self.take_down("out", far_reader, writer)),
            ]
            try:
                await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
                if ways[1].done():  # who came hears that nothing more will come, and may leave
                    writer.write_eof()
                await asyncio.wait(ways, timeout=_LAST_WORDS_S)
            finally:
                for way in ways:
                    way.cancel()
                await asyncio.gather(*ways, return_exceptions=True)
                far_writer.close()
        writer.close()

    async def take_down(
        self, way: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter | None = None
    ) -> None:
        """Take down all that comes, and pass it on to `writer`, until the end."""
        rest = b""
        while data := await reader.read(_AT_ONCE):
            rest += data
            if self._lines:
                *lines, last = rest.split(b"\n")
                for line in lines:
                    self._taken(way, line)
                if last or len(lines) > 1:
                    self._taken(way, rest)  # whatever spreads over lines
                rest = last
            else:
                self._taken(way, rest)
                rest = rest[-_OVERLAP:]
            if writer is None:
                continue
            with suppress(OSError):  # who went away hears no more, but it was said
                writer.write(data)
                await writer.drain()
        self._taken(way, rest)


class Listener:
    """A second gateway at a machine's socket: hears whatever the machine tells any gateway."""

    def __init__(self, path: Path, taken: Taken) -> None:
        self._relay = Relay(partial(_reach, path), taken, lines=True)
        self._path = path
        self._listening: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._listening = asyncio.create_task(self._listen())
        return self

    async def __aexit__(self, *why: object) -> None:
        if self._listening is not None:
            self._listening.cancel()
            await asyncio.gather(self._listening, return_exceptions=True)

    async def _listen(self) -> None:
        while True:
            reader, writer = await answer_once(partial(_reach, self._path), refused=(OSError,))
            try:
                with suppress(OSError):
                    writer.write(b'{"to":"ask_metrics"}\n')
                    await self._relay.take_down("out", reader)
            finally:
                writer.close()


async def _reach(path: Path) -> Streams:
    return await asyncio.open_unix_connection(str(path))
