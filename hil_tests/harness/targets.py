"""Targets of scenarios: a table in process, simulated boards behind ptys, or a bench."""

import random
import signal
import subprocess
import sys
from abc import ABC, abstractmethod
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from controller.config import BoardSection as BoardConfig
from controller.config import PanelSection
from controller.rules.profile_files import load_profile
from controller.service.process_signals import make_parent_death_hook
from drivers.board_events import BoardKind
from drivers.link.frames import Welcome
from drivers.link.serial_port import SerialPort
from hil_tests.harness import port_checks
from hil_tests.harness.bench_file import BenchFile, BenchLock, BenchSection, load_bench
from hil_tests.harness.bench_operator import BenchOperator, OperatorTerminal
from hil_tests.harness.features import IN_PROCESS_FEATURES, SIMULATED_FEATURES, Feature
from hil_tests.harness.hands import USUAL_SPEED, ControlHands, InProcessHands, TableHands
from hil_tests.harness.in_process_daemon import CARD_SETS, InProcessDaemon, make_table
from hil_tests.harness.measurements import MeasurementLimits, TargetKind
from hil_tests.harness.port_checks import BoardPorts, ExpectedIdentity
from hil_tests.harness.scenario_table import ScenarioRecord, ScenarioTable, TableCondition
from hil_tests.harness.table_daemon import CounterValues, DaemonClient, DaemonProcess, TableDaemon
from sim.hardware_in_process import DEALER_ID, READER_ID, HardwareInProcess, own_firmware_hash
from sim.memory_folders import memory_folder
from sim.tables.table_processes import ControlClient, HallError

MAX_SCENARIOS = 20
"""Limit of scenarios for one daemon, because each check verifies its whole journal."""


@dataclass
class ScenarioTarget(ABC):
    """A target on which scenarios run, for a whole session.

    `is_time_shared`: other processes share the computer, so a late event proves nothing.
    `keeps_daemon`: one daemon may serve many scenarios. `broken`: why no scenario can run any more.
    The rest is skipped with this reason. `about` has names and values for the report.
    `kept_daemon`: a daemon that also serves the next scenario.
    """

    target: TargetKind = field(init=False)
    features: frozenset[Feature] = field(init=False)
    limits: MeasurementLimits = field(default_factory=MeasurementLimits, init=False)
    profile: str = field(default="international-000", init=False)
    about: dict[str, str] = field(default_factory=dict, init=False)
    broken: str | None = field(default=None, init=False)
    is_time_shared: bool = field(default=False, init=False)
    keeps_daemon: bool = field(default=False, init=False)
    session_ids: random.Random = field(default_factory=lambda: random.Random(1), init=False)
    kept_daemon: "KeptDaemon | None" = field(default=None, init=False)

    @abstractmethod
    def expected_boards(self) -> dict[BoardKind, ExpectedIdentity]:
        """Return the boards that must be at the ports."""

    @abstractmethod
    def open_table(self, folder: Path, runtime_dir: Path, notes: ScenarioRecord) -> "TableAccess":
        """Return the access to the table for one scenario. Its daemon does not run yet."""

    def open(self) -> None:
        """Start everything that is used for the whole session. Raises BenchInUse, HallError,
        OSError.
        """
        return

    def close(self) -> None:
        """Remove everything that `open` started."""
        return

    async def check_boards(self, ports: BoardPorts) -> dict[BoardKind, Welcome]:
        """Query the boards. Raises BoardNotAnswering, or WrongBoards with both values."""
        found = await port_checks.query_boards(ports, self.session_ids)
        for board, welcome in found.items():
            self.about |= {
                f"{board} id": welcome.uid,
                f"{board} firmware": f"{welcome.firmware} {welcome.firmware_hash}",
                f"{board} protocol": welcome.protocol,
                f"{board} settings": f"{welcome.settings_crc:08x}",
            }
        port_checks.check_boards(self.expected_boards(), found)
        return found


@dataclass(frozen=True)
class KeptDaemon:
    """A daemon that also serves the next scenario, because the last one left nothing in it.

    `counters` and `last_event` are its counters and its last public event at the check of the last
    scenario. Everything later belongs to the next one. `first_condition` is the condition of its
    table at first. `scenario_count` is the number of scenarios that it served.
    """

    process: DaemonProcess
    counters: CounterValues
    last_event: int
    first_condition: TableCondition
    scenario_count: int


