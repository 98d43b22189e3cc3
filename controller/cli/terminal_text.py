"""What a table says, as it may be shown on a terminal: whoever has its gateway may say anything."""

import re
from typing import Final

from controller.host.printable_text import escape_unprintable, is_printable, shorten

MAX_LINE_CHARS: Final = 2_000
"""Characters of a line for people that are shown."""

_NOT_ASCII: Final = re.compile(r"[^\x20-\x7e\n]")


def safe_line(text: str) -> str:
    """Return text as one line of bounded length, in which nothing steers the terminal."""
    return escape_unprintable(shorten(text, MAX_LINE_CHARS))


def safe_json(text: str) -> str:
    """Return JSON as the same JSON in which nothing steers the terminal: its escapes are JSON's."""
    return _NOT_ASCII.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    if is_printable(match[0]):
        return match[0]
    units = match[0].encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))
