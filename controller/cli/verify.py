"""`dealtable verify`: a full check of a journal, with a list of findings."""

from pathlib import Path

import click
import msgspec

from controller.cli import CliError
from controller.cli.options import ANY_PATH, FILE
from controller.host.printable_text import escape_unprintable
from controller.journal.entries import JournalError
from controller.journal.verify import verify
from controller.journal.verify.verify_report import VerifyReport
from controller.roster import RosterError

EPILOG = """\b
Examples:
  dealtable verify state
  dealtable verify state --head kept-at-noon.json
  dealtable verify state --head heads.jsonl --table table.key
  dealtable verify state --event spring-cup.toml --event autumn-cup.toml
  dealtable watch --state-dir state --json --topic event > events.jsonl
  dealtable verify events.jsonl
  dealtable send events since=0 --json --state-dir state > answer.json
  dealtable verify answer.json
"""


@click.command("verify", epilog=EPILOG)
@click.argument("what", type=ANY_PATH, metavar="STATE_DIR|EVENTS")
@click.option(
    "--head",
    "head_file",
    type=ANY_PATH,
    help="Heads kept elsewhere: hex digits, events or states of the feed, or the file of "
    "`watch --heads`.",
)
@click.option(
    "--table",
    "table",
    metavar="KEYFILE",
    type=FILE,
    help="The table's public certificate: whose journal it must be, and who signed its heads.",
)
@click.option(
    "--event",
    "events",
    multiple=True,
    metavar="FILE",
    type=ANY_PATH,
    help="An event's own regulations that deals were dealt under; may be given again.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@click.pass_context
def command(
    ctx: click.Context,
    what: Path,
    head_file: Path | None,
    table: Path | None,
    events: tuple[Path, ...],
    as_json: bool,
) -> None:
    """Check a journal, or a file of events from a feed: hash chain, proofs and counts.

    Every attempt has one line with its grade. "sequence": the deal followed its commitment, made
    before the cut. "hands": the opened hands are also the committed ones. The reason of an attempt
    without hands must follow from the opened record, unless no record could show it.

    EVENTS is a file that `watch --json` printed, line by line, or one with a list under "events":
    the answer of `send events`, or the vectors of the proof page. A required step that is not in
    the file is reported, and its attempt has no grade.

    A deal names its rules by their hash. The rules of an event are read from its file, given with
    --event. Without that file, one line lists the deals that were not compared with their rules.

    Every finding is one line. Exit 0: all checks pass; 1: a finding; 2: not a journal.
    """
    try:
        report = verify(what, head_file, events, table)
    except (JournalError, RosterError) as error:
        raise CliError(escape_unprintable(str(error))) from error
    if as_json:
        click.echo(msgspec.json.encode(report))
    else:
        _print_report(report, with_head=head_file is not None)
    ctx.exit(1 if report.findings else 0)


def _print_report(report: VerifyReport, *, with_head: bool) -> None:
    """Print a report, with one line for each attempt and each finding. Names are escaped."""
    for item in (*report.attempts, *report.findings):
        click.echo(str(item))
    for name in sorted({each.unknown_rules for each in report.attempts if each.unknown_rules}):
        click.echo(escape_unprintable(_format_unknown_rules(name, report)))
    ended = [each for each in report.attempts if each.withdrawn or each.outcome not in (None, "ok")]
    if ended:
        click.echo(
            f"given up: {len(ended)}, of these {len(report.unprovable_attempts)} for reasons "
            "that no record shows"
        )
    click.echo(escape_unprintable(_format_summary(report, with_head)))


def _format_unknown_rules(name: str, report: VerifyReport) -> str:
    """Return a line about the attempts with the rules `name`, which this program does not have."""
    dealt = [str(each.attempt) for each in report.attempts if each.unknown_rules == name]
    which = f"attempt {dealt[0]}" if len(dealt) == 1 else f"{len(dealt)} attempts from {dealt[0]}"
    return (
        f"{which}: rules not at hand ({name}), so deck and cut were not compared with them: "
        "if they are an event's own, name its file with --event"
    )


def _format_summary(report: VerifyReport, with_head: bool) -> str:
    what = "journal" if report.whole else "events"
    count = len(report.findings)
    holds = (
        f"what is here holds; not in this file: {report.missing_text}"
        if report.missing_text
        else "all holds"
    )
    result = f"{count} finding{'s' * (count != 1)}" if count else holds
    if report.signed_heads is not None:
        many = report.signed_heads
        result += f"; {many} signed head{'s' * (many != 1)} compared"
        apart = report.heads_apart
        result += f", {apart} of rows that are not here" if apart else ""
    hint = "" if with_head or not report.whole else "; a cut-off end shows only with --head"
    return (
        f"{what} of {report.table or 'an unnamed table'}: {report.entries} entries, "
        f"{len(report.attempts)} attempts, head {report.head[:16]}…: {result}{hint}"
    )
