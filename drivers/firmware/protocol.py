"""The serial protocol: ids, sizes and field layouts of every frame.

The boards and the host share this file, so it must run on MicroPython. drivers/link/PROTOCOL.md
explains each frame; this file defines its exact layout. PROTOCOL_HASH is computed from it: programs
with different layouts never move a card. All numbers are big-endian. Times are whole milliseconds.
"""

import hashlib
import struct

VERSION = 1

# Kinds of frame, host to board.
HELLO = 0x01
BEAT = 0x02
STOP = 0x03
# Numbered commands: acknowledged, retransmitted, done once.
BEGIN = 0x10
SHUFFLE = 0x11
FEED = 0x12
ROUTE = 0x13
RELEASE = 0x14
RETRACT = 0x15
PURGE = 0x16
SELFTEST = 0x17
CONFIGURE = 0x18
STATUS = 0x19
REREAD = 0x1A
LOOK = 0x1B
SERVICE = 0x1C
# Kinds of frame, board to host.
WELCOME = 0x81
ALIVE = 0x82
ACK = 0x83
EVENT = 0x84
NO_SESSION = 0x85

# Events.
AT_READER = 0x01
DOUBLE = 0x02
GATE = 0x03
LANDED = 0x04
STRAY = 0x05
POCKET = 0x06
JAM = 0x07
HOPPER_EMPTY = 0x08
SHUFFLED = 0x09
RELEASED = 0x0A
LID = 0x0B
STALL = 0x0C
STOPPED = 0x0D
DRIVE = 0x0E
READ = 0x20
ENGINE = 0x21

EVENTS = {
    AT_READER: "AT_READER",
    DOUBLE: "DOUBLE",
    GATE: "GATE",
    LANDED: "LANDED",
    STRAY: "STRAY",
    POCKET: "POCKET",
    JAM: "JAM",
    HOPPER_EMPTY: "HOPPER_EMPTY",
    SHUFFLED: "SHUFFLED",
    RELEASED: "RELEASED",
    LID: "LID",
    STALL: "STALL",
    STOPPED: "STOPPED",
    DRIVE: "DRIVE",
    READ: "READ",
    ENGINE: "ENGINE",
}

# Boards.
KIND_DEALER = 1
KIND_READER = 2

# The hardware behind the pins.
HAL_SIM = 0
HAL_RP2 = 1
HAL_ADAPTER = 2  # A program that drives bought parts: no pins of its own.

# Outlets, in the order of play; TRAY is the fifth. NOWHERE: no outlet.
NORTH = 0
WEST = 1
SOUTH = 2
EAST = 3
TRAY = 4
NOWHERE = 0xFF
OUTLETS = 5

# Sources of a FEED.
HOPPER = 0
FROM_TRAY = 1

# Places of a JAM.
AT_FEEDER = 0
AT_WINDOW = 1
AT_GATE = 2
AT_LANDING = 3
AT_TRAY_FEEDER = 4
AT_SHUFFLER = 5
AT_LIFT = 6

# Motors of a STALL.
MOTOR_FEED = 0
MOTOR_PASS = 1
MOTOR_GATE = 2
MOTOR_SHUFFLE = 3
MOTOR_LIFT = 4

# Reasons of a STOPPED.
BY_HOST = 0
HOST_SILENT = 1
BY_ESTOP = 2
BY_LID = 3
MEMORY_FULL = 4
BY_JAM = 5
BY_STALL = 6
BY_SUPPLY = 7
EDGES_LOST = 8
BY_DRIVE = 9

# Reset causes in a WELCOME.
RESET_POWER = 0
RESET_WATCHDOG = 1
RESET_SOFT = 2

# Results of an ACK: DONE, or the reason of a refusal.
DONE = 0
NOT_CLEAR = 1
WRONG_ATTEMPT = 2
WRONG_INDEX = 3
ROUTE_DIFFERS = 4
NOT_LOCKED = 5
LID_OPEN = 6
ESTOP = 7
BUSY = 8
BAD_VALUE = 9
UNKNOWN = 10
MEMORY = 11
NO_ENGINE = 12
SUPPLY_LOW = 13
NO_DRIVE = 14

RESULTS = {
    DONE: "DONE",
    NOT_CLEAR: "NOT_CLEAR",
    WRONG_ATTEMPT: "WRONG_ATTEMPT",
    WRONG_INDEX: "WRONG_INDEX",
    ROUTE_DIFFERS: "ROUTE_DIFFERS",
    NOT_LOCKED: "NOT_LOCKED",
    LID_OPEN: "LID_OPEN",
    ESTOP: "ESTOP",
    BUSY: "BUSY",
    BAD_VALUE: "BAD_VALUE",
    UNKNOWN: "UNKNOWN",
    MEMORY: "MEMORY",
    NO_ENGINE: "NO_ENGINE",
    SUPPLY_LOW: "SUPPLY_LOW",
    NO_DRIVE: "NO_DRIVE",
}

# Faces on the line: suit * 13 + rank for spades, hearts, clubs, diamonds and ranks 2…A, then the
# two jokers. UNREADABLE: the engine recognized no face.
FACES = 54
UNREADABLE = 0xFF
BACK_A = 0
BACK_B = 1
BACK_FOREIGN = 2

# Bits of the sensors field of a STATUS.
SEES_NORTH = 0x0001
SEES_WEST = 0x0002
SEES_SOUTH = 0x0004
SEES_EAST = 0x0008
SEES_TRAY = 0x0010
SEES_HOPPER = 0x0020
SEES_WINDOW = 0x0040
SEES_PATH = 0x0080
SEES_LID_OPEN = 0x0100
SEES_ESTOP = 0x0200
SEES_LIFT_UP = 0x0400
SEES_SHUFFLER = 0x0800
SEES_LIFT_DOWN = 0x1000
SEES_SUPPLY_LOW = 0x2000

