"""`dealtable lab`: collects thousands of deals, and tests statistically how random they are.

NumPy, SciPy and Matplotlib are the extra `lab`. Each is imported only where it is used. Collection
needs NumPy, a report needs SciPy, and its plots need Matplotlib.
"""

import hashlib
import importlib.util
import os
import signal
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

import click
import msgspec
from rich.progress import Progress

from controller.cli import CliError
from controller.cli.options import FILE, WholeNumber, require_writable
from sim.cli.deal_progress import EXIT_INTERRUPTED, show_progress

if TYPE_CHECKING:
    from sim.lab.collected_deals import CollectedDeals
    from sim.lab.collection import CollectionPlan, CollectionResult
    from sim.lab.family import FamilyJudgement
    from sim.lab.lab_report import CollectionJudgement, LabReport

PATHS = ("sequence", "full")
METHODS = ("fair", "naive-pocket", "riffles", "reject-shift")

EPILOG = """\b
Examples:
  dealtable lab collect --deals 100000 --out deals.npz      the production sequence only
  dealtable lab collect --deals 1000 --path full --out full.npz
                                                            whole simulated deals
  dealtable lab report deals.npz --html report.html         judge the file; write a page
  dealtable lab report --deals 1000 --seed 1                collect and judge
  dealtable lab report --deals 1000 --method naive-pocket   judge an unfair method

sim/lab/LAB.md describes the tests, their figures and the format of the file.
"""


@click.group("lab", epilog=EPILOG)
def command() -> None:
    """Collect deals, and test how random they are, as a test house for gaming machines does."""


def _add_source_options(function: Callable[..., None]) -> Callable[..., None]:
    for option in (
        click.option("--jobs", type=WholeNumber(1, 512), help="Processes. Default: one a core."),
        click.option(
            "--seed",
            type=WholeNumber(0),
            help="A seed, to collect the same deals again. Default: the system's entropy.",
        ),
        click.option(
            "--method",
            type=click.Choice(METHODS),
            default=METHODS[0],
            show_default=True,
            help="The method of dealing. Only the first is fair.",
        ),
        click.option(
            "--path",
            type=click.Choice(PATHS),
            default=PATHS[0],
            show_default=True,
            help="`sequence`: only the sequence, over simulated input. `full`: simulated deals.",
        ),
    ):
        function = option(function)
    return function


@command.command("collect", short_help="Collect raw data of deals into a file.")
@click.option("--deals", type=WholeNumber(1, 10_000_000), required=True)
@_add_source_options
@click.option("--out", type=FILE, required=True, help="The file to write. It must not exist.")
@click.pass_context
def collect_command(
    ctx: click.Context,
    deals: int,
    path: Literal["sequence", "full"],
    method: str,
    seed: int | None,
    jobs: int | None,
    out: Path,
) -> None:
    """Collect deals into a file: for each card, in feed order, the drawn and the reached pocket.

    Ctrl-C writes the deals collected so far. Exit 0: complete; 1: a part failed; 2: bad usage; 130:
    interrupted.
    """
    _check_installed(path, method, "numpy")
    if out.exists():
        raise CliError(f"{out}: is there already; name another file")
    require_writable(out)
    from sim.lab.collected_deals import save_deals
    from sim.lab.collection import CollectionPlan

    plan = CollectionPlan(deals=deals, path=path, method=method, seed=seed)
    collected = _collect(plan, jobs)
    if len(collected.deals):
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # so that the file is complete
        try:
            save_deals(collected.deals, out)
        finally:
            signal.signal(signal.SIGINT, before)
        size = out.stat().st_size / 1e6
        click.echo(f"{out}: {len(collected.deals)} of {deals} deals, {size:.1f} MB")
    else:
        click.echo("no deal was collected; no file was written")
    ctx.exit(_print_failures(collected))


