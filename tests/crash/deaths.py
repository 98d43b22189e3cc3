"""The moments at which daemons die in tests, and the deal in which they die."""

import random

from sim.tables.daemon_death import DaemonDeath

FAULTS = ("wrong_pocket:at=20", "unreadable:at=60,times=4")
"""A misdeal in the first attempt, and a card of the second attempt that goes to the tray."""
AS_IT_GOES = [("misdeal", ["WRONG_POCKET"]), ("ok", [])]
"""How the attempts of a deal with FAULTS end."""
ENTRIES = 61
"""The number of entries of a deal with FAULTS in which no daemon dies."""
BEHIND_S = (0.0, 0.0, 0.001, 0.02, 0.15, 0.4, 1.7)
"""The time from an entry to the death: none, or in the middle of what follows the entry."""
AWAY_S = (0.0, 0.3, 2.0, 30.0)
"""The time without a daemon. Boards continue for half a second without one."""


def evenly(times: int, first: int, entries: int) -> list[DaemonDeath]:
    """Return `times` deaths, evenly over the entries of a journal from `first` on."""
    chance = random.Random("deaths")
    return [
        DaemonDeath(
            first + n * (entries - first + 1) // times,
            BEHIND_S[n % len(BEHIND_S)],
            chance.choice(AWAY_S),
        )
        for n in range(times)
    ]


def in_a_row(number: int, steps: tuple[int, ...]) -> list[DaemonDeath]:
    """Return some deaths in successive daemons, each so many of `steps` entries after the last.

    A daemon may die before it did anything.
    """
    chance, entry, row = random.Random(f"row {number}"), 0, []
    for _ in range(chance.randint(2, 7)):
        entry += chance.choice(steps)
        row.append(DaemonDeath(entry, chance.choice(BEHIND_S), chance.choice(AWAY_S)))
    return row
