"""Clients that connect to tables, and their keys. A folder has one key file for each role."""

import asyncio
import base64
import binascii
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import zmq
from nacl.exceptions import CryptoError
from nacl.public import PrivateKey, SealedBox

from controller.client.client import REPLY_TIMEOUT_S, Client, ClientIdentity, NoAnswer
from controller.console.console_config import ConfiguredTable
from controller.console.feed.backfill import endpoints_of
from controller.console.request_error import RequestError
from controller.messages import ClientCommand, CommandReply, Role
from controller.roster import RosterError, read_certificate
from controller.roster.certificate import Certificate
from controller.words import roles_with_article


def secret_key_file(folder: Path, role: Role) -> Path:
    """Return the path that the secret key file of a role has in `folder`."""
    return folder / f"{role.value}.key_secret"


def load_certificate(folder: Path, role: Role) -> Certificate:
    """Return a role's certificate, which contains the secret keys. Raises RosterError."""
    file = secret_key_file(folder, role)
    found = read_certificate(file)
    if found.curve_secret is None or found.sign is None:
        raise RosterError(f"{file}: has no secret: use the folder with the .key_secret files")
    if found.role is not role:
        raise RosterError(f"{file}: has the role {found.role}, expected {role.value}")
    return found


def load_identity(folder: Path, role: Role) -> ClientIdentity:
    """Return a role's keys from `folder`. Raises RequestError if it has no valid keys."""
    try:
        own = load_certificate(folder, role)
    except RosterError as missing:
        who = roles_with_article([role])
        raise RequestError(
            409, f"the console has no key for {who.en}: {missing}", f"控制台没有{who.zh}的密钥"
        ) from None
    assert own.curve_secret is not None
    return ClientIdentity(own.name, own.curve, own.curve_secret, own.sign)


def unseal_result(folder: Path, role: Role, result: dict[str, Any]) -> dict[str, Any]:
    """Return a command's result, with its sealed part opened if the key of `role` can open it.

    The opened part is in `hand` and is not stored. If there is no sealed part, or this key does not
    open it, the result is unchanged.
    """
    box = result.get("sealed")
    if not isinstance(box, str):
        return result
    public = {name: value for name, value in result.items() if name != "sealed"}
    try:
        unseal = load_certificate(folder, role).unseal
        if unseal is None:
            return result
        plain = SealedBox(PrivateKey(unseal)).decrypt(base64.b64decode(box, validate=True))
        return public | {"hand": plain.decode().split()}
    except (RosterError, CryptoError, ValueError, binascii.Error):
        return result


IDLE_TIMEOUT_S: Final = 300.0
_CLOSE_DELAY_S: Final = REPLY_TIMEOUT_S + 2
"""After this delay every caller of a retired client has its reply or a timeout."""


class TableClients:
    """A pool of clients, one for each table and role.

    `configured_table` and `key_folder_of` return the present configuration of a table. `new_id`
    returns ids for the clients' own queries.
    """

    def __init__(
        self,
        context: zmq.Context[Any],
        configured_table: Callable[[str], ConfiguredTable],
        key_folder_of: Callable[[str], Path],
        new_id: Callable[[], str],
    ) -> None:
        self._context, self._new_id = context, new_id
        self._configured_table, self._key_folder_of = configured_table, key_folder_of
        self._open: dict[tuple[str, Role], _PooledClient] = {}
        self._closing: set[asyncio.Task[None]] = set()

    def client_for(self, table: str, role: Role) -> "_PooledClient":
        """Return the pool's client for a table and a role. The pool creates it if needed.

        Raises KeyError for an unknown table, and RequestError if there is no key.
        """
        line = self._configured_table(table)
        key = table, role
        known = self._open.get(key)
        if known is not None and known.configured != line:
            self._retire(key, known)
            known = None
        if known is None:
            own: ClientIdentity = load_identity(self._key_folder_of(table), role)
            client = Client(endpoints_of(line), own, self._new_id, context=self._context)
            known = self._open[key] = _PooledClient(
                client, line, lambda kept: self._retire(key, kept)
            )
        return known

    async def close(self) -> None:
        """Close all clients."""
        for task in self._closing:
            task.cancel()
        left = [kept.close() for kept in self._open.values()]
        self._open.clear()
        await asyncio.gather(*left, *self._closing, return_exceptions=True)

    def _retire(self, key: tuple[str, Role], kept: "_PooledClient") -> None:
        """Remove a client from the pool now, and close it after a delay (_CLOSE_DELAY_S)."""
        if self._open.get(key) is kept:
            del self._open[key]
            task = asyncio.create_task(_close_later(kept))
            self._closing.add(task)
            task.add_done_callback(self._closing.discard)


async def _close_later(kept: "_PooledClient") -> None:
    try:
        await asyncio.sleep(_CLOSE_DELAY_S)
    finally:
        await kept.close()


class _PooledClient:
    """A client that leaves the pool after a time without use, or if its table does not answer."""

    def __init__(
        self, client: Client, line: ConfiguredTable, retire: Callable[["_PooledClient"], None]
    ) -> None:
        self.configured = line
        self._client, self._retire = client, retire
        self._idle_timer = self._start_idle_timer()

    async def send(self, command: ClientCommand) -> CommandReply:
        """Send a signed command, and return the table's reply. Raises NoAnswer, BadAddress."""
        self._idle_timer.cancel()
        self._idle_timer = self._start_idle_timer()
        try:
            return await self._client.send(command)
        except NoAnswer:
            self._retire(self)
            raise

    async def close(self) -> None:
        """Close the client."""
        self._idle_timer.cancel()
        await self._client.close()

    def _start_idle_timer(self) -> asyncio.TimerHandle:
        return asyncio.get_running_loop().call_later(IDLE_TIMEOUT_S, lambda: self._retire(self))
