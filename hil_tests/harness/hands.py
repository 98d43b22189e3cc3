"""The guided steps of steps.toml: what a person is told, and what a simulated one does."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping
from functools import cache
from inspect import isawaitable
from pathlib import Path
from typing import Any, Protocol

import msgspec
from _pytest.outcomes import Skipped as SkipException  # pytest.skip.Exception, with a type

from controller.host import toml_files
from hil_tests.harness.features import Feature
from sim.hardware_in_process import BOARDS, HardwareInProcess
from sim.mechanics.card_handling import OutOfReach
from sim.mechanics.fault_menu import LACKS, FaultError, SimulatedFault, fault_menu
from sim.tables.table_processes import ControlClient, HallError
from tests.answers import answer_once


class GuidedStep(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One thing that hands do; steps.toml says what each field means."""

    zh: str
    en: str
    needs: tuple[Feature, ...] = ()
    does: tuple[dict[str, Any], ...] = ()
    when: str | None = None
    as_soon_as_possible: bool = False

    @property
    def faults(self) -> tuple[str, ...]:
        """The faults of the simulator's menu by which it comes about there."""
        return tuple(str(deed["name"]) for deed in self.does if deed["do"] == "fault")


class _StepsFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    step: dict[str, GuidedStep]


@cache
def load_steps() -> Mapping[str, GuidedStep]:
    """Return every step by its name."""
    return toml_files.read(Path(__file__).parents[1] / "steps.toml", _StepsFile).step


def find_step(name: str) -> GuidedStep:
    """Return a step. Raises LookupError where there is none of that name."""
    try:
        return load_steps()[name]
    except KeyError:
        raise LookupError(f"no step is called {name}") from None


TAP_S = 0.15
"""How long a finger stays on a button that it taps; by the daemon's clock."""
USUAL_SPEED = 100.0
SLOW_SPEED = 2.0
"""Speeds of the simulator: usually, and while somebody has to strike in mid-deal."""


class StepSkipped(SkipException):
    """What is to be done cannot be done on this target; one line says why. It skips a scenario."""


class TableHands(Protocol):
    """What people can do at a table, whoever they are.

    `simulated`: their eyes see every card, so that `truth` answers.
    """

    is_simulated: bool

    async def do_step(self, name: str) -> None:
        """Do a step of steps.toml and return when it is done. Raises Skipped."""

    async def prepare_step(self, name: str) -> None:
        """Get ready for a step that is to be done at a signal, within a moment. Raises Skipped."""

    async def signal_step(self, name: str) -> None:
        """Give the signal; the step may be done a moment after this has returned."""

    async def press_button(self, button: str, for_s: float = TAP_S) -> None:
        """Press a button of the panel by its name: `start`, `north_green`, …"""

    async def count_hands(self) -> tuple[int, ...]:
        """Count the cards that the players N, W, S, E hold."""

    async def read_truth(self) -> dict[str, Any]:
        """Return where every card physically is (sim/CONTROL.md). Raises Skipped."""

    async def cause_fault(self, name: str, **fields: Any) -> None:
        """Let something of the simulator's fault menu go wrong. Raises Skipped."""

    async def read_faults(self) -> dict[str, Any]:
        """Return which faults have struck, and which are in force (sim/CONTROL.md). Raises
        Skipped."""

    async def slow_down(self) -> None:
        """Slow the machine down at the next deal's first card, where its pace can be set.

        Returns once it is slow: the simulator does it automatically, however late this program is.
        """

    async def restore_speed(self) -> None:
        """Let it run at its usual pace again."""

    async def restore_table(self) -> None:
        """Bring back what a scenario that failed may have left: motors, boards, lid, cards."""


