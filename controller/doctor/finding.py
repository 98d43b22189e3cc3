"""One line of the page: its light, what is so, and what to do."""

from collections.abc import Iterator
from enum import StrEnum

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
