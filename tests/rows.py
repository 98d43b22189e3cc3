"""Tests over the rows of a catalogue: one test, with a subtest for each row."""

import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest

Test = Callable[..., None]


def each_row(
    names: str | tuple[str, ...], rows: Iterable[Any], *, ids: Callable[[Any], str] | None = None
) -> Callable[[Test], Test]:
    """Return a decorator that runs a test once for each row, as one test with pytest's subtests.

    `names` and `rows` are those of `pytest.mark.parametrize`. Use this decorator for rows that are
    looked up in a moment, and `parametrize` where each row takes long. Every row runs, and each row
    that fails is reported. Fixtures are made once for all rows.
    """
    several = not isinstance(names, str)
    arguments = (names,) if isinstance(names, str) else names
    every, name_of = list(rows), ids or _name
    if not every:
        raise ValueError(f"there is no row of {', '.join(arguments)}")

    def decorate(test: Test) -> Test:
        signature = inspect.signature(test)
        asked = [one for name, one in signature.parameters.items() if name not in arguments]
        stacked = "subtests" in signature.parameters  # another catalogue's rows for each row
        if not stacked:
            asked.append(inspect.Parameter("subtests", inspect.Parameter.POSITIONAL_OR_KEYWORD))

        @functools.wraps(test)
        def run_every_row(**given: Any) -> None:
            subtests: pytest.Subtests = given["subtests"] if stacked else given.pop("subtests")
            for row in every:
                values: Sequence[Any] = row if several else (row,)
                with subtests.test(name_of(row)):
                    test(**dict(zip(arguments, values, strict=True)), **given)

        run_every_row.__signature__ = signature.replace(parameters=asked)  # type: ignore[attr-defined]
        return run_every_row

    return decorate


def _name(row: object) -> str:
    name = row.__name__ if isinstance(row, type) else getattr(row, "name", None)
    return name if isinstance(name, str) else repr(row)
