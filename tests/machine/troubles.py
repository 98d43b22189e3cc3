"""Everything that can go wrong with a deal of a match, done at a table in process.

Each trouble is made to happen at a stage (stages.py), and what the table does is looked at
from outside: its feed, its state, its refusals. controller/deal/REDEAL.md is what was seen.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from controller.config import CardSetSection
from controller.journal.store import JournalStore
from controller.messages import Role
from drivers.board_events import BoardEvent, BoardEventCode
from drivers.firmware.pins import LOST_EDGES
from sim.hardware_in_process import HardwareInProcess
from sim.mechanics.fault_menu import SimulatedFault, parse_fault
from sim.mechanics.mechanics_settings import MechanicsSettings
from sim.tables.table_in_process import TableInProcess, run_table_in_process

SETS = (CardSetSection(id="S1", back="A"), CardSetSection(id="S2", back="B"))
Does = Callable[[TableInProcess], Awaitable[None]]
MACHINE, REFEREE, CHIEF = "the machine", "a referee", "the chief"


@dataclass(frozen=True)
class Ground:
    """Where tables of troubles run: a folder in memory, and one on the disk."""

    runtime_dir: Path
    disk: Path

    def table(
        self, *, sim: HardwareInProcess | None = None, journal: str | None = None, life: int = 0
    ) -> AbstractAsyncContextManager[TableInProcess]:
        """Make a table with two sets; with a `journal` it goes on where that one stands."""
        store = None if journal is None else JournalStore.open(self._folder(journal))
        state_dir = Path("nowhere") if journal is None else self._folder(journal)
        return run_table_in_process(
            MechanicsSettings(),
            self.runtime_dir,
            seed=life,
            store=store,
            state_dir=state_dir,
            sim=sim,
            card_sets=SETS,
        )

    def _folder(self, journal: str) -> Path:
        folder = self.disk / journal
        folder.mkdir(exist_ok=True)
        return folder

    def keys_gone(self) -> None:
        """Lose every attempt's key, as with the power."""
        for file in self.runtime_dir.iterdir():
            file.unlink()


@dataclass(frozen=True)
class Trouble:
    """A reason of the catalogue, or an order, and how it comes about here.

    `does` makes it at each of `stages`. `faults` of the simulator's menu come with the deal,
    and show by themselves at the one stage. `away` happens while the daemon is dead. `forgotten`:
    the boards remember attempts that the journal has lost.
    """

    reason: str
    how: str
    stages: tuple[str, ...]
    does: Does | None = None
    faults: tuple[str, ...] = ()
    away: Callable[[Ground, HardwareInProcess], None] | None = None
    decides: str = MACHINE
    forgotten: bool = False

    @property
    def menu(self) -> tuple[SimulatedFault, ...]:
        """Its faults as the simulator takes them."""
        return tuple(map(parse_fault, self.faults))


# -- how each comes about -----------------------------------------------------


async def _lid(at_table: TableInProcess) -> None:
    await at_table.panel()
    at_table.sim.world.set_lid(True)


async def _estop(at_table: TableInProcess) -> None:
    await at_table.panel()
    at_table.sim.world.set_estop(True)


async def _dealer_gone(at_table: TableInProcess) -> None:
    at_table.sim.kill("dealer")


async def _dealer_reset(at_table: TableInProcess) -> None:
    at_table.sim.kill("dealer")
    at_table.sim.start("dealer")


async def _supply_sags(at_table: TableInProcess) -> None:
    sensors = at_table.sim.world.dealer
    sensors.set_physical("supply", 1)
    asyncio.get_running_loop().call_later(1.0, sensors.set_physical, "supply", 0)
    await asyncio.sleep(0)


async def _engine_gone(at_table: TableInProcess) -> None:
    board = at_table.sim.boards["reader"].board
    assert board is not None
    hal = board.hal

    def told(there: int) -> None:
        hal._edges.append((hal.now_ms(), "engine", there))
        hal.wake()

    told(0)
    asyncio.get_running_loop().call_later(1.0, told, 1)
    await asyncio.sleep(0)


async def _edges_lost(at_table: TableInProcess) -> None:
    board = at_table.sim.boards["dealer"].board
    assert board is not None
    board.hal._edges.append((board.hal.now_ms(), LOST_EDGES, 1))
    board.wake()
    await asyncio.sleep(0)


async def _drive_gone(at_table: TableInProcess) -> None:
    board = at_table.sim.boards["dealer"].board
    assert board is not None
    hal = board.hal

    def told(away: int) -> None:
        hal._edges.append((hal.now_ms(), "drive", away))
        hal.wake()

    told(3)
    asyncio.get_running_loop().call_later(1.0, told, 0)
    await asyncio.sleep(0)


