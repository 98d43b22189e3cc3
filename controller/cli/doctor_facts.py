"""Facts for `dealtable doctor`: boards, feed, libraries, program, users and keys of a table."""

import asyncio
import importlib.metadata
import json
import os
import platform
import secrets
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from controller.cli import CliError
from controller.cli.feed_printers import decode_state
from controller.cli.table_access import new_command_id, read_identity, read_table_endpoints
from controller.client.client import BadMessage, Client, ClientIdentity
from controller.client.connection import BadAddress, TableConnectionState
from controller.client.discovery import Endpoints, NoEndpoints, read_endpoints
from controller.config import TableConfig
from controller.doctor import computer_facts
from controller.doctor.board_checks import BOARDS
from controller.doctor.computer_facts import Computer
from controller.doctor.table_facts import (
    BoardAnswer,
    ClockFacts,
    DoctorFacts,
    FeedFacts,
    KeyFacts,
    LibraryFacts,
    ProgramFacts,
    PythonFacts,
    ReleaseFacts,
)
from controller.expected_boards import expected_boards
from controller.faults import Evidence, driver_error_fault, fault
from controller.host.toml_files import FileError
from controller.host.users import User, UserError, find_user
from controller.journal.entries import JournalError
from controller.journal.store import LOCK_NAME, hold_journal_lock
from controller.release import installed_program
from controller.release.installed_program import (
    MANIFEST,
    find_odd_files,
    find_program_folder,
    hash_program_files,
    read_program_firmware,
    read_remembered_release,
)
from controller.release.release_files import read_manifest, read_release_key, read_signed_manifest
from controller.roster import (
    CLIENTS_FOLDER,
    KEYS_FOLDER,
    TABLE_NAME,
    Roster,
    RosterError,
    parse_moment,
    read_certificate,
    read_sign_secret,
)
from controller.roster.certificate import SIGN_FILE
from controller.service.process_users import check_separation
from controller.service.wall_clock import read_wall_clock
from controller.signing.releases import BadRelease, Manifest, file_differences
from drivers.board_events import BoardKind
from drivers.board_identity import check_identity
from drivers.errors import DriverError, Mismatch, PortBusy, PortMissing
from drivers.flash.firmware_image import own_image
from drivers.flash.flasher import BoardQuery
from drivers.link.frames import Welcome

PORT_IN_USE: Final = BoardAnswer(
    why_not_asked="what stands at its port, which is in use: the table's feed says"
)
STATE_UNREADABLE: Final = BoardAnswer(
    why_not_asked="what stands at its port; whether a machine runs is closed to you"
)


def ask_boards(config: TableConfig) -> dict[BoardKind, BoardAnswer]:
    """Ask both boards for their identity, while a lock on the journal keeps the machine away."""
    try:
        with hold_journal_lock(config.table.state_dir):
            return {board: _ask_board(config, board) for board in BOARDS}
    except JournalError:
        return dict.fromkeys(BOARDS, PORT_IN_USE)


def _ask_board(config: TableConfig, board: BoardKind) -> BoardAnswer:
    section = config.dealer if board == "dealer" else config.reader
    who = expected_boards(config, own_image().hash)
    other = who["reader" if board == "dealer" else "dealer"]
    session = secrets.randbelow(2**32 - 1) + 1
    welcome: Welcome | None = None
    try:
        with BoardQuery(
            section.port, section.baud, board, clock=time.monotonic, session=session
        ) as greeting:
            welcome = greeting.hello()
        if welcome is None:
            return _answer_for_fault("BOARD_SILENT", {"board": board, "port": section.port})
        check_identity(welcome, who[board], other)
    except DriverError as error:
        return _answer_for_error(error, board, section.port, welcome)
    return BoardAnswer(welcome)


def _answer_for_error(
    error: DriverError, board: BoardKind, port: str, welcome: Welcome | None
) -> BoardAnswer:
    """Return an error of the drivers with the catalogue's texts, as the table would report it."""
    evidence: dict[str, object] = {"board": board, "port": port, "why": str(error)}
    if isinstance(error, Mismatch):
        evidence |= {"expected": error.expected, "found": error.found}
    elif isinstance(error, PortMissing | PortBusy):
        evidence["port"] = error.path
    return _answer_for_fault(driver_error_fault(error), evidence, welcome)


def _answer_for_fault(name: str, evidence: Evidence, welcome: Welcome | None = None) -> BoardAnswer:
    row = fault(name)
    return BoardAnswer(
        welcome, fault=row.name, cause=row.cause(evidence), action=row.action(evidence)
    )


STATE_TIMEOUT_S: Final = 5.0
"""A table publishes a state every second."""
CONNECT_TIMEOUT_S: Final = 2.0


