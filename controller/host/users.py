"""Users of this computer: whom a process is, and what files let a user do. Changes nothing.

A table's machine and gateway may run as two users. Each believes the other end of their Unix
socket by its uid, which is the kernel's word.
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
    """A user whom this computer does not know; one line says what to do."""


class User(msgspec.Struct, frozen=True, gc=False):
    """A user: `gid` is the main one among all its `groups`."""

    name: str
    uid: int
    gid: int
    groups: tuple[int, ...]


def find_user(name: str) -> User:
    """Return the user of a name or number; a number may be one that has no name.

    Raises UserError.
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
    """Return a user's name, or its number where it has none."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def allowed_peer_uids(name: str | None) -> frozenset[int]:
    """Return the uids that an end of the socket believes: the named user's alone.

    None where machine and gateway are one user: this process's own, and root. Raises UserError.
    """
    return frozenset((os.getuid(), 0)) if name is None else frozenset((find_user(name).uid,))


def peer_uid(connection: socket.socket) -> int:
    """Return who is at the other end of a Unix socket: who listened there, or who connected."""
    raw = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEER.size)
    _, uid, _ = _PEER.unpack(raw)
    return int(uid)


def has_permission(user: User, status: os.stat_result, bits: int) -> bool:
    """Tell whether a file's mode lets a user do any of `bits` (READ, WRITE)."""
    if user.uid == 0:
        return True
    if status.st_uid == user.uid:
        return bool(status.st_mode >> 6 & bits)
    return bool((status.st_mode >> 3 if status.st_gid in user.groups else status.st_mode) & bits)


def changeable_path(user: User, path: Path) -> Path | None:
    """Return where `user` could change `path` or put something else in its place; None: nowhere.

    That is the path itself or a folder above it, where the user owns it (an owner gives himself
    every right) or may write; in a sticky folder, such as /tmp, nobody moves what is another's.
    """
    for whole in dict.fromkeys((path.absolute(), path.resolve())):
        for held, place in pairwise((None, whole, *whole.parents)):
            assert place is not None
            status = place.stat()
            if status.st_uid == user.uid or (
                has_permission(user, status, WRITE)
                and not _is_protected_by_sticky_bit(user, status, held)
            ):
                return place
    return None


def _is_protected_by_sticky_bit(user: User, folder: os.stat_result, held: Path | None) -> bool:
    """Tell whether what is held in a folder stays there, whoever else may write into it."""
    return (
        held is not None
        and bool(folder.st_mode & stat.S_ISVTX)
        and (held.lstat().st_uid != user.uid)
    )


def existing_paths(*paths: Path) -> Iterator[Path]:
    """Yield those of the paths that are there, as far as this process may look."""
    for path in paths:
        try:
            path.stat()
        except OSError:
            continue
        yield path
