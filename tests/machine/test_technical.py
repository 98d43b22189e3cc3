"""What a technician orders of the boards, and that it is never a hand or a match."""

import asyncio
import binascii
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from controller.commands.registry import COMMANDS
from controller.machine.commands.service_commands import SERVICE_POLL_INTERVAL_S
from controller.messages import MachinePhase, Role
from drivers.board_identity import ExpectedBoard, check_identity
from drivers.firmware import protocol
from drivers.firmware.pins import LIFT_UP
from sim.hardware_in_process import DEALER_ID, own_firmware_hash
from sim.mechanics.fault_menu import parse_fault
from sim.tables.table_in_process import TableInProcess
from tests.commands.examples import example
from tests.machine.stages import STAGES, STEPS, alerts, at, refused
from tests.machine.troubles import Ground

pytestmark = pytest.mark.virtual
Tables = Callable[..., Any]


@pytest.fixture
def ground(runtime_dir: Path, tmp_path: Path) -> Ground:
    """Make a place for tables with two sets."""
    return Ground(runtime_dir, tmp_path)


ORDERS: dict[str, dict[str, Any]] = {
    "selftest": {},
    "configure": {"board": "dealer", "settings": {"jam_retries": 1}},
    "calibrate": {"board": "dealer"},
}
LIFT_S = 5.0


async def done(trial: TableInProcess, cmd: str, **args: Any) -> dict[str, Any]:
    reply = await trial.send_command(Role.TECHNICIAN, cmd, **args)
    assert reply.ok, reply.error
    return dict(reply.result or {})


def crc(**changed: int) -> int:
    """The CRC of a dealer board's settings, as PROTOCOL.md section 5 has it."""
    rows = sorted(protocol.DEALER_SETTINGS.items())
    packed = b"".join(
        struct.pack(">BI", setting, changed.get(name, default))
        for setting, (name, default, _, _) in rows
    )
    return binascii.crc32(packed)


async def test_settings_are_changed_and_the_board_says_so_and_keeps_them(table: Tables) -> None:
    changes = {"feed_limit_ms": 700, "jam_retries": 1}
    async with table() as trial:
        await trial.wait_for_phase(MachinePhase.EMPTY)
        link = trial.machine.dealer.link
        assert link.welcome.settings_crc == crc()
        answer = await done(trial, "configure", board="dealer", settings=changes)
        assert answer == {"board": "dealer", "settings": changes}
        trial.sim.kill("dealer")
        await trial.wait_for_phase(MachinePhase.FAULT)
        trial.sim.start("dealer")
        await trial.wait_for_phase(MachinePhase.EMPTY)
        assert link.welcome.settings_crc == crc(**changes)
        check_identity(
            link.welcome,
            ExpectedBoard("dealer", DEALER_ID, True, own_firmware_hash().hex(), crc(**changes)),
        )
        await trial.play_attempt()
        await trial.wait_for_phase(MachinePhase.HELD)


async def test_a_setting_of_the_reader_is_its_own(table: Tables) -> None:
    async with table() as trial:
        await trial.wait_for_phase(MachinePhase.EMPTY)
        await done(trial, "configure", board="reader", settings={"read_limit_ms": 150})
        told = await trial.send_command(
            Role.TECHNICIAN, "configure", board="reader", settings={"jam_retries": 1}
        )
        assert told.error.code == "BAD_COMMAND"
        assert "silence_ms, read_limit_ms, asked, alive_ms" in told.error.message
        assert "没有此项，应为silence_ms、read_limit_ms、" in told.error.message_zh


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (3, "settings.jam_retries = 3, expected a number from 0 to 2"),
        (-1, "a table of settings, each a number"),
        ("2", "a table of settings, each a number"),
        (1.5, "a table of settings, each a number"),
        (True, "a table of settings, each a number"),
        (None, "a table of settings, each a number"),
        (1 << 40, "a table of settings, each a number"),
    ],
)
async def test_a_wrong_setting_changes_nothing_not_even_the_right_ones_beside_it(
    table: Tables, value: object, found: str
) -> None:
    async with table() as trial:
        await trial.wait_for_phase(MachinePhase.EMPTY)
        settings = {"feed_limit_ms": 700, "jam_retries": value}
        reply = await trial.send_command(
            Role.TECHNICIAN, "configure", board="dealer", settings=settings
        )
        assert reply.error.code == "BAD_COMMAND"
        assert found in reply.error.message
        assert "expected" not in reply.error.message_zh
        assert "number" not in reply.error.message_zh
        trial.sim.kill("dealer")
        await trial.wait_for_phase(MachinePhase.FAULT)
        trial.sim.start("dealer")
        await trial.wait_for_phase(MachinePhase.EMPTY)
        assert trial.machine.dealer.link.welcome.settings_crc == crc()


