"""Orders that nobody may give, at a whole real table: refused by the machine, logged, shown."""

import base64
import json
import re
import signal
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
import pytest
from nacl.exceptions import CryptoError
from nacl.public import PrivateKey, SealedBox

from controller.config import load_table
from controller.journal.entries import JournalEntry, decode
from controller.journal.store import STORE_NAME, open_read_only
from controller.keys.enrolment import admit_file
from controller.keys.table_keys import renew_table_keys
from controller.messages import ClientCommand, CommandReply, MachinePhase, Role
from controller.roster import (
    ADMITTED_FOLDER,
    CLIENTS_FOLDER,
    Certificate,
    parse_moment,
    read_certificate,
)
from controller.signing.signed_commands import sign_command
from sim.tables.table_processes import TableProcess
from tests.attacks.attackers import TakenOver
from tests.processes.metrics import scrape
from tests.processes.people import FAST, People
from tests.processes.program import Dealtable, Start
from tests.waiting import until

pytestmark = pytest.mark.slow

ELSEWHERE = "E" * 40
"""Another table's public key."""


@pytest.fixture
def bridge(table: TableProcess) -> TakenOver:
    """What a gateway that is somebody else's has: the machine's socket."""
    return TakenOver(load_table(table.config).socket)


def pair(table: TableProcess, role: Role) -> Certificate:
    return read_certificate(table.state_dir / CLIENTS_FOLDER / f"{role}.key_secret")


async def run_of(table: TableProcess) -> str:
    """What the table's present run is called, as everybody sees it."""
    async with table.client(Role.OBSERVER) as client:
        reply = await client.ask("snapshot")
    assert reply.result is not None
    return str(reply.result["boot"])


def order(
    table: TableProcess, boot: str, role: Role, cmd: str, command_id: str, **args: Any
) -> ClientCommand:
    """A command as its giver signs it, about nothing that is bound to a deal."""
    plain = ClientCommand(id=command_id, cmd=cmd, boot=boot, args=args)
    seed = pair(table, role).sign
    assert seed is not None
    return sign_command(plain, table.endpoints.server_key, seed)


def journal(table: TableProcess) -> list[JournalEntry]:
    """The journal as it lies on the disk."""
    with open_read_only(table.state_dir / STORE_NAME) as rows:
        return [decode(body) for _, body, _ in rows]


def entries(table: TableProcess, kind: str) -> list[dict[str, Any]]:
    """The journal's entries of a kind, as they lie on the disk."""
    return [each.data for each in journal(table) if each.kind == kind]


def logged(table: TableProcess, event: str) -> list[dict[str, Any]]:
    """What the daemon's log says under a name."""
    lines = [json.loads(line) for line in table.log.read_text().splitlines() if line[:1] == "{"]
    return [line for line in lines if line["event"] == event]


def code(reply: CommandReply) -> str | None:
    return reply.error.code if reply.error else None


async def are_counted(table: TableProcess, refusals: Mapping[str, int]) -> None:
    """Wait until the machine's numbers have exactly these refused orders, by reason.

    The gateway asks for them once a second.
    """
    row = r'(?m)^dealtable_orders_refused_total{.*why="(\w+)".*} (\S+)$'

    def counts() -> dict[str, float]:
        numbers = {why: float(number) for why, number in re.findall(row, scrape(table))}
        return {why: number for why, number in numbers.items() if number}

    await until(lambda: counts() == refusals)


async def test_an_observer_who_sends_redeal_is_refused_logged_counted_and_told(
    table: TableProcess, dealtable: Dealtable
) -> None:
    words = ("send", "redeal", "reason=mine", "--state-dir", table.state_dir)
    sent = await dealtable(*words, "--as", "observer", "--deal", "1", "--attempt", "1")

    assert sent.code == 1
    assert sent.err == (
        'refused, WRONG_ROLE: "Deal again" is not for an observer. '
        "ask a referee or the chief referee.\n"
    )
    (line,) = logged(table, "order refused")
    assert (line["why"], line["cmd"], line["name"]) == ("WRONG_ROLE", "redeal", "observer")
    assert line["key"] == pair(table, Role.OBSERVER).verify.hex()
    await are_counted(table, {"WRONG_ROLE": 1})
    assert entries(table, "command") == []


