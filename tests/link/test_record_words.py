"""A recording in words: every frame by its name and fields, what came again, and no face."""

import json
import struct
from pathlib import Path
from typing import Any, get_args

import pytest

from drivers.board_events import BoardEventCode, BoardKind, CardReadEvent, FeedSource
from drivers.firmware import framing, protocol
from drivers.link import frames
from drivers.link.frame_text import FrameRecord, read_frames, to_json, to_line
from drivers.link.frames import HOST_FRAME_NAMES, BoardResult, decode_host_frame
from drivers.link.recording import Chunk, ChunkKind
from tests.link.recorded_runs import kept

GOLDEN = json.loads((Path(frames.__file__).parent / "golden.json").read_text("utf-8"))["frames"]
BOOT = 7


def of_host(kind: int, session: int = 1, number: int = 0, *body: int) -> bytes:
    return framing.encode(protocol.pack_host_frame(kind, session, number, 0, 0, *body))


def of_board(kind: int, *body: Any, session: int = 1) -> bytes:
    layout = protocol.BOARD_HEADER + protocol.BODIES[kind][1:]
    return framing.encode(struct.pack(layout, kind, session, *body))


def event(
    number: int, code: int = protocol.LID, index: int = 0, place: int = 0, **of: int
) -> bytes:
    return of_board(protocol.EVENT, BOOT, number, 3, code, 0, 0, index, place, **of)


def read_of(face: int) -> bytes:
    body = (protocol.EVENT, 1, BOOT, 1, 3, protocol.READ, 1, 1, 1, 0, face, 0, 0, 255)
    return struct.pack(
        protocol.BOARD_HEADER + protocol.BODIES[protocol.EVENT][1:] + protocol.READ_BODY[1:], *body
    )


Spoken = tuple[int, ChunkKind, bytes]


def told(*spoken: Spoken) -> list[FrameRecord]:
    return list(read_frames(Chunk(at_us, "dealer", way, data) for at_us, way, data in spoken))


HELLO: Spoken = (0, "host", b"\x00" + of_host(protocol.HELLO))


def test_every_frame_of_the_protocol_has_its_name(subtests: pytest.Subtests) -> None:
    for golden in GOLDEN:
        with subtests.test(golden["name"]):
            board: BoardKind = "reader" if "reader" in golden["name"] else "dealer"
            chunk = Chunk(0, board, golden["from"], bytes.fromhex(golden["frame"]))
            [one] = read_frames([chunk])
            body = dict(golden["body"])
            is_event = golden["kind"] == "EVENT"
            assert one.name == (protocol.EVENTS[body["code"]] if is_event else golden["kind"])
            fields = dict(one.fields)
            for name in ("attempt", "cards", "per", "upto", "number", "boot", "events"):
                if name in body:
                    assert fields[name] == body[name]


def test_every_kind_of_a_host_is_understood_as_its_command() -> None:
    assert set(HOST_FRAME_NAMES) == {kind for kind in protocol.BODIES if kind < protocol.WELCOME}
    command = frames.FeedCommand(3, FeedSource.TRAY, 9)
    [payload] = framing.Decoder().feed(frames.encode_host_frame(protocol.FEED, 5, 2, 8, 6, command))
    heard = decode_host_frame(payload)
    assert heard is not None
    assert (heard.session, heard.number, heard.seen, heard.kept) == (5, 2, 8, 6)
    assert heard.command == command


@pytest.mark.parametrize("payload", [b"", b"\x55", bytes((protocol.ROUTE,)), read_of(0)])
def test_what_is_no_frame_of_a_host_is_none(payload: bytes) -> None:
    assert decode_host_frame(payload) is None


def test_a_route_to_a_place_that_there_is_none_is_malformed() -> None:
    [one] = told((0, "host", of_host(protocol.ROUTE, 1, 1, 3, 1, 9)))
    assert one.name == "malformed"


def test_what_is_said_again_is_marked_and_nothing_else() -> None:
    feed = of_host(protocol.FEED, 1, 1, 3, 0, 9)
    ack = of_board(protocol.ACK, 1, BoardResult.DONE)
    beat = of_host(protocol.BEAT)
    spoken: list[Spoken] = [HELLO, HELLO, (1, "host", feed), (2, "host", beat), (3, "host", beat)]
    spoken += [(4, "host", feed), (5, "board", ack), (6, "board", ack)]
    spoken += [(7, "board", event(1)), (8, "board", event(1)), (9, "board", event(2))]
    spoken += [(9, "host", of_host(protocol.FEED, 1, 2, 3, 0, 9))]
    again = [one.at_us for one in told(*spoken) if "again" in one.marks]
    assert again == [0, 4, 6, 8]


def test_an_event_that_comes_too_early_is_marked_until_the_missing_one_is_there() -> None:
    spoken: list[Spoken] = [HELLO, *((at, "board", event(n)) for at, n in enumerate((1, 3, 2, 3)))]
    assert [one.marks for one in told(*spoken)[1:]] == [(), ("too early",), (), ()]


