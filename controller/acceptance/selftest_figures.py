"""The figures of a self-test: its measured values, with their limits and verdicts.

A figure is one measured value of one part, with unit, limits, the reason for the limits, and a
verdict.
"""

from collections.abc import Mapping
from functools import cache
from typing import Literal

import msgspec

from controller.host import toml_files
from controller.words import Words


class FigureBounds(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    """The limit for a warning and the limit for a failure of one measured value.

    Beyond `warn`, people are warned. Beyond `fail`, the machine is not used.
    """

    warn: float
    fail: float


class FigureLimit(
    msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True, rename={"sense": "is"}
):
    """The limits of one measured value, as a row of limits.toml (which describes the fields)."""

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
        """Return the parts of the machine for which the value is measured.

        They are those in `each`, or the single `part`.
        """
        return self.each or (self.part,)

    def bounds(self, *, reader_is_polled: bool) -> FigureBounds:
        """Return the limits for a warning and for a failure, for the table's kind of reader.

        A reader board without a trigger wire (`reader_is_polled`) may have other limits (`asked`).
        """
        if reader_is_polled and self.asked is not None:
            return self.asked
        return FigureBounds(self.warn, self.fail)


class _LimitsFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    part: dict[str, Words]
    figure: dict[str, FigureLimit]


def figure_limits() -> Mapping[str, FigureLimit]:
    """Return the limits of every measured value by name, in the order of the report."""
    return _load_limits().figure


def machine_parts() -> Mapping[str, Words]:
    """Return the names of the machine's parts in both languages, by id."""
    return _load_limits().part


@cache
def _load_limits() -> _LimitsFile:
    return toml_files.read_resource("controller.acceptance", "limits.toml", _LimitsFile)


FigureVerdict = Literal["pass", "warn", "fail", "not measured"]
_VERDICTS_BY_SEVERITY: tuple[FigureVerdict, ...] = ("pass", "not measured", "warn", "fail")


class SelftestFigure(msgspec.Struct, frozen=True, gc=False):
    """One measured value of one part, with its limits and the verdict.

    `value`: None if there is no number. `note`: the reason, or an observation. `name` and `part`
    are as in limits.toml.
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
        """Return the row of limits.toml for this value."""
        return figure_limits()[self.name]


class SelftestFigures:
    """All measured values of one self-test.

    If a value is recorded several times, the worst counts. `reader_is_polled`: the reader has no
    trigger wire, so some limits differ.
    """

    def __init__(self, *, reader_is_polled: bool = False) -> None:
        self._reader_is_polled = reader_is_polled
        self._figures: dict[tuple[str, str], SelftestFigure] = {}
        self._left_out_why: dict[tuple[str, str], str] = {}

    def record(self, name: str, value: float, part: str = "", note: str = "") -> SelftestFigure:
        """Store `value` with its verdict, unless a worse value for `name` and `part` is stored."""
        return self._keep_worst(name, part, value, note)

    def record_failure(self, name: str, part: str = "", note: str = "") -> SelftestFigure:
        """Store the verdict "fail" for the value `name`, which could not be measured."""
        return self._keep_worst(name, part, None, note, "fail")

    def record_doubt(self, name: str, part: str = "", note: str = "") -> SelftestFigure:
        """Store the verdict "warn" for `name`, whose value is missing, maybe without a fault."""
        return self._keep_worst(name, part, None, note, "warn")

    def leave_out(self, name: str, why: str, part: str = "") -> None:
        """Store `why`, the reason why the value `name` was not measured.

        Without `part`, the reason applies to all parts of the value.
        """
        for each in (part,) if part else figure_limits()[name].parts:
            self._left_out_why.setdefault((name, each), why)

    def has_failed(self, name: str, part: str = "") -> bool:
        """Return True if the value `name` has the verdict "fail" at `part` of the machine.

        Without `part`, any part counts.
        """
        return any(
            each.verdict == "fail"
            for each in self._figures.values()
            if each.name == name and part in ("", each.part)
        )

    def all_figures(self) -> tuple[SelftestFigure, ...]:
        """Return one figure for each value and part of limits.toml, whether measured or not."""
        found = []
        for name, limit in figure_limits().items():
            bounds = limit.bounds(reader_is_polled=self._reader_is_polled)
            for part in limit.parts:
                why = self._left_out_why.get((name, part), "not reached: see what failed before it")
                none = SelftestFigure(
                    name, part, None, limit.unit, bounds.warn, bounds.fail, "not measured", why
                )
                found.append(self._figures.get((name, part), none))
        return tuple(found)

    def _keep_worst(
        self, name: str, part: str, number: float | None, note: str, verdict: FigureVerdict = "pass"
    ) -> SelftestFigure:
        limit = figure_limits()[name]
        part = part or limit.part
        if part not in limit.parts:
            raise LookupError(f"{name} is not taken of {part!r}")
        bounds = limit.bounds(reader_is_polled=self._reader_is_polled)
        value = None
        if number is not None:
            value, verdict = round(number, 2), judge(number, limit, bounds)
        new = SelftestFigure(name, part, value, limit.unit, bounds.warn, bounds.fail, verdict, note)
        before = self._figures.get((name, part))
        if before is None or _is_worse(new, before, limit):
            self._figures[name, part] = new
        return self._figures[name, part]


def judge(value: float, limit: FigureLimit, bounds: FigureBounds) -> FigureVerdict:
    """Return "fail", "warn" or "pass" for a measured value. A value exactly at a limit is good."""

    def beyond(bound: float) -> bool:
        return value > bound if limit.sense == "most" else value < bound

    if beyond(bounds.fail):
        return "fail"
    return "warn" if beyond(bounds.warn) else "pass"


def worst_verdict(figures: tuple[SelftestFigure, ...]) -> FigureVerdict:
    """Return the worst verdict of `figures`. "not measured" counts as "warn"."""
    verdicts: list[FigureVerdict] = [figure.verdict for figure in figures]
    found: FigureVerdict = max(verdicts, key=_VERDICTS_BY_SEVERITY.index, default="not measured")
    return "warn" if found == "not measured" else found


def _is_worse(new: SelftestFigure, before: SelftestFigure, limit: FigureLimit) -> bool:
    if new.verdict != before.verdict:
        severity = _VERDICTS_BY_SEVERITY.index
        return severity(new.verdict) > severity(before.verdict)
    if new.value is None or before.value is None:
        return before.value is not None and new.value is None
    return new.value > before.value if limit.sense == "most" else new.value < before.value
