"""The few inputs that are kept: those that run, between them, the most of the house's code."""

import hashlib
import random
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from types import FrameType
from typing import Any

from tests.fuzz.targets import CORPUS, HERE, PACKAGES, Function, Target, corpus, function

MOST_FILES = 5
MOST_BYTES = 6_000
"""Of one target; with names a person gave are kept beside them, whatever they run."""
_HASHED = re.compile(r"[0-9a-f]{16}")
MOST_TRIED = 150
"""So many of what a search found are looked at; a look takes a while."""

Arc = tuple[str, int, int]


def arcs_of(run: Function, data: bytes, packages: tuple[str, ...] = PACKAGES) -> set[Arc]:
    """The steps from line to line that an input makes in the house's own code."""
    own = tuple(str(HERE.parent.parent / package) for package in packages)
    found: set[Arc] = set()

    def line(frame: FrameType, event: str, arg: Any) -> Any:
        if event == "line":
            code = frame.f_code
            found.add((code.co_filename, last.get(id(frame), 0), frame.f_lineno))
            last[id(frame)] = frame.f_lineno
        return line

    def call(frame: FrameType, event: str, arg: Any) -> Any:
        last.pop(id(frame), None)
        return line if frame.f_code.co_filename.startswith(own) else None

    last: dict[int, int] = {}
    before = sys.gettrace()
    sys.settrace(call)
    try:
        run(data)
    finally:
        sys.settrace(before)
    return found


def _arcs_if_it_holds(run: Function, data: bytes, packages: tuple[str, ...]) -> set[Arc] | None:
    """Return the arcs of an input; None for a find, which is saved elsewhere."""
    try:
        return arcs_of(run, data, packages)
    except Exception:
        return None


def keep(target: Target, more: Iterable[Path]) -> tuple[int, int]:
    """Choose again what is kept of a target; return how many files and bytes that is.

    Files whose names people gave stay; the others are chosen greedily by what they run that
    no chosen one does, for their size.
    """
    run = function(target)
    named = [path for path in corpus(target.name) if not _HASHED.fullmatch(path.name)]
    chosen: list[bytes] = []
    covered: set[Arc] = set()
    run(b"")  # what is done once and kept is nobody's merit
    for path in named:
        covered |= arcs_of(run, path.read_bytes(), target.packages)
    found = sorted(path.read_bytes() for path in more)
    some = random.Random(0).sample(found, min(len(found), MOST_TRIED))
    others = {path.read_bytes() for path in corpus(target.name) if path not in named}.union(some)
    runs = [
        (data, arcs)
        for data in sorted(others, key=len)
        if (arcs := _arcs_if_it_holds(run, data, target.packages)) is not None
    ]
    room = MOST_BYTES
    while len(chosen) < MOST_FILES:
        fitting = [(data, arcs) for data, arcs in runs if len(data) <= room and arcs - covered]
        if not fitting:
            break
        data, arcs = max(fitting, key=lambda one: len(one[1] - covered) / (len(one[0]) + 300))
        chosen.append(data)
        covered |= arcs
        room -= len(data)
    _write(target, chosen)
    kept = corpus(target.name)
    return len(kept), sum(path.stat().st_size for path in kept)


def _write(target: Target, chosen: list[bytes]) -> None:
    folder = CORPUS / target.name
    folder.mkdir(parents=True, exist_ok=True)
    for path in corpus(target.name):
        if _HASHED.fullmatch(path.name):
            path.unlink()
    for data in chosen:
        (folder / hashlib.sha256(data).hexdigest()[:16]).write_bytes(data)
