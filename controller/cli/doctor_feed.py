"""A running table's feed, heard as a console hears it: by CURVE, with a key that is admitted."""

import asyncio
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from controller.cli import CliError
from controller.cli.printers import decode_state
from controller.cli.reach import new_command_id, read_identity, read_table_endpoints
from controller.client.client import BadMessage, Client, ClientIdentity
from controller.client.endpoints import Endpoints, NoEndpoints, read_endpoints
from controller.client.line import BadAddress
from controller.client.monitored import TableConnectionState
from controller.config import TableConfig
from controller.doctor import gathering
from controller.doctor.computer import Computer
from controller.doctor.facts import FeedFacts
from controller.roster import CLIENTS_FOLDER

STATE_TIMEOUT_S: Final = 5.0
"""A table says something every second."""
CONNECT_TIMEOUT_S: Final = 2.0


def gather_feed(config: TableConfig, computer: Computer) -> FeedFacts:
    """Return what is known of the feed of a table, which may not run."""
    place = config.gateway_dir
    try:
        read_endpoints(place)
    except (NoEndpoints, OSError):
        wanted = (config.gateway.feed, config.gateway.commands)
        return FeedFacts(taken_addresses=gathering.taken_addresses(computer, wanted))
    try:
        endpoints = read_table_endpoints(place)
    except CliError as error:
        return FeedFacts(address=str(place), trouble=str(error))
    identity = next(_readable_identities(place), None)
    if identity is not None:
        return asyncio.run(_receive_state(endpoints, identity))
    return _probe_address(endpoints.feed)


def _readable_identities(place: Path) -> Iterator[ClientIdentity]:
    """Yield the admitted pairs that lie here and that this user may read, an observer's first."""
    folder = place / CLIENTS_FOLDER
    try:
        files = sorted(folder.glob("*.key_secret"), key=lambda one: one.stem != "observer")
    except OSError:
        return
    for file in files:
        try:
            yield read_identity(file)
        except CliError:
            continue


async def _receive_state(endpoints: Endpoints, identity: ClientIdentity) -> FeedFacts:
    """Listen until a state of the table comes."""
    line = TableConnectionState.CONNECTING

    def stands(now: TableConnectionState) -> None:
        nonlocal line
        line = now

    address = endpoints.feed
    try:
        async with (
            asyncio.timeout(STATE_TIMEOUT_S),
            Client(endpoints, identity, new_command_id, stands) as client,
        ):
            while True:
                state = decode_state(await client.next_message())
                if state is not None:
                    alerts = tuple(alert.name for alert in state.alerts)
                    return FeedFacts(address, f"table {state.table}: {state.machine.phase}", alerts)
    except TimeoutError:
        said = f"as {identity.name}: {line}" if line is not TableConnectionState.OPEN else "silent"
        return FeedFacts(address, trouble=f"nothing came in {STATE_TIMEOUT_S:g} s, {said}")
    except (BadAddress, BadMessage) as wrong:
        return FeedFacts(address, trouble=str(wrong))


def _probe_address(address: str) -> FeedFacts:
    """Tell whether somebody listens at an address, without a key to speak with him."""
    place = urlsplit(address)
    try:
        socket.create_connection((place.hostname, place.port), CONNECT_TIMEOUT_S).close()
    except (OSError, ValueError) as error:
        return FeedFacts(address, trouble=f"nobody answers there ({error})")
    return FeedFacts(address, has_no_key=True)