async def test_what_a_board_took_before_it_went_away_is_in_the_journal(table: Tables) -> None:
    async with table() as trial:
        await trial.wait_for_phase(MachinePhase.EMPTY)
        board = trial.machine.dealer
        configure = board.configure
        taken: list[str] = []

        async def once(name: str, value: int) -> None:
            if taken:
                trial.sim.kill("dealer")
            await configure(name, value)
            taken.append(name)

        board.configure = once
        settings = {"feed_limit_ms": 700, "jam_retries": 1}
        reply = await trial.send_command(
            Role.TECHNICIAN, "configure", board="dealer", settings=settings
        )
        assert reply.error.code == "BOARD_AWAY"
        rows = [row.entry.data for row in trial.machine.record.journal.entries()]
        ours = [row for row in rows if row.get("cmd") == "configure"]
        assert [row.get("result") for row in ours] == [
            {"board": "dealer", "settings": {"feed_limit_ms": 700}, "unknown": {"jam_retries": 1}},
            None,
        ]
        assert ours[1]["refused"] == "BOARD_AWAY"


async def test_a_setting_whose_answer_was_lost_is_in_the_journal_as_unknown(table: Tables) -> None:
    async with table() as trial:
        await trial.wait_for_phase(MachinePhase.EMPTY)
        configure = trial.make_command(Role.TECHNICIAN, "configure", **ORDERS["configure"])
        line = trial.sim.port("dealer").to_host
        line.distort = lambda data: []
        reply = await trial.lasting.submit(configure)
        assert reply.error.code == "BOARD_AWAY"
        await trial.wait_for_phase(MachinePhase.FAULT)
        again = await trial.send_command(Role.TECHNICIAN, "configure", **ORDERS["configure"])
        assert again.error.code == "BOARD_AWAY"  # by now there is no session: nothing was sent
        line.distort = None
        await trial.wait_for_phase(MachinePhase.EMPTY)
        assert trial.machine.dealer.link.welcome.settings_crc == crc(jam_retries=1)
        rows = [row.entry.data for row in trial.machine.record.journal.entries()]
        ours = [(row.get("result"), row.get("refused")) for row in rows if "cmd" in row]
        assert ours == [
            ({"board": "dealer", "settings": {}, "unknown": {"jam_retries": 1}}, None),
            (None, "BOARD_AWAY"),
        ]
        assert (await trial.lasting.submit(configure)).error.code == "BOARD_AWAY"


async def test_a_board_that_refuses_a_setting_leaves_nothing_unknown(table: Tables) -> None:
    async with table() as trial:
        await trial.wait_for_phase(MachinePhase.EMPTY)
        trial.sim.world.add_fault(parse_fault("stall:motor=gate"))
        testing = asyncio.ensure_future(done(trial, "selftest"))
        await asyncio.sleep(SERVICE_POLL_INTERVAL_S)
        assert await refused(trial, Role.TECHNICIAN, "configure", **ORDERS["configure"]) == (
            "BOARD_REFUSED"
        )
        await testing
        rows = [row.entry.data for row in trial.machine.record.journal.entries()]
        assert [row["cmd"] for row in rows if "cmd" in row] == ["selftest"]


