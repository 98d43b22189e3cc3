"""`dealtable health`: the wear of a table, from its journal, on one page."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import click
import msgspec

from controller.acceptance.selftest_report import SelftestReport
from controller.acceptance.wear_signs import (
    SET_PART,
    ServiceKind,
    ServiceNote,
    WearReport,
    count_attempts,
    report_wear,
    service_parts,
    wear_signs,
)
from controller.cli import CliError
from controller.cli.options import ANY_PATH
from controller.cli.selftest import REPORTS_FOLDER, format_report_line, read_reports
from controller.host.atomic_files import replace_file
from controller.host.printable_text import escape_unprintable
from controller.journal.entries import ChainBreak, JournalEntry, JournalError, walk_chain
from controller.journal.store import STORE_NAME, open_read_only
from controller.service.wall_clock import read_wall_clock

SERVICE_FILE: Final = "service.json"
"""File in a state directory with the dates of cleaned and replaced parts."""
EPILOG: Final = """\b
Examples:
  dealtable health /var/lib/dealtable/T01
  dealtable health state --cleaned rollers --who "Li Wei"
  dealtable health state --replaced set:S1
  dealtable health state --json
"""


@click.command(epilog=EPILOG)
@click.argument("state_dir", type=ANY_PATH, metavar="STATE_DIR")
@click.option("--cleaned", multiple=True, metavar="PART", help="Note that it was cleaned, today.")
@click.option("--replaced", multiple=True, metavar="PART", help="Note that it was replaced, today.")
@click.option("--who", default="", metavar="NAME", help="Who did it.")
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
def command(
    state_dir: Path, cleaned: tuple[str, ...], replaced: tuple[str, ...], who: str, as_json: bool
) -> None:
    """Show the wear of the table in STATE_DIR, and the maintenance that is due.

    The table may run meanwhile. PART is rollers, reader, sensors, lift, motors, shuffler, or a set
    as set:ID. The counters of a cleaned or replaced part start again from 0. That note is a file in
    the state directory. It is not signed, and the journal has no entry for it.

    Exit 0; 2 if there is no journal.
    """
    last = 0

    def read_entries() -> Iterator[JournalEntry]:
        nonlocal last
        path = state_dir / STORE_NAME
        with open_read_only(path) as rows:
            for one in walk_chain(rows):
                if isinstance(one, ChainBreak):
                    raise JournalError(f"{path}: entry {one.n} {one.what}: see `dealtable verify`")
                last = one.entry.n
                yield one.entry

    try:
        attempts = count_attempts(read_entries())
    except JournalError as error:
        raise CliError(escape_unprintable(str(error))) from None
    known = {f"{SET_PART}:{attempt.card_set}" for attempt in attempts} | set(service_parts())
    path = state_dir / SERVICE_FILE
    try:
        marks = msgspec.json.decode(path.read_bytes(), type=list[ServiceNote])
    except FileNotFoundError:
        marks = []
    except (OSError, ValueError) as error:
        raise CliError(f"{path}: {error}: mend the file, or move it away") from None
    new = _make_marks(cleaned, "cleaned", known, last, who) + _make_marks(
        replaced, "replaced", known, last, who
    )
    if new:
        noted = msgspec.json.format(msgspec.json.encode([*marks, *new])) + b"\n"
        try:
            replace_file(path, noted, 0o644)
        except OSError as error:
            raise CliError(f"{path}: {error.strerror}") from None
    health = report_wear(attempts, [*marks, *new], last)
    if as_json:
        click.echo(msgspec.json.encode(health))
    else:
        reports = read_reports(state_dir / REPORTS_FOLDER)[:5]
        click.echo("\n".join(_format_page(health, reports)))


def _make_marks(
    names: tuple[str, ...], did: ServiceKind, known: set[str], n: int, who: str
) -> list[ServiceNote]:
    for name in names:
        if name not in known:
            raise CliError(f"there is no {name!r} here: one of {', '.join(sorted(known))}")
    return [ServiceNote(n, read_wall_clock(), name, did, who) for name in names]


def _format_page(health: WearReport, tests: list[SelftestReport]) -> Iterator[str]:
    whole = health.whole
    yield (
        f"{whole.cards} cards in {whole.attempts} attempts, {whole.deals} deals played; "
        f"{whole.refed} fed again, {whole.extra_looks} looked at again, {whole.jams} jams, "
        f"{whole.doubles} doubles, {whole.stalls} stalls"
    )
    for one in health.found:
        sign, part = wear_signs()[one.sign], _format_part(one.part)
        value = "too few cards" if one.value is None else f"{one.value:g}"
        since = f", {one.since[:10]}" if one.since else ""
        yield f"{_DUE_SIGNS[one.due]} {part}: {sign.en}: {value} (due at {one.now:g}{since})"
    for one in health.due:
        sign = wear_signs()[one.sign]
        yield f"{_DUE_SIGNS[one.due]}: {_format_part(one.part)}: {sign.do_en} / {sign.do_zh}"
    yield from map(format_report_line, tests)


def _format_part(part: str) -> str:
    words = service_parts().get(part)
    return escape_unprintable(part) if words is None else f"{words.zh} {words.en}"


_DUE_SIGNS: Final = {"fine": "  ", "soon": "! ", "now": "!!"}
