"""Permissions that a process of a table gives up at its start, with or without systemd.

This costs nothing and cannot be undone. Every process gives up core dumps and new rights for its
child processes. The machine also hides its memory from other processes of its user, and gives up
all sockets except Unix sockets.

Memory is not locked (mlockall). That would not be enough: the attempt keys are in files in memory
(tmpfs), which a computer with swap can still write to its disk. With a limit on locked memory a
machine could also fail during a deal. Therefore a table's computer has no swap (deploy/THREATS.md).
"""

import ctypes
import os
import platform
import resource
import socket
import struct
from typing import Final

from controller.cli import CliError

_PR_SET_DUMPABLE: Final = 4
_PR_SET_SECCOMP: Final = 22
_PR_SET_NO_NEW_PRIVS: Final = 38
_SECCOMP_MODE_FILTER: Final = 2

# Constants of <linux/seccomp.h>, <linux/filter.h> and <linux/audit.h>.
KILL: Final = 0x8000_0000
ALLOW: Final = 0x7FFF_0000
NO_SUCH_FAMILY: Final = 0x0005_0000 | 97  # the call fails with EAFNOSUPPORT
NO_SUCH_CALL: Final = 0x0005_0000 | 38  # the call fails with ENOSYS
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_CALL_AT, _KIND_AT, _FIRST_ARGUMENT_AT = 0, 4, 16

_Rule = tuple[int, int, int, int]  # opcode, rules to skip if true, rules to skip if false, operand

# For each architecture: its number, and the numbers of the calls socket() and socketpair().
_SOCKET_CALLS: Final = {"x86_64": (0xC000_003E, 41, 53), "aarch64": (0xC000_00B7, 198, 199)}
# This number is the same everywhere. io_uring can create sockets without the calls above.
_IO_URING_SETUP: Final = 425
_X32: Final = 0x4000_0000  # bit of a second set of call numbers on x86_64


def restrict_process(*, hide_memory: bool) -> None:
    """Forbid core dumps of this process, and forbid new rights for the programs that it starts.

    With `hide_memory` only root can read this process's memory. A hidden process belongs to root in
    /proc: its memory, files and environment are closed even to the same user, and a debugger cannot
    attach. It writes no core dump even if a program collects them. Raises CliError if the kernel
    refuses.
    """
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        _prctl(_PR_SET_NO_NEW_PRIVS, 1)
        if hide_memory:
            _prctl(_PR_SET_DUMPABLE, 0)
    except OSError as error:
        raise CliError(
            f"the kernel refuses to protect this process: prctl: {error.strerror}; "
            "a container or a filter of system calls has to allow it"
        ) from None


def deny_network(denied_action: int = NO_SUCH_FAMILY) -> bool:
    """Forbid this process all sockets except Unix sockets, and return whether this succeeded.

    This is permanent and affects all threads. A denied call ends with `denied_action`. Returns
    False if the system call numbers of this architecture are unknown. Raises OSError if the kernel
    has no such filter.
    """
    computer = platform.machine()
    if computer not in _SOCKET_CALLS:
        return False
    kind, make, make_pair = _SOCKET_CALLS[computer]
    # The filter program, which the kernel runs at every system call.
    rules: tuple[_Rule, ...] = (
        (_LOAD, 0, 0, _KIND_AT),
        (_EQUAL, 1, 0, kind),
        (_RETURN, 0, 0, NO_SUCH_CALL),
        (_LOAD, 0, 0, _CALL_AT),
        (_EQUAL, 7, 0, _IO_URING_SETUP),
        (_AT_LEAST, 6, 0, _X32),
        (_EQUAL, 1, 0, make),
        (_EQUAL, 0, 3, make_pair),
        (_LOAD, 0, 0, _FIRST_ARGUMENT_AT),
        (_EQUAL, 1, 0, socket.AF_UNIX),
        (_RETURN, 0, 0, denied_action),
        (_RETURN, 0, 0, ALLOW),
        (_RETURN, 0, 0, NO_SUCH_CALL),
    )
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)
    packed = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *rule) for rule in rules))
    program = struct.pack("@HP", len(rules), ctypes.addressof(packed))
    _prctl(
        _PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.create_string_buffer(program, len(program))
    )
    return True


def _prctl(what: int, *values: object) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    words = [
        ctypes.c_ulong(value) if isinstance(value, int) else value
        for value in (*values, 0, 0, 0, 0)[:4]
    ]
    if libc.prctl(what, *words) != 0:
        number = ctypes.get_errno()
        # The file name is given so that this error does not count as a failed output.
        raise OSError(number, os.strerror(number), "prctl")
