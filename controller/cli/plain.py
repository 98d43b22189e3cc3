"""What a table says, as it may be shown on a terminal: whoever has its gateway may say anything."""

import re
from typing import Final

from controller.tomlwords import escape_unprintable, is_printable, short

LONGEST_LINE: Final = 2_000
"""Characters of a line for people that are shown."""

_NOT_ASCII: Final = re.compile(r"[^\x20-\x7e\n]")


def plain(text: str) -> str:
    """Return text as one line of bounded length, in which nothing steers the terminal."""
    return escape_unprintable(short(text, LONGEST_LINE))


def safe_json(text: str) -> str:
    """Return JSON as the same JSON in which nothing steers the terminal: its escapes are JSON's."""
    return _NOT_ASCII.sub(_escape, text)


def _escape(sign: re.Match[str]) -> str:
    if is_printable(sign[0]):
        return sign[0]
    units = sign[0].encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))