@dataclass
class TableAccess:
    """Access to a table for one scenario. `close` leaves no timer and no process of it.

    `previous`: the kept daemon. Since the last query of the boards, no other program used the
    ports.
    """

    table: ScenarioTable
    sim: HardwareInProcess | None = None
    previous: KeptDaemon | None = None
    is_kept: bool = False

    def daemon_to_keep(self) -> KeptDaemon | None:
        """Return the table's daemon for the next scenario, or None if the next one needs its own.

        The daemon is kept while every line still has the session in which its board was queried,
        and the table is in the condition that it had when its journal began.
        """
        table, program = self.table, self.table.daemon
        if not isinstance(program, DaemonClient) or not program.process.is_running:
            return None
        before = self.previous
        served = 1 if before is None else before.scenario_count + 1
        if table.first_condition is None or table.was_interrupted or served >= MAX_SCENARIOS:
            return None
        if table.condition() != table.first_condition:
            return None
        heard = max((event.n for event in program.events), default=0)
        heard = max(heard, 0 if before is None else before.last_event)
        return KeptDaemon(
            program.process, table.last_counters, heard, table.first_condition, served
        )

    async def close(self) -> None:
        """End what was made for this scenario, including the daemon unless it is kept."""
        program = self.table.daemon
        if self.is_kept and isinstance(program, DaemonClient):
            await program.disconnect()
        else:
            await program.stop()
        if self.sim is not None:
            self.sim.close()


def _expected_identities(
    ids: dict[BoardKind, str], *, simulated: bool
) -> dict[BoardKind, ExpectedIdentity]:
    of = own_firmware_hash().hex()
    return {board: ExpectedIdentity(uid, simulated, of) for board, uid in ids.items()}


class InProcessTarget(ScenarioTarget):
    """Tables in this process and in virtual time, a new one for each scenario."""

    def __init__(self) -> None:
        super().__init__()
        self.target = "inproc"
        self.features = IN_PROCESS_FEATURES
        self.about = {"target": "inproc", "time": "virtual", "operator": "none"}

    def expected_boards(self) -> dict[BoardKind, ExpectedIdentity]:
        """See ScenarioTarget."""
        return _expected_identities({"dealer": DEALER_ID, "reader": READER_ID}, simulated=True)

    def open_table(self, folder: Path, runtime_dir: Path, notes: ScenarioRecord) -> TableAccess:
        """See ScenarioTarget."""
        sim = make_table(random.Random(notes.about.get("scenario", "")))
        program = InProcessDaemon(sim, folder / "state", runtime_dir)
        hands = InProcessHands(sim, program.move_button)
        hands.record_lines = notes.steps
        ports: BoardPorts = {"dealer": sim.port("dealer"), "reader": sim.port("reader")}
        return TableAccess(_make_table(self, program, hands, notes, ports), sim)


class PortTarget(ScenarioTarget):
    """Boards at serial ports or ptys, with the daemon as a process."""

    bench: BenchFile

    def expected_boards(self) -> dict[BoardKind, ExpectedIdentity]:
        """See ScenarioTarget."""
        own = own_firmware_hash().hex()
        return {
            board: ExpectedIdentity(
                at.id, self.bench.bench.simulated, at.firmware or own, at.settings_crc
            )
            for board, at in self._boards().items()
        }

    def open_table(self, folder: Path, runtime_dir: Path, notes: ScenarioRecord) -> TableAccess:
        """See ScenarioTarget."""
        before, self.kept_daemon = self.kept_daemon, None
        if before is not None:
            program = DaemonClient(before.process, before.last_event)
        else:
            program = DaemonClient(
                DaemonProcess(self.bench, folder / "state", self.runtime_folder(runtime_dir))
            )
        ports: BoardPorts = {
            name: SerialPort(at.port, at.baud) for name, at in self._boards().items()
        }
        table = _make_table(self, program, self.make_hands(notes), notes, ports)
        if before is not None:
            table.last_counters, table.first_condition = before.counters, before.first_condition
        return TableAccess(table, previous=before)

    def runtime_folder(self, runtime_dir: Path) -> Path:
        """Return the folder for a daemon's keys. `runtime_dir` is removed with its scenario."""
        return runtime_dir

    @abstractmethod
    def make_hands(self, notes: ScenarioRecord) -> TableHands:
        """Return the hands that move the cards."""

    def _boards(self) -> dict[BoardKind, BoardConfig]:
        return {"dealer": self.bench.dealer, "reader": self.bench.reader}


