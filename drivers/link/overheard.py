"""Both ways of a line as one hears them who listens beside: blocks, and the host's frames.

The board's frames are read as the host reads them (frames.py); what a host said is read by
nobody else on this side of the line.
"""

import struct
from collections.abc import Iterator

import msgspec
from msgspec import Struct

from drivers.firmware import codec, wire
from drivers.link import frames
from drivers.link.frames import BoardCommand

HOST_FRAME_NAMES = {
    wire.HELLO: "HELLO",
    wire.BEAT: "BEAT",
    wire.STOP: "STOP",
    wire.BEGIN: "BEGIN",
    wire.SHUFFLE: "SHUFFLE",
    wire.FEED: "FEED",
    wire.ROUTE: "ROUTE",
    wire.RELEASE: "RELEASE",
    wire.RETRACT: "RETRACT",
    wire.PURGE: "PURGE",
    wire.SELFTEST: "SELFTEST",
    wire.CONFIGURE: "CONFIGURE",
    wire.STATUS: "STATUS",
    wire.REREAD: "REREAD",
    wire.LOOK: "LOOK",
    wire.SERVICE: "SERVICE",
}
"""What PROTOCOL.md calls the frames of a host, by kind."""

_COMMAND_TYPES: dict[int, type[BoardCommand]] = {
    each.kind: each
    for each in (
        frames.BeginCommand,
        frames.ShuffleCommand,
        frames.FeedCommand,
        frames.RouteCommand,
        frames.ReleaseCommand,
        frames.RetractCommand,
        frames.PurgeCommand,
        frames.SelftestCommand,
        frames.ConfigureCommand,
        frames.GetStatusCommand,
        frames.RereadCommand,
        frames.LookCommand,
        frames.ServiceCommand,
    )
}


class HostFrame(Struct, frozen=True, gc=False):
    """A frame of the host; `command` is None in HELLO, BEAT and STOP."""

    kind: int
    session: int
    number: int
    seen: int
    kept: int
    command: BoardCommand | None = None


def decode_host_frame(payload: bytes) -> HostFrame | None:
    """Return what a host said, or None where it is no frame of a host."""
    kind = payload[0] if payload else 0
    if kind not in HOST_FRAME_NAMES:
        return None
    try:
        fields = struct.unpack(wire.HOST_HEADER + wire.BODIES[kind][1:], payload)
        kind, session, number, seen, kept, *body = fields
        return HostFrame(kind, session, number, seen, kept, _decode_command(kind, body))
    except (struct.error, msgspec.ValidationError):
        return None


def _decode_command(kind: int, body: list[int]) -> BoardCommand | None:
    """Return the command of a body. Raises ValidationError for a place that there is none."""
    command = _COMMAND_TYPES.get(kind)
    if command is None:
        return None
    return msgspec.convert(dict(zip(command.__struct_fields__, body, strict=True)), command)


class BlockSplitter:
    """Cuts one way of a line into payloads, and says of each other block what is wrong with it."""

    def __init__(self) -> None:
        self._decoder = codec.Decoder()

    def reset(self) -> None:
        """Forget the beginning of a frame: the port was opened."""
        self._decoder.feed(b"\x00")

    def split(self, data: bytes) -> Iterator[bytes | str]:
        """Yield payloads; for a block that is none a word: "junk", "crc error" or "oversize"."""
        begin = 0
        while begin < len(data):
            end = data.find(b"\x00", begin) + 1 or len(data)
            before = self._counts()
            payloads = self._decoder.feed(data[begin:end])
            yield from (word for word, now in self._counts().items() if now != before[word])
            yield from payloads
            begin = end

    def _counts(self) -> dict[str, int]:
        decoder = self._decoder
        return {
            "junk": decoder.junk,
            "crc error": decoder.crc_errors,
            "oversize": decoder.oversize,
        }
