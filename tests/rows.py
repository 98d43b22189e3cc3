"""Tests over the rows of a catalogue: one test, which runs once for each row."""

import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest

Test = Callable[..., None]


def each_row(
    names: str | tuple[str, ...], rows: Iterable[Any], *, ids: Callable[[Any], str] | None = None
) -> Callable[[Test], Test]:
    """Return a decorator that runs a test once for each row, as one test.

    `names` and `rows` are those of `pytest.mark.parametrize`. Use this decorator for rows that are
    looked up in a moment, and `parametrize` where each row takes long. Every row runs, and the
    failure lists each row that failed. Fixtures are made once for all rows.
    """
    several = not isinstance(names, str)
    arguments = (names,) if isinstance(names, str) else names
    every, name_of = list(rows), ids or _name
    if not every:
        raise ValueError(f"there is no row of {', '.join(arguments)}")

    def decorate(test: Test) -> Test:
        signature = inspect.signature(test)
        fixtures = [one for name, one in signature.parameters.items() if name not in arguments]

        @functools.wraps(test)
        def run_every_row(**given: Any) -> None:
            failures: list[tuple[str, BaseException]] = []
            for row in every:
                values: Sequence[Any] = row if several else (row,)
                try:
                    test(**dict(zip(arguments, values, strict=True)), **given)
                except (Exception, pytest.fail.Exception) as error:
                    failures.append((name_of(row), error))
            if failures:
                lines = (f"{row}: {_said(error)}" for row, error in failures)
                text = f"{len(failures)} of {len(every)} rows fail:\n" + "\n".join(lines)
                raise AssertionError(text) from failures[0][1]

        run_every_row.__signature__ = signature.replace(parameters=fixtures)  # type: ignore[attr-defined]
        return run_every_row

    return decorate


def _name(row: object) -> str:
    name = row.__name__ if isinstance(row, type) else getattr(row, "name", None)
    return name if isinstance(name, str) else repr(row)


def _said(error: BaseException) -> str:
    return str(error) if isinstance(error, AssertionError) else f"{type(error).__name__}: {error}"