def forged(table: TableProcess, boot: str) -> Iterator[tuple[str, ClientCommand, str]]:
    """What a taken-over gateway can make of what it has seen: the chief's key, and one order.

    Yields what it did, the command, and the refusal that is due.
    """
    change = msgspec.structs.replace
    chief = pair(table, Role.CHIEF).verify.hex()
    seen = order(table, boot, Role.CHIEF, "hold", "seen", reason="tea")
    invented = ClientCommand(id="i", cmd="void", deal=1, attempt=1, args={"reason": "x"}, key=chief)
    observer = order(table, boot, Role.OBSERVER, "hold", "o", reason="x")
    own = sign_command(
        ClientCommand(id="own", cmd="hold", args={"reason": "x"}),
        table.endpoints.server_key,
        bytes(32),
    )
    seed = pair(table, Role.CHIEF).sign
    assert seed is not None
    bad = "BAD_SIGNATURE"
    yield "a chief's order without a signature", invented, bad
    yield "with another order's signature", change(invented, sig=seen.sig), bad
    yield "with its own signature under the chief's key", change(own, key=chief), bad
    yield "an observer's under the chief's key", change(observer, key=chief), bad
    yield "its own key", own, "UNKNOWN_KEY"
    yield "no key", change(own, key=None), "UNKNOWN_KEY"
    yield "the name of a button", change(own, key="panel"), "UNKNOWN_KEY"
    yield "another command", change(seen, cmd="resume", args={}), bad
    yield "another id, to have it twice", change(seen, id="again"), bad
    yield "another deal", change(seen, deal=2), bad
    yield "another attempt", change(seen, attempt=2), bad
    yield "another run", change(seen, boot="00" * 16), bad
    yield "no run", change(seen, boot=None), bad
    yield "somebody else's word", change(seen, person="Li Na"), bad
    yield "other words", change(seen, args={"reason": "coffee"}), bad
    yield "one more word", change(seen, args={"reason": "tea", "area": True}), bad
    elsewhere = sign_command(
        ClientCommand(id="e", cmd="hold", boot=boot, args={"reason": "x"}), ELSEWHERE, seed
    )
    yield "an order to another table", elsewhere, bad


async def test_a_taken_over_gateway_cannot_invent_change_or_redirect_an_order(
    table: TableProcess, bridge: TakenOver
) -> None:
    chief, boot = pair(table, Role.CHIEF).curve, await run_of(table)
    async with bridge:
        for what, command, due in forged(table, boot):
            reply = await bridge.say(command, peer=chief)  # it may say who it likes is there
            assert code(reply) == due, what
        assert (await bridge.say(ClientCommand(id="s", cmd="snapshot"))).ok

    assert entries(table, "command") == []
    refused = logged(table, "order refused")
    assert {line["why"] for line in refused} == {"BAD_SIGNATURE", "UNKNOWN_KEY"}
    kinds = [due for _, _, due in forged(table, boot)]
    await are_counted(table, Counter(kinds))


async def test_an_order_that_is_replayed_acts_once_and_is_answered_the_same_also_after_a_restart(
    table: TableProcess, bridge: TakenOver
) -> None:
    seen = order(table, await run_of(table), Role.CHIEF, "hold", "seen", reason="tea")
    async with table.client(Role.CHIEF) as client:
        first = await client.send(seen)
        assert first.ok
        assert (await client.ask("resume")).ok
    async with bridge:
        replayed = [await bridge.say(seen) for _ in range(3)]
        under_way = await bridge.say(ClientCommand(id="s", cmd="snapshot"))

    await table.stop_daemon()
    await table.start_daemon()
    async with TakenOver(load_table(table.config).socket) as again:
        replayed.append(await again.say(seen))
        afterwards = await again.say(ClientCommand(id="s", cmd="snapshot"))

    assert all(reply == first for reply in replayed)
    for snapshot in (under_way, afterwards):
        assert snapshot.result is not None
        assert "PAUSED" not in json.dumps(snapshot.result["alerts"])
    acted = [each["id"] for each in entries(table, "command")]
    assert acted.count("seen") == 1