async def _stopped(at_table: TableInProcess) -> None:
    await at_table.lasting.shut_down(2.0)


def _nothing_else(ground: Ground, sim: HardwareInProcess) -> None:
    pass


async def _voided(at_table: TableInProcess) -> None:
    refused = await at_table.send_command(Role.REFEREE, "void", reason="seen")
    assert refused.error is not None
    assert refused.error.code == "WRONG_ROLE"
    assert (await at_table.send_command(Role.CHIEF, "void", reason="seen")).ok


async def _by_hand(at_table: TableInProcess) -> None:
    assert (await at_table.send_command(Role.REFEREE, "dealt_by_hand", reason="smoke")).ok


async def _strayed(at_table: TableInProcess) -> None:
    at_table.sim.world.add_fault(parse_fault("sensor_stuck:sensor=land_0,value=1"))


async def _out_of_turn(at_table: TableInProcess) -> None:
    run = at_table.machine.table_boards.run
    assert run is not None
    late = BoardEvent("dealer", 0, 0, run.number, BoardEventCode.LANDED, 0, 0, index=107, place=0)
    run._handle_event(late)


async def _one_pulse_more(at_table: TableInProcess) -> None:
    reader = at_table.machine.reader
    asked = reader.get_status

    async def status() -> Any:
        said = await asked()
        return type(said)(**{**_fields(said), "pulses": said.pulses + 1})

    reader.get_status = status  # type: ignore[method-assign]  # a wire that tells once too often
    await asyncio.sleep(0)


async def _not_locked(at_table: TableInProcess) -> None:
    dealer = at_table.machine.dealer
    asked = dealer.get_status

    async def status() -> Any:
        said = await asked()
        return type(said)(**{**_fields(said), "locked": False})

    dealer.get_status = status  # type: ignore[method-assign]  # a lock that misses what we miss
    await asyncio.sleep(0)


async def _lift_not_down(at_table: TableInProcess) -> None:
    at_table.sim.world.add_fault(parse_fault("sensor_stuck:sensor=lift_down,value=0"))
    await at_table.send_command(Role.REFEREE, "release")


async def _lift_stalls(at_table: TableInProcess) -> None:
    at_table.sim.world.add_fault(parse_fault("stall:motor=lift"))
    releasing = asyncio.ensure_future(at_table.send_command(Role.REFEREE, "release"))
    await at_table.wait_for_state(lambda state: any(each.name == "STALL" for each in state.alerts))
    at_table.sim.world.motors["lift"].free()
    assert (await releasing).ok


def _boards_reset(ground: Ground, sim: HardwareInProcess) -> None:
    for board in ("dealer", "reader"):
        sim.kill(board)
        sim.start(board)


def _keys_gone(ground: Ground, sim: HardwareInProcess) -> None:
    ground.keys_gone()


def _power_gone(ground: Ground, sim: HardwareInProcess) -> None:
    ground.keys_gone()
    _boards_reset(ground, sim)


def _another_attempt(ground: Ground, sim: HardwareInProcess) -> None:
    for slot in sim.boards.values():
        assert slot.board is not None
        core: Any = slot.board.core
        core.attempt = 99


def _fields(said: Any) -> Mapping[str, Any]:
    return {name: getattr(said, name) for name in said.__struct_fields__}


# -- the troubles -------------------------------------------------------------

BEFORE = ("committed", "begin", "shuffling", "dealing", "held")
AFTER = (
    "count_check",
    "tribute",
    "return",
    "play, before the first lead",
    "play, after the first lead",
    "result",
)
_ON_THE_WAY = ("committed", "shuffling", "dealing")
_UNRELEASED = (*_ON_THE_WAY, "held")
_FROM_BEGIN = BEFORE[1:]


def _dealt(reason: str, how: str, *faults: str, stage: str = "dealing") -> Trouble:
    return Trouble(reason, how, (stage,), faults=faults)


