"""Folders and permissions of a table whose machine and gateway run as two users.

Root creates the folders (with `dealtable run`, or with `dealtable keys create --config` if systemd
starts the two processes). Afterwards each process runs as its own user. It checks the folders and
changes nothing:

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

from controller.cli import CliError
from controller.config import TableConfig
from controller.host.atomic_files import change_owner, make_folder
from controller.host.users import (
    READ,
    WRITE,
    User,
    UserError,
    changeable_path,
    existing_paths,
    find_user,
    has_permission,
    user_name,
)
from controller.roster import (
    ADMITTED_FOLDER,
    CLIENTS_FOLDER,
    KEYS_FOLDER,
    REVOKED_FOLDER,
    TABLE_NAME,
    RosterError,
)
from controller.roster.certificate import SIGN_FILE

_ENDPOINTS = "endpoints.json"
_ROOT = User("root", 0, 0, (0,))

ProcessName = Literal["machine", "gateway"]


class ProcessUsers(NamedTuple):
    """The users of the two processes of a table."""

    machine: User
    gateway: User


def find_process_users(config: TableConfig) -> ProcessUsers | None:
    """Return the two users that a configuration names, or None if it names no users.

    Raises CliError for an unknown user, for two names of one user, and for root as the gateway's.
    """
    if config.table.user is None or config.gateway.user is None:
        return None
    users = []
    for key, name in (("table.user", config.table.user), ("gateway.user", config.gateway.user)):
        try:
            users.append(find_user(name))
        except UserError as error:
            raise CliError(f"{key}: {error}") from error
    found = ProcessUsers(*users)
    if found.gateway.uid in (found.machine.uid, 0):
        raise CliError(f"gateway.user = {found.gateway.name}: expected neither root nor table.user")
    return found


def create_table_folders(config: TableConfig) -> None:
    """Create the folders and files of a table's processes, and set their owners.

    Existing folders and files are kept. Raises CliError if something cannot be created, or exists
    and is wrong.
    """
    users = find_process_users(config)
    if users is not None and os.geteuid() != 0:
        raise CliError(
            f"table.user and gateway.user: only root starts two users: start this as root, or "
            f"`run machine` as {users.machine.name} and `run gateway` as {users.gateway.name}"
        )
    try:
        if users is None:
            _create_keys(config)
        else:
            _create_separated_folders(config, users)
        folder = config.table.runtime_dir
        try:
            if users is None:
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            else:
                _create_folder(folder, users.machine, 0o700)
        except OSError as error:
            raise CliError(
                f"runtime_dir {folder} cannot be made ({error.strerror}): "
                "name a folder under /run or /dev/shm that is yours"
            ) from error
    except RosterError as error:
        raise CliError(str(error)) from error
    except OSError as error:
        raise CliError(f"{error.filename}: {error.strerror}") from error
    check_separation(config, config.table.state_dir)


def check_separation(config: TableConfig, *files: Path) -> None:
    """Raise CliError if owners or modes of files do not separate the two users of a table.

    A table with one user is not checked. `files` are other files that the gateway must not be able
    to change, such as the configuration. The error describes the first problem.
    """
    users = find_process_users(config)
    if users is not None:
        for finding in _find_problems(config, users, files):
            raise CliError(finding)


def check_process_user(config: TableConfig, process: ProcessName) -> None:
    """Raise CliError if a user is configured for `process` but this process runs as another."""
    users = find_process_users(config)
    if users is None:
        return
    user, key = getattr(users, process), "table.user" if process == "machine" else "gateway.user"
    if os.geteuid() != user.uid:
        raise CliError(
            f"{key} is {user.name}, this runs as {user_name(os.geteuid())}: start "
            f"`run {process}` as {user.name}, or `dealtable run` as root"
        )


def open_socket_folder(config: TableConfig) -> None:
    """Create the folder of the socket if it is missing, and open it to the gateway's group.

    The machine process calls this, because it owns the folder. A table with one user is left as it
    is. Raises CliError if the folder is not available.
    """
    users = find_process_users(config)
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
        raise CliError(
            f"{folder}: {error.strerror}: the socket's folder belongs to {users.machine.name} and "
            f"the group {users.gateway.gid} of {users.gateway.name}: `dealtable run` as root makes "
            "it, or make it at every start (tmpfiles.d)"
        ) from error


def _create_separated_folders(config: TableConfig, users: ProcessUsers) -> None:
    """Create the folders of a table whose two processes run as two users.

    Only root can do this. Each folder is made before its content, so that nothing is readable
    meanwhile.
    """
    machine, gateway = users
    state_dir, place = config.table.state_dir, config.gateway_dir
    for folder in (state_dir, state_dir / KEYS_FOLDER):
        _create_folder(folder, machine, 0o700)
    _create_folder(place, _ROOT, 0o755)
    _create_folder(place / CLIENTS_FOLDER, _ROOT, 0o700)
    for folder in (place, place / KEYS_FOLDER, place / ADMITTED_FOLDER, place / REVOKED_FOLDER):
        _create_folder(folder, _ROOT, 0o755)
        # A folder of the time with one user may be closed to other users.
        if folder.stat().st_uid == _ROOT.uid:
            folder.chmod(stat.S_IMODE(folder.stat().st_mode) | 0o055)
    _create_folder(config.socket.parent, User(machine.name, machine.uid, gateway.gid, ()), 0o2710)
    _create_keys(config)
    change_owner(state_dir / KEYS_FOLDER / SIGN_FILE, machine.uid, machine.gid)
    change_owner(place / KEYS_FOLDER / f"{TABLE_NAME}.key_secret", gateway.uid, gateway.gid)
    addresses = place / _ENDPOINTS
    if not addresses.exists():
        os.close(os.open(addresses, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644))
        addresses.chmod(0o644)
        change_owner(addresses, gateway.uid, gateway.gid)
    # With these links, `send --state-dir` finds the table and its key.
    for name in (_ENDPOINTS, CLIENTS_FOLDER):
        with suppress(FileExistsError):
            (state_dir / name).symlink_to(place / name)


def _create_keys(config: TableConfig) -> None:
    # Imported here, because the machine never loads network code.
    from controller.keys.table_keys import create_table_keys

    create_table_keys(config.table.state_dir, config.gateway_dir)


def _create_folder(folder: Path, owner: User, mode: int) -> None:
    """Create a folder, and set its owner and mode. An existing folder is kept.

    Missing folders above it are created for root.
    """
    if not folder.parent.exists():
        _create_folder(folder.parent, _ROOT, 0o755)
    make_folder(folder, owner.uid, owner.gid, mode)


# Problems, in the order in which they must be solved.


def _find_problems(
    config: TableConfig, users: ProcessUsers, files: tuple[Path, ...]
) -> Iterator[str]:
    table, place = config.table, config.gateway_dir
    for key, folder in (
        ("state_dir", table.state_dir),
        ("runtime_dir", table.runtime_dir),
        ("the socket's folder", config.socket.parent),
    ):
        for uid in (found.stat().st_uid for found in existing_paths(folder)):
            if uid != users.machine.uid:
                yield (
                    f"{key} {folder} belongs to {user_name(uid)}, not to table.user "
                    f"{users.machine.name}: chown -R {users.machine.name} it"
                )
    for key, folder in (
        ("state_dir", table.state_dir),
        ("runtime_dir", table.runtime_dir),
        ("clients", place / CLIENTS_FOLDER),
    ):
        for mode in (stat.S_IMODE(found.stat().st_mode) for found in existing_paths(folder)):
            if mode & 0o077:
                yield f"{key} {folder} is open to others (mode {mode:04o}): chmod 0700 it"
    yield from _find_writable(
        users.gateway,
        *(*files, table.state_dir, table.runtime_dir, config.socket.parent),
        *(place, place / KEYS_FOLDER, place / KEYS_FOLDER / f"{TABLE_NAME}.key"),
        *(place / ADMITTED_FOLDER, *sorted((place / ADMITTED_FOLDER).glob("*.key"))),
        *(place / REVOKED_FOLDER, *sorted((place / REVOKED_FOLDER).glob("*.key"))),
        place / CLIENTS_FOLDER,
    )
    gateway, secret = users.gateway, place / KEYS_FOLDER / f"{TABLE_NAME}.key_secret"
    for status in (found.stat() for found in existing_paths(secret)):
        if status.st_uid != gateway.uid or stat.S_IMODE(status.st_mode) & 0o077:
            yield (
                f"{secret} is the secret of gateway.user {gateway.name} alone: "
                f"chown {gateway.name} it, and chmod 0600"
            )
    for key, port in (("dealer.port", config.dealer.port), ("reader.port", config.reader.port)):
        for status in (found.stat() for found in existing_paths(Path(port))):
            if has_permission(gateway, status, READ | WRITE):
                yield (
                    f"{key} {port}: gateway.user {gateway.name} could listen to the cards there: "
                    f"take it out of the group {status.st_gid}, and chmod o-rw"
                )


def _find_writable(gateway: User, *paths: Path) -> Iterator[str]:
    for path in existing_paths(*paths):
        where = changeable_path(gateway, path)
        if where is not None:
            what = "it" if where == path else path
            yield (
                f"{where}: gateway.user {gateway.name} could change {what}: chown root "
                f"{where}, and chmod g-w,o-w"
            )
