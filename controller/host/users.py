"""The users of this computer, the user of a process, and the rights of a user to files.

A table's machine and gateway may run as two users. Each checks the other end of their Unix socket
by its uid, which the kernel reports. This module changes nothing.
"""

import os
import pwd
import socket
import stat
import struct
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Final

import msgspec

READ: Final = 0o4
WRITE: Final = 0o2

_PEER = struct.Struct("3i")  # pid, uid, gid of SO_PEERCRED


class UserError(Exception):
    """An error for a user that does not exist on this computer.

    The text is one line with the action to take.
    """


class User(msgspec.Struct, frozen=True, gc=False):
    """A user of this computer, and their groups. `gid` is the main group among all `groups`."""

    name: str
    uid: int
    gid: int
    groups: tuple[int, ...]


def find_user(name: str) -> User:
    """Return the user with this name, or with this user id if `name` is a number.

    An id does not need an entry in the list of users. Raises UserError for an unknown name.
    """
    try:
        entry = pwd.getpwuid(int(name)) if name.isdigit() else pwd.getpwnam(name)
    except KeyError:
        if name.isdigit():
            return User(name, int(name), int(name), (int(name),))
        raise UserError(
            f'there is no user "{name}" on this computer: make one (useradd --system {name})'
        ) from None
    groups = os.getgrouplist(entry.pw_name, entry.pw_gid)
    return User(entry.pw_name, entry.pw_uid, entry.pw_gid, tuple(groups))


def user_name(uid: int) -> str:
    """Return the name of the user `uid`, or the number as text if no such user is listed."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def allowed_peer_uids(name: str | None) -> frozenset[int]:
    """Return the ids of the users who may be the peer on the socket between machine and gateway.

    With a name, this is only the named user. With None, machine and gateway run as one user, and
    the result is this process's own uid and root. Raises UserError for an unknown name.
    """
    return frozenset((os.getuid(), 0)) if name is None else frozenset((find_user(name).uid,))


def peer_uid(connection: socket.socket) -> int:
    """Return the user id of the process at the other end of a Unix socket."""
    raw = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEER.size)
    _, uid, _ = _PEER.unpack(raw)
    return int(uid)


def has_permission(user: User, status: os.stat_result, bits: int) -> bool:
    """Return whether `user` is root or has any right in `bits` to the file with this `status`."""
    if user.uid == 0:
        return True
    if status.st_uid == user.uid:
        return bool(status.st_mode >> 6 & bits)
    return bool((status.st_mode >> 3 if status.st_gid in user.groups else status.st_mode) & bits)


def changeable_path(user: User, path: Path) -> Path | None:
    """Return a file or folder through which `user` can change `path`, or None if there is none.

    The result is `path` itself or a folder above it that the user owns or may write to. An owner
    can always grant themselves every right. In a sticky folder, such as /tmp, a user cannot move
    the files of others.
    """
    for whole in dict.fromkeys((path.absolute(), path.resolve())):
        for held, place in pairwise((None, whole, *whole.parents)):
            assert place is not None
            status = place.stat()
            if status.st_uid == user.uid or (
                has_permission(user, status, WRITE)
                and not (held and status.st_mode & stat.S_ISVTX and held.lstat().st_uid != user.uid)
            ):
                return place
    return None


def existing_paths(*paths: Path) -> Iterator[Path]:
    """Yield each path in `paths` that exists, if this process has the right to examine it."""
    for path in paths:
        try:
            path.stat()
        except OSError:
            continue
        yield path
