"""Steps that people are asked to do (steps.toml), and the operator who does them."""

from collections.abc import Awaitable, Callable
from functools import cache
from importlib import resources
from typing import Any, Literal, Protocol

import msgspec

from controller.host import toml_files

StepName = Literal[
    "empty",
    "carry_back",
    "open_lid",
    "close_lid",
    "press_estop",
    "release_estop",
    "hold_card",
    "let_go",
    "double_card",
    "untape",
    "gap_closer",
    "gap_wider",
    "gate_freer",
    "brighter",
    "darker",
    "cover",
    "uncover",
    "more_sensitive",
    "less_sensitive",
]


class OperatorStep(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One step. steps.toml describes each field."""

    zh: str
    en: str
    does: tuple[dict[str, Any], ...]
    now: bool = False


class Operator(Protocol):
    """The interface to the people, or to a simulation, who do the steps at a machine."""

    async def do(self, name: StepName, part: str = "") -> bool:
        """Request a step and wait until it is done. Return False if it cannot be done.

        `part` is the part of the machine (limits.toml) for a step that can apply to several parts.
        """

    async def prepare(self, name: StepName) -> bool:
        """Ask people to prepare for a step at a signal. Return False if they cannot do it."""

    async def signal(self, name: StepName) -> None:
        """Give the signal for a step. The step may be done shortly after this method returns."""


class SimulatedOperator:
    """An operator of a simulated machine, by `request(action, **words)` (sim/CONTROL.md)."""

    def __init__(self, request: Callable[..., Awaitable[Any]]) -> None:
        self._request = request

    async def do(self, name: StepName, part: str = "") -> bool:
        """Do a step on the simulated machine (see Operator)."""
        for deed in operator_step(name).does:
            words = {key: value for key, value in deed.items() if key != "do"}
            await self._request(deed["do"], **words)
        return True

    async def prepare(self, name: StepName) -> bool:
        """Return True (see Operator)."""
        return True

    async def signal(self, name: StepName) -> None:
        """Do a step at its signal (see Operator)."""
        await self.do(name)


def operator_step(name: StepName) -> OperatorStep:
    """Return a step by its name."""
    return _load_steps()[name]


@cache
def _load_steps() -> dict[str, OperatorStep]:
    class File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
        step: dict[str, OperatorStep]

    text = resources.files("controller.acceptance").joinpath("steps.toml").read_text("utf-8")
    return toml_files.parse(text, File, name="steps.toml").step
