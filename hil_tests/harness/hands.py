"""The actions of people at a table in a scenario. An operator or the simulator does these actions.

steps.toml describes some of the actions as guided steps.
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
    """One action of people at the table. steps.toml has these steps and explains the fields."""

    zh: str
    en: str
    needs: tuple[Feature, ...] = ()
    does: tuple[dict[str, Any], ...] = ()
    when: str | None = None
    as_soon_as_possible: bool = False

    @property
    def faults(self) -> tuple[str, ...]:
        """The names of the simulated faults that this step causes on a simulated table."""
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
    """An exception: this target cannot do a step. pytest then skips the scenario.

    The text is one line.
    """


class TableHands(Protocol):
    """The interface to the people at a table, real or simulated.

    `read_truth` returns a result only if `is_simulated` is True.
    """

    is_simulated: bool

    async def do_step(self, name: str) -> None:
        """Do a step of steps.toml, and return when it is done. Raises StepSkipped."""

    async def prepare_step(self, name: str) -> None:
        """Get ready for the step `name`, which `signal_step` will start. Raises StepSkipped."""

    async def signal_step(self, name: str) -> None:
        """Signal that the prepared step `name` must be done now.

        The step may be done a moment after this method has returned.
        """

    async def press_button(self, button: str) -> None:
        """Press the panel's button with the name `button`, and release it after a short time.

        The names are `start`, `north_green`, … Simulated people release a button after TAP_S.
        """

    async def count_hands(self) -> tuple[int, ...]:
        """Return the numbers of cards that the players N, W, S and E hold."""

    async def read_truth(self) -> dict[str, Any]:
        """Return the places of all cards, and positions such as the lid's. Raises StepSkipped."""

    async def cause_fault(self, name: str, **fields: Any) -> None:
        """Cause the fault `name` of the simulator's fault menu, with the details `fields`.

        Raises StepSkipped.
        """

    async def read_faults(self) -> dict[str, Any]:
        """Return the faults that have occurred and those that are active (sim/CONTROL.md).

        Raises StepSkipped.
        """

    async def slow_down(self) -> None:
        """Slow the machine down at the first card of the next deal. A bench has only one speed.

        Returns after the machine is slow. The simulator slows down automatically, so a late program
        does no harm.
        """

    async def restore_speed(self) -> None:
        """Set the machine to its usual speed again."""

    async def restore_table(self) -> None:
        """Undo what a failed scenario may have changed: cables, boards, e-stop, lid and cards."""


class SimulatedHands(ABC):
    """A base class for simulated people. It implements TableHands by requests to the simulator."""

    is_simulated = True
    speed = USUAL_SPEED
    record_lines: list[str] | None = None
    """Receives the actions as lines of the report, if set."""

    @abstractmethod
    async def tap_button(self, button: str) -> None:
        """Press a button of the panel, and release it after TAP_S seconds of the daemon's clock."""

    @abstractmethod
    async def request(self, name: str, /, **words: Any) -> Any:
        """Send the request `name` of sim/CONTROL.md with its arguments `words`. Return the result.

        Raises StepSkipped if the simulator does not support it.
        """

    async def do_step(self, name: str) -> None:
        """Wait until the step `name` of steps.toml is possible, then send its requests."""
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
        """Raise StepSkipped if the simulator lacks a fault that the step `name` causes."""
        self._require_faults(*load_steps()[name].faults)

    async def signal_step(self, name: str) -> None:
        """Do the prepared step `name` now."""
        await self.do_step(name)

    async def press_button(self, button: str) -> None:
        """Add a line to the report, then press a button of the panel for TAP_S seconds."""
        self._note(f"press {button}, {TAP_S:g} s")
        await self.tap_button(button)

    async def count_hands(self) -> tuple[int, ...]:
        """Return the numbers of cards that the simulated players N, W, S and E hold."""
        return tuple(map(len, (await self.read_truth())["hands"]))

    async def read_truth(self) -> dict[str, Any]:
        """Return the place of every card and the positions of lid, e-stop and lift."""
        return dict(await self.request("truth"))

    async def cause_fault(self, name: str, **fields: Any) -> None:
        """Add a line to the report, then cause the fault `name` with the details `fields`."""
        self._require_faults(name)
        about = ", ".join(f"{key} {value}" for key, value in fields.items())
        self._note(f"fault {name} {about}".rstrip())
        await self.request("fault", name=name, **fields)

    async def read_faults(self) -> dict[str, Any]:
        """Return the simulated faults that have occurred and those that are active."""
        return dict(await self.request("faults"))

    async def slow_down(self) -> None:
        """Wait for the next deal's first card, then set the simulator to a slow speed."""
        slower = {"card": 1, "do": "speed", "with": {"value": SLOW_SPEED}}
        await self.request("script", steps=[slower])

    async def restore_speed(self) -> None:
        """Set the simulator to its usual speed (the attribute `speed`) again."""
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
        """Send the request `name` with the arguments `words`, repeatedly until it is accepted."""

        async def done() -> bool:
            await self.request(name, **words)
            return True

        await answer_once(done, refused=(HallError, OutOfReach))


class ControlHands(SimulatedHands):
    """Simulated people who act by requests to the control socket of `dealtable sim`."""

    def __init__(self, control: ControlClient) -> None:
        self._control = control

    async def request(self, name: str, /, **words: Any) -> Any:
        """Send the request `name` to the control socket. Return its result. Raises StepSkipped."""
        try:
            return await self._control.request(name, **words)
        except HallError as error:
            if LACKS in str(error):
                raise StepSkipped(str(error)) from None
            raise

    async def tap_button(self, button: str) -> None:
        """Ask the simulator to press a button for TAP_S seconds, measured by the real clock."""
        speed = (await self.request("info"))["speed"]
        await self.request("tap", name=button, hold_ms=1000 * TAP_S * speed)

    async def restore_table(self) -> None:
        """End all faults, reset the speed, restart boards, release the e-stop, load a new set."""
        await self.request("clear_faults")
        await self.restore_speed()
        for board in BOARDS:
            await self.request("restart", board=board)
        await self.request("estop", pressed=False)
        await self.request("change_set")


class InProcessHands(SimulatedHands):
    """Simulated people who act by function calls to a simulated table in this process."""

    def __init__(
        self, sim: HardwareInProcess, press: Callable[[str, bool], Awaitable[None]]
    ) -> None:
        """Create people for the table `sim`. `press(name, down)` moves a button of the panel."""
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
            "speed": lambda value: None,  # A deal takes no real time.
        }

    async def request(self, name: str, /, **words: Any) -> Any:
        """Call the simulated table's function for the request `name`, and return the result."""
        try:
            result = self._requests[name](**words)
        except FaultError as error:
            if LACKS in str(error):
                raise StepSkipped(str(error)) from None
            raise
        return await result if isawaitable(result) else result

    async def tap_button(self, button: str) -> None:
        """Press a button of the panel, wait TAP_S seconds, and release the button."""
        await self._press(button, True)
        await asyncio.sleep(TAP_S)
        await self._press(button, False)

    async def slow_down(self) -> None:
        """Do nothing, because a deal in virtual time takes no real time."""

    async def restore_table(self) -> None:
        """Do nothing, because each scenario has its own table."""

    def _restart(self, board: Any) -> None:
        self._sim.kill(board)
        self._sim.start(board)
