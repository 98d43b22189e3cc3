"""The page of a table's doctor: for people, and as JSON."""

from collections.abc import Iterator, Mapping
from typing import Final

import msgspec

from controller.doctor.finding import DoctorFinding, FindingLight

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
