"""Machine and gateway as two users: what the gateway's user gets to see, which is nothing."""

import asyncio
import base64
import os
import signal
from contextlib import suppress

import pytest

from controller.host.users import User, find_user
from controller.journal.store import STORE_NAME
from controller.messages import AttemptOutcome
from controller.roster import CLIENTS_FOLDER, KEYS_FOLDER
from controller.roster.certificate import SIGN_FILE
from tests.isolation.apart import GATEWAY, MACHINE, ApartTable, StartAs, forget, probe
from tests.isolation.looking import Watch, files, gone, holds, mode, status
from tests.processes.people import FAST, People, another_gateway, held_after_all
from tests.processes.processes import part
from tests.processes.program import Dealtable, Program

pytestmark = pytest.mark.system

NOBODY_ELSE = 4  # real, effective, saved and filesystem uid


def test_the_build_server_is_root() -> None:
    assert "CI" not in os.environ or os.getuid() == 0, "two users are not tested here"


async def test_a_table_of_two_users_deals_a_whole_deal_and_serves_clients(
    two_users: ApartTable,
    sitting: People,
    machine_user: User,
    gateway_user: User,
    dealtable: Dealtable,
) -> None:
    held = await sitting.held()
    assert held.fairness[-1].outcome is AttemptOutcome.OK
    assert await sitting.pockets() == [27, 27, 27, 27, 0]
    assert two_users.daemon is not None
    for name, user in (("machine", machine_user), ("gateway", gateway_user)):
        pid = part(two_users.daemon.pid, name)
        assert status(pid, "Uid") == [str(user.uid)] * NOBODY_ELSE
        assert status(pid, "Gid") == [str(user.gid)] * NOBODY_ELSE
        assert {int(group) for group in status(pid, "Groups")} <= set(user.groups)
        for rights in ("CapPrm", "CapEff", "CapInh", "CapAmb"):
            assert int(status(pid, rights)[0], 16) == 0
    assert (two_users.state_dir / STORE_NAME).stat().st_uid == machine_user.uid
    checked = await dealtable("verify", two_users.state_dir)
    assert (checked.code, checked.err) == (0, "")


async def test_the_gateways_user_can_read_and_change_nothing_of_the_machine_in_mid_deal(
    two_users: ApartTable, sitting: People, machine_user: User, gateway_user: User, sees_all: bool
) -> None:
    await sitting.deal_to_card()
    assert two_users.daemon is not None
    machine = part(two_users.daemon.pid, "machine")
    paths, pids = two_users.paths(), [two_users.daemon.pid, machine]
    secrets = {str(key) for key in (two_users.folder / "run").glob("attempt-*.key")}
    assert secrets
    secrets |= {
        str(two_users.state_dir / STORE_NAME),
        str(two_users.state_dir / KEYS_FOLDER / SIGN_FILE),
    }

    got = await probe(gateway_user, paths=paths, pids=pids)
    served = two_users.folder / "gateway"
    made_here = {str(path) for path in (served / CLIENTS_FOLDER).iterdir()}
    assert made_here
    public = {str(path) for path in (served, *served.rglob("*"))} - made_here
    outside = {str(two_users.folder), *map(str, (two_users.config, two_users.log))}
    assert got["read"] <= public | outside
    assert got["read"] >= {str(path) for path in served.rglob("*.key*")} - made_here
    own = {str(served / "endpoints.json"), str(served / "keys" / "table.key_secret")}
    assert got["write"] == got["chmod"] == own
    assert got["replace"] == set()
    assert got["link"] <= own
    for deed in ("memory", "environment", "maps", "handles", "folder", "trace", "copy", "steal"):
        assert got[deed] == set(), deed
    assert got["signal"] == set()

    # The same deeds are done where they may be: what was found is no weakness of the probe.
    allowed = await probe(machine_user, paths=paths)
    assert allowed["read"] >= secrets
    assert allowed["write"] >= secrets
    assert {str(two_users.folder / "run")} <= allowed["write"]
    gateway = part(two_users.daemon.pid, "gateway")
    root = find_user("root")
    everything = await probe(root, pids=[machine, gateway])
    for deed in ("memory", "environment", "maps", "handles", "folder", "trace", "copy", "steal"):
        assert not sees_all or everything[deed] == {machine, gateway}, deed
    of_its_own = await probe(gateway_user, pids=[gateway])
    assert of_its_own["memory"] == of_its_own["signal"] == {gateway}


async def test_the_gateway_has_no_file_of_the_machine_open_and_no_attempt_key_in_its_memory(
    two_users: ApartTable, sitting: People, sees_all: bool
) -> None:
    if not sees_all:
        pytest.skip("only root looks into another user's process; a container needs SYS_PTRACE")
    assert two_users.daemon is not None
    watch = Watch(files, two_users.daemon.pid, "gateway")
    sitting.on_news = watch.look
    await sitting.deal_to_card()
    (key,) = (two_users.folder / "run").glob("attempt-*.key")
    raw = key.read_bytes()
    words = {raw, raw.hex().encode(), base64.b64encode(raw)}
    assert holds(part(two_users.daemon.pid, "gateway"), words) == set()
    assert holds(part(two_users.daemon.pid, "machine"), words) >= {raw}
    await two_users.control.request("speed", value=FAST)
    await sitting.held()
    machines = tuple(str(two_users.folder / name) for name in ("state", "run/", "run.gateway"))
    assert {name for name in watch.found if name.startswith(machines)} == set()
    machine = part(two_users.daemon.pid, "machine")
    assert str(two_users.state_dir / STORE_NAME) in files(machine)