# The meaning of each of these bits, from bit 0.
SENSORS = (
    "pocket N",
    "pocket W",
    "pocket S",
    "pocket E",
    "tray",
    "hopper",
    "window",
    "path",
    "lid open",
    "e-stop",
    "lift up",
    "shuffler",
    "lift down",
    "supply low",
)

# Activity of a board, in STATUS and ALIVE.
IDLE = 0
SHUFFLING = 1
FEEDING = 2
HOLDING = 3
PASSING = 4
LIFTING = 5
STOPPED_STATE = 6

HOST_HEADER = ">BIHII"  # kind, session, number, seen, kept
BOARD_HEADER = ">BI"  # kind, session

# Bodies, by kind of frame. Host frames follow HOST_HEADER, board frames BOARD_HEADER.
BODIES = {
    HELLO: ">",
    BEAT: ">",
    STOP: ">",
    BEGIN: ">IBB",  # attempt, cards, cards per pocket
    SHUFFLE: ">IB",  # attempt, passes
    FEED: ">IBB",  # attempt, source, upto (the last index to feed)
    ROUTE: ">IBB",  # attempt, index, pocket
    RELEASE: ">I",  # attempt
    RETRACT: ">",
    PURGE: ">I",  # attempt
    SELFTEST: ">",
    CONFIGURE: ">BI",  # setting, value
    STATUS: ">",
    REREAD: ">IB",  # attempt, index
    LOOK: ">IB",  # attempt, index
    SERVICE: ">",
    # kind of board, hal, unique id, version, firmware hash, protocol hash, boot, configuration crc,
    # reset cause, attempt, last event, cards fed and landed in its life, kept (last event
    # forgotten), asked (no trigger wire: LOOK announces cards)
    WELCOME: ">BB8s3s8s8sIIBIIIIIB",
    ALIVE: ">IIB",  # boot, last event, doing
    ACK: ">HB",  # number, result; the body of a STATUS follows its DONE
    EVENT: ">IIIBBBBB",  # boot, event number, attempt, code, in, out, index, place
    # boot, the session the board has (0: none); the header's session is the refused one
    NO_SESSION: ">II",
}

# A READ is an EVENT followed by: face, back, face up, confidence 0…255.
READ_BODY = ">BBBB"

# The answer to STATUS, by kind of board.
STATUS_BODIES = {
    # attempt, doing, source, upto, fed, index at the hold point (0: none), its route,
    # landed N W S E tray, strays, doubles, sensors, last event, locked
    KIND_DEALER: ">IBBBBBBBBBBBBBHIB",
    # attempt, doing, pulses, reads, last event
    KIND_READER: ">IBBBI",
}

# Settings for CONFIGURE: id -> (name, default, minimum, maximum); in milliseconds, except
# jam_retries and asked.
DEALER_SETTINGS = {
    1: ("silence_ms", 500, 200, 2000),
    2: ("feed_limit_ms", 600, 50, 5000),
    3: ("pass_limit_ms", 400, 20, 5000),
    4: ("landing_window_ms", 400, 20, 2000),
    5: ("gate_limit_ms", 400, 20, 2000),
    6: ("shuffle_limit_ms", 20000, 1000, 60000),
    7: ("lift_limit_ms", 5000, 500, 20000),
    8: ("jam_retries", 2, 0, 2),
    9: ("alive_ms", 100, 50, 400),
}
READER_SETTINGS = {
    1: ("silence_ms", 500, 200, 2000),
    2: ("read_limit_ms", 200, 20, 1000),
    3: ("asked", 0, 0, 1),
    9: ("alive_ms", 100, 50, 400),
}
SETTINGS = {KIND_DEALER: DEALER_SETTINGS, KIND_READER: READER_SETTINGS}

# Limit of unacknowledged events sent at once, and the delays before resending.
EVENT_WINDOW = 8
RESEND_MIN_MS = 50
RESEND_MAX_MS = 400
# Events a board stores until the host has saved them: a whole attempt.
EVENT_MEMORY = 1024


def layout() -> bytes:
    """Return the definitions of the protocol as bytes, from which PROTOCOL_HASH is computed."""
    parts = ["dealtable wire %d" % VERSION, HOST_HEADER, BOARD_HEADER, READ_BODY]
    for kind in sorted(BODIES):
        parts.append("%02x%s" % (kind, BODIES[kind]))
    for names in (EVENTS, RESULTS):
        for code in sorted(names):
            parts.append("%02x %s" % (code, names[code]))
    parts.extend(SENSORS)
    for board in sorted(STATUS_BODIES):
        parts.append("%d%s" % (board, STATUS_BODIES[board]))
        for setting in sorted(SETTINGS[board]):
            parts.append("%d %s" % (setting, SETTINGS[board][setting][0]))
    return "\n".join(parts).encode()


PROTOCOL_HASH = hashlib.sha256(layout()).digest()[:8]


def pack_host_frame(
    kind: int, session: int, number: int, seen: int, kept: int, *fields: int
) -> bytes:
    """Return one frame of the host without COBS and CRC. `fields` are the values for BODIES[kind].
    `seen` is the last event that the host received, `kept` the last event on the host's disk.
    """
    return struct.pack(HOST_HEADER, kind, session, number, seen, kept) + struct.pack(
        BODIES[kind], *fields
    )


def next_number(number: int) -> int:
    """Return the number of the command after command `number`: 1 after 65535, never 0."""
    return number % 0xFFFF + 1


HOST_HEADER_SIZE = struct.calcsize(HOST_HEADER)
BOARD_HEADER_SIZE = struct.calcsize(BOARD_HEADER)
EVENT_SIZE = struct.calcsize(BODIES[EVENT])
