"""Accounts and sessions for use in the event loop, with a cache and a list of pending logouts.

`Sessions` calls the blocking `Accounts` in a thread. A logout takes effect at once, even if the
database is unavailable. `PendingLogouts` writes it to the database as soon as possible.
"""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Final

from controller.console.accounts.account_store import Account, Accounts, ListedAccount, NotAllowed
from controller.console.store.database import StoreError
from controller.console.table_snapshots import RunBlocking
from controller.faults import Language
from controller.host.loggers import structlog
from controller.messages import Role

RETRY_INTERVAL_S: Final = 5.0
"""The interval between attempts while the database is unavailable."""
LOGOUT_TIMEOUT_S: Final = 1.0
"""The longest time that a logout waits for the database."""
MAX_PENDING_LOGOUTS: Final = 4_096
"""The most logouts that can be pending.

This is more than the sessions of a console, and invented tokens cannot use more memory than this.
"""
_log = structlog.get_logger("console")


class PendingLogouts:
    """Sessions that have ended, but are not yet deleted from the database.

    `end_session` ends one session in the database, and may block.
    """

    def __init__(self, end_session: Callable[[str], None], run_blocking: RunBlocking) -> None:
        self._end_session, self._run_blocking = end_session, run_blocking
        self._tokens: set[str] = set()
        self._is_store_away = False
        self._added, self._attempted = asyncio.Event(), asyncio.Event()
        self._flush_task: asyncio.Task[None] | None = None

    def __contains__(self, token: str) -> bool:
        """Return whether the session `token` has ended but is not yet deleted from the database."""
        return token in self._tokens

    async def add(self, token: str) -> None:
        """End a session at once, then wait up to LOGOUT_TIMEOUT_S for its deletion in the database.

        Nothing happens if MAX_PENDING_LOGOUTS sessions already wait for their deletion.
        """
        if len(self._tokens) >= MAX_PENDING_LOGOUTS:
            return
        self._tokens.add(token)
        self._is_store_away = False
        self._added.set()
        if self._flush_task is None or self._flush_task.done():
            self._flush_task = asyncio.create_task(self._flush())
        with suppress(TimeoutError):
            async with asyncio.timeout(LOGOUT_TIMEOUT_S):
                while token in self._tokens and not self._is_store_away:
                    await self._attempted.wait()

    async def close(self) -> None:
        """Stop the background task, and try again to delete the ended sessions."""
        if self._flush_task is not None:
            self._flush_task.cancel()
            await asyncio.gather(self._flush_task, return_exceptions=True)
        await self._try_once()

    async def _flush(self) -> None:
        while self._tokens:
            self._added.clear()
            await self._try_once()
            self._attempted.set()
            self._attempted = asyncio.Event()
            if self._tokens:
                with suppress(TimeoutError):
                    async with asyncio.timeout(RETRY_INTERVAL_S):
                        await self._added.wait()

    async def _try_once(self) -> None:
        for token in tuple(self._tokens):
            try:
                await self._run_blocking(partial(self._end_session, token))
            except StoreError as failed:
                _log.warning("who logged out is not out in the database yet", why=str(failed))
                self._is_store_away = True
                return
            self._tokens.discard(token)


CACHE_MS: Final = 5_000
"""How long an account is cached. It is short because another process may change or remove an
account: `dealtable console --invite` changes a role.
"""
LOOKUP_TIMEOUT_S: Final = 1.0
"""How long the lookup of a cached session may take. After this time, or if the database is
unavailable, the cached account stays valid: accounts cannot be removed then either, and the
viewers of a page must see that the database is unavailable.
"""
MAX_PIN_CHECKS: Final = 16
"""The most PIN checks that may be pending at once. It limits how long people with a right PIN wait.
"""
MAX_PIN_CHECKS_PER_ADDRESS: Final = 4
"""The most pending PIN checks from one address. A guesser leaves room for others."""
_MAX_CACHED: Final = 4_096
_MAX_TOKEN_LENGTH: Final = 200


