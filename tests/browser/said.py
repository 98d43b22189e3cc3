"""What a page says, in the language of who reads it: by the keys of the pages' own words."""

import json
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from controller.faults import Language

WORDS = Path(__file__).parents[2] / "controller" / "console" / "static" / "words"
BOTH: tuple[Language, ...] = ("zh", "en")
_COMMENT = re.compile(r"^\s*//.*$", re.MULTILINE)
_LAST_COMMA = re.compile(r",(?=\s*[}\]])")
_HEAD, _FOOT = "export default ", ";"


def read(path: Path) -> dict[str, list[str]]:
    """Return the words of one of these files: {key: [zh, en]}.

    They are written as JSON with comments and last commas. Raises ValueError where one is not.
    """
    plain = _LAST_COMMA.sub("", _COMMENT.sub("", path.read_text(encoding="utf-8"))).strip()
    words: dict[str, list[str]] = json.loads(plain.removeprefix(_HEAD).removesuffix(_FOOT))
    return words


@cache
def pages_words() -> dict[str, list[str]]:
    """Return the words of all pages: a key means the same on each."""
    return {key: pair for path in WORDS.glob("*.mjs") for key, pair in read(path).items()}


@dataclass(frozen=True)
class Said:
    """What is said in one language."""

    language: Language

    def __call__(self, key: str, **values: str | int) -> str:
        """Return a page's own words for `key`, with {name} replaced by the value of that name."""
        words = self.either(*pages_words()[key])
        for name, value in values.items():
            words = words.replace(f"{{{name}}}", str(value))
            how_many = r"\1" if str(value) == "1" else r"\2"
            words = re.sub(rf"\{{{name}\|([^|{{}}]*)\|([^|{{}}]*)\}}", how_many, words)
        return words

    def act_why(self, act: str, why: str, person: str) -> str:
        """Return the beginning of the line of what a person ordered of an area, and why."""
        told = {"act": self(f"area-act.{act}"), "why": why, "person": person}
        return self("area.act-why", **told, time="").rstrip(" ,")

    def either(self, zh: str, en: str) -> str:
        """Return one of two: of what a table, a rulebook or a sentence of several parts says."""
        return zh if self.language == "zh" else en

    def seat(self, seat: str) -> str:
        """Return what a seat is called."""
        return self(f"seat.{seat}")

    def side(self, side: str) -> str:
        """Return what a side is called."""
        return self(f"side.{side}")
