"""All checks in the order of the page, and what it comes to."""

from collections.abc import Callable
from typing import Final

from controller.config import TableConfig
from controller.doctor import of_boards, of_computer, of_program, of_table
from controller.doctor.facts import DoctorFacts
from controller.doctor.finding import DoctorFinding, DoctorFindings, FindingLight

DoctorCheck = Callable[[TableConfig, DoctorFacts], DoctorFindings]

DOCTOR_CHECKS: Final[tuple[tuple[str, tuple[DoctorCheck, ...]], ...]] = (
    ("program", (of_program.check_python, of_program.check_release, of_program.check_libraries)),
    (
        "boards",
        (
            of_boards.check_ports,
            of_boards.check_boards,
            of_boards.check_latency,
            of_boards.check_pins,
        ),
    ),
    (
        "computer",
        (
            of_computer.check_clock,
            of_computer.check_disk,
            of_computer.check_runtime_dir,
            of_computer.check_swap,
            of_computer.check_core_dumps,
            of_computer.check_power,
            of_computer.check_heat,
        ),
    ),
    (
        "table",
        (of_table.check_users, of_table.check_keys, of_table.check_services, of_table.check_feed),
    ),
)
"""Every check, under what it is about; a technician mends them from the first red one on."""


def run_checks(config: TableConfig, facts: DoctorFacts) -> dict[str, tuple[DoctorFinding, ...]]:
    """Return what every check finds, by what it is about. Each finds something."""
    return {
        about: tuple(one for check in checks for one in check(config, facts))
        for about, checks in DOCTOR_CHECKS
    }


def worst_light(findings: dict[str, tuple[DoctorFinding, ...]]) -> FindingLight:
    """Return the worst light of all; what is not known is no worse than green."""
    lights = {one.light for part in findings.values() for one in part}
    return next(
        (light for light in (FindingLight.RED, FindingLight.AMBER) if light in lights),
        FindingLight.GREEN,
    )
