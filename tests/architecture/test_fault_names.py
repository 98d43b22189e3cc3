import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from controller.faults import catalogue

NAME = re.compile(r"[A-Z]+(_[A-Z]+)+")

# Words of this form that are something else: an argument's name in a help text.
NO_FAULTS = {"STATE_DIR"}


def test_every_fault_named_in_the_code_is_in_the_catalogue(pytestconfig: pytest.Config) -> None:
    unknown = [
        f"{file.relative_to(pytestconfig.rootpath)}:{line}: {name}"
        for file in sorted((pytestconfig.rootpath / "controller").rglob("*.py"))
        for line, name in names_in(file)
        if name not in catalogue() and name not in NO_FAULTS
    ]
    assert not unknown


def names_in(file: Path) -> Iterator[tuple[int, str]]:
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        match node:
            case ast.Constant(value=str(text)) if NAME.fullmatch(text):
                yield node.lineno, text
