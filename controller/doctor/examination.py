"""The results of all checks of the doctor (an examination), and the page that lists them.

Each result is a finding with a colour and a text. A finding that is not green also has an advice.
"""

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Final

import msgspec


class FindingLight(StrEnum):
    """The colour of a finding: how serious the problem is. GREEN: there is no problem.

    UNKNOWN: the fact is not available on this computer, which is neither good nor bad.
    """

    GREEN = "green"
    AMBER = "amber"
    RED = "red"
    UNKNOWN = "unknown"


class DoctorFinding(msgspec.Struct, frozen=True, gc=False):
    """One result of a check, good or bad: the thing that was checked, its state, and the remedy.

    `check`: the thing. `text`: its state. `do`: the next action. Only a green finding has no
    action. Raises ValueError for a green finding with an action, or another finding without one.
    """

    check: str
    light: FindingLight
    text: str
    do: str = ""

    def __post_init__(self) -> None:
        """Raise ValueError if a green finding has an action, or if any other finding has none."""
        if (self.light is FindingLight.GREEN) == bool(self.do):
            raise ValueError(f"{self.check}: {self.light} and the next action {self.do!r}")


DoctorFindings = Iterator[DoctorFinding]


def green(check: str, text: str) -> DoctorFinding:
    """Return a green finding: the thing `check` is right, and `text` describes its state."""
    return DoctorFinding(check, FindingLight.GREEN, text)


def amber(check: str, text: str, do: str) -> DoctorFinding:
    """Return an amber finding: a problem that needs attention but does not prevent dealing."""
    return DoctorFinding(check, FindingLight.AMBER, text, do)


def red(check: str, text: str, do: str) -> DoctorFinding:
    """Return a red finding: a problem that prevents dealing or breaks a guarantee."""
    return DoctorFinding(check, FindingLight.RED, text, do)


def unknown(check: str, what: str, do: str) -> DoctorFinding:
    """Return an UNKNOWN finding: on this computer the doctor cannot find the fact `what`.

    `do` is another way to find this fact.
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
    """The findings of all checks of one table, with the same fields as the JSON output.

    `verdict` is the colour of the worst finding. `findings` has the findings of each subject.
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
    """Yield (line, colour) for each line of the doctor's page. A heading has the colour None."""
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
    """Return the last line of the page: a conclusion, and how many findings are not green."""
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