class Sessions:
    """The asynchronous form of `Accounts`, with a cache of the accounts of sessions.

    Blocking calls run in a thread. Methods raise NotAllowed as those of `Accounts` do.
    """

    def __init__(
        self,
        accounts: Accounts,
        run_blocking: RunBlocking,
        now_ms: Callable[[], int],
        check: RunBlocking | None = None,
    ) -> None:
        self._accounts, self._run_blocking, self._now_ms = accounts, run_blocking, now_ms
        self._check = check or run_blocking
        self._cache: dict[str, tuple[int, Account]] = {}
        self._lookups: dict[str, asyncio.Task[Account | None]] = {}
        self._shift_tasks: set[asyncio.Task[None]] = set()
        self._changes = 0
        self._checking_addresses: list[str] = []
        self._pending_logouts = PendingLogouts(
            lambda token: self._accounts.log_out(token), run_blocking
        )

    async def session_owner(self, token: str) -> Account | None:
        """Return the account of a session token, or None if the token has no valid session."""
        if not token or len(token) > _MAX_TOKEN_LENGTH or token in self._pending_logouts:
            return None
        until_ms, known = self._cache.get(token, (0, None))
        if known is not None and self._now_ms() < until_ms:
            return known
        asking = self._lookups.get(token)
        if asking is None:
            asking = self._lookups[token] = asyncio.create_task(self._look_up(token))
            asking.add_done_callback(lambda done: self._lookup_done(token, done))
        if known is None:
            return await asyncio.shield(asking)
        with suppress(TimeoutError, StoreError):
            async with asyncio.timeout(LOOKUP_TIMEOUT_S):
                return await asyncio.shield(asking)
        return self._cache.get(token, (0, None))[1]  # None, if the account was removed meanwhile.

    async def _look_up(self, token: str) -> Account | None:
        changes = self._changes
        person = await self._run_blocking(lambda: self._accounts.session_owner(token))
        if len(self._cache) >= _MAX_CACHED:
            self._cache.clear()
        if person is None:
            self._cache.pop(token, None)
        # Otherwise the account may have been removed since the read began.
        elif changes == self._changes:
            self._cache[token] = self._now_ms() + CACHE_MS, person
        return person

    def _lookup_done(self, token: str, lookup: "asyncio.Task[Account | None]") -> None:
        if self._lookups.get(token) is lookup:
            del self._lookups[token]
        if not lookup.cancelled():
            # The exception counts as retrieved, even if no caller waits for the result any more.
            lookup.exception()

    def shift_times(self, by_ms: int) -> None:
        """Add `by_ms` to all expiry times, because the console's clock was changed by `by_ms`.

        Each session keeps its remaining time.
        """
        self._cache = {
            token: (until_ms + by_ms, person) for token, (until_ms, person) in self._cache.items()
        }
        task = asyncio.create_task(self._shift_expiry_times(self._now_ms() - by_ms, by_ms))
        self._shift_tasks.add(task)
        task.add_done_callback(self._shift_tasks.discard)

    async def close(self) -> None:
        """Wait until changed expiry times are stored, then try again to store the logouts."""
        await asyncio.gather(*self._shift_tasks, return_exceptions=True)
        await self._pending_logouts.close()

    async def _shift_expiry_times(self, before_ms: int, by_ms: int) -> None:
        try:
            await self._run_blocking(lambda: self._accounts.shift_expiry_times(before_ms, by_ms))
        except StoreError as failed:  # Then people have to log in again.
            _log.warning("sessions are not moved with the clock", why=str(failed))

    async def log_in(self, name: str, pin: str, host: str = "") -> tuple[Account, str]:
        """Return the account with this name and PIN, and a new session token. Raises NotAllowed.

        `host` is the address of the client, or "" if wrong PINs from it are not counted.
        """
        # Checked first, so that clients that have to wait do not use up the places of others.
        self._accounts.refuse_while_waiting(name, host)
        of_one = sum(one == host != "" for one in self._checking_addresses)
        if len(self._checking_addresses) >= MAX_PIN_CHECKS or of_one >= MAX_PIN_CHECKS_PER_ADDRESS:
            raise NotAllowed("too many log in at once: try again", "登录人数过多，请稍后再试")
        self._checking_addresses.append(host)
        try:
            return await self._check(lambda: self._accounts.log_in(name, pin, host))
        finally:
            self._checking_addresses.remove(host)

    async def log_out(self, token: str) -> None:
        """End a session: in this process at once, in the database as soon as it is available.

        An unknown token is ignored, and so does not fill the list of pending logouts.
        """
        with suppress(TimeoutError, StoreError):
            async with asyncio.timeout(LOOKUP_TIMEOUT_S):
                if await self.session_owner(token) is None:
                    return
        self._changes += 1
        self._cache.pop(token, None)
        self._lookups.pop(token, None)
        await self._pending_logouts.add(token)

    async def set_language(self, name: str, language: Language) -> None:
        """Store the language in which a person reads the pages."""
        await self._run_blocking(lambda: self._accounts.set_language(name, language))
        self._clear_cache()

    async def invite(self, person: Account) -> str:
        """Create or update an account, and return a new invitation code."""
        code = await self._run_blocking(lambda: self._accounts.invite(person))
        self._clear_cache()
        return code

    async def invited_until_ms(self, name: str) -> int | None:
        """Return when `name`'s unused invitation expires or expired, or None if there is none."""
        return await self._run_blocking(lambda: self._accounts.invited_until_ms(name))

    async def invite_first(self, first: Sequence[tuple[str, Role]]) -> list[tuple[str, str]]:
        """Invite the people `first` if no account can log in yet.

        Return (name, invitation code) of each, or [] if an account can log in already."""

        def invited() -> list[tuple[str, str]]:
            if self._accounts.has_usable_account():
                return []
            return [
                (name, self._accounts.invite(Account(name=name, role=role))) for name, role in first
            ]

        return await self._run_blocking(invited)

    async def accept_invitation(self, code: str, pin: str, host: str = "") -> tuple[Account, str]:
        """Set the PIN of the account with the invitation `code`, and start a session.

        Return the account and the session token. The invitation is used up. Older sessions end.
        """

        def accepted() -> tuple[Account, str]:
            person = self._accounts.accept_invitation(code, pin)
            return person, self._accounts.start_session(person.name, host)

        person, token = await self._check(accepted)
        self._clear_cache()
        return person, token

    async def remove(self, name: str) -> bool:
        """Remove an account, end its sessions, and return whether there was such an account."""
        gone = await self._run_blocking(lambda: self._accounts.remove(name))
        self._clear_cache()
        return gone

    async def list_accounts(self) -> list[ListedAccount]:
        """Return all accounts that were not removed, sorted by name."""
        return await self._run_blocking(self._accounts.list_accounts)

    def _clear_cache(self) -> None:
        self._changes += 1
        self._cache.clear()
        self._lookups.clear()  # A lookup that is running may have read the old state.
