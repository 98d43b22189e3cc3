"""A test over many rows fails where one of them does, and its failure names that row."""

from pathlib import Path

import pytest

from tests.rows import each_row


@each_row(("number", "expected"), [(1, 1), (2, 3), (4, 4), (5, 6)])
def _doubtful(number: int, expected: int) -> None:
    assert number == expected, "differs"


def test_a_failure_names_every_row_that_fails_and_no_other() -> None:
    with pytest.raises(AssertionError) as failed:
        _doubtful()
    lines = str(failed.value).splitlines()
    assert lines[0] == "2 of 4 rows fail:"
    assert [line.partition(":")[0] for line in lines if "differs" in line] == ["(2, 3)", "(5, 6)"]


def test_a_row_that_raises_or_fails_to_raise_is_named_too() -> None:
    @each_row("text", ["1.5", "1", None])
    def is_no_number(text: str) -> None:
        with pytest.raises(ValueError, match="invalid literal"):
            int(text)

    with pytest.raises(AssertionError) as failed:
        is_no_number()
    assert "'1': Failed: DID NOT RAISE" in str(failed.value)
    assert "None: TypeError: int() argument" in str(failed.value)
    assert "1.5" not in str(failed.value)


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


def test_rows_of_one_name_are_counted_one_by_one() -> None:
    with pytest.raises(AssertionError, match="2 of 2 rows fail"):
        each_row("number", [7, 7])(_fails)()


def _fails(number: int) -> None:
    raise AssertionError(number)
