"""`dealtable doctor`: a check of all that a table needs, with the action for each problem.

The facts about boards, feed, libraries, program, users and keys of a table are gathered here.
"""

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
from contextlib import suppress
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import click
import msgspec
from rich.console import Console
from rich.text import Text

from controller.cli import CliError
from controller.cli.feed_printers import decode_state
from controller.cli.options import FILE
from controller.cli.table_access import new_command_id, read_identity, read_table_endpoints
from controller.client.client import BadMessage, Client, ClientIdentity
from controller.client.connection import BadAddress, TableConnectionState
from controller.client.discovery import Endpoints, NoEndpoints, read_endpoints
from controller.config import TableConfig, load_table
from controller.doctor import computer_facts
from controller.doctor.board_checks import BOARDS
from controller.doctor.computer_facts import Computer
from controller.doctor.doctor_checks import run_checks, worst_light
from controller.doctor.examination import Examination, FindingLight, page_lines
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
from controller.host.printable_text import safe_line
from controller.host.toml_files import FileError
from controller.host.users import User, UserError, find_user
from controller.journal.entries import JournalError
from controller.journal.store import LOCK_NAME, hold_journal_lock
from controller.release.installed_program import (
    MANIFEST,
    find_differences,
    find_program_folder,
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
from controller.rules.profile_files import load_profile
from controller.service.process_users import check_separation
from controller.service.wall_clock import read_wall_clock
from controller.signing.releases import BadRelease, Manifest
from drivers.board_events import BoardKind
from drivers.board_identity import check_identity
from drivers.errors import DriverError, Mismatch, PortBusy, PortMissing
from drivers.flash.firmware_image import own_image
from drivers.flash.flasher import BoardQuery
from drivers.link.frames import Welcome

PORT_IN_USE: Final = BoardAnswer(
    why_not_asked="the board at its port, because the port is in use: see the table's feed"
)
STATE_UNREADABLE: Final = BoardAnswer(
    why_not_asked="the board at its port, because you may not read whether a machine runs"
)


def ask_boards(config: TableConfig) -> dict[BoardKind, BoardAnswer]:
    """Ask both boards for their identity, and return their answers.

    No machine can start meanwhile. If one already runs, each answer is PORT_IN_USE.
    """
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
        evidence: dict[str, object] = {"board": board, "port": section.port, "why": str(error)}
        if isinstance(error, Mismatch):
            evidence |= {"expected": error.expected, "found": error.found}
        elif isinstance(error, PortMissing | PortBusy):
            evidence["port"] = error.path
        return _answer_for_fault(driver_error_fault(error), evidence, welcome)
    return BoardAnswer(welcome)


def _answer_for_fault(name: str, evidence: Evidence, welcome: Welcome | None = None) -> BoardAnswer:
    """Return an answer that contains the fault `name` of a board, with its cause and action."""
    row = fault(name)
    return BoardAnswer(
        welcome, fault=row.name, cause=row.cause(evidence), action=row.action(evidence)
    )


STATE_TIMEOUT_S: Final = 5.0
"""A table publishes a state every second."""
CONNECT_TIMEOUT_S: Final = 2.0


def gather_feed(config: TableConfig, computer: Computer) -> FeedFacts:
    """Return the facts about the table's feed. If possible, receive a state from the feed."""
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
    if (identity := next(_readable_identities(place), None)) is not None:
        return asyncio.run(_receive_state(endpoints, identity))
    address = urlsplit(endpoints.feed)
    try:  # without a key: only check that a program accepts connections there
        socket.create_connection((address.hostname, address.port), CONNECT_TIMEOUT_S).close()
    except (OSError, ValueError) as error:
        return FeedFacts(endpoints.feed, trouble=f"no answer there ({error})")
    return FeedFacts(endpoints.feed, has_no_key=True)


def _readable_identities(place: Path) -> Iterator[ClientIdentity]:
    """Yield the client keys in `place` that this user can read. The key of `observer` is first."""
    folder = place / CLIENTS_FOLDER
    try:
        files = sorted(folder.glob("*.key_secret"), key=lambda one: one.stem != "observer")
    except OSError:
        return
    for file in files:
        with suppress(CliError):
            yield read_identity(file)


async def _receive_state(endpoints: Endpoints, identity: ClientIdentity) -> FeedFacts:
    """Connect to the feed, wait for one state, and return the facts about the feed."""
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
                if (state := decode_state(await client.next_message())) is not None:
                    alerts = tuple(alert.name for alert in state.alerts)
                    return FeedFacts(address, f"table {state.table}: {state.machine.phase}", alerts)
    except TimeoutError:
        said = f"as {identity.name}: {line}" if line is not TableConnectionState.OPEN else "silent"
        return FeedFacts(address, trouble=f"nothing came in {STATE_TIMEOUT_S:g} s, {said}")
    except (BadAddress, BadMessage) as wrong:
        return FeedFacts(address, trouble=str(wrong))


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


def gather_facts(config: TableConfig, file: Path, key: Path | None) -> DoctorFacts:
    """Return all facts that `dealtable doctor` checks. `key` is the release's public key.

    Raises FileError or CliError for a named file that cannot be used.
    """
    computer, users_problem = Computer(), ""
    try:
        check_separation(config, file)
    except CliError as error:
        users_problem = str(error)
    try:
        user = find_user(config.table.user or str(os.geteuid()))
    except UserError:
        user = User(str(config.table.user), -1, -1, ())
    machine = computer_facts.find_lock_holder(computer, config.table.state_dir / LOCK_NAME)
    paths: dict[BoardKind, str] = {"dealer": config.dealer.port, "reader": config.reader.port}
    ports = {board: computer_facts.read_port(computer, paths[board], user) for board in BOARDS}
    wanted = (*LIBRARIES, "lgpio") if config.panel.pins == "lgpio" else LIBRARIES
    closed = _is_unreadable(config.table.state_dir)
    free = machine is None and not closed and not any(one.holders for one in ports.values())
    unasked = STATE_UNREADABLE if closed else PORT_IN_USE
    return DoctorFacts(
        config_file=file,
        python=PythonFacts(
            sys.version_info[:3], 64 if sys.maxsize > 1 << 32 else 32, platform.machine()
        ),
        libraries=import_libraries(wanted),
        program=_gather_program(config, key),
        machine_pid=machine,
        state_unreadable=closed,
        ports=ports,
        answers=ask_boards(config) if free else dict.fromkeys(BOARDS, unasked),
        pins=computer_facts.read_pins(computer, config, user),
        clock=ClockFacts(parse_moment(read_wall_clock()), computer.is_synchronized()),
        disk=computer_facts.read_disk(config.table.state_dir, user),
        memory=computer_facts.read_memory(computer, config.table.runtime_dir, machine),
        supply=computer_facts.read_supply(computer),
        keys=gather_keys(config),
        users_problem=users_problem,
        services=computer_facts.read_services(computer, config.table.id),
        feed=gather_feed(config, computer),
    )


def import_libraries(names: tuple[str, ...]) -> tuple[LibraryFacts, ...]:
    """Import the libraries `names` in a separate process; return each version or error.

    So an unsuitable library cannot crash this process. lgpio creates a pipe in its working folder,
    which is deleted afterwards.
    """
    with tempfile.TemporaryDirectory() as folder:
        try:
            done = subprocess.run(
                (sys.executable, "-I", "-c", _IMPORT_SCRIPT, *names),
                capture_output=True,
                text=True,
                cwd=folder,
                env=os.environ | {"LG_WD": folder},
                timeout=60.0,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return tuple(LibraryFacts(name, trouble=str(error)) for name in names)
    said = done.stdout.splitlines()
    found = json.loads(said[-1]) if said else {}
    ended = {"trouble": f"it ends the process ({done.returncode})"}
    return tuple(LibraryFacts(name, **found.get(name, ended)) for name in names)


def _gather_program(config: TableConfig, key: Path | None) -> ProgramFacts:
    """Return the facts about the installed program and its release. The checks are those of
    `dealtable release check`.
    """
    folder = find_program_folder()
    path = folder / MANIFEST
    version = importlib.metadata.version("dealtable")
    firmware = read_program_firmware(folder)["dealer"].hash
    verify = None if key is None else read_release_key(key)
    released = None
    try:
        manifest = read_manifest(path) if path.exists() else None
        if manifest is not None:
            signed = None if verify is None else True
            if verify is not None:
                read_signed_manifest(path, verify)
            released = ReleaseFacts(manifest.version, manifest.serial, manifest.released, signed)
        unlike = tuple(_find_differences(manifest, folder, config.table.state_dir))
    except (FileError, BadRelease) as wrong:
        return ProgramFacts(version, firmware, trouble=f"{wrong}")
    return ProgramFacts(version, firmware, released, unlike)


def _find_differences(manifest: Manifest | None, folder: Path, state_dir: Path) -> Iterator[str]:
    """Yield a line for each difference between this program and the release of `manifest`. The
    first line reports a newer release that ran here before, if there was one.
    """
    remembered = read_remembered_release(state_dir) if os.access(state_dir, os.X_OK) else None
    serial = 0 if manifest is None else manifest.serial
    if remembered is not None and serial < remembered.serial:
        yield f"release {remembered.version} (serial {remembered.serial}) ran here before"
    if manifest is not None:
        yield from find_differences(manifest, folder, "drivers/firmware is not the released one")


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
    roster = Roster(found.clients, found.revoked, lambda: parse_moment(read_wall_clock()))
    return KeyFacts(
        chiefs=len(roster.chief_seals()),
        clients=len(roster.clients),
        expiring=tuple(one.name for one in roster.expiring_clients()),
        expired=tuple(one.name for one in roster.clients if roster.has_expired(one)),
    )


def _is_unreadable(folder: Path) -> bool:
    """Return True if a folder exists and this user may not read it."""
    return folder.exists() and not os.access(folder, os.R_OK | os.X_OK)


EPILOG: Final = """\b
Examples:
  dealtable doctor /etc/dealtable/T01.toml
  sudo dealtable doctor /etc/dealtable/T01.toml --key release.key
  dealtable doctor table.toml --json
"""
_STYLES: Final = {
    FindingLight.GREEN: "green",
    FindingLight.AMBER: "yellow",
    FindingLight.RED: "bold red",
    FindingLight.UNKNOWN: "dim",
    None: "bold",
}


@click.command(epilog=EPILOG)
@click.argument("config", type=FILE, metavar="CONFIG")
@click.option("--key", type=FILE, help="The release's .key.")
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
@click.pass_context
def command(context: click.Context, config: Path, key: Path | None, as_json: bool) -> None:
    """Check the table of CONFIG, and print the actions to take on one page.

    Program, boards, computer and the table itself have one line for each check: "ok", "?" (look at
    it), "!!" (repair it) or "-" (unknown on this computer), with the next action. Boards are asked
    for their identity only while no machine runs. Root sees more than other users. Nothing is moved
    or changed.

    Exit 0: the table can deal; 1: something prevents it; 2: a file cannot be used.
    """
    table = load_table(config)
    load_profile(table.table.profile, table.table.event)
    findings = run_checks(table, gather_facts(table, config, key))
    examination = Examination(
        table=table.table.id,
        simulated=table.table.backend == "sim",
        time=read_wall_clock(),
        verdict=worst_light(findings),
        findings=findings,
    )
    if as_json:
        click.echo(msgspec.json.encode(examination).decode())
    else:
        console = Console(highlight=False, soft_wrap=True)
        for line, light in page_lines(examination):
            console.print(Text(safe_line(line), style=_STYLES[light]))
    context.exit(1 if examination.verdict is FindingLight.RED else 0)
