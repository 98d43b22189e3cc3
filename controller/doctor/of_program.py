"""Python, the release, and the parts that were installed with it."""

from typing import Final

from controller.config import TableConfig
from controller.doctor.facts import DoctorFacts
from controller.doctor.finding import DoctorFindings, amber, green, red

OLDEST_PYTHON: Final = (3, 11)
SANDBOXED_COMPUTERS: Final = ("aarch64", "x86_64")
"""Where the kernel is asked to refuse the machine any network (controller/cli/hardening.py)."""
_MAX_LINES: Final = 3
_REINSTALL_ADVICE: Final = "install the release again: deploy/install.sh"


def check_python(config: TableConfig, facts: DoctorFacts) -> DoctorFindings:
    """Python 3.11 or later, of 64 bits, on a computer whose kernel keeps the network out."""
    own = facts.python
    named = f"{'.'.join(map(str, own.version))}, {own.bits} bit, {own.computer}"
    if own.version[:2] < OLDEST_PYTHON:
        do = "install Debian 12 or later, or Raspberry Pi OS of 64 bits"
        yield red("python", f"{named}: older than 3.11", do)
    elif own.bits != 64:
        yield red("python", f"{named}: no wheels for it", "install the system's 64-bit edition")
    elif own.computer not in SANDBOXED_COMPUTERS:
        yield amber(
            "python",
            f"{named}: here the kernel does not keep the machine off the network",
            "run the machine under its systemd unit, which does (deploy/units)",
        )
    else:
        yield green("python", named)


def check_libraries(config: TableConfig, facts: DoctorFacts) -> DoctorFindings:
    """Every library imports, and ZeroMQ has its encryption."""
    for part in facts.libraries:
        if part.trouble:
            yield red(
                "wheels", f"{part.name} cannot be imported: {part.trouble}", _REINSTALL_ADVICE
            )
        elif part.curve is False:
            yield red("wheels", f"{part.name} {part.version} has no CURVE", _REINSTALL_ADVICE)
    if not any(part.trouble or part.curve is False for part in facts.libraries):
        yield green("wheels", ", ".join(f"{part.name} {part.version}" for part in facts.libraries))


def check_release(config: TableConfig, facts: DoctorFacts) -> DoctorFindings:
    """The program is a release, every file as it was released, and no older one than before."""
    program, known = facts.program, facts.program.release
    if program.trouble:
        yield red("release", program.trouble, _REINSTALL_ADVICE)
        return
    if program.differences:
        more = len(program.differences) - _MAX_LINES
        lines = [*program.differences[:_MAX_LINES], *([f"and {more} more"] if more > 0 else [])]
        yield red("release", "; ".join(lines), _REINSTALL_ADVICE)
    if known is None:
        if not program.differences:
            what = f"{program.version}: of no release, a program out of a checkout"
            yield amber("release", what, "install a signed release: deploy/install.sh")
        return
    named = f"{known.version} (serial {known.serial}, {known.date})"
    if known.version != program.version:
        what = f"{program.version} is installed, its manifest is that of {named}"
        yield red("release", what, _REINSTALL_ADVICE)
    elif known.signed is None and not program.differences:
        what = f"{named}: every file as released; nobody checked who signed it"
        yield amber("release", what, "name the release's public key: --key release.key")
    elif not program.differences:
        yield green("release", f"{named}: every file as released, signed by that key")
