"""The line in process: in order, late by its delay, and as noisy as it is told to be."""

import asyncio

import pytest

from drivers.errors import PortMissing
from sim.serial_lines import PipeBoardEnd, PipePort, make_pipe

pytestmark = pytest.mark.virtual


class Ends:
    """Both ends, and what arrived at each with the time it did."""

    def __init__(self, delay_ms: float = 0) -> None:
        self.port, self.board = self.made = make_pipe(delay_ms)
        self.at_host: list[tuple[float, bytes]] = []
        self.at_board: list[tuple[float, bytes]] = []
        self.lost: list[str] = []
        loop = asyncio.get_running_loop()
        self.port.open(lambda data: self.at_host.append((loop.time(), data)), self.lost.append)
        self.board.listen(lambda data: self.at_board.append((loop.time(), data)))


async def test_bytes_arrive_in_this_instant_but_not_inside_the_write() -> None:
    ends = Ends()
    ends.port.write(b"one")
    ends.port.write(b"two")
    assert ends.at_board == []
    await asyncio.sleep(0.001)
    assert ends.at_board == [(0.0, b"onetwo")]


async def test_a_delay_holds_for_each_byte_and_both_ways() -> None:
    ends = Ends(delay_ms=5)
    ends.port.write(b"a")
    await asyncio.sleep(0.002)
    ends.port.write(b"b")
    ends.board.write(b"c")
    await asyncio.sleep(1)
    assert ends.at_board == [(0.005, b"a"), (0.007, b"b")]
    assert ends.at_host == [(0.007, b"c")]


async def test_bytes_never_overtake_each_other_when_the_delay_changes() -> None:
    ends = Ends(delay_ms=5)
    ends.port.write(b"slow")
    ends.port.to_board.delay_ms = 0
    ends.port.write(b"fast")
    await asyncio.sleep(1)
    assert b"".join(data for _, data in ends.at_board) == b"slowfast"


async def test_noise_may_drop_repeat_and_change_what_is_written() -> None:
    ends = Ends()
    noise = iter([[], [(0.0, b"x"), (0.0, b"x")], [(0.0, b"?")]])
    ends.port.to_board.distort = lambda data: next(noise)
    for data in (b"lost", b"x", b"!"):
        ends.port.write(data)
    await asyncio.sleep(1)
    assert b"".join(data for _, data in ends.at_board) == b"xx?"


async def test_an_unplugged_line_says_so_once_and_loses_what_was_on_the_way() -> None:
    ends = Ends(delay_ms=5)
    ends.port.write(b"a")
    ends.board.write(b"b")
    ends.port.drop_connection()
    ends.port.drop_connection()
    ends.port.write(b"c")
    await asyncio.sleep(1)
    assert (ends.at_board, ends.at_host, ends.lost) == ([], [], ["unplugged"])


async def test_a_closed_port_can_be_opened_again() -> None:
    port, board = make_pipe()
    assert isinstance(port, PipePort)
    assert isinstance(board, PipeBoardEnd)
    got: list[bytes] = []
    port.open(got.append, lambda why: None)
    port.close()
    port.close()
    board.write(b"nobody hears this")
    port.open(got.append, lambda why: None)
    board.write(b"this")
    await asyncio.sleep(0.001)
    assert got == [b"this"]


async def test_a_pulled_cable_is_no_port_until_it_is_put_in_again() -> None:
    ends = Ends()
    ends.port.pull()
    await asyncio.sleep(0.001)
    assert ends.lost == ["unplugged"]
    with pytest.raises(PortMissing, match="pulled out"):
        ends.port.open(lambda data: None, ends.lost.append)
    ends.board.write(b"nobody hears this")
    ends.port.plug()
    got: list[bytes] = []
    ends.port.open(got.append, ends.lost.append)
    ends.board.write(b"this")
    await asyncio.sleep(0.001)
    assert got == [b"this"]


async def test_a_piece_that_is_late_holds_up_what_comes_behind_it() -> None:
    ends = Ends()
    late = iter([[(70.0, b"a")], [(0.0, b"b")]])
    ends.port.to_board.distort = lambda data: next(late)
    ends.port.write(b"a")
    ends.port.write(b"b")
    await asyncio.sleep(1)
    assert ends.at_board == [(0.07, b"ab")]
