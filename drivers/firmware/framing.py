"""The frame format of the serial line: payload and CRC-32 in COBS, ended by a zero byte.

Boards and host use this module. It has no I/O and bounded memory. The decoder splits at the zero
byte and uses slices, because a loop over bytes costs a microcontroller more than the rest of the
frame. The decoder counts noise and raises no error for it.
"""

import binascii
import struct

# The longest payload of the protocol, with a margin. A longer frame is noise.
MAX_PAYLOAD = 120
CRC_SIZE = 4
# COBS adds one byte for each 254 bytes. A frame is shorter, so COBS adds one byte.
MAX_ENCODED = MAX_PAYLOAD + CRC_SIZE + 1


def cobs_encode(data: bytes) -> bytes:
    """Return `data` encoded as COBS: without zero bytes, and one byte longer than `data`.

    Raises ValueError if `data` is longer than 253 bytes, too long for one block.
    """
    if len(data) > 253:
        raise ValueError("a block holds at most 253 bytes")
    block = bytearray(b"\x00" + data)  # Each zero becomes the distance to the next one.
    zero = data.find(b"\x00") + 1
    at = 0
    while zero:
        block[at] = zero - at
        at = zero
        zero = data.find(b"\x00", at) + 1
    block[at] = len(block) - at
    return bytes(block)


def cobs_decode(block: bytes) -> bytes | None:
    """Return the data that cobs_encode encoded as `block`, or None if `block` is invalid."""
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
    """Return the frame for `payload`: payload and CRC-32 in COBS, ended by a zero byte.

    Raises ValueError if the payload is longer than MAX_PAYLOAD.
    """
    if len(payload) > MAX_PAYLOAD:
        raise ValueError("a payload holds at most %d bytes" % MAX_PAYLOAD)
    return cobs_encode(payload + struct.pack(">I", binascii.crc32(payload))) + b"\x00"


class Decoder:
    """Decoder of a stream of bytes, which returns the payloads of the frames.

    It counts invalid blocks. `junk` counts blocks with invalid COBS or too few bytes, `crc_errors`
    those with a wrong CRC, `oversize` those longer than any frame. Each block counts once. The
    buffer never grows past one frame.
    """

    def __init__(self) -> None:
        self.junk = 0
        self.crc_errors = 0
        self.oversize = 0
        self._rest = b""
        self._skipping = False

    def feed(self, data: bytes) -> list[bytes]:
        """Add received bytes, and return the payloads that are complete now, oldest first."""
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
            return None  # Two zero bytes in a row: a frame's end and an idle line.
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
