"""The golden frames: the same bytes for hosts, boards and the simulator."""

import json
import struct
from pathlib import Path
from typing import Any

import msgspec
import pytest

from drivers.board_events import BoardEvent, CardReadEvent
from drivers.firmware import framing
from drivers.firmware import protocol as wire
from drivers.link import frames, link
from drivers.link.frames import Welcome

Golden = dict[str, Any]

FRAMES: list[Golden] = json.loads((Path(link.__file__).parent / "golden.json").read_text())[
    "frames"
]
COMMANDS = {command.kind: command for command in frames.BoardCommand.__subclasses__()}


def value(number: int | str) -> int | bytes:
    return bytes.fromhex(number) if isinstance(number, str) else number


def layouts(golden: Golden) -> dict[str, str]:
    kind = getattr(wire, golden["kind"])
    more = ">"
    if golden["name"].startswith("status of a"):
        board = wire.KIND_DEALER if "dealer" in golden["name"] else wire.KIND_READER
        more = wire.STATUS_BODIES[board]
    elif golden["name"].startswith("read "):
        more = wire.READ_BODY
    header = wire.HOST_HEADER if golden["from"] == "host" else wire.BOARD_HEADER
    return {"header": header, "body": wire.BODIES[kind], "more": more}


def test_fields_pack_into_the_payload_and_the_payload_into_the_frame(
    subtests: pytest.Subtests,
) -> None:
    for golden in FRAMES:
        with subtests.test(golden["name"]):
            payload = b"".join(
                struct.pack(layout, *(value(number) for _, number in golden[part]))
                for part, layout in layouts(golden).items()
            )
            assert payload.hex() == golden["payload"]
            assert framing.encode(payload).hex() == golden["frame"]


def test_the_frame_unpacks_into_the_payload_and_the_payload_into_fields(
    subtests: pytest.Subtests,
) -> None:
    for golden in FRAMES:
        with subtests.test(golden["name"]):
            [payload] = framing.Decoder().feed(bytes.fromhex(golden["frame"]))
            assert payload.hex() == golden["payload"]
            at = 0
            for part, layout in layouts(golden).items():
                fields = struct.unpack_from(layout, payload, at)
                assert list(fields) == [value(number) for _, number in golden[part]]
                at += struct.calcsize(layout)
            assert at == len(payload)


def test_the_host_sends_it(subtests: pytest.Subtests) -> None:
    for golden in [row for row in FRAMES if row["from"] == "host"]:
        with subtests.test(golden["name"]):
            header = [number for _, number in golden["header"]]
            fields = [number for _, number in golden["body"]]
            command = COMMANDS[header[0]](*fields) if header[0] in COMMANDS else None
            kind, session, number, seen, kept = header
            assert (
                frames.encode_host_frame(kind, session, number, seen, kept, command).hex()
                == golden["frame"]
            )
            if command is not None:
                assert list(msgspec.structs.asdict(command)) == [name for name, _ in golden["body"]]


def test_the_host_understands_it(subtests: pytest.Subtests) -> None:
    for golden in [row for row in FRAMES if row["from"] == "board"]:
        with subtests.test(golden["name"]):
            decoded = frames.decode_board_frame(bytes.fromhex(golden["payload"]), "dealer")
            assert decoded is not None
            session, frame = decoded
            assert session == dict(golden["header"])["session"]
            if isinstance(frame, frames.BoardReply):
                more = bytes.fromhex(golden["payload"])[wire.BOARD_HEADER_SIZE + 3 :]
                assert [frame.number, frame.result, frame.body] == [
                    *(number for _, number in golden["body"]),
                    more,
                ]
            elif not isinstance(frame, Welcome):
                fields = [*golden["body"], *golden["more"]]
                known = list(msgspec.structs.astuple(frame))
                assert (known[1:] if isinstance(frame, BoardEvent) else known) == [
                    number for _, number in fields
                ]


def test_a_welcome_is_understood_field_by_field() -> None:
    [golden] = [row for row in FRAMES if row["name"] == "welcome of a dealer board"]
    decoded = frames.decode_board_frame(bytes.fromhex(golden["payload"]), "dealer")
    assert decoded is not None
    body = dict(golden["body"])
    assert decoded[1] == Welcome(
        kind="dealer",
        hal="rp2",
        uid=body["uid"],
        firmware="0.1.0",
        firmware_hash=body["firmware_hash"],
        protocol=wire.PROTOCOL_HASH.hex(),
        boot=body["boot"],
        settings_crc=body["settings_crc"],
        reset_cause=body["reset_cause"],
        attempt=body["attempt"],
        events=body["events"],
        fed=body["fed"],
        landed=body["landed"],
        forgotten=body["forgotten"],
    )


def test_every_kind_of_frame_every_event_and_both_boards_are_there() -> None:
    assert {getattr(wire, row["kind"]) for row in FRAMES} == set(wire.BODIES)
    decoded = [frames.decode_board_frame(bytes.fromhex(row["payload"]), "dealer") for row in FRAMES]
    events = [frame[1] for frame in decoded if frame and isinstance(frame[1], BoardEvent)]
    assert {int(event.code) for event in events} == set(wire.EVENTS)
    assert any(isinstance(event, CardReadEvent) and not event.is_readable for event in events)
    assert sum(row["name"].startswith("status of a") for row in FRAMES) == len(wire.STATUS_BODIES)
