"""A journal in which one row was changed and everything chained anew, for every row and field."""

import random
import re
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

import controller.deal
from controller.journal.store import STORE_NAME, open_read_only
from controller.journal.verify import verify
from tests.cheats.changed import Evening, keep
from tests.cheats.evenings import BY_PRESS, LOOKED_AT, STOPPED, TWO_MATCHES, UNCUT_FIRST, WITHDRAWN
from tests.cheats.forgeries import AGREEING, Forgery, forgeries
from tests.cheats.honest_sessions import HonestSessions
from tests.cheats.rows import Rows, changed

pytestmark = [pytest.mark.virtual, pytest.mark.slow]

PAGE = Path(next(iter(controller.deal.__path__))) / "PROOF.md"
_ROW = re.compile(r"^\| (`.*`) \| (`.*`) \| .+ \|$", re.MULTILINE)
"""A line of the table of what `verify` cannot find: kinds of rows, changes, the reason."""
_SEVERAL = re.compile(r"^\| ([a-z][^|`]+) \| [^|]+ \| [^|]+ \|$", re.MULTILINE)
"""A line of its second part: the change, the reason, what shows it all the same."""


def told() -> dict[str, set[str]]:
    """Return what PROOF.md says that `verify` cannot find: changes, by kind of row."""
    _, _, section = PAGE.read_text(encoding="utf-8").partition("### What `dealtable verify` cannot")
    found: dict[str, set[str]] = defaultdict(set)
    for kinds, changes in _ROW.findall(section):
        for kind in re.findall(r"`(.+?)`", kinds):
            found[kind].update(re.findall(r"`(.+?)`", changes))
    return found


def is_told(forgery: Forgery, told_of: dict[str, set[str]]) -> bool:
    """Tell whether PROOF.md names a change, of such a row or of all rows of its kind."""
    names = (forgery.kind, forgery.kind.partition(".")[0])
    return any(forgery.change in told_of.get(name, ()) for name in names)


def named_of_several() -> set[str]:
    """Return the changes of several rows that PROOF.md names."""
    _, _, section = PAGE.read_text(encoding="utf-8").partition("**Several rows that agree.**")
    table, _, _ = section.partition("\n## ")
    return {change for change in _SEVERAL.findall(table) if change != "change"}


@pytest.mark.parametrize(
    "evening",
    [LOOKED_AT, STOPPED, TWO_MATCHES, UNCUT_FIRST, WITHDRAWN, BY_PRESS],
    ids=lambda one: one.name,
)
async def test_every_change_of_a_row_is_found_but_those_that_the_page_names(
    honest: HonestSessions, evening: Evening, scale: Callable[[int], int]
) -> None:
    left = await honest.spend(evening)
    with open_read_only(left.state_dir / STORE_NAME) as lying:
        rows: Rows = [msgspec.json.decode(row.body) for row in lying]
    told_of, every = told(), list(forgeries(rows))
    chosen = random.Random(evening.name).sample(every, min(scale(len(every)), len(every)))
    unfound = set()
    for forgery in chosen:

        def forge(lines: Rows, instead: Rows = forgery.rows) -> None:
            lines[:] = instead

        report, _ = changed(left.state_dir, forge)
        if not report.findings and not is_told(forgery, told_of):
            unfound.add((forgery.kind, forgery.change))
    assert unfound == set()


def test_the_page_names_every_change_of_several_rows_that_is_made_here() -> None:
    assert named_of_several() == set(AGREEING)


@pytest.mark.parametrize("name", AGREEING)
async def test_several_rows_that_agree_are_found_by_heads_that_others_kept(
    honest: HonestSessions, name: str, tmp_path: Path
) -> None:
    forgery = AGREEING[name]
    left = await honest.spend(forgery.evening)
    report, _ = changed(left.state_dir, forgery.change)
    assert report.findings == []
    kept = keep(tmp_path / "kept.jsonl", [], left.events)
    assert verify(left.state_dir, kept).findings != []
