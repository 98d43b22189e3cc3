"""Text from a table in a safe form for the terminal, because a gateway may be compromised."""

import re
from typing import Final

from controller.host.printable_text import escape_unprintable, is_printable, shorten

MAX_LINE_CHARS: Final = 2_000
"""Maximum number of characters that are shown of a line."""

_NOT_ASCII: Final = re.compile(r"[^\x20-\x7e\n]")


def safe_line(text: str) -> str:
    """Return text as one line of bounded length, without characters that control the terminal."""
    return escape_unprintable(shorten(text, MAX_LINE_CHARS))


def safe_json(text: str) -> str:
    """Return the same JSON with all unprintable characters escaped, so that it is safe to print."""
    return _NOT_ASCII.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    if is_printable(match[0]):
        return match[0]
    units = match[0].encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))
