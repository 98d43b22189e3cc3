"""Frames on the line: COBS closed by a zero byte, with a CRC-32 inside.

Pure and bounded, for the boards and the host alike. The decoder cuts at the zero
byte and works by slices, because a loop over single bytes costs a
microcontroller more than the rest of the frame. Noise never raises: it is
counted.
"""

import binascii
import struct

# The longest payload of the protocol, with room; a longer frame is noise.
MAX_PAYLOAD = 120
CRC_SIZE = 4
# COBS adds one byte in every 254, and a frame is shorter than that: one byte.
MAX_ENCODED = MAX_PAYLOAD + CRC_SIZE + 1


def cobs_encode(data: bytes) -> bytes:
    """Return `data` (at most 253 bytes) without zero bytes, one byte longer.

    Raises ValueError where the data is too long for one block.
    """
    if len(data) > 253:
        raise ValueError("a block holds at most 253 bytes")
    block = bytearray(b"\x00" + data)  # each zero becomes the way to the next one
    zero = data.find(b"\x00") + 1
    at = 0
    while zero:
        block[at] = zero - at
        at = zero
        zero = data.find(b"\x00", at) + 1
    block[at] = len(block) - at
    return bytes(block)


def cobs_decode(block: bytes) -> bytes | None:
    """Return what cobs_encode was given, or None where `block` is no such thing."""
    data = bytearray(block)
    end = len(data)
    at = 0
    while at < end:
        way = data[at]
        if way == 0 or way == 255:
            return None
        data[at] = 0
        at += way
    return bytes(data[1:]) if at == end and end else None


def encode(payload: bytes) -> bytes:
    """Return one frame ready for the line: COBS(payload, CRC-32), then a zero byte.

    Raises ValueError where the payload is longer than MAX_PAYLOAD.
    """
    if len(payload) > MAX_PAYLOAD:
        raise ValueError("a payload holds at most %d bytes" % MAX_PAYLOAD)
    return cobs_encode(payload + struct.pack(">I", binascii.crc32(payload))) + b"\x00"


class Decoder:
    """Cuts a stream of bytes into payloads; counts what was not one.

    `junk` counts blocks that are no COBS or too short, `crc_errors` those whose
    CRC differs, `oversize` those longer than any frame; each block is counted
    once. The buffer never grows past one frame.
    """

    def __init__(self) -> None:
        self.junk = 0
        self.crc_errors = 0
        self.oversize = 0
        self._rest = b""
        self._skipping = False

    def feed(self, data: bytes) -> list[bytes]:
        """Take the bytes that arrived; return the payloads they completed, in order."""
        blocks = (self._rest + data).split(b"\x00")
        self._rest = blocks.pop()
        payloads = []
        for block in blocks:
            if self._skipping:
                self._skipping = False
                continue
            payload = self._payload(block)
            if payload is not None:
                payloads.append(payload)
        if self._skipping:
            self._rest = b""
        elif len(self._rest) > MAX_ENCODED:
            self.oversize += 1
            self._skipping = True
            self._rest = b""
        return payloads

    def _payload(self, block: bytes) -> bytes | None:
        if not block:
            return None  # two zero bytes in a row: a frame's end and the line's silence
        if len(block) > MAX_ENCODED:
            self.oversize += 1
            return None
        body = cobs_decode(block)
        if body is None or len(body) <= CRC_SIZE:
            self.junk += 1
            return None
        payload = body[:-CRC_SIZE]
        if struct.pack(">I", binascii.crc32(payload)) != body[-CRC_SIZE:]:
            self.crc_errors += 1
            return None
        return payload
