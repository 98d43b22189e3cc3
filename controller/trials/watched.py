"""What many small looks at a console come to: times until something is drawn, memory. Pure."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence
from itertools import combinations
from statistics import median, quantiles
from typing import Final

import msgspec

from controller.trials.feeds import CallChange
from controller.trials.pixels import DrawnChange

MIN_SLOPE_S: Final = 300.0
"""What was watched for less tells of its beginning alone, and of no slope."""
_MAX_SAMPLES: Final = 200
"""Samples between which slopes are taken."""


class TimeSummary(msgspec.Struct, frozen=True):
    """Times in milliseconds: how many, their median, the 95th of a hundred, the longest."""

    count: int
    p50_ms: float
    p95_ms: float
    most_ms: float


class MemoryUse(msgspec.Struct, frozen=True):
    """Memory in MiB while it was watched: first, last, and the most.

    `mib_per_hour`: how it grew over the last two thirds of that time, the median of the slopes
    between all samples, so that what comes and goes does not count; None for under five minutes.
    """

    first_mib: float
    last_mib: float
    most_mib: float
    mib_per_hour: float | None


def draw_delays_ms(called: Sequence[CallChange], drawn: Sequence[DrawnChange]) -> list[float]:
    """Return how long after each change it was drawn, on each page where it was.

    A change that was over before it could be drawn, and one drawn later than the next, are none.
    `called` is in order.
    """
    by_table: dict[str, list[CallChange]] = defaultdict(list)
    for one in called:
        by_table[one.id].append(one)
    found = []
    for seen in drawn:
        changes = by_table[seen.table]
        before = bisect_right(changes, seen.at_ms, key=lambda one: one.at_ms)
        if before and changes[before - 1].calls == seen.calls:
            found.append(seen.at_ms - changes[before - 1].at_ms)
    return found


def summarize_times(all_ms: Sequence[float]) -> TimeSummary | None:
    """Return what some times have in common; None for none."""
    if not all_ms:
        return None
    of_two = all_ms if len(all_ms) > 1 else (*all_ms, *all_ms)  # a single one is all of them
    hundredths = quantiles(of_two, n=100, method="inclusive")
    return TimeSummary(
        len(all_ms), round(hundredths[49], 1), round(hundredths[94], 1), round(max(all_ms), 1)
    )


def summarize_memory(samples: Sequence[tuple[float, float]]) -> MemoryUse:
    """Return what samples (seconds, MiB) tell, one at least, in their order."""
    all_mib = [mib for _, mib in samples]
    last_s = samples[-1][0]
    late = [one for one in samples if one[0] >= last_s / 3]
    late = late[:: 1 + len(late) // _MAX_SAMPLES]
    slope = None
    if last_s >= MIN_SLOPE_S:
        slopes = (
            (mib - was) / (at_s - was_s) for (was_s, was), (at_s, mib) in combinations(late, 2)
        )
        slope = round(median(slopes) * 3_600, 2)
    return MemoryUse(round(all_mib[0], 2), round(all_mib[-1], 2), round(max(all_mib), 2), slope)