async def test_no_order_of_an_earlier_run_acts_whether_it_acted_there_or_was_refused(
    table: TableProcess, bridge: TakenOver
) -> None:
    """The gateway kept the bytes; the journal was moved away, as the program itself advises."""
    boot = await run_of(table)
    hold = order(table, boot, Role.CHIEF, "hold", "h", reason="tea")
    resume = order(table, boot, Role.CHIEF, "resume", "r")
    early = order(table, boot, Role.CHIEF, "resume", "early")
    async with bridge:
        assert code(await bridge.say(early)) == "NOT_SUSPENDED"
        assert (await bridge.say(hold)).ok
        assert code(await bridge.say(early)) == "NOT_SUSPENDED"  # though it could act now
        assert (await bridge.say(resume)).ok

    await table.stop_daemon()
    for file in table.state_dir.glob(f"{STORE_NAME}*"):
        file.rename(file.with_name(f"old-{file.name}"))
    await table.start_daemon()
    async with TakenOver(load_table(table.config).socket) as again:
        replies = [await again.say(command) for command in (hold, resume, early)]
        fresh = await again.say(
            order(table, await run_of(table), Role.CHIEF, "hold", "fresh", reason="tea")
        )

    assert [code(reply) for reply in replies] == ["OTHER_RUN"] * 3
    assert fresh.ok
    assert [each["id"] for each in entries(table, "command")] == ["fresh"]
    assert await run_of(table) != boot
    assert len(boot) == 32  # 16 bytes: nobody waits for one to come again
    assert {line["why"] for line in logged(table, "order refused")} == {"OTHER_RUN"}


async def test_an_order_stands_in_the_journal_with_the_key_that_gave_it(
    table: TableProcess,
) -> None:
    async with table.client(Role.CHIEF) as client:
        assert (await client.ask("hold", {"reason": "tea"}, command_id="mine")).ok

    (written,) = [each for each in entries(table, "command") if each["id"] == "mine"]
    assert written["key"] == pair(table, Role.CHIEF).verify.hex()
    assert (written["role"], written["who"], written["cmd"]) == ("chief", "chief", "hold")
    assert written["person"] is None


async def test_a_revoked_chief_is_refused_by_the_machine_whatever_gateway_lets_him_through(
    table: TableProcess, bridge: TakenOver, dealtable: Dealtable, start: Start
) -> None:
    public = (table.state_dir / ADMITTED_FOLDER / "chief.key").read_text()
    words = ("--state-dir", table.state_dir)
    boot = await run_of(table)
    before = order(table, boot, Role.CHIEF, "hold", "before", reason="tea")
    late = order(table, boot, Role.CHIEF, "resume", "late")

    async with bridge:
        assert (await bridge.say(before)).ok
        done = await dealtable(
            "keys", "revoke", table.state_dir, "chief", "--reason", "laptop lost"
        )
        assert done.code == 0
        refused = [await bridge.say(command) for command in (late, before)]
        (table.state_dir / ADMITTED_FOLDER / "chief.key").write_text(public)  # put back by hand
        refused.append(await bridge.say(late))

    assert {code(reply) for reply in refused} == {"KEY_REVOKED"}
    assert refused[0].error is not None
    assert "laptop lost" in refused[0].error.message
    (line, *_) = logged(table, "order refused")
    assert (line["why"], line["name"], line["cmd"]) == ("KEY_REVOKED", "chief", "resume")
    assert [each["id"] for each in entries(table, "command")] == ["before"]
    kept = table.state_dir / CLIENTS_FOLDER / "old"
    (secret,) = kept.glob("chief-*.key_secret")
    watch = await start("watch", "--key", secret, *words)
    await watch.line("key refused: not admitted there, revoked or expired")


async def test_who_is_revoked_while_he_watches_sees_it_and_the_others_hear_every_entry(
    table: TableProcess, people: People, start: Start, dealtable: Dealtable
) -> None:
    """A whole deal, revoked in its middle: nobody else misses an entry of the journal."""
    where = ("--state-dir", table.state_dir)
    secret = table.state_dir / "kept.key_secret"
    secret.write_bytes((table.state_dir / CLIENTS_FOLDER / "technician.key_secret").read_bytes())
    watch = await start("watch", "--json", "--key", secret, *where)
    await watch.line('"schema"')
    await people.deal_to_card()

    revoked = await dealtable("keys", "revoke", table.state_dir, "technician", "--reason", "left")
    assert revoked.code == 0
    await watch.line("key refused")
    await table.control.request("speed", value=FAST)
    await people.held()

    ended = await watch.end(signal.SIGINT)
    heard = {json.loads(line).get("kind") for line in ended.out.splitlines()}
    assert "begun" in heard
    assert not heard & {"dealt", "held", "verdict"}
    numbers = [event.n for event in people.events]
    public = [each.n for each in journal(table) if each.public]
    assert numbers == public[public.index(numbers[0]) : public.index(numbers[-1]) + 1]


