"""The configuration of a table (table.toml) and of a simulated table (sim.toml).

`load_table` and `load_sim` check everything that can be checked from the file alone. A missing
port, board or folder is a fault that the running table reports. Relative paths count from the
file's folder.
"""

from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, field

from controller.gateway_protocol import SOCKET_NAME
from controller.host import toml_files
from controller.messages import ReaderTrigger

RUNTIME_ROOT = Path("/run/dealtable")

# The path of a Unix socket in or beside the runtime directory must fit into 107 bytes.
_MAX_RUNTIME_DIR_BYTES = 80
_GATEWAY_FOLDER_SUFFIX = ".gateway"


def matching(pattern: str, description: str) -> Meta:
    """Return msgspec's `Meta` for a text that must match `pattern`.

    Errors show the `description` of the expected text.
    """
    return Meta(pattern=pattern, description=description)


ShortName = Annotated[
    str,
    matching(r"^[A-Za-z0-9][A-Za-z0-9_-]{0,23}$", "a name of at most 24 letters, digits, - and _"),
]
BoardId = Annotated[str, matching(r"^[0-9a-f]{16}$", "16 hexadecimal digits, lower case")]
UsbSerial = Annotated[
    str,
    matching(
        r"^[A-Za-z0-9][A-Za-z0-9._:-]{0,63}$",
        "a USB serial number of at most 64 letters, digits, ., _, : and -",
    ),
]
FirmwareHash = Annotated[
    str, matching(r"^[0-9a-f]{16}$", "a firmware's hash, 16 hexadecimal digits, lower case")
]
BindAddress = Annotated[
    str,
    matching(
        r"^tcp://[^\s/:]+:(\*|\d{1,5})$", 'an address like "tcp://*:5556" (port *: any free port)'
    ),
]
METRICS_OFF = "off"
LoopbackAddress = Annotated[
    str,
    matching(
        r"^(off|tcp://(127\.\d+\.\d+\.\d+|localhost|\[::1\]):(\*|\d{1,5}))$",
        '"off", or an address of this computer alone like "tcp://127.0.0.1:9556" '
        "(port *: any free port)",
    ),
]
PinFactoryName = Annotated[
    str, matching(r"^(lgpio|mock|unix:.+)$", '"lgpio", "mock" or "unix:PATH"')
]
GpioNumber = Annotated[int, Meta(ge=2, le=27, description="a GPIO number from 2 to 27")]
NonEmptyText = Annotated[str, Meta(min_length=1, description="text")]
UserName = Annotated[
    str,
    matching(
        r"^([A-Za-z_][A-Za-z0-9_-]{0,31}|\d{1,9})$", "a user of this computer, by name or number"
    ),
]


class ConfigError(toml_files.FileError):
    """The error for a configuration file that cannot be read or is wrong. Its text is one line."""


