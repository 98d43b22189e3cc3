"""What people are asked to do (steps.toml), and whoever does it."""

from collections.abc import Awaitable, Callable
from functools import cache
from importlib import resources
from typing import Any, Literal, Protocol

import msgspec

from controller import tomlfile

Name = Literal[
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


class Step(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One step; steps.toml says what each field means."""

    zh: str
    en: str
    does: tuple[dict[str, Any], ...]
    now: bool = False


class Hands(Protocol):
    """What people's hands can do at a machine, whoever they are."""

    async def do(self, name: Name, part: str = "") -> bool:
        """Have a step done and return when it is; False where nobody can do it.

        `part` is the part of the machine that it is about (limits.toml), where that is open.
        """

    async def ready(self, name: Name) -> bool:
        """Have people get ready for a step that is done at a signal; False: nobody can do it."""

    async def now(self, name: Name) -> None:
        """Give the signal; the step may be done a moment after this has returned."""


class SimulatedOperator:
    """Hands that move a simulated machine, by `request(deed, **words)` (sim/CONTROL.md)."""

    def __init__(self, request: Callable[..., Awaitable[Any]]) -> None:
        self._request = request

    async def do(self, name: Name, part: str = "") -> bool:
        """See Hands."""
        for deed in step(name).does:
            words = {key: value for key, value in deed.items() if key != "do"}
            await self._request(deed["do"], **words)
        return True

    async def ready(self, name: Name) -> bool:
        """See Hands."""
        return True

    async def now(self, name: Name) -> None:
        """See Hands."""
        await self.do(name)


def step(name: Name) -> Step:
    """Return a step by its name."""
    return _steps()[name]


@cache
def _steps() -> dict[str, Step]:
    class File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
        step: dict[str, Step]

    text = resources.files("controller.acceptance").joinpath("steps.toml").read_text("utf-8")
    return tomlfile.parse(text, File, name="steps.toml").step
