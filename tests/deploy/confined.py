"""Run a command under the limits that a unit of deploy/units sets, as systemd would: as root.

    python confined.py FILE.json

The file has the unit's directives and the system calls that they leave, the command, its user and
its environment. systemd does not run
on a build server, so this does what it does, directive by directive, with the kernel's own means:
mounts, network, rights, limits, seccomp. What needs a control group, and so cannot be done without
systemd, is named in `NEEDS_SYSTEMD`; the devices of a group's rules are stood in for by a /dev that
has no others and no devices elsewhere.
"""

import ctypes
import json
import os
import resource
import stat
import struct
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from errno import EACCES, EAFNOSUPPORT, ENOSYS, EPERM
from functools import cache
from pathlib import Path
from typing import Any, Final

import pyseccomp as seccomp

Directives = list[tuple[str, str]]

NEEDS_SYSTEMD: Final = frozenset(
    {"IPAddressDeny", "MemorySwapMax", "TasksMax", "OOMScoreAdjust", "PrivateUsers"}
)
"""A control group's, or more than is tried here (the console's users): its tools know the words."""
NO_LIMIT: Final = frozenset(
    {
        *("Type", "ExecStart", "User", "Group", "Restart", "RestartSec", "Environment", "UMask"),
        *("WatchdogSec", "TimeoutStartSec", "TimeoutStopSec", "WorkingDirectory"),
        *("SyslogIdentifier", "LogRateLimitIntervalSec", "StateDirectory", "StateDirectoryMode"),
        *("RuntimeDirectory", "RuntimeDirectoryMode", "SupplementaryGroups"),
        # Said again by others: nothing is ambient without rights, all mounts are private here,
        # one user's things in shared memory are removed, the system's keyring is not the service's.
        *("AmbientCapabilities", "PrivateMounts", "RemoveIPC", "KeyringMode", "DeviceAllow"),
    }
)

_NEWNS, _NEWNET, _NEWUSER = 0x0002_0000, 0x4000_0000, 0x1000_0000
_NAMESPACES: Final = 0x7E02_0080
_RDONLY, _BIND, _REC, _PRIVATE, _NOSUID, _NODEV = 1, 4096, 16384, 1 << 18, 2, 4
_ATTR_RDONLY, _ATTR_NODEV = 1, 4
_MOUNT_SETATTR, _AT_FDCWD, _AT_RECURSIVE = 442, -100, 0x8000
_CAPBSET_DROP, _NO_NEW_PRIVS = 24, 38
_WRITE, _EXEC, _SHM_EXEC = 2, 4, 0o100000
_PSEUDO: Final = ("null", "zero", "full", "random", "urandom", "tty")
_libc = ctypes.CDLL(None, use_errno=True)


def directives(text: str, section: str = "Service") -> Directives:
    """Return the keys and values of a section of a unit, in their order."""
    found, here = [], ""
    for line in text.splitlines():
        if line.startswith("["):
            here = line.strip("[]")
        elif here == section and line and not line.startswith(("#", ";")):
            key, _, value = line.partition("=")
            found.append((key.strip(), value.strip()))
    return found


class Limits:
    """What the directives of a unit say, by key."""

    def __init__(self, found: Directives) -> None:
        self._found = found

    def yes(self, key: str) -> bool:
        """Tell whether a key says yes."""
        return self.words(key)[-1:] == ["yes"]

    def words(self, key: str) -> list[str]:
        """Return the words of all lines of a key."""
        return [word for name, value in self._found if name == key for word in value.split()]

    def lines(self, key: str) -> list[str]:
        """Return the lines of a key."""
        return [value for name, value in self._found if name == key]

    def has(self, key: str) -> bool:
        """Tell whether a key is there."""
        return any(name == key for name, _ in self._found)


def _check(result: int, what: object) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), str(what))


def _mount(source: object, target: object, kind: str = "", flags: int = 0, data: str = "") -> None:
    words = [str(word).encode() for word in (source, target, kind)]
    _check(_libc.mount(*words, ctypes.c_ulong(flags), data.encode()), target)


