"""The configuration of a table (table.toml) and of a simulated one (sim.toml).

All that the file alone shows is checked here; whether a port, a board or a folder
is really there is seen when the table runs, and is a fault then. Relative paths
count from the file's folder.
"""

from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, field

from controller.gateway_protocol import SOCKET_NAME
from controller.host import toml_files

RUNTIME_ROOT = Path("/run/dealtable")

# Where a Unix socket in the runtime directory, or beside it, must still find room (107 bytes).
_MAX_RUNTIME_DIR_BYTES = 80
_GATEWAY_FOLDER_SUFFIX = ".gateway"

ShortName = Annotated[
    str,
    Meta(
        pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,23}$",
        description="a name of at most 24 letters, digits, - and _",
    ),
]
BoardId = Annotated[
    str, Meta(pattern=r"^[0-9a-f]{16}$", description="16 hexadecimal digits, lower case")
]
UsbSerial = Annotated[
    str,
    Meta(
        pattern=r"^[A-Za-z0-9][A-Za-z0-9._:-]{0,63}$",
        description="a USB serial number of at most 64 letters, digits, ., _, : and -",
    ),
]
FirmwareHash = Annotated[
    str,
    Meta(
        pattern=r"^[0-9a-f]{16}$",
        description="a firmware's hash, 16 hexadecimal digits, lower case",
    ),
]
BindAddress = Annotated[
    str,
    Meta(
        pattern=r"^tcp://[^\s/:]+:(\*|\d{1,5})$",
        description='an address like "tcp://*:5556", or with port * for any free one',
    ),
]
METRICS_OFF = "off"
LoopbackAddress = Annotated[
    str,
    Meta(
        pattern=r"^(off|tcp://(127\.\d+\.\d+\.\d+|localhost|\[::1\]):(\*|\d{1,5}))$",
        description='"off", or an address of this computer alone like "tcp://127.0.0.1:9556", '
        "or with port * for any free one",
    ),
]
PinFactoryName = Annotated[
    str,
    Meta(pattern=r"^(lgpio|mock|unix:.+)$", description='"lgpio", "mock" or "unix:PATH"'),
]
GpioNumber = Annotated[int, Meta(ge=2, le=27, description="a GPIO number from 2 to 27")]
NonEmptyText = Annotated[str, Meta(min_length=1, description="text")]
UserName = Annotated[
    str,
    Meta(
        pattern=r"^([A-Za-z_][A-Za-z0-9_-]{0,31}|\d{1,9})$",
        description="a user of this computer, by name or number",
    ),
]


class ConfigError(toml_files.FileError):
    """A configuration file cannot be used; its text is one line that says why."""


