"""The golden frames: the boards take the host's as they stand, and say theirs as they stand."""

import json
import struct
from pathlib import Path
from typing import Any

import pytest

import drivers.link
from drivers.firmware import protocol
from drivers.firmware.board import BoardCore
from drivers.firmware.dealer import DealerCore
from drivers.firmware.framing import Decoder
from drivers.firmware.reader import ReaderCore
from tests.firmware.bench import ATTEMPT, SESSION, DealerLine, Pins, ReaderLine

GOLDEN: list[dict[str, Any]] = json.loads(
    (Path(drivers.link.__file__).parent / "golden.json").read_text(encoding="utf-8")
)["frames"]
BY_NAME = {frame["name"]: frame for frame in GOLDEN}


def line(name: str) -> bytes:
    return bytes.fromhex(BY_NAME[name]["frame"])


HOST = [frame["name"] for frame in GOLDEN if frame["from"] == "host"]


@pytest.mark.parametrize("name", HOST)
def test_a_board_without_a_session_answers_a_golden_frame_with_welcome_or_no_session(
    name: str,
) -> None:
    board = DealerCore(Pins(), 2953248771)
    (payload,) = Decoder().feed(board.step(0, line(name)))
    if name == "hello":
        assert payload[0] == protocol.WELCOME
    else:
        assert payload == bytes.fromhex(BY_NAME["no session"]["payload"])


def test_a_golden_opening_is_understood_word_by_word(dealer: DealerLine) -> None:
    dealer.session, dealer.number = SESSION, 1
    dealer.pins.levels["hopper"] = 1
    dealer.step(line("hello"))
    assert dealer.result(dealer.step(line("begin"))) == protocol.DONE
    dealer.number = 2
    assert dealer.result(dealer.step(line("shuffle"))) == protocol.DONE
    for _ in range(3):
        dealer.edge("shuffled", 1)
        dealer.edge("shuffled", 0)
    dealer.now += 40
    dealer.step()
    dealer.number = 3
    assert dealer.result(dealer.step(line("feed from the hopper"))) == protocol.DONE
    dealer.edge("window", 1)
    dealer.number = 4
    assert dealer.step(line("route to south"))[0].body == bytes.fromhex("000400")
    assert dealer.pins.runs("gate") == protocol.SOUTH
    dealer.step(line("stop"))
    assert not dealer.pins.runs("pass")


def test_a_reader_says_golden_reads() -> None:
    pins = Pins()
    reader = ReaderLine()
    board: BoardCore = ReaderCore(pins, 2953248771)
    reader.board, reader.pins = board, pins
    reader.begin()
    assert board.attempt == ATTEMPT
    for name, answer in (("read ace of spades", (12, 0, 0, 250)), ("read unreadable", (255,) * 4)):
        reader.now += 1
        reader.pins.move(reader.now, "pulse", 1)
        reader.step()
        if answer[0] < protocol.FACES:
            pins.answer(*answer)
        else:
            reader.now += 200
        payload = struct.pack(protocol.BOARD_HEADER, protocol.EVENT, SESSION)
        (frame,) = [f for f in reader.step() if f.kind == protocol.EVENT]
        assert payload + frame.body == bytes.fromhex(BY_NAME[name]["payload"])
        reader.pins.move(reader.now, "pulse", 0)
        reader.step()
        reader.beat()
