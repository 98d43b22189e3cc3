"""Who may order what, and when; nothing twice, nothing late."""

import asyncio
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from controller.messages import ClientCommand, MachinePhase, Role
from controller.signing.signed_commands import sign_command
from sim.tables.table_in_process import TABLE_KEY
from tests.machine.stages import all_press, opened, ordered

pytestmark = pytest.mark.virtual
Tables = Callable[..., Any]


async def waiting_for_cut(trial: Any) -> None:
    await trial.wait_for_phase(MachinePhase.EMPTY)
    assert (await trial.send_command(Role.REFEREE, "start_deal")).ok
    await trial.wait_for_phase(MachinePhase.COMMITTED)


@pytest.mark.parametrize("role", [Role.OBSERVER, Role.TECHNICIAN, Role.TABLE])
async def test_a_deal_is_started_by_a_referee_alone(table: Tables, role: Role) -> None:
    async with table() as trial:
        await trial.wait_for_phase(MachinePhase.EMPTY)
        refused = await trial.send_command(role, "start_deal")
        assert refused.error.code == "WRONG_ROLE"


async def test_a_refusal_names_the_phase_and_what_to_do(table: Tables) -> None:
    async with table() as trial:
        await trial.wait_for_phase(MachinePhase.EMPTY)
        refused = await trial.send_command(Role.REFEREE, "release")
        assert refused.error.code == "WRONG_PHASE"
        assert "the machine is idle" in refused.error.message
        assert "the hands are ready" in refused.error.action


@pytest.mark.parametrize("n", [0, 5, 103, 108, -1, "40", None, 40.0, True])
async def test_a_cut_too_near_an_end_or_no_number_is_refused_and_the_deal_waits_on(
    table: Tables, n: object
) -> None:
    async with table() as trial:
        await waiting_for_cut(trial)
        refused = await trial.send_command(Role.TABLE, "cut", n=n)
        assert refused.error.code == "BAD_COMMAND"
        assert "6" in refused.error.message + refused.error.action
        assert (await trial.send_command(Role.TABLE, "cut", n=6)).ok


async def test_an_order_about_another_attempt_is_stale(table: Tables) -> None:
    async with table() as trial:
        await waiting_for_cut(trial)
        for deal, attempt in [(1, 2), (2, 1), (None, None)]:
            old = ClientCommand(
                id=f"{deal} {attempt}", cmd="cut", deal=deal, attempt=attempt, args={"n": 40}
            )
            reply = await trial.machine.submit(trial.sign_command(old, trial.signers[Role.TABLE]))
            assert reply.error.code == "STALE"
            assert "not deal 1, attempt 1" in reply.error.message


async def test_of_two_orders_that_come_together_the_second_is_held_against_what_the_first_did(
    table: Tables,
) -> None:
    async with table() as at:
        await opened(at)
        await ordered(at, Role.REFEREE, "dealt_by_hand", reason="the machine comes later")
        await ordered(at, Role.REFEREE, "shuffled", seat="E")
        await ordered(at, Role.REFEREE, "cut_by_hand", seat="S", n=40)
        await ordered(at, Role.REFEREE, "turned_up", card="SA")
        await ordered(at, Role.REFEREE, "hands_dealt", turned_to="S", turned_up="SA")
        await all_press(at, "NWSE")
        await ordered(at, Role.REFEREE, "result", order=["N", "S"])
        confirm = at.make_command(Role.REFEREE, "confirm")
        by_hand = at.make_command(Role.REFEREE, "dealt_by_hand", reason="the machine is away")
        both = await asyncio.gather(at.machine.submit(confirm), at.machine.submit(by_hand))
        assert [reply.error and reply.error.code for reply in both] == [None, "STALE"]
        match = at.machine.record.match_written.match
        assert match is not None
        assert (match.deal, match.by_hand) == (2, False)


async def test_an_order_signed_for_another_table_or_changed_on_its_way_is_refused(
    table: Tables,
) -> None:
    async with table() as trial:
        await waiting_for_cut(trial)
        order = ClientCommand(id="x", cmd="cut", deal=1, attempt=1, args={"n": 40})
        elsewhere = sign_command(order, "U" * 40, trial.signers[Role.TABLE])
        signed = trial.sign_command(order, trial.signers[Role.TABLE])
        changed = msgspec.structs.replace(signed, args={"n": 41})
        unsigned = msgspec.structs.replace(signed, sig=None)
        stranger = sign_command(order, TABLE_KEY, bytes(32))
        codes = [
            (await trial.machine.submit(command)).error.code
            for command in (elsewhere, changed, unsigned, stranger)
        ]
        assert codes == ["BAD_SIGNATURE", "BAD_SIGNATURE", "BAD_SIGNATURE", "UNKNOWN_KEY"]


