"""Text from strangers in a form that is safe to print: short, printable and on one line."""

import re
import unicodedata
from typing import Final

MAX_SHOWN_CHARACTERS = 60
"""Maximum number of characters of a value or key that are shown."""
MAX_LINE_CHARS: Final = 2_000
"""Maximum number of characters that are shown of a line."""
_NOT_ASCII: Final = re.compile(r"[^\x20-\x7e\n]")


def escape_unprintable(text: str) -> str:
    """Return text as one line, with line breaks, control characters and the like escaped."""
    return "".join(
        sign if is_printable(sign) else sign.encode("unicode_escape").decode() for sign in text
    )


def toml_text(value: object) -> str:
    """Return a value as it is written in a TOML file, shortened if it is long."""
    return shorten(_toml_value(value))


def is_printable(character: str) -> bool:
    """Return True if a character can be printed: no line break, no control, no direction mark."""
    category = unicodedata.category(character)
    return category[0] != "C" and category not in ("Zl", "Zp")


def _toml_value(value: object) -> str:
    match value:
        case str():
            return f'"{value}"'
        case bool():
            return "true" if value else "false"
        case list() | tuple():
            return f"[{', '.join(map(_toml_value, value))}]"
        case dict():
            return f"{{{', '.join(f'{key} = {_toml_value(held)}' for key, held in value.items())}}}"
    return str(value)


def shorten(text: str, max_length: int = MAX_SHOWN_CHARACTERS) -> str:
    """Return text, cut off if it is longer than `max_length` characters."""
    return text if len(text) <= max_length else text[: max_length - 3] + "..."


def safe_line(text: str) -> str:
    """Return text as one line of bounded length, without characters that control the terminal."""
    return escape_unprintable(shorten(text, MAX_LINE_CHARS))


def safe_json(text: str) -> str:
    """Return the same JSON with all unprintable characters escaped, so that it is safe to print."""
    return _NOT_ASCII.sub(_escape_for_json, text)


def _escape_for_json(match: re.Match[str]) -> str:
    if is_printable(match[0]):
        return match[0]
    units = match[0].encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))
