"""Tables whose boards are behind ptys: the same firmware, in real time, inside or as processes."""

import asyncio
import itertools
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from drivers.errors import LineLost
from drivers.link.serial_port import SerialPort
from sim.board_process import Interpreter, cpython_interpreter, micropython_interpreter
from sim.hardware_on_ptys import HardwareOnPtys, TablePlan, plan_tables
from sim.mechanics.mechanics_settings import MechanicsSettings
from sim.pin_factories import SocketFactory
from tests.sim.host import Host
from tests.sim.orders import order_of
from tests.waiting import turn

SPEED = 20.0
INSIDE = None

Start = Callable[..., Any]


@pytest.fixture
async def start(runtime_dir: Path) -> AsyncIterator[Start]:
    """Start a table: `await start()`; `cards`, `speed`, `interpreter`, `attendant` by name."""
    boots = itertools.count(1)
    started: list[HardwareOnPtys] = []

    async def make(
        cards: int = 108,
        speed: float = SPEED,
        interpreter: Interpreter | None = INSIDE,
        attendant: bool = False,
        relay: bool = False,
    ) -> HardwareOnPtys:
        plan = TablePlan(
            id="T",
            folder=runtime_dir,
            settings=MechanicsSettings(cards=cards, speed=speed),
            interpreter=interpreter,
            attendant=attendant,
            relay=relay,
        )
        table = HardwareOnPtys(plan, lambda: next(boots))
        started.append(table)
        await table.__aenter__()
        return table

    yield make
    for table in started:
        await table.close()


async def host_of(table: HardwareOnPtys) -> Host:
    info = table.info()
    host = Host(SerialPort(info["dealer"], 921600), SerialPort(info["reader"], 921600))
    await host.open()
    return host


class Asker:
    """A program at the control socket."""

    def __init__(self, table: HardwareOnPtys) -> None:
        self._path = table.info()["control"]
        self._ids = itertools.count(1)

    async def ask(self, do: str, **words: object) -> dict[str, Any]:
        reader, writer = await asyncio.open_unix_connection(self._path, limit=1 << 20)
        number = next(self._ids)
        request = {"id": number, "do": do, "with": words}
        writer.write(json.dumps(request).encode() + b"\n")
        answer: dict[str, Any] = json.loads(await reader.readline())
        writer.close()
        assert answer["id"] == number
        return answer


@pytest.fixture(
    params=["inside", "cpython", pytest.param("micropython", marks=pytest.mark.micropython)]
)
def interpreter(request: pytest.FixtureRequest) -> Interpreter | None:
    if request.param == "micropython":
        return micropython_interpreter(request.getfixturevalue("micropython"))
    return cpython_interpreter() if request.param == "cpython" else INSIDE


either = pytest.mark.parametrize(
    "interpreter", [INSIDE, cpython_interpreter()], ids=["inside", "cpython"]
)


@pytest.mark.parametrize("relay", [False, True], ids=["direct", "relayed"])
async def test_108_cards_are_dealt_by_boards_behind_ptys(
    start: Start, interpreter: Interpreter | None, relay: bool
) -> None:
    table = await start(interpreter=interpreter, relay=relay)
    host = await host_of(table)
    await host.deal(1, order_of(108))
    assert [len(pocket) for pocket in table.world.truth().pockets] == [27, 27, 27, 27, 0]
    await host.release()
    assert table.world.truth().lift_up
    host.close()


@either
async def test_a_killed_board_is_an_unplugged_one_and_its_motors_stand(
    start: Start, interpreter: Interpreter | None
) -> None:
    table = await start(cards=20, speed=1.0, interpreter=interpreter)
    host = await host_of(table)
    lost: asyncio.Future[LineLost] = asyncio.get_running_loop().create_future()
    host.dealer.link.on_down = lost.set_result
    await host.dealer.begin(1, 20, 5)
    await host.dealer.shuffle(1, 1)
    assert (await Asker(table).ask("kill", board="dealer"))["ok"]
    assert "dealer" in str(await lost)
    await table.boards["dealer"].wait_until_gone()
    assert len(table.world.truth().all_cards()) == 20
    host.close()


