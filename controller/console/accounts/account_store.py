"""Accounts of the console in the database: names, roles, PINs, invitations and sessions.

A PIN is short, so guessing is made slow. Each check uses argon2, and after some wrong PINs the
guesser has to wait (login_throttle.py). An invitation can be used once, within some hours, by
anybody who has its code.
"""

import hashlib
from base64 import b64encode
from collections.abc import Callable
from typing import Any, Final

import msgspec
from argon2 import PasswordHasher
from argon2.exceptions import Argon2Error, InvalidHashError
from argon2.low_level import ARGON2_VERSION
from sqlalchemy import ColumnElement, Connection, Engine, Row, and_, delete, insert, select, update

from controller.console.accounts.login_throttle import LoginThrottle
from controller.console.store.database_schema import ACCOUNTS, INVITATIONS, SESSIONS
from controller.faults import Language
from controller.host.loggers import structlog
from controller.host.printable_text import escape_unprintable, shorten
from controller.messages import Role

SESSION_MS: Final = 16 * 3_600_000
"""How long a session is valid. It covers a long day in a hall, and is limited because tablets are
left unattended.
"""
MAX_SESSIONS: Final = 40
"""The most sessions of one account. One more ends the oldest, so that a person with a PIN cannot
fill the disk with sessions.
"""
INVITATION_MS: Final = 24 * 3_600_000
"""How long an invitation is valid: from the evening of the set-up to the next day's first round
(provisional).
"""
MIN_PIN_LENGTH, MAX_PIN_LENGTH = 4, 12
_CODE_LETTERS: Final = "23456789ABCDEFGHJKMNPQRSTUVWXYZ"
"""The characters of invitation codes. Characters that are easily confused are left out: 0 O, 1 I L.
"""
_CODE_LENGTH: Final = 10
_log = structlog.get_logger("console")


