"""What a frame costs on its way in and out of a line, and a question to a board."""

import asyncio
import binascii
import statistics
from collections.abc import Callable

from controller.trials.bench.registry import (
    FigureUnit,
    FigureValue,
    choose_size,
    time_in_turns_us,
    timed_figure,
    valued_figure,
)
from controller.trials.query import time_queries
from drivers.firmware.codec import Decoder, encode

_FRAMES = 1000
_PAYLOAD = bytes(range(40))
_CHECKSUM = bytes(4)
_ROUNDS = 15
_QUERIES, _FEW_QUERIES = 60, 10


def _checksums_alone() -> None:
    for _ in range(2 * _FRAMES):
        binascii.crc32(_PAYLOAD)


@timed_figure("frame", floor=_checksums_alone, documented=13.0, per=_FRAMES)
def code_frames() -> None:
    """A frame coded and decoded, against its two checksums."""
    decoder = Decoder()
    for _ in range(_FRAMES):
        decoder.feed(encode(_PAYLOAD))


def _minimal_in_c() -> None:
    """Do with each frame what no code of it can spare: a checksum, a search, a copy."""
    for _ in range(_FRAMES):
        binascii.crc32(_PAYLOAD)
        _PAYLOAD.find(0)
        b"".join((_PAYLOAD, _CHECKSUM))


def _encode_frames() -> None:
    for _ in range(_FRAMES):
        encode(_PAYLOAD)


def _decode_frames() -> None:
    decoder, frame = Decoder(), encode(_PAYLOAD)
    for _ in range(_FRAMES):
        decoder.feed(frame)


@valued_figure("codec")
def measure_codec() -> list[FigureValue]:
    """A frame's coding and its decoding, each against a checksum, a search and a copy in C."""
    return [_against_c("coded", _encode_frames), _against_c("decoded", _decode_frames)]


def _against_c(what: str, work: Callable[[], None]) -> FigureValue:
    value, floor = time_in_turns_us(work, _minimal_in_c, _FRAMES, _ROUNDS)
    return FigureValue(what=what, value=value, floor=floor, unit=FigureUnit.US, documented=4.0)


@valued_figure("query")
def measure_query() -> list[FigureValue]:
    """A board's STATUS over a pty, asked and answered, against an echo of as many bytes."""
    took = asyncio.run(time_queries(choose_size(_QUERIES, _FEW_QUERIES)))
    value, floor = statistics.median(took.queries_us), statistics.median(took.bare_us)
    return [FigureValue(value=value, floor=floor, unit=FigureUnit.US, documented=5.0)]
