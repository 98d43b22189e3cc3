"""Who may use the console: a name, a role and a PIN; who is logged in; who guesses.

A PIN is short, so guessing is made slow: each by argon2, and after some wrong ones a name waits.
An invitation is good once, for whoever it is shown to.
"""

import hashlib
from collections.abc import Callable
from typing import Any, Final

import msgspec
from argon2 import PasswordHasher
from argon2.exceptions import Argon2Error, InvalidHashError
from sqlalchemy import Engine, Row, and_, delete, insert, select, update

from controller.console.store.tables import PEOPLE, SESSIONS
from controller.faults import Language
from controller.messages import Role

SESSION_MS: Final = 16 * 3_600_000
"""A long day in a hall, and no longer: tablets are left lying about."""
FREE_GUESSES: Final = 5
FIRST_WAIT_MS: Final = 30_000
LONGEST_WAIT_MS: Final = 15 * 60_000
_NOBODYS: Final = 3
"""Hex digits of what names that nobody has are counted by, many together: whoever makes names up
makes nobody forget the wrong PINs of those who exist."""
SHORTEST_PIN, LONGEST_PIN = 4, 12
_CODE_LETTERS: Final = "23456789ABCDEFGHJKMNPQRSTUVWXYZ"
"""Without what is taken for another: 0 O, 1 I L."""
_CODE_LENGTH: Final = 10


