"""Who may use the console: a name, a role and a PIN; who is logged in; who guesses.

A PIN is short, so guessing is made slow: each by argon2, and after some wrong ones (guesses.py)
whoever guesses waits. An invitation is good once, for some hours, for whoever it is shown to.
"""

import hashlib
from base64 import b64encode
from collections.abc import Callable
from typing import Any, Final

import msgspec
from argon2 import PasswordHasher
from argon2.exceptions import Argon2Error, InvalidHashError
from argon2.low_level import ARGON2_VERSION
from sqlalchemy import Connection, Engine, Row, delete, insert, select, update

from controller.console.accounts.login_throttle import LoginThrottle
from controller.console.store.database_schema import ACCOUNTS, INVITATIONS, SESSIONS
from controller.faults import Language
from controller.host.loggers import structlog
from controller.host.printable_text import escape_unprintable, shorten
from controller.messages import Role

SESSION_MS: Final = 16 * 3_600_000
"""A long day in a hall, and no longer: tablets are left lying about."""
MAX_SESSIONS: Final = 40
"""Of one person; one more ends the oldest: who has a PIN does not fill the disk with sessions."""
INVITATION_MS: Final = 24 * 3_600_000
"""From the evening of the set-up to the next day's first round (provisional)."""
MIN_PIN_LENGTH, MAX_PIN_LENGTH = 4, 12
_CODE_LETTERS: Final = "23456789ABCDEFGHJKMNPQRSTUVWXYZ"
"""Without what is taken for another: 0 O, 1 I L."""
_CODE_LENGTH: Final = 10
_log = structlog.get_logger("console")


