"""The targets of scenarios: a table in this process, simulated boards on ptys, or a bench."""

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
from hil_tests.harness.scenario_table import ScenarioRecord, ScenarioTable
from hil_tests.harness.table_daemon import DaemonProcess, TableDaemon
from sim.hardware_in_process import DEALER_ID, READER_ID, HardwareInProcess, own_firmware_hash
from sim.memory_folders import memory_folder
from sim.tables.table_processes import ControlClient, HallError


@dataclass
class ScenarioTarget(ABC):
    """The base class of targets. All scenarios of a pytest session run on one target.

    `is_time_shared`: other processes share the computer, so a late event proves nothing. `broken`:
    the reason why no scenario can run any more. All later scenarios are skipped with this reason.
    `about` has names and values for the report.
    """

    target: TargetKind = field(init=False)
    features: frozenset[Feature] = field(init=False)
    limits: MeasurementLimits = field(default_factory=MeasurementLimits, init=False)
    profile: str = field(default="international-000", init=False)
    about: dict[str, str] = field(default_factory=dict, init=False)
    broken: str | None = field(default=None, init=False)
    is_time_shared: bool = field(default=False, init=False)
    session_ids: random.Random = field(default_factory=lambda: random.Random(1), init=False)

    @abstractmethod
    def expected_boards(self) -> dict[BoardKind, ExpectedIdentity]:
        """Return the identity that each board at the ports must have."""

    @abstractmethod
    def open_table(self, folder: Path, runtime_dir: Path, notes: ScenarioRecord) -> "TableAccess":
        """Return a new table for one scenario. Its daemon does not run yet."""

    def open(self) -> None:
        """Start the target's simulator, or lock its bench, for the whole pytest session.

        By default, do nothing. Raises BenchInUse, HallError or OSError.
        """
        return

    def close(self) -> None:
        """Close everything that `open` started."""
        return

    async def check_boards(self, ports: BoardPorts) -> dict[BoardKind, Welcome]:
        """Connect to the boards at `ports`, check their identities, and return their HELLO answers.

        Raises BoardNotAnswering, or WrongBoards with the found and the expected values.
        """
        found: dict[BoardKind, Welcome] = {}
        for board, port in ports.items():
            async with port_checks.open_link(board, port, self.session_ids) as link:
                assert link.welcome is not None
                welcome = found[board] = link.welcome
            self.about |= {
                f"{board} id": welcome.uid,
                f"{board} firmware": f"{welcome.firmware} {welcome.firmware_hash}",
                f"{board} protocol": welcome.protocol,
                f"{board} settings": f"{welcome.settings_crc:08x}",
            }
        port_checks.check_boards(self.expected_boards(), found)
        return found

    def make_table(
        self, program: TableDaemon, hands: TableHands, notes: ScenarioRecord, ports: BoardPorts
    ) -> ScenarioTable:
        """Return a table for one scenario, with the given daemon, people and board ports."""
        return ScenarioTable(
            program,
            hands,
            target=self.target,
            profile=load_profile(self.profile),
            limits=self.limits,
            notes=notes,
            ports=ports,
            session_ids=self.session_ids,
        )


@dataclass
class TableAccess:
    """One scenario's table. `sim`: its simulated boards if no other scenario uses them, else None.

    `close` leaves no timer and no process of the scenario.
    """

    table: ScenarioTable
    sim: HardwareInProcess | None = None

    async def close(self) -> None:
        """Stop the daemon, and close the simulated boards of this scenario."""
        await self.table.daemon.stop()
        if self.sim is not None:
            self.sim.close()


class InProcessTarget(ScenarioTarget):
    """The target `inproc`: a new table in this process, in virtual time, for each scenario."""

    def __init__(self) -> None:
        super().__init__()
        self.target = "inproc"
        self.features = IN_PROCESS_FEATURES
        self.about = {"target": "inproc", "time": "virtual", "operator": "none"}

    def expected_boards(self) -> dict[BoardKind, ExpectedIdentity]:
        """Return the identities of the two simulated boards in this process."""
        own = own_firmware_hash().hex()
        return {
            "dealer": ExpectedIdentity(DEALER_ID, True, own),
            "reader": ExpectedIdentity(READER_ID, True, own),
        }

    def open_table(self, folder: Path, runtime_dir: Path, notes: ScenarioRecord) -> TableAccess:
        """Return a new simulated table in this process. Its random seed is the scenario's name."""
        sim = make_table(random.Random(notes.about.get("scenario", "")))
        program = InProcessDaemon(sim, folder / "state", runtime_dir)
        hands = InProcessHands(sim, program.move_button)
        hands.record_lines = notes.steps
        ports: BoardPorts = {"dealer": sim.port("dealer"), "reader": sim.port("reader")}
        return TableAccess(self.make_table(program, hands, notes, ports), sim)