@either
async def test_a_restarted_board_is_found_under_the_same_name_with_another_boot(
    start: Start, interpreter: Interpreter | None
) -> None:
    table = await start(cards=20, interpreter=interpreter)
    host = await host_of(table)
    host.close()
    before = table.info()["boards"]["dealer"]
    assert (await Asker(table).ask("restart", board="dealer"))["ok"]
    again = await host_of(table)
    after = table.info()["boards"]["dealer"]
    assert after["boot"] != before["boot"]
    assert (after["pid"] is None) or after["pid"] != before["pid"]
    assert os.readlink(table.info()["dealer"]) == after["pty"]
    await again.deal(1, order_of(20))
    again.close()


@either
async def test_a_host_may_go_and_another_come(
    start: Start, interpreter: Interpreter | None
) -> None:
    table = await start(cards=20, interpreter=interpreter)
    for attempt in (1, 2):
        host = await host_of(table)
        await host.deal(attempt, order_of(20))
        host.close()
        await table.world.people.collect()


async def test_a_closed_table_leaves_no_process_no_socket_and_no_link(
    start: Start, runtime_dir: Path
) -> None:
    table = await start(interpreter=cpython_interpreter())
    pids = [board["pid"] for board in table.info()["boards"].values()]
    await table.close()
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
    assert sorted(os.listdir(runtime_dir)) == ["dealer.log", "reader.log"]


