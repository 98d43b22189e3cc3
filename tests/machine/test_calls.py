"""Red buttons: who calls is shown until he takes it back, or a referee is at his table."""

import asyncio

import pytest

from controller.messages import MachinePhase, Role
from sim.tables.table_in_process import TableInProcess
from tests.machine.stages import STAGES, all_press, ordered, refused
from tests.machine.tables import Tables

pytestmark = pytest.mark.virtual
REFEREE, TABLE = Role.REFEREE, Role.TABLE


def calling(at: TableInProcess) -> list[str | None]:
    """Return which seats call, as people see it."""
    return [call.seat for call in at.states[-1].calls if call.reason == "button"]


def ended(at: TableInProcess) -> list[dict[str, str]]:
    """Return what the public was told of calls that are over."""
    return [event.data for event in at.events if event.kind == "call_ended"]


async def test_a_referee_who_is_there_ends_the_call_of_a_seat(table: Tables) -> None:
    async with table() as at:
        await at.wait_for_phase(MachinePhase.EMPTY)
        for seat in "NS":
            await ordered(at, TABLE, "call", seat=seat)
        await ordered(at, REFEREE, "attend", seat="S")
        assert calling(at) == ["N"]
        assert ended(at) == [{"seat": "S", "by": "referee"}]


async def test_without_a_seat_all_calls_are_over(table: Tables) -> None:
    async with table() as at:
        await at.wait_for_phase(MachinePhase.EMPTY)
        for seat in "NS":
            await ordered(at, TABLE, "call", seat=seat)
        await ordered(at, REFEREE, "attend")
        assert calling(at) == []
        assert [data["seat"] for data in ended(at)] == ["N", "S"]


async def test_where_nobody_calls_there_is_nothing_to_end(table: Tables) -> None:
    async with table() as at:
        await at.wait_for_phase(MachinePhase.EMPTY)
        assert await refused(at, REFEREE, "attend") == "NOBODY_CALLS"
        await ordered(at, TABLE, "call", seat="N")
        assert await refused(at, REFEREE, "attend", seat="S") == "NOBODY_CALLS"
        assert calling(at) == ["N"]


async def test_what_the_match_asks_for_is_not_ended_by_being_there(table: Tables) -> None:
    async with table() as at:
        await STAGES["count_check"](at)
        await ordered(at, TABLE, "claim_count", seat="W")
        assert await refused(at, REFEREE, "attend") == "NOBODY_CALLS"
        assert [call.reason for call in at.states[-1].calls] == ["count"]


async def test_a_green_button_on_the_display_takes_its_own_seats_call_back_and_no_more(
    table: Tables,
) -> None:
    async with table() as at:
        await STAGES["count_check"](at)
        await ordered(at, TABLE, "call", seat="N")
        reply = await ordered(at, TABLE, "confirm", seat="N")
        assert reply.result == {}
        assert (calling(at), at.states[-1].match.counted) == ([], [])
        assert ended(at) == [{"seat": "N"}]
        await all_press(at, "N")
        assert at.states[-1].match.counted == ["N"]


async def test_a_referees_green_button_for_a_seat_is_no_word_of_its_player(table: Tables) -> None:
    async with table() as at:
        await STAGES["count_check"](at)
        await ordered(at, TABLE, "call", seat="N")
        await ordered(at, REFEREE, "confirm", seat="N")
        assert (calling(at), at.states[-1].match.counted) == (["N"], ["N"])


async def test_a_press_that_was_meant_for_another_phase_is_refused(table: Tables) -> None:
    """Two opponents confirm that a player is out; the second must not confirm the result."""
    async with table() as at:
        await STAGES["play, after the first lead"](at)
        await ordered(at, REFEREE, "out", seat="N")
        await ordered(at, TABLE, "out", seat="S")
        east, west = await asyncio.gather(
            at.send_command(TABLE, "confirm", seat="E", phase="play"),
            at.send_command(TABLE, "confirm", seat="W", phase="play"),
        )
        assert east.ok
        assert west.error is not None
        assert west.error.code == "WRONG_PHASE"
        await at.wait_for_state(lambda state: state.match.phase == "result")
        assert at.states[-1].match.confirmed == []
