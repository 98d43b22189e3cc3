"""Facts of this computer, read from /proc, /sys and /run. Tests can replace the root folder."""

import ctypes
import os
import stat
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from controller.config import TableConfig
from controller.doctor.table_facts import (
    DiskFacts,
    MemoryFacts,
    PinFacts,
    PortFacts,
    PortHolder,
    ServiceFacts,
    SupplyFacts,
)
from controller.host.users import READ, WRITE, User, has_permission
from drivers.link.serial_port import read_latency_ms

_TIMEX_INTS: Final = 64
_TIMEX_STATUS_LONG: Final = 5
"""The index of the status in the kernel's struct timex on 64-bit computers, counted in longs."""
_STATUS_UNSYNCHRONIZED: Final = 0x40
RUN_TIMEOUT_S: Final = 5.0

RunProgram = Callable[[Sequence[str]], str | None]


class Computer:
    """The doctor's access to this computer: to its files, its programs and the kernel's clock.

    All files are under `root`. `run` returns the output of a program, or None if the program does
    not exist or fails. `synchronized` returns whether the kernel's clock is synchronised, or None
    if this is not available.
    """

    def __init__(
        self,
        root: Path = Path("/"),
        run: RunProgram | None = None,
        synchronized: Callable[[], bool | None] | None = None,
    ) -> None:
        self.root = root
        self.run = run or _run_program
        self.is_synchronized = synchronized or _is_clock_synchronized

    def path_of(self, path: str) -> Path:
        """Return `path`, which begins with "/", as a path inside the folder `root`."""
        return self.root / path.lstrip("/")

    def read_text(self, path: str) -> str | None:
        """Return the text of a file, stripped of blanks and NULs, or None if it cannot be read."""
        try:
            return self.path_of(path).read_text(encoding="utf-8", errors="replace").strip("\0 \n")
        except OSError:
            return None

    def read_number(self, path: str, base: int = 10) -> int | None:
        """Return the whole number in a file, or None if the file is unreadable or has no number."""
        try:
            return int(self.read_text(path) or "", base)
        except ValueError:
            return None

    def find_paths(self, pattern: str) -> list[str]:
        """Return all paths that match a pattern such as "/dev/gpiochip*", in sorted order."""
        found = self.root.glob(pattern.lstrip("/"))
        return sorted(f"/{path.relative_to(self.root)}" for path in found)

    def list_locks(self) -> Iterator[tuple[int, str]]:
        """Yield (process id, name of the locked file) for each file lock (flock) of a process.

        The name is "MAJOR:MINOR:INODE", as in the kernel's list (see lock_name).
        """
        for line in (self.read_text("/proc/locks") or "").splitlines():
            words = line.split()
            if len(words) > 5 and words[1] == "FLOCK" and words[4].isdigit():
                yield int(words[4]), words[5]

    def process_name(self, pid: int) -> str:
        """Return the name of the process `pid`, or "?" if the name cannot be read."""
        return self.read_text(f"/proc/{pid}/comm") or "?"


def lock_name(status: os.stat_result) -> str:
    """Return the name that the kernel's list of locks has for the file with the stat `status`."""
    major, minor = os.major(status.st_dev), os.minor(status.st_dev)
    return f"{major:02x}:{minor:02x}:{status.st_ino}"


