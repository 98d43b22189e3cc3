"""The order in which people look for tables and areas: 2 before 10."""

import re
from typing import Final

_DIGITS: Final = re.compile(r"([0-9]+)")


def natural_sort_key(name: str) -> tuple[str | int, ...]:
    """Return the key that sorts names by their numbers, as static/js/rows.mjs does."""
    return tuple(
        int(part) if at % 2 else part.lower() for at, part in enumerate(_DIGITS.split(name))
    )