class Account(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """Somebody who may log in. `table`: the one table that a display is for."""

    name: str
    role: Role
    language: Language = "zh"
    table: str | None = None


class ListedAccount(Account, frozen=True, gc=False, kw_only=True):
    """Somebody, as he is listed. `invited_until_ms`: how long his invitation is, or was, good.

    None: he has none that he did not use. `has_pin`: whether he can log in.
    """

    invited_until_ms: int | None = None
    has_pin: bool = False


class NotAllowed(Exception):
    """Somebody may not do what he asks; `en` and `zh` are the line that tells him why."""

    def __init__(self, en: str, zh: str) -> None:
        """Keep both."""
        super().__init__(en)
        self.en, self.zh = en, zh


class Accounts:
    """The people of a console and their sessions.

    `now_ms` gives milliseconds since 1970, `entropy` so many fresh bytes; `invitation_ms` is how
    long an invitation is good. Calls may block.
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
        """Write a new person down; return the code with which he sets his PIN, shown this once.

        One who is known already keeps his PIN until he uses the new code, the last one alone; his
        role and language are the new ones at once. Another role, or another table, ends his
        sessions: what a tablet that lies about may do never changes under the hand.
        """
        code = "".join(
            _CODE_LETTERS[byte % len(_CODE_LETTERS)] for byte in self._entropy(_CODE_LENGTH)
        )
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
        """Let the invited set his PIN; the code is used up. Raises NotAllowed.

        Sessions that were begun with an older PIN end: it is chosen anew where that one was seen.
        What no invitation is for costs no hash, which anybody could make the console pay.
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
        """Return who has that name and PIN, and what his browser shall show. Raises NotAllowed.

        A name that nobody has costs as much time as a wrong PIN, and waits like one. `host`: the
        address that he comes from; "" where it is not counted.
        """
        with self._engine.connect() as base:
            row = base.execute(
                select(ACCOUNTS).where(ACCOUNTS.c.name == name, ACCOUNTS.c.active)
            ).one_or_none()
        known = row is not None
        _refuse_if_waiting(self._throttle.wait_s(name, host, known=known))
        if not self._is_pin_right(row.pin if row is not None else None, pin) or row is None:
            if wait_s := self._throttle.count_failure(name, host, known=known):
                said = escape_unprintable(shorten(name))
                _log.warning("wrong PINs", name=said, host=host or "here", wait_s=wait_s)
            raise NotAllowed("name or PIN is wrong", "姓名或密码不对")
        return _account_of_row(row), self.start_session(name, host, row.pin)

    def refuse_while_waiting(self, name: str, host: str) -> None:
        """Raise NotAllowed where an address has to wait. It does not block."""
        _refuse_if_waiting(self._throttle.address_wait_s(name, host))

    def start_session(self, name: str, host: str = "", pin: str | None = None) -> str:
        """Begin a session of somebody who has shown who he is; return what his browser shows.

        `pin`: what is kept of the PIN by which he has (None: by another thing). Raises NotAllowed
        where he was removed since, or has another PIN.
        """
        token = self._entropy(32).hex()
        now_ms = self._now_ms()
        own = SESSIONS.c.person == name
        he = (
            select(ACCOUNTS.c.pin)
            .where(ACCOUNTS.c.name == name, ACCOUNTS.c.active)
            .with_for_update()
        )
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
        """Return whose session a token is; None where it is over, or he may no longer."""
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
        """Let what was begun by this clock last no longer and no shorter for its being set.

        `old_ms`: the time by it before that. What is over, or lasts longer than anything that could
        have been begun by then, is of another time.
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
        """Remember in which language somebody reads."""
        with self._engine.begin() as base:
            base.execute(update(ACCOUNTS).where(ACCOUNTS.c.name == name).values(language=language))

    def log_out(self, token: str) -> None:
        """End a session."""
        with self._engine.begin() as base:
            base.execute(delete(SESSIONS).where(SESSIONS.c.token == _digest(token)))

    def remove(self, name: str) -> bool:
        """Let a person in no more, and end his sessions; tell whether there was one."""
        with self._engine.begin() as base:
            gone = base.execute(  # first: who logs in just now is waited for
                update(ACCOUNTS)
                .where(ACCOUNTS.c.name == name, ACCOUNTS.c.active)
                .values(active=False, pin=None)
            )
            self._end_sessions(base, name)
            base.execute(delete(INVITATIONS).where(INVITATIONS.c.person == name))
        self._throttle.forget_addresses(name)
        return bool(gone.rowcount)

    def list_accounts(self) -> list[ListedAccount]:
        """Return everybody who may log in or is invited, by name."""
        asked = (
            select(ACCOUNTS, INVITATIONS.c.until_ms)
            .outerjoin(INVITATIONS, INVITATIONS.c.person == ACCOUNTS.c.name)
            .where(ACCOUNTS.c.active)
            .order_by(ACCOUNTS.c.name)
        )
        with self._engine.connect() as base:
            return [_listed_account_of_row(row) for row in base.execute(asked)]

    def invited_until_ms(self, name: str) -> int | None:
        """Return how long somebody's invitation is good, or was; None where he has none."""
        asked = select(INVITATIONS.c.until_ms).where(INVITATIONS.c.person == name)
        with self._engine.connect() as base:
            return base.scalar(asked)

    def has_usable_account(self) -> bool:
        """Tell whether somebody can log in, who has set his PIN."""
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
    """Return what looks like a PIN's hash and is nobody's: it is refused as slowly as any other.

    To hash something for it would take each console that starts a tenth of a second and 64 MiB.
    """
    salt, digest = (
        b64encode(entropy(size)).decode().rstrip("=") for size in (hasher.salt_len, hasher.hash_len)
    )
    cost = f"m={hasher.memory_cost},t={hasher.time_cost},p={hasher.parallelism}"
    return f"$argon2{hasher.type.name.lower()}$v={ARGON2_VERSION}${cost}${salt}${digest}"


def _refuse_if_waiting(left_s: int) -> None:
    """Raise NotAllowed where there are seconds left to wait."""
    if left_s > 0:
        raise NotAllowed(
            f"too many wrong PINs: wait {left_s} s", f"密码错误次数过多，请等待{left_s}秒"
        )


def _account_of_row(row: Row[Any]) -> Account:
    return Account(name=row.name, role=Role(row.role), language=row.language, table=row.table_id)


def _listed_account_of_row(row: Row[Any]) -> ListedAccount:
    return ListedAccount(
        name=row.name,
        role=Role(row.role),
        language=row.language,
        table=row.table_id,
        invited_until_ms=row.until_ms,
        has_pin=row.pin is not None,
    )


def _digest(secret: str) -> str:
    """What is kept of a token or code: of no use to who reads the database."""
    return hashlib.sha256(secret.encode()).hexdigest()
