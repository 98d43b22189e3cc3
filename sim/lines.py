"""Servers on Unix sockets that speak in lines."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

ServeClient = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class LineServer:
    """Listens at `path` and runs `serve` for each client; `close` ends all of them."""

    def __init__(self, path: Path, serve: ServeClient) -> None:
        self.path = path
        self._serve_client = serve
        self._clients: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None

    async def open(self) -> None:
        """Listen; a socket that an earlier run left behind is replaced."""
        self.path.unlink(missing_ok=True)
        self._server = await asyncio.start_unix_server(self._accept, self.path)
        self.path.chmod(0o600)

    async def close(self) -> None:
        """Listen no more, and end every client's task."""
        if self._server is not None:
            self._server.close()
        clients = list(self._clients)
        for client in clients:
            client.cancel()
        await asyncio.gather(*clients, return_exceptions=True)
        self.path.unlink(missing_ok=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._clients.add(task)
        try:
            await self._serve_client(reader, writer)
        except (ConnectionError, asyncio.CancelledError):
            pass  # the client went away, or close() ends it
        finally:
            self._clients.discard(task)
            writer.close()
