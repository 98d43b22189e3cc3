"""Checks of the computer, the program and the table, and the list of all checks.

Each check yields at least one finding from the facts, and reads nothing else.
"""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Final

from controller.config import TableConfig
from controller.doctor import board_checks
from controller.doctor.examination import (
    DoctorFinding,
    DoctorFindings,
    FindingLight,
    amber,
    green,
    red,
    unknown,
)
from controller.doctor.table_facts import DoctorFacts

MIN_FREE_BYTES: Final = 64 << 20
"""The minimum free space.

With less, a match's journal may not fit (provisional). A full disk stops a table at once.
"""
GOOD_FREE_BYTES: Final = 1 << 30
"""The free space for a season's journals and an upgrade (provisional)."""
WARM_C: Final = 70.0
HOT_C: Final = 80.0
"""A Raspberry Pi begins to run slower at 80 °C."""
MEMORY_FILE_SYSTEMS: Final = ("tmpfs", "ramfs")

UNDER_VOLTAGE: Final = 1 << 0
THROTTLED: Final = 1 << 1 | 1 << 2 | 1 << 3
SINCE_START_SHIFT: Final = 16
"""The first of the bits for the time since the computer started."""
_SUPPLY_ADVICE: Final = "take the Pi's own supply and a short, thick cable"


def check_clock(config: TableConfig, facts: DoctorFacts) -> DoctorFindings:
    """Check that the wall clock is synchronised. Certificates expire by this clock."""
    known, released = facts.clock, facts.program.release
    if released is not None and known.now < datetime.fromisoformat(released.date).replace(
        tzinfo=UTC
    ):
        what = f"it is {known.now:%Y-%m-%d %H:%M} UTC here, before this release was made"
        yield red("clock", what, "set the clock: timedatectl set-ntp true")
    elif known.synchronized is None:
        yield unknown("clock", "whether somebody keeps it right", "timedatectl timesync-status")
    elif not known.synchronized:
        what = f"{known.now:%Y-%m-%d %H:%M} UTC, not synchronized"
        do = "timedatectl set-ntp true, and let it reach a time server; or set it by hand each day"
        yield amber("clock", what, do)
    else:
        yield green("clock", f"{known.now:%Y-%m-%d %H:%M} UTC, synchronised")


def check_disk(config: TableConfig, facts: DoctorFacts) -> DoctorFindings:
    """Check that the journal can be written and has enough space."""
    folder, known = config.table.state_dir, facts.disk
    room = f"{known.free_bytes / (1 << 30):.1f} GiB free"
    user = config.table.user or "this user"
    if known.is_read_only:
        do = "mount it to be written to; a worn SD card makes itself so: replace it"
        yield red("disk", f"{folder} is on a read-only disk", do)
    elif known.exists and not known.is_writable:
        yield red("disk", f"{user} may not write {folder}", f"chown -R {user} it")
    elif known.free_bytes < MIN_FREE_BYTES:
        yield red("disk", f"{folder}: {room}", "carry old journals away, with their heads")
    elif not known.exists:
        do = "`dealtable run` as root makes it, or `dealtable keys create --config`"
        yield amber("disk", f"{folder} is not there yet; {room}", do)
    elif known.free_bytes < GOOD_FREE_BYTES:
        yield amber("disk", f"{folder}: {room}", "carry old journals away, with their heads")
    else:
        yield green("disk", f"{folder}: {room}")


def check_runtime_dir(config: TableConfig, facts: DoctorFacts) -> DoctorFindings:
    """Check that the folder with the keys of the present deal is in memory, not on a disk."""
    folder, kind = config.table.runtime_dir, facts.memory.runtime_on
    if kind is None:
        yield unknown("runtime_dir", f"the file system of {folder}", f"findmnt -T {folder}")
    elif kind not in MEMORY_FILE_SYSTEMS:
        do = "name a folder under /run or /dev/shm"
        what = f"{folder} is on a disk ({kind}), with the keys of the present deal"
        yield red("runtime_dir", what, do)
    else:
        yield green("runtime_dir", f"{folder} is in memory ({kind})")


def check_swap(config: TableConfig, facts: DoctorFacts) -> DoctorFindings:
    """Check that memory is never swapped to a disk."""
    swaps = facts.memory.swaps
    if swaps is None:
        yield unknown("swap", "whether memory is swapped to a disk", "swapon --show")
    elif swaps:
        do = "swapoff -a, and keep it off: deploy/INSTALL.md"
        yield red("swap", f"memory, keys and faces too, is written to {', '.join(swaps)}", do)
    else:
        yield green("swap", "off: memory stays in memory")


def check_core_dumps(config: TableConfig, facts: DoctorFacts) -> DoctorFindings:
    """Check that no core dump (the memory of a crashed process) is stored or collected."""
    pattern, limit = facts.memory.core_pattern, facts.memory.core_limit
    if limit is not None and limit != "0 0":
        do = "start it by its unit or by `dealtable run`, and nothing else"
        yield red("core dumps", f"the machine that runs may leave one (limit {limit})", do)
    elif pattern is None:
        yield unknown("core dumps", "where they go", "sysctl kernel.core_pattern")
    elif pattern.startswith("|"):
        what = f"{pattern[1:].split()[0]} collects them; the machine gives none, the gateway would"
        yield amber("core dumps", what, "sysctl -w kernel.core_pattern=core, and remove it")
    else:
        yield green("core dumps", "no program collects them, and no process of a table leaves one")


