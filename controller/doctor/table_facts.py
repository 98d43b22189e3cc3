"""All that is known of a table and its computer, as values. None: it cannot be known here."""

from datetime import datetime
from pathlib import Path

import msgspec

from drivers.board_events import BoardKind
from drivers.board_identity import Welcome


class PythonFacts(msgspec.Struct, frozen=True, gc=False):
    """The interpreter: its version, the bits of an address, the kind of computer."""

    version: tuple[int, int, int]
    bits: int
    computer: str


class LibraryFacts(msgspec.Struct, frozen=True, gc=False):
    """A library as it is imported: its version, or why it cannot be. `curve`: ZeroMQ's."""

    name: str
    version: str = ""
    trouble: str = ""
    curve: bool | None = None


class ReleaseFacts(msgspec.Struct, frozen=True, gc=False):
    """The manifest beside the program. `signed`: by the key that was named; None: none was."""

    version: str
    serial: int
    date: str
    signed: bool | None = None


class ProgramFacts(msgspec.Struct, frozen=True):
    """What is installed. `release`: None for a checkout. `unlike`: a line for each file that is
    not as released, or an older release than the table has seen. `firmware`: the hash of boards
    that carry what is shipped. `trouble`: why the release cannot be told."""

    version: str
    firmware: str
    release: ReleaseFacts | None = None
    differences: tuple[str, ...] = ()
    trouble: str = ""


class PortHolder(msgspec.Struct, frozen=True, gc=False):
    """A process that has a port open. `locks`: nobody else can open it, who asks for the lock."""

    pid: int
    name: str
    has_lock: bool = False


class PortFacts(msgspec.Struct, frozen=True, gc=False):
    """A serial port. `device`: where its path leads in the end, "" where it is not there.

    `terminal`: it is a character device. `usable`: the machine's user may read and write it;
    `open_to_all`: so may everybody. `holders`: as far as this user sees; `blind`: it does not see
    all. `latency_ms`: the timer of an adapter that has one.
    """

    path: str
    device: str = ""
    is_terminal: bool = True
    is_usable: bool = True
    is_open_to_all: bool = False
    holders: tuple[PortHolder, ...] = ()
    holders_incomplete: bool = False
    latency_ms: int | None = None


class BoardAnswer(msgspec.Struct, frozen=True, gc=False):
    """What a board answered to HELLO. `fault`: the catalogue's name of what is wrong, with its
    words in `cause` and `action`; "" for the right board.
    `welcome` is None if the board did not answer, `unasked` is why it was not asked."""

    welcome: Welcome | None = None
    fault: str = ""
    cause: str = ""
    action: str = ""
    why_not_asked: str = ""


class PinFacts(msgspec.Struct, frozen=True, gc=False):
    """The panel's way out. `model`: what the computer says it is. `chips`: those of its GPIO that
    are there, and whether the machine's user may use them. `socket`: that of a simulated panel is
    there. `lg_wd`: lgpio's folder is set for the machine; None: nobody knows how it starts."""

    model: str | None = None
    chips: tuple[tuple[str, bool], ...] = ()
    has_socket: bool = False
    lg_wd: bool | None = None


class ClockFacts(msgspec.Struct, frozen=True, gc=False):
    """The wall's clock. `synchronized`: the kernel's word."""

    now: datetime
    synchronized: bool | None = None


class DiskFacts(msgspec.Struct, frozen=True, gc=False):
    """Where state_dir lies. `there`: it exists; else all is said of the folder that it will be
    made in. `writable`: for the machine's user."""

    free_bytes: int
    exists: bool = True
    is_writable: bool = True
    is_read_only: bool = False


class MemoryFacts(msgspec.Struct, frozen=True, gc=False):
    """What may bring secrets to a disk. `runtime_on`: the kind of file system under runtime_dir.

    `swaps`: what is swapped to, but for memory that is only packed. `core_pattern`: where the
    kernel writes what a process left that crashed; `core_limit`: of the running machine."""

    runtime_on: str | None = None
    swaps: tuple[str, ...] | None = None
    core_pattern: str | None = None
    core_limit: str | None = None


class SupplyFacts(msgspec.Struct, frozen=True, gc=False):
    """A Pi's power. `throttled`: the bits of get_throttled; `alarm`: its voltage is low now."""

    throttled: int | None = None
    has_alarm: bool | None = None
    celsius: float | None = None


class ServiceFacts(msgspec.Struct, frozen=True, gc=False):
    """A unit as systemd has it: LoadState, ActiveState, UnitFileState."""

    name: str
    load: str
    active: str
    enabled: str


class KeyFacts(msgspec.Struct, frozen=True, gc=False):
    """Keys and who is admitted. `trouble`: the first thing that is wrong; `closed`: this user may
    not look; `missing`: there are none yet."""

    chiefs: int = 0
    clients: int = 0
    expiring: tuple[str, ...] = ()
    expired: tuple[str, ...] = ()
    trouble: str = ""
    closed_folder: str = ""
    are_missing: bool = False


class FeedFacts(msgspec.Struct, frozen=True, gc=False):
    """What a gateway serves. `address`: None where none runs. `heard`: a state of the table came
    through CURVE, and what it said; `trouble`: why not; `no_key`: nobody here is admitted.
    `taken`: addresses of the configuration at which somebody else listens."""

    address: str | None = None
    state_text: str = ""
    alerts: tuple[str, ...] = ()
    trouble: str = ""
    has_no_key: bool = False
    taken_addresses: tuple[str, ...] = ()


class DoctorFacts(msgspec.Struct, frozen=True, kw_only=True):
    """All of it. `machine`: the process that runs the table, if one does; `closed`: this user may
    not look, so that one may run all the same. `users`: what is wrong
    with the two users, "" for nothing. `services`: None where there is no systemd."""

    config_file: Path
    python: PythonFacts
    libraries: tuple[LibraryFacts, ...]
    program: ProgramFacts
    machine_pid: int | None
    state_unreadable: bool = False
    ports: dict[BoardKind, PortFacts]
    answers: dict[BoardKind, BoardAnswer]
    pins: PinFacts
    clock: ClockFacts
    disk: DiskFacts
    memory: MemoryFacts
    supply: SupplyFacts
    keys: KeyFacts
    users_problem: str
    services: tuple[ServiceFacts, ...] | None
    feed: FeedFacts