def gather_feed(config: TableConfig, computer: Computer) -> FeedFacts:
    """Return the facts about the feed of a table, which may not be running."""
    place = config.gateway_dir
    try:
        read_endpoints(place)
    except (NoEndpoints, OSError):
        wanted = (config.gateway.feed, config.gateway.commands)
        return FeedFacts(taken_addresses=computer_facts.taken_addresses(computer, wanted))
    try:
        endpoints = read_table_endpoints(place)
    except CliError as error:
        return FeedFacts(address=str(place), trouble=str(error))
    identity = next(_readable_identities(place), None)
    if identity is not None:
        return asyncio.run(_receive_state(endpoints, identity))
    return _probe_address(endpoints.feed)


def _readable_identities(place: Path) -> Iterator[ClientIdentity]:
    """Yield the admitted pairs in this folder that this user may read, an observer's first."""
    folder = place / CLIENTS_FOLDER
    try:
        files = sorted(folder.glob("*.key_secret"), key=lambda one: one.stem != "observer")
    except OSError:
        return
    for file in files:
        try:
            yield read_identity(file)
        except CliError:
            continue


async def _receive_state(endpoints: Endpoints, identity: ClientIdentity) -> FeedFacts:
    """Wait for a state of the table, and return the facts."""
    line = TableConnectionState.CONNECTING

    def stands(now: TableConnectionState) -> None:
        nonlocal line
        line = now

    address = endpoints.feed
    try:
        async with (
            asyncio.timeout(STATE_TIMEOUT_S),
            Client(endpoints, identity, new_command_id, stands) as client,
        ):
            while True:
                state = decode_state(await client.next_message())
                if state is not None:
                    alerts = tuple(alert.name for alert in state.alerts)
                    return FeedFacts(address, f"table {state.table}: {state.machine.phase}", alerts)
    except TimeoutError:
        said = f"as {identity.name}: {line}" if line is not TableConnectionState.OPEN else "silent"
        return FeedFacts(address, trouble=f"nothing came in {STATE_TIMEOUT_S:g} s, {said}")
    except (BadAddress, BadMessage) as wrong:
        return FeedFacts(address, trouble=str(wrong))


def _probe_address(address: str) -> FeedFacts:
    """Check whether a program listens at an address, without a key to connect with."""
    place = urlsplit(address)
    try:
        socket.create_connection((place.hostname, place.port), CONNECT_TIMEOUT_S).close()
    except (OSError, ValueError) as error:
        return FeedFacts(address, trouble=f"nobody answers there ({error})")
    return FeedFacts(address, has_no_key=True)


LIBRARIES: Final = ("msgspec", "serial", "gpiozero", "nacl", "structlog", "click", "rich", "zmq")
"""Libraries by their import names. lgpio is added if the panel's pins need it."""
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
    """Return all facts about a table. `key` is the release's public key.

    Raises FileError or CliError for a named file that cannot be used.
    """
    computer = computer or Computer()
    user = _find_machine_user(config)
    machine = computer_facts.find_lock_holder(computer, config.table.state_dir / LOCK_NAME)
    paths: dict[BoardKind, str] = {"dealer": config.dealer.port, "reader": config.reader.port}
    ports = {board: computer_facts.read_port(computer, paths[board], user) for board in BOARDS}
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
        pins=computer_facts.read_pins(computer, config, user),
        clock=ClockFacts(parse_moment(read_wall_clock()), computer.is_synchronized()),
        disk=computer_facts.read_disk(config.table.state_dir, user),
        memory=computer_facts.read_memory(computer, config.table.runtime_dir, machine),
        supply=computer_facts.read_supply(computer),
        keys=gather_keys(config),
        users_problem=_find_user_problem(config, file),
        services=computer_facts.read_services(computer, config.table.id),
        feed=gather_feed(config, computer),
    )


def _gather_python() -> PythonFacts:
    major, minor, micro = sys.version_info[:3]
    return PythonFacts(
        (major, minor, micro), 64 if sys.maxsize > 1 << 32 else 32, platform.machine()
    )


def import_libraries(names: tuple[str, ...]) -> tuple[LibraryFacts, ...]:
    """Import libraries in a separate process, because a wheel for another computer can crash it.

    lgpio creates a pipe in its working folder, which is deleted afterwards.
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
    """Return the facts about the installed program, as in `dealtable release check`."""
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
    """Yield one line for each difference from the release, and for a downgrade."""
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
    yield from map(str, installed_program.find_wrong_bytecode(folder))


# -- users and keys -----------------------------------------------------------


def _find_machine_user(config: TableConfig) -> User:
    """Return the user of the machine. The default is the user of this process."""
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
    """Return the facts about a table's keys and its admitted clients."""
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
    """Return True if a folder exists and this user may not read it."""
    return folder.exists() and not os.access(folder, os.R_OK | os.X_OK)


def _now() -> datetime:
    return parse_moment(read_wall_clock())
