"""Waiting times after wrong PINs. They are so long that a PIN cannot be guessed in one day.

Wrong PINs are counted for the name that was tried, and for the address of the client. If a login as
a name from an address has succeeded before, wrong PINs for this name from this address are
counted separately. So wrong PINs from other addresses, however many, do not lock referees out of
their own tablets.
"""

import hashlib
from collections.abc import Callable
from typing import Final, Literal

FREE_ATTEMPTS_PER_NAME: Final = 5
"""The number of wrong PINs for one name after which a client must wait before it tries this
name again.
"""
FREE_ATTEMPTS_PER_ADDRESS: Final = 20
"""The number of wrong PINs from one address, for all names together, after which clients at it
must wait. Several people who share one router also mistype their PINs (provisional).
"""
FIRST_WAIT_MS: Final = 30_000
MAX_WAIT_MS: Final = 15 * 60_000
FORGET_AFTER_MS: Final = 2 * 3_600_000
"""Failures are forgotten this long after the end of a wait. A guesser who pauses this long to get
the free attempts back makes fewer attempts than one who continues.
"""
MAX_ADDRESSES: Final = 4_096
"""The most addresses, and the most pairs of a name and an address, that are stored.

Above this number the oldest is forgotten.
"""
_UNKNOWN_NAME_DIGITS: Final = 3
"""The number of hex digits that identify a group of unknown names. Many unknown names share one
counter, so that invented names do not displace the wrong PINs of real names.
"""

_Kind = Literal["name", "nobody", "host", "home"]
_Key = tuple[_Kind, str, str]
_FREE_ATTEMPTS: Final[dict[_Kind, int]] = {
    "name": FREE_ATTEMPTS_PER_NAME,
    "nobody": FREE_ATTEMPTS_PER_NAME,
    "host": FREE_ATTEMPTS_PER_ADDRESS,
    "home": FREE_ATTEMPTS_PER_NAME,
}


class LoginThrottle:
    """Counters of wrong PINs, which determine the waiting time before the next login.

    `now_ms` returns milliseconds since 1970. `secret` has random bytes, so that clients cannot find
    out which unknown names share a counter. `host` is an address, or "" if the address is not
    counted. Only one thread counts. Other threads may query the waits and call `forget_addresses`.
    """

    def __init__(self, now_ms: Callable[[], int], secret: bytes) -> None:
        self._now_ms, self._secret = now_ms, secret
        self._failures: dict[_Key, tuple[int, int]] = {}
        self._trusted: dict[tuple[str, str], None] = {}

    def wait_s(self, name: str, host: str, *, known: bool) -> int:
        """Return how many seconds (or 0) a client at `host` must wait before a login as `name`.

        `known` is True if an account of this name exists.
        """
        return max(map(self._remaining_s, self._keys(name, host, known)))

    def address_wait_s(self, name: str, host: str) -> int:
        """Return the seconds that a login as `name` must wait because of wrong PINs from `host`.

        Wrong PINs for all names count, so the result does not show whether `name` exists. It is 0
        if a login as `name` from `host` has succeeded before.
        """
        if not host or (name, host) in self._trusted:
            return 0
        return self._remaining_s(("host", "", host))

    def count_failure(self, name: str, host: str, *, known: bool) -> int:
        """Count a wrong PIN for `name` from `host`. Return the new waiting time in seconds."""
        for key in self._keys(name, host, known):
            wrong, until_ms = self._failures.get(key, (0, 0))
            wrong = 1 if self._now_ms() > until_ms + FORGET_AFTER_MS else wrong + 1
            doubled = FIRST_WAIT_MS << min(max(wrong - _FREE_ATTEMPTS[key[0]], 0), 10)
            until_ms = self._now_ms() + min(doubled, MAX_WAIT_MS)
            # The dictionary stays sorted by age: the newest key is last.
            self._failures.pop(key, None)
            self._failures[key] = wrong, until_ms
        # The failures of addresses are limited here, those of names by the number of accounts.
        of_hosts = [key for key in self._failures if key[0] in ("host", "home")]
        for key in of_hosts[: max(len(of_hosts) - MAX_ADDRESSES, 0)]:
            del self._failures[key]
        return self.wait_s(name, host, known=known)

    def count_success(self, name: str, host: str) -> None:
        """Record a successful login: trust `host` for `name`, and forget the wrong PINs for `name`.

        Wrong PINs that were counted for the address stay.
        """
        self.forget_failures(name)
        if host:
            self._failures.pop(("home", name, host), None)
            self._trusted.pop((name, host), None)
            self._trusted[name, host] = None
            if len(self._trusted) > MAX_ADDRESSES:
                self._trusted.pop(next(iter(self._trusted)), None)

    def forget_failures(self, name: str) -> None:
        """Forget the wrong PINs for a name, for example because its account has a new PIN."""
        self._failures.pop(("name", name, ""), None)

    def forget_addresses(self, name: str) -> None:
        """Forget the addresses that are trusted for `name` after successful logins."""
        # A copy, because another thread may add an address meanwhile.
        for key in list(self._trusted):
            if key[0] == name:
                self._trusted.pop(key, None)

    def _keys(self, name: str, host: str, known: bool) -> tuple[_Key, ...]:
        if known and (name, host) in self._trusted:
            return (("home", name, host),)
        own: _Key = ("name", name, "") if known else ("nobody", self._unknown_name_bucket(name), "")
        return (own, ("host", "", host)) if host else (own,)

    def _unknown_name_bucket(self, name: str) -> str:
        return hashlib.blake2b(name.encode(), key=self._secret).hexdigest()[:_UNKNOWN_NAME_DIGITS]

    def _remaining_s(self, key: _Key) -> int:
        wrong, until_ms = self._failures.get(key, (0, 0))
        left_ms = until_ms - self._now_ms()
        # More than the longest wait: the clock was set back meanwhile.
        if wrong < _FREE_ATTEMPTS[key[0]] or left_ms > MAX_WAIT_MS:
            return 0
        return max((left_ms + 999) // 1000, 0)