def test_a_frame_of_another_session_is_marked_and_counts_for_nothing() -> None:
    other, own = event(1, session=9), event(1)
    marks = [one.marks for one in told(HELLO, (1, "board", other), (2, "board", own))[1:]]
    assert marks == [("strange session",), ()]


def test_a_board_that_was_silent_is_marked_by_how_long() -> None:
    half = event(2)
    spoken: list[Spoken] = [HELLO, (0, "board", event(1)), (900_000, "board", half[:4])]
    spoken += [(900_100, "board", half[4:]), (1_000_000, "board", event(3))]
    assert [one.marks for one in told(*spoken)[2:]] == [("silent for 900 ms",), ()]


def test_what_became_of_a_port_is_told() -> None:
    spoken: list[Spoken] = [
        (0, "opened", b""),
        (1, "lost", b"unplugged"),
        (2, "opened", b""),
        (3, "closed", b""),
    ]
    names = [(one.name, dict(one.fields)) for one in told(*spoken)]
    assert names == [("opened", {}), ("lost", {"why": "unplugged"}), ("opened", {}), ("closed", {})]


def test_noise_is_named_block_by_block_and_never_shown() -> None:
    secret = framing.encode(read_of(17))
    spoiled = bytes((secret[0], secret[1] ^ 0x40)) + secret[2:]
    spoken: list[Spoken] = [
        HELLO,
        (1, "board", b"\x09\x09\x00" + spoiled + bytes(300) + b"x" * 200 + b"\x00"),
    ]
    heard = told(*spoken)[1:]
    assert [one.name for one in heard] == ["junk", "crc error", "oversize"]
    assert all(one.fields == () for one in heard)


def test_a_frame_that_a_lost_line_cut_off_is_not_glued_to_the_next() -> None:
    spoken: list[Spoken] = [
        HELLO,
        (1, "board", event(1)[:5]),
        (2, "opened", b""),
        (3, "board", event(1)),
    ]
    assert [one.name for one in told(*spoken)][-1] == "LID"


def test_places_and_results_have_their_words() -> None:
    spoken = [
        event(1, protocol.LANDED, 4, protocol.SOUTH), event(2, protocol.JAM, 4, protocol.AT_GATE),
        event(3, protocol.LID, 0, 1), event(4, protocol.POCKET, 1, protocol.TRAY),
        event(5, protocol.STOPPED, 0, protocol.BY_ESTOP),
        event(6, protocol.HOPPER_EMPTY, 0, protocol.FROM_TRAY),
        event(7, protocol.STALL, 0, protocol.MOTOR_LIFT), event(8, protocol.LANDED, 4, 99),
        of_board(protocol.ACK, 3, BoardResult.NOT_CLEAR),
    ]  # fmt: skip
    fields = [dict(one.fields) for one in told(HELLO, (1, "board", b"".join(spoken)))[1:]]
    places = [field.get("place") for field in fields]
    assert places == ["S", "gate", "open", "TRAY", "estop", "tray", "lift", 99, None]
    assert fields[3]["index"] == "occupied"
    assert fields[8]["result"] == "NOT_CLEAR"


def test_a_face_is_hidden_until_it_is_asked_for() -> None:
    faces = (0, 17, 53, protocol.UNREADABLE)
    for face in faces:
        [one] = told(HELLO, (1, "board", framing.encode(read_of(face))))[1:]
        hidden = "unreadable" if face == protocol.UNREADABLE else "hidden"
        assert f"face {hidden}" in to_line(one)
        assert to_json(one)["fields"]["face"] == hidden
        shown = "unreadable" if face == protocol.UNREADABLE else f"card {face}"
        assert f"face {shown}," in to_line(one, "card {}".format)
        assert to_json(one, "card {}".format)["fields"]["face"] == shown


def test_no_line_of_a_whole_deal_shows_a_face_or_differs_by_one() -> None:
    """The same deal with every face another one reads the same."""
    chunks = kept("clean_deal")
    other = [
        Chunk(c.at_us, c.board, c.way, _turned(c.data)) if c.board == "reader" else c
        for c in chunks
    ]
    assert other != chunks
    assert [to_line(one) for one in read_frames(chunks)] == [
        to_line(one) for one in read_frames(other)
    ]
    assert [to_json(one) for one in read_frames(chunks)] == [
        to_json(one) for one in read_frames(other)
    ]
    assert [one.fields for one in read_frames(chunks)] != [one.fields for one in read_frames(other)]


def _turned(data: bytes) -> bytes:
    """Return frames of a reader with every face of a READ another one."""
    turned = b""
    for payload in framing.Decoder().feed(data):
        decoded = frames.decode_board_frame(payload, "reader")
        if decoded is not None and isinstance(decoded[1], CardReadEvent):
            payload = payload[:-4] + bytes(((payload[-4] + 1) % protocol.FACES,)) + payload[-3:]
        turned += framing.encode(payload)
    return turned if turned else data


def test_every_way_and_code_can_be_put_into_words() -> None:
    assert set(get_args(ChunkKind)) == {"host", "board", "opened", "closed", "lost", "full"}
    for code in BoardEventCode:
        if code is not BoardEventCode.READ:
            assert told(HELLO, (1, "board", event(1, code, 1, 0)))[1].name == code.name
