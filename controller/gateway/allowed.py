"""The allow-list: who may connect now, out of a roster that follows its folder."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import structlog

from controller.roster import LiveRoster, NotAdmitted, RosterError
from controller.roster.members import when

_log = structlog.get_logger("gateway")


class AllowList:
    """Tells which public CURVE keys (Z85) are admitted at this moment, and why others are not.

    `wall` gives the wall's stamp. Raises RosterError if made of wrong files; what becomes
    wrong later admits nobody, changes nothing for the others, and the log says so.
    """

    def __init__(self, folder: Path, wall: Callable[[], str]) -> None:
        self._roster = LiveRoster(folder, wall, _changed)
        self._said: set[str] = set()

    def why_not(self, key: str) -> NotAdmitted | None:
        """Return why `key` is refused; None where it is admitted."""
        found = self._roster.by_curve(key)
        return found if isinstance(found, NotAdmitted) else None

    def gone(self, keys: Iterable[str]) -> list[str]:
        """Return whose of `keys` are admitted no more: names, and keys that have none."""
        roster = self._roster.now()
        found = ((key, roster.by_curve(key)) for key in keys)
        return [why.name or key for key, why in found if isinstance(why, NotAdmitted)]

    def expiring(self) -> int:
        """Return how many keys expire within a week; each is named in the log once."""
        ending = self._roster.expiring()
        for client in ending:
            if client.curve not in self._said:
                self._said.add(client.curve)
                _log.warning("key expires soon", name=client.name, at=when(client.expires))
        return len(ending)


def _changed(roster: LiveRoster, wrong: Sequence[RosterError]) -> None:
    for error in wrong:
        _log.error("a key file admits nobody", why=str(error))
    _log.info("allow-list changed", admitted=len(roster.clients))
