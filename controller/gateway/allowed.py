"""The allow-list: who may connect now, out of a roster that follows its folder."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Final

from controller.gateway.rates import ConnectedPeer
from controller.loggers import structlog
from controller.roster import FolderRoster, NotAdmitted, RosterError
from controller.roster.members import format_moment

BAN_TIME_S: Final = 600.0
"""How long a peer stays outside that asked for more than anybody may. Provisional."""

_log = structlog.get_logger("gateway")


class AdmittedKeys:
    """Tells which public CURVE keys (Z85) are admitted at this moment, and why others are not.

    `wall` gives the wall's stamp. Raises RosterError if made of wrong files; what becomes
    wrong later admits nobody, changes nothing for the others, and the log says so.
    """

    def __init__(self, folder: Path, wall: Callable[[], str]) -> None:
        self._roster = FolderRoster(folder, wall, _log_change)
        self._logged_expiring: set[str] = set()
        self._banned_until_s: dict[ConnectedPeer, float] = {}

    def ban(self, peer: ConnectedPeer) -> None:
        """Refuse a peer for `BARRED_S`: it asked for so much that there would be less for others.

        Who comes with the same key from another address stays.
        """
        self._banned_until_s[peer] = asyncio.get_running_loop().time() + BAN_TIME_S
        name = self._roster.look_up_curve_key(peer.key).name
        _log.error(
            "key barred: it floods the feed",
            key=peer.key,
            peer=peer.address,
            name=name,
            for_s=BAN_TIME_S,
        )

    def refusal_of_peer(self, peer: ConnectedPeer) -> NotAdmitted | None:
        """Return why a peer is refused; None where it is admitted."""
        found = self._roster.look_up_curve_key(peer.key)
        if isinstance(found, NotAdmitted):
            return found
        return NotAdmitted("TOO_MANY", found.name) if self._is_banned(peer) else None

    def no_longer_admitted(self, peers: Iterable[ConnectedPeer]) -> list[str]:
        """Return whose of `peers` are admitted no more: names, and keys that have none."""
        roster = self._roster.current()
        found = ((peer, roster.look_up_curve_key(peer.key)) for peer in peers)
        return [
            whose.name or peer.key
            for peer, whose in found
            if isinstance(whose, NotAdmitted) or self._is_banned(peer)
        ]

    def count_expiring(self) -> int:
        """Return how many keys expire within a week; each is named in the log once."""
        ending = self._roster.expiring_clients()
        for client in ending:
            if client.curve not in self._logged_expiring:
                self._logged_expiring.add(client.curve)
                _log.warning("key expires soon", name=client.name, at=format_moment(client.expires))
        return len(ending)

    def _is_banned(self, peer: ConnectedPeer) -> bool:
        until_s = self._banned_until_s.get(peer)
        if until_s is not None and until_s <= asyncio.get_running_loop().time():
            del self._banned_until_s[peer]
            return False
        return until_s is not None


def _log_change(roster: FolderRoster, wrong: Sequence[RosterError]) -> None:
    for error in wrong:
        _log.error("a key file that cannot be used", why=str(error))
    _log.info("allow-list changed", admitted=len(roster.clients))
