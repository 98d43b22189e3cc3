"""Wrong PINs, counted, so that guessing one takes longer than a hall is open.

They count for the name that was tried, and for the address they came from. Where its owner has
logged in before, a name is counted apart: wrong PINs from elsewhere do not keep a referee out of
his own tablet, however many there are.
"""

import hashlib
from collections.abc import Callable
from typing import Final, Literal

FREE_ATTEMPTS_PER_NAME: Final = 5
"""Wrong PINs of one name before it waits."""
FREE_ATTEMPTS_PER_ADDRESS: Final = 20
"""Wrong PINs of one address before it waits, whatever the names: a few people behind one router
mistake theirs, too (provisional)."""
FIRST_WAIT_MS: Final = 30_000
MAX_WAIT_MS: Final = 15 * 60_000
FORGET_AFTER_MS: Final = 2 * 3_600_000
"""Counted no more so long behind the end of a wait. Whoever pauses so long for the free guesses has
fewer than who goes on."""
MAX_ADDRESSES: Final = 4_096
"""Addresses, and names at an address, of which something is known; then the oldest is forgotten."""
_UNKNOWN_NAME_DIGITS: Final = 3
"""Hex digits of what names that nobody has are counted by, many together: whoever makes names up
makes nobody forget the wrong PINs of those who exist."""

_Kind = Literal["name", "nobody", "host", "home"]
_Key = tuple[_Kind, str, str]
_FREE_ATTEMPTS: Final[dict[_Kind, int]] = {
    "name": FREE_ATTEMPTS_PER_NAME,
    "nobody": FREE_ATTEMPTS_PER_NAME,
    "host": FREE_ATTEMPTS_PER_ADDRESS,
    "home": FREE_ATTEMPTS_PER_NAME,
}


class LoginThrottle:
    """Counts wrong PINs, in memory. `secret`: fresh bytes, so that nobody knows who is counted
    together; `now_ms` gives milliseconds since 1970.

    `host` is an address, "" for one that is not counted. One thread counts; others may ask, and
    let somebody move out.
    """

    def __init__(self, now_ms: Callable[[], int], secret: bytes) -> None:
        self._now_ms, self._secret = now_ms, secret
        self._failures: dict[_Key, tuple[int, int]] = {}
        self._trusted: dict[tuple[str, str], None] = {}

    def wait_s(self, name: str, host: str, *, known: bool) -> int:
        """Return how many seconds a name has to wait at an address; 0 where it may try now.

        `known`: whether there is such a name.
        """
        return max(map(self._remaining_s, self._keys(name, host, known)))

    def address_wait_s(self, name: str, host: str) -> int:
        """Return how long an address has to wait, whatever is known of the name."""
        if not host or (name, host) in self._trusted:
            return 0
        return self._remaining_s(("host", "", host))

    def count_failure(self, name: str, host: str, *, known: bool) -> int:
        """Count a wrong PIN; return how many seconds there are to wait from now."""
        for key in self._keys(name, host, known):
            wrong = self._failure_count(key) + 1
            doubled = FIRST_WAIT_MS << min(max(wrong - _FREE_ATTEMPTS[key[0]], 0), 10)
            until_ms = self._now_ms() + min(doubled, MAX_WAIT_MS)
            self._failures.pop(key, None)  # the newest stands last
            self._failures[key] = wrong, until_ms
        self._forget_oldest()
        return self.wait_s(name, host, known=known)

    def count_success(self, name: str, host: str) -> None:
        """Know where somebody logs in; forget the wrong PINs of his name, not of the address."""
        self.forget_failures(name)
        if host:
            self._failures.pop(("home", name, host), None)
            self._trusted.pop((name, host), None)
            self._trusted[name, host] = None
            if len(self._trusted) > MAX_ADDRESSES:
                self._trusted.pop(next(iter(self._trusted)), None)

    def forget_failures(self, name: str) -> None:
        """Forget the wrong PINs of a name: it has another one now."""
        self._failures.pop(("name", name, ""), None)

    def forget_addresses(self, name: str) -> None:
        """Know no address any more of somebody who is let in no more."""
        for key in list(self._trusted):  # in one go: others may come in meanwhile
            if key[0] == name:
                self._trusted.pop(key, None)

    def _keys(self, name: str, host: str, known: bool) -> tuple[_Key, ...]:
        if known and (name, host) in self._trusted:
            return (("home", name, host),)
        own: _Key = ("name", name, "") if known else ("nobody", self._unknown_name_bucket(name), "")
        return (own, ("host", "", host)) if host else (own,)

    def _unknown_name_bucket(self, name: str) -> str:
        return hashlib.blake2b(name.encode(), key=self._secret).hexdigest()[:_UNKNOWN_NAME_DIGITS]

    def _failure_count(self, key: _Key) -> int:
        wrong, until_ms = self._failures.get(key, (0, 0))
        return 0 if self._now_ms() > until_ms + FORGET_AFTER_MS else wrong

    def _remaining_s(self, key: _Key) -> int:
        wrong, until_ms = self._failures.get(key, (0, 0))
        left_ms = until_ms - self._now_ms()
        if (
            wrong < _FREE_ATTEMPTS[key[0]] or left_ms > MAX_WAIT_MS
        ):  # the clock was set back meanwhile
            return 0
        return max((left_ms + 999) // 1000, 0)

    def _forget_oldest(self) -> None:
        """Keep what is known of addresses in bounds; names are as many as there are people."""
        of_hosts = [key for key in self._failures if key[0] in ("host", "home")]
        for key in of_hosts[: max(len(of_hosts) - MAX_ADDRESSES, 0)]:
            del self._failures[key]