async def test_a_key_that_expires_while_the_table_runs_gives_no_more_orders(
    table: TableProcess, bridge: TakenOver, dealtable: Dealtable
) -> None:
    made = await dealtable("keys", "client", table.state_dir, "guest", "--role", "referee")
    assert made.code == 0
    secret = read_certificate(table.state_dir / CLIENTS_FOLDER / "guest.key_secret")
    assert secret.sign is not None
    key, boot = table.endpoints.server_key, await run_of(table)
    hold = sign_command(
        ClientCommand(id="1", cmd="hold", boot=boot, args={"reason": "tea"}), key, secret.sign
    )
    resume = sign_command(ClientCommand(id="2", cmd="resume", boot=boot), key, secret.sign)

    async with bridge:
        assert (await bridge.say(hold)).ok
        admit_file(
            table.state_dir,
            table.state_dir / CLIENTS_FOLDER / "guest.key",
            parse_moment("2020-01-01"),
        )
        reply = await bridge.say(resume)

    assert reply.error is not None
    assert reply.error.code == "KEY_EXPIRED"
    assert "2020-01-02 00:00 UTC" in reply.error.message
    (line,) = logged(table, "order refused")
    assert (line["why"], line["name"]) == ("KEY_EXPIRED", "guest")


async def test_a_table_whose_own_key_was_exchanged_does_not_go_on_with_its_journal(
    table: TableProcess, dealtable: Dealtable
) -> None:
    await table.stop_daemon()
    refused = await dealtable("keys", "rotate", table.state_dir, "--own")
    assert refused.code == 2
    renew_table_keys(table.state_dir)  # by hand, against all advice

    done = await dealtable("run", "machine", "--config", table.config)

    assert done.code == 1
    assert "journal.db: was begun under another table key" in done.err
    assert [each.kind for each in journal(table)].count("opened") == 1


async def test_what_is_sealed_after_a_chief_was_replaced_is_for_his_successor_alone(
    table: TableProcess, people: People, dealtable: Dealtable
) -> None:
    former = pair(table, Role.CHIEF)
    rotated = await dealtable("keys", "rotate", table.state_dir, "chief", "--at-once")
    assert rotated.code == 0, rotated.err
    await people.until(lambda state: state.machine.phase is MachinePhase.EMPTY)
    assert (await people.order(Role.REFEREE, "start_deal")).ok
    await people.until(lambda state: state.machine.phase is MachinePhase.COMMITTED)

    (seed,) = entries(table, "seed")

    box = base64.b64decode(seed["for_chief"])
    assert former.unseal is not None
    with pytest.raises(CryptoError):
        SealedBox(PrivateKey(former.unseal)).decrypt(box)
    successor = pair(table, Role.CHIEF)
    assert successor.unseal is not None
    assert SealedBox(PrivateKey(successor.unseal)).decrypt(box)


async def test_an_attempt_is_sealed_to_no_chief_whose_key_was_taken_away(
    table: TableProcess, people: People, dealtable: Dealtable
) -> None:
    """The only chief is revoked while the table runs: the next deal waits for another one."""
    await people.until(lambda state: state.machine.phase is MachinePhase.EMPTY)
    gone = await dealtable("keys", "revoke", table.state_dir, "chief", "--reason", "sold hands")
    assert "no chief is left" in gone.err
    await people.until(lambda state: "NO_CHIEF" in [alert.name for alert in state.alerts])
    assert code(await people.order(Role.REFEREE, "start_deal")) == "NO_CHIEF"
    assert entries(table, "seed") == []

    made = await dealtable("keys", "client", table.state_dir, "deputy", "--role", "chief")
    assert made.code == 0
    await people.until(lambda state: not state.alerts)
    assert (await people.order(Role.REFEREE, "start_deal")).ok
    await people.until(lambda state: state.machine.phase is MachinePhase.COMMITTED)

    (seed,) = entries(table, "seed")
    deputy = read_certificate(table.state_dir / CLIENTS_FOLDER / "deputy.key_secret")
    assert deputy.unseal is not None
    assert SealedBox(PrivateKey(deputy.unseal)).decrypt(base64.b64decode(seed["for_chief"]))