class Person(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """Somebody who may log in. `table`: the one table that a display is for."""

    name: str
    role: Role
    language: Language = "zh"
    table: str | None = None


class NotAllowed(Exception):
    """Somebody may not do what he asks; `en` and `zh` are the line that tells him why."""

    def __init__(self, en: str, zh: str) -> None:
        """Keep both."""
        super().__init__(en)
        self.en, self.zh = en, zh


class People:
    """The people of a console and their sessions.

    `now_ms` gives milliseconds since 1970, `entropy` so many fresh bytes. Calls may block.
    """

    def __init__(
        self,
        engine: Engine,
        now_ms: Callable[[], int],
        entropy: Callable[[int], bytes],
        hasher: PasswordHasher | None = None,
    ) -> None:
        self._engine, self._now_ms, self._entropy = engine, now_ms, entropy
        self._hasher = hasher or PasswordHasher()
        self._guesses: dict[str, tuple[int, int]] = {}

    def invite(self, person: Person) -> str:
        """Write a new person down; return the code with which he sets his PIN, shown this once.

        One who is known already gets a new code and keeps his PIN until he uses it; his role and
        language are the new ones.
        """
        code = "".join(
            _CODE_LETTERS[byte % len(_CODE_LETTERS)] for byte in self._entropy(_CODE_LENGTH)
        )
        said = {
            "role": person.role.value,
            "language": person.language,
            "table_id": person.table,
            "active": True,
            "invited": _digest(code),
        }
        with self._engine.begin() as base:
            known = base.execute(update(PEOPLE).where(PEOPLE.c.name == person.name).values(said))
            if known.rowcount == 0:
                base.execute(insert(PEOPLE).values(name=person.name, pin=None, **said))
        return code

    def accept(self, code: str, pin: str) -> Person:
        """Let the invited set his PIN; the code is used up. Raises NotAllowed.

        Sessions that were begun with an older PIN end: it is chosen anew where that one was seen.
        What no invitation is for costs no hash, which anybody could make the console pay.
        """
        if not (pin.isascii() and pin.isdigit() and SHORTEST_PIN <= len(pin) <= LONGEST_PIN):
            raise NotAllowed(
                f"a PIN has {SHORTEST_PIN} to {LONGEST_PIN} digits",
                f"密码须为{SHORTEST_PIN}至{LONGEST_PIN}位数字",
            )
        invited = and_(PEOPLE.c.invited == _digest(code.strip().upper()), PEOPLE.c.active)
        with self._engine.connect() as base:
            row = base.execute(select(PEOPLE).where(invited)).one_or_none()
        hashed = None if row is None else self._hasher.hash(pin)
        with self._engine.begin() as base:
            new = update(PEOPLE).where(invited).values(pin=hashed, invited=None)
            if row is None or not base.execute(new).rowcount:
                raise NotAllowed(
                    "this invitation is not known or was used: ask for a new one",
                    "邀请码无效或已使用，请重新索取",
                )
            base.execute(delete(SESSIONS).where(SESSIONS.c.person == row.name))
        self._guesses.pop(row.name, None)
        return _person(row)

    def log_in(self, name: str, pin: str) -> tuple[Person, str]:
        """Return who has that name and PIN, and what his browser shall show. Raises NotAllowed.

        A name that nobody has costs as much time as a wrong PIN, and waits like one.
        """
        with self._engine.connect() as base:
            row = base.execute(
                select(PEOPLE).where(PEOPLE.c.name == name, PEOPLE.c.active)
            ).one_or_none()
        counted = name if row is not None else f"\n{_digest(name)[:_NOBODYS]}"
        self._wait_over(counted)
        if not self._right(row.pin if row is not None else None, pin) or row is None:
            self._guessed(counted)
            raise NotAllowed("name or PIN is wrong", "姓名或密码不对")
        self._guesses.pop(name, None)
        token = self._entropy(32).hex()
        until = {"person": name, "until_ms": self._now_ms() + SESSION_MS}
        with self._engine.begin() as base:
            base.execute(insert(SESSIONS).values(token=_digest(token), **until))
        return _person(row), token

    def whose(self, token: str) -> Person | None:
        """Return whose session a token is; None where it is over, or he may no longer."""
        asked = (
            select(PEOPLE)
            .join(SESSIONS, SESSIONS.c.person == PEOPLE.c.name)
            .where(SESSIONS.c.token == _digest(token), PEOPLE.c.active)
            .where(SESSIONS.c.until_ms > self._now_ms())
        )
        with self._engine.connect() as base:
            row = base.execute(asked).one_or_none()
        return None if row is None else _person(row)

    def speak(self, name: str, language: Language) -> None:
        """Remember in which language somebody reads."""
        with self._engine.begin() as base:
            base.execute(update(PEOPLE).where(PEOPLE.c.name == name).values(language=language))

    def log_out(self, token: str) -> None:
        """End a session."""
        with self._engine.begin() as base:
            base.execute(delete(SESSIONS).where(SESSIONS.c.token == _digest(token)))

    def remove(self, name: str) -> bool:
        """Let a person in no more, and end his sessions; tell whether there was one."""
        with self._engine.begin() as base:
            base.execute(delete(SESSIONS).where(SESSIONS.c.person == name))
            gone = base.execute(
                update(PEOPLE)
                .where(PEOPLE.c.name == name, PEOPLE.c.active)
                .values(active=False, pin=None, invited=None)
            )
        return bool(gone.rowcount)

    def all(self) -> list[Person]:
        """Return everybody who may log in or is invited, by name."""
        asked = select(PEOPLE).where(PEOPLE.c.active).order_by(PEOPLE.c.name)
        with self._engine.connect() as base:
            return [_person(row) for row in base.execute(asked)]

    def has_anybody(self) -> bool:
        """Tell whether somebody can log in, who has set his PIN."""
        asked = select(PEOPLE.c.name).where(PEOPLE.c.active, PEOPLE.c.pin.is_not(None)).limit(1)
        with self._engine.connect() as base:
            return base.scalar(asked) is not None

    def _right(self, hashed: str | None, pin: str) -> bool:
        try:
            return self._hasher.verify(hashed or self._nobodys, pin) and hashed is not None
        except (Argon2Error, InvalidHashError):
            return False

    @property
    def _nobodys(self) -> str:
        if not hasattr(self, "_nobody"):
            self._nobody = self._hasher.hash(self._entropy(16).hex())
        return self._nobody

    def _wait_over(self, name: str) -> None:
        wrong, until_ms = self._guesses.get(name, (0, 0))
        left_s = (until_ms - self._now_ms() + 999) // 1000
        if wrong >= FREE_GUESSES and left_s > 0:
            raise NotAllowed(
                f"too many wrong PINs: wait {left_s} s", f"密码错误次数过多，请等待{left_s}秒"
            )

    def _guessed(self, name: str) -> None:
        wrong = self._guesses.get(name, (0, 0))[0] + 1
        doubled = FIRST_WAIT_MS << min(max(wrong - FREE_GUESSES, 0), 10)
        self._guesses[name] = wrong, self._now_ms() + min(doubled, LONGEST_WAIT_MS)


def _person(row: Row[Any]) -> Person:
    return Person(name=row.name, role=Role(row.role), language=row.language, table=row.table_id)


def _digest(secret: str) -> str:
    """What is kept of a token or code: of no use to who reads the database."""
    return hashlib.sha256(secret.encode()).hexdigest()
