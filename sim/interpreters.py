"""What boards that are processes run under: CPython or MicroPython, and another firmware."""

import os
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

from drivers import firmware

DRIVERS = Path(firmware.__file__).parent.parent
FETCHED_MICROPYTHON = DRIVERS.parent / ".micropython" / "micropython"


@dataclass(frozen=True)
class Interpreter:
    """How to run the firmware: the command before the board's own words, and what it needs.

    `folder` names the variable that says where packages lie, and the firmware below there.
    """

    command: tuple[str, ...]
    environment: Mapping[str, str]
    package_location: tuple[str, str]

    def with_foreign_firmware(self, root: Path) -> "Interpreter":
        """Return how to run another firmware: a copy below `root` that has one file more."""
        variable, below = self.package_location
        copy = root / "foreign" / below
        if not copy.exists():
            own = shutil.ignore_patterns("__pycache__")
            shutil.copytree(DRIVERS / "firmware", copy, ignore=own)
            (copy.parent / "__init__.py").touch()  # a package, lest the one it shadows be taken
            (copy / "foreign.py").write_text('"""Makes this another firmware."""\n')
        return replace(self, environment=MappingProxyType({variable: str(root / "foreign")}))


def cpython_interpreter() -> Interpreter:
    """Run boards under the Python that runs this process."""
    path = os.pathsep.join(filter(None, (str(DRIVERS.parent), os.environ.get("PYTHONPATH"))))
    return Interpreter(
        (sys.executable, "-P", "-m", "drivers.firmware.main"),
        MappingProxyType({"PYTHONPATH": path}),
        ("PYTHONPATH", "drivers/firmware"),
    )


def find_micropython() -> str:
    """Return the path of MicroPython's unix port: named, installed, or fetched into a checkout.

    Raises FileNotFoundError, one line.
    """
    named = os.environ.get("DEALTABLE_MICROPYTHON") or shutil.which("micropython")
    if named is None and FETCHED_MICROPYTHON.exists():
        return str(FETCHED_MICROPYTHON)
    if named is None:
        raise FileNotFoundError(
            "no MicroPython: fetch it with .ci/micropython, put micropython on PATH, "
            "or name it in DEALTABLE_MICROPYTHON"
        )
    if shutil.which(named) is None:
        raise FileNotFoundError(f"DEALTABLE_MICROPYTHON names {named}, which is no program here")
    return named


def micropython_interpreter(program: str) -> Interpreter:
    """Run boards under MicroPython's unix port, which has the firmware as package `firmware`."""
    return Interpreter(
        (program, "-m", "firmware.main"),
        MappingProxyType({"MICROPYPATH": str(DRIVERS)}),
        ("MICROPYPATH", "firmware"),
    )
