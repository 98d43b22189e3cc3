"""Wrong set-ups of two users: each is told in one line that says what to do."""

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from click.testing import CliRunner

from controller.cli import CliError, keys
from controller.client.discovery import (
    Endpoints,
    NoEndpoints,
    read_endpoints,
    remove_endpoints,
    write_endpoints,
)
from controller.config import ConfigError, TableConfig, load_table
from controller.host.users import (
    READ,
    WRITE,
    User,
    UserError,
    changeable_path,
    find_user,
    has_permission,
)
from controller.keys.table_keys import create_client_keys, create_table_keys
from controller.messages import Role
from controller.roster import (
    ADMITTED_FOLDER,
    CLIENTS_FOLDER,
    KEYS_FOLDER,
    REVOKED_FOLDER,
    Roster,
    read_certificate,
)
from controller.roster.certificate import SIGN_FILE
from controller.service.process_users import check_separation, create_table_folders
from tests.isolation.apart import GATEWAY, MACHINE, StartAs, configuration
from tests.isolation.looking import mode
from tests.processes.program import Dealtable

pytestmark = pytest.mark.system

INFO = {
    "dealer": "/dev/null",
    "reader": "/dev/zero",
    "dealer_id": "00000000000000d1",
    "reader_id": "00000000000000e1",
    "pins": "/nowhere",
}
PORTS = {"dealer": "dealer.port", "reader": "reader.port"}


@pytest.fixture
def file(open_folder: Path) -> Path:
    """Give the configuration of a table of two users, with ports that only its user opens."""
    ports = {name: str(open_folder / name) for name in PORTS}
    for port in ports.values():
        Path(port).touch(mode=0o600)
    file = open_folder / "table.toml"
    file.write_text(configuration(INFO | ports))
    return file


@pytest.fixture
def config(as_root: None, file: Path) -> TableConfig:
    """Give a table of two users that is laid out."""
    config = load_table(file)
    create_table_folders(config)
    return config


def test_a_table_is_laid_out_once_and_nothing_of_it_is_made_anew(config: TableConfig) -> None:
    machine, gateway = find_user(MACHINE), find_user(GATEWAY)
    state_dir, place = config.table.state_dir, config.gateway_dir

    def whose(path: Path) -> tuple[int, int]:
        return path.stat().st_uid, mode(path)

    expected = {
        state_dir: (machine.uid, 0o700),
        state_dir / KEYS_FOLDER: (machine.uid, 0o700),
        state_dir / KEYS_FOLDER / SIGN_FILE: (machine.uid, 0o600),
        state_dir / CLIENTS_FOLDER: (0, 0o700),
        config.table.runtime_dir: (machine.uid, 0o700),
        config.socket.parent: (machine.uid, 0o2710),
        place: (0, 0o755),
        place / KEYS_FOLDER: (0, 0o755),
        place / KEYS_FOLDER / "table.key": (0, 0o644),
        place / KEYS_FOLDER / "table.key_secret": (gateway.uid, 0o600),
        place / ADMITTED_FOLDER: (0, 0o755),
        place / ADMITTED_FOLDER / "chief.key": (0, 0o644),
        place / REVOKED_FOLDER: (0, 0o755),
        place / CLIENTS_FOLDER: (0, 0o700),
        place / CLIENTS_FOLDER / "chief.key_secret": (0, 0o600),
        place / "endpoints.json": (gateway.uid, 0o644),
    }
    found = {path: whose(path) for path in expected}
    assert found == expected
    assert config.socket.parent.stat().st_gid == gateway.gid
    contents = {path: path.read_bytes() for path in expected if path.is_file()}
    create_table_folders(config)
    assert {path: whose(path) for path in expected} == expected
    assert {path: path.read_bytes() for path in contents} == contents
    assert len(Roster.load(place).clients) == len(list((state_dir / CLIENTS_FOLDER).glob("*.key")))