class SimulatedHands(ABC):
    """The hands of simulated people: each step is a request or two."""

    is_simulated = True
    speed = USUAL_SPEED
    record_lines: list[str] | None = None
    """Takes what they do as lines of the report, where somebody keeps one."""

    @abstractmethod
    async def hold_button(self, button: str, for_s: float) -> None:
        """Hold a button down for a time of the daemon's clock."""

    @abstractmethod
    async def request(self, name: str, /, **words: Any) -> Any:
        """Do one thing of sim/CONTROL.md and return its result. Raises Skipped: not here."""

    async def do_step(self, name: str) -> None:
        """See Hands."""
        wanted = find_step(name)
        self._require_faults(*wanted.faults)
        self._note(f"do {name}: {wanted.zh} {wanted.en}")
        if wanted.when is not None:
            await self._wait_for_truth(wanted.when)
        for deed in wanted.does:
            words = {key: value for key, value in deed.items() if key != "do"}
            if wanted.as_soon_as_possible:
                await self.retry_request(deed["do"], words)
            else:
                await self.request(deed["do"], **words)

    async def prepare_step(self, name: str) -> None:
        """See Hands."""
        self._require_faults(*find_step(name).faults)

    async def signal_step(self, name: str) -> None:
        """See Hands."""
        await self.do_step(name)

    async def press_button(self, button: str, for_s: float = TAP_S) -> None:
        """See Hands."""
        self._note(f"press {button}, {for_s:g} s")
        await self.hold_button(button, for_s)

    async def count_hands(self) -> tuple[int, ...]:
        """See Hands."""
        return tuple(map(len, (await self.read_truth())["hands"]))

    async def read_truth(self) -> dict[str, Any]:
        """See Hands."""
        seen: dict[str, Any] = await self.request("truth")
        return seen

    async def cause_fault(self, name: str, **fields: Any) -> None:
        """See Hands."""
        self._require_faults(name)
        about = ", ".join(f"{key} {value}" for key, value in fields.items())
        self._note(f"fault {name} {about}".rstrip())
        await self.request("fault", name=name, **fields)

    async def read_faults(self) -> dict[str, Any]:
        """See Hands."""
        known: dict[str, Any] = await self.request("faults")
        return known

    async def slow_down(self) -> None:
        """See Hands."""
        slower = {"card": 1, "do": "speed", "with": {"value": SLOW_SPEED}}
        await self.request("script", steps=[slower])

    async def restore_speed(self) -> None:
        """See Hands."""
        await self.request("speed", value=self.speed)

    def _note(self, line: str) -> None:
        if self.record_lines is not None:
            self.record_lines.append(line)

    @staticmethod
    def _require_faults(*names: str) -> None:
        missing = [name for name in names if name not in fault_menu()]
        if missing:
            raise StepSkipped(f"the simulator's menu has no {', '.join(missing)} yet")

    async def retry_request(self, name: str, words: dict[str, Any]) -> None:
        """Try a request until it is not refused."""

        async def done() -> bool:
            await self.request(name, **words)
            return True

        await answer_once(done, refused=(HallError, OutOfReach))

    async def _wait_for_truth(self, what: str) -> None:
        """Wait until the mechanics are so."""
        await answer_once(self.read_truth, lambda truth: truth[what])


class ControlHands(SimulatedHands):
    """Hands over the control socket of a `dealtable sim`."""

    def __init__(self, control: ControlClient) -> None:
        self._control = control

    async def request(self, name: str, /, **words: Any) -> Any:
        """See Moved."""
        try:
            return await self._control.request(name, **words)
        except HallError as error:
            if LACKS in str(error):
                raise StepSkipped(str(error)) from None
            raise

    async def hold_button(self, button: str, for_s: float) -> None:
        """See Moved. The simulator measures the time, by the machine's clock."""
        speed = (await self.request("info"))["speed"]
        await self.request("tap", name=button, hold_ms=1000 * for_s * speed)

    async def restore_table(self) -> None:
        """See Hands."""
        await self.request("clear_faults")
        await self.restore_speed()
        for board in BOARDS:
            await self.request("restart", board=board)
        await self.request("estop", pressed=False)
        await self.request("change_set")


class InProcessHands(SimulatedHands):
    """Hands at a table in this process."""

    def __init__(
        self, sim: HardwareInProcess, press: Callable[[str, bool], Awaitable[None]]
    ) -> None:
        """`press(name, down)` moves a button of the panel."""
        self._sim, world = sim, sim.world
        self._press = press
        self._requests: dict[str, Callable[..., Any]] = {
            "truth": lambda: msgspec.to_builtins(world.truth()),
            "collect": world.people.collect,
            "take_hands": world.people.take_hands,
            "lay_down": world.people.lay_down,
            "load": world.people.load,
            "change_set": world.people.change_set,
            "put_right": world.people.put_right,
            "lid": lambda open: world.set_lid(open),
            "estop": lambda pressed: world.set_estop(pressed),
            "fault": lambda **fields: world.add_fault(msgspec.convert(fields, SimulatedFault)),
            "clear_faults": world.faults.clear,
            "faults": lambda: msgspec.to_builtins(
                {"struck": world.faults.past_strikes, "in_force": world.active_faults()}
            ),
            "kill": lambda board: sim.kill(board),
            "cross": sim.swap_cables,
            "restart": self._restart,
            "speed": lambda value: None,  # nobody is in a hurry: a deal takes no time
        }

    async def request(self, name: str, /, **words: Any) -> Any:
        """See Moved."""
        try:
            result = self._requests[name](**words)
        except FaultError as error:
            if LACKS in str(error):
                raise StepSkipped(str(error)) from None
            raise
        return await result if isawaitable(result) else result

    async def hold_button(self, button: str, for_s: float) -> None:
        """See Moved."""
        await self._press(button, True)
        await asyncio.sleep(for_s)
        await self._press(button, False)

    async def slow_down(self) -> None:
        """See Hands: nothing, a deal takes no time."""

    async def restore_table(self) -> None:
        """See Hands: nothing, each scenario has a table of its own."""

    def _restart(self, board: Any) -> None:
        self._sim.kill(board)
        self._sim.start(board)
