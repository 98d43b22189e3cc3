"""Whoever logs out is out at once, also while the database is away: there as soon as it is back."""

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
"""So often the database is tried while it is away."""
LOGOUT_TIMEOUT_S: Final = 1.0
"""So long whoever logs out waits for it."""
MAX_PENDING_LOGOUTS: Final = 4_096
"""More sessions than a console has; tokens that somebody made up fill no more."""
_log = structlog.get_logger("console")


class PendingLogouts:
    """Sessions that are over, but not yet in the database. `end` ends one there, and may block."""

    def __init__(self, end_session: Callable[[str], None], run_blocking: RunBlocking) -> None:
        self._end_session, self._run_blocking = end_session, run_blocking
        self._tokens: set[str] = set()
        self._is_store_away = False
        self._added, self._attempted = asyncio.Event(), asyncio.Event()
        self._flush_task: asyncio.Task[None] | None = None

    def __contains__(self, token: str) -> bool:
        """Tell whether a session is over, though the database does not know it."""
        return token in self._tokens

    async def add(self, token: str) -> None:
        """End a session; return once the database has it, is away, or is late."""
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
        """Try once more, and stop."""
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
"""Another process may remove somebody, as `dealtable console --invite` changes a role."""
LOOKUP_TIMEOUT_S: Final = 1.0
"""Who is known goes on meanwhile where the database takes longer, or is away: nobody can be let go
there either, and who looks at a page has to see that it is away."""
MAX_PIN_CHECKS: Final = 16
"""PINs that wait to be checked: who knows his is not kept waiting by more."""
MAX_PIN_CHECKS_PER_ADDRESS: Final = 4
"""Of them from one address: who guesses leaves room for the others."""
_MAX_CACHED: Final = 4_096
_MAX_TOKEN_LENGTH: Final = 200


class Sessions:
    """The people of a console, and their sessions, off the loop. Raises NotAllowed as People."""

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
        """Return whose session a token is; None where it is over, or he may no longer."""
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
        return self._cache.get(token, (0, None))[1]  # nobody, where he was let go meanwhile

    async def _look_up(self, token: str) -> Account | None:
        changes = self._changes
        person = await self._run_blocking(lambda: self._accounts.session_owner(token))
        if len(self._cache) >= _MAX_CACHED:
            self._cache.clear()
        if person is None:
            self._cache.pop(token, None)
        elif changes == self._changes:  # else somebody may be out since
            self._cache[token] = self._now_ms() + CACHE_MS, person
        return person

    def _lookup_done(self, token: str, lookup: "asyncio.Task[Account | None]") -> None:
        if self._lookups.get(token) is lookup:
            del self._lookups[token]
        if not lookup.cancelled():
            lookup.exception()  # whoever asked may be gone

    def shift_times(self, by_ms: int) -> None:
        """Take it that the clock was set by so much: nobody is out, or in for longer, by it."""
        self._cache = {
            token: (until_ms + by_ms, person) for token, (until_ms, person) in self._cache.items()
        }
        task = asyncio.create_task(self._shift_expiry_times(self._now_ms() - by_ms, by_ms))
        self._shift_tasks.add(task)
        task.add_done_callback(self._shift_tasks.discard)

    async def close(self) -> None:
        """Wait until all are moved with the clock, and who logged out is out."""
        await asyncio.gather(*self._shift_tasks, return_exceptions=True)
        await self._pending_logouts.close()

    async def _shift_expiry_times(self, before_ms: int, by_ms: int) -> None:
        try:
            await self._run_blocking(lambda: self._accounts.shift_expiry_times(before_ms, by_ms))
        except StoreError as failed:  # then they log in anew
            _log.warning("sessions are not moved with the clock", why=str(failed))

    async def log_in(self, name: str, pin: str, host: str = "") -> tuple[Account, str]:
        """Return who has that name and PIN, and what his browser shall show.

        `host`: the address that he comes from; "" where it is not counted.
        """
        self._accounts.refuse_while_waiting(
            name, host
        )  # else who waits would fill the room of the others
        of_one = sum(one == host != "" for one in self._checking_addresses)
        if len(self._checking_addresses) >= MAX_PIN_CHECKS or of_one >= MAX_PIN_CHECKS_PER_ADDRESS:
            raise NotAllowed("too many log in at once: try again", "登录人数过多，请稍后再试")
        self._checking_addresses.append(host)
        try:
            return await self._check(lambda: self._accounts.log_in(name, pin, host))
        finally:
            self._checking_addresses.remove(host)

    async def log_out(self, token: str) -> None:
        """End a session: here at once, in the database as soon as it is there.

        Who makes a token up keeps nobody waiting.
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
        """Remember in which language somebody reads."""
        await self._run_blocking(lambda: self._accounts.set_language(name, language))
        self._clear_cache()

    async def invite(self, person: Account) -> str:
        """Write a new person down; return the code with which he sets his PIN."""
        code = await self._run_blocking(lambda: self._accounts.invite(person))
        self._clear_cache()
        return code

    async def invited_until_ms(self, name: str) -> int | None:
        """Return how long somebody's invitation is good, or was; None where he has none."""
        return await self._run_blocking(lambda: self._accounts.invited_until_ms(name))

    async def invite_first(self, first: Sequence[tuple[str, Role]]) -> list[tuple[str, str]]:
        """Invite these where nobody can log in yet; return each name with its code."""

        def invited() -> list[tuple[str, str]]:
            if self._accounts.has_usable_account():
                return []
            return [
                (name, self._accounts.invite(Account(name=name, role=role))) for name, role in first
            ]

        return await self._run_blocking(invited)

    async def accept_invitation(self, code: str, pin: str, host: str = "") -> tuple[Account, str]:
        """Let the invited set his PIN, and log him in: return him, and what his browser shall show.

        The code is used up, his older sessions are over.
        """

        def accepted() -> tuple[Account, str]:
            person = self._accounts.accept_invitation(code, pin)
            return person, self._accounts.start_session(person.name, host)

        person, token = await self._check(accepted)
        self._clear_cache()
        return person, token

    async def remove(self, name: str) -> bool:
        """Let a person in no more, and end his sessions; tell whether there was one."""
        gone = await self._run_blocking(lambda: self._accounts.remove(name))
        self._clear_cache()
        return gone

    async def list_accounts(self) -> list[ListedAccount]:
        """Return everybody who may log in or is invited, by name."""
        return await self._run_blocking(self._accounts.list_accounts)

    def _clear_cache(self) -> None:
        self._changes += 1
        self._cache.clear()
        self._lookups.clear()  # what is being read may be of before
