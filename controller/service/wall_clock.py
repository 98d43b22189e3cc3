"""The wall clock of this computer, for code that takes time stamps as arguments."""

import time
from datetime import UTC, datetime


def read_wall_clock() -> str:
    """Return the time of day as a time stamp in UTC, to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def read_wall_clock_ms() -> int:
    """Return the time of day in milliseconds since 1970."""
    return time.time_ns() // 1_000_000
