"""Who may come in: ZeroMQ's authentication (ZAP) over the admitted certificates.

libzmq asks here at every CURVE handshake of both sockets, before a byte of the
client's is read. pyzmq's own authenticator does not say from where a refused key
came, so this speaks the protocol itself (https://rfc.zeromq.org/spec/27).
"""

import asyncio
from collections import Counter
from collections.abc import Callable
from typing import Any, Final

import zmq
import zmq.asyncio
from zmq.utils import z85

from controller.counting import RefusalLogLimiter
from controller.gateway.rates import ConnectedPeer
from controller.loggers import structlog
from controller.roster import NotAdmitted

ZAP_ENDPOINT: Final = "inproc://zeromq.zap.01"
ZAP_DOMAIN: Final = b"dealtable"

_ZAP_VERSION: Final = b"1.0"
_log = structlog.get_logger("gateway")


class Authenticator:
    """Answers the handshakes of one ZeroMQ context. Bound before the sockets it guards.

    `why_not` tells why a peer is refused now, None where it is not. `refused`
    counts handshakes that failed for it, by the reason; `inside` are the peers that came in.
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
        """Make `socket` a CURVE server with the table's secret key (Z85) and this doorkeeper.

        Without the domain enforced libzmq would let everyone in, should the
        doorkeeper ever be missing.
        """
        socket.curve_server = True
        socket.curve_secretkey = secret_key.encode()
        socket.zap_domain = ZAP_DOMAIN
        socket.setsockopt(zmq.ZAP_ENFORCE_DOMAIN, 1)

    async def serve(self) -> None:
        """Answer handshakes until cancelled."""
        while True:
            request = await self._socket.recv_multipart()
            await self._socket.send_multipart(self._answer(request))

    def close(self) -> None:
        """Close the socket; open handshakes fail."""
        self._socket.close()

    def _answer(self, request: list[bytes]) -> list[bytes]:
        _, number, domain, address, _, mechanism, *credentials = request
        key = _key_text(credentials) if mechanism == b"CURVE" and domain == ZAP_DOMAIN else None
        peer = ConnectedPeer(key or "", address.decode(errors="replace"))
        refused = NotAdmitted("UNKNOWN_KEY") if key is None else self._refusal_of_peer(peer)
        if key is not None and refused is None:
            self.connected_peers.add(peer)
            return [_ZAP_VERSION, number, b"200", b"OK", key.encode(), b""]
        assert refused is not None
        shown = key or f"({mechanism.decode(errors='replace')})"
        self._log_refusal(shown, peer.address, refused)
        return [_ZAP_VERSION, number, b"400", b"key refused", b"", b""]

    def _log_refusal(self, key: str, address: str, refused: NotAdmitted) -> None:
        self.refused_by_reason[refused.code] += 1
        unsaid = self._log_limiter.allow_line(key, asyncio.get_running_loop().time())
        if unsaid is not None:
            more: dict[str, Any] = {"refused_meanwhile": unsaid} if unsaid else {}
            whose = {"name": refused.name} if refused.name else {}
            _log.warning("key refused", key=key, peer=address, why=refused.code, **whose, **more)


def _key_text(credentials: list[bytes]) -> str | None:
    """The client's public key in Z85, or None for what is no key."""
    if len(credentials) != 1 or len(credentials[0]) != 32:
        return None
    text: bytes = z85.encode(credentials[0])
    return text.decode()
