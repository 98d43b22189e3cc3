"""All checks in the order of the page, and what it comes to."""

from collections.abc import Callable
from typing import Final

from controller.config import TableConfig
from controller.doctor import of_boards, of_computer, of_program, of_table
from controller.doctor.facts import DoctorFacts
from controller.doctor.finding import Finding, Findings, Light

Check = Callable[[TableConfig, DoctorFacts], Findings]

CHECKS: Final[tuple[tuple[str, tuple[Check, ...]], ...]] = (
    ("program", (of_program.python, of_program.release, of_program.parts)),
    ("boards", (of_boards.ports, of_boards.boards, of_boards.latency, of_boards.pins)),
    (
        "computer",
        (
            of_computer.clock,
            of_computer.disk,
            of_computer.runtime_dir,
            of_computer.swap,
            of_computer.cores,
            of_computer.power,
            of_computer.heat,
        ),
    ),
    ("table", (of_table.users, of_table.keys, of_table.services, of_table.feed)),
)
"""Every check, under what it is about; a technician mends them from the first red one on."""


def run_checks(config: TableConfig, facts: DoctorFacts) -> dict[str, tuple[Finding, ...]]:
    """Return what every check finds, by what it is about. Each finds something."""
    return {
        about: tuple(one for check in checks for one in check(config, facts))
        for about, checks in CHECKS
    }


def verdict(findings: dict[str, tuple[Finding, ...]]) -> Light:
    """Return the worst light of all; what is not known is no worse than green."""
    lights = {one.light for part in findings.values() for one in part}
    return next((light for light in (Light.RED, Light.AMBER) if light in lights), Light.GREEN)
