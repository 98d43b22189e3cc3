"""The far end of a table's panel wires, over a socket: what sim/pins.py connects to."""

import asyncio
from contextlib import suppress
from pathlib import Path

from sim.contacts import PanelContacts
from sim.lines import LineServer


class PinServer:
    """Tells each client every level of the contacts, and takes its outputs.

    The lines stand in sim/CONTROL.md. A line that is none of them is passed over.
    """

    def __init__(self, contacts: PanelContacts, path: Path) -> None:
        self._contacts = contacts
        self._server = LineServer(path, self._serve)

    async def open(self) -> None:
        """Listen."""
        await self._server.open()

    async def close(self) -> None:
        """Listen no more; clients see their panel go away."""
        await self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        loop = asyncio.get_running_loop()

        def tell(number: int, level: bool) -> None:
            writer.write(b"level %d %d %.6f\n" % (number, level, loop.time()))

        for number, level in self._contacts.levels.items():
            tell(number, level)
        writer.write(b"ready\n")
        detach = self._contacts.attach(tell)
        try:
            async for line in reader:
                self._handle_line(line.split())
        finally:
            detach()

    def _handle_line(self, words: list[bytes]) -> None:
        if words[:1] == [b"out"] and len(words) == 3:
            with suppress(ValueError):
                self._contacts.set_output(int(words[1]), words[2] == b"1")
