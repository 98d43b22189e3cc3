"""Clock, disk, memory, power and heat of the computer that a table runs on."""

from datetime import UTC, datetime
from typing import Final

from controller.config import TableConfig
from controller.doctor.facts import DoctorFacts
from controller.doctor.finding import DoctorFindings, amber, green, red, unknown

MIN_FREE_BYTES: Final = 64 << 20
"""Below it a match's journal may not fit (provisional); a full disk stops a table at once."""
GOOD_FREE_BYTES: Final = 1 << 30
"""A season's journals, and room to upgrade (provisional)."""
WARM_C: Final = 70.0
HOT_C: Final = 80.0
"""At 80 °C a Pi begins to run slower."""
MEMORY_FILE_SYSTEMS: Final = ("tmpfs", "ramfs")

UNDER_VOLTAGE: Final = 1 << 0
THROTTLED: Final = 1 << 1 | 1 << 2 | 1 << 3
SINCE_START_SHIFT: Final = 16
"""The bits from here on: since the computer started."""
_SUPPLY_ADVICE: Final = "take the Pi's own supply and a short, thick cable"


def check_clock(config: TableConfig, facts: DoctorFacts) -> DoctorFindings:
    """The wall's clock is kept right by somebody, and can be: certificates end by it."""
    known, released = facts.clock, facts.program.release
    if released is not None and known.now < datetime.fromisoformat(released.date).replace(
        tzinfo=UTC
    ):
        what = f"it is {known.now:%Y-%m-%d %H:%M} UTC here, before this release was made"
        yield red("clock", what, "set the clock: timedatectl set-ntp true")
    elif known.synchronized is None:
        yield unknown("clock", "whether somebody keeps it right", "timedatectl timesync-status")
    elif not known.synchronized:
        what = f"{known.now:%Y-%m-%d %H:%M} UTC, kept right by nobody"
        do = "timedatectl set-ntp true, and let it reach a time server; or set it by hand each day"
        yield amber("clock", what, do)
    else:
        yield green("clock", f"{known.now:%Y-%m-%d %H:%M} UTC, synchronised")


def check_disk(config: TableConfig, facts: DoctorFacts) -> DoctorFindings:
    """The journal can be written, and has room."""
    folder, known = config.table.state_dir, facts.disk
    room = f"{known.free_bytes / (1 << 30):.1f} GiB free"
    user = config.table.user or "this user"
    if known.is_read_only:
        do = "mount it to be written to; a worn SD card makes itself so: replace it"
        yield red("disk", f"{folder} lies on a disk that is only read", do)
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
    """The keys of the present deal lie in memory."""
    folder, kind = config.table.runtime_dir, facts.memory.runtime_on
    if kind is None:
        yield unknown("runtime_dir", f"what {folder} lies on", f"findmnt -T {folder}")
    elif kind not in MEMORY_FILE_SYSTEMS:
        do = "name a folder under /run or /dev/shm"
        what = f"{folder} lies on a disk ({kind}), and the keys of the present deal with it"
        yield red("runtime_dir", what, do)
    else:
        yield green("runtime_dir", f"{folder} lies in memory ({kind})")


def check_swap(config: TableConfig, facts: DoctorFacts) -> DoctorFindings:
    """Memory is never written to a disk."""
    swaps = facts.memory.swaps
    if swaps is None:
        yield unknown("swap", "whether memory is swapped to a disk", "swapon --show")
    elif swaps:
        do = "swapoff -a, and keep it off: deploy/INSTALL.md"
        yield red("swap", f"memory, keys and faces too, is written to {', '.join(swaps)}", do)
    else:
        yield green("swap", "off: memory stays in memory")


def check_core_dumps(config: TableConfig, facts: DoctorFacts) -> DoctorFindings:
    """What a process leaves that crashed is nobody's to read."""
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
    """The supply holds its voltage, and the processor its speed."""
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
    """The processor is cool enough to keep its speed."""
    celsius = facts.supply.celsius
    if celsius is None:
        yield unknown("temperature", "no sensor says it", "feel whether the box is hot")
    elif celsius >= HOT_C:
        yield red("temperature", f"{celsius:.0f} °C: it runs slower", "give the box air, a fan")
    elif celsius >= WARM_C:
        yield amber("temperature", f"{celsius:.0f} °C", "give the box air")
    else:
        yield green("temperature", f"{celsius:.0f} °C")
