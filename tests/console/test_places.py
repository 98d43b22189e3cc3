"""Every command has a place on a page of the console, where a referee looks for it."""

import json
import re
from pathlib import Path
from typing import Any, Final

from controller.commands.registry import COMMANDS

STATIC = Path(__file__).parents[2] / "controller" / "console" / "static"
_PLACES = (STATIC / "js" / "table" / "button-places.mjs").read_text(encoding="utf-8")
ELSEWHERE: Final = {
    "rulings": (
        "propose",
        "approve",
        "reject",
        "confirm_verbal",
        "adjust",
        "recount",
        "forfeit",
        "extra_deal",
    ),
    "sheet": ("sign",),
}
"""Commands whose button is on another page."""


def places() -> Any:
    """Return the JSON of button-places.mjs."""
    found = re.search(r"/\* places \*/\nexport const \w+ = (.*?);\n/\*", _PLACES, re.DOTALL)
    assert found is not None
    return json.loads(found[1])


def test_every_command_that_changes_something_has_a_place_on_a_page() -> None:
    here = {cmd for cmds in places().values() for cmd in cmds}
    elsewhere = {cmd for cmds in ELSEWHERE.values() for cmd in cmds}
    assert here | elsewhere == {cmd for cmd, order in COMMANDS.items() if order.signed}
    assert not here & elsewhere


def test_no_command_stands_twice_in_one_group() -> None:
    assert all(len(set(cmds)) == len(cmds) for cmds in places().values())


def test_what_is_on_another_page_is_really_named_there() -> None:
    for page, cmds in ELSEWHERE.items():
        sources = [*STATIC.glob(f"js/{page}*.mjs"), *STATIC.glob(f"js/{page}/*.mjs")]
        text = "".join(source.read_text(encoding="utf-8") for source in sources)
        assert [cmd for cmd in cmds if not re.search(rf'"{cmd}"|\b{cmd}:', text)] == []


def test_what_is_likely_next_has_its_button_on_this_page() -> None:
    found = re.search(r"export const NEXT = \{(.*?)\n\};", _PLACES, re.DOTALL)
    assert found is not None
    here = {cmd for cmds in places().values() for cmd in cmds}
    assert set(re.findall(r'"(\w+)"', found[1])) <= here