class Account(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """An account of the console: a person or a display that may log in.

    `table` is the one table that a display is for.
    """

    name: str
    role: Role
    language: Language = "zh"
    table: str | None = None


class ListedAccount(Account, frozen=True, gc=False, kw_only=True):
    """An account in the list of all accounts, with the state of its PIN and invitation.

    `invited_until_ms` is the time at which the unused invitation expires or expired. It is None
    without such an invitation. `has_pin` is True if the person can log in.
    """

    invited_until_ms: int | None = None
    has_pin: bool = False


class NotAllowed(Exception):
    """The error for a refused request about an account, for example a login with a wrong PIN.

    `en` and `zh` are the line that explains the refusal.
    """

    def __init__(self, en: str, zh: str) -> None:
        super().__init__(en)
        self.en, self.zh = en, zh


class Accounts:
    """The accounts of a console and their sessions, in the database.

    `now_ms` returns milliseconds since 1970, `entropy` returns the given number of random bytes.
    `invitation_ms` is how long an invitation is valid. Calls may block.
    """

    def __init__(
        self,
        engine: Engine,
        now_ms: Callable[[], int],
        entropy: Callable[[int], bytes],
        hasher: PasswordHasher | None = None,
        invitation_ms: int = INVITATION_MS,
    ) -> None:
        self._engine, self._now_ms, self._entropy = engine, now_ms, entropy
        self._hasher = hasher or PasswordHasher()
        self._invitation_ms = invitation_ms
        self._throttle = LoginThrottle(now_ms, entropy(16))
        self._dummy_hash = _make_dummy_hash(self._hasher, entropy)

    def invite(self, person: Account) -> str:
        """Create or update an account, and return a new invitation code. It is shown only once.

        The person sets the PIN with the code. An existing account keeps its PIN until the new code
        is used, and only the newest code is valid. The new role and language apply at once. A
        change of role or table ends the sessions of the account, so that the permissions of an
        unattended tablet never change while it is logged in.
        """
        letters = len(_CODE_LETTERS)
        code = "".join(_CODE_LETTERS[byte % letters] for byte in self._entropy(_CODE_LENGTH))
        said = {
            "role": person.role.value,
            "language": person.language,
            "table_id": person.table,
            "active": True,
        }
        of_him = ACCOUNTS.c.name == person.name
        with self._engine.begin() as base:
            known = base.execute(select(ACCOUNTS).where(of_him)).one_or_none()
            if known is None:
                base.execute(insert(ACCOUNTS).values(name=person.name, pin=None, **said))
            else:
                base.execute(update(ACCOUNTS).where(of_him).values(said))
                if (known.role, known.table_id) != (person.role.value, person.table):
                    self._end_sessions(base, person.name)
            base.execute(delete(INVITATIONS).where(INVITATIONS.c.person == person.name))
            until = {"code": _digest(code), "until_ms": self._now_ms() + self._invitation_ms}
            base.execute(insert(INVITATIONS).values(person=person.name, **until))
        return code

    def accept_invitation(self, code: str, pin: str) -> Account:
        """Set the PIN of the account with the invitation `code`, and return the account.

        The invitation is deleted. Sessions that were started with an older PIN end, because a new
        PIN may mean that the old one was seen. An invalid code is refused without a hash: otherwise
        anybody could make the console compute hashes. Raises NotAllowed.
        """
        if not (pin.isascii() and pin.isdigit() and MIN_PIN_LENGTH <= len(pin) <= MAX_PIN_LENGTH):
            raise NotAllowed(
                f"a PIN has {MIN_PIN_LENGTH} to {MAX_PIN_LENGTH} digits",
                f"密码须为{MIN_PIN_LENGTH}至{MAX_PIN_LENGTH}位数字",
            )
        own = INVITATIONS.c.code == _digest(code.strip().upper())
        invited = (
            select(ACCOUNTS)
            .join(INVITATIONS, INVITATIONS.c.person == ACCOUNTS.c.name)
            .where(own, ACCOUNTS.c.active, INVITATIONS.c.until_ms > self._now_ms())
        )
        with self._engine.connect() as base:
            row = base.execute(invited).one_or_none()
        hashed = None if row is None else self._hasher.hash(pin)
        with self._engine.begin() as base:
            if row is None or not base.execute(delete(INVITATIONS).where(own)).rowcount:
                raise NotAllowed(
                    "this invitation is not known, was used, or is over: ask for a new one",
                    "邀请码无效、已使用或已过期，请重新索取",
                )
            base.execute(update(ACCOUNTS).where(ACCOUNTS.c.name == row.name).values(pin=hashed))
            self._end_sessions(base, row.name)
        self._throttle.forget_failures(row.name)
        self._throttle.forget_addresses(row.name)
        return _account_of_row(row)

    def log_in(self, name: str, pin: str, host: str = "") -> tuple[Account, str]:
        """Return the account with this name and PIN, and a new session token. Raises NotAllowed.

        An unknown name takes as much time as a wrong PIN, and has the same waiting times. `host` is
        the address of the client, or "" if wrong PINs from it are not counted.
        """
        with self._engine.connect() as base:
            row = base.execute(select(ACCOUNTS).where(_is_active(name))).one_or_none()
        known = row is not None
        _refuse_if_waiting(self._throttle.wait_s(name, host, known=known))
        if not self._is_pin_right(row.pin if row is not None else None, pin) or row is None:
            if wait_s := self._throttle.count_failure(name, host, known=known):
                said = escape_unprintable(shorten(name))
                _log.warning("wrong PINs", name=said, host=host or "here", wait_s=wait_s)
            raise NotAllowed("name or PIN is wrong", "姓名或密码不对")
        return _account_of_row(row), self.start_session(name, host, row.pin)

    def refuse_while_waiting(self, name: str, host: str) -> None:
        """Raise NotAllowed if a login as `name` must wait because of wrong PINs from `host`.

        This method never blocks.
        """
        _refuse_if_waiting(self._throttle.address_wait_s(name, host))

    def start_session(self, name: str, host: str = "", pin: str | None = None) -> str:
        """Start a session for the account `name`, and return the session's token for the browser.

        `pin` is the stored hash of the PIN that was checked. It is None if the person was
        authenticated in another way. Raises NotAllowed if the account was removed since then, or
        its PIN was changed.
        """
        token = self._entropy(32).hex()
        now_ms = self._now_ms()
        own = SESSIONS.c.person == name
        he = select(ACCOUNTS.c.pin).where(_is_active(name)).with_for_update()
        oldest = (
            select(SESSIONS.c.until_ms)
            .where(own)
            .order_by(SESSIONS.c.until_ms.desc())
            .offset(MAX_SESSIONS - 1)
            .limit(1)
        )
        with self._engine.begin() as base:
            base.execute(delete(SESSIONS).where(SESSIONS.c.until_ms <= now_ms))
            there = base.execute(he).one_or_none()
            if there is None or pin not in (None, there.pin):
                raise NotAllowed("name or PIN is wrong", "姓名或密码不对")
            if (until_ms := base.scalar(oldest)) is not None:
                base.execute(delete(SESSIONS).where(own, SESSIONS.c.until_ms <= until_ms))
            until = {"person": name, "until_ms": now_ms + SESSION_MS}
            base.execute(insert(SESSIONS).values(token=_digest(token), **until))
        self._throttle.count_success(name, host)
        return token

    def session_owner(self, token: str) -> Account | None:
        """Return the account of a session token, or None if the token has no valid session."""
        asked = (
            select(ACCOUNTS)
            .join(SESSIONS, SESSIONS.c.person == ACCOUNTS.c.name)
            .where(SESSIONS.c.token == _digest(token), ACCOUNTS.c.active)
            .where(SESSIONS.c.until_ms > self._now_ms())
        )
        with self._engine.connect() as base:
            row = base.execute(asked).one_or_none()
        return None if row is None else _account_of_row(row)

    def shift_expiry_times(self, before_ms: int, by_ms: int) -> None:
        """Add `by_ms` to the expiry time of sessions and invitations that are valid at `before_ms`.

        `before_ms` is the time of the clock before it was set. Each session and invitation keeps
        its remaining time. Not changed are rows that had expired at `before_ms`, and rows that
        expire so late that they cannot have been created before it.
        """
        with self._engine.begin() as base:
            for table, most_ms in ((SESSIONS, SESSION_MS), (INVITATIONS, self._invitation_ms)):
                until = table.c.until_ms
                base.execute(
                    update(table)
                    .where(until > before_ms, until <= before_ms + most_ms)
                    .values(until_ms=until + by_ms)
                )

    def set_language(self, name: str, language: Language) -> None:
        """Store the language in which a person reads the pages."""
        with self._engine.begin() as base:
            base.execute(update(ACCOUNTS).where(ACCOUNTS.c.name == name).values(language=language))

    def log_out(self, token: str) -> None:
        """End the session that has this token."""
        with self._engine.begin() as base:
            base.execute(delete(SESSIONS).where(SESSIONS.c.token == _digest(token)))

    def remove(self, name: str) -> bool:
        """Remove an account, end its sessions, and return whether there was such an account."""
        with self._engine.begin() as base:
            # First, so that this waits for a login that is under way.
            ended = update(ACCOUNTS).where(_is_active(name)).values(active=False, pin=None)
            gone = base.execute(ended)
            self._end_sessions(base, name)
            base.execute(delete(INVITATIONS).where(INVITATIONS.c.person == name))
        self._throttle.forget_addresses(name)
        return bool(gone.rowcount)

    def list_accounts(self) -> list[ListedAccount]:
        """Return all accounts that were not removed, sorted by name."""
        asked = (
            select(ACCOUNTS, INVITATIONS.c.until_ms)
            .outerjoin(INVITATIONS, INVITATIONS.c.person == ACCOUNTS.c.name)
            .where(ACCOUNTS.c.active)
            .order_by(ACCOUNTS.c.name)
        )
        with self._engine.connect() as base:
            return [
                ListedAccount(
                    **msgspec.structs.asdict(_account_of_row(row)),
                    invited_until_ms=row.until_ms,
                    has_pin=row.pin is not None,
                )
                for row in base.execute(asked)
            ]

    def invited_until_ms(self, name: str) -> int | None:
        """Return when `name`'s unused invitation expires or expired, or None if there is none."""
        asked = select(INVITATIONS.c.until_ms).where(INVITATIONS.c.person == name)
        with self._engine.connect() as base:
            return base.scalar(asked)

    def has_usable_account(self) -> bool:
        """Return whether any account can log in: it has a PIN and was not removed."""
        asked = (
            select(ACCOUNTS.c.name).where(ACCOUNTS.c.active, ACCOUNTS.c.pin.is_not(None)).limit(1)
        )
        with self._engine.connect() as base:
            return base.scalar(asked) is not None

    def _is_pin_right(self, hashed: str | None, pin: str) -> bool:
        try:
            return self._hasher.verify(hashed or self._dummy_hash, pin) and hashed is not None
        except (Argon2Error, InvalidHashError):
            return False

    def _end_sessions(self, base: Connection, name: str) -> None:
        base.execute(delete(SESSIONS).where(SESSIONS.c.person == name))


def _make_dummy_hash(hasher: PasswordHasher, entropy: Callable[[int], bytes]) -> str:
    """Return a random text in the form of a PIN hash. A PIN for an unknown name is checked with it.

    This check takes as long as a check against a real hash. Computing a real hash instead
    would cost each start of the console a tenth of a second and 64 MiB.
    """
    salt, digest = (
        b64encode(entropy(size)).decode().rstrip("=") for size in (hasher.salt_len, hasher.hash_len)
    )
    cost = f"m={hasher.memory_cost},t={hasher.time_cost},p={hasher.parallelism}"
    return f"$argon2{hasher.type.name.lower()}$v={ARGON2_VERSION}${cost}${salt}${digest}"


def _refuse_if_waiting(left_s: int) -> None:
    """Raise NotAllowed if the client still has to wait, that is, if `left_s` is above 0."""
    if left_s > 0:
        raise NotAllowed(
            f"too many wrong PINs: wait {left_s} s", f"密码错误次数过多，请等待{left_s}秒"
        )


def _is_active(name: str) -> ColumnElement[bool]:
    return and_(ACCOUNTS.c.name == name, ACCOUNTS.c.active)


def _account_of_row(row: Row[Any]) -> Account:
    return Account(name=row.name, role=Role(row.role), language=row.language, table=row.table_id)


def _digest(secret: str) -> str:
    """Return the hash of a session token or invitation code. The database has only this hash."""
    return hashlib.sha256(secret.encode()).hexdigest()
