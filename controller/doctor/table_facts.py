"""All facts of a table and its computer, as values.

None means that a fact is not available on this computer.
"""

from datetime import datetime
from pathlib import Path

import msgspec

from drivers.board_events import BoardKind
from drivers.link.frames import Welcome


class PythonFacts(msgspec.Struct, frozen=True, gc=False):
    """Facts of the Python interpreter: its version, whether it has 32 or 64 bits, the kind of
    computer.
    """

    version: tuple[int, int, int]
    bits: int
    computer: str


class LibraryFacts(msgspec.Struct, frozen=True, gc=False):
    """Facts of a library: its version, or why it cannot be imported. `curve`: ZeroMQ has CURVE."""

    name: str
    version: str = ""
    trouble: str = ""
    curve: bool | None = None


class ReleaseFacts(msgspec.Struct, frozen=True, gc=False):
    """Facts of the release that the program's manifest names.

    `signed`: by the named key. None means that no key was named.
    """

    version: str
    serial: int
    date: str
    signed: bool | None = None


class ProgramFacts(msgspec.Struct, frozen=True):
    """Facts of the installed program.

    `release`: None for a checkout. `differences`: a line for each file that differs from the
    release, or for a release older than one that the table has used. `firmware`: the hash of the
    shipped firmware. `trouble`: why the release is not known.
    """

    version: str
    firmware: str
    release: ReleaseFacts | None = None
    differences: tuple[str, ...] = ()
    trouble: str = ""


class PortHolder(msgspec.Struct, frozen=True, gc=False):
    """A process that has a serial port open.

    `has_lock`: it locks the port against others that ask for the lock.
    """

    pid: int
    name: str
    has_lock: bool = False


class PortFacts(msgspec.Struct, frozen=True, gc=False):
    """Facts of a serial port. `device`: the real path of the port, "" if the port does not exist.

    `is_terminal`: the port is a character device. `is_usable`: the machine's user may read and
    write the port. `is_open_to_all`: all users may read or write the port. `holders`: the processes
    that have the port open. `holders_incomplete`: this user cannot see all holders. `latency_ms`:
    the timer of an adapter that has one.
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
    """The answer of a board to the message HELLO.

    `fault`: the name of the fault in the catalogue, "" for the correct board. `cause` and `action`
    are its texts. `welcome`: None if the board did not answer. `why_not_asked`: the reason if no
    HELLO was sent.
    """

    welcome: Welcome | None = None
    fault: str = ""
    cause: str = ""
    action: str = ""
    why_not_asked: str = ""


class PinFacts(msgspec.Struct, frozen=True, gc=False):
    """Facts of the pins that the panel is connected to.

    `model`: the model of the computer. `chips`: the existing GPIO chips, each with whether the
    machine's user may use it. `has_socket`: the socket of a simulated panel exists. `lg_wd`: the
    folder of the library lgpio is set for the machine. None means that the start of the machine is
    not known.
    """

    model: str | None = None
    chips: tuple[tuple[str, bool], ...] = ()
    has_socket: bool = False
    lg_wd: bool | None = None


class ClockFacts(msgspec.Struct, frozen=True, gc=False):
    """Facts of the wall clock. `synchronized`: as the kernel reports, None if not available."""

    now: datetime
    synchronized: bool | None = None


class DiskFacts(msgspec.Struct, frozen=True, gc=False):
    """Facts of the disk that contains `state_dir`, the folder of the journal.

    `exists`: state_dir exists. If not, the facts are those of the folder that will contain it.
    `is_writable`: for the machine's user.
    """

    free_bytes: int
    exists: bool = True
    is_writable: bool = True
    is_read_only: bool = False


class MemoryFacts(msgspec.Struct, frozen=True, gc=False):
    """Facts about whether secrets in memory can be written to a disk.

    `runtime_on`: the kind of file system of runtime_dir. `swaps`: the swap devices, without
    compressed memory. `core_pattern`: the target of the kernel's core dumps. `core_limit`: the
    limit of the running machine.
    """

    runtime_on: str | None = None
    swaps: tuple[str, ...] | None = None
    core_pattern: str | None = None
    core_limit: str | None = None


class SupplyFacts(msgspec.Struct, frozen=True, gc=False):
    """Facts of a Raspberry Pi's power supply, and the computer's temperature.

    `throttled`: the bits of get_throttled. `has_alarm`: the voltage is too low now. `celsius`: the
    temperature of any computer.
    """

    throttled: int | None = None
    has_alarm: bool | None = None
    celsius: float | None = None


class ServiceFacts(msgspec.Struct, frozen=True, gc=False):
    """Facts of a systemd unit: its LoadState, ActiveState and UnitFileState."""

    name: str
    load: str
    active: str
    enabled: str


class KeyFacts(msgspec.Struct, frozen=True, gc=False):
    """Facts of the table's keys and of the admitted clients.

    `trouble`: the first fault found. `closed_folder`: a folder that this user may not read.
    `are_missing`: there are no keys yet.
    """

    chiefs: int = 0
    clients: int = 0
    expiring: tuple[str, ...] = ()
    expired: tuple[str, ...] = ()
    trouble: str = ""
    closed_folder: str = ""
    are_missing: bool = False


class FeedFacts(msgspec.Struct, frozen=True, gc=False):
    """Facts of the feed that the table's gateway publishes.

    `address`: None if no gateway runs. `state_text`: the state received through CURVE. `trouble`:
    why no state was received. `has_no_key`: no admitted key is available here. `taken_addresses`:
    configured addresses on which another program listens.
    """

    address: str | None = None
    state_text: str = ""
    alerts: tuple[str, ...] = ()
    trouble: str = ""
    has_no_key: bool = False
    taken_addresses: tuple[str, ...] = ()


class DoctorFacts(msgspec.Struct, frozen=True, kw_only=True):
    """All facts that one examination of a table has collected.

    `machine_pid`: the process that runs the table, if there is one. `state_unreadable`: this user
    may not read the state folder, so a machine may run unseen. `users_problem`: the fault of the
    two users, "" if there is none. `services`: None without systemd.
    """

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
