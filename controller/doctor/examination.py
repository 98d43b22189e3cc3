"""The findings of an examination, and the page that lists them.

Each finding has a light, a text and an advice.
"""

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Final

import msgspec


class FindingLight(StrEnum):
    """The colour of a finding, which shows how serious the finding is.

    UNKNOWN: the fact is not available on this computer, which is neither good nor bad.
    """

    GREEN = "green"
    AMBER = "amber"
    RED = "red"
    UNKNOWN = "unknown"


class DoctorFinding(msgspec.Struct, frozen=True, gc=False):
    """One finding: the state of the thing that was checked, and what to do about it.

    `check`: the thing. `do`: the next action, which only a green finding lacks. Raises ValueError
    for a green light with an action, and for another light without an action.
    """

    check: str
    light: FindingLight
    text: str
    do: str = ""

    def __post_init__(self) -> None:
        """Raise ValueError if a green finding has an action, or if another finding has none."""
        if (self.light is FindingLight.GREEN) == bool(self.do):
            raise ValueError(f"{self.check}: {self.light} and the next action {self.do!r}")


DoctorFindings = Iterator[DoctorFinding]


def green(check: str, text: str) -> DoctorFinding:
    """Return a finding for a correct state."""
    return DoctorFinding(check, FindingLight.GREEN, text)


def amber(check: str, text: str, do: str) -> DoctorFinding:
    """Return a finding for a fault that needs attention but does not prevent dealing."""
    return DoctorFinding(check, FindingLight.AMBER, text, do)


def red(check: str, text: str, do: str) -> DoctorFinding:
    """Return a finding for a fault that prevents dealing or breaks a guarantee of the table."""
    return DoctorFinding(check, FindingLight.RED, text, do)


def unknown(check: str, what: str, do: str) -> DoctorFinding:
    """Return a finding for a fact that cannot be known on this computer.

    `do` is the way to learn the fact.
    """
    return DoctorFinding(check, FindingLight.UNKNOWN, f"not known on this computer: {what}", do)


LIGHT_SIGNS: Final[Mapping[FindingLight, str]] = {
    FindingLight.GREEN: "ok ",
    FindingLight.AMBER: "?  ",
    FindingLight.RED: "!! ",
    FindingLight.UNKNOWN: "-  ",
}
"""The signs of the lights, which also work without colours."""
_CHECK_WIDTH: Final = 13


class Examination(msgspec.Struct, frozen=True, kw_only=True):
    """The results of all checks, with the same fields as the JSON output.

    `verdict` is the worst light.
    """

    table: str
    simulated: bool
    time: str
    verdict: FindingLight
    findings: dict[str, tuple[DoctorFinding, ...]]

    def count(self, light: FindingLight) -> int:
        """Return how many findings have the colour `light`."""
        return sum(one.light is light for part in self.findings.values() for one in part)


def page_lines(examination: Examination) -> Iterator[tuple[str, FindingLight | None]]:
    """Yield the lines of the page, each with the colour of its finding or None."""
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
    """Return the last line of the page: the conclusion, and how many findings are not green."""
    lights = (FindingLight.RED, FindingLight.AMBER, FindingLight.UNKNOWN)
    reds, ambers, unknowns = map(examination.count, lights)
    if reds:
        noun = "thing" if reds == 1 else "things"
        said = f"{reds} {noun} to mend before it deals: from the first !! on"
    elif ambers:
        said = "nothing keeps it from dealing"
    else:
        said = "all well"
    return f"{said} ({ambers} to see to, {unknowns} not known here)"