def test_a_table_of_one_user_becomes_one_of_two_as_the_page_says_and_keeps_its_key(
    as_root: None, file: Path, request: pytest.FixtureRequest
) -> None:
    page = (request.config.rootpath / "deploy" / "README.md").read_text()
    begin = page.index("You can change a table that runs as one user")
    script = page[
        page.index("    cd /var/lib", begin) : page.index("    dealtable keys create", begin)
    ]
    for old, new in (
        ("/var/lib/dealtable", str(file.parent)),
        ("T01-gateway", "gateway"),
        ("T01", "state"),
        ("dealtable ", f"{MACHINE} "),
    ):
        script = script.replace(old, new)
    state_dir = file.parent / "state"
    create_table_keys(state_dir)
    (state_dir / REVOKED_FOLDER).mkdir(mode=0o700)
    (state_dir / "endpoints.json").write_text("{}")
    (state_dir / "journal.db").touch(mode=0o644)
    key = (state_dir / KEYS_FOLDER / "table.key").read_bytes()
    clients = len(Roster.load(state_dir).clients)
    subprocess.run(["sh", "-eu", "-c", script], check=True)
    config = load_table(file)
    create_table_folders(config)
    check_separation(config, file)
    assert (config.gateway_dir / KEYS_FOLDER / "table.key").read_bytes() == key
    assert (config.table.state_dir / KEYS_FOLDER / "table.key").read_bytes() == key
    assert not (state_dir / KEYS_FOLDER / "table.key_secret").exists()
    assert len(Roster.load(config.gateway_dir).clients) == clients
    assert len(list((config.gateway_dir / CLIENTS_FOLDER).glob("*.key_secret"))) == clients
    assert read_certificate(state_dir / CLIENTS_FOLDER / "chief.key_secret").unseal
    for folder in (ADMITTED_FOLDER, REVOKED_FOLDER):
        assert mode(config.gateway_dir / folder) == 0o755
    assert (state_dir / "journal.db").stat().st_uid == int(MACHINE)


