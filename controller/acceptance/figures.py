"""What came of a measurement: its number, whether that will do, and which part it is about."""

from collections.abc import Iterator
from typing import Literal

import msgspec

from controller.acceptance.limits import FigureBounds, Limit, limits

Verdict = Literal["pass", "warn", "fail", "not measured"]
_VERDICTS_BY_SEVERITY: tuple[Verdict, ...] = ("pass", "not measured", "warn", "fail")


class Figure(msgspec.Struct, frozen=True, gc=False):
    """One number about one part. `value`: None where there is none; `note`: why, or what was seen.

    `name` and `part` are limits.toml's.
    """

    name: str
    part: str
    value: float | None
    unit: str
    warn: float
    fail: float
    verdict: Verdict
    note: str = ""

    @property
    def limit(self) -> Limit:
        """Its row in limits.toml."""
        return limits()[self.name]


class SelftestFigures:
    """The figures of one self-test, as they come; the worst of a figure stands.

    `asked`: the reader has no trigger wire, so that some limits are others.
    """

    def __init__(self, *, asked: bool = False) -> None:
        self._asked = asked
        self._figures: dict[tuple[str, str], Figure] = {}
        self._left_out_why: dict[tuple[str, str], str] = {}

    def take(self, name: str, value: float, part: str = "", note: str = "") -> Figure:
        """Judge a number and keep it, if none worse of this part is kept already."""
        limit, part = self._limit_and_part(name, part)
        bounds = limit.bounds(asked=self._asked)
        verdict = judged(value, limit, bounds)
        return self._keep(name, part, round(value, 2), verdict, note)

    def fail(self, name: str, part: str = "", note: str = "") -> Figure:
        """Say that what was to be measured did not come about at all."""
        _, part = self._limit_and_part(name, part)
        return self._keep(name, part, None, "fail", note)

    def doubt(self, name: str, part: str = "", note: str = "") -> Figure:
        """Say that what was to be measured did not come about, which need not mean harm."""
        _, part = self._limit_and_part(name, part)
        return self._keep(name, part, None, "warn", note)

    def leave_out(self, name: str, why: str, part: str = "") -> None:
        """Say why a figure has no number; without a part: none of its parts."""
        for each in (part,) if part else limits()[name].parts:
            self._left_out_why.setdefault((name, each), why)

    def failed(self, name: str, part: str = "") -> bool:
        """Tell whether a figure has failed; without a part: of any part."""
        return any(
            each.verdict == "fail"
            for each in self._figures.values()
            if each.name == name and part in ("", each.part)
        )

    def all(self) -> tuple[Figure, ...]:
        """Return every figure of the table, with a number or with why it has none."""
        return tuple(self._iterate_figures())

    def _iterate_figures(self) -> Iterator[Figure]:
        for name, limit in limits().items():
            bounds = limit.bounds(asked=self._asked)
            for part in limit.parts:
                why = self._left_out_why.get((name, part), "not reached: see what failed before it")
                none = Figure(
                    name, part, None, limit.unit, bounds.warn, bounds.fail, "not measured", why
                )
                yield self._figures.get((name, part), none)

    def _limit_and_part(self, name: str, part: str) -> tuple[Limit, str]:
        limit = limits()[name]
        part = part or limit.part
        if part not in limit.parts:
            raise LookupError(f"{name} is not taken of {part!r}")
        return limit, part

    def _keep(
        self, name: str, part: str, value: float | None, verdict: Verdict, note: str
    ) -> Figure:
        limit = limits()[name]
        bounds = limit.bounds(asked=self._asked)
        new = Figure(name, part, value, limit.unit, bounds.warn, bounds.fail, verdict, note)
        before = self._figures.get((name, part))
        if before is None or _is_worse(new, before, limit):
            self._figures[name, part] = new
        return self._figures[name, part]


def judged(value: float, limit: Limit, bounds: FigureBounds) -> Verdict:
    """Return whether a number will do; one that is exactly at a limit does."""

    def beyond(bound: float) -> bool:
        return value > bound if limit.sense == "most" else value < bound

    if beyond(bounds.fail):
        return "fail"
    return "warn" if beyond(bounds.warn) else "pass"


def worst(figures: tuple[Figure, ...]) -> Verdict:
    """Return what a machine with these figures comes to: something not measured is a warning."""
    verdicts: list[Verdict] = [figure.verdict for figure in figures]
    found: Verdict = max(verdicts, key=_VERDICTS_BY_SEVERITY.index, default="not measured")
    return "warn" if found == "not measured" else found


def _is_worse(new: Figure, before: Figure, limit: Limit) -> bool:
    if new.verdict != before.verdict:
        return _VERDICTS_BY_SEVERITY.index(new.verdict) > _VERDICTS_BY_SEVERITY.index(
            before.verdict
        )
    if new.value is None or before.value is None:
        return before.value is not None and new.value is None
    return new.value > before.value if limit.sense == "most" else new.value < before.value
