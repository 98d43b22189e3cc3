"""A test over many rows fails where one of them does, and each row that fails is reported."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.rows import each_row

FAILING = """
import pytest
from tests.rows import each_row

@each_row(("number", "expected"), [(1, 1), (2, 3), (4, 4), (5, 6)])
def test_rows_that_fail(number, expected):
    assert number == expected, "differs"

@each_row("text", ["1.5", "1", None])
def test_rows_that_raise_or_fail_to_raise(text):
    with pytest.raises(ValueError, match="invalid literal"):
        int(text)

@each_row("number", [7, 7])
def test_two_rows_of_one_name(number):
    raise AssertionError(number)
"""
FAILED = [
    ("test_rows_that_fail", "(2, 3)"),
    ("test_rows_that_fail", "(5, 6)"),
    ("test_rows_that_raise_or_fail_to_raise", "'1'"),
    ("test_rows_that_raise_or_fail_to_raise", "None"),
    ("test_two_rows_of_one_name", "7"),
    ("test_two_rows_of_one_name", "7"),
]


def test_every_row_that_fails_is_reported_and_no_other(tmp_path: Path) -> None:
    (tmp_path / "test_failing.py").write_text(FAILING)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-c", "/dev/null", tmp_path],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
    )
    lines = [line for line in done.stdout.splitlines() if line.startswith("SUBFAILED")]
    assert len(lines) == len(FAILED), done.stdout
    for line, (test, row) in zip(lines, FAILED, strict=True):
        assert test in line
        assert line.startswith(f"SUBFAILED[{row}]")
    assert done.returncode == 1


def test_a_catalogue_without_a_row_is_refused() -> None:
    with pytest.raises(ValueError, match="no row of number"):
        each_row("number", [])


_seen: list[tuple[int, str]] = []


@each_row("number", [1, 2])
@each_row("letter", "ab")
def test_fixtures_are_handed_on_and_decorators_multiply(
    number: int, letter: str, tmp_path: Path
) -> None:
    assert tmp_path.is_dir()
    _seen.append((number, letter))
    assert len(_seen) == len(set(_seen)) <= 4
