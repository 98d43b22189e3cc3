"""PROTOCOL.md against wire.py, link.py and errors.py: a table that drifts fails here."""

import re
import struct
from pathlib import Path

from drivers import errors
from drivers.firmware import framing, protocol
from drivers.link import link, link_state
from drivers.link.frames import BoardResult

TEXT = (Path(link.__file__).parent / "PROTOCOL.md").read_text()
LETTERS = {"u8": "B", "u16": "H", "u32": "I", "bytes3": "3s", "bytes8": "8s"}


def table(*heads: str) -> list[list[str]]:
    """Return the rows of the table whose header row is `heads`."""
    lines = iter(TEXT.splitlines())
    header = "| " + " | ".join(heads) + " |"
    assert TEXT.count(header + "\n") == 1, header
    for line in lines:
        if line == header:
            break
    next(lines)
    rows = []
    for line in lines:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in line.strip("|").split("|")])
    return rows


def layout(fields: str) -> str:
    return ">" + "".join(LETTERS[field.split()[1]] for field in fields.split(", ") if field)


def test_the_headers_are_those_of_the_wire() -> None:
    headers = dict(table("from", "header"))
    assert layout(headers["host"]) == protocol.HOST_HEADER
    assert layout(headers["board"]) == protocol.BOARD_HEADER


def test_the_tables_of_frames_are_those_of_the_wire() -> None:
    host = {row[0]: (row[1], row[3]) for row in table("name", "id", "to", "body", "when legal")}
    board = {row[0]: (row[1], row[2]) for row in table("name", "id", "body", "when")}
    named = {
        name: (int(number, 16), layout(body)) for name, (number, body) in (host | board).items()
    }
    assert named == {
        name: (getattr(protocol, name), protocol.BODIES[getattr(protocol, name)]) for name in named
    }
    assert {number for number, _ in named.values()} == set(protocol.BODIES)
    assert all(number < protocol.WELCOME for number, _ in map(named.__getitem__, host))


def test_the_answers_to_status_are_those_of_the_wire() -> None:
    kinds = {"dealer": protocol.KIND_DEALER, "reader": protocol.KIND_READER}
    rows = {kinds[board]: layout(status) for board, status in table("board", "status")}
    assert rows == protocol.STATUS_BODIES


def test_the_sensors_in_a_status_are_those_of_the_wire() -> None:
    [named] = re.findall(r"`sensors`, from bit 0:\n([^.]*)\.", TEXT)
    assert tuple(named.split(", ")) == protocol.SENSORS
    bits = {value for name, value in vars(protocol).items() if name.startswith("SEES_")}
    assert bits == {1 << bit for bit in range(len(protocol.SENSORS))}


def test_the_tables_of_results_and_events_are_those_of_the_wire() -> None:
    results = {int(row[1], 16): row[0] for row in table("result", "id", "means")}
    assert results == protocol.RESULTS
    events = {
        int(row[1], 16): row[0] for row in table("name", "id", "board", "index", "place", "means")
    }
    assert events == protocol.EVENTS
    assert {int(result): result.name for result in BoardResult} == protocol.RESULTS


def test_the_read_that_follows_an_event_is_that_of_the_wire() -> None:
    [fields] = re.findall(r"READ continues with: ([^.]*)\.", TEXT)
    assert layout(fields) == protocol.READ_BODY


def test_the_settings_are_those_of_the_wire() -> None:
    kinds = {"dealer": protocol.KIND_DEALER, "reader": protocol.KIND_READER}
    settings: dict[int, dict[int, tuple[str, int, int, int]]] = {
        kind: {} for kind in protocol.SETTINGS
    }
    for board, number, name, *bounds in table("board", "id", "setting", "default", "least", "most"):
        default, least, most = map(int, bounds)
        settings[kinds[board]][int(number)] = (name, default, least, most)
    assert settings == protocol.SETTINGS


def test_the_times_are_those_the_host_keeps() -> None:
    rows = {row[0]: row[1] for row in table("limit", "ms", "side", "means")}
    timing = link_state.LinkLimits()
    assert rows["resend"] == ", ".join(map(str, timing.resend_ms))
    assert rows["event resend"] == f"{protocol.RESEND_MIN_MS} … {protocol.RESEND_MAX_MS}"
    for limit in ("beat", "seen", "silence", "settle"):
        assert int(rows[limit]) == getattr(timing, f"{limit}_ms")
    assert int(rows["alive"]) == protocol.DEALER_SETTINGS[9][1] == protocol.READER_SETTINGS[9][1]


def test_every_error_the_host_raises_stands_in_the_document() -> None:
    named = {name for row in table("the host raises", "when") for name in row[0].split(", ")}
    closed = {
        name
        for name, value in vars(errors).items()
        if isinstance(value, type) and issubclass(value, errors.DriverError)
    }
    assert named == closed - {"DriverError", "Mismatch"}


def test_sizes_and_counts_in_the_text_are_those_of_the_code() -> None:
    assert f"1 to {framing.MAX_PAYLOAD} bytes" in TEXT
    assert f"at most {framing.MAX_ENCODED} bytes" in TEXT
    assert f"at most {protocol.EVENT_WINDOW}, after" in TEXT
    assert f"at least {protocol.EVENT_MEMORY} events" in TEXT
    assert re.search(r"0 N, 1 W, 2 S, 3 E, 4 tray", TEXT)


def test_the_longest_frame_of_the_wire_fits() -> None:
    board = {kind: struct.calcsize(body) for kind, body in protocol.BODIES.items()}
    board[protocol.EVENT] += struct.calcsize(protocol.READ_BODY)
    board[protocol.ACK] += max(map(struct.calcsize, protocol.STATUS_BODIES.values()))
    assert max(board.values()) + protocol.HOST_HEADER_SIZE <= framing.MAX_PAYLOAD
