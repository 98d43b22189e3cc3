"""Frames as typed values: whatever has a right CRC is understood or left out, never raised."""

import struct

from hypothesis import given
from hypothesis import strategies as st

from drivers.board_events import BoardEvent, BoardKind
from drivers.firmware import framing
from drivers.firmware import protocol as wire
from drivers.link import frames
from drivers.link.frames import BoardResult, Welcome

KINDS = (wire.WELCOME, wire.ALIVE, wire.ACK, wire.EVENT, wire.NO_SESSION, wire.HELLO, 0xFF)
SIZES = [struct.calcsize(body) for body in wire.BODIES.values()]
boards: st.SearchStrategy[BoardKind] = st.sampled_from(("dealer", "reader"))


@given(st.sampled_from(KINDS), st.binary(max_size=framing.MAX_PAYLOAD - 1), boards)
def test_no_payload_makes_decoding_raise(kind: int, rest: bytes, board: BoardKind) -> None:
    frames.decode_board_frame(bytes([kind]) + rest, board)


@given(st.sampled_from(KINDS), st.sampled_from(SIZES), st.data())
def test_no_payload_of_a_right_size_makes_decoding_raise(
    kind: int, size: int, data: st.DataObject
) -> None:
    body = data.draw(st.binary(min_size=size + 4, max_size=size + 8))
    decoded = frames.decode_board_frame(bytes([kind]) + body, "reader")
    assert decoded is None or decoded[0] == int.from_bytes(body[:4], "big")


def event(code: int, *read: int) -> bytes:
    header = struct.pack(wire.BOARD_HEADER, wire.EVENT, 1)
    body = struct.pack(wire.BODIES[wire.EVENT], 2, 3, 4, code, 5, 6, 7, 0)
    return header + body + bytes(read)


def test_what_is_not_in_the_document_is_left_out() -> None:
    assert frames.decode_board_frame(b"", "dealer") is None
    assert frames.decode_board_frame(event(0x7F), "dealer") is None
    assert frames.decode_board_frame(event(wire.GATE, 0), "dealer") is None
    assert frames.decode_board_frame(event(wire.READ), "reader") is None
    for bad_read in ((54, 0, 0, 0), (0, 3, 0, 0), (0, 0, 0)):
        assert frames.decode_board_frame(event(wire.READ, *bad_read), "reader") is None
    refusal = struct.pack(wire.BOARD_HEADER + "HB", wire.ACK, 1, 1, max(wire.RESULTS) + 1)
    assert frames.decode_board_frame(refusal, "dealer") is None


def test_an_event_knows_its_board_and_a_read_hides_its_face() -> None:
    decoded = frames.decode_board_frame(event(wire.READ, 51, wire.BACK_A, 1, 99), "reader")
    assert decoded is not None
    read = decoded[1]
    assert isinstance(read, BoardEvent)
    assert read.board == "reader"
    assert "51" not in f"{read!r} {read}"


def test_of_a_welcome_in_another_protocol_only_its_beginning_is_believed() -> None:
    prefix = struct.pack(wire.BOARD_HEADER, wire.WELCOME, 9) + struct.pack(
        ">BB8s3s8s8s", 1, 1, b"unique_i", bytes((1, 2, 3)), b"firmware", b"protocol"
    )
    for rest in (b"", b"\x01" * 60):
        decoded = frames.decode_board_frame(prefix + rest, "dealer")
        assert decoded is not None
        session, welcome = decoded
        assert session == 9
        assert isinstance(welcome, Welcome)
        assert (welcome.firmware, welcome.protocol) == ("1.2.3", b"protocol".hex())
        assert (welcome.boot, welcome.events) == (0, 0)


def test_every_command_packs_its_fields_in_the_order_of_the_wire() -> None:
    for command in frames.BoardCommand.__subclasses__():
        assert len(command.__struct_fields__) == len(wire.BODIES[command.kind]) - 1
    assert {command.kind for command in frames.BoardCommand.__subclasses__()} == {
        kind for kind in wire.BODIES if wire.BEGIN <= kind < wire.WELCOME
    }


def test_a_status_answer_is_handed_on_as_it_came() -> None:
    payload = struct.pack(wire.BOARD_HEADER + "HB", wire.ACK, 1, 5, wire.DONE) + b"body"
    assert frames.decode_board_frame(payload, "dealer") == (
        1,
        frames.BoardReply(5, BoardResult.DONE, b"body"),
    )
