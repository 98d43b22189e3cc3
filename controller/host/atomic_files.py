"""Functions that write a file completely or not at all.

Root can use them safely in another user's folder. In their own folder users can replace anything at
any moment, for example by a link to a file of root. Therefore a folder is opened once, and all
later steps use that handle. Root follows a link on the way only if no other user could have created
the link. A new file gets its mode and owner through its own handle, before it gets its name.
"""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from nacl.utils import random as entropy

_FOLDER: Final = os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC
_EXISTING: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NEW: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
_WRITABLE_BY_OTHERS: Final = 0o022


def write_new_file(path: Path, data: bytes, mode: int) -> None:
    """Create the file `path` with `data`. Raises FileExistsError if `path` already exists.

    The user of this process owns the file. Missing folders are created. Raises OSError.
    """
    with (
        _opened_parent(path, make=True) as folder,
        _temporary_file(folder, data, mode, None) as part,
    ):
        os.link(part, path.name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)


def replace_file(path: Path, data: bytes, mode: int) -> None:
    """Replace the content of the file `path` by `data`, or create the file.

    A file that already has this content is not changed. A plain file keeps its owner. Any other
    file gets the owner of its folder. Missing folders are created. Raises OSError.
    """
    with _opened_parent(path, make=True) as folder:
        # The new file gets the owner of the present file. If there is no plain file, it gets the
        # owner of the folder.
        owner, before = os.fstat(folder), None
        with suppress(OSError), _opened_file(path.name, folder) as file:
            found = os.fstat(file)
            if stat.S_ISREG(found.st_mode):
                owner, before = found, os.read(file, len(data) + 1)
        if before == data:
            return
        with _temporary_file(folder, data, mode, owner) as part:
            os.replace(part, path.name, src_dir_fd=folder, dst_dir_fd=folder)


def make_folder(path: Path, uid: int, gid: int, mode: int) -> None:
    """Create a folder with this owner and mode, or do nothing if the folder exists.

    Raises OSError, also if the parent folder is missing.
    """
    with _opened_parent(path, make=False) as folder:
        try:
            os.mkdir(path.name, 0o700, dir_fd=folder)
        except FileExistsError:
            return
        with _opened_file(path.name, folder, os.O_DIRECTORY) as made:
            if os.fstat(made).st_uid != os.geteuid():
                raise FileExistsError(errno.EEXIST, "was exchanged while it was made")
            with suppress(PermissionError):  # only root can change the owner
                os.fchown(made, uid, gid)
            os.fchmod(made, mode)


def change_owner(path: Path, uid: int, gid: int) -> None:
    """Change the owner of a plain file. Raises OSError for any other file, for example a link."""
    with _opened_parent(path, make=False) as folder, _opened_file(path.name, folder) as file:
        found = os.fstat(file)
        if (found.st_uid, found.st_gid) == (uid, gid):
            return
        if not stat.S_ISREG(found.st_mode) or found.st_nlink != 1:
            raise FileExistsError(errno.EEXIST, "is no plain file with one name: take it away")
        os.fchown(file, uid, gid)


@contextmanager
def _opened_parent(path: Path, *, make: bool) -> Iterator[int]:
    """Open the folder that contains `path`, and yield its file descriptor during the block.

    Each folder on the way from the root is opened in turn. If `make` is true, missing folders are
    created. An error within the block is raised with `path` in its text.
    """
    whole = path.absolute()
    handle = os.open(whole.anchor, _FOLDER)
    try:
        for at, name in enumerate(names := whole.parent.parts[1:], start=1):
            if make:
                try:
                    os.stat(name, dir_fd=handle, follow_symlinks=False)
                except FileNotFoundError:
                    with suppress(FileExistsError):
                        os.mkdir(name, (0o700 if at == len(names) else 0o777), dir_fd=handle)
            inner = _open_inner_folder(handle, name)
            os.close(handle)
            handle = inner
        yield handle
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error
    finally:
        os.close(handle)


def _open_inner_folder(folder: int, name: str) -> int:
    """Open the folder `name` inside the open folder `folder`, and return its descriptor.

    Root follows a link only if no other user could have created the link.
    """
    status = os.fstat(folder)
    nobody_elses = status.st_uid == 0 and not status.st_mode & _WRITABLE_BY_OTHERS
    if os.geteuid() != 0 or nobody_elses:
        return os.open(name, _FOLDER, dir_fd=folder)
    try:
        return os.open(name, _FOLDER | os.O_NOFOLLOW, dir_fd=folder)
    except NotADirectoryError:
        raise NotADirectoryError(
            errno.ENOTDIR, f"root follows no link that another user could have put ({name})"
        ) from None


@contextmanager
def _opened_file(name: str, folder: int, more: int = 0) -> Iterator[int]:
    handle = os.open(name, _EXISTING | more, dir_fd=folder)
    try:
        yield handle
    finally:
        os.close(handle)


@contextmanager
def _temporary_file(
    folder: int, data: bytes, mode: int, owner: os.stat_result | None
) -> Iterator[str]:
    """Write `data` to a temporary file in `folder`, and yield the file's name during the block.

    The file is on the disk then. It gets `owner` (None: no change) if this process may change
    owners. It is deleted after the block.
    """
    name = f".{entropy(8).hex()}.part"
    handle = os.open(name, _NEW, 0o600, dir_fd=folder)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            if owner is not None:
                with suppress(PermissionError):  # only root can change the owner
                    os.fchown(handle, owner.st_uid, owner.st_gid)
            os.fchmod(handle, mode)
            os.fsync(handle)
        yield name
    finally:
        with suppress(FileNotFoundError):
            os.unlink(name, dir_fd=folder)
