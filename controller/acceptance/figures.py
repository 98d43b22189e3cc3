"""What came of a measurement: its number, whether that will do, and which part it is about."""

from collections.abc import Iterator
from typing import Literal

import msgspec

from controller.acceptance.limits import Bounds, Limit, limits

Verdict = Literal["pass", "warn", "fail", "not measured"]
_WORST: tuple[Verdict, ...] = ("pass", "not measured", "warn", "fail")


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


class Figures:
    """The figures of one self-test, as they come; the worst of a figure stands.

    `asked`: the reader has no trigger wire, so that some limits are others.
    """

    def __init__(self, *, asked: bool = False) -> None:
        self._asked = asked
        self._taken: dict[tuple[str, str], Figure] = {}
        self._why: dict[tuple[str, str], str] = {}

    def take(self, name: str, value: float, part: str = "", note: str = "") -> Figure:
        """Judge a number and keep it, if none worse of this part is kept already."""
        limit, part = self._row(name, part)
        bounds = limit.bounds(asked=self._asked)
        verdict = judged(value, limit, bounds)
        return self._keep(name, part, round(value, 2), verdict, note)

    def fail(self, name: str, part: str = "", note: str = "") -> Figure:
        """Say that what was to be measured did not come about at all."""
        _, part = self._row(name, part)
        return self._keep(name, part, None, "fail", note)

    def doubt(self, name: str, part: str = "", note: str = "") -> Figure:
        """Say that what was to be measured did not come about, which need not mean harm."""
        _, part = self._row(name, part)
        return self._keep(name, part, None, "warn", note)

    def leave_out(self, name: str, why: str, part: str = "") -> None:
        """Say why a figure has no number; without a part: none of its parts."""
        for each in (part,) if part else limits()[name].parts:
            self._why.setdefault((name, each), why)

    def failed(self, name: str, part: str = "") -> bool:
        """Tell whether a figure has failed; without a part: of any part."""
        return any(
            each.verdict == "fail"
            for each in self._taken.values()
            if each.name == name and part in ("", each.part)
        )

    def all(self) -> tuple[Figure, ...]:
        """Return every figure of the table, with a number or with why it has none."""
        return tuple(self._each())

    def _each(self) -> Iterator[Figure]:
        for name, limit in limits().items():
            bounds = limit.bounds(asked=self._asked)
            for part in limit.parts:
                why = self._why.get((name, part), "not reached: see what failed before it")
                none = Figure(
                    name, part, None, limit.unit, bounds.warn, bounds.fail, "not measured", why
                )
                yield self._taken.get((name, part), none)

    def _row(self, name: str, part: str) -> tuple[Limit, str]:
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
        before = self._taken.get((name, part))
        if before is None or _worse(new, before, limit):
            self._taken[name, part] = new
        return self._taken[name, part]


def judged(value: float, limit: Limit, bounds: Bounds) -> Verdict:
    """Return whether a number will do; one that is exactly at a limit does."""

    def beyond(bound: float) -> bool:
        return value > bound if limit.sense == "most" else value < bound

    if beyond(bounds.fail):
        return "fail"
    return "warn" if beyond(bounds.warn) else "pass"


def worst(figures: tuple[Figure, ...]) -> Verdict:
    """Return what a machine with these figures comes to: something not measured is a warning."""
    verdicts: list[Verdict] = [figure.verdict for figure in figures]
    found: Verdict = max(verdicts, key=_WORST.index, default="not measured")
    return "warn" if found == "not measured" else found


def _worse(new: Figure, before: Figure, limit: Limit) -> bool:
    if new.verdict != before.verdict:
        return _WORST.index(new.verdict) > _WORST.index(before.verdict)
    if new.value is None or before.value is None:
        return before.value is not None and new.value is None
    return new.value > before.value if limit.sense == "most" else new.value < before.value
