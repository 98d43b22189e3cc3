"""What `bench query` compares: a board that answers and a process that does."""

import os
import socket
import struct

import pytest

from controller.trials import query
from controller.trials.query import asked
from drivers.firmware import wire

pytestmark = pytest.mark.slow


@pytest.mark.timeout(120)
async def test_a_board_is_asked_in_turns_with_a_process_that_echoes_as_many_bytes() -> None:
    took = await asked(3)
    assert len(took.queries_us) == len(took.bare_us) == 3 * query._PROCESSES
    assert min(*took.queries_us, *took.bare_us) > 0
    assert took.got > took.sent
    assert took.got > struct.calcsize(wire.STATUS_BODIES[wire.KIND_DEALER])


def test_so_many_bytes_are_read_and_no_more() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(b"abcde")
        assert query._take(ours.fileno(), 3)
        assert ours.recv(9) == b"de"


def test_a_line_that_is_gone_has_not_so_many() -> None:
    ours, theirs = os.pipe()
    os.write(theirs, b"ab")
    os.close(theirs)
    try:
        assert not query._take(ours, 3)
    finally:
        os.close(ours)
