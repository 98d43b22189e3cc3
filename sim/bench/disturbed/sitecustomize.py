"""A disturbance inside one process of a table. Python imports this module before the program.

    DEALTABLE_DISTURBED=PART:WAY    PART: machine or gateway; WAY: one of WAYS

No code of a table refers to this module. `bench reaction` puts its folder on PYTHONPATH.
"""

import gc
import os
import sys
import threading
import time

KEPT = 300_000
"""The number of dictionaries, and of lists, that the garbage collector examines."""
PASS_S = 0.5
"""The time between two collections: about fifty cards at the pace of the plant."""


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
    if _way == "collect":  # these objects exist before those that the program makes at its start
        kept += [({"number": number}, [number]) for number in range(KEPT)]
    threading.Thread(target=WAYS[_way], daemon=True).start()
