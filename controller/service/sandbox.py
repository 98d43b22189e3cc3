"""What a process of a table gives up when it begins, with or without systemd.

It costs nothing, and nothing brings it back: no core dumps, no rights gained by what it starts,
and for the machine a memory that no other process of the same user reads, and no socket but
Unix sockets.

Memory is not locked (mlockall). It would not be enough: the attempt keys lie in files in memory
(tmpfs), which a computer that swaps writes to its disk all the same, and with a limit on locked
memory a machine could fail in mid-deal for want of it. A table's computer has no swap
(deploy/THREATS.md).
"""

import ctypes
import os
import platform
import resource
import socket
import struct
from collections.abc import Sequence
from typing import Final

from controller.cli import CliError

_PR_SET_DUMPABLE: Final = 4
_PR_SET_SECCOMP: Final = 22
_PR_SET_NO_NEW_PRIVS: Final = 38
_SECCOMP_MODE_FILTER: Final = 2

# Of <linux/seccomp.h>, <linux/filter.h> and <linux/audit.h>.
KILL: Final = 0x8000_0000
ALLOW: Final = 0x7FFF_0000
NO_SUCH_FAMILY: Final = 0x0005_0000 | 97  # the call fails with EAFNOSUPPORT
NO_SUCH_CALL: Final = 0x0005_0000 | 38  # … with ENOSYS
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_CALL_AT, _KIND_AT, _FIRST_ARGUMENT_AT = 0, 4, 16

_Rule = tuple[int, int, int, int]  # opcode, how many to skip if true, if false, operand

# The kernel's name of a computer's calls, and there the number of socket() and of socketpair().
_SOCKET_CALLS: Final = {
    "x86_64": (0xC000_003E, 41, 53),
    "aarch64": (0xC000_00B7, 198, 199),
}
_IO_URING_SETUP: Final = 425  # everywhere; through it sockets are made without the calls above
_X32: Final = 0x4000_0000  # a second set of numbers of x86_64


def restrict_process(*, hide_memory: bool) -> None:
    """Give up core dumps and new rights; `hidden`: nobody reads this process's memory but root.

    A hidden process belongs to root in /proc: same user or not, its memory, files and environment
    are closed, and no debugger comes in. It writes no core even where a program collects them.
    Raises LineError where the kernel refuses it.
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
    """From now on give no thread of this process any socket but Unix sockets.

    Asking for another ends with `instead`. Returns False on a kind of computer where the kernel's
    numbers are not known here. Raises OSError where the kernel has no such filter.
    """
    rules = _make_filter(platform.machine(), denied_action)
    if not rules:
        return False
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)
    packed = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *rule) for rule in rules))
    program = struct.pack("@HP", len(rules), ctypes.addressof(packed))
    _prctl(
        _PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.create_string_buffer(program, len(program))
    )
    return True


def _make_filter(computer: str, denied_action: int) -> Sequence[_Rule]:
    """Return the filter: what the kernel asks at every call, from the first rule on."""
    if computer not in _SOCKET_CALLS:
        return ()
    kind, make, make_pair = _SOCKET_CALLS[computer]
    return (
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


def _prctl(what: int, *values: object) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    words = [
        ctypes.c_ulong(value) if isinstance(value, int) else value
        for value in (*values, 0, 0, 0, 0)[:4]
    ]
    if libc.prctl(what, *words) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), "prctl")  # named: it is no failed output
