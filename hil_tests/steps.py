"""The guided steps of steps.toml: what a person is told, and what a simulated one does."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from controller import tomlfile
from hil_tests.features import Feature


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
    return tomlfile.read(Path(__file__).with_name("steps.toml"), _StepsFile).step


def find_step(name: str) -> GuidedStep:
    """Return a step. Raises LookupError where there is none of that name."""
    try:
        return load_steps()[name]
    except KeyError:
        raise LookupError(f"no step is called {name}") from None
