"""What `dealtable doctor` gathers: of the computer, and what only the command line may ask."""

import importlib.metadata
import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Final

from controller.cli import CliError, compiled
from controller.cli.doctor_boards import PORT_IN_USE, STATE_UNREADABLE, ask_boards
from controller.cli.doctor_feed import gather_feed
from controller.cli.installed import (
    find_odd_files,
    find_program_folder,
    hash_program_files,
    read_program_firmware,
    read_remembered_release,
)
from controller.cli.program_files import MANIFEST
from controller.cli.release_files import read_manifest, read_release_key, read_signed_manifest
from controller.cli.two_users import check_separation
from controller.cli.wall import read_wall_clock
from controller.config import TableConfig
from controller.doctor import gathering
from controller.doctor.computer import Computer
from controller.doctor.facts import (
    ClockFacts,
    DoctorFacts,
    KeyFacts,
    LibraryFacts,
    ProgramFacts,
    PythonFacts,
    ReleaseFacts,
)
from controller.doctor.of_boards import BOARDS
from controller.journal.store import LOCK_NAME
from controller.release import BadRelease, Manifest, file_differences
from controller.roster import (
    KEYS_FOLDER,
    TABLE_NAME,
    Roster,
    RosterError,
    parse_moment,
    read_certificate,
    read_sign_secret,
)
from controller.roster.certificate import SIGN_FILE
from controller.tomlfile import FileError
from controller.users import User, UserError, find_user
from drivers.events import BoardKind

LIBRARIES: Final = ("msgspec", "serial", "gpiozero", "nacl", "structlog", "click", "rich", "zmq")
"""Libraries by the names they are imported under; lgpio besides, where the panel's pins need it."""
_IMPORT_SCRIPT: Final = """
import importlib, importlib.metadata, json, sys
found = {}
of = importlib.metadata.packages_distributions()
for name in sys.argv[1:]:
    try:
        module = importlib.import_module(name)
        if name == "nacl":
            importlib.import_module("nacl.bindings")
        version = importlib.metadata.version(of[name][0]) if name in of else ""
        curve = module.has("curve") if name == "zmq" else None
        found[name] = {"version": version, "curve": curve}
    except Exception as error:
        found[name] = {"trouble": f"{type(error).__name__}: {error}".splitlines()[0]}
    print(json.dumps(found), flush=True)
"""
_IMPORT_TIMEOUT_S: Final = 60.0


def gather_facts(
    config: TableConfig, file: Path, key: Path | None, computer: Computer | None = None
) -> DoctorFacts:
    """Return all that is known of a table. `key` is the release's public one.

    Raises FileError or LineError for a file that was named and cannot be used.
    """
    computer = computer or Computer()
    user = _find_machine_user(config)
    machine = gathering.find_lock_holder(computer, config.table.state_dir / LOCK_NAME)
    paths: dict[BoardKind, str] = {"dealer": config.dealer.port, "reader": config.reader.port}
    ports = {board: gathering.read_port(computer, paths[board], user) for board in BOARDS}
    closed = _is_unreadable(config.table.state_dir)
    free = machine is None and not closed and not any(one.holders for one in ports.values())
    return DoctorFacts(
        config_file=file,
        python=_gather_python(),
        libraries=import_libraries(
            (*LIBRARIES, *(("lgpio",) if config.panel.pins == "lgpio" else ()))
        ),
        program=_gather_program(config, key),
        machine_pid=machine,
        state_unreadable=closed,
        ports=ports,
        answers=ask_boards(config)
        if free
        else dict.fromkeys(BOARDS, STATE_UNREADABLE if closed else PORT_IN_USE),
        pins=gathering.read_pins(computer, config, user),
        clock=ClockFacts(parse_moment(read_wall_clock()), computer.is_synchronized()),
        disk=gathering.read_disk(config.table.state_dir, user),
        memory=gathering.read_memory(computer, config.table.runtime_dir, machine),
        supply=gathering.read_supply(computer),
        keys=gather_keys(config),
        users_problem=_find_user_problem(config, file),
        services=gathering.read_services(computer, config.table.id),
        feed=gather_feed(config, computer),
    )


def _gather_python() -> PythonFacts:
    major, minor, micro = sys.version_info[:3]
    return PythonFacts(
        (major, minor, micro), 64 if sys.maxsize > 1 << 32 else 32, platform.machine()
    )


