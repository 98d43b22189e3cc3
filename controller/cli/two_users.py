"""A table's machine and gateway as two users: what lies where, whose it is, and what is wrong.

Root lays it out (`dealtable run` does, and `dealtable keys create --config` where systemd starts
the two); afterwards each process runs as its own user and checks it, and changes nothing:

    state_dir            the machine's 0700   journal, keys/table.sign
    runtime_dir          the machine's 0700   keys of attempts
    runtime_dir.gateway  the machine's 2710, of the gateway's group: the socket alone
    [gateway] dir        root's 0755          keys/, admitted/, revoked/: the gateway reads them
        clients          root's 0700          pairs that were made here, secrets too
        endpoints.json   the gateway's 0644   the one file that it writes
"""

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Literal, NamedTuple

from controller.cli import LineError
from controller.config import TableConfig
from controller.roster import ADMITTED, CLIENTS, KEYS, REVOKED, SIGN_FILE, TABLE, RosterError
from controller.users import (
    READ,
    WRITE,
    User,
    UserError,
    changeable,
    may,
    name_of,
    there,
    user_named,
)
from controller.whole_files import give, make_folder

_ENDPOINTS = "endpoints.json"
_ROOT = User("root", 0, 0, (0,))

Part = Literal["machine", "gateway"]


class TwoUsers(NamedTuple):
    """Whom the two processes of a table run as."""

    machine: User
    gateway: User


def two_users(config: TableConfig) -> TwoUsers | None:
    """Return the users whom a configuration names; None where it names none.

    Raises LineError for one that this computer does not know, two names of one, and root.
    """
    if config.table.user is None or config.gateway.user is None:
        return None
    users = []
    for key, name in (("table.user", config.table.user), ("gateway.user", config.gateway.user)):
        try:
            users.append(user_named(name))
        except UserError as error:
            raise LineError(f"{key}: {error}") from error
    found = TwoUsers(*users)
    if found.gateway.uid in (found.machine.uid, 0):
        raise LineError(
            f"gateway.user = {found.gateway.name}: expected neither root nor table.user"
        )
    return found


def lay_out(config: TableConfig) -> None:
    """Make what the table's processes need, each thing its owner's; what is there stays.

    Raises LineError for what cannot be made, and for what is there and is wrong.
    """
    users = two_users(config)
    if users is not None and os.geteuid() != 0:
        raise LineError(
            f"table.user and gateway.user: only root starts two users: start this as root, or "
            f"`run machine` as {users.machine.name} and `run gateway` as {users.gateway.name}"
        )
    try:
        if users is None:
            _create_keys(config)
        else:
            _lay_out(config, users)
        _make_runtime_dir(config.table.runtime_dir, users)
    except RosterError as error:
        raise LineError(str(error)) from error
    except OSError as error:
        raise LineError(f"{error.filename}: {error.strerror}") from error
    check_two_users(config, config.table.state_dir)


def check_two_users(config: TableConfig, *files: Path) -> None:
    """Return if what is there already keeps a table's two users apart, or it has only one.

    `files` are others that the gateway may not change, such as the configuration itself. Raises
    LineError with the first thing that is wrong.
    """
    users = two_users(config)
    if users is not None:
        for finding in _findings(config, users, files):
            raise LineError(finding)


def check_who_runs(config: TableConfig, part: Part) -> None:
    """Return if this process is the user whom the configuration names for its part.

    Raises LineError.
    """
    users = two_users(config)
    if users is None:
        return
    user, key = getattr(users, part), "table.user" if part == "machine" else "gateway.user"
    if os.geteuid() != user.uid:
        raise LineError(
            f"{key} is {user.name}, this runs as {name_of(os.geteuid())}: start `run {part}` as "
            f"{user.name}, or `dealtable run` as root"
        )


def open_the_door(config: TableConfig) -> None:
    """Let the gateway's group into the folder of the socket; the machine does, whose it is.

    Raises LineError where it is not to be had.
    """
    users = two_users(config)
    if users is None:
        return
    folder = config.socket.parent
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = folder.stat()
        if status.st_gid != users.gateway.gid:
            os.chown(folder, -1, users.gateway.gid)
        if stat.S_IMODE(status.st_mode) & 0o777 != 0o710:
            folder.chmod(0o2710)
    except OSError as error:
        raise LineError(
            f"{folder}: {error.strerror}: the socket's folder belongs to {users.machine.name} and "
            f"the group {users.gateway.gid} of {users.gateway.name}: `dealtable run` as root makes "
            "it, or make it at every start (tmpfiles.d)"
        ) from error


