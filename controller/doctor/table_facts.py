"""Types of the facts about a table, its program and its computer, which the doctor checks.

None means that a fact is not available on this computer.
"""

from datetime import datetime
from pathlib import Path

import msgspec

from drivers.board_events import BoardKind
from drivers.link.frames import Welcome


class PythonFacts(msgspec.Struct, frozen=True, gc=False):
    """Facts of the Python interpreter: its version, 32 or 64 bits, and the kind of computer."""

    version: tuple[int, int, int]
    bits: int
    computer: str


class LibraryFacts(msgspec.Struct, frozen=True, gc=False):
    """Facts of a library: its version, or in `trouble` the reason why it cannot be imported.

    `curve`: whether ZeroMQ supports CURVE encryption, None for any other library.
    """

    name: str
    version: str = ""
    trouble: str = ""
    curve: bool | None = None


class ReleaseFacts(msgspec.Struct, frozen=True, gc=False):
    """Facts of the installed release, from its manifest (the signed list of its files).

    `signed`: the key that the technician named signed it. None means that no key was named.
    """

    version: str
    serial: int
    date: str
    signed: bool | None = None


class ProgramFacts(msgspec.Struct, frozen=True):
    """Facts of the installed program: its version, its release, and its changed files.

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

    `has_lock`: the process has locked the port, so others that ask for the lock do not get it.
    """

    pid: int
    name: str
    has_lock: bool = False


class PortFacts(msgspec.Struct, frozen=True, gc=False):
    """Facts of a serial port: the users who may use it, and the processes that have it open.

    `device`: the real path of the port, "" if the port does not exist.
    `is_terminal`: the port is a character device. `is_usable`: the machine's user may read and
    write the port. `is_open_to_all`: all users may read or write the port. `holders`: the processes
    that have the port open. `holders_incomplete`: this user cannot see all holders. `latency_ms`:
    how long its USB converter may delay received bytes, None without such a timer.
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
    """The answer of a board to the message HELLO, or the reason why this answer is missing.

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
    """Facts of the GPIO pins of the panel: whether they exist and can be used.

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
    """The time of the wall clock, and whether this clock is synchronised (None: not known)."""

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
    """Facts that show whether secrets in memory could be written to a disk.

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
    """Facts of the table's own keys and of the keys of its admitted clients.

    `chiefs`, `clients`: how many are admitted. `expiring`, `expired`: names of clients whose key
    ends within a week, or has ended. `trouble`: the first problem found. `closed_folder`: a
    folder that this user may not read. `are_missing`: there are no keys yet.
    """

    chiefs: int = 0
    clients: int = 0
    expiring: tuple[str, ...] = ()
    expired: tuple[str, ...] = ()
    trouble: str = ""
    closed_folder: str = ""
    are_missing: bool = False


class FeedFacts(msgspec.Struct, frozen=True, gc=False):
    """Facts of the table's feed: its address, and the received state or the error.

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
    """All facts that the doctor has collected for one examination of a table.

    `machine_pid`: the process that runs the table, if there is one. `state_unreadable`: this user
    may not read the state folder, so a machine may run unseen. `users_problem`: the problem
    with the two users, "" if there is none. `services`: None without systemd.
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