def test_the_machines_user_who_exchanges_what_root_writes_gets_nothing_of_roots(
    config: TableConfig, open_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its copy of table.key is spoilt, so that root writes it anew; then it exchanges the part."""
    folder, victim = config.table.state_dir / KEYS_FOLDER, open_folder / "roots"
    victim.write_text("root's")
    victim.chmod(0o600)
    copy = folder / "table.key"
    copy.write_text(re.sub("verify = ..", "verify = 00", copy.read_text()))
    exchanged = []
    real = os.fsync

    def exchange(handle: int) -> None:
        real(handle)
        for part in folder.glob(".*.part"):
            part.unlink()
            part.symlink_to(victim)
            exchanged.append(part)

    monkeypatch.setattr(os, "fsync", exchange)
    with suppress(CliError):
        create_table_folders(config)
    assert exchanged
    assert (victim.stat().st_uid, victim.read_text()) == (0, "root's")


def test_a_client_that_the_machines_user_puts_forward_is_not_the_one_that_is_admitted(
    config: TableConfig, file: Path
) -> None:
    """The link in the state directory is the machine's to exchange; root does not go by it."""
    forged = config.table.state_dir / CLIENTS_FOLDER
    forged.unlink()
    eves = read_certificate(create_client_keys(config.table.state_dir, "anna", Role.CHIEF))
    for path in (forged, *forged.iterdir()):
        give(path, MACHINE)
    words = ["client", str(file), "anna", "--role", "chief"]
    assert CliRunner().invoke(keys.command, words).exit_code == 0
    (anna,) = (one for one in Roster.load(config.gateway_dir).clients if one.name == "anna")
    assert anna.verify != eves.verify
    made = config.gateway_dir / CLIENTS_FOLDER / "anna.key_secret"
    assert (read_certificate(made).verify, made.stat().st_uid) == (anna.verify, 0)


def give(path: Path, name: str) -> None:
    """Give a file to a user."""
    user = find_user(name)
    os.chown(path, user.uid, user.gid)


def give_group(path: Path, rights: int) -> None:
    """Let the gateway's group do something with a file of root's."""
    os.chown(path, 0, find_user(GATEWAY).gid)
    path.chmod(rights)


# What goes wrong with what is laid out, and what the line says of it.
WRONG: dict[str, tuple[Callable[[TableConfig], None], str]] = {
    "state of another": (
        lambda c: os.chown(c.table.state_dir, 0, 0),
        "state_dir {state} belongs to root, not to table.user {machine}: chown -R {machine} it",
    ),
    "open state": (
        lambda c: c.table.state_dir.chmod(0o750),
        "state_dir {state} is open to others (mode 0750): chmod 0700 it",
    ),
    "open runtime": (
        lambda c: c.table.runtime_dir.chmod(0o701),
        "runtime_dir {runtime} is open to others (mode 0701): chmod 0700 it",
    ),
    "runtime of the gateway": (
        lambda c: give(c.table.runtime_dir, GATEWAY),
        "runtime_dir {runtime} belongs to {gateway}, not to table.user {machine}",
    ),
    "socket's folder of the gateway": (
        lambda c: give(c.socket.parent, GATEWAY),
        "the socket's folder {door} belongs to {gateway}, not to table.user {machine}",
    ),
    "socket's folder for all": (
        lambda c: c.socket.parent.chmod(0o773),
        "{door}: gateway.user {gateway} could change it: chown root {door}, and chmod g-w,o-w",
    ),
    "gateway's folder its own": (
        lambda c: give(c.gateway_dir, GATEWAY),
        "{place}: gateway.user {gateway} could change it: chown root {place}",
    ),
    "admitted its own": (
        lambda c: give(c.gateway_dir / ADMITTED_FOLDER, GATEWAY),
        "{place}/admitted: gateway.user {gateway} could change it",
    ),
    "admitted for all": (
        lambda c: (c.gateway_dir / ADMITTED_FOLDER).chmod(0o777),
        "{place}/admitted: gateway.user {gateway} could change it",
    ),
    "admitted for its group": (
        lambda c: give_group(c.gateway_dir / ADMITTED_FOLDER, 0o770),
        "{place}/admitted: gateway.user {gateway} could change it",
    ),
    "a chief of its own": (
        lambda c: give(c.gateway_dir / ADMITTED_FOLDER / "chief.key", GATEWAY),
        "{place}/admitted/chief.key: gateway.user {gateway} could change it",
    ),
    "revoked its own": (
        lambda c: give(c.gateway_dir / REVOKED_FOLDER, GATEWAY),
        "{place}/revoked: gateway.user {gateway} could change it",
    ),
    "the table's key its own": (
        lambda c: give(c.gateway_dir / KEYS_FOLDER / "table.key", GATEWAY),
        "{place}/keys/table.key: gateway.user {gateway} could change it",
    ),
    "secret for all": (
        lambda c: (c.gateway_dir / KEYS_FOLDER / "table.key_secret").chmod(0o644),
        "{place}/keys/table.key_secret is the secret of gateway.user {gateway} alone",
    ),
    "clients for all": (
        lambda c: (c.gateway_dir / CLIENTS_FOLDER).chmod(0o755),
        "clients {place}/clients is open to others (mode 0755): chmod 0700 it",
    ),
    "configuration its own": (
        lambda c: give(c.gateway_dir.parent / "table.toml", GATEWAY),
        "{folder}/table.toml: gateway.user {gateway} could change it",
    ),
    "folder above its own": (
        lambda c: give(c.gateway_dir.parent, GATEWAY),
        "{folder}: gateway.user {gateway} could change {folder}/table.toml: chown root {folder}",
    ),
    "a port for all": (
        lambda c: Path(c.reader.port).chmod(0o604),
        "reader.port {folder}/reader: gateway.user {gateway} could listen to the cards there",
    ),
    "a port for its group": (
        lambda c: give_group(Path(c.dealer.port), 0o660),
        "dealer.port {folder}/dealer: gateway.user {gateway} could listen to the cards there",
    ),
}


def words(config: TableConfig) -> dict[str, object]:
    return {
        "state": config.table.state_dir,
        "runtime": config.table.runtime_dir,
        "door": config.socket.parent,
        "place": config.gateway_dir,
        "folder": config.gateway_dir.parent,
        "machine": MACHINE,
        "gateway": GATEWAY,
    }


@pytest.mark.parametrize("wrong", WRONG)
def test_what_lets_the_gateway_in_is_told_in_one_line(
    wrong: str, config: TableConfig, file: Path
) -> None:
    check_separation(config, file)
    spoil, line = WRONG[wrong]
    spoil(config)
    with pytest.raises(CliError) as told:
        check_separation(config, file)
    assert told.value.format_message().startswith(line.format(**words(config)))
    assert "\n" not in told.value.format_message()


@pytest.mark.parametrize("command", [["check-config"], ["run", "--config"]], ids=" ".join)
async def test_a_wrong_set_up_ends_commands_with_its_line_and_2(
    command: list[str], config: TableConfig, file: Path, dealtable: Dealtable
) -> None:
    (config.gateway_dir / ADMITTED_FOLDER).chmod(0o777)
    told = await dealtable(*command, file)
    assert (told.code, told.out) == (2, "")
    assert told.err.startswith(f"Error: {config.gateway_dir}/admitted: gateway.user nobody could")
    assert len(told.err.splitlines()) == 1


async def test_a_right_set_up_is_named_when_it_is_checked(
    config: TableConfig, file: Path, dealtable: Dealtable
) -> None:
    told = await dealtable("check-config", file)
    assert (told.code, told.err) == (0, "")
    assert f"machine as {MACHINE}, gateway as {GATEWAY}" in told.out


async def test_only_root_starts_two_users(
    reachable: None, file: Path, machine_user: User, start_as: StartAs
) -> None:
    told = await (await start_as(machine_user, "run", "--config", file)).end()
    assert told.code == 2
    assert told.err.startswith("Error: table.user and gateway.user: only root starts two users: ")
    assert len(told.err.splitlines()) == 1
    assert not (file.parent / "state").exists()


@pytest.mark.parametrize(
    ("more", "line"),
    [
        (
            {"gateway": "nobody-of-that-name"},
            'gateway.user: there is no user "nobody-of-that-name"',
        ),
        ({"machine": "nobody-of-that-name"}, 'table.user: there is no user "nobody-of-that-name"'),
        ({"gateway": "root"}, "gateway.user = root: expected neither root nor table.user"),
        ({"gateway": "0"}, "gateway.user = root: expected neither root nor table.user"),
        (
            {"machine": str(find_user(GATEWAY).uid)},
            "gateway.user = nobody: expected neither root nor table.user",
        ),
    ],
)
@pytest.mark.parametrize("command", [["check-config"], ["run", "--config"]], ids=" ".join)
async def test_users_who_are_none_or_not_two_are_told_in_one_line(
    more: dict[str, str], line: str, command: list[str], tmp_path: Path, dealtable: Dealtable
) -> None:
    file = tmp_path / "table.toml"
    file.write_text(configuration(INFO, **more))
    told = await dealtable(*command, file)
    assert (told.code, told.out) == (2, "")
    assert line in told.err
    assert len(told.err.splitlines()) == 1
    assert os.listdir(tmp_path) == [file.name]


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        (f'user = "{MACHINE}"\n', "", "table.user: missing, expected the machine's user beside"),
        (f'user = "{GATEWAY}"\n', "", "gateway.user: missing, expected the gateway's user beside"),
        (f'"{GATEWAY}"', f'"{MACHINE}"', "gateway.user: expected another user than table.user"),
        (f'"{GATEWAY}"', '"a b"', 'gateway.user = "a b": expected a user of this computer'),
        ('dir = "gateway"\n', "", "gateway.dir: missing, expected a folder that gateway.user"),
        ('dir = "gateway"', 'dir = "state"', "gateway.dir: expected a folder apart from table.st"),
        (
            'dir = "gateway"',
            'dir = "state/g"',
            "gateway.dir: expected a folder apart from table.st",
        ),
        ('dir = "gateway"', 'dir = "."', "gateway.dir: expected a folder apart from table.r"),
        ('dir = "gateway"', 'dir = "run"', "gateway.dir: expected a folder apart from table.runt"),
    ],
)
def test_what_the_file_alone_shows_is_told_in_one_line(
    tmp_path: Path, old: str, new: str, line: str
) -> None:
    text, file = configuration(INFO), tmp_path / "table.toml"
    assert old in text
    file.write_text(text.replace(old, new, 1))
    with pytest.raises(ConfigError) as told:
        load_table(file)
    assert str(told.value).startswith(f"{file}: {line}")
    assert "\n" not in str(told.value)


