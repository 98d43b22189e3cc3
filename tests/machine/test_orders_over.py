"""An order acts at most once, ever: whoever kept its bytes, in this run and in every other."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.journal.entries import StorageFailed
from controller.journal.store import JournalStore
from controller.journal.verify import verify
from controller.machine.commands.command_request import DONE, AcceptedCommand, CompletedCommands
from controller.machine.state import state_fold as table_state
from controller.messages import ClientCommand, CommandReply, Failure, MachinePhase, Role
from controller.roster import Certificate, Roster
from controller.signing.signed_commands import sign_command, sign_document
from controller.signing.signed_heads import verify_key
from sim.mechanics.mechanics_settings import MechanicsSettings
from sim.tables import table_in_process
from sim.tables.table_in_process import TABLE_KEY, TABLE_SIGN, TableInProcess, run_table_in_process
from tests.crash.lives import SIGNERS

virtual = pytest.mark.virtual
Tables = Callable[..., Any]
Runs = Callable[[int, str], AbstractAsyncContextManager[TableInProcess]]
CHIEF, REFEREE = Role.CHIEF, Role.REFEREE
TEA: dict[str, Any] = {"reason": "tea"}


@pytest.fixture
def runs(runtime_dir: Path, tmp_path: Path) -> Runs:
    """Give runs of one table's daemon, by number, each over the journal that is named."""

    def run(number: int, journal: str) -> AbstractAsyncContextManager[TableInProcess]:
        folder, runtime = tmp_path / journal, runtime_dir / str(number)
        for one in (folder, runtime):
            one.mkdir(mode=0o700, exist_ok=True)
        store = JournalStore.open(folder)
        options: dict[str, Any] = {"store": store, "state_dir": folder, "signers": SIGNERS}
        return run_table_in_process(MechanicsSettings(), runtime, seed=number, **options)

    return run


def said(reply: CommandReply) -> str:
    return "ok" if reply.error is None else reply.error.code


def pauses(at: TableInProcess) -> dict[str, str]:
    return at.machine.record.state.pauses


def commands(at: TableInProcess) -> list[dict[str, Any]]:
    """The rows of commands that the journal has."""
    rows = (chained.entry for chained in at.machine.record.journal.entries())
    return [row.data for row in rows if row.kind == "command"]


async def replayed(at: TableInProcess, *commands: ClientCommand) -> list[str]:
    return [said(await at.lasting.submit(each)) for each in commands]


# -- another run ---------------------------------------------------------------------------


@virtual
@pytest.mark.parametrize("journal", ["same", "new"])
async def test_what_acted_in_one_run_does_not_act_in_another_on_its_journal_or_a_new_one(
    runs: Runs, journal: str
) -> None:
    async with runs(1, "same") as at:
        await at.wait_for_phase(MachinePhase.EMPTY)
        hold = at.make_command(CHIEF, "hold", **TEA)
        resume = at.make_command(CHIEF, "resume")
        assert await replayed(at, hold, resume) == ["ok", "ok"]
    async with runs(2, journal) as at:
        await at.wait_for_phase(MachinePhase.EMPTY)
        known = ["ok", "ok"] if journal == "same" else ["OTHER_RUN", "OTHER_RUN"]
        assert await replayed(at, hold, resume) == known
        assert pauses(at) == {}


@virtual
async def test_what_was_refused_in_one_run_does_not_act_in_the_next(runs: Runs) -> None:
    async with runs(1, "journal") as at:
        await at.wait_for_phase(MachinePhase.EMPTY)
        resume = at.make_command(CHIEF, "resume")
        assert await replayed(at, resume) == ["NOT_SUSPENDED"]
        assert (await at.send_command(CHIEF, "hold", **TEA)).ok
    async with runs(2, "journal") as at:
        reply = await at.lasting.submit(resume)
        assert reply.error is not None
        assert reply.error.code == "OTHER_RUN"
        assert "restarted" in reply.error.message
        assert pauses(at) != {}
        assert (await at.send_command(CHIEF, "resume")).ok  # who looks and orders it anew is heard
        assert pauses(at) == {}


