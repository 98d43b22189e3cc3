"""What a user can do to a table: run as that user, alone, without anything of the house.

Reads JSON from its standard input: `paths` to open, `pids` to look into, `socket` to connect to.
Writes JSON: for each kind of deed the targets at which it was done. What it does to files it
undoes; what it cannot do it leaves out.
"""

import ctypes
import json
import os
import socket
import sys
from collections.abc import Callable

_PTRACE_SEIZE, _PTRACE_DETACH = 0x4206, 17
_PIDFD_OPEN, _PIDFD_GETFD = 434, 438
_libc = ctypes.CDLL(None, use_errno=True)


def read(path: str) -> None:
    """Read a file, or list a folder."""
    if os.path.isdir(path):
        os.listdir(path)
        return
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        os.read(handle, 1)
    finally:
        os.close(handle)


def write(path: str) -> None:
    """Open a file to write, or make one in a folder."""
    if os.path.isdir(path):
        planted = os.path.join(path, "planted")
        os.close(os.open(planted, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
        os.unlink(planted)
        return
    os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))


def replace(path: str) -> None:
    """Put something out of its place, and back."""
    os.rename(path, f"{path}.gone")
    os.rename(f"{path}.gone", path)


def chmod(path: str) -> None:
    """Change somebody's rights."""
    os.chmod(path, os.stat(path).st_mode & 0o7777)


def link(path: str) -> None:
    """Take a file along under another name."""
    name = f"/dev/shm/dt-link-{os.getpid()}"
    os.link(path, name)
    os.unlink(name)


def memory(pid: int) -> None:
    """Open a process's memory."""
    with open(f"/proc/{pid}/mem", "rb", buffering=0):
        pass


def environment(pid: int) -> None:
    """Read what a process was started with."""
    _told(f"/proc/{pid}/environ")


def maps(pid: int) -> None:
    """Read where a process's memory lies."""
    _told(f"/proc/{pid}/maps")


def handles(pid: int) -> None:
    """List what a process has open."""
    os.listdir(f"/proc/{pid}/fd")


def folder(pid: int) -> None:
    """Go where a process is, or where its root is."""
    os.listdir(f"/proc/{pid}/cwd/")


def trace(pid: int) -> None:
    """Take hold of a process as a debugger does."""
    _call("ptrace", _PTRACE_SEIZE, pid, 0, 0)
    _libc.ptrace(_PTRACE_DETACH, pid, 0, 0)


def copy(pid: int) -> None:
    """Copy out of a process's memory. What is not mapped is no refusal."""
    buffer = ctypes.create_string_buffer(8)
    vector = (ctypes.c_ulong * 2)(ctypes.addressof(buffer), 8)
    there = (ctypes.c_ulong * 2)(4096, 8)
    try:
        _call("process_vm_readv", pid, ctypes.byref(vector), 1, ctypes.byref(there), 1, 0)
    except OSError as failure:
        if failure.errno != 14:
            raise


def steal(pid: int) -> None:
    """Take over an open file of a process."""
    handle = _call("syscall", _PIDFD_OPEN, pid, 0)
    try:
        os.close(_call("syscall", _PIDFD_GETFD, handle, 0, 0))
    finally:
        os.close(handle)


def signal(pid: int) -> None:
    """Be allowed to end a process."""
    os.kill(pid, 0)


def connect(path: str) -> None:
    """Come in at a Unix socket, and be told something."""
    with socket.socket(socket.AF_UNIX) as line:
        line.settimeout(10)
        line.connect(path)
        if not line.recv(1):
            raise ConnectionResetError(path)


def _told(path: str) -> None:
    """Read a file that has something to say; an empty one is a refusal."""
    with open(path, "rb") as file:
        if not file.read():
            raise PermissionError(path)


def _call(name: str, *words: object) -> int:
    ctypes.set_errno(0)
    got = int(getattr(_libc, name)(*(ctypes.c_long(w) if isinstance(w, int) else w for w in words)))
    if got < 0:
        raise OSError(ctypes.get_errno(), name)
    return got


TO_PATHS = (read, write, replace, chmod, link)
TO_PIDS = (memory, environment, maps, handles, folder, trace, copy, steal, signal)


def done(deed: Callable[[object], None], targets: list[object]) -> list[object]:
    """Return the targets at which a deed could be done."""
    found = []
    for target in targets:
        try:
            deed(target)
        except OSError:
            continue
        found.append(target)
    return found


def main() -> None:
    """Try everything that is asked for."""
    asked = json.load(sys.stdin)
    told = {deed.__name__: done(deed, asked["paths"]) for deed in TO_PATHS}  # type: ignore[arg-type]
    told |= {deed.__name__: done(deed, asked["pids"]) for deed in TO_PIDS}  # type: ignore[arg-type]
    told["connect"] = done(connect, asked["sockets"])  # type: ignore[arg-type]
    json.dump(told, sys.stdout)


if __name__ == "__main__":
    main()
