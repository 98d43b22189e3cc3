"""The actions of people at a table, which a person or the simulator does.

steps.toml describes the guided steps among them.
"""

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
    """One action of people at the table. steps.toml explains each field."""

    zh: str
    en: str
    needs: tuple[Feature, ...] = ()
    does: tuple[dict[str, Any], ...] = ()
    when: str | None = None
    as_soon_as_possible: bool = False

    @property
    def faults(self) -> tuple[str, ...]:
        """The names of the simulator's faults by which this step takes effect."""
        return tuple(str(deed["name"]) for deed in self.does if deed["do"] == "fault")


class _StepsFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    step: dict[str, GuidedStep]


@cache
def load_steps() -> Mapping[str, GuidedStep]:
    """Return the steps of steps.toml by their names."""
    return toml_files.read(Path(__file__).parents[1] / "steps.toml", _StepsFile).step


TAP_S = 0.15
"""Duration of a tap on a button, by the daemon's clock."""
USUAL_SPEED = 100.0
SLOW_SPEED = 2.0
"""Speeds of the simulator: the usual one, and the one for actions during a deal."""


class StepSkipped(SkipException):
    """A step that cannot be done on this target.

    The text is one line. The scenario is skipped.
    """


class TableHands(Protocol):
    """The interface to the people at a table, real or simulated.

    `is_simulated` is True if they see every card, so that `read_truth` returns a result.
    """

    is_simulated: bool

    async def do_step(self, name: str) -> None:
        """Do a step of steps.toml, and return when it is done. Raises StepSkipped."""

    async def prepare_step(self, name: str) -> None:
        """Prepare a step that is done at once when its signal is given. Raises StepSkipped."""

    async def signal_step(self, name: str) -> None:
        """Give the signal for a prepared step.

        The step may be done a moment after this method has returned.
        """

    async def press_button(self, button: str) -> None:
        """Press a button of the panel for TAP_S seconds.

        Its name is `start`, `north_green`, …
        """

    async def count_hands(self) -> tuple[int, ...]:
        """Return the numbers of cards that the players N, W, S and E hold."""

    async def read_truth(self) -> dict[str, Any]:
        """Return the physical place of every card (sim/CONTROL.md). Raises StepSkipped."""

    async def cause_fault(self, name: str, **fields: Any) -> None:
        """Cause a fault of the simulator's fault menu, with `fields` as its details.

        Raises StepSkipped.
        """

    async def read_faults(self) -> dict[str, Any]:
        """Return the faults that have occurred and those that are active (sim/CONTROL.md).

        Raises StepSkipped.
        """

    async def slow_down(self) -> None:
        """Make the machine slow from the next deal's first card on, if its speed can be set.

        Returns after the machine is slow. The simulator slows down automatically, so a late program
        does no harm.
        """

    async def restore_speed(self) -> None:
        """Set the usual speed again."""

    async def restore_table(self) -> None:
        """Repair everything that a failed scenario may have changed: motors, boards, lid, cards."""


