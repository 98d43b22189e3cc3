"""Docstrings and comments name what exists: files, errors, fields and parameters."""

import ast
import builtins
import io
import re
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.architecture import house

WRITTEN_BY_PEOPLE = {"tables.toml", "profiles/NAME.toml"}
"""Files that docstrings name and the repository does not have."""
OF_OTHERS = {"auth", "flock", "nohup", "preexec_fn", "pytest_asyncio_loop_factories", "repr"}
"""Names of Python, of libraries and of other programs."""

_FILE = re.compile(r"[\w/.-]*\b\w+\.(?:py|md|toml|mjs)\b")
_RAISES = re.compile(r"Raises? ((?:[A-Z]\w+(?:, (?:and )?| or | and )?)+)")
_IN_TICKS = re.compile(r"`((?:[A-Za-z_]\w*\.)*)([A-Za-z_]\w*)(?:\(\w*\))?`")
_WORD = re.compile(r"\w+")


def missing_files(text: str) -> Iterator[str]:
    """Yield the files in a text that the repository does not have; an end of a path is enough."""
    for name in _FILE.findall(text):
        path = name.lstrip("./")
        if path not in _path_ends() | WRITTEN_BY_PEOPLE:
            yield name


def missing_errors(text: str) -> Iterator[str]:
    """Yield the errors that a text promises and that exist nowhere."""
    for promised in _RAISES.findall(text):
        for name in re.findall(r"[A-Z]\w+", promised):
            if not hasattr(builtins, name) and name not in _all_code_words():
                yield name


def missing_names(text: str, path: Path) -> Iterator[str]:
    """Yield the names in backticks that neither the file's code nor a whole string or data has."""
    for owner, name in _IN_TICKS.findall(text):
        known = name in code_words(path) or name in _shared_words()
        known = known or (owner and name in _all_code_words())
        if not known and not name.startswith("_") and not name.endswith("_"):
            yield name


@cache
def code_words(path: Path) -> frozenset[str]:
    """Return all words in a file's code: its names, and its strings except docstrings."""
    prose = {line for line, _ in house.prose_lines(path)}
    words: set[str] = set()
    for token in tokenize.generate_tokens(io.StringIO(path.read_text("utf-8")).readline):
        if token.type == tokenize.NAME or (
            token.type == tokenize.STRING and token.start[0] not in prose
        ):
            words |= set(_WORD.findall(token.string))
    return frozenset(words)


@cache
def _path_ends() -> frozenset[str]:
    """Return each tracked path and each end of it that begins with a folder or is the name."""
    ends: set[str] = set()
    for path in house.tracked_files(""):
        parts = path.relative_to(house.ROOT).parts
        ends |= {"/".join(parts[first:]) for first in range(len(parts))}
    return frozenset(ends)


@cache
def _shared_words() -> frozenset[str]:
    return _literals() | _data_words() | _module_names() | OF_OTHERS


@cache
def _all_code_words() -> frozenset[str]:
    return frozenset().union(*map(code_words, house.product_modules().values()))


@cache
def _literals() -> frozenset[str]:
    return frozenset(
        node.value
        for path in house.product_modules().values()
        for node in ast.walk(ast.parse(path.read_bytes()))
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and re.fullmatch(r"[\w.-]+", node.value)
    )


@cache
def _data_words() -> frozenset[str]:
    files = house.tracked_files(".toml", ".json", ".mjs", ".html", ".sh", ".service")
    return frozenset().union(*(_WORD.findall(path.read_text("utf-8")) for path in files))


@cache
def _module_names() -> frozenset[str]:
    return frozenset(name.rpartition(".")[2] for name in house.product_modules())


def prose_texts(path: Path) -> Iterator[str]:
    """Yield the docstrings and comments of a file, each run of lines as one text.

    Examples of the command line are left out: they name files of the reader's own.
    """
    runs: list[list[str]] = []
    before = -1
    for number, line in house.prose_lines(path):
        if number != before + 1:
            runs.append([])
        runs[-1].append(line.strip().lstrip("# "))
        before = number
    for run in runs:
        if not run[0].startswith('"""\\b'):
            yield " ".join(run)


def test_files_errors_and_names_in_docstrings_exist() -> None:
    stale = [
        f"{path.relative_to(house.ROOT)}: {name}"
        for path in house.product_modules().values()
        for text in prose_texts(path)
        for name in (*missing_files(text), *missing_errors(text), *missing_names(text, path))
    ]
    assert stale == []


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("The map is in acts_of_old.py.", ["acts_of_old.py"]),
        ("Raises ValueError, OrderRefusedOfOld.", ["OrderRefusedOfOld"]),
        ("`tables` are the tables, `lines_of_old` their lines.", ["lines_of_old"]),
        ("Raises RequestError. See routing.py, and `accounts`.", []),
    ],
)
def test_a_stale_name_is_found(text: str, missing: list[str]) -> None:
    path = house.product_modules()["controller.console.console"]
    assert [*missing_files(text), *missing_errors(text), *missing_names(text, path)] == missing
