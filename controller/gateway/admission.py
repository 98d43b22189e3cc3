"""Admission of clients to the gateway: rate limits, ZeroMQ handshakes, and admitted keys."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import zmq
import zmq.asyncio
from zmq.utils import z85

from controller.host.loggers import RefusalLogLimiter, structlog
from controller.roster import FolderRoster, NotAdmitted, RosterError
from controller.roster.roster import format_moment

COMMANDS_PER_S: Final = 50.0
"""The commands a second that one key may send continuously. The number is an estimate."""
COMMAND_BURST: Final = 200.0
"""The commands that one key, for example a script that catches up, may send at once after a pause.

The number is an estimate.
"""
_MAX_KEYS: Final = 1000
"""The most clients to remember. More appear only if clients are admitted and removed again."""


class ConnectedPeer(NamedTuple):
    """The other end of a connection: a public CURVE key (Z85) and a network address.

    libzmq does not distinguish two connections of one key from one address.
    """

    key: str
    address: str


class RateLimiter:
    """A limit on the rate of messages, separate for each client (a token bucket).

    Each client (`key`) has at most `burst` tokens, and gains `per_s` tokens a second. Each message
    costs one token.
    """

    def __init__(self, per_s: float = COMMANDS_PER_S, burst: float = COMMAND_BURST) -> None:
        self._per_s, self._burst = per_s, burst
        self._left: dict[str | ConnectedPeer, tuple[float, float]] = {}

    def try_take(self, key: str | ConnectedPeer, now_s: float) -> bool:
        """Take one token of client `key` and return True, or return False if no token is left."""
        left, since_s = self._left.get(key, (self._burst, now_s))
        left = min(self._burst, left + (now_s - since_s) * self._per_s)
        allowed = left >= 1
        if key not in self._left and len(self._left) >= _MAX_KEYS:
            self._left.pop(next(iter(self._left)))
        self._left[key] = (left - allowed, now_s)
        return allowed


ZAP_ENDPOINT: Final = "inproc://zeromq.zap.01"
ZAP_DOMAIN: Final = b"dealtable"

_ZAP_VERSION: Final = b"1.0"
_log = structlog.get_logger("gateway")


class Authenticator:
    """A handler that accepts or refuses each new connection of one ZeroMQ context.

    Create it before the sockets that it secures. `refusal_of_peer` returns the reason why a peer is
    refused now, or None. `refused_by_reason` counts failed handshakes by that reason.
    `connected_peers` are the peers that were admitted.
    """

    def __init__(
        self,
        context: zmq.asyncio.Context,
        refusal_of_peer: Callable[[ConnectedPeer], NotAdmitted | None],
    ) -> None:
        self._refusal_of_peer = refusal_of_peer
        self.refused_by_reason: Counter[str] = Counter({"UNKNOWN_KEY": 0})
        self.connected_peers: set[ConnectedPeer] = set()
        self._log_limiter = RefusalLogLimiter()
        self._socket = context.socket(zmq.REP)
        self._socket.linger = 0
        self._socket.bind(ZAP_ENDPOINT)

    def secure_socket(self, socket: zmq.asyncio.Socket, secret_key: str) -> None:
        """Encrypt `socket` with the table's secret key (Z85). Only admitted clients can connect.

        The domain is enforced: otherwise libzmq would admit everybody if the authenticator were
        missing.
        """
        socket.curve_server = True
        socket.curve_secretkey = secret_key.encode()
        socket.zap_domain = ZAP_DOMAIN
        socket.setsockopt(zmq.ZAP_ENFORCE_DOMAIN, 1)

    async def serve(self) -> None:
        """Accept or refuse each new connection until this task is cancelled."""
        while True:
            request = await self._socket.recv_multipart()
            await self._socket.send_multipart(self._answer(request))

    def close(self) -> None:
        """Close the socket that receives requests for admission. Handshakes in progress fail."""
        self._socket.close()

    def _answer(self, request: list[bytes]) -> list[bytes]:
        _, number, domain, address, _, mechanism, *credentials = request
        key: str | None = None
        if (mechanism, domain) == (b"CURVE", ZAP_DOMAIN) and [len(x) for x in credentials] == [32]:
            key = z85.encode(credentials[0]).decode()
        peer = ConnectedPeer(key or "", address.decode(errors="replace"))
        refused = NotAdmitted("UNKNOWN_KEY") if key is None else self._refusal_of_peer(peer)
        if key is not None and refused is None:
            self.connected_peers.add(peer)
            return [_ZAP_VERSION, number, b"200", b"OK", key.encode(), b""]
        assert refused is not None
        shown = key or f"({mechanism.decode(errors='replace')})"
        self.refused_by_reason[refused.code] += 1
        unsaid = self._log_limiter.allow_line(shown, asyncio.get_running_loop().time())
        if unsaid is not None:
            more: dict[str, Any] = {"name": refused.name} if refused.name else {}
            more |= {"refused_meanwhile": unsaid} if unsaid else {}
            _log.warning("key refused", key=shown, peer=peer.address, why=refused.code, **more)
        return [_ZAP_VERSION, number, b"400", b"key refused", b"", b""]


BAN_TIME_S: Final = 600.0
"""Seconds for which a peer that exceeded its limits is refused. The number is an estimate."""


class AdmittedKeys:
    """The public CURVE keys (Z85) of all admitted clients, read from a folder.

    `wall` returns the time stamp of the wall clock. The constructor raises RosterError for wrong
    files. A file that becomes wrong later admits no client, does not affect the others, and is
    logged.
    """

    def __init__(self, folder: Path, wall: Callable[[], str]) -> None:
        self._roster = FolderRoster(folder, wall, _log_change)
        self._logged_expiring: set[str] = set()
        self._banned_until_s: dict[ConnectedPeer, float] = {}

    def ban(self, peer: ConnectedPeer) -> None:
        """Refuse `peer` for BAN_TIME_S seconds, because it sent too many subscriptions to the feed.

        A client with the same key at another address stays connected.
        """
        self._banned_until_s[peer] = asyncio.get_running_loop().time() + BAN_TIME_S
        _log.error(
            "key barred: it floods the feed",
            key=peer.key,
            peer=peer.address,
            name=self._roster.look_up_curve_key(peer.key).name,
            for_s=BAN_TIME_S,
        )

    def refusal_of_peer(self, peer: ConnectedPeer) -> NotAdmitted | None:
        """Return the reason why a peer is refused, or None if it is admitted."""
        found = self._roster.look_up_curve_key(peer.key)
        if isinstance(found, NotAdmitted):
            return found
        return NotAdmitted("TOO_MANY", found.name) if self._is_banned(peer) else None

    def no_longer_admitted(self, peers: Iterable[ConnectedPeer]) -> list[str]:
        """Return the name (or else the key) of each peer in `peers` that is no longer admitted."""
        roster = self._roster.current()
        found = ((peer, roster.look_up_curve_key(peer.key)) for peer in peers)
        return [
            whose.name or peer.key
            for peer, whose in found
            if isinstance(whose, NotAdmitted) or self._is_banned(peer)
        ]

    def count_expiring(self) -> int:
        """Return how many valid keys expire within a week. Each such key is logged once."""
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