class TableSection(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The identity of a table, and its folders.

    `backend` is the kind of boards that the table must have. `event` is the file with the
    regulations of the tournament, if there are any. These regulations take precedence over the
    rulebook `profile`. The files in `state_dir` stay after a restart. `runtime_dir` is in memory.
    `user` is the user that runs the machine, if another user runs the gateway.
    """

    id: ShortName
    profile: NonEmptyText
    backend: Literal["sim", "serial"]
    state_dir: Path
    event: Path | None = None
    match: NonEmptyText = "practice"
    runtime_dir: Path = Path()
    user: UserName | None = None

    def __post_init__(self) -> None:
        """Set the default of `runtime_dir`, and refuse a `runtime_dir` that cannot be used.

        It must be outside `state_dir`, and short enough for the path of a socket.
        """
        if self.runtime_dir == Path():
            msgspec.structs.force_setattr(self, "runtime_dir", RUNTIME_ROOT / self.id)
        if self.runtime_dir.is_relative_to(self.state_dir):
            raise ValueError("runtime_dir: expected a path outside state_dir, in memory")
        if len(str(self.runtime_dir).encode()) > _MAX_RUNTIME_DIR_BYTES:
            raise ValueError(f"runtime_dir: expected at most {_MAX_RUNTIME_DIR_BYTES} bytes")


class BoardSection(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The port of a board, and the identity that the board must report.

    `firmware` is the hash that the board must report. The default is the hash of the firmware that
    belongs to this program. `settings_crc` is the checksum of the settings that the board must
    have. If a USB adapter connects the board, `usb` is the serial number of this adapter. udev uses
    this number to give the port its name.
    """

    port: NonEmptyText
    id: BoardId
    baud: Annotated[int, Meta(ge=9600, le=4_000_000)] = 921_600
    firmware: FirmwareHash | None = None
    settings_crc: Annotated[int, Meta(ge=0, le=0xFFFF_FFFF)] | None = None
    usb: UsbSerial | None = None


DEFAULT_LOOK_MS: dict[ReaderTrigger, int] = {"wire": 300, "asked": 500}
"""The default time within which both boards must report a card, in ms."""


class ReaderSection(BoardSection, frozen=True, forbid_unknown_fields=True):
    """The reader board, and the signal that starts each look: a trigger wire or a request.

    The trigger wire comes from the dealer board. A reader without this wire (`dealtable adapter
    barcode`) receives one request for each card. `look_ms` is the time limit of the reader's answer
    in ms. After this time the card goes to the tray. With a trigger wire this limit is 300 ms.
    """

    trigger: ReaderTrigger = "wire"
    look_ms: Annotated[int, Meta(ge=100, le=2000)] | None = None

    def __post_init__(self) -> None:
        """Refuse `look_ms` for a reader with a trigger wire: the limit is then fixed."""
        if self.trigger == "wire" and self.look_ms is not None:
            raise ValueError('look_ms: expected nothing, or trigger = "asked"')

    @property
    def look_s(self) -> float:
        """The maximum time between the two boards' reports of the same card, in seconds."""
        return (self.look_ms or DEFAULT_LOOK_MS[self.trigger]) / 1000


class PanelSection(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The GPIO numbers of the panel's wires, and `pins`, which selects real or simulated pins.

    deploy/table.toml has an example. Each seat has a green and a red button. The keys `lamp_*` are
    the lamps of the stack light.
    """

    pins: PinFactoryName
    lid: GpioNumber = 5
    estop: GpioNumber = 6
    start: GpioNumber = 13
    north_green: GpioNumber = 17
    north_red: GpioNumber = 27
    west_green: GpioNumber = 22
    west_red: GpioNumber = 10
    south_green: GpioNumber = 9
    south_red: GpioNumber = 11
    east_green: GpioNumber = 19
    east_red: GpioNumber = 26
    lamp_red: GpioNumber = 16
    lamp_amber: GpioNumber = 20
    lamp_green: GpioNumber = 21
    buzzer: GpioNumber = 12

    def __post_init__(self) -> None:
        """Refuse a GPIO number that is used twice."""
        users: dict[int, str] = {}
        for key, value in msgspec.structs.asdict(self).items():
            if isinstance(value, int) and users.setdefault(value, key) != key:
                raise ValueError(f"{key} = {value}: expected another pin than {users[value]}")


class CardSetSection(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A set of cards of this table: its name, and the design on the backs of its cards."""

    id: ShortName
    back: Literal["A", "B"]


CardSetSections = Annotated[
    tuple[CardSetSection, ...],
    Meta(
        min_length=1,
        max_length=9,
        description="one to nine [[card_set]] tables, each with id and back",
    ),
]


def _refuse_duplicate_set_ids(card_sets: tuple[CardSetSection, ...]) -> None:
    first: dict[str, int] = {}
    for number, card_set in enumerate(card_sets):
        known = first.setdefault(card_set.id, number)
        if known != number:
            raise ValueError(f"card_set[{number}].id: expected another one than card_set[{known}]")


class GatewaySection(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The addresses of the feed and of the commands, and the local address of the metrics.

    By default the metrics have any free port, so that one computer can run several tables. The file
    endpoints.json contains this port. `dir` is the folder of the gateway's keys, of the admitted
    clients and of endpoints.json. The default of `dir` is `state_dir`. If the gateway and the
    machine run as two users, `user` is the gateway's user. If `announce` is true, the table
    publishes its addresses and public keys on the network (multicast DNS).
    """

    feed: BindAddress = "tcp://*:5556"
    commands: BindAddress = "tcp://*:5557"
    metrics: LoopbackAddress = "tcp://127.0.0.1:*"
    dir: Path | None = None
    user: UserName | None = None
    announce: bool = False


class PlaySection(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The settings of play: whether the machine deals ahead.

    If `deal_ahead` is true, the machine deals the next deal from a second set of cards while people
    play the present deal.
    """

    deal_ahead: bool = False


class LimitsSection(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Times in seconds after which the table calls a referee. The values are provisional.

    `cut_s` is the limit for the cut. The deal does not begin before the cut. `take_s` is the limit
    for the release of held hands. `result_s` is the limit until both sides have confirmed a result.
    The next hands are not released before this. `slow_deal_s` is the limit for a whole deal
    (本副过慢), and much longer than a usual deal. `out_s` is the limit until an opponent confirms
    that a player is out. This limit is short because play continues and people forget.
    """

    cut_s: Annotated[float, Meta(ge=5, le=600)] = 60.0
    take_s: Annotated[float, Meta(ge=10, le=600)] = 60.0
    result_s: Annotated[float, Meta(ge=10, le=600)] = 60.0
    slow_deal_s: Annotated[float, Meta(ge=120, le=3600)] = 720.0
    out_s: Annotated[float, Meta(ge=5, le=120)] = 20.0


class TableConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The content of a table.toml.

    The first of `card_sets` is in the machine at the start, unless the journal names another set.
    """

    table: TableSection
    dealer: BoardSection
    reader: ReaderSection
    panel: PanelSection
    card_sets: CardSetSections = field(name="card_set")
    gateway: GatewaySection = field(default_factory=GatewaySection)
    play: PlaySection = field(default_factory=PlaySection)
    limits: LimitsSection = field(default_factory=LimitsSection)

    def __post_init__(self) -> None:
        """Refuse sections that contradict each other, such as two boards with the same port.

        Two sets with one id, users that are not separate, and `deal_ahead` with sets of only one
        back are refused, too.
        """
        for key in ("port", "id"):
            if getattr(self.dealer, key) == getattr(self.reader, key):
                raise ValueError(f"reader.{key}: expected another one than dealer.{key}")
        _refuse_duplicate_set_ids(self.card_sets)
        if self.play.deal_ahead and len({card_set.back for card_set in self.card_sets}) == 1:
            raise ValueError(
                "play.deal_ahead: expected two card_set, one of back A and one of back B: "
                "the reader distinguishes them by their backs"
            )
        _require_separate_users(self)

    @property
    def gateway_dir(self) -> Path:
        """The folder that contains the gateway's keys, the folder admitted/, and endpoints.json."""
        return self.gateway.dir or self.table.state_dir

    @property
    def socket(self) -> Path:
        """The path of the machine's Unix socket, in the runtime directory or in a folder beside it.

        If machine and gateway run as two users, the gateway cannot read the runtime directory. The
        socket is then in a separate folder beside the runtime directory, which contains nothing
        else.
        """
        folder = self.table.runtime_dir
        beside = folder.with_name(folder.name + _GATEWAY_FOLDER_SUFFIX)
        return (folder if self.gateway.user is None else beside) / SOCKET_NAME


class SimTableSection(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A simulated table: its id, its boards, and whether a simulated person works at the table.

    `firmware` is the interpreter that runs the boards' firmware. If `attendant` is true, a
    simulated person takes the hands, loads cards and clears the machine. Tests and people control
    the simulation through the Unix socket `control`. If `control` is left out, the socket is in a
    new runtime directory.
    """

    id: ShortName = "T01"
    firmware: Literal["cpython", "micropython"] = "cpython"
    attendant: bool = True
    dealer_id: BoardId = "00000000000000d1"
    reader_id: BoardId = "00000000000000e1"
    control: Path | None = None


class MechanicsSection(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The simulated mechanics: number of cards, speed and wear.

    A set has `packs` packs, with or without jokers. If `cards` is given, the set has only this
    number of cards. A higher `speed` shortens the times of the mechanics, and no other times. At
    speed 1, a card takes about 100 ms.
    """

    packs: Annotated[int, Meta(ge=1, le=4)] = 2
    jokers: bool = True
    cards: Annotated[int, Meta(ge=4, le=216)] | None = None
    speed: Annotated[float, Meta(ge=0.1, le=1000)] = 1.0
    seed: Annotated[int, Meta(ge=0)] = 0
    wear: Literal["ideal", "worn", "hostile"] = "ideal"


class SimConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The content of a sim.toml. Each [[fault]] is a fault that the simulator can produce.

    At the start the set of the first [[card_set]] is in the hopper. Other sets are beside it.
    """

    sim: SimTableSection = field(default_factory=SimTableSection)
    mechanics: MechanicsSection = field(default_factory=MechanicsSection)
    card_sets: CardSetSections = field(
        name="card_set", default=(CardSetSection(id="S1", back="A"),)
    )
    faults: list[dict[str, Any]] = field(default_factory=list, name="fault")

    def __post_init__(self) -> None:
        """Refuse two sets with the same id."""
        _refuse_duplicate_set_ids(self.card_sets)


def _require_separate_users(config: TableConfig) -> None:
    """Refuse users and folders that do not separate the machine from the gateway.

    Both users or neither must be given. They must differ, and their folders must not overlap.
    """
    machine, gateway, place = config.table.user, config.gateway.user, config.gateway.dir
    if machine is None and gateway is not None:
        raise ValueError("table.user: missing, expected the machine's user beside gateway.user")
    if gateway is None and machine is not None:
        raise ValueError("gateway.user: missing, expected the gateway's user beside table.user")
    if gateway is not None and gateway == machine:
        raise ValueError("gateway.user: expected another user than table.user")
    if gateway is not None and place is None:
        raise ValueError("gateway.dir: missing, expected a folder that gateway.user can read")
    if place is not None and _overlap(place, config.table.runtime_dir):
        raise ValueError("gateway.dir: expected a folder apart from table.runtime_dir")
    if place is not None and gateway is not None and _overlap(place, config.table.state_dir):
        raise ValueError("gateway.dir: expected a folder apart from table.state_dir")


def _overlap(one: Path, other: Path) -> bool:
    return one.is_relative_to(other) or other.is_relative_to(one)


def load_table(path: Path) -> TableConfig:
    """Return the configuration in a table.toml. Raises ConfigError with one line of text."""
    return toml_files.read(path, TableConfig, ConfigError)


def load_sim(path: Path) -> SimConfig:
    """Return the configuration in a sim.toml. Raises ConfigError with one line of text."""
    return toml_files.read(path, SimConfig, ConfigError)
