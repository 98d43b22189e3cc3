"""What disturbs one process of a table from within; Python reads this before the program.

    DEALTABLE_DISTURBED=PART:WAY    PART: machine or gateway; WAY: one of WAYS

Nothing of a table knows of it: `bench reaction` lets it be found by its folder, on PYTHONPATH.
"""

import gc
import os
import sys
import threading
import time

KEPT = 300_000
"""Dictionaries, and as many lists, for the collector to look at."""
PASS_S = 0.5
"""Between two collections: about fifty cards, at the pace of the plant."""


def _use_processor() -> None:
    number = 0
    while True:
        number += 1


def _collect_garbage() -> None:
    while kept:
        time.sleep(PASS_S)
        gc.collect()


WAYS = {"hog": _use_processor, "collect": _collect_garbage}
kept: list[tuple[dict[str, int], list[int]]] = []

_part, _, _way = os.environ.get("DEALTABLE_DISTURBED", "").partition(":")
if _part and f"run {_part} " in " ".join(sys.orig_argv):
    if _way == "collect":  # there before the program is, as what a program builds at its start
        kept += [({"number": number}, [number]) for number in range(KEPT)]
    threading.Thread(target=WAYS[_way], daemon=True).start()