def test_one_user_has_everything_where_it_was_unless_a_folder_is_named(tmp_path: Path) -> None:
    text = configuration(INFO)
    for user in (MACHINE, GATEWAY):
        text = text.replace(f'user = "{user}"\n', "")
    file = tmp_path / "table.toml"
    file.write_text(text.replace('dir = "gateway"\n', ""))
    config = load_table(file)
    assert config.gateway_dir == config.table.state_dir == tmp_path / "state"
    assert config.socket == tmp_path / "run" / "machine.sock"
    file.write_text(text)
    config = load_table(file)
    assert config.gateway_dir == tmp_path / "gateway"
    assert config.socket == tmp_path / "run" / "machine.sock"


# Users, and what files let them do.

ME = User("me", 1000, 1000, (1000, 20))


@pytest.mark.parametrize(
    ("uid", "gid", "rights", "reads", "writes"),
    [
        (1000, 1, 0o600, True, True),
        (1000, 1, 0o066, False, False),
        (1, 20, 0o640, True, False),
        (1, 20, 0o606, False, False),
        (1, 1, 0o604, True, False),
        (1, 1, 0o660, False, False),
    ],
)
def test_a_mode_lets_the_owner_a_group_and_all_others_do_what_it_says(
    as_root: None, tmp_path: Path, uid: int, gid: int, rights: int, reads: bool, writes: bool
) -> None:
    file = tmp_path / "file"
    file.touch()
    os.chown(file, uid, gid)
    file.chmod(rights)
    assert (has_permission(ME, file.stat(), READ), has_permission(ME, file.stat(), WRITE)) == (
        reads,
        writes,
    )
    assert has_permission(User("root", 0, 0, (0,)), file.stat(), WRITE)


