"""The framing: what goes in comes out, and nothing else ever does."""

import binascii
import random
import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import fastcrc
import pytest
from cobs import cobs
from hypothesis import given
from hypothesis import strategies as st

from drivers.firmware import framing as codec

PROTOCOL = Path(codec.__file__).parents[1] / "link" / "PROTOCOL.md"

payloads = st.binary(min_size=1, max_size=codec.MAX_PAYLOAD)
noise = st.binary(max_size=400)


def test_cobs_and_crc_agree_with_other_peoples(scale: Callable[[int], int]) -> None:
    rng = random.Random(20_000)
    for _ in range(scale(20_000)):
        size = rng.randint(1, codec.MAX_PAYLOAD)
        # Many zero bytes: they are what COBS is about.
        data = bytes(rng.choice((0, 0, rng.randrange(256))) for _ in range(size))
        crc = fastcrc.crc32.iso_hdlc(data).to_bytes(4, "big")
        assert crc == binascii.crc32(data).to_bytes(4, "big")
        frame = codec.encode(data)
        assert frame == cobs.encode(data + crc) + b"\x00"
        assert codec.cobs_decode(frame[:-1]) == cobs.decode(frame[:-1]) == data + crc


def test_cobs_decoding_agrees_with_other_peoples_about_noise(scale: Callable[[int], int]) -> None:
    rng = random.Random(20_001)
    for _ in range(scale(20_000)):
        size = rng.randint(1, codec.MAX_ENCODED)
        block = bytes(rng.randint(1, rng.choice((8, 254))) for _ in range(size))
        try:
            expected: bytes | None = cobs.decode(block)
        except cobs.DecodeError:
            expected = None
        assert codec.cobs_decode(block) == expected


def test_what_is_no_single_block_is_not_decoded() -> None:
    assert codec.cobs_decode(b"") is None
    assert codec.cobs_decode(b"\x00") is None
    assert codec.cobs_decode(b"\x03ab\x00\x01") is None
    assert codec.cobs_decode(cobs.encode(b"x" * 254)) is None


def test_the_document_has_right_vectors() -> None:
    rows = re.findall(
        r"^\| (`[0-9a-f ]+`|\*nothing\*) \| `([0-9a-f ]+)` \|", PROTOCOL.read_text(), re.M
    )
    vectors = [
        (b"" if data == "*nothing*" else bytes.fromhex(data.strip("`")), bytes.fromhex(result))
        for data, result in rows
    ]
    crcs, blocks = vectors[:2], vectors[2:]
    assert len(blocks) == 6
    for data, crc in crcs:
        assert binascii.crc32(data).to_bytes(4, "big") == crc
    for data, block in blocks:
        assert codec.cobs_encode(data) == block
        assert codec.cobs_decode(block) == data


def test_what_is_too_long_is_refused_on_the_way_out() -> None:
    codec.encode(bytes(codec.MAX_PAYLOAD))
    with pytest.raises(ValueError, match="at most 120 bytes"):
        codec.encode(bytes(codec.MAX_PAYLOAD + 1))
    with pytest.raises(ValueError, match="at most 253 bytes"):
        codec.cobs_encode(bytes(254))


def pieces(stream: bytes, cuts: list[int]) -> list[bytes]:
    edges = [0, *sorted(cut % (len(stream) + 1) for cut in cuts), len(stream)]
    return [stream[start:end] for start, end in pairwise(edges)]


@given(st.lists(payloads, max_size=5), st.lists(st.integers(min_value=0), max_size=12))
def test_any_cutting_of_the_stream_gives_the_same_frames(
    sent: list[bytes], cuts: list[int]
) -> None:
    decoder = codec.Decoder()
    stream = b"".join(codec.encode(payload) for payload in sent)
    taken = [payload for piece in pieces(stream, cuts) for payload in decoder.feed(piece)]
    assert taken == sent
    assert (decoder.junk, decoder.crc_errors, decoder.oversize) == (0, 0, 0)


@given(
    st.lists(st.one_of(noise, payloads.map(codec.encode)), max_size=6),
    st.lists(st.integers(min_value=0)),
)
def test_any_cutting_of_a_noisy_stream_gives_the_same_frames_and_counts(
    parts: list[bytes], cuts: list[int]
) -> None:
    stream = b"".join(parts)
    whole, cut = codec.Decoder(), codec.Decoder()
    expected = whole.feed(stream)
    assert [payload for piece in pieces(stream, cuts) for payload in cut.feed(piece)] == expected
    assert vars(cut) == vars(whole)


@given(st.lists(noise, max_size=8), payloads)
def test_noise_never_raises_never_fills_the_buffer_and_ends_at_a_zero_byte(
    parts: list[bytes], payload: bytes
) -> None:
    decoder = codec.Decoder()
    for part in parts:
        decoder.feed(part)
        assert len(decoder._rest) <= codec.MAX_ENCODED
    decoder.feed(b"\x00")
    assert decoder.feed(codec.encode(payload)) == [payload]


@given(payloads, st.integers(min_value=0), st.integers(0, 7))
def test_a_flipped_bit_never_gives_another_payload(payload: bytes, at: int, bit: int) -> None:
    frame = bytearray(codec.encode(payload))
    frame[at % len(frame)] ^= 1 << bit
    decoder = codec.Decoder()
    assert decoder.feed(bytes(frame) + b"\x00") == []
    assert decoder.junk + decoder.crc_errors + decoder.oversize >= 1


def test_each_bad_block_is_counted_once_and_by_its_kind() -> None:
    decoder = codec.Decoder()
    decoder.feed(b"\xff" * (codec.MAX_ENCODED + 1))
    decoder.feed(b"\xff" * 1000)
    assert decoder.feed(b"tail\x00") == []
    assert (decoder.junk, decoder.crc_errors, decoder.oversize) == (0, 0, 1)
    decoder.feed(b"\x09no COBS\x00" + b"\x05crc?\x00")
    assert (decoder.junk, decoder.crc_errors, decoder.oversize) == (2, 0, 1)
    decoder.feed(codec.cobs_encode(b"payload and a wrong CRC") + b"\x00")
    assert (decoder.junk, decoder.crc_errors, decoder.oversize) == (2, 1, 1)
    assert decoder.feed(b"\x00\x00\x00") == []
    assert decoder.feed(codec.encode(b"right")) == [b"right"]
    assert (decoder.junk, decoder.crc_errors, decoder.oversize) == (2, 1, 1)
