import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from controller.faults import fault_catalogue

NAME = re.compile(r"[A-Z]+(_[A-Z]+)+")

# Where each name must be in the catalogue. The simulator below these has names of its own.
HOUSE = (
    "controller",
    *("sim/bench", "sim/campaign", "sim/cli", "sim/lab", "sim/people", "sim/tables"),
)

# Words of this form that are something else: an argument in a help text, a variable.
NO_FAULTS = {
    *("STATE_DIR", "DEALTABLE_LOG_LEVEL", "LG_WD", "SC_CLK_TCK", "PRETTY_NAME"),
    *("NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"),  # systemd's words to a service
}


def test_every_fault_named_in_the_code_is_in_the_catalogue(pytestconfig: pytest.Config) -> None:
    unknown = [
        f"{file.relative_to(pytestconfig.rootpath)}:{line}: {name}"
        for package in HOUSE
        for file in sorted((pytestconfig.rootpath / package).rglob("*.py"))
        for line, name in names_in(file)
        if name not in fault_catalogue() and name not in NO_FAULTS
    ]
    assert not unknown


# Where names are told, shown or weighed: a name that stands nowhere else is raised by nobody.
TELLING = (
    *(
        "controller/machine/public",
        "controller/machine/panel_control.py",
        "controller/machine/machine_metrics.py",
    ),
    *("controller/journal/verify", "controller/commands/table_arguments.py"),
)


def test_every_fault_of_the_catalogue_is_raised_somewhere(pytestconfig: pytest.Config) -> None:
    raised: set[str] = set()
    for file in (pytestconfig.rootpath / "controller").rglob("*.py"):
        path = str(file.relative_to(pytestconfig.rootpath))
        if not path.startswith(TELLING):
            raised |= {word for _, word in words_in(file)}
    assert not fault_catalogue().keys() - raised


def names_in(file: Path) -> Iterator[tuple[int, str]]:
    """Return the words that look like a fault, but for the file's own names in `__all__`."""
    exported = exported_names(file)
    return (
        (line, word)
        for line, word in words_in(file)
        if NAME.fullmatch(word) and word not in exported
    )


def exported_names(file: Path) -> frozenset[str]:
    for node in ast.parse(file.read_text("utf-8")).body:
        match node:
            case ast.Assign(targets=[ast.Name("__all__")], value=names):
                return frozenset(ast.literal_eval(names))
    return frozenset()


@cache
def words_in(file: Path) -> list[tuple[int, str]]:
    return list(_words_in(file))


def _words_in(file: Path) -> Iterator[tuple[int, str]]:
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        match node:
            case ast.Constant(value=str(text)):
                yield node.lineno, text
