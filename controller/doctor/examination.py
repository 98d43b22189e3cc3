"""One line of the page: its light, what is so, and what to do."""

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Final

import msgspec


class FindingLight(StrEnum):
    """How a thing stands. What cannot be known here is neither good nor bad, and is said."""

    GREEN = "green"
    AMBER = "amber"
    RED = "red"
    UNKNOWN = "unknown"


class DoctorFinding(msgspec.Struct, frozen=True, gc=False):
    """What is so with the thing `check`, in one line, and the next action; none for a green one.

    Raises ValueError for a light that asks for something and does not say what.
    """

    check: str
    light: FindingLight
    text: str
    do: str = ""

    def __post_init__(self) -> None:
        """See the class."""
        if (self.light is FindingLight.GREEN) == bool(self.do):
            raise ValueError(f"{self.check}: {self.light} and the next action {self.do!r}")


DoctorFindings = Iterator[DoctorFinding]


def green(check: str, text: str) -> DoctorFinding:
    """Return what is as it should be."""
    return DoctorFinding(check, FindingLight.GREEN, text)


def amber(check: str, text: str, do: str) -> DoctorFinding:
    """Return what a table deals with, and what should be seen to."""
    return DoctorFinding(check, FindingLight.AMBER, text, do)


def red(check: str, text: str, do: str) -> DoctorFinding:
    """Return what keeps a table from dealing, or from keeping its promises."""
    return DoctorFinding(check, FindingLight.RED, text, do)


def unknown(check: str, what: str, do: str) -> DoctorFinding:
    """Return what cannot be known here; `do` says how it can."""
    return DoctorFinding(check, FindingLight.UNKNOWN, f"not known on this computer: {what}", do)


LIGHT_SIGNS: Final[Mapping[FindingLight, str]] = {
    FindingLight.GREEN: "ok ",
    FindingLight.AMBER: "?  ",
    FindingLight.RED: "!! ",
    FindingLight.UNKNOWN: "-  ",
}
"""Said without colours, too."""
_CHECK_WIDTH: Final = 13


class Examination(msgspec.Struct, frozen=True, kw_only=True):
    """What was found at a table; the JSON. `verdict` is the worst light."""

    table: str
    simulated: bool
    time: str
    verdict: FindingLight
    findings: dict[str, tuple[DoctorFinding, ...]]

    def count(self, light: FindingLight) -> int:
        """Return how many findings have a light."""
        return sum(one.light is light for part in self.findings.values() for one in part)


def page_lines(examination: Examination) -> Iterator[tuple[str, FindingLight | None]]:
    """Yield the page's lines, each with its light; None for those that are none."""
    kind = "simulated table" if examination.simulated else "table"
    yield f"{kind} {examination.table}, {examination.time}", None
    for part, findings in examination.findings.items():
        yield f"{part}", None
        for one in findings:
            yield f"  {LIGHT_SIGNS[one.light]}{one.check:<{_CHECK_WIDTH}} {one.text}", one.light
            if one.do:
                yield f"{'':{_CHECK_WIDTH + 6}}-> {one.do}", one.light
    yield summary_line(examination), examination.verdict


def summary_line(examination: Examination) -> str:
    """Return the last line: what it comes to."""
    reds, ambers, unknowns = map(
        examination.count, (FindingLight.RED, FindingLight.AMBER, FindingLight.UNKNOWN)
    )
    if reds:
        noun = "thing" if reds == 1 else "things"
        said = f"{reds} {noun} to mend before it deals: from the first !! on"
    elif ambers:
        said = "nothing keeps it from dealing"
    else:
        said = "all well"
    return f"{said} ({ambers} to see to, {unknowns} not known here)"