def import_libraries(names: tuple[str, ...]) -> tuple[LibraryFacts, ...]:
    """Import libraries in a process of its own: a wheel of another computer may end it.

    lgpio makes a pipe in its folder: that one is taken away again.
    """
    with tempfile.TemporaryDirectory() as folder:
        try:
            done = subprocess.run(
                (sys.executable, "-I", "-c", _IMPORT_SCRIPT, *names),
                capture_output=True,
                text=True,
                cwd=folder,
                env=os.environ | {"LG_WD": folder},
                timeout=_IMPORT_TIMEOUT_S,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return tuple(LibraryFacts(name, trouble=str(error)) for name in names)
    said = done.stdout.splitlines()
    found = json.loads(said[-1]) if said else {}
    ended = LibraryFacts("", trouble=f"it ends the process ({done.returncode})")
    return tuple(
        LibraryFacts(name, **found.get(name, {"trouble": ended.trouble})) for name in names
    )


# -- the program --------------------------------------------------------------


def _gather_program(config: TableConfig, key: Path | None) -> ProgramFacts:
    """Return what is installed, as `dealtable release check` sees it."""
    folder = find_program_folder()
    version, firmware = (
        importlib.metadata.version("dealtable"),
        read_program_firmware(folder)["dealer"].hash,
    )
    verify = None if key is None else read_release_key(key)
    path = folder / MANIFEST
    known = ProgramFacts(version=version, firmware=firmware)
    try:
        manifest = None if not path.exists() else read_manifest(path)
        if manifest is not None and verify is not None:
            read_signed_manifest(path, verify)
        released = (
            None if manifest is None else _describe_release(manifest, signed=verify is not None)
        )
        unlike = tuple(_find_differences(manifest, folder, config.table.state_dir))
    except (FileError, BadRelease) as wrong:
        return ProgramFacts(version=version, firmware=firmware, trouble=f"{wrong}")
    return ProgramFacts(known.version, known.firmware, released, unlike)


def _describe_release(manifest: Manifest, *, signed: bool) -> ReleaseFacts:
    return ReleaseFacts(manifest.version, manifest.serial, manifest.released, signed or None)


def _find_differences(manifest: Manifest | None, folder: Path, state_dir: Path) -> Iterator[str]:
    """Yield a line for each thing that is not as it was released, and for a way back."""
    remembered = read_remembered_release(state_dir) if os.access(state_dir, os.X_OK) else None
    serial = 0 if manifest is None else manifest.serial
    if remembered is not None and serial < remembered.serial:
        yield f"release {remembered.version} (serial {remembered.serial}) ran here before"
    if manifest is None:
        return
    odd = find_odd_files(folder)
    for one in file_differences(manifest.files, hash_program_files(folder)):
        yield f"{one}: {odd[one.path]}" if one.path in odd else f"{one}"
    if read_program_firmware(folder) != manifest.firmware:
        yield "drivers/firmware is not the released one"
    yield from map(str, compiled.find_wrong_bytecode(folder))


# -- users and keys -----------------------------------------------------------


def _find_machine_user(config: TableConfig) -> User:
    """Return whom the machine runs as: this process's own user where the file names none."""
    try:
        return find_user(config.table.user or str(os.geteuid()))
    except UserError:
        return User(str(config.table.user), -1, -1, ())


def _find_user_problem(config: TableConfig, file: Path) -> str:
    try:
        check_separation(config, file)
    except CliError as error:
        return str(error)
    return ""


def gather_keys(config: TableConfig) -> KeyFacts:
    """Return what is known of a table's keys, and of who is admitted."""
    state_dir, place = config.table.state_dir, config.gateway_dir
    for folder in (state_dir, place):
        if _is_unreadable(folder):
            return KeyFacts(closed_folder=str(folder))
    public = place / KEYS_FOLDER / f"{TABLE_NAME}.key"
    if not public.exists() and not (state_dir / KEYS_FOLDER / SIGN_FILE).exists():
        return KeyFacts(are_missing=True)
    try:
        read_certificate(public)
        read_sign_secret(state_dir)
        if not (place / KEYS_FOLDER / f"{TABLE_NAME}.key_secret").exists():
            raise RosterError(f"{place / KEYS_FOLDER / f'{TABLE_NAME}.key_secret'} is not there")
        found = Roster.load(place)
    except RosterError as error:
        return KeyFacts(trouble=str(error))
    roster = Roster(found.clients, found.revoked, _now)
    return KeyFacts(
        chiefs=len(roster.chief_seals()),
        clients=len(roster.clients),
        expiring=tuple(one.name for one in roster.expiring_clients()),
        expired=tuple(one.name for one in roster.clients if roster.has_expired(one)),
    )


def _is_unreadable(folder: Path) -> bool:
    """Tell whether a folder is there, and this user may not look into it."""
    return folder.exists() and not os.access(folder, os.R_OK | os.X_OK)


def _now() -> datetime:
    return parse_moment(read_wall_clock())