async def test_the_same_id_twice_acts_once_and_is_answered_twice(table: Tables) -> None:
    async with table() as trial:
        await waiting_for_cut(trial)
        cut = ClientCommand(id="once", cmd="cut", deal=1, attempt=1, args={"n": 40})
        signed = trial.sign_command(cut, trial.signers[Role.TABLE])
        replies = await asyncio.gather(*(trial.machine.submit(signed) for _ in range(3)))
        late = await trial.machine.submit(signed)
        assert {reply.ok for reply in (*replies, late)} == {True}
        assert [event.kind for event in trial.events].count("cut") == 1


async def test_an_order_in_the_very_moment_in_which_its_step_is_given_up_is_refused(
    table: Tables,
) -> None:
    async with table() as trial:
        await waiting_for_cut(trial)
        step = asyncio.ensure_future(trial.machine.processor.wait_for("cut"))
        await asyncio.sleep(0)
        cut = trial.make_command(Role.TABLE, "cut", n=40)
        ordered = asyncio.ensure_future(trial.machine.submit(cut))
        step.cancel()
        assert (await ordered).error.code == "WRONG_PHASE"


async def test_an_effect_is_in_the_journal_before_its_answer(table: Tables) -> None:
    async with table() as trial:
        await waiting_for_cut(trial)
        await trial.send_command(Role.TABLE, "cut", n=50)
        assert trial.machine.record.journal.last_synced == trial.machine.record.journal.last_number
        assert any(e.kind == "cut" and e.data["cut"] == 50 for e in trial.events)


async def test_everybody_may_read_without_a_signature(table: Tables) -> None:
    async with table() as trial:
        await trial.wait_for_phase(MachinePhase.EMPTY)
        snapshot = await trial.machine.submit(ClientCommand(id="1", cmd="snapshot"))
        events = await trial.machine.submit(ClientCommand(id="2", cmd="events", args={"since": 0}))
        assert snapshot.result["machine"]["phase"] == "empty"
        assert [event["kind"] for event in events.result["events"]] == ["opened"]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
@given(
    cmd=st.text(max_size=12) | st.sampled_from(["cut", "release", "start_deal"]),
    args=st.dictionaries(st.text(max_size=4), st.integers() | st.text(max_size=4), max_size=3),
    key=st.none() | st.text("0123456789abcdef", min_size=64, max_size=64) | st.text(max_size=70),
)
def test_nonsense_is_answered_never_raised(
    virtual_run: Callable[..., Any], cmd: str, args: dict[str, Any], key: str | None
) -> None:
    reply = virtual_run(ClientCommand(id="z", cmd=cmd, args=args, key=key, sig="00" * 64))
    assert not reply.ok or cmd in ("snapshot", "events")


async def test_a_stale_order_is_told_by_its_deal_as_people_count_its_attempts(
    table: Tables,
) -> None:
    async with table() as trial:
        await waiting_for_cut(trial)
        assert (await trial.send_command(Role.CHIEF, "void", reason="the screen was seen")).ok
        state = await trial.wait_for_state(lambda state: state.machine.attempt == 2)
        assert state.machine.of_deal == 2
        assert [one.of_deal for one in state.fairness] == [1, 2]
        old = ClientCommand(id="old", cmd="cut", deal=1, attempt=1, args={"n": 40})
        reply = await trial.machine.submit(trial.sign_command(old, trial.signers[Role.TABLE]))
        assert "deal 1, attempt 1, not deal 1, attempt 2" in reply.error.message
        assert "第1副（本台第1次发牌），当前第1副（本台第2次发牌）" in reply.error.message_zh
        never = ClientCommand(id="never", cmd="cut", deal=1, attempt=9, args={"n": 40})
        reply = await trial.machine.submit(trial.sign_command(never, trial.signers[Role.TABLE]))
        assert "deal 1 (attempt no. 9)" in reply.error.message
        assert "第1副（发牌编号9）" in reply.error.message_zh
