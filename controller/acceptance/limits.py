"""What a self-test measures: each figure with its part, unit, limits and their reason."""

from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Literal

import msgspec

from controller import tomlfile
from controller.words import Words


class FigureBounds(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    """Beyond `warn` people are warned, beyond `fail` the machine is not used."""

    warn: float
    fail: float


class FigureLimit(
    msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True, rename={"sense": "is"}
):
    """One row of limits.toml, which says what each field means."""

    unit: str
    sense: Literal["most", "least"]
    warn: float
    fail: float
    fault: str
    en: str
    zh: str
    do_en: str
    do_zh: str
    reason: str
    part: str = ""
    each: tuple[str, ...] = ()
    asked: FigureBounds | None = None

    @property
    def parts(self) -> tuple[str, ...]:
        """The parts it is taken of: each, or the one."""
        return self.each or (self.part,)

    def bounds(self, *, reader_is_polled: bool) -> FigureBounds:
        """Return its limits; `asked`: of a table whose reader has no trigger wire."""
        if reader_is_polled and self.asked is not None:
            return self.asked
        return FigureBounds(self.warn, self.fail)


class _LimitsFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    part: dict[str, Words]
    figure: dict[str, FigureLimit]


def figure_limits() -> Mapping[str, FigureLimit]:
    """Return every figure that is measured, by its name, in the order of the report."""
    return _load_limits().figure


def machine_parts() -> Mapping[str, Words]:
    """Return what the parts of a machine are called."""
    return _load_limits().part


@cache
def _load_limits() -> _LimitsFile:
    text = resources.files("controller.acceptance").joinpath("limits.toml").read_text("utf-8")
    return tomlfile.parse(text, _LimitsFile, name="limits.toml")
