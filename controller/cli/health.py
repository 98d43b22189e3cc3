"""`dealtable health`: what a table's journal tells of wear, on one page."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import click
import msgspec

from controller.acceptance.health import (
    SET,
    Did,
    Found,
    Health,
    Mark,
    attempts_of,
    health_of,
    parts,
    signs,
)
from controller.acceptance.report import Report
from controller.cli import LineError
from controller.cli.selftest import FOLDER, reports, told_of
from controller.cli.wall import wall
from controller.journal.chain import Break, follow
from controller.journal.entries import Entry
from controller.journal.errors import JournalError
from controller.journal.store import STORE_NAME, read_rows
from controller.tomlwords import printable
from controller.whole_files import put_over

MARKS: Final = "service.json"
"""In a state directory: what was cleaned and replaced, and when."""
_REPORTS: Final = 5
EPILOG: Final = """\b
Examples:
  dealtable health /var/lib/dealtable/T01
  dealtable health state --cleaned rollers --who "Li Wei"
  dealtable health state --replaced set:S1
  dealtable health state --json
"""


@click.command(epilog=EPILOG)
@click.argument("state_dir", type=click.Path(path_type=Path), metavar="STATE_DIR")
@click.option("--cleaned", multiple=True, metavar="PART", help="Note that it was cleaned, today.")
@click.option("--replaced", multiple=True, metavar="PART", help="Note that it was replaced, today.")
@click.option("--who", default="", metavar="NAME", help="Who did it.")
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
def command(
    state_dir: Path, cleaned: tuple[str, ...], replaced: tuple[str, ...], who: str, as_json: bool
) -> None:
    """Show what the journal in STATE_DIR tells of wear, and what is to be done when.

    It may be asked while the table runs. PART is rollers, reader, sensors, lift, motors,
    shuffler, or a set as set:ID; what was cleaned or replaced is counted anew. That note lies in
    the state directory and is nobody's signed word: the journal has no entry for it.

    Exit 0; 2 where there is no journal.
    """
    last = 0

    def counted() -> Iterator[Entry]:
        nonlocal last
        for entry in _entries(state_dir / STORE_NAME):
            last = entry.n
            yield entry

    try:
        attempts = attempts_of(counted())
    except JournalError as error:
        raise LineError(printable(str(error))) from None
    known = {f"{SET}:{attempt.card_set}" for attempt in attempts} | set(parts())
    marks = _marks(state_dir)
    new = _new(cleaned, "cleaned", known, last, who) + _new(replaced, "replaced", known, last, who)
    if new:
        _keep(state_dir, [*marks, *new])
    health = health_of(attempts, [*marks, *new], last)
    if as_json:
        click.echo(msgspec.json.encode(health))
    else:
        click.echo("\n".join(_page(health, reports(state_dir / FOLDER)[:_REPORTS])))


def _entries(path: Path) -> Iterator[Entry]:
    with read_rows(path) as rows:
        for one in follow(rows):
            if isinstance(one, Break):
                raise JournalError(f"{path}: entry {one.n} {one.what}: see `dealtable verify`")
            yield one.entry


def _new(names: tuple[str, ...], did: Did, known: set[str], n: int, who: str) -> list[Mark]:
    for name in names:
        if name not in known:
            raise LineError(f"there is no {name!r} here: one of {', '.join(sorted(known))}")
    return [Mark(n, wall(), name, did, who) for name in names]


def _marks(state_dir: Path) -> list[Mark]:
    path = state_dir / MARKS
    try:
        return msgspec.json.decode(path.read_bytes(), type=list[Mark])
    except FileNotFoundError:
        return []
    except (OSError, ValueError) as error:
        raise LineError(f"{path}: {error}: mend the file, or move it away") from None


def _keep(state_dir: Path, marks: list[Mark]) -> None:
    path = state_dir / MARKS
    try:
        put_over(path, msgspec.json.format(msgspec.json.encode(marks)) + b"\n", 0o644)
    except OSError as error:
        raise LineError(f"{path}: {error.strerror}") from None


def _page(health: Health, tests: list[Report]) -> Iterator[str]:
    whole = health.whole
    yield (
        f"{whole.cards} cards in {whole.attempts} attempts, {whole.deals} deals played; "
        f"{whole.refed} fed again, {whole.extra_looks} looked at again, {whole.jams} jams, "
        f"{whole.doubles} doubles, {whole.stalls} stalls"
    )
    for one in health.found:
        yield f"{_DUE[one.due]} {_line(one)}"
    for one in health.due:
        sign = signs()[one.sign]
        yield f"{_DUE[one.due]}: {_part(one.part)}: {sign.do_en} / {sign.do_zh}"
    yield from map(told_of, tests)


def _line(found: Found) -> str:
    sign = signs()[found.sign]
    value = "too few cards" if found.value is None else f"{found.value:g}"
    since = f", {found.since[:10]}" if found.since else ""
    return f"{_part(found.part)}: {sign.en}: {value} (due at {found.now:g}{since})"


def _part(part: str) -> str:
    words = parts().get(part)
    return printable(part) if words is None else f"{words.zh} {words.en}"


_DUE: Final = {"fine": "  ", "soon": "! ", "now": "!!"}