def check_power(config: TableConfig, facts: DoctorFacts) -> DoctorFindings:
    """Check that voltage and processor speed have not dropped since the computer started."""
    bits, alarm = facts.supply.throttled, facts.supply.has_alarm
    if bits is None and alarm is None:
        do = "on a Raspberry Pi: vcgencmd get_throttled, as root"
        yield unknown("supply", "its voltage; no part here measures it", do)
        return
    bits = bits or 0
    if bits & UNDER_VOLTAGE or alarm:
        yield red("supply", "its voltage is too low now", _SUPPLY_ADVICE)
    elif bits & THROTTLED:
        do = f"{_SUPPLY_ADVICE}; give the Pi air"
        yield red("supply", f"the processor runs slower now (bits {bits:x})", do)
    elif bits >> SINCE_START_SHIFT:
        do = f"{_SUPPLY_ADVICE}; give the Pi air; it is forgotten at the next start"
        yield amber("supply", f"it was too low, or too hot, since the start (bits {bits:x})", do)
    else:
        yield green("supply", "the voltage is right, and was since the start")


def check_heat(config: TableConfig, facts: DoctorFacts) -> DoctorFindings:
    """Check that the computer is not too hot. A hot processor runs slower."""
    celsius = facts.supply.celsius
    if celsius is None:
        yield unknown("temperature", "no sensor measures it", "feel whether the box is hot")
    elif celsius >= HOT_C:
        yield red("temperature", f"{celsius:.0f} °C: it runs slower", "give the box air, a fan")
    elif celsius >= WARM_C:
        yield amber("temperature", f"{celsius:.0f} °C", "give the box air")
    else:
        yield green("temperature", f"{celsius:.0f} °C")


OLDEST_PYTHON: Final = (3, 11)
SANDBOXED_COMPUTERS: Final = ("aarch64", "x86_64")
"""The kinds of computer whose kernel can deny the machine all network access.

See controller/service/sandbox.py.
"""
_MAX_LINES: Final = 3
_REINSTALL_ADVICE: Final = "install the release again: deploy/install.sh"


def check_python(config: TableConfig, facts: DoctorFacts) -> DoctorFindings:
    """Check that Python is 3.11 or later and has 64 bits.

    The kernel of this kind of computer should also be able to deny network access.
    """
    own = facts.python
    named = f"{'.'.join(map(str, own.version))}, {own.bits} bit, {own.computer}"
    if own.version[:2] < OLDEST_PYTHON:
        do = "install Debian 12 or later, or Raspberry Pi OS of 64 bits"
        yield red("python", f"{named}: older than 3.11", do)
    elif own.bits != 64:
        yield red("python", f"{named}: no wheels for it", "install the system's 64-bit edition")
    elif own.computer not in SANDBOXED_COMPUTERS:
        what = f"{named}: here the kernel does not keep the machine off the network"
        do = "run the machine under its systemd unit, which does (deploy/units)"
        yield amber("python", what, do)
    else:
        yield green("python", named)


def check_libraries(config: TableConfig, facts: DoctorFacts) -> DoctorFindings:
    """Check that all needed libraries can be imported, and that ZeroMQ supports encryption."""
    for part in facts.libraries:
        if part.trouble:
            what = f"{part.name} cannot be imported: {part.trouble}"
            yield red("wheels", what, _REINSTALL_ADVICE)
        elif part.curve is False:
            yield red("wheels", f"{part.name} {part.version} has no CURVE", _REINSTALL_ADVICE)
    if not any(part.trouble or part.curve is False for part in facts.libraries):
        yield green("wheels", ", ".join(f"{part.name} {part.version}" for part in facts.libraries))


def check_release(config: TableConfig, facts: DoctorFacts) -> DoctorFindings:
    """Check that the installed program is a signed release, and that none of its files changed.

    It must not be older than a release that the table has used before.
    """
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
        what = f"{named}: every file as released; the signature was not checked"
        yield amber("release", what, "name the release's public key: --key release.key")
    elif not program.differences:
        yield green("release", f"{named}: every file as released, signed by that key")


_LOCAL_PREFIXES: Final = ("tcp://127.", "tcp://localhost:", "tcp://[::1]:")