def _restrict(path: object, put: int, take: int = 0) -> None:
    """Give and take attributes of a mount and of all below it."""
    attributes = struct.pack("QQQQ", put, take, 0, 0)
    done = _libc.syscall(
        *(_MOUNT_SETATTR, _AT_FDCWD, str(path).encode(), _AT_RECURSIVE),
        *(ctypes.create_string_buffer(attributes, len(attributes)), len(attributes)),
    )
    _check(done, path)


def _own_mount(path: object) -> None:
    _mount(path, path, flags=_BIND | _REC)


class _Files:
    """The file system as a unit sees it."""

    def __init__(self, limits: Limits, keep: Iterable[str]) -> None:
        self._limits = limits
        self._keep = [path for path in map(Path, keep) if path.exists()]

    def apply(self) -> None:
        """Change this process's mounts, which are its own by now."""
        limits = self._limits
        _mount("", "/", flags=_REC | _PRIVATE)
        for kept in self._keep:
            _own_mount(kept)
        if limits.words("ProtectSystem") == ["strict"]:
            _restrict("/", _ATTR_RDONLY)
            for api in ("/dev", "/proc", "/sys"):
                _own_mount(api)
                _restrict(api, 0, _ATTR_RDONLY)
            for written in self._named("ReadWritePaths"):
                _own_mount(written)
                _restrict(written, 0, _ATTR_RDONLY)
        if limits.words("DevicePolicy") == ["closed"]:
            self._devices()
        for key, folders in (
            ("PrivateTmp", ("/tmp", "/var/tmp")),
            ("ProtectHome", ("/home", "/root")),
        ):
            if limits.yes(key):
                self._hide(folders, writable=key == "PrivateTmp")
        if limits.yes("ProtectKernelTunables"):
            for kernels in ("/proc/sys", "/sys"):
                _own_mount(kernels)
                _restrict(kernels, _ATTR_RDONLY)
        for path in self._named("InaccessiblePaths"):
            self._close(path)
        hidden = [
            option
            for key, word, option in (
                ("ProtectProc", "invisible", "hidepid=invisible"),
                ("ProcSubset", "pid", "subset=pid"),
            )
            if limits.words(key) == [word]
        ]
        if hidden:
            _mount("proc", "/proc", "proc", data=",".join(hidden))

    def _named(self, key: str) -> Iterator[Path]:
        for word in self._limits.words(key):
            path = Path(word.removeprefix("-"))
            if path.exists() or not word.startswith("-"):
                yield path

    def _hide(self, folders: Iterable[str], *, writable: bool) -> None:
        """Put empty folders in the place of these; what is kept (the program) comes back."""
        for folder in folders:
            kept = [path for path in self._keep if path.is_relative_to(folder)]
            handles = [os.open(path, os.O_PATH) for path in kept]
            _mount("tmpfs", folder, "tmpfs", data=f"mode={1777 if writable else 755}")
            for path, handle in zip(kept, handles, strict=True):
                path.mkdir(parents=True, exist_ok=True)
                _mount(f"/proc/self/fd/{handle}", path, flags=_BIND | _REC)
                os.close(handle)
            if not writable:
                _restrict(folder, _ATTR_RDONLY)

    def _close(self, path: Path) -> None:
        """Put something that nobody may open in the place of a path."""
        if path.is_dir():
            _mount("tmpfs", path, "tmpfs", _RDONLY, "mode=000")
        else:
            _mount("/dev/null", path, flags=_BIND)

    def _devices(self) -> None:
        """Make a /dev with the pseudo devices and those of the kinds that are allowed."""
        _restrict("/", _ATTR_NODEV)
        allowed = set() if self._limits.yes("PrivateDevices") else set(self._kinds())
        names = [*_PSEUDO]
        for path in Path("/dev").iterdir():
            status = path.lstat()
            if stat.S_ISCHR(status.st_mode) and os.major(status.st_rdev) in allowed:
                names.append(path.name)
        handles = {name: os.open(f"/dev/{name}", os.O_PATH) for name in (*names, "shm", "pts")}
        _mount("tmpfs", "/dev", "tmpfs", _NOSUID, "mode=755")
        for name, handle in handles.items():
            place = Path("/dev", name)
            if name in ("shm", "pts"):
                place.mkdir()
            else:
                place.touch()
            _mount(f"/proc/self/fd/{handle}", place, flags=_BIND | _REC)
            if name != "shm":
                _restrict(place, 0, _ATTR_NODEV)
            os.close(handle)
        Path("/dev/ptmx").symlink_to("pts/ptmx")

    def _kinds(self) -> Iterator[int]:
        """Yield the major numbers of the kinds of devices that are allowed and known here."""
        wanted = {word.removeprefix("char-") for word in self._limits.words("DeviceAllow")}
        for line in Path("/proc/devices").read_text().split("\n\n")[0].splitlines()[1:]:
            number, name = line.split()
            if name in wanted:
                yield int(number)