class SimulatedHands(ABC):
    """Simulated people at a table (TableHands).

    Each step is one or more requests to the simulator.
    """

    is_simulated = True
    speed = USUAL_SPEED
    record_lines: list[str] | None = None
    """Receives the actions as lines of the report, if set."""

    @abstractmethod
    async def tap_button(self, button: str) -> None:
        """Press a button for TAP_S seconds of the daemon's clock."""

    @abstractmethod
    async def request(self, name: str, /, **words: Any) -> Any:
        """Send one request of sim/CONTROL.md and return its result.

        Raises StepSkipped if the simulator does not support it.
        """

    async def do_step(self, name: str) -> None:
        """See TableHands."""
        wanted = load_steps()[name]
        self._require_faults(*wanted.faults)
        self._note(f"do {name}: {wanted.zh} {wanted.en}")
        if wanted.when is not None:
            when = wanted.when
            await answer_once(self.read_truth, lambda truth: truth[when])
        for deed in wanted.does:
            words = {key: value for key, value in deed.items() if key != "do"}
            if wanted.as_soon_as_possible:
                await self.retry_request(deed["do"], words)
            else:
                await self.request(deed["do"], **words)

    async def prepare_step(self, name: str) -> None:
        """See TableHands."""
        self._require_faults(*load_steps()[name].faults)

    async def signal_step(self, name: str) -> None:
        """See TableHands."""
        await self.do_step(name)

    async def press_button(self, button: str) -> None:
        """See TableHands."""
        self._note(f"press {button}, {TAP_S:g} s")
        await self.tap_button(button)

    async def count_hands(self) -> tuple[int, ...]:
        """See TableHands."""
        return tuple(map(len, (await self.read_truth())["hands"]))

    async def read_truth(self) -> dict[str, Any]:
        """See TableHands."""
        return dict(await self.request("truth"))

    async def cause_fault(self, name: str, **fields: Any) -> None:
        """See TableHands."""
        self._require_faults(name)
        about = ", ".join(f"{key} {value}" for key, value in fields.items())
        self._note(f"fault {name} {about}".rstrip())
        await self.request("fault", name=name, **fields)

    async def read_faults(self) -> dict[str, Any]:
        """See TableHands."""
        return dict(await self.request("faults"))

    async def slow_down(self) -> None:
        """See TableHands."""
        slower = {"card": 1, "do": "speed", "with": {"value": SLOW_SPEED}}
        await self.request("script", steps=[slower])

    async def restore_speed(self) -> None:
        """See TableHands."""
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
        """Repeat a request until the simulator accepts it."""

        async def done() -> bool:
            await self.request(name, **words)
            return True

        await answer_once(done, refused=(HallError, OutOfReach))


class ControlHands(SimulatedHands):
    """Simulated people, reached through the control socket of a `dealtable sim`."""

    def __init__(self, control: ControlClient) -> None:
        self._control = control

    async def request(self, name: str, /, **words: Any) -> Any:
        """See SimulatedHands."""
        try:
            return await self._control.request(name, **words)
        except HallError as error:
            if LACKS in str(error):
                raise StepSkipped(str(error)) from None
            raise

    async def tap_button(self, button: str) -> None:
        """See SimulatedHands. The simulator measures the time, by the machine's clock."""
        speed = (await self.request("info"))["speed"]
        await self.request("tap", name=button, hold_ms=1000 * TAP_S * speed)

    async def restore_table(self) -> None:
        """See TableHands."""
        await self.request("clear_faults")
        await self.restore_speed()
        for board in BOARDS:
            await self.request("restart", board=board)
        await self.request("estop", pressed=False)
        await self.request("change_set")


class InProcessHands(SimulatedHands):
    """Simulated people at a table in this process."""

    def __init__(
        self, sim: HardwareInProcess, press: Callable[[str, bool], Awaitable[None]]
    ) -> None:
        """Prepare the people; `press(name, down)` presses or releases a button of the panel."""
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
            "speed": lambda value: None,  # No speed to set: a deal takes no time.
        }

    async def request(self, name: str, /, **words: Any) -> Any:
        """See SimulatedHands."""
        try:
            result = self._requests[name](**words)
        except FaultError as error:
            if LACKS in str(error):
                raise StepSkipped(str(error)) from None
            raise
        return await result if isawaitable(result) else result

    async def tap_button(self, button: str) -> None:
        """See SimulatedHands."""
        await self._press(button, True)
        await asyncio.sleep(TAP_S)
        await self._press(button, False)

    async def slow_down(self) -> None:
        """Do nothing, because a deal takes no time."""

    async def restore_table(self) -> None:
        """Do nothing, because each scenario has its own table."""

    def _restart(self, board: Any) -> None:
        self._sim.kill(board)
        self._sim.start(board)
