"""What a self-test measures: each figure with its part, unit, limits and their reason."""

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import resources
from typing import Literal

import msgspec

from controller.host import toml_files
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
    return toml_files.parse(text, _LimitsFile, name="limits.toml")


FigureVerdict = Literal["pass", "warn", "fail", "not measured"]
_VERDICTS_BY_SEVERITY: tuple[FigureVerdict, ...] = ("pass", "not measured", "warn", "fail")


class SelftestFigure(msgspec.Struct, frozen=True, gc=False):
    """One number about one part. `value`: None where there is none; `note`: why, or what was seen.

    `name` and `part` are limits.toml's.
    """

    name: str
    part: str
    value: float | None
    unit: str
    warn: float
    fail: float
    verdict: FigureVerdict
    note: str = ""

    @property
    def limit(self) -> FigureLimit:
        """Its row in limits.toml."""
        return figure_limits()[self.name]


class SelftestFigures:
    """The figures of one self-test, as they come; the worst of a figure stands.

    `asked`: the reader has no trigger wire, so that some limits are others.
    """

    def __init__(self, *, reader_is_polled: bool = False) -> None:
        self._reader_is_polled = reader_is_polled
        self._figures: dict[tuple[str, str], SelftestFigure] = {}
        self._left_out_why: dict[tuple[str, str], str] = {}

    def record(self, name: str, value: float, part: str = "", note: str = "") -> SelftestFigure:
        """Judge a number and keep it, if none worse of this part is kept already."""
        limit, part = self._limit_and_part(name, part)
        bounds = limit.bounds(reader_is_polled=self._reader_is_polled)
        verdict = judge(value, limit, bounds)
        return self._keep_worst(name, part, round(value, 2), verdict, note)

    def record_failure(self, name: str, part: str = "", note: str = "") -> SelftestFigure:
        """Say that what was to be measured did not come about at all."""
        _, part = self._limit_and_part(name, part)
        return self._keep_worst(name, part, None, "fail", note)

    def record_doubt(self, name: str, part: str = "", note: str = "") -> SelftestFigure:
        """Say that what was to be measured did not come about, which need not mean harm."""
        _, part = self._limit_and_part(name, part)
        return self._keep_worst(name, part, None, "warn", note)

    def leave_out(self, name: str, why: str, part: str = "") -> None:
        """Say why a figure has no number; without a part: none of its parts."""
        for each in (part,) if part else figure_limits()[name].parts:
            self._left_out_why.setdefault((name, each), why)

    def has_failed(self, name: str, part: str = "") -> bool:
        """Tell whether a figure has failed; without a part: of any part."""
        return any(
            each.verdict == "fail"
            for each in self._figures.values()
            if each.name == name and part in ("", each.part)
        )

    def all_figures(self) -> tuple[SelftestFigure, ...]:
        """Return every figure of the table, with a number or with why it has none."""
        return tuple(self._iterate_figures())

    def _iterate_figures(self) -> Iterator[SelftestFigure]:
        for name, limit in figure_limits().items():
            bounds = limit.bounds(reader_is_polled=self._reader_is_polled)
            for part in limit.parts:
                why = self._left_out_why.get((name, part), "not reached: see what failed before it")
                none = SelftestFigure(
                    name, part, None, limit.unit, bounds.warn, bounds.fail, "not measured", why
                )
                yield self._figures.get((name, part), none)

    def _limit_and_part(self, name: str, part: str) -> tuple[FigureLimit, str]:
        limit = figure_limits()[name]
        part = part or limit.part
        if part not in limit.parts:
            raise LookupError(f"{name} is not taken of {part!r}")
        return limit, part

    def _keep_worst(
        self, name: str, part: str, value: float | None, verdict: FigureVerdict, note: str
    ) -> SelftestFigure:
        limit = figure_limits()[name]
        bounds = limit.bounds(reader_is_polled=self._reader_is_polled)
        new = SelftestFigure(name, part, value, limit.unit, bounds.warn, bounds.fail, verdict, note)
        before = self._figures.get((name, part))
        if before is None or _is_worse(new, before, limit):
            self._figures[name, part] = new
        return self._figures[name, part]


def judge(value: float, limit: FigureLimit, bounds: FigureBounds) -> FigureVerdict:
    """Return whether a number will do; one that is exactly at a limit does."""

    def beyond(bound: float) -> bool:
        return value > bound if limit.sense == "most" else value < bound

    if beyond(bounds.fail):
        return "fail"
    return "warn" if beyond(bounds.warn) else "pass"


def worst_verdict(figures: tuple[SelftestFigure, ...]) -> FigureVerdict:
    """Return what a machine with these figures comes to: something not measured is a warning."""
    verdicts: list[FigureVerdict] = [figure.verdict for figure in figures]
    found: FigureVerdict = max(verdicts, key=_VERDICTS_BY_SEVERITY.index, default="not measured")
    return "warn" if found == "not measured" else found


def _is_worse(new: SelftestFigure, before: SelftestFigure, limit: FigureLimit) -> bool:
    if new.verdict != before.verdict:
        return _VERDICTS_BY_SEVERITY.index(new.verdict) > _VERDICTS_BY_SEVERITY.index(
            before.verdict
        )
    if new.value is None or before.value is None:
        return before.value is not None and new.value is None
    return new.value > before.value if limit.sense == "most" else new.value < before.value