def test_what_is_anothers_stays_in_a_sticky_folder_and_goes_out_of_others(
    as_root: None, tmp_path: Path
) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    (file := shared / "file").touch()
    assert changeable_path(ME, file) is None
    shared.chmod(0o777)
    assert changeable_path(ME, file) == shared
    shared.chmod(0o1777)
    assert changeable_path(ME, file) is None
    os.chown(file, ME.uid, ME.gid)
    assert changeable_path(ME, file) == file


def test_a_link_is_as_safe_as_its_folder_and_what_it_leads_to(
    as_root: None, tmp_path: Path
) -> None:
    (there := tmp_path / "there").mkdir()
    (file := there / "file").touch()
    (links := tmp_path / "links").mkdir()
    (link := links / "link").symlink_to(file)
    assert changeable_path(ME, link) is None
    os.chown(links, ME.uid, ME.gid)
    assert changeable_path(ME, link) == links
    os.chown(links, 0, 0)
    os.chown(there, ME.uid, ME.gid)
    assert changeable_path(ME, link) == there


def test_a_number_without_a_name_is_a_user_and_an_unknown_name_is_none() -> None:
    assert find_user(MACHINE) == User(MACHINE, int(MACHINE), int(MACHINE), (int(MACHINE),))
    assert find_user("root") == find_user("0")
    with pytest.raises(UserError, match=r'no user "nobody-of-that-name" .*: make one'):
        find_user("nobody-of-that-name")


# endpoints.json, lent to the gateway.

SHORT = Endpoints(table="T01", feed="tcp://127.0.0.1:1", commands="tcp://h:2", server_key="k")
LONG = Endpoints(
    table="T01", feed="tcp://127.0.0.1:11111", commands="tcp://h:22222", server_key="k"
)


def test_a_lent_file_is_filled_and_emptied_in_place(as_root: None, tmp_path: Path) -> None:
    lent = tmp_path / "endpoints.json"
    lent.touch()
    give(lent, GATEWAY)
    before = lent.stat()
    for endpoints in (LONG, SHORT, LONG):
        write_endpoints(tmp_path, endpoints)
        assert read_endpoints(tmp_path) == endpoints
        assert lent.stat().st_size == 4096  # no reader meets a piece of the one before
    remove_endpoints(tmp_path)
    with pytest.raises(NoEndpoints, match=r"endpoints\.json: empty; is the gateway"):
        read_endpoints(tmp_path)
    after = lent.stat()
    assert (after.st_ino, after.st_uid) == (before.st_ino, before.st_uid)
    assert os.listdir(tmp_path) == ["endpoints.json"]


def test_a_link_to_a_lent_file_is_followed_and_stays(tmp_path: Path) -> None:
    (lent := tmp_path / "lent.json").touch()
    (tmp_path / "state").mkdir()
    (link := tmp_path / "state" / "endpoints.json").symlink_to(lent)
    write_endpoints(link.parent, SHORT)
    assert read_endpoints(link.parent) == SHORT
    remove_endpoints(link.parent)
    assert (link.is_symlink(), lent.read_bytes()) == (True, b"")
    shutil.rmtree(link.parent)
    remove_endpoints(tmp_path)