def check_keys(config: TableConfig, facts: DoctorFacts) -> DoctorFindings:
    """Check that the table has its own keys and a chief's key, and that no key expires soon."""
    known, place = facts.keys, config.gateway_dir
    if known.closed_folder:
        what = f"what {known.closed_folder} holds, which is closed to this user"
        yield unknown("keys", what, "ask as root")
        return
    if known.are_missing:
        do = f"dealtable keys create --config {facts.config_file}"
        yield amber("keys", "none yet: the first start makes them, and a chief's with them", do)
        return
    if known.trouble:
        yield red("keys", known.trouble, "dealtable keys create mends what is missing")
        return
    if not known.chiefs:
        what = f"{place / 'admitted'}: no chief's key to seal a deal to: the table won't start"
        yield red("keys", what, f"dealtable keys admit {place} CHIEF.key")
    for name in known.expired:
        do = f"dealtable keys rotate {place} {name}, or `keys revoke`"
        yield amber("keys", f"the key of {name} is over", do)
    for name in known.expiring:
        do = f"dealtable keys rotate {place} {name}"
        yield amber("keys", f"the key of {name} ends within a week", do)
    if known.chiefs and not known.expired and not known.expiring:
        yield green("keys", f"{known.clients} admitted, {known.chiefs} of them a chief")


def check_users(config: TableConfig, facts: DoctorFacts) -> DoctorFindings:
    """Check that machine and gateway are configured as two separate users that exist."""
    if facts.users_problem:
        yield red("users", facts.users_problem, "do that, or start `dealtable run` once as root")
    elif config.gateway.user is None:
        do = "name two: table.user and gateway.user; deploy/install.sh makes them"
        yield amber("users", "machine and gateway are one user: who has one has the other", do)
    else:
        yield green("users", f"machine {config.table.user}, gateway {config.gateway.user}, apart")


def check_services(config: TableConfig, facts: DoctorFacts) -> DoctorFindings:
    """Check that both services of the table run, and that they start with the computer."""
    if facts.services is None:
        yield unknown("services", "systemd does not run it", "see that something starts the table")
        return
    for service in facts.services:
        name, active = service.name, service.active
        if service.load != "loaded":
            yield amber("services", f"{name} is not installed", "deploy/install.sh installs it")
        elif active == "failed":
            yield red("services", f"{name} has failed", f"journalctl -u {name} shows why")
        elif active not in ("active", "reloading"):
            yield amber("services", f"{name} does not run ({active})", f"systemctl start {name}")
        elif service.enabled != "enabled":
            do = f"systemctl enable {name}"
            yield amber("services", f"{name} runs, and not again after the next start", do)
        else:
            yield green("services", f"{name} runs")


def check_feed(config: TableConfig, facts: DoctorFacts) -> DoctorFindings:
    """Check that the table's feed can be received, and that the table has no alert."""
    known = facts.feed
    if known.address is None:
        addresses = (config.gateway.feed, config.gateway.commands)
        local = [one for one in addresses if one.startswith(_LOCAL_PREFIXES)]
        for address in known.taken_addresses:
            do = "end that program, or give the gateway another port"
            yield red("feed", f"another program listens at the port of {address}", do)
        if local and config.table.backend == "serial":
            do = 'write gateway.feed = "tcp://*:5556", and commands likewise'
            what = f"{', '.join(local)}: no console on another computer reaches it"
            yield amber("feed", what, do)
        if not known.taken_addresses:
            yield unknown("feed", "no gateway of this table runs", "start the table, and ask again")
    elif known.trouble:
        do = "see that the gateway runs: systemctl status, or the log of `dealtable run`"
        yield red("feed", f"{known.address}: {known.trouble}", do)
    elif known.has_no_key:
        what = f"whether {known.address}, which is open, is this table's gateway"
        yield unknown("feed", what, "ask as root, or dealtable watch with an admitted key")
    elif known.alerts:
        do = "do what the table asks for: dealtable watch"
        yield amber("feed", f"{known.state_text}, and calls: {', '.join(known.alerts)}", do)
    else:
        yield green("feed", f"{known.state_text}, at {known.address}")
    if known.address is not None:
        port = known.address.rpartition(":")[2]
        do = f"on the console's computer: dealtable watch tcp://THIS:{port}"
        yield unknown("firewall", "whether other computers come through to the feed", do)


DoctorCheck = Callable[[TableConfig, DoctorFacts], DoctorFindings]

DOCTOR_CHECKS: Final[Mapping[str, tuple[DoctorCheck, ...]]] = {
    "program": (check_python, check_release, check_libraries),
    "boards": (
        *(board_checks.check_ports, board_checks.check_boards),
        *(board_checks.check_latency, board_checks.check_pins),
    ),
    "computer": (
        *(check_clock, check_disk, check_runtime_dir, check_swap),
        *(check_core_dumps, check_power, check_heat),
    ),
    "table": (check_users, check_keys, check_services, check_feed),
}
"""All checks of each subject, in the order of the page.

A technician repairs the red findings in this order.
"""


def run_checks(config: TableConfig, facts: DoctorFacts) -> dict[str, tuple[DoctorFinding, ...]]:
    """Run all checks and return {subject: findings}, for example the subject `boards`."""
    return {
        about: tuple(one for check in checks for one in check(config, facts))
        for about, checks in DOCTOR_CHECKS.items()
    }


def worst_light(findings: dict[str, tuple[DoctorFinding, ...]]) -> FindingLight:
    """Return the colour of the worst finding: red, amber or green. UNKNOWN counts as green."""
    lights = {one.light for part in findings.values() for one in part}
    bad = (FindingLight.RED, FindingLight.AMBER)
    return next((light for light in bad if light in lights), FindingLight.GREEN)