@virtual
@pytest.mark.parametrize("boot", [None, "", "00" * 16])
async def test_an_order_that_names_no_run_or_an_unknown_one_is_refused(
    table: Tables, boot: str | None
) -> None:
    async with table() as at:
        await at.wait_for_phase(MachinePhase.EMPTY)
        plain = ClientCommand(id="x", cmd="hold", boot=boot, args=TEA)
        assert await replayed(at, sign_command(plain, TABLE_KEY, at.signers[CHIEF])) == [
            "OTHER_RUN"
        ]
        assert pauses(at) == {}


@virtual
async def test_another_run_cannot_be_written_into_an_order(table: Tables) -> None:
    async with table() as at:
        await at.wait_for_phase(MachinePhase.EMPTY)
        old = sign_command(
            ClientCommand(id="x", cmd="hold", boot="00", args=TEA), TABLE_KEY, at.signers[CHIEF]
        )
        new = msgspec.structs.replace(old, boot=at.machine.processor.boot)
        assert await replayed(at, new) == ["BAD_SIGNATURE"]


# -- the same run --------------------------------------------------------------------------


@virtual
async def test_what_was_refused_does_not_act_later_in_the_same_run(table: Tables) -> None:
    async with table() as at:
        await at.wait_for_phase(MachinePhase.EMPTY)
        resume, release = at.make_command(CHIEF, "resume"), at.make_command(REFEREE, "release")
        first = [await at.lasting.submit(each) for each in (resume, release)]
        assert [said(each) for each in first] == ["NOT_SUSPENDED", "WRONG_PHASE"]
        assert (await at.send_command(REFEREE, "hold", **TEA)).ok
        assert [await at.lasting.submit(each) for each in (resume, release)] == first
        assert pauses(at) != {}


@virtual
async def test_a_step_that_was_refused_is_not_taken_once_it_could_be(table: Tables) -> None:
    async with table() as at:
        await at.wait_for_phase(MachinePhase.EMPTY)
        assert (await at.send_command(REFEREE, "hold", **TEA)).ok
        start = at.make_command(REFEREE, "start_deal")
        assert await replayed(at, start) == ["PAUSED"]
        assert (await at.send_command(REFEREE, "resume")).ok
        assert await replayed(at, start) == ["PAUSED"]
        assert at.machine.table_boards.phase is MachinePhase.EMPTY
        assert (await at.send_command(REFEREE, "start_deal")).ok


@virtual
async def test_what_acted_does_not_act_again_when_the_journal_has_forgotten_its_answer(
    table: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table_state, "MAX_REMEMBERED_ANSWERS", 2)
    async with table() as at:
        await at.wait_for_phase(MachinePhase.EMPTY)
        at.machine.processor.completed = CompletedCommands(max_answers=3)
        hold = at.make_command(CHIEF, "hold", **TEA)
        assert await replayed(at, hold) == ["ok"]
        assert (await at.send_command(CHIEF, "resume")).ok
        for _ in range(2):
            assert (await at.send_command(Role.TABLE, "call", seat="N")).ok
        assert len(at.machine.record.state.answers) == 2
        assert await replayed(at, hold) == ["ORDER_OVER"]
        assert pauses(at) == {}


