"""`dealtable campaign`: simulates deals with faults, and checks the true place of every card."""

import tempfile
from functools import partial
from pathlib import Path

import click
import msgspec
from rich.progress import Progress

from controller.cli import CliError, raise_cli_error
from controller.cli.options import FILE, FOLDER, require_writable
from sim.campaign.campaign_lives import (
    LIFE_DEALS,
    WEAR_LEVELS,
    CampaignPlan,
    LifeReport,
    load_faults,
    parse_replay,
    plan_life,
    plan_lives,
    run_lives,
)
from sim.campaign.campaign_report import merge_reports, render_campaign_report
from sim.campaign.faults_page import render_faults_page
from sim.campaign.life import run_life
from sim.campaign.replay_log import ReplayLog
from sim.cli.deal_progress import EXIT_INTERRUPTED, show_progress
from sim.tables.process_costs import count_cores

EPILOG = f"""\b
Examples:
  dealtable campaign                                 1000 deals of seed 1, many faults
  dealtable campaign --deals 10000 --faults worn     as on a worn club machine
  dealtable campaign --seed 7 --stop                 end at the first finding
  dealtable campaign --faults mine.toml --json       faults from a file, report as JSON
  dealtable campaign --replay 1.37.4                 the log of deal 4, life 37, campaign 1
  dealtable campaign --replay 1.37 --wire wire.txt   the whole life; the frames of both
                                                     serial lines go into wire.txt

\b
A file of faults is TOML. `rates` lists faults of sim/FAULTS.md with their probability.
`together` lists groups of faults that happen at the same time:
  rates = [{{ name = "double_feed", rate = 0.001 }}]
  together = [{{ rate = 0.05, faults = [{{ name = "left_in_pocket" }}, {{ name = "misread" }}] }}]

A campaign consists of lives. A life is one table, from its set-up to its end, and has {LIFE_DEALS}
deals. Its seed (CAMPAIGN.LIFE) and its faults determine all that happens, on any computer and with
any number of jobs. Exit 0: no finding; 1: a finding; 2: bad usage; 130: interrupted.
"""


@click.command("campaign", epilog=EPILOG)
@click.option("--deals", type=click.IntRange(1), default=1000, show_default=True)
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True)
@click.option(
    "--faults",
    default="hostile",
    show_default=True,
    metavar="|".join((*WEAR_LEVELS, "FILE")),
    help="The wear level of the machines, or a file with your own faults.",
)
@click.option("--replay", metavar="SEED", help="Run one life again, and print its log.")
@click.option(
    "--wire",
    type=FILE,
    help="With --replay: the file for the frames of both lines. Default: a temporary file.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@click.option(
    "--journal",
    type=FOLDER,
    help="Write each life's journal into a folder in this one. Default: they stay in memory.",
)
@click.option("--stop", is_flag=True, help="End at the first life with a finding.")
@click.option("--jobs", type=click.IntRange(1, 512), help="Processes. Default: one for each core.")
@click.option(
    "--page",
    type=FILE,
    help="Also write a page with the fault menu, and with this campaign's detection and recovery.",
)
@click.pass_context
def command(
    ctx: click.Context,
    deals: int,
    seed: int,
    faults: str,
    replay: str | None,
    wire: Path | None,
    as_json: bool,
    journal: Path | None,
    stop: bool,
    jobs: int | None,
    page: Path | None,
) -> None:
    """Simulate deals on machines with faults, and compare each result with the cards' true places.

    The firmware, the lines, the drivers, the controller and the journal are those of a real table.
    The mechanics are simulated, so that the true result is available. Each error is a finding with
    its seed: wrong hands released, a fault blamed on the wrong place, an event lost or doubled, a
    journal with a finding of `verify`, or a table that is stuck. Needless misdeals are counted
    separately.
    """
    if journal is not None:
        _make_journal_folder(journal)
    if replay is not None:
        if stop or page is not None or jobs is not None:
            raise click.UsageError("--stop, --page and --jobs do not go with --replay")
        ctx.exit(_run_replay(replay, faults, journal, wire, as_json))
    if wire is not None:
        raise click.UsageError("--wire goes with --replay: only a replay records the serial lines")
    if page is not None:
        require_writable(page)
    plan = CampaignPlan(seed, deals, faults, load_faults(faults), journal)
    with show_progress(deals) as progress:
        saw = partial(_advance, progress)
        ran = run_lives(
            plan_lives(plan), run_life, jobs=jobs or count_cores(), stop=stop, on_report=saw
        )
    if not as_json:
        (task,) = progress.tasks
        took_s = task.elapsed or 0.0
        pace = f", {task.completed / took_s:.1f} deals a second" if took_s else ""
        click.echo(f"took {took_s:.0f} s{pace}", err=True)
    report = merge_reports(plan, ran.reports, interrupted=ran.interrupted)
    click.echo(
        msgspec.json.encode(report) if as_json else render_campaign_report(report), nl=as_json
    )
    if page is not None:
        page.write_text(render_faults_page(report), "utf-8")
    if report.findings:
        ctx.exit(1)
    ctx.exit(EXIT_INTERRUPTED if report.interrupted else 0)


def _make_journal_folder(folder: Path) -> None:
    """Create the folder into which the journals are written. Raises CliError if it is not empty."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        taken = any(folder.iterdir())
    except OSError as error:
        raise CliError(f"{folder}: cannot store journals: {error.strerror}") from None
    if taken:
        raise CliError(f"{folder}: the folder is not empty; name a folder that is empty or new")


def _run_replay(
    asked: str, faults: str, journal: Path | None, wire: Path | None, as_json: bool
) -> int:
    """Simulate one table of a campaign (a life) again, and print its log. Return the exit code."""
    with raise_cli_error(ValueError):
        life_seed, deal = parse_replay(asked)
    story = ReplayLog(deal)
    plan = plan_life(life_seed, deal or LIFE_DEALS, load_faults(faults), journal)
    report = run_life(plan, story)
    path = wire or Path(tempfile.mkdtemp(prefix="dealtable-")) / f"wire-{life_seed}.txt"
    try:
        with path.open("w", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in story.frame_lines())
    except OSError as error:
        raise CliError(f"{path}: the wire log cannot be written: {error.strerror}") from None
    if as_json:
        answer = {"report": report, "story": story.text().splitlines(), "wire": str(path)}
        click.echo(msgspec.json.encode(answer))
    else:
        click.echo(story.text(), nl=False)
        for finding in report.findings:
            click.echo(f"{finding.kind}: deal {finding.deal or '–'}: {finding.words}")
        click.echo(f"frames of both serial lines: {path}")
    return 1 if report.findings else 0


def _advance(progress: Progress, report: LifeReport) -> None:
    """Update the progress bar when one simulated table (a life) has ended."""
    (task,) = progress.tasks
    count = task.fields["findings"] + len(report.findings)
    progress.update(
        task.id,
        advance=report.deals,
        rate=f"{task.speed or 0:.1f} a second",
        findings=count,
        found=f", {count} finding{'s' * (count != 1)}" if count else "",
    )
