"""`dealtable selftest`: a test of the whole machine, with measurements from its boards."""

import asyncio
from datetime import datetime
from importlib.metadata import version
from pathlib import Path
from typing import Final

import click
import msgspec
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from controller.acceptance import card_tests
from controller.acceptance.selftest_figures import SelftestFigures, machine_parts
from controller.acceptance.selftest_report import (
    SelftestReport,
    build_report,
    report_page,
    value_text,
)
from controller.acceptance.selftest_run import run_selftest
from controller.acceptance.selftest_session import SelftestSession
from controller.cli import CliError
from controller.cli.maintenance import exclude_machine, open_boards, read_card_set, run_until_signal
from controller.cli.options import ANY_PATH, FILE, FOLDER, WholeNumber
from controller.config import TableConfig, load_table
from controller.host.atomic_files import replace_file
from controller.host.printable_text import escape_unprintable
from controller.release.installed_program import MANIFEST, find_program_folder, measure_release
from controller.release.release_files import read_manifest
from controller.service.wall_clock import read_wall_clock

REPORTS_FOLDER: Final = "selftests"
EPILOG: Final = """\b
Examples:
  dealtable selftest table.toml
  dealtable selftest table.toml --out . --json
"""


@click.command(epilog=EPILOG)
@click.argument("config", type=FILE, metavar="CONFIG")
@click.option("--out", type=FOLDER, help="Where the report goes.")
@click.option(
    "--cards",
    type=WholeNumber(27, 5400),
    default=card_tests.MIN_CARDS,
    show_default=True,
    help="So many cards are looked at, at least.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@click.option("--history", is_flag=True, help="Test nothing: list the reports that are there.")
@click.option("--control", type=ANY_PATH, help="A simulated table's control socket.")
@click.pass_context
def command(
    context: click.Context,
    config: Path,
    out: Path | None,
    cards: int,
    as_json: bool,
    history: bool,
    control: Path | None,
) -> None:
    """Test the whole machine of CONFIG, and write a report.

    The machine must not run, because the test uses both ports. People are asked to open the lid,
    press the emergency stop, hold a card, and carry cards back. At a simulated table this is not
    needed. Every figure has a limit. The result is pass, warn or fail, with the part named and the
    action to take. The report is two files, JSON and Markdown, in the folder `selftests` of the
    state directory or in --out. No face is shown or written anywhere.

    Exit 0: fit, perhaps with warnings; 1: not fit; 2: the test could not be done.
    """
    table = load_table(config)
    folder = out or table.table.state_dir / REPORTS_FOLDER
    if history:
        click.echo(
            "\n".join(map(format_report_line, read_reports(folder))) or f"no report is in {folder}"
        )
        return
    console = Console(stderr=True)
    with (
        exclude_machine(table),
        Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        ) as bar,
    ):
        report = run_until_signal(lambda: _run_selftest(table, control, cards, bar))
    page = _write_report(report, folder)
    click.echo(msgspec.json.encode(report).decode() if as_json else _format_summary(report, page))
    context.exit(1 if report.verdict == "fail" else 0)


async def _run_selftest(
    table: TableConfig, control: Path | None, cards: int, bar: Progress
) -> SelftestReport:
    loop = asyncio.get_running_loop()
    began, since_s = read_wall_clock(), loop.time()
    task = bar.add_task("opening the boards", total=1)
    folder = find_program_folder()
    path = folder / MANIFEST

    def told(what: str, done: int, of: int) -> None:
        bar.update(task, description=what, completed=done, total=of)

    async with open_boards(table, control) as (bench, hands):
        figures = SelftestFigures(reader_is_polled=bench.reader.is_polled)
        await run_selftest(
            SelftestSession(bench, hands, figures, read_card_set(table), table.reader.look_s, told),
            cards,
        )
        release = measure_release(read_manifest(path), folder) if path.exists() else None
        return build_report(
            figures.all_figures(),
            bench.welcomes,
            table=table.table.id,
            simulated=table.table.backend == "sim",
            time=began,
            seconds=loop.time() - since_s,
            program=version("dealtable"),
            release=release,
        )


def _write_report(report: SelftestReport, folder: Path) -> Path:
    """Write a report as two files, JSON and Markdown, and return the path of the Markdown file."""
    moment = datetime.fromisoformat(report.time).strftime("%Y%m%dT%H%M%SZ")
    name = f"selftest-{report.table}-{moment}"
    page, as_json = report_page(report), msgspec.json.format(msgspec.json.encode(report)) + b"\n"
    try:
        replace_file(folder / f"{name}.json", as_json, 0o644)
        replace_file(folder / f"{name}.md", page.encode(), 0o644)
    except OSError as error:
        raise CliError(f"{folder}: {error.strerror}: name another folder with --out") from None
    return folder / f"{name}.md"


def read_reports(folder: Path) -> list[SelftestReport]:
    """Return the reports in a folder, the newest first. Files that are no reports are skipped."""
    found = []
    for path in folder.glob("*.json"):
        try:
            found.append(msgspec.json.decode(path.read_bytes(), type=SelftestReport))
        except (OSError, ValueError):
            continue
    return sorted(found, key=lambda report: report.time, reverse=True)


def format_report_line(report: SelftestReport) -> str:
    """Return one line about a report: time, verdict, and failed parts (if none, warned parts)."""
    named = ", ".join(report.failed_parts or report.warned_parts)
    line = f"self-test {report.time[:16]}: {report.verdict}" + (f": {named}" if named else "")
    return escape_unprintable(line)


def _format_summary(report: SelftestReport, page: Path) -> str:
    lines: list[str] = []
    for figure in report.figures:
        if figure.verdict in ("fail", "warn"):
            part, limit = machine_parts()[figure.part], figure.limit
            lines.append(
                f"{figure.verdict.upper():4} {part.en}: {limit.en}: {value_text(figure)}"
                + (f" ({figure.note})" if figure.note else "")
            )
            lines.append(f"     {limit.do_en}")
    if left := sum(figure.verdict == "not measured" for figure in report.figures):
        lines.append(f"not measured: {left} of {len(report.figures)} figures")
    lines.append(f"table {report.table}: {report.verdict}; the report: {page}")
    return "\n".join(lines)
