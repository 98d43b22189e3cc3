"""Tables that announce themselves on the network, for as long as a person searches for them."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from zeroconf import Error, InterfaceChoice, IPVersion, ServiceStateChange, Zeroconf
from zeroconf.asyncio import AsyncServiceBrowser, AsyncServiceInfo, AsyncZeroconf

from controller.client.discovery import (
    SERVICE_TYPE,
    BadAnnouncement,
    TableAnnouncement,
    parse_service,
)
from controller.console.table_snapshots import natural_sort_key
from controller.host.loggers import structlog
from controller.host.printable_text import escape_unprintable, shorten

LISTEN_TIMEOUT_S: Final = 60.0
"""Seconds for which the search continues after the last call of `list_found`."""
_QUERY_TIMEOUT_MS: Final = 3_000
_MAX_TABLES: Final = 1_000
"""The maximum of announced tables. A hall has four hundred, so more of them are forged."""
_MAX_LOGGED_INVALID: Final = 20
"""The maximum of invalid announcements in the log."""
_log = structlog.get_logger("console")


class TableDiscovery:
    """A search for tables on the network, which runs only while it is used.

    `interfaces` are addresses of this computer.
    """

    def __init__(
        self,
        interfaces: Sequence[str] | InterfaceChoice = InterfaceChoice.All,
        listen_s: float = LISTEN_TIMEOUT_S,
    ) -> None:
        self._interfaces, self._listen_s = interfaces, listen_s
        self._found: dict[str, TableAnnouncement] = {}
        self._queries: set[asyncio.Task[None]] = set()
        self._zeroconf: AsyncZeroconf | None = None
        self._browser: AsyncServiceBrowser | None = None
        self._stop_timer: asyncio.TimerHandle | None = None
        self._closing: set[asyncio.Task[None]] = set()
        self._invalid_count = 0
        self.listen_error: str | None = None

    def start(self) -> None:
        """Do nothing. The search begins at its first use, because a finished hall needs none."""

    def list_found(self) -> tuple[TableAnnouncement, ...]:
        """Return the tables found so far, by name. Start the search if it does not run.

        `listen_error` is the reason why the search cannot run, or None.
        """
        loop = asyncio.get_running_loop()
        if self._stop_timer is not None:
            self._stop_timer.cancel()
        self._stop_timer = loop.call_later(self._listen_s, self._stop)
        if self._zeroconf is None:
            self._start()
        found = self._found.values()
        return tuple(sorted(found, key=lambda one: (natural_sort_key(one.table), one.fingerprint)))

    async def close(self) -> None:
        """Stop the search and cancel the timers."""
        self._stop()
        await asyncio.gather(*self._closing)

    def _start(self) -> None:
        self.listen_error = None
        try:
            self._zeroconf = AsyncZeroconf(self._interfaces, ip_version=IPVersion.V4Only)
        except (OSError, Error) as error:
            self.listen_error = getattr(error, "strerror", None) or str(error)
            _log.warning("cannot search for tables on the network", why=self.listen_error)
            return
        self._browser = AsyncServiceBrowser(
            self._zeroconf.zeroconf, [SERVICE_TYPE], handlers=[self._service_changed]
        )

    def _stop(self) -> None:
        if self._stop_timer is not None:
            self._stop_timer.cancel()
            self._stop_timer = None
        zeroconf, browser = self._zeroconf, self._browser
        self._zeroconf = self._browser = None
        self._found.clear()
        for task in self._queries:
            task.cancel()
        if zeroconf is not None and browser is not None:
            ending = asyncio.ensure_future(_close(zeroconf, browser))
            self._closing.add(ending)
            ending.add_done_callback(self._closing.discard)

    def _service_changed(
        self, zeroconf: Zeroconf, service_type: str, name: str, state_change: ServiceStateChange
    ) -> None:
        if state_change is ServiceStateChange.Removed:
            self._found.pop(name, None)
        elif len(self._found) < _MAX_TABLES and len(self._queries) < _MAX_TABLES:
            task = asyncio.ensure_future(self._query(zeroconf, name))
            self._queries.add(task)
            task.add_done_callback(self._queries.discard)

    async def _query(self, zeroconf: Zeroconf, name: str) -> None:
        """Request the address and the properties of a service."""
        info = AsyncServiceInfo(SERVICE_TYPE, name)
        with suppress(Error):
            if not await info.async_request(zeroconf, _QUERY_TIMEOUT_MS):
                return
            try:
                self._found[name] = parse_service(
                    info.properties, info.parsed_addresses(IPVersion.V4Only)
                )
            except BadAnnouncement as wrong:
                self._found.pop(name, None)
                # Any program may announce such services without end.
                if self._invalid_count < _MAX_LOGGED_INVALID:
                    self._invalid_count += 1
                    why = escape_unprintable(shorten(str(wrong)))
                    _log.warning(
                        "invalid announcement", name=escape_unprintable(shorten(name)), why=why
                    )


async def _close(zeroconf: AsyncZeroconf, browser: AsyncServiceBrowser) -> None:
    """End the search on the network. An error is only logged."""
    for end in (browser.async_cancel, zeroconf.async_close):
        try:
            await end()
        except Exception as error:
            _log.warning("the search on the network did not end cleanly", why=str(error))
