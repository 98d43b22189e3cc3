"""Functions that break Chinese and English text into lines.

A Chinese character takes two cells.

The wrapped text is hashed (regulations_page.py), so every version of Python must produce the same
lines from the same text. A table in this file therefore lists the wide characters.
"""

import re
from collections.abc import Iterable, Iterator

_WIDE_RANGES = (
    (0x1100, 0x115F),  # Hangul
    (0x2E80, 0xA4CF),  # radicals, kana, ideographs, their punctuation
    (0xAC00, 0xD7A3),  # Hangul
    (0xF900, 0xFAFF),  # ideographs
    (0xFE30, 0xFE6F),  # forms of punctuation
    (0xFF00, 0xFF60),  # fullwidth forms
    (0xFFE0, 0xFFE6),
    (0x1F300, 0x1FAFF),  # pictures
    (0x20000, 0x3FFFD),  # rare ideographs
)
_WIDE_CHARACTER = re.compile(
    "[" + "".join(f"{chr(first)}-{chr(last)}" for first, last in _WIDE_RANGES) + "]"
)
_NOT_FIRST = frozenset("，。、；：！？）】》］”’,.;:!?)]}…%")
_NOT_LAST = frozenset("（【《［“‘([{")


def cell_width(text: str) -> int:
    """Return the width of a text in cells, which are the columns of a page.

    A Chinese character takes two cells.
    """
    return len(text) + len(_WIDE_CHARACTER.findall(text))


def wrap(text: str, width: int) -> list[str]:
    """Return lines of at most `width` cells, broken between words or Chinese characters.

    A piece longer than a whole line is broken anywhere.
    """
    lines, line = [], ""
    for gap, piece in _unbroken_pieces(text, width):
        if line and cell_width(line + gap + piece) > width:
            lines.append(line)
            line = piece
        else:
            line += gap + piece if line else piece
    return [*lines, line]


def pack(parts: Iterable[str], width: int) -> list[str]:
    """Return lines of at most `width` cells that contain all `parts`, two blanks apart.

    A part that does not fit begins a new line.
    """
    lines: list[str] = []
    for part in parts:
        if lines and cell_width(f"{lines[-1]}  {part}") <= width:
            lines[-1] += f"  {part}"
        else:
            lines += wrap(part, width)
    return lines


def _unbroken_pieces(text: str, width: int) -> Iterator[tuple[str, str]]:
    """Yield each unbreakable piece of a text, as a pair: the blanks before it, and the piece."""
    for gap, word in re.findall(r"( *)([^ ]+)", text):
        before, piece = gap, ""
        for sign in word:
            breaks = piece and piece[-1] not in _NOT_LAST and sign not in _NOT_FIRST
            wide = breaks and _WIDE_CHARACTER.search(piece[-1] + sign)
            if wide or (piece and cell_width(piece + sign) > width):
                yield before, piece
                before, piece = "", ""
            piece += sign
        yield before, piece
