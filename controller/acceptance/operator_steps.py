"""What people are asked to do (steps.toml), and whoever does it."""

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
    """One step; steps.toml says what each field means."""

    zh: str
    en: str
    does: tuple[dict[str, Any], ...]
    now: bool = False


class Operator(Protocol):
    """What people's hands can do at a machine, whoever they are."""

    async def do(self, name: StepName, part: str = "") -> bool:
        """Have a step done and return when it is; False where nobody can do it.

        `part` is the part of the machine that it is about (limits.toml), where that is open.
        """

    async def prepare(self, name: StepName) -> bool:
        """Have people get ready for a step that is done at a signal; False: nobody can do it."""

    async def signal(self, name: StepName) -> None:
        """Give the signal; the step may be done a moment after this has returned."""


class SimulatedOperator:
    """Hands that move a simulated machine, by `request(deed, **words)` (sim/CONTROL.md)."""

    def __init__(self, request: Callable[..., Awaitable[Any]]) -> None:
        self._request = request

    async def do(self, name: StepName, part: str = "") -> bool:
        """See Hands."""
        for deed in operator_step(name).does:
            words = {key: value for key, value in deed.items() if key != "do"}
            await self._request(deed["do"], **words)
        return True

    async def prepare(self, name: StepName) -> bool:
        """See Hands."""
        return True

    async def signal(self, name: StepName) -> None:
        """See Hands."""
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