async def test_a_selftest_moves_the_gate_to_every_outlet_and_ends_before_its_answer(
    table: Tables,
) -> None:
    async with table() as trial:
        await trial.wait_for_phase(MachinePhase.EMPTY)
        answer = await done(trial, "selftest")
        assert answer == {"boards": ["dealer", "reader"], "stalled": [], "silent": []}
        assert not await trial.machine.dealer.is_moving()
        assert trial.sim.world.dealer.levels["gate_at"] == protocol.TRAY
        assert alerts(trial) == []
        await trial.play_attempt()
        await trial.wait_for_phase(MachinePhase.HELD)


@pytest.mark.parametrize(("cmd", "args"), [("selftest", {}), ("calibrate", {"board": "dealer"})])
async def test_a_gate_that_does_not_move_is_named_and_stops_the_machine_until_it_does(
    table: Tables, cmd: str, args: dict[str, Any]
) -> None:
    async with table() as trial:
        await trial.wait_for_phase(MachinePhase.EMPTY)
        trial.sim.world.add_fault(parse_fault("stall:motor=gate"))
        assert (await done(trial, cmd, **args))["stalled"] == ["gate"]
        fault = await trial.wait_for_phase(MachinePhase.FAULT)
        (alert,) = fault.alerts
        assert (alert.name, "gate" in alert.cause) == ("STALL", True)
        assert await refused(trial, Role.REFEREE, "start_deal") == "WRONG_PHASE"
        assert (await done(trial, "selftest"))["stalled"] == ["gate"]  # it says so again
        trial.sim.world.motors["gate"].free()
        assert (await done(trial, cmd, **args))["stalled"] == []
        assert (await trial.wait_for_phase(MachinePhase.EMPTY)).alerts == []
        await trial.play_attempt()
        await trial.wait_for_phase(MachinePhase.HELD)


async def test_a_second_test_waits_for_its_turn_and_makes_nobody_deaf_to_the_first(
    table: Tables,
) -> None:
    async with table() as trial:
        await trial.wait_for_phase(MachinePhase.EMPTY)
        trial.sim.world.add_fault(parse_fault("stall:motor=gate"))
        first = asyncio.ensure_future(done(trial, "selftest"))
        await asyncio.sleep(SERVICE_POLL_INTERVAL_S)
        assert await refused(trial, Role.TECHNICIAN, "selftest") == "BOARD_REFUSED"
        assert await refused(trial, Role.TECHNICIAN, "configure", **ORDERS["configure"]) == (
            "BOARD_REFUSED"
        )
        assert (await first)["stalled"] == ["gate"]


async def test_a_deal_that_is_ordered_while_the_boards_are_tested_is_dealt(table: Tables) -> None:
    async with table() as trial:
        await trial.wait_for_phase(MachinePhase.EMPTY)
        testing = asyncio.ensure_future(done(trial, "selftest"))
        await asyncio.sleep(SERVICE_POLL_INTERVAL_S)
        assert (await trial.send_command(Role.REFEREE, "start_deal")).ok
        await trial.wait_for_phase(MachinePhase.COMMITTED)
        assert (await trial.send_command(Role.TABLE, "cut", n=40)).ok
        held = await trial.wait_for_state(lambda state: state.fairness[-1].outcome is not None)
        assert (held.machine.attempt, held.machine.phase) == (1, MachinePhase.HELD)
        await asyncio.wait({testing})


async def test_a_calibration_brings_the_lift_down_before_it_tries_the_motors(table: Tables) -> None:
    async with table() as trial:
        await trial.wait_for_phase(MachinePhase.EMPTY)
        trial.sim.world.set_output("lift", LIFT_UP)
        await asyncio.sleep(LIFT_S)
        assert not trial.sim.world.truth().lift_down
        assert (await done(trial, "calibrate", board="dealer"))["stalled"] == []
        assert trial.sim.world.truth().lift_down