@virtual
async def test_an_id_that_is_given_with_other_words_is_refused_and_that_is_in_the_journal(
    table: Tables,
) -> None:
    async with table() as at:
        await at.wait_for_phase(MachinePhase.EMPTY)
        acted = at.make_command(CHIEF, "hold", **TEA)
        refused = at.make_command(CHIEF, "start_deal")
        assert await replayed(at, acted, refused) == ["ok", "PAUSED"]
        others = [
            at.sign_command(msgspec.structs.replace(acted, **other), at.signers[CHIEF])
            for other in ({"cmd": "resume", "args": {}}, {"args": {"reason": "x"}}, {"person": "p"})
        ]
        others.append(
            at.sign_command(msgspec.structs.replace(refused, cmd="resume"), at.signers[CHIEF])
        )
        for _ in range(2):
            assert await replayed(at, *others) == ["ID_TAKEN"] * len(others)
        assert await replayed(at, acted, refused) == ["ok", "PAUSED"]
        assert pauses(at) != {}
        rows = [row for row in commands(at) if row.get("refused") == "ID_TAKEN"]
        told = [(row["id"], row["cmd"], row["args"], row["sig"]) for row in rows]
        assert told == [(each.id, each.cmd, dict(each.args), each.sig) for each in others]


@virtual
@pytest.mark.parametrize(("cmd", "kept"), [("add_time", "command"), ("answer", "command_kept")])
async def test_other_words_that_no_entry_can_hold_are_refused_and_stand_there_as_signed(
    runs: Runs, tmp_path: Path, cmd: str, kept: str
) -> None:
    async with runs(1, "journal") as at:
        await at.wait_for_phase(MachinePhase.EMPTY)
        hold = at.make_command(REFEREE, "hold", **TEA)
        args = {"seconds": 60.0, "zh": "时"}
        other = at.sign_command(
            msgspec.structs.replace(hold, cmd=cmd, args=args), at.signers[REFEREE]
        )
        assert await replayed(at, hold, other, hold) == ["ok", "ID_TAKEN", "ok"]
        entries = [each.entry for each in at.machine.record.journal.entries()]
        told = [(each.kind, each.data["args"]) for each in entries if "sig" in each.data]
        assert told[1:] == [(kept, '{"seconds":60.0,"zh":"时"}')]
    assert not verify(tmp_path / "journal", None).findings


@virtual
async def test_other_words_under_an_old_id_are_refused_in_another_run_and_the_same_are_not(
    runs: Runs,
) -> None:
    async with runs(1, "journal") as at:
        await at.wait_for_phase(MachinePhase.EMPTY)
        hold = at.make_command(CHIEF, "hold", **TEA)
        assert await replayed(at, hold) == ["ok"]
    async with runs(2, "journal") as at:
        again = at.sign_command(hold, at.signers[CHIEF])
        other = at.sign_command(
            msgspec.structs.replace(hold, cmd="resume", args={}), at.signers[CHIEF]
        )
        assert await replayed(at, again, other, again) == ["ok", "ID_TAKEN", "ok"]
        assert pauses(at) != {}


@virtual
async def test_an_order_that_is_still_waited_for_is_no_other_one(table: Tables) -> None:
    async with table() as at:
        await at.wait_for_phase(MachinePhase.EMPTY)
        hold = at.make_command(CHIEF, "hold", **TEA)
        other = at.sign_command(
            msgspec.structs.replace(hold, args={"reason": "x"}), at.signers[CHIEF]
        )
        replies = await asyncio.gather(*map(at.lasting.submit, (hold, other, hold)))
        assert [said(reply) for reply in replies] == ["ok", "ID_TAKEN", "ok"]


@virtual
async def test_a_part_of_a_match_that_was_answered_without_a_row_is_answered_the_same(
    table: Tables,
) -> None:
    async with table() as at:
        await at.wait_for_phase(MachinePhase.EMPTY)
        part = {"digest": "5a" * 32, "part": 1, "parts": 2, "text": "eNq"}
        sig = sign_document("5a" * 32, TABLE_SIGN)
        signed = {"sig": sig, "verify": verify_key(TABLE_SIGN).hex()}
        command = at.make_command(CHIEF, "take_over", **part, **signed)
        first, again = await at.lasting.submit(command), await at.lasting.submit(command)
        assert first.result == {"missing": [2]}
        assert again == first