def _lay_out(config: TableConfig, users: TwoUsers) -> None:
    """As root: folders before what goes into them, so that nothing lies open meanwhile."""
    machine, gateway = users
    state_dir, place = config.table.state_dir, config.gateway_dir
    for folder in (state_dir, state_dir / KEYS):
        _folder(folder, machine, 0o700)
    _folder(place, _ROOT, 0o755)
    _folder(place / CLIENTS, _ROOT, 0o700)
    for folder in (place, place / KEYS, place / ADMITTED, place / REVOKED):
        _folder(folder, _ROOT, 0o755)
        if folder.stat().st_uid == _ROOT.uid:  # as one user had it: nobody else could read it
            folder.chmod(stat.S_IMODE(folder.stat().st_mode) | 0o055)
    _folder(config.socket.parent, User(machine.name, machine.uid, gateway.gid, ()), 0o2710)
    _create_keys(config)
    give(state_dir / KEYS / SIGN_FILE, machine.uid, machine.gid)
    give(place / KEYS / f"{TABLE}.key_secret", gateway.uid, gateway.gid)
    addresses = place / _ENDPOINTS
    if not addresses.exists():
        os.close(os.open(addresses, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644))
        addresses.chmod(0o644)
        give(addresses, gateway.uid, gateway.gid)
    for name in (_ENDPOINTS, CLIENTS):  # so that `send --state-dir` finds the table, and its key
        with suppress(FileExistsError):
            (state_dir / name).symlink_to(place / name)


def _create_keys(config: TableConfig) -> None:
    from controller.gateway.certificates import create_keys  # the machine never loads the network

    create_keys(config.table.state_dir, config.gateway_dir)


def _make_runtime_dir(folder: Path, users: TwoUsers | None) -> None:
    try:
        if users is None:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        else:
            _folder(folder, users.machine, 0o700)
    except OSError as error:
        raise LineError(
            f"runtime_dir {folder} cannot be made ({error.strerror}): "
            "name a folder under /run or /dev/shm that is yours"
        ) from error


def _folder(folder: Path, owner: User, mode: int) -> None:
    """Make a folder with its owner and mode, in root's folders; one that is there stays."""
    if not folder.parent.exists():
        _folder(folder.parent, _ROOT, 0o755)
    make_folder(folder, owner.uid, owner.gid, mode)


# What is wrong, in the order in which it is mended.


def _findings(config: TableConfig, users: TwoUsers, files: tuple[Path, ...]) -> Iterator[str]:
    table, place = config.table, config.gateway_dir
    for key, folder in (
        ("state_dir", table.state_dir),
        ("runtime_dir", table.runtime_dir),
        ("the socket's folder", config.socket.parent),
    ):
        yield from _not_owned(key, folder, users.machine)
    for key, folder in (
        ("state_dir", table.state_dir),
        ("runtime_dir", table.runtime_dir),
        ("clients", place / CLIENTS),
    ):
        yield from _open(key, folder)
    yield from _changeable(
        users.gateway,
        *(*files, table.state_dir, table.runtime_dir, config.socket.parent),
        *(place, place / KEYS, place / KEYS / f"{TABLE}.key"),
        *(place / ADMITTED, *sorted((place / ADMITTED).glob("*.key"))),
        *(place / REVOKED, *sorted((place / REVOKED).glob("*.key"))),
        place / CLIENTS,
    )
    yield from _secret(place / KEYS / f"{TABLE}.key_secret", users.gateway)
    for key, port in (("dealer.port", config.dealer.port), ("reader.port", config.reader.port)):
        yield from _port(key, Path(port), users.gateway)


def _not_owned(key: str, folder: Path, owner: User) -> Iterator[str]:
    for found in there(folder):
        uid = found.stat().st_uid
        if uid != owner.uid:
            yield (
                f"{key} {folder} belongs to {name_of(uid)}, not to table.user {owner.name}: "
                f"chown -R {owner.name} it"
            )


def _open(key: str, folder: Path) -> Iterator[str]:
    for found in there(folder):
        mode = stat.S_IMODE(found.stat().st_mode)
        if mode & 0o077:
            yield f"{key} {folder} is open to others (mode {mode:04o}): chmod 0700 it"


def _changeable(gateway: User, *paths: Path) -> Iterator[str]:
    for path in there(*paths):
        where = changeable(gateway, path)
        if where is not None:
            what = "it" if where == path else path
            yield (
                f"{where}: gateway.user {gateway.name} could change {what}: chown root "
                f"{where}, and chmod g-w,o-w"
            )


def _secret(file: Path, gateway: User) -> Iterator[str]:
    for found in there(file):
        status = found.stat()
        if status.st_uid != gateway.uid or stat.S_IMODE(status.st_mode) & 0o077:
            yield (
                f"{file} is the secret of gateway.user {gateway.name} alone: "
                f"chown {gateway.name} it, and chmod 0600"
            )


def _port(key: str, port: Path, gateway: User) -> Iterator[str]:
    for found in there(port):
        status = found.stat()
        if may(gateway, status, READ | WRITE):
            yield (
                f"{key} {port}: gateway.user {gateway.name} could listen to the cards there: "
                f"take it out of the group {status.st_gid}, and chmod o-rw"
            )