class PortTarget(ScenarioTarget):
    """The base class of targets that have a daemon process, and boards at serial ports or ptys."""

    bench: BenchFile

    def expected_boards(self) -> dict[BoardKind, ExpectedIdentity]:
        """Return the identity that the bench file requires for each board."""
        own = own_firmware_hash().hex()
        return {
            board: ExpectedIdentity(
                at.id, self.bench.bench.simulated, at.firmware or own, at.settings_crc
            )
            for board, at in self._boards().items()
        }

    def open_table(self, folder: Path, runtime_dir: Path, notes: ScenarioRecord) -> TableAccess:
        """Return a table with a daemon process, at the ports that the bench file names."""
        program = DaemonProcess(self.bench, folder / "state", runtime_dir)
        ports: BoardPorts = {
            name: SerialPort(at.port, at.baud) for name, at in self._boards().items()
        }
        return TableAccess(self.make_table(program, self.make_hands(notes), notes, ports))

    @abstractmethod
    def make_hands(self, notes: ScenarioRecord) -> TableHands:
        """Return the people, real or simulated, at the table. `notes` receives their steps."""

    def _boards(self) -> dict[BoardKind, BoardConfig]:
        return {"dealer": self.bench.dealer, "reader": self.bench.reader}


class SimulatorTarget(PortTarget):
    """The target `sim`: one process `dealtable sim`, with ptys, for a whole pytest session."""

    def __init__(self, firmware: str) -> None:
        """Store `firmware`, the name of the interpreter for the boards' firmware. Start nothing."""
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
        self._firmware = firmware
        self._exit_stack = ExitStack()

    def open(self) -> None:
        """Start `dealtable sim`, and read the ports of its boards. Raises HallError."""
        folder = self._folder = self._exit_stack.enter_context(memory_folder())
        config = folder / "sim.toml"
        sets = (f'[[card_set]]\nid = "{one.id}"\nback = "{one.back}"\n' for one in CARD_SETS)
        config.write_text("".join(sets), encoding="utf-8")
        words = (
            *("sim", "--config", str(config), "--runtime-dir", str(folder), "--json"),
            *("--no-attendant", "--speed", str(USUAL_SPEED), "--firmware", self._firmware),
            *(("--boards", "inside") if self._firmware == "cpython" else ("--relay",)),
        )
        said = folder / "sim.log"
        with said.open("wb") as log:
            sim = self._exit_stack.enter_context(
                subprocess.Popen(
                    (sys.executable, "-m", "controller.cli", *words),
                    stdout=subprocess.PIPE,
                    stderr=log,
                    process_group=0,
                    preexec_fn=make_parent_death_hook(signal.SIGTERM),
                )
            )
        # At the end this callback runs first. Then the context of the process waits for its end.
        self._exit_stack.callback(sim.terminate)
        assert sim.stdout is not None
        if not (line := sim.stdout.readline()):
            words_left = said.read_text("utf-8", "replace").split("\n")
            last = next((word for word in reversed(words_left) if word), "no message")
            raise HallError(f"the simulator ended unexpectedly: {last}")
        info = msgspec.json.decode(line)
        self._control = ControlClient(info["control"])
        self.bench = simulated_bench(info)

    def close(self) -> None:
        """End the simulator, and remove its temporary folder."""
        self._exit_stack.close()

    def make_hands(self, notes: ScenarioRecord) -> TableHands:
        """Return simulated people who use the simulator's control socket."""
        hands = ControlHands(self._control)
        hands.record_lines = notes.steps
        return hands


class BenchTarget(PortTarget):
    """A target that is a bench. The operator at its terminal does the actions of people.

    A bench file describes the bench, which is locked for this run.
    """

    def __init__(self, path: Path) -> None:
        """Read the bench file at `path`. Raises BenchError."""
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
        """Lock the bench for this run. Raises BenchInUse or OSError."""
        self._lock.acquire(self.bench.bench.operator)

    def close(self) -> None:
        """Close the operator's terminal, and unlock the bench."""
        self._terminal.close()
        self._lock.release()

    def make_hands(self, notes: ScenarioRecord) -> TableHands:
        """Return the operator at the bench's terminal."""
        return BenchOperator(self._terminal, self.features, notes.steps.append)


def make_target(target: str, firmware: str) -> ScenarioTarget:
    """Return a target for the values of the options `--target` and `--firmware`. Do not open it.

    Raises BenchError.
    """
    if target == "inproc":
        return InProcessTarget()
    return SimulatorTarget(firmware) if target == "sim" else BenchTarget(Path(target))


def simulated_bench(info: dict[str, Any]) -> BenchFile:
    """Return the contents of a bench file for the boards of a `dealtable sim` process.

    `info` is the line that the simulator prints when it starts.
    """
    return BenchFile(
        bench=BenchSection(id=info["table"], operator="none", simulated=True),
        dealer=BoardConfig(port=info["dealer"], id=info["dealer_id"]),
        reader=BoardConfig(port=info["reader"], id=info["reader_id"]),
        panel=PanelSection(pins=f"unix:{info['pins']}"),
        card_sets=CARD_SETS,
    )