async def test_parts_that_are_killed_come_again_as_their_own_users_and_the_deal_goes_on(
    two_users: ApartTable, machine_user: User, gateway_user: User
) -> None:
    assert two_users.daemon is not None
    before = {name: part(two_users.daemon.pid, name) for name in ("machine", "gateway")}
    async with People(two_users) as people:
        state = await people.deal_to_card()
        forget(two_users)
        os.kill(before["gateway"], signal.SIGKILL)
        await another_gateway(two_users)
    async with People(two_users) as people:
        os.kill(before["machine"], signal.SIGKILL)
        held = await held_after_all(people, state)
        assert held.boot != state.boot
    for name, user in (("machine", machine_user), ("gateway", gateway_user)):
        pid = part(two_users.daemon.pid, name)
        assert pid != before[name]
        assert status(pid, "Uid") == [str(user.uid)] * NOBODY_ELSE
    addresses = two_users.folder / "gateway" / "endpoints.json"
    assert addresses.stat().st_uid == gateway_user.uid
    assert await two_users.stop_daemon() == 0
    assert addresses.read_bytes() == b""


async def test_a_daemon_of_two_users_that_is_killed_is_killed_whole(two_users: ApartTable) -> None:
    assert two_users.daemon is not None
    parts = [part(two_users.daemon.pid, name) for name in ("machine", "gateway")]
    two_users.daemon.kill()
    await two_users.daemon.wait()
    await gone(parts)


async def test_only_the_gateways_user_comes_in_at_the_machines_socket(
    two_users: ApartTable, sitting: People, gateway_user: User, machine_user: User, stranger: User
) -> None:
    door = str(two_users.settings.socket)
    assert (mode(door), mode(os.path.dirname(door))) == (0o660, 0o2710)

    async def gets_in(user: User) -> bool:
        return bool((await probe(user, sockets=[door]))["connect"])

    assert await gets_in(gateway_user)
    assert not await gets_in(stranger)
    # One of the gateway's group gets as far as the socket, and is told nothing there.
    mate = User(stranger.name, stranger.uid, gateway_user.gid, (gateway_user.gid,))
    assert not await gets_in(mate)
    assert f'"uid": {stranger.uid}' in two_users.log.read_text()
    assert not await gets_in(machine_user)
    await sitting.held()


async def test_each_part_runs_as_a_unit_of_its_own_and_as_no_other_user(
    apart_boards: ApartTable, machine_user: User, gateway_user: User, start_as: StartAs
) -> None:
    async def unit(name: str, user: User) -> Program:
        return await start_as(user, "run", name, "--config", apart_boards.config)

    for name, user, own in (("machine", gateway_user, MACHINE), ("gateway", machine_user, GATEWAY)):
        done = await (await unit(name, user)).end()
        assert done.code == 2
        key = "table.user" if name == "machine" else "gateway.user"
        assert f"Error: {key} is {own}, this runs as {user.name}: start `run {name}`" in done.err
        assert len(done.err.splitlines()) == 1
    machine = await unit("machine", machine_user)
    await machine.line("ready")
    gateway = await unit("gateway", gateway_user)
    await gateway.line("gateway open")
    async with People(apart_boards) as people:
        assert (await people.held()).fairness[-1].outcome is AttemptOutcome.OK
    for program in (gateway, machine):
        assert (await program.end(signal.SIGTERM)).code == 0
    assert not (apart_boards.settings.socket).exists()


async def test_a_gateway_says_nothing_in_the_name_of_a_machine_of_another_user(
    apart_boards: ApartTable, gateway_user: User, stranger: User, start_as: StartAs
) -> None:
    door = apart_boards.settings.socket
    impostor = await asyncio.create_subprocess_exec(
        *("/usr/bin/env", "python3", "-I", "-S", "-c", IMPOSTOR, str(door)),
        stdout=asyncio.subprocess.PIPE,
    )
    assert impostor.stdout is not None
    try:
        await impostor.stdout.readline()
        os.chown(door, stranger.uid, gateway_user.gid)
        door.chmod(0o660)
        gateway = await start_as(gateway_user, "run", "gateway", "--config", apart_boards.config)
        await gateway.line("not the machine's")
        assert not any("machine here" in line for line in gateway.complained)
    finally:
        with suppress(ProcessLookupError):  # it may have ended with the gateway's line
            impostor.kill()
        await impostor.wait()


async def test_code_that_lies_where_root_happens_to_be_is_not_run_by_the_parts(
    apart_boards: ApartTable, gateway_user: User, start_as: StartAs
) -> None:
    trap = apart_boards.folder / "trap"
    (trap / "controller").mkdir(parents=True)
    (trap / "controller" / "__init__.py").write_text("raise SystemExit('caught')\n")
    os.chown(trap, gateway_user.uid, gateway_user.gid)
    daemon = await start_as(find_user("root"), "run", "--config", apart_boards.config, cwd=trap)
    await daemon.line("machine here")
    assert (await daemon.end(signal.SIGTERM)).code == 0


IMPOSTOR = """
import json, socket, sys
door = socket.socket(socket.AF_UNIX)
door.bind(sys.argv[1])
door.listen()
print("ready", flush=True)
while True:
    line, _ = door.accept()
    line.sendall(json.dumps({"to": "hello", "table": "T01", "simulated": True}).encode() + b"\\n")
    try:
        line.recv(1)  # until the gateway hangs up
    except OSError:
        pass
"""
