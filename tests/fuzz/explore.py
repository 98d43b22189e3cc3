"""One target guided by coverage (atheris): what is found is saved, and the search goes on.

libFuzzer itself ends with its first find; here an input that raises is written down once for
each place in the code that it raises at. A hang, or a death of the process, ends the run.
"""

import contextlib
import hashlib
import importlib
import random
import sys
import traceback
from pathlib import Path
from typing import Any

from tests.fuzz.jsonlines import changed, crossed
from tests.fuzz.targets import HERE, PACKAGES, Target, function

ROOT = HERE.parent.parent
HANG_S = 25
"""An input that takes so long hangs (the machine may be busy with other things)."""


class Finds:
    """Inputs that raise, one for each place; `run` takes an input."""

    def __init__(self, target: Target, run: Any, folder: Path) -> None:
        self._target, self._run, self._folder = target, run, folder
        self._known: set[str] = set()

    def run(self, data: bytes) -> None:
        """Run one input, and keep it if it raises where none raised before."""
        try:
            self._run(data)
        except Exception as error:
            place = where(error)
            if place not in self._known:
                self._known.add(place)
                self._keep(data, place, error)

    def _keep(self, data: bytes, place: str, error: Exception) -> None:
        folder = self._folder / self._target.name
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{place}-{hashlib.sha256(data).hexdigest()[:8]}"
        path.write_bytes(data)
        path.with_suffix(".why").write_text("".join(traceback.format_exception(error)))
        sys.stderr.write(f"\nFOUND {path} {type(error).__name__}: {str(error)[:200]}\n")
        sys.stderr.flush()


def where(error: BaseException) -> str:
    """What was raised, and at which line of the house's own code."""
    frames = traceback.extract_tb(error.__traceback__)
    packages = tuple(str(ROOT / package) for package in PACKAGES)
    own = [frame for frame in frames if frame.filename.startswith(packages)] or list(frames)
    last = own[-1]
    return f"{type(error).__name__}-{Path(last.filename).stem}-{last.lineno}"


def explore(target: Target, seconds: int, inputs: list[Path], work: Path, seed: int) -> None:
    """Search for so long; never returns, because libFuzzer ends the process.

    What covers more is kept in `work`/corpus/TARGET, what raises in `work`/found/TARGET.
    """
    atheris: Any = importlib.import_module("atheris")
    with atheris.instrument_imports(include=list(target.packages)):
        run = function(target)
    finds = Finds(target, run, work / "found")
    kept = work / "corpus" / target.name
    kept.mkdir(parents=True, exist_ok=True)
    found = work / "found" / target.name
    found.mkdir(parents=True, exist_ok=True)
    arguments = [
        f"fuzz-{target.name}",
        f"-max_total_time={seconds}",
        f"-max_len={target.most}",
        f"-timeout={HANG_S}",
        f"-seed={seed}",
        f"-artifact_prefix={found}/",
        "-rss_limit_mb=2048",
        "-print_final_stats=1",
        "-len_control=0" if target.lines else "-len_control=50",
    ]
    if target.words:
        arguments.append(f"-dict={_dictionary(target, work)}")
    options = _by_lines(target) if target.lines else {}
    # Everything is read from its folder; what covers more goes into the first of them.
    folders = [str(kept), *map(str, inputs)]
    with contextlib.suppress(KeyboardInterrupt):
        atheris.Setup([*arguments, *folders], finds.run, **options)
        atheris.Fuzz()


def _by_lines(target: Target) -> dict[str, Any]:
    def mutate(data: bytes, most: int, seed: int) -> bytes:
        return changed(bytes(data), random.Random(seed), min(most, target.most))

    def cross(data: bytes, other: bytes, most: int, seed: int) -> bytes:
        return crossed(bytes(data), bytes(other), random.Random(seed), min(most, target.most))

    return {"custom_mutator": mutate, "custom_crossover": cross}


def _dictionary(target: Target, work: Path) -> Path:
    path = work / f"{target.name}.dict"
    lines = ["".join(f"\\x{byte:02x}" for byte in word.encode()) for word in target.words]
    path.write_text("".join(f'"{line}"\n' for line in lines))
    return path
