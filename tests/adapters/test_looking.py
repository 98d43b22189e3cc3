"""One look after the other, by an engine that speaks when it likes."""

import struct

import pytest

from drivers.adapters.adapter_board import NEVER_MS, AdapterHal
from drivers.adapters.barcode_engine import RETRY_MS, BarcodeScan
from drivers.adapters.barcode_reader import ANSWER_MARGIN_MS, BarcodeHal, make_barcode_reader
from drivers.firmware import protocol
from tests.adapters.peer import END_OF_LINE, TRIGGER, TRIGGER_OFF
from tests.adapters.rig import CODES, ENGINE, UID, ScriptedPort

CODE, OTHER = b"1234567", b"7654321"


class Bench:
    """A Looking on a scripted port, at a clock that the test moves."""

    def __init__(self) -> None:
        self.port = ScriptedPort()
        self.looking = BarcodeScan(ENGINE, self.port)
        self.now = 0
        self.done: list[bytes | None] = []
        self.after(100)

    def after(self, ms: int) -> None:
        """Let time pass as a shell does: a step at each moment that is due."""
        end = self.now + ms
        while self.looking.due_ms() <= end:
            self.now = max(self.now, self.looking.due_ms())
            self.done += self.looking.step(self.now)
        self.now = end
        self.done += self.looking.step(self.now)

    def look(self) -> None:
        self.looking.begin(self.now)

    def says(self, data: bytes) -> None:
        self.port.said += data
        self.done += self.looking.step(self.now)

    @property
    def triggers(self) -> int:
        return self.port.written.count(TRIGGER)


@pytest.fixture
def bench() -> Bench:
    return Bench()


def test_a_line_is_believed_once_nothing_followed_it(bench: Bench) -> None:
    bench.look()
    bench.after(40)
    bench.says(CODE + END_OF_LINE)
    bench.after(ENGINE.settle_ms - 1)
    assert bench.done == []
    bench.after(1)
    assert bench.done == [CODE]
    assert bench.port.written == [TRIGGER]


def test_the_same_line_twice_is_one_and_two_lines_are_none(bench: Bench) -> None:
    bench.look()
    bench.says(CODE + END_OF_LINE)
    bench.after(5)
    bench.says(CODE + END_OF_LINE)
    bench.after(50)
    bench.look()
    bench.says(CODE + END_OF_LINE + OTHER + END_OF_LINE)
    bench.after(50)
    assert bench.done == [CODE, None]


def test_an_engine_that_saw_nothing_says_so_at_once(bench: Bench) -> None:
    bench.look()
    bench.says(ENGINE.no_read + END_OF_LINE)
    bench.after(ENGINE.settle_ms)
    assert bench.done == [None]


def test_what_nobody_asked_for_answers_no_look(bench: Bench) -> None:
    bench.says(CODE + END_OF_LINE)
    bench.look()
    assert bench.triggers == 0  # it may not be all
    bench.after(ENGINE.settle_ms)
    assert bench.triggers == 1
    bench.says(OTHER + END_OF_LINE)
    bench.after(50)
    assert bench.done == [OTHER]


def test_the_rest_of_a_line_that_began_before_the_look_is_no_part_of_it(bench: Bench) -> None:
    bench.says(CODE)
    bench.after(ENGINE.settle_ms)
    bench.look()
    bench.says(OTHER + END_OF_LINE)
    bench.after(50)
    assert bench.done == [OTHER]


def test_a_look_that_was_not_answered_is_ended_and_its_answer_waited_out(bench: Bench) -> None:
    bench.look()
    bench.after(ENGINE.timeout_ms)
    assert bench.done == [None]
    assert bench.port.written == [TRIGGER, TRIGGER_OFF]
    bench.look()
    bench.after(ENGINE.late_ms - 1)
    bench.says(CODE + END_OF_LINE)
    bench.after(ENGINE.settle_ms - 1)
    assert bench.triggers == 1
    bench.after(1)
    assert bench.triggers == 2
    bench.after(40)
    bench.says(OTHER + END_OF_LINE)
    bench.after(50)
    assert bench.done == [None, OTHER]


def test_a_look_that_another_one_follows_too_early_answers_nothing(bench: Bench) -> None:
    bench.look()
    bench.after(20)
    bench.look()
    bench.says(CODE + END_OF_LINE)
    bench.after(ENGINE.late_ms)
    assert (bench.triggers, bench.done) == (2, [])
    bench.says(OTHER + END_OF_LINE)
    bench.after(50)
    assert bench.done == [OTHER]


def test_an_engine_that_never_stops_talking_answers_nothing(bench: Bench) -> None:
    bench.says(b"\x00" * 5000)
    bench.look()
    for _ in range(200):
        bench.says(b"\xffx" + END_OF_LINE)
        bench.after(2)
    assert bench.triggers == 0
    assert bench.done == [None]


def test_a_look_at_an_engine_that_is_away_is_over_at_once_and_it_is_looked_for_again(
    bench: Bench,
) -> None:
    bench.look()
    bench.port.plugged = False
    bench.after(1)
    assert bench.done == [None]
    assert bench.looking.away_reason is not None
    bench.look()
    bench.after(1)
    assert bench.done == [None, None]
    bench.port.plugged = True
    bench.after(RETRY_MS)
    assert bench.looking.away_reason is None
    bench.look()
    bench.after(ENGINE.settle_ms)
    bench.says(CODE + END_OF_LINE)
    bench.after(50)
    assert bench.done == [None, None, CODE]
    assert bench.looking.due_ms() == NEVER_MS


def test_an_adapter_that_ends_ends_the_look(bench: Bench) -> None:
    bench.look()
    bench.looking.close()
    assert bench.port.written == [TRIGGER, TRIGGER_OFF]
    assert not bench.port.opened


def test_the_reader_board_waits_as_long_as_its_engine_may_take() -> None:
    hal = BarcodeHal(bytes.fromhex(UID), ENGINE, CODES, ScriptedPort())
    as_it_is: AdapterHal = hal
    reader = make_barcode_reader(hal, ENGINE, 1, bytes(8), b"")
    assert as_it_is.kind == protocol.HAL_ADAPTER
    assert reader.settings["asked"] == 1
    assert reader.settings["read_limit_ms"] == ENGINE.timeout_ms + ENGINE.late_ms + ANSWER_MARGIN_MS


def test_what_an_adapter_says_of_itself_shows_no_face() -> None:
    hal = BarcodeHal(bytes.fromhex(UID), ENGINE, CODES, ScriptedPort())
    assert "1234567" not in repr(hal)
    assert repr(hal) == f"BarcodeHal({UID})"
    assert struct.calcsize(protocol.READ_BODY) == 4


def test_an_engine_that_went_and_came_back_is_told_once_each() -> None:
    said: list[str] = []
    port = ScriptedPort()
    hal = BarcodeHal(bytes.fromhex(UID), ENGINE, CODES, port, said.append)
    edges = []
    for now, plugged in ((0, True), (10, False), (20, False), (1010, False), (2010, True)):
        port.plugged = plugged
        hal.update(now)
        edges += hal.edges()
    assert edges == [(10, "engine", 0), (2010, "engine", 1)]
    assert said == ["the engine is away: of the rig: the device is gone", "the engine is back"]