@cache
def calls_of(group: str) -> frozenset[str]:
    """Return the system calls of a group, as this computer's systemd knows it."""
    if not group.startswith("@"):
        return frozenset({group})
    said = subprocess.run(
        ["systemd-analyze", "syscall-filter", "--no-pager", group],
        check=True,
        capture_output=True,
        text=True,
        env={"PATH": os.environ["PATH"], "SYSTEMD_COLORS": "0"},
    ).stdout
    words = [line.split()[0] for line in said.splitlines()[1:] if line.startswith("    ")]
    return frozenset().union(*(calls_of(word) for word in words if word != "#"))


def allowed(lines: Iterable[str]) -> set[str]:
    """Return the calls that SystemCallFilter leaves; lines with ~ take away."""
    left: set[str] = {"execve", "exit", "exit_group", "rt_sigreturn", "getrlimit", "time"}
    for line in lines:
        named: set[str] = set().union(*(calls_of(word) for word in line.lstrip("~").split()))
        left = left - named if line.startswith("~") else left | named
    return left


Rule = Callable[[seccomp.SyscallFilter, Limits], None]


def _no_writable_code(rules: seccomp.SyscallFilter, _: Limits) -> None:
    both = _WRITE | _EXEC
    rules.add_rule(seccomp.ERRNO(EACCES), "mmap", seccomp.Arg(2, seccomp.MASKED_EQ, both, both))
    for call in ("mprotect", "pkey_mprotect"):
        rules.add_rule(seccomp.ERRNO(EACCES), call, seccomp.Arg(2, seccomp.MASKED_EQ, _EXEC, _EXEC))
    rules.add_rule(
        seccomp.ERRNO(EACCES), "shmat", seccomp.Arg(2, seccomp.MASKED_EQ, _SHM_EXEC, _SHM_EXEC)
    )


def _no_namespaces(rules: seccomp.SyscallFilter, _: Limits) -> None:
    for bit in range(32):
        if _NAMESPACES >> bit & 1:
            for call in ("unshare", "clone"):
                rules.add_rule(
                    seccomp.ERRNO(EPERM),
                    call,
                    seccomp.Arg(0, seccomp.MASKED_EQ, 1 << bit, 1 << bit),
                )
    rules.add_rule(seccomp.ERRNO(ENOSYS), "clone3")
    rules.add_rule(seccomp.ERRNO(EPERM), "setns")


def _no_realtime(rules: seccomp.SyscallFilter, _: Limits) -> None:
    for policy in (1, 2, 6):
        rules.add_rule(
            seccomp.ERRNO(EPERM), "sched_setscheduler", seccomp.Arg(1, seccomp.EQ, policy)
        )


def _no_setuid_files(rules: seccomp.SyscallFilter, _: Limits) -> None:
    for bit in (stat.S_ISUID, stat.S_ISGID):
        for call, at in (("chmod", 1), ("fchmod", 1), ("fchmodat", 2), ("mkdir", 1)):
            rules.add_rule(seccomp.ERRNO(EPERM), call, seccomp.Arg(at, seccomp.MASKED_EQ, bit, bit))


def _no_personality(rules: seccomp.SyscallFilter, _: Limits) -> None:
    rules.add_rule(seccomp.ERRNO(EPERM), "personality", seccomp.Arg(0, seccomp.NE, 0))


def _no_log(rules: seccomp.SyscallFilter, _: Limits) -> None:
    rules.add_rule(seccomp.ERRNO(EPERM), "syslog")


def _no_modules(rules: seccomp.SyscallFilter, _: Limits) -> None:
    for call in ("init_module", "finit_module", "delete_module"):
        rules.add_rule(seccomp.ERRNO(EPERM), call)