@virtual
async def test_a_key_that_gave_more_than_can_be_known_again_gives_no_more_and_others_do(
    table: Tables,
) -> None:
    async with table() as at:
        await at.wait_for_phase(MachinePhase.EMPTY)
        at.machine.processor.completed = CompletedCommands(max_commands=3, max_answers=1)
        commands = [at.make_command(CHIEF, "resume") for _ in range(3)]
        assert await replayed(at, *commands) == ["NOT_SUSPENDED"] * 3
        hold = at.make_command(CHIEF, "hold", **TEA)
        assert await replayed(at, hold, hold) == ["TOO_MANY_ORDERS"] * 2
        assert await replayed(at, *commands) == ["NOT_SUSPENDED"] * 3
        assert (await at.send_command(REFEREE, "hold", **TEA)).ok


def certificate(seed: bytes, role: Role, expires: datetime | None = None) -> Certificate:
    """A client's certificate, as a table in process has it."""
    (known,) = table_in_process._roster({role: seed}).clients
    return msgspec.structs.replace(known, name="guest", expires=expires)


@virtual
@pytest.mark.parametrize(
    ("before", "code"),
    [
        ({"role": REFEREE, "expires": datetime(2020, 1, 1, tzinfo=UTC)}, "KEY_EXPIRED"),
        ({"role": Role.OBSERVER}, "WRONG_ROLE"),
    ],
)
async def test_what_was_refused_for_its_key_does_not_act_once_that_key_may(
    table: Tables, before: dict[str, Any], code: str
) -> None:
    def roster(client: Certificate) -> Roster:
        return Roster([client], now=lambda: datetime(2027, 1, 1, tzinfo=UTC))

    async with table() as at:
        await at.wait_for_phase(MachinePhase.EMPTY)
        seed = b"G" * 32
        hold = at.sign_command(ClientCommand(id="x", cmd="hold", args=TEA), seed)
        at.machine.processor._roster = roster(certificate(seed, **before))
        assert await replayed(at, hold) == [code]
        at.machine.processor._roster = roster(certificate(seed, REFEREE))
        assert await replayed(at, hold) == [code]
        assert pauses(at) == {}
        fresh = at.sign_command(ClientCommand(id="y", cmd="hold", args=TEA), seed)
        assert await replayed(at, fresh) == ["ok"]