class SimulatorTarget(PortTarget):
    """Simulated boards behind ptys, of one `dealtable sim` for the whole session."""

    def __init__(self, firmware: str) -> None:
        """Set the interpreter of the boards. Nothing runs yet."""
        super().__init__()
        self.target = "sim"
        self.is_time_shared = True
        self.features = SIMULATED_FEATURES
        self.about = {
            "target": "sim",
            "interpreter": firmware,
            "speed": f"{USUAL_SPEED:g} x",
            "operator": "none",
        }
        self.keeps_daemon = True
        self._firmware = firmware
        self._exit_stack = ExitStack()
        self._daemon_count = 0

    def open(self) -> None:
        """See ScenarioTarget."""
        folder = self._folder = self._exit_stack.enter_context(memory_folder())
        config = folder / "sim.toml"
        config.write_text(sim_config_text(), encoding="utf-8")
        words = (
            *("sim", "--config", str(config), "--runtime-dir", str(folder), "--json"),
            *("--no-attendant", "--speed", str(USUAL_SPEED), "--firmware", self._firmware),
            *(("--boards", "inside") if self._firmware == "cpython" else ("--relay",)),
        )
        said = folder / "sim.log"
        with said.open("wb") as log:
            sim = subprocess.Popen(
                (sys.executable, "-m", "controller.cli", *words),
                stdout=subprocess.PIPE,
                stderr=log,
                process_group=0,
                preexec_fn=make_parent_death_hook(signal.SIGTERM),
            )
        self._exit_stack.callback(_end_simulator, sim)
        assert sim.stdout is not None
        line = sim.stdout.readline()
        if not line:
            words_left = said.read_text("utf-8", "replace").split("\n")
            last = next((word for word in reversed(words_left) if word), "no message")
            raise HallError(f"the simulator ended unexpectedly: {last}")
        info = msgspec.json.decode(line)
        self._control = ControlClient(info["control"])
        self.bench = simulated_bench(info)

    def close(self) -> None:
        """See ScenarioTarget."""
        if self.kept_daemon is not None:
            self.kept_daemon.process.end_now()
        self._exit_stack.close()

    def runtime_folder(self, runtime_dir: Path) -> Path:
        """See PortTarget."""
        self._daemon_count += 1
        return self._folder / f"run{self._daemon_count}"

    def make_hands(self, notes: ScenarioRecord) -> TableHands:
        """See PortTarget."""
        hands = ControlHands(self._control)
        hands.record_lines = notes.steps
        return hands


class BenchTarget(PortTarget):
    """A bench with an operator who follows questions. It is locked for this run."""

    def __init__(self, path: Path) -> None:
        """Read the bench file. Raises BenchError."""
        super().__init__()
        self.bench = load_bench(path)
        about = self.bench.bench
        self.limits, self.profile = self.bench.limits, about.profile
        self.target = "bench"
        self.is_time_shared = about.simulated
        self.features = frozenset(about.features)
        self.about = {
            "target": str(path),
            "bench": about.id,
            "operator": about.operator,
            "features": ", ".join(about.features) or "none",
            "simulated": "yes" if about.simulated else "no",
        }
        self._lock = BenchLock(path)
        self._terminal = OperatorTerminal(about.terminal)

    def open(self) -> None:
        """See ScenarioTarget."""
        self._lock.acquire(self.bench.bench.operator)

    def close(self) -> None:
        """See ScenarioTarget."""
        self._terminal.close()
        self._lock.release()

    def make_hands(self, notes: ScenarioRecord) -> TableHands:
        """See PortTarget."""
        return BenchOperator(self._terminal, self.features, notes.steps.append)


def make_target(target: str, firmware: str) -> ScenarioTarget:
    """Return the target of `--target` and `--firmware`, not yet opened. Raises BenchError."""
    if target == "inproc":
        return InProcessTarget()
    return SimulatorTarget(firmware) if target == "sim" else BenchTarget(Path(target))


def _end_simulator(sim: subprocess.Popen[bytes]) -> None:
    """End the simulator."""
    sim.terminate()
    sim.wait()
    assert sim.stdout is not None
    sim.stdout.close()


def sim_config_text() -> str:
    """Return the sim.toml of a table with both sets."""
    return "".join(f'[[card_set]]\nid = "{one.id}"\nback = "{one.back}"\n' for one in CARD_SETS)


def _make_table(
    at: ScenarioTarget,
    program: TableDaemon,
    hands: TableHands,
    notes: ScenarioRecord,
    ports: BoardPorts,
) -> ScenarioTable:
    return ScenarioTable(
        program,
        hands,
        target=at.target,
        profile=load_profile(at.profile),
        limits=at.limits,
        notes=notes,
        ports=ports,
        session_ids=at.session_ids,
    )


def simulated_bench(info: dict[str, Any]) -> BenchFile:
    """Return the description of a `dealtable sim` as a bench, from its own information."""
    return BenchFile(
        bench=BenchSection(id=info["table"], operator="none", simulated=True),
        dealer=BoardConfig(port=info["dealer"], id=info["dealer_id"]),
        reader=BoardConfig(port=info["reader"], id=info["reader_id"]),
        panel=PanelSection(pins=f"unix:{info['pins']}"),
        card_sets=CARD_SETS,
    )
