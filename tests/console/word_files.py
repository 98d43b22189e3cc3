"""The files that hold the words of the console's pages."""

import json
from functools import cache
from pathlib import Path

from py_mini_racer import MiniRacer

STATIC = Path(__file__).parents[2] / "controller" / "console" / "static"
WORDS = sorted((STATIC / "words").glob("*.mjs"))


@cache
def taught(path: Path) -> dict[str, list[str]]:
    """Return the words of a file as the browser has them: {key: [zh, en]}."""
    script = path.read_text(encoding="utf-8").replace("export default", "const words =")
    words: dict[str, list[str]] = json.loads(
        str(MiniRacer().eval(f"{script};JSON.stringify(words)"))
    )
    return words