@virtual
async def test_an_act_that_was_broken_off_is_over_all_the_same(
    table: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with table() as at:
        await at.wait_for_phase(MachinePhase.EMPTY)
        hold = at.make_command(CHIEF, "hold", **TEA)
        with monkeypatch.context() as patched:
            patched.setattr(
                at.machine.processor, "action_for", lambda cmd: ending(asyncio.CancelledError)
            )
            with pytest.raises(asyncio.CancelledError):
                await at.lasting.submit(hold)
        assert await replayed(at, hold) == ["ORDER_OVER"]
        assert pauses(at) == {}


@virtual
@pytest.mark.parametrize(
    ("end", "code"), [(RuntimeError, "NOT_CARRIED_OUT"), (StorageFailed, "STORAGE_FAILED")]
)
async def test_an_act_that_fails_is_answered_and_over(
    table: Tables, monkeypatch: pytest.MonkeyPatch, end: type[Exception], code: str
) -> None:
    async with table() as at:
        await at.wait_for_phase(MachinePhase.EMPTY)
        hold = at.make_command(CHIEF, "hold", **TEA)
        with monkeypatch.context() as patched:
            patched.setattr(at.machine.processor, "action_for", lambda cmd: ending(end))
            assert said(await at.lasting.submit(hold)) == code
        assert await replayed(at, hold) == ["ORDER_OVER"]
        assert pauses(at) == {}


def ending(end: type[BaseException]) -> Callable[[AcceptedCommand], Awaitable[None]]:
    """Return an act that ends so."""

    async def act(order: AcceptedCommand) -> None:
        raise end("the lid fell off")

    return act


# -- who gave it ---------------------------------------------------------------------------


@virtual
async def test_a_person_stands_beside_the_key_that_he_has_in_hand(
    table: Tables, runs: Runs, tmp_path: Path
) -> None:
    async with runs(1, "journal") as at:
        await at.wait_for_phase(MachinePhase.EMPTY)
        plain = ClientCommand(id="h", cmd="hold", person="李娜", args=TEA)
        assert await replayed(at, at.sign_command(plain, at.signers[REFEREE])) == ["ok"]
        assert pauses(at) == {"referee": "李娜 (referee)"}
        assert (await at.send_command(REFEREE, "resume")).ok
        rows = [each.entry for each in at.machine.record.journal.entries()]
    named = [(row.data["who"], row.data["person"]) for row in rows if row.kind == "command"]
    assert named == [("referee", "李娜"), ("referee", None)]
    (ended,) = [row.data["by"] for row in rows if row.kind == "pause_ended"]
    assert ended == "referee"
    assert not verify(tmp_path / "journal", None).findings


@virtual
async def test_a_person_cannot_be_put_into_an_order_or_taken_out(table: Tables) -> None:
    async with table() as at:
        await at.wait_for_phase(MachinePhase.EMPTY)
        named = at.sign_command(
            ClientCommand(id="h", cmd="hold", person="A", args=TEA), at.signers[CHIEF]
        )
        for person in (None, "B"):
            changed = msgspec.structs.replace(named, person=person)
            assert await replayed(at, changed) == ["BAD_SIGNATURE"]


@pytest.mark.parametrize(
    "person",
    ["", " ", " A", "A ", "x" * 41, "a\nb", "\x1b[2J", "A (chief)", "A（chief）", "\u202eA", 7],
)
def test_what_nobody_can_read_is_no_person(person: object) -> None:
    body = msgspec.json.encode({"id": "x", "cmd": "hold", "person": person})
    with pytest.raises(msgspec.ValidationError, match="person"):
        msgspec.json.decode(body, type=ClientCommand)


@pytest.mark.parametrize("person", [None, "A", "李娜", "Chen Hua", "O’Neill-Kühn", "x" * 40])
def test_a_name_is_a_person(person: str | None) -> None:
    body = msgspec.json.encode({"id": "x", "cmd": "hold", "person": person})
    assert msgspec.json.decode(body, type=ClientCommand).person == person


# -- what is known of orders that are over ----------------------------------------------------

ids = st.text(max_size=3)
answers = st.sampled_from([None, {"n": 1}, {}, Failure(code="STALE", message="m", action="a")])


@given(st.lists(st.tuples(st.sampled_from("kl"), ids, answers), max_size=40))
def test_no_order_is_forgotten_and_the_first_answer_counts(
    orders: Sequence[tuple[str, str, Any]],
) -> None:
    over = CompletedCommands(max_answers=3)
    first: dict[tuple[str, str], Any] = {}
    for key, command_id, answer in orders:
        over.remember(ClientCommand(id=command_id, cmd="hold", key=key), answer)
        first.setdefault((key, command_id), answer)
    for (key, command_id), answer in first.items():
        found = over.answer_of(key, command_id)
        code = answer.code if isinstance(answer, Failure) else DONE
        assert found in (answer, code)
        assert found is not None
    assert over.answer_of("m", "") is None
    assert over.answer_of("k", "1234") is None
    kept = sum(not isinstance(over.answer_of(*one), str) for one in first)
    assert kept == min(3, sum(answer is not None for answer in first.values()))


@given(st.lists(ids, max_size=20))
def test_a_key_is_full_with_so_many_orders_and_no_other_key_with_it(given_ids: list[str]) -> None:
    over = CompletedCommands(max_commands=4)
    for command_id in given_ids:
        over.remember(ClientCommand(id=command_id, cmd="hold", key="k"), None)
    assert over.is_full("k") == (len(set(given_ids)) >= 4)
    assert not over.is_full("l")
    assert sum(over.answer_of("k", one) is not None for one in set(given_ids)) <= 4
