"""Who gave an order, in the words that rows and people read: a person, and the key in his hand."""

import re
from typing import Final


def signed_by(name: str, person: str | None) -> str:
    """Return the name of a key's certificate, behind the person's who said that it is his."""
    return name if person is None else f"{person} ({name})"


def names_in(by: object) -> frozenset[str]:
    """Return the names, of a person and of a key, in what `signed_by` says; none in no text.

    Each is without what makes two spellings of one name: case, and the width of its spaces.
    """
    if not isinstance(by, str):
        return frozenset()
    both = _BOTH.fullmatch(by)
    told = (by,) if both is None else both.groups()
    return frozenset(" ".join(name.split()).casefold() for name in told)


_BOTH: Final = re.compile(r"([^()]+) \(([^()]+)\)")
"""Neither name has brackets."""