def _run_program(words: Sequence[str]) -> str | None:
    try:
        done = subprocess.run(
            words,
            capture_output=True,
            text=True,
            timeout=RUN_TIMEOUT_S,
            check=False,
            errors="replace",
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None


def _is_clock_synchronized() -> bool | None:
    """Return whether the kernel's clock is synchronised, or None if adjtimex cannot be called.

    adjtimex is called without a mode, so that it changes nothing.
    """
    if ctypes.sizeof(ctypes.c_void_p) != 8:
        return None
    words = (ctypes.c_int * _TIMEX_INTS)()
    try:
        answer = ctypes.CDLL(None, use_errno=True).adjtimex(ctypes.byref(words))
    except (AttributeError, OSError):
        return None
    # modes (with its gap), offset, freq, maxerror and esterror have two ints each, then comes the
    # status
    status = words[2 * _TIMEX_STATUS_LONG]
    return None if answer < 0 else not status & _STATUS_UNSYNCHRONIZED


UNITS: Final = ("dealtable-machine", "dealtable-gateway")
_THROTTLED: Final = "/sys/devices/platform/soc/soc:firmware/get_throttled"
_UNIT_FOLDERS: Final = ("/etc/systemd/system", "/usr/lib/systemd/system", "/lib/systemd/system")
_LG_WD: Final = "LG_WD"
_LISTEN_STATE: Final = "0A"


def find_lock_holder(computer: Computer, file: Path) -> int | None:
    """Return the id of the process that has locked `file`, or None if it is not locked."""
    try:
        name = lock_name(file.stat())
    except OSError:
        return None
    return next((pid for pid, locked in computer.list_locks() if locked == name), None)


def read_port(computer: Computer, path: str, user: User) -> PortFacts:
    """Return the facts of a serial port without opening it. `user` is the machine's user."""
    place = Path(path)
    latency = read_latency_ms(path, computer.path_of("/sys"))
    try:
        status = place.stat()
    except OSError:
        return PortFacts(path=path, latency_ms=latency)
    holders, blind = _find_holders(computer, os.path.realpath(place), status)
    return PortFacts(
        path=path,
        device=os.path.realpath(place),
        is_terminal=stat.S_ISCHR(status.st_mode),
        is_usable=all(has_permission(user, status, bits) for bits in (READ, WRITE)),
        is_open_to_all=bool(stat.S_IMODE(status.st_mode) & 0o006),
        holders=holders,
        holders_incomplete=blind,
        latency_ms=latency,
    )


def _find_holders(
    computer: Computer, device: str, status: os.stat_result
) -> tuple[tuple[PortHolder, ...], bool]:
    """Return the other processes that have `device` open, and whether there may be more of them."""
    name = lock_name(status)
    locks = {pid for pid, locked in computer.list_locks() if locked == name}
    having, blind = set(locks), False
    for folder in computer.path_of("/proc").glob("[0-9]*"):
        try:
            handles = list((folder / "fd").iterdir())
        except FileNotFoundError:
            continue  # the process has ended since the listing
        except OSError:
            blind = True
            continue
        for handle in handles:
            with suppress(OSError):
                if os.readlink(handle) == device:
                    having.add(int(folder.name))
    having.discard(os.getpid())
    held = (PortHolder(pid, computer.process_name(pid), pid in locks) for pid in sorted(having))
    return tuple(held), blind


def read_pins(computer: Computer, config: TableConfig, user: User) -> PinFacts:
    """Return the facts of the panel's pins. `user` is the machine's user."""
    chips = []
    for path in computer.find_paths("/dev/gpiochip*"):
        status = computer.path_of(path).stat()
        chips.append((path, all(has_permission(user, status, bits) for bits in (READ, WRITE))))
    socket = config.panel.pins.removeprefix("unix:")
    return PinFacts(
        model=computer.read_text("/proc/device-tree/model"),
        chips=tuple(chips),
        has_socket=Path(socket).is_socket(),
        lg_wd=_is_lg_wd_set(computer),
    )


def _is_lg_wd_set(computer: Computer) -> bool | None:
    """Return whether the variable LG_WD (a folder for the library lgpio) is set for the machine.

    It counts as set if this process has it, or if the machine's systemd unit sets it. Return None
    if this process does not have it and no unit is installed.
    """
    if _LG_WD in os.environ:
        return True
    for folder in _UNIT_FOLDERS:
        unit = computer.read_text(f"{folder}/{UNITS[0]}@.service")
        if unit is not None:
            return any(
                line.startswith("Environment=") and f"{_LG_WD}=" in line
                for line in unit.splitlines()
            )
    return None


def read_disk(folder: Path, user: User) -> DiskFacts:
    """Return facts of the disk of `folder`, which may not exist yet. `user` runs the machine."""
    there = folder
    while not there.exists() and there != there.parent:
        there = there.parent
    room = os.statvfs(there)
    return DiskFacts(
        free_bytes=room.f_bavail * room.f_frsize,
        exists=there == folder,
        is_writable=has_permission(user, there.stat(), WRITE),
        is_read_only=bool(room.f_flag & os.ST_RDONLY),
    )


def read_memory(computer: Computer, runtime_dir: Path, machine: int | None) -> MemoryFacts:
    """Return the facts that show whether secrets in memory could be written to a disk.

    `machine` is the process id of the machine process, or None if it does not run.
    """
    # The folder may not exist yet.
    place, kind, depth = Path(os.path.realpath(runtime_dir)), None, 0
    for line in (computer.read_text("/proc/self/mounts") or "").splitlines():
        _, where, system, *_ = line.split()
        # a later mount covers an earlier one
        if place.is_relative_to(where) and len(where) >= depth:
            kind, depth = system, len(where)
    limits = "" if machine is None else computer.read_text(f"/proc/{machine}/limits") or ""
    found = (line.split() for line in limits.splitlines() if line.startswith("Max core file size"))
    return MemoryFacts(
        runtime_on=kind,
        swaps=_read_swaps(computer),
        core_pattern=computer.read_text("/proc/sys/kernel/core_pattern"),
        core_limit=next((" ".join(words[4:6]) for words in found), None),
    )


def _read_swaps(computer: Computer) -> tuple[str, ...] | None:
    said = computer.read_text("/proc/swaps")
    if said is None:
        return None
    devices = [line.split()[0] for line in said.splitlines()[1:] if line.strip()]
    # A zram device that has no disk is compressed memory.
    return tuple(
        device
        for device in devices
        if not (name := Path(device).name).startswith("zram")
        or computer.read_text(f"/sys/block/{name}/backing_dev") not in (None, "none")
    )


def read_supply(computer: Computer) -> SupplyFacts:
    """Return the state of a Raspberry Pi's power supply, and the temperature of any computer."""
    throttled = computer.read_number(_THROTTLED, 16)
    if throttled is None:
        said = computer.run(("vcgencmd", "get_throttled")) or ""
        with suppress(ValueError):
            throttled = int(said.partition("=")[2].strip(), 16)
    alarms = [
        computer.read_number(path.replace("/name", "/in0_lcrit_alarm"))
        for path in computer.find_paths("/sys/class/hwmon/*/name")
        if computer.read_text(path) == "rpi_volt"
    ]
    alarm = alarms[0] if alarms else None
    heats = [
        computer.read_number(path) for path in computer.find_paths("/sys/class/thermal/*/temp")
    ]
    hottest = max((heat for heat in heats if heat is not None), default=None)
    return SupplyFacts(
        throttled=throttled,
        has_alarm=None if alarm is None else bool(alarm),
        celsius=None if hottest is None else hottest / 1000,
    )


def read_services(computer: Computer, table: str) -> tuple[ServiceFacts, ...] | None:
    """Return facts of the two systemd services of `table`, or None if systemd does not run here."""
    if not computer.path_of("/run/systemd/system").is_dir():
        return None
    found = []
    for unit in UNITS:
        name = f"{unit}@{table}.service"
        words = ("systemctl", "show", "-p", "LoadState,ActiveState,UnitFileState", name)
        rows = (line.partition("=") for line in (computer.run(words) or "").splitlines())
        said = {key: value for key, _, value in rows}
        states = (said.get(key, "") for key in ("LoadState", "ActiveState", "UnitFileState"))
        found.append(ServiceFacts(name, *states))
    return tuple(found)


def taken_addresses(computer: Computer, addresses: Sequence[str]) -> tuple[str, ...]:
    """Return those of `addresses` whose port is in use by a listening program on this computer."""
    ports = set()
    for path in ("/proc/net/tcp", "/proc/net/tcp6"):
        for line in (computer.read_text(path) or "").splitlines()[1:]:
            words = line.split()
            if len(words) > 3 and words[3] == _LISTEN_STATE:
                ports.add(str(int(words[1].rpartition(":")[2], 16)))
    return tuple(one for one in addresses if one.rpartition(":")[2] in ports)