async def test_boards_end_when_their_sim_process_is_killed(runtime_dir: Path) -> None:
    command = (sys.executable, "-m", "controller.cli", "sim", "--json")
    process = await asyncio.create_subprocess_exec(
        *command, "--runtime-dir", str(runtime_dir), stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    info = json.loads(await process.stdout.readline())
    endings = [asyncio.create_task(_ended(board["pid"])) for board in info["boards"].values()]
    await turn()
    process.send_signal(signal.SIGKILL)
    await process.wait()
    await asyncio.gather(*endings)


async def _ended(pid: int) -> None:
    """Wait until a process that is not our child has ended."""
    descriptor = os.pidfd_open(pid)
    ended = asyncio.Event()
    asyncio.get_running_loop().add_reader(descriptor, ended.set)
    try:
        await ended.wait()
    finally:
        asyncio.get_running_loop().remove_reader(descriptor)
        os.close(descriptor)


async def test_the_sim_command_says_where_everything_is_and_ends_cleanly(runtime_dir: Path) -> None:
    command = (sys.executable, "-m", "controller.cli", "sim", "--json", "--tables", "3")
    process = await asyncio.create_subprocess_exec(
        *command, "--runtime-dir", str(runtime_dir), stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    infos = [json.loads(await process.stdout.readline()) for _ in range(3)]
    assert [info["table"] for info in infos] == ["T01-01", "T01-02", "T01-03"]
    assert len({info[key] for info in infos for key in ("dealer_id", "reader_id")}) == 6
    assert all(os.readlink(info["dealer"]).startswith("/dev/pts/") for info in infos)
    process.send_signal(signal.SIGTERM)
    assert await process.wait() == 0


async def test_the_control_socket_tells_the_truth(start: Start) -> None:
    table = await start(cards=8)
    answer = await Asker(table).ask("truth")
    assert answer["ok"]
    assert sorted(card["id"] for card in answer["result"]["hopper"]) == list(range(8))


async def test_the_control_socket_moves_hands_lid_and_faults(start: Start) -> None:
    table = await start(cards=8)
    asker = Asker(table)
    for do, words in (
        ("lid", {"open": True}),
        ("estop", {"pressed": True}),
        ("fault", {"name": "missing_card"}),
        ("collect", {}),
        ("lay_down", {}),
        ("load", {}),
        ("collect", {"card_set": "S1"}),
        ("change_set", {"back": 1, "count": 8}),
        ("speed", {"value": 5}),
        ("clear_faults", {}),
        ("attendant", {"on": True}),
        ("tap", {"name": "start"}),
    ):
        assert (await asker.ask(do, **words))["ok"], do
    truth = table.world.truth()
    assert ([card.back for card in truth.hopper], truth.lid_open, truth.estop) == (
        [1] * 8,
        False,
        True,
    )


@pytest.mark.parametrize(
    ("request_line", "complaint"),
    [
        (b"nonsense", "no request"),
        (b'{"do": "dance"}', "nothing is called 'dance': truth, collect"),
        (b'{"do": "take_hands"}', "take_hands: the pockets are not up"),
        (
            b'{"do": "load", "with": {"card_set": "S9"}}',
            "load: no set is called 'S9'; there are S1",
        ),
        (b'{"do": "gather", "with": {"card_set": "S1"}}', "S1 is not on the table"),
        (b'{"do": "mix", "with": {"card_set": "S1", "n": 1}}', "there are no 1 cards to mix"),
        (b'{"do": "change_set", "with": {"card_set": "S1"}}', "S1 is neither beside"),
        (b'{"do": "press", "with": {"name": "bell"}}', "press: no button is called 'bell'"),
        (b'{"do": "kill", "with": {"board": "cat"}}', "a board is dealer or reader"),
        (b'{"do": "fault", "with": {"name": "gremlin"}}', "no fault is called 'gremlin'"),
        (b'{"do": "fault", "with": {"name": "jam", "at": "x"}}', "Expected `int | null`"),
        (b'{"do": "speed", "with": {}}', "speed: "),
        (b'{"do": "speed", "with": {"value": 0}}', "speed is above 0"),
    ],
)
async def test_a_request_that_cannot_be_done_is_answered_in_one_line(
    start: Start, request_line: bytes, complaint: str
) -> None:
    table = await start(cards=8)
    answer = await table.control.answer(request_line)
    assert not answer.ok
    assert complaint in str(answer.error)
    assert "\n" not in str(answer.error)


async def test_pins_over_the_socket_follow_the_contacts_and_light_the_lamps(start: Start) -> None:
    table = await start(cards=8)
    factory = await SocketFactory.connect(table.info()["pins"])
    lid, start_button, lamp = factory.pin(5), factory.pin(13), factory.pin(16)
    for pin in (lid, start_button):
        pin.pull = "up"
    assert (lid.state, start_button.state) == (False, True)
    changed: list[bool] = []
    heard = asyncio.Event()

    def hear(ticks: float, state: bool) -> None:
        changed.append(state)
        heard.set()

    lid.when_changed = hear
    table.world.set_lid(True)
    await heard.wait()
    assert changed == [True]
    lit: asyncio.Future[tuple[str, bool]] = asyncio.get_running_loop().create_future()
    table.contacts.watch(lambda name, on: lit.set_result((name, on)))
    lamp.function = "output"
    lamp.state = 1
    assert await lit == ("lamp_red", True)
    factory.close()


async def test_pins_fail_when_the_simulated_panel_goes_away(start: Start) -> None:
    table = await start(cards=8)
    factory = await SocketFactory.connect(table.info()["pins"])
    gone = asyncio.Event()
    factory.on_lost = gone.set
    pin = factory.pin(16)
    pin.function = "output"
    await table.pins.close()
    await gone.wait()
    with pytest.raises(OSError, match="the simulated panel is gone"):
        pin.state = 1
    factory.close()


async def test_nobody_at_the_pins_socket_is_an_error(runtime_dir: Path) -> None:
    with pytest.raises(FileNotFoundError):
        await SocketFactory.connect(str(runtime_dir / "pins"))


def test_a_hall_gives_every_table_a_name_a_seed_and_ids_of_its_own(runtime_dir: Path) -> None:
    plans = plan_tables(TablePlan("T01", runtime_dir, MechanicsSettings(), seed=5), 3, runtime_dir)
    assert [plan.id for plan in plans] == ["T01-01", "T01-02", "T01-03"]
    assert [plan.seed for plan in plans] == [5, 6, 7]
    assert len({plan.dealer_id for plan in plans} | {plan.reader_id for plan in plans}) == 6