class TableSection(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which table this is and where it keeps things.

    `backend` says what its boards must be. `event` is the file of the event's own
    regulations over `profile`, where there is one. `state_dir` lasts, `runtime_dir` lies
    in memory: /run/dealtable/ID where the file does not say. `user` is whom the machine runs
    as, where the gateway is another user.
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
        """Fill in and check the runtime directory: in memory, and short enough for a socket."""
        if self.runtime_dir == Path():
            msgspec.structs.force_setattr(self, "runtime_dir", RUNTIME_ROOT / self.id)
        if self.runtime_dir.is_relative_to(self.state_dir):
            raise ValueError("runtime_dir: expected a path outside state_dir, in memory")
        if len(str(self.runtime_dir).encode()) > _MAX_RUNTIME_DIR_BYTES:
            raise ValueError(f"runtime_dir: expected at most {_MAX_RUNTIME_DIR_BYTES} bytes")


class BoardSection(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where to look for a board, and who must be there.

    `firmware` is the hash that the board must report; left out, it is the hash of the firmware
    that the program carries. `settings_crc` is compared if it is given. `usb` is the USB serial
    number of the adapter that the board hangs on, if it hangs on one: the computer names the port
    by it.
    """

    port: NonEmptyText
    id: BoardId
    baud: Annotated[int, Meta(ge=9600, le=4_000_000)] = 921_600
    firmware: FirmwareHash | None = None
    settings_crc: Annotated[int, Meta(ge=0, le=0xFFFF_FFFF)] | None = None
    usb: UsbSerial | None = None


ReaderTrigger = Literal["wire", "asked"]
DEFAULT_LOOK_MS: dict[ReaderTrigger, int] = {"wire": 300, "asked": 500}
"""How long a card may wait for both boards' words of it, where the file does not say."""


class ReaderSection(BoardSection, frozen=True, forbid_unknown_fields=True):
    """The reader board, and how it is told of a card: by the dealer board's wire, or asked.

    A reader without a trigger wire (`dealtable adapter barcode`) is asked once for each card.
    `look_ms` is how long that may take before the card goes to the tray; with a wire it is fixed.
    """

    trigger: ReaderTrigger = "wire"
    look_ms: Annotated[int, Meta(ge=100, le=2000)] | None = None

    def __post_init__(self) -> None:
        """Refuse another patience than the wire's where there is one."""
        if self.trigger == "wire" and self.look_ms is not None:
            raise ValueError('look_ms: expected nothing, or trigger = "asked"')

    @property
    def look_s(self) -> float:
        """How long a look may take, in seconds."""
        return (self.look_ms or DEFAULT_LOOK_MS[self.trigger]) / 1000


class PanelSection(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where the pins are, and which GPIO number each has (deploy/table.toml).

    A seat has a green and a red button; `lamp_*` are the stack light.
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
    """A set of cards of this table: its name, and the back that the reader knows it by."""

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
    """Where the feed and the commands are served, and the metrics to this computer alone.

    A free port, so that any number of tables go on one computer; endpoints.json says which.
    `dir` is where it finds its keys and who is admitted, and says its addresses: state_dir where
    the file does not say. `user` is whom it runs as, where that is not the machine's user.
    `announce`: the table says on the network where it is and which keys it has (multicast DNS).
    """

    feed: BindAddress = "tcp://*:5556"
    commands: BindAddress = "tcp://*:5557"
    metrics: LoopbackAddress = "tcp://127.0.0.1:*"
    dir: Path | None = None
    user: UserName | None = None
    announce: bool = False


class PlaySection(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How deals follow each other.

    `deal_ahead`: the next deal is dealt from another set while this one is played.
    """

    deal_ahead: bool = False


class LimitsSection(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How long people may take before the referee is called, in seconds. All provisional.

    `cut_s`: for the cut; without it the deal stands still. `take_s`: to take hands that
    are held; meanwhile nobody can look at them. `result_s`: until both sides confirm a
    result; the next hands wait for it. `slow_deal_s`: for a whole deal (本副过慢), well
    above what one takes. `out_s`: for an opponent to confirm that a player is out, short
    because play goes on and memories with it.
    """

    cut_s: Annotated[float, Meta(ge=5, le=600)] = 60.0
    take_s: Annotated[float, Meta(ge=10, le=600)] = 60.0
    result_s: Annotated[float, Meta(ge=10, le=600)] = 60.0
    slow_deal_s: Annotated[float, Meta(ge=120, le=3600)] = 720.0
    out_s: Annotated[float, Meta(ge=5, le=120)] = 20.0


class TableConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A whole table.toml.

    The first of `card_sets` lies in the machine when it starts, unless its journal says
    which one does.
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
        """Refuse boards, sets or users that are said to be one, and what needs two of them."""
        for key in ("port", "id"):
            if getattr(self.dealer, key) == getattr(self.reader, key):
                raise ValueError(f"reader.{key}: expected another one than dealer.{key}")
        _refuse_duplicate_set_ids(self.card_sets)
        if self.play.deal_ahead and len({card_set.back for card_set in self.card_sets}) == 1:
            raise ValueError(
                "play.deal_ahead: expected two card_set, one of back A and one of back B: "
                "the reader tells them apart by their backs"
            )
        _require_separate_users(self)

    @property
    def gateway_dir(self) -> Path:
        """Where the table's public key, the gateway's secret, admitted/ and endpoints.json lie."""
        return self.gateway.dir or self.table.state_dir

    @property
    def socket(self) -> Path:
        """The machine's Unix socket: in the runtime directory.

        Of two users the gateway sees nothing of that; the socket lies beside it, in a folder that
        holds nothing else.
        """
        folder = self.table.runtime_dir
        beside = folder.with_name(folder.name + _GATEWAY_FOLDER_SUFFIX)
        return (folder if self.gateway.user is None else beside) / SOCKET_NAME


class SimTableSection(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A simulated table: its name, its boards and what moves them.

    `firmware` is the interpreter the boards run under. `attendant`: a simulated
    person takes hands, loads cards and clears up. `control`: the Unix socket over
    which tests and people move things; None for one in a fresh runtime directory.
    """

    id: ShortName = "T01"
    firmware: Literal["cpython", "micropython"] = "cpython"
    attendant: bool = True
    dealer_id: BoardId = "00000000000000d1"
    reader_id: BoardId = "00000000000000e1"
    control: Path | None = None


class MechanicsSection(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The simulated mechanics: how many cards a set has, how fast they are, how worn.

    A set is `packs` packs with jokers or without, or `cards` cards of them, where given.
    `speed` divides the mechanics' own times alone; 1 is 100 ms a card.
    """

    packs: Annotated[int, Meta(ge=1, le=4)] = 2
    jokers: bool = True
    cards: Annotated[int, Meta(ge=4, le=216)] | None = None
    speed: Annotated[float, Meta(ge=0.1, le=1000)] = 1.0
    seed: Annotated[int, Meta(ge=0)] = 0
    wear: Literal["ideal", "worn", "hostile"] = "ideal"


class SimConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A whole sim.toml; each of `faults` is a fault of the simulator's menu.

    The first of `card_sets` lies in the hopper, the others beside the machine.
    """

    sim: SimTableSection = field(default_factory=SimTableSection)
    mechanics: MechanicsSection = field(default_factory=MechanicsSection)
    card_sets: CardSetSections = field(
        name="card_set", default=(CardSetSection(id="S1", back="A"),)
    )
    faults: list[dict[str, Any]] = field(default_factory=list, name="fault")

    def __post_init__(self) -> None:
        """Refuse two sets of one name."""
        _refuse_duplicate_set_ids(self.card_sets)


def _require_separate_users(config: TableConfig) -> None:
    """Refuse two users that are not two, or who would share a folder."""
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
    """Return the configuration in a table.toml. Raises ConfigError, one line."""
    return toml_files.read(path, TableConfig, ConfigError)


def load_sim(path: Path) -> SimConfig:
    """Return the configuration in a sim.toml. Raises ConfigError, one line."""
    return toml_files.read(path, SimConfig, ConfigError)
