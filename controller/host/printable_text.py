"""Functions that make untrusted text safe to print: short, printable and on one line."""

import re
import unicodedata
from typing import Final

MAX_SHOWN_CHARACTERS = 60
"""Maximum number of characters of a value or key that are shown."""
MAX_LINE_CHARS: Final = 2_000
"""Maximum number of characters that are shown of a line."""
_NOT_ASCII: Final = re.compile(r"[^\x20-\x7e\n]")


def escape_unprintable(text: str) -> str:
    """Return `text` with an escape in place of each character that is not printable."""
    return "".join(
        sign if is_printable(sign) else sign.encode("unicode_escape").decode() for sign in text
    )


def toml_text(value: object) -> str:
    """Return `value` as it would look in a TOML file, shortened to at most 60 characters."""
    return shorten(_toml_value(value))


def is_printable(character: str) -> bool:
    """Return False for line breaks, control, format and unassigned characters, otherwise True."""
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
    """Return `text`, cut off if it is longer than `max_length`. Cut-off text ends with "..."."""
    return text if len(text) <= max_length else text[: max_length - 3] + "..."


def safe_line(text: str) -> str:
    """Return `text` as one line of limited length, with unprintable characters escaped."""
    return escape_unprintable(shorten(text, MAX_LINE_CHARS))


def safe_json(text: str) -> str:
    """Return the JSON text `text` with JSON escapes for unprintable characters except newlines."""
    return _NOT_ASCII.sub(_escape_for_json, text)


def _escape_for_json(match: re.Match[str]) -> str:
    if is_printable(match[0]):
        return match[0]
    units = match[0].encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))