@command.command("report", short_help="Judge collected deals by the whole family.")
@click.argument("files", nargs=-1, metavar="[FILE...]", type=FILE)
@click.option("--deals", type=WholeNumber(1, 10_000_000), help="Collect deals, and read no FILE.")
@_add_source_options
@click.option(
    "--retest",
    type=FILE,
    help="As many new deals, for a retest of deals that were collected elsewhere.",
)
@click.option(
    "--html",
    type=FILE,
    help="Also write the report as a page, with its pictures as PNG files in the same folder.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@click.pass_context
def report_command(
    ctx: click.Context,
    files: tuple[Path, ...],
    deals: int | None,
    path: Literal["sequence", "full"],
    method: str,
    seed: int | None,
    jobs: int | None,
    retest: Path | None,
    html: Path | None,
    as_json: bool,
) -> None:
    """Judge collected deals with all tests of the lab, at a joint confidence level of 99 %.

    If the result is outside its bound, one retest is made with as many new deals. If the retest is
    outside too, exit 1. If a required retest cannot be made, because the deals were collected
    elsewhere, the report requests it, and exit 1. Tests that these deals cannot answer are counted
    beside the verdict and change no exit code. 130: interrupted, nothing was judged; 2: bad usage.
    """
    if bool(files) == (deals is not None):
        raise click.UsageError("name either FILE or --deals")
    _check_installed(path, method, "numpy", "scipy", *(["matplotlib"] if html else []))
    from sim.lab.collection import CollectionPlan
    from sim.lab.lab_report import judge_collection, make_report, render_lab_report

    if html is not None:
        require_writable(html)
    if files:
        dealt, digests = _load_files(files)
        plan = _find_plan(dealt)
    else:
        plan = CollectionPlan(deals=deals or 0, path=path, method=method, seed=seed)
        dealt, digests = _collect_all(ctx, plan, jobs), {}
    first, judgement = judge_collection(dealt, digests)
    shown = [(dealt, judgement)]
    fresh = _make_retest(ctx, first, plan, retest, jobs, shown)
    report = make_report(first, fresh, partial(_collect_unfair, plan.seed if plan else seed))
    if html is not None:
        _write_page(html, report, *shown[-1])
    click.echo(msgspec.json.encode(report) if as_json else render_lab_report(report), nl=as_json)
    ctx.exit(0 if report.is_inside else 1)


def _make_retest(
    ctx: click.Context,
    first: "CollectionJudgement",
    plan: "CollectionPlan | None",
    file: Path | None,
    jobs: int | None,
    shown: "list[tuple[CollectedDeals, FamilyJudgement]]",
) -> "Callable[[], CollectionJudgement] | None":
    """Return a function that judges new deals (the retest), or None if `file` and `plan` are None.

    It judges as many deals as `first`: those in `file`, or those that it collects by `plan`. Raises
    CliError if `file` has the same deals, or another number of deals.
    """
    from sim.lab.lab_report import judge_collection

    def judged(deals: "CollectedDeals", digests: dict[str, str]) -> "CollectionJudgement":
        again, judgement = judge_collection(deals, digests)
        shown.append((deals, judgement))
        return again

    if file is not None:
        deals, digests = _load_files((file,))
        if len(deals) != first.deals:
            raise CliError(
                f"{file}: a retest needs as many new deals, here {first.deals}, not {len(deals)}"
            )
        if set(digests.values()) & set(first.files.values()):
            raise CliError(f"{file}: these are the same deals; a retest needs new ones")
        return lambda: judged(deals, digests)
    if plan is None:
        return None
    again = msgspec.structs.replace(plan, again=True)
    return lambda: judged(_collect_all(ctx, again, jobs), {})


def _find_plan(deals: "CollectedDeals") -> "CollectionPlan | None":
    """Return a plan to collect deals like `deals`, or None if their method or path is unknown."""
    from sim.lab.collection import CollectionPlan

    source = deals.source
    if source.path not in PATHS or source.method not in METHODS:
        return None
    path = cast(Literal["sequence", "full"], source.path)
    return CollectionPlan(deals=len(deals), path=path, method=source.method, seed=source.seed)


def _collect_unfair(seed: int | None, method: str, deals: int) -> "CollectedDeals":
    from sim.lab.collection import CollectionPlan, collect_deals

    return collect_deals(CollectionPlan(deals=deals, method=method, seed=seed), os.urandom).deals


def _collect_all(ctx: click.Context, plan: "CollectionPlan", jobs: int | None) -> "CollectedDeals":
    """Collect and return all deals of `plan`. Exit without a judgement if a deal is missing."""
    collected = _collect(plan, jobs)
    if collected.interrupted or collected.failed or len(collected.deals) < plan.deals:
        code = _print_failures(collected)
        click.echo(f"{len(collected.deals)} of {plan.deals} deals: nothing was judged", err=True)
        ctx.exit(code or 1)
    return collected.deals


def _collect(plan: "CollectionPlan", jobs: int | None) -> "CollectionResult":
    from sim.lab.collection import collect_deals

    with show_progress(plan.deals) as progress:
        cores, saw = len(os.sched_getaffinity(0)), partial(_advance, progress)
        return collect_deals(plan, os.urandom, jobs=jobs or cores, on_deals=saw)


def _print_failures(collected: "CollectionResult") -> int:
    """Print the failures of a collection, and return the command's exit code."""
    for words in collected.failed:
        click.echo(words, err=True)
    if collected.interrupted:
        return EXIT_INTERRUPTED
    return 1 if collected.failed else 0


def _load_files(files: tuple[Path, ...]) -> "tuple[CollectedDeals, dict[str, str]]":
    """Read files of deals, join the deals in order, and return them with the files' SHA-256."""
    from sim.lab.collected_deals import DealsSource, join_deals, load_deals

    parts = [load_deals(path) for path in files]
    digests = {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}
    if len(parts) == 1:
        return parts[0], digests
    sources = [part.source for part in parts]
    paths, methods = {one.path for one in sources}, {one.method for one in sources}
    source = DealsSource(
        path=paths.pop() if len(paths) == 1 else "several files",
        method=methods.pop() if len(methods) == 1 else "several methods",
        asked=sum(one.asked for one in sources),
        given_up=sum(one.given_up for one in sources),
        passes=max(one.passes for one in sources),
        version=sources[0].version,
    )
    return join_deals(parts, source), digests


def _write_page(
    path: Path, report: "LabReport", deals: "CollectedDeals", judgement: "FamilyJudgement"
) -> None:
    from sim.lab.lab_page import draw_pictures, render_lab_page

    drawn = draw_pictures(deals, judgement)
    issued = f"dealtable {version('dealtable')}, {datetime.now(UTC):%Y-%m-%d}"
    path.write_text(render_lab_page(report, drawn, issued), "utf-8")
    for one in drawn:
        path.with_name(f"{path.stem}-{one.name}.png").write_bytes(one.png)


def _check_installed(path: str, method: str, *packages: str) -> None:
    """Raise CliError for a missing package, or UsageError for path `full` with unfair `method`."""
    missing = [name for name in packages if importlib.util.find_spec(name) is None]
    if missing:
        raise CliError(
            f"this needs {' and '.join(missing)} of the extra lab: "
            "pip install 'dealtable[lab]', or in a checkout pip install -e '.[lab]'"
        )
    if path == "full" and method != METHODS[0]:
        raise click.UsageError("--method goes with --path sequence: a whole table deals fairly")


def _advance(progress: Progress, deals: int) -> None:
    """Advance the progress bar by `deals` collected deals."""
    (task,) = progress.tasks
    progress.update(task.id, advance=deals, rate=f"{task.speed or 0:.0f} a second")
