"""A table with a real gateway and a scripted machine that has a journal."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec

from controller.client.client import ClientIdentity
from controller.client.discovery import Endpoints
from controller.console.console_config import ConfiguredTable
from controller.gateway.gateway import open_gateway
from controller.gateway_protocol import SOCKET_NAME, CommandMessage, HelloMessage
from controller.keys.table_keys import create_table_keys
from controller.messages import CommandReply, PublicState
from controller.roster import KEYS_FOLDER, TABLE_NAME, read_certificate
from controller.service.wall_clock import read_wall_clock
from tests.console.journal import Journal
from tests.console.states import state
from tests.gateway.scripted import ScriptedMachine, identity
from tests.table_doubles import loopback_config


class RealTable:
    """Its gateway can be opened and closed again at the same addresses."""

    def __init__(self, folder: Path, runtime_dir: Path, name: str = "T01") -> None:
        self.name = name
        self.folder = folder
        create_table_keys(folder)
        self.journal = Journal(name)
        self.seq = 0
        self.machine = ScriptedMachine(runtime_dir / SOCKET_NAME, self.state())
        self.machine.hello = HelloMessage(name, simulated=True)
        self.machine.script = self._answer
        self.config = loopback_config(folder, runtime_dir, name)
        self.endpoints: Endpoints | None = None

    @asynccontextmanager
    async def open(self) -> AsyncIterator[ConfiguredTable]:
        """Let its gateway serve for the block, where it served before."""
        if self.endpoints is not None:
            gateway = msgspec.structs.replace(
                self.config.gateway, feed=self.endpoints.feed, commands=self.endpoints.commands
            )
            self.config = msgspec.structs.replace(self.config, gateway=gateway)
        async with open_gateway(self.config, read_wall_clock) as self.endpoints:
            await self.machine.connected.wait()
            yield self.line

    @property
    def line(self) -> ConfiguredTable:
        """What a console's configuration says of it."""
        assert self.endpoints is not None
        verify = read_certificate(self.folder / KEYS_FOLDER / f"{TABLE_NAME}.key").verify
        return ConfiguredTable(
            id=self.name,
            feed=self.endpoints.feed,
            commands=self.endpoints.commands,
            server_key=self.endpoints.server_key,
            verify=verify.hex(),
        )

    def observer(self) -> ClientIdentity:
        """Who may hear it."""
        return identity(self.folder, "observer")

    def state(self, **more: Any) -> PublicState:
        """Its state, with a new number."""
        self.seq += 1
        own = {"table": self.name, "seq": self.seq, "head": self.journal.head, "signed": None}
        return state(None, **own | more)

    def say(self, **more: Any) -> PublicState:
        """Say its state."""
        said = self.machine.state = self.state(**more)
        self.machine.publish(said)
        return said

    def happens(self, say: Callable[[Any], None] | None = None, **data: Any) -> None:
        """Write a public entry and tell it."""
        (say or self.machine.publish)(self.journal.happens(**data))

    def _answer(self, message: CommandMessage) -> list[CommandReply]:
        command = message.body
        result: dict[str, Any] = {}
        if command.cmd == "events":
            events = self.journal.events(command.args["since"])
            result = {"events": msgspec.to_builtins(events)}
        return [CommandReply(id=command.id, ok=True, result=result)]