TROUBLES: tuple[Trouble, ...] = (
    _dealt("COUNT_SHORT", "one card of the set is missing", "missing_card"),
    _dealt(
        "COUNT_OVER",
        "after the last card, the tray's sensor still detects a card",
        "sensor_stuck:sensor=pocket_4,value=1,at=50",
    ),
    _dealt("HOPPER_NOT_EMPTY", "the set has one card too many", "extra_card"),
    _dealt(
        "PATH_NOT_CLEAR",
        "a card is in the window when the boards begin",
        "sensor_stuck:sensor=window,value=1",
        stage="begin",
    ),
    _dealt(
        "PATH_NOT_CLEAR",
        "after the last card, the window's sensor still detects a card",
        "sensor_stuck:sensor=window,value=1,at=108",
    ),
    _dealt(
        "POCKET_NOT_EMPTY", "a card was left in a pocket", "left_in_pocket:pocket=2", stage="begin"
    ),
    _dealt("WRONG_POCKET", "a card falls into the pocket beside its own", "wrong_pocket:at=20"),
    Trouble("WRONG_POCKET", "something falls into a pocket", ("shuffling", "held"), _strayed),
    _dealt("NOT_LANDED", "a card is stuck at the mouth of a pocket", "jam:at=9,place=landing"),
    _dealt("MISSING_CARD", "a third copy of a card replaces another card", "third_copy"),
    _dealt("THIRD_COPY", "a third copy of a card replaces another card", "third_copy"),
    _dealt("FOREIGN_BACK", "a card with another back replaces one card", "foreign_back"),
    _dealt("FACE_UP", "a card is face up", "face_up:at=3"),
    _dealt(
        "UNREADABLE", "one card cannot be read at any try", "unreadable:face=5,times=99,repeat=true"
    ),
    _dealt("TRAY_FULL", "no card can be read", "unreadable:rate=1,times=9"),
    _dealt(
        "DOUBLE_FEED",
        "the sensor for double feeds reacts whenever the last card is fed",
        "sensor_stuck:sensor=double,value=1,at=108",
    ),
    Trouble("PULSE_COUNT", "the reader counts one card too many", ("dealing",), _one_pulse_more),
    Trouble("EVENT_LOST", "a board reports an impossible landing", _FROM_BEGIN[1:], _out_of_turn),
    _dealt(
        "SENSOR_STUCK", "a full pocket is reported as empty", "sensor_stuck:sensor=pocket_0,value=0"
    ),
    _dealt(
        "SENSOR_STUCK",
        "the lift sensor does not detect the lift",
        "sensor_stuck:sensor=lift_down,value=0,at=50",
    ),
    Trouble("SENSOR_STUCK", "the lift sensor does not detect the lift", ("held",), _lift_not_down),
    _dealt("JAM", "a card is stuck in the gate", "jam:at=9,place=gate"),
    _dealt("JAM", "the shuffler is stuck", "stall:motor=shuffle", stage="shuffling"),
    _dealt("STALL", "the gate is stuck", "stall:motor=gate,at=20"),
    Trouble("STALL", "the lift stalls during the release and turns again", ("held",), _lift_stalls),
    Trouble("LID_OPENED", "the lid is opened", (*_UNRELEASED, *AFTER), _lid),
    Trouble("LID_OPENED", "the lid is open when the boards begin", ("begin",)),
    Trouble("ESTOP_PRESSED", "the emergency stop is pressed", (*_UNRELEASED, *AFTER), _estop),
    Trouble("SUPPLY_LOW", "the motors' voltage drops", _FROM_BEGIN, _supply_sags),
    Trouble("DRIVE_LOST", "a drive does not answer", _FROM_BEGIN, _drive_gone),
    Trouble(
        "EDGES_LOST",
        "sensor signals change faster than a board can count",
        _FROM_BEGIN[1:],
        _edges_lost,
    ),
    Trouble("ENGINE_LOST", "the reader's engine is off", _FROM_BEGIN[:3], _engine_gone),
    Trouble("LINE_LOST", "a board does not answer", (*_ON_THE_WAY, "held", *AFTER), _dealer_gone),
    Trouble("BOARD_RESET", "a board restarts", ("held", *AFTER), _dealer_reset),
    Trouble(
        "BOARD_RESET",
        "both boards restart while the daemon is not running",
        ("shuffling", "dealing", "held"),
        away=_boards_reset,
    ),
    Trouble(
        "STOPPED", "the daemon is stopped", (*_UNRELEASED, *AFTER), _stopped, away=_nothing_else
    ),
    Trouble("POWER", "only the computer's power fails", _UNRELEASED, away=_keys_gone),
    Trouble(
        "POWER", "the computer and both boards lose power", (*_ON_THE_WAY, *AFTER), away=_power_gone
    ),
    Trouble("BOARD_RESET", "the computer and both boards lose power", ("held",), away=_power_gone),
    Trouble(
        "RESTARTED",
        "the boards report another attempt number than the journal has",
        (*_UNRELEASED,),
        away=_another_attempt,
        forgotten=True,
    ),
    Trouble(
        "BOARD_REFUSED", "the dealer board's own 27-lock does not agree", ("dealing",), _not_locked
    ),
    Trouble("ORDERED", "the chief sends the command `void`", _UNRELEASED, _voided, decides=CHIEF),
    Trouble("NOT_NEEDED", "a person orders a deal by hand", _UNRELEASED, _by_hand, decides=REFEREE),
)