async def test_a_board_that_is_away_or_may_not_move_says_why(table: Tables) -> None:
    async with table() as trial:
        await trial.wait_for_phase(MachinePhase.EMPTY)
        trial.sim.world.set_lid(True)
        reply = await trial.send_command(Role.TECHNICIAN, "selftest")
        assert (reply.error.code, "LID_OPEN" in reply.error.message) == ("BOARD_REFUSED", True)
        trial.sim.world.set_lid(False)
        trial.sim.kill("reader")
        await trial.wait_for_phase(MachinePhase.FAULT)
        assert await refused(trial, Role.TECHNICIAN, "calibrate", board="reader") == "BOARD_AWAY"
        await done(trial, "calibrate", board="dealer")


async def test_nothing_is_tested_or_set_while_hands_are_under_way(ground: Ground) -> None:
    async with ground.table() as trial:
        for stage, step in STEPS.items():
            await step(trial)
            for cmd, args in ORDERS.items() if stage != "due" else ():
                code = await refused(trial, Role.TECHNICIAN, cmd, **args)
                assert code == "WRONG_PHASE", (stage, cmd)


async def test_a_fault_does_not_open_an_attempt_that_is_under_way_to_a_technician(
    ground: Ground,
) -> None:
    async with ground.table() as trial:
        await STAGES["dealing"](trial)
        trial.machine.record.raise_fault("STALL")  # the phase is fault, and the attempt lives
        await trial.wait_for_phase(MachinePhase.FAULT)
        for cmd, args in ORDERS.items():
            assert await refused(trial, Role.TECHNICIAN, cmd, **args) == "MACHINE_BUSY", cmd


@pytest.mark.parametrize("role", [role for role in Role if role is not Role.TECHNICIAN])
async def test_boards_are_a_technicians_alone(table: Tables, role: Role) -> None:
    async with table() as trial:
        await trial.wait_for_phase(MachinePhase.EMPTY)
        for cmd, args in ORDERS.items():
            assert await refused(trial, role, cmd, **args) == "WRONG_ROLE"


async def test_a_technician_does_nothing_to_a_match(ground: Ground) -> None:
    async with ground.table() as trial:
        await STAGES["tribute"](trial)
        record = trial.machine.record
        match, last = record.match_written.match, record.journal.last_number
        others = [cmd for cmd, order in COMMANDS.items() if order.signed and cmd not in ORDERS]
        for cmd in others:
            reply = await trial.send_command(Role.TECHNICIAN, cmd, **example(cmd))
            assert reply.error is not None
            assert reply.error.code == "WRONG_ROLE", cmd
        assert (record.match_written.match, record.journal.last_number) == (match, last)
        assert at(trial) == "tribute"


# -- jams -----------------------------------------------------------------------


async def test_a_jam_is_called_cleared_by_a_referee_and_only_where_there_is_one(
    table: Tables,
) -> None:
    async with table("jam:at=5") as trial:
        await trial.wait_for_phase(MachinePhase.EMPTY)
        assert await refused(trial, Role.REFEREE, "clear_jam") == "NOT_LATCHED"
        failed = await trial.play_attempt()
        assert failed.fairness[-1].reasons == ["JAM"]
        await trial.wait_for_state(lambda state: "JAM" in {alert.name for alert in state.alerts})
        for role in (Role.TABLE, Role.OBSERVER, Role.TECHNICIAN):
            assert await refused(trial, role, "clear_jam") == "WRONG_ROLE"
        reply = await trial.send_command(Role.REFEREE, "clear_jam")
        assert reply.ok
        await asyncio.sleep(1)
        assert "JAM" not in alerts(trial)
        await trial.people.collect()
        again = await trial.play_attempt()
        assert again.machine.attempt == 2
        await trial.wait_for_phase(MachinePhase.HELD)
