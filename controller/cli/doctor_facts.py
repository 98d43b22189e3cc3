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
from controller.cli.doctor_boards import CLOSED, PORT_IN_USE, answers
from controller.cli.doctor_feed import feed_of
from controller.cli.installed import (
    digests,
    find_odd_files,
    find_program_folder,
    read_program_firmware,
    read_remembered_release,
)
from controller.cli.program_files import MANIFEST
from controller.cli.release_files import read_manifest, read_release_key, read_signed_manifest
from controller.cli.two_users import check_separation
from controller.cli.wall import wall
from controller.config import TableConfig
from controller.doctor import gathering
from controller.doctor.computer import Computer
from controller.doctor.facts import Clock, DoctorFacts, Keys, Part, Program, PythonFacts, Released
from controller.doctor.of_boards import BOARDS
from controller.journal.store import LOCK_NAME
from controller.release import BadRelease, Manifest, differences
from controller.roster import (
    KEYS,
    SIGN_FILE,
    TABLE,
    Roster,
    RosterError,
    moment,
    read_certificate,
    read_sign_secret,
)
from controller.tomlfile import FileError
from controller.users import User, UserError, find_user
from drivers.events import Board

PARTS: Final = ("msgspec", "serial", "gpiozero", "nacl", "structlog", "click", "rich", "zmq")
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


def gathered(
    config: TableConfig, file: Path, key: Path | None, computer: Computer | None = None
) -> DoctorFacts:
    """Return all that is known of a table. `key` is the release's public one.

    Raises FileError or LineError for a file that was named and cannot be used.
    """
    computer = computer or Computer()
    user = _find_machine_user(config)
    machine = gathering.find_lock_holder(computer, config.table.state_dir / LOCK_NAME)
    paths: dict[Board, str] = {"dealer": config.dealer.port, "reader": config.reader.port}
    ports = {board: gathering.port(computer, paths[board], user) for board in BOARDS}
    closed = _is_unreadable(config.table.state_dir)
    free = machine is None and not closed and not any(one.holders for one in ports.values())
    return DoctorFacts(
        config_file=file,
        python=_gather_python(),
        parts=imported((*PARTS, *(("lgpio",) if config.panel.pins == "lgpio" else ()))),
        program=_gather_program(config, key),
        machine=machine,
        closed=closed,
        ports=ports,
        answers=answers(config)
        if free
        else dict.fromkeys(BOARDS, CLOSED if closed else PORT_IN_USE),
        pins=gathering.pins(computer, config, user),
        clock=Clock(moment(wall()), computer.synchronized()),
        disk=gathering.disk(config.table.state_dir, user),
        memory=gathering.memory(computer, config.table.runtime_dir, machine),
        supply=gathering.supply(computer),
        keys=keys_of(config),
        users=_find_user_problem(config, file),
        services=gathering.services(computer, config.table.id),
        feed=feed_of(config, computer),
    )


def _gather_python() -> PythonFacts:
    major, minor, micro = sys.version_info[:3]
    return PythonFacts(
        (major, minor, micro), 64 if sys.maxsize > 1 << 32 else 32, platform.machine()
    )


def imported(names: tuple[str, ...]) -> tuple[Part, ...]:
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
            return tuple(Part(name, trouble=str(error)) for name in names)
    said = done.stdout.splitlines()
    found = json.loads(said[-1]) if said else {}
    ended = Part("", trouble=f"it ends the process ({done.returncode})")
    return tuple(Part(name, **found.get(name, {"trouble": ended.trouble})) for name in names)


# -- the program --------------------------------------------------------------


def _gather_program(config: TableConfig, key: Path | None) -> Program:
    """Return what is installed, as `dealtable release check` sees it."""
    folder = find_program_folder()
    version, firmware = (
        importlib.metadata.version("dealtable"),
        read_program_firmware(folder)["dealer"].hash,
    )
    verify = None if key is None else read_release_key(key)
    path = folder / MANIFEST
    known = Program(version=version, firmware=firmware)
    try:
        manifest = None if not path.exists() else read_manifest(path)
        if manifest is not None and verify is not None:
            read_signed_manifest(path, verify)
        released = None if manifest is None else _released(manifest, signed=verify is not None)
        unlike = tuple(_find_differences(manifest, folder, config.table.state_dir))
    except (FileError, BadRelease) as wrong:
        return Program(version=version, firmware=firmware, trouble=f"{wrong}")
    return Program(known.version, known.firmware, released, unlike)


def _released(manifest: Manifest, *, signed: bool) -> Released:
    return Released(manifest.version, manifest.serial, manifest.released, signed or None)


def _find_differences(manifest: Manifest | None, folder: Path, state_dir: Path) -> Iterator[str]:
    """Yield a line for each thing that is not as it was released, and for a way back."""
    remembered = read_remembered_release(state_dir) if os.access(state_dir, os.X_OK) else None
    serial = 0 if manifest is None else manifest.serial
    if remembered is not None and serial < remembered.serial:
        yield f"release {remembered.version} (serial {remembered.serial}) ran here before"
    if manifest is None:
        return
    odd = find_odd_files(folder)
    for one in differences(manifest.files, digests(folder)):
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


def keys_of(config: TableConfig) -> Keys:
    """Return what is known of a table's keys, and of who is admitted."""
    state_dir, place = config.table.state_dir, config.gateway_dir
    for folder in (state_dir, place):
        if _is_unreadable(folder):
            return Keys(closed=str(folder))
    public = place / KEYS / f"{TABLE}.key"
    if not public.exists() and not (state_dir / KEYS / SIGN_FILE).exists():
        return Keys(missing=True)
    try:
        read_certificate(public)
        read_sign_secret(state_dir)
        if not (place / KEYS / f"{TABLE}.key_secret").exists():
            raise RosterError(f"{place / KEYS / f'{TABLE}.key_secret'} is not there")
        found = Roster.load(place)
    except RosterError as error:
        return Keys(trouble=str(error))
    roster = Roster(found.clients, found.revoked, _now)
    return Keys(
        chiefs=len(roster.chief_seals()),
        clients=len(roster.clients),
        expiring=tuple(one.name for one in roster.expiring()),
        expired=tuple(one.name for one in roster.clients if roster.has_expired(one)),
    )


def _is_unreadable(folder: Path) -> bool:
    """Tell whether a folder is there, and this user may not look into it."""
    return folder.exists() and not os.access(folder, os.R_OK | os.X_OK)


def _now() -> datetime:
    return moment(wall())