def _no_clock(rules: seccomp.SyscallFilter, _: Limits) -> None:
    for call in ("adjtimex", "clock_adjtime", "clock_settime", "settimeofday"):
        rules.add_rule(seccomp.ERRNO(EPERM), call)


def _no_hostname(rules: seccomp.SyscallFilter, _: Limits) -> None:
    for call in ("sethostname", "setdomainname"):
        rules.add_rule(seccomp.ERRNO(EPERM), call)


def _families(rules: seccomp.SyscallFilter, limits: Limits) -> None:
    import socket

    known = sorted(int(getattr(socket, word)) for word in limits.words("RestrictAddressFamilies"))
    refused = [number for number in range(known[-1] + 1) if number not in known]
    for number in refused:
        rules.add_rule(seccomp.ERRNO(EAFNOSUPPORT), "socket", seccomp.Arg(0, seccomp.EQ, number))
    rules.add_rule(seccomp.ERRNO(EAFNOSUPPORT), "socket", seccomp.Arg(0, seccomp.GT, known[-1]))


_RULES: Final[dict[str, Rule]] = {
    "MemoryDenyWriteExecute": _no_writable_code,
    "RestrictNamespaces": _no_namespaces,
    "RestrictRealtime": _no_realtime,
    "RestrictSUIDSGID": _no_setuid_files,
    "LockPersonality": _no_personality,
    "ProtectKernelLogs": _no_log,
    "ProtectKernelModules": _no_modules,
    "ProtectClock": _no_clock,
    "ProtectHostname": _no_hostname,
    "RestrictAddressFamilies": _families,
}
APPLIED: Final = frozenset(
    {
        *_RULES,
        *("SystemCallFilter", "SystemCallErrorNumber", "SystemCallArchitectures"),
        *("PrivateNetwork", "PrivateDevices", "DevicePolicy", "PrivateTmp", "ProtectHome"),
        *("ProtectSystem", "ReadWritePaths", "InaccessiblePaths", "ProtectProc", "ProcSubset"),
        *("ProtectKernelTunables", "ProtectControlGroups", "CapabilityBoundingSet"),
        *("NoNewPrivileges", "LimitCORE"),
    }
)


def _filters(limits: Limits, left: Iterable[str]) -> list[seccomp.SyscallFilter]:
    """Return what the kernel is told about system calls, the list of those that are left last."""
    made = []
    for key, rule in _RULES.items():
        if limits.yes(key) or (key == "RestrictAddressFamilies" and limits.has(key)):
            rules = seccomp.SyscallFilter(seccomp.ALLOW)
            rule(rules, limits)
            made.append(rules)
    if limits.has("SystemCallFilter"):
        rules = seccomp.SyscallFilter(seccomp.ERRNO(EPERM))
        for call in left:
            if seccomp.resolve_syscall(seccomp.Arch.NATIVE, call) >= 0:
                rules.add_rule(seccomp.ALLOW, call)
        made.append(rules)
    return made


def main(file: str) -> None:
    """Become what the file says. Runs as root."""
    asked: dict[str, Any] = json.loads(Path(file).read_text())
    limits = Limits([(key, value) for key, value in asked["directives"]])
    filters = _filters(limits, asked["calls"])  # before the files of this Python are out of sight
    _check(_libc.unshare(_NEWNS | (_NEWNET if limits.yes("PrivateNetwork") else 0)), "unshare")
    os.chdir("/")
    _Files(limits, asked["keep"]).apply()
    for word in limits.words("LimitCORE"):
        resource.setrlimit(resource.RLIMIT_CORE, (int(word), int(word)))
    if limits.has("CapabilityBoundingSet"):
        last = 40
        for number in range(last + 1):
            _libc.prctl(_CAPBSET_DROP, number, 0, 0, 0)
    os.umask(int((limits.words("UMask") or ["0022"])[0], 8))
    os.setgroups([])
    os.setgid(asked["gid"])
    os.setuid(asked["uid"])
    if limits.yes("NoNewPrivileges"):
        _check(_libc.prctl(_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")
    given = dict(word.split("=", 1) for word in limits.words("Environment"))
    for rules in filters:
        rules.load()
    command = asked["command"]
    os.execve(command[0], command, {"PATH": "/usr/bin:/bin", **given, **asked["environment"]})


if __name__ == "__main__":
    main(sys.argv[1])
