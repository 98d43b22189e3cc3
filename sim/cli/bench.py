"""`dealtable bench`: measures performance, in multiples of the costs of simpler tasks (floors)."""

import importlib.util
from pathlib import Path

import click
import msgspec
from click.core import ParameterSource

from controller.cli.options import FILE, DecimalNumber, WholeNumber, require_writable
from controller.service.process_signals import handle_signals_as_ctrl_c
from sim.bench.figure_registry import (
    BenchFigure,
    BenchOptions,
    FigureResult,
    bench_options,
    load_figures,
    measure,
)

EPILOG = """\b
Examples:
  dealtable bench                measure all figures; this takes some minutes
  dealtable bench ruling frame   measure two figures
  dealtable bench --check        exit with 1 if a figure is above its limit
  dealtable bench --check --small
                                 the same, each figure at its least size
  dealtable bench console pixels --seconds 1800
                                 load the console for half an hour, for its memory
  dealtable bench reaction --plot reaction.svg
                                 also draw the distribution of the times
"""

_SMALL_LOAD = {"seconds": 3.0, "feeds": 40, "browsers": 1}


class _BenchCommand(click.Command):
    """A click command with a help that lists every figure. Only that help imports the figures."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of figures and then the examples into the help text."""
        with formatter.section("Figures"):
            formatter.write_dl([(name, one.description) for name, one in load_figures().items()])
        super().format_epilog(ctx, formatter)


@click.command(cls=_BenchCommand, epilog=EPILOG)
@click.argument("names", nargs=-1, metavar="[FIGURE...]")
@click.option("--json", "as_json", is_flag=True, help="Print the figures as one JSON list.")
@click.option("--check", is_flag=True, help="Exit with 1 if a figure is above its limit.")
@click.option(
    "--small",
    is_flag=True,
    help="Measure each figure at its least size. All of them take a few minutes. The limits are "
    f"the same. By default the console then has {_SMALL_LOAD['feeds']} tables and "
    f"{_SMALL_LOAD['browsers']} browser for {_SMALL_LOAD['seconds']:g} s.",
)
@click.option(
    "--seconds",
    type=DecimalNumber(1, 86_400),
    default=BenchOptions.seconds,
    show_default=True,
    help="How long `console` and `pixels` measure a console with browsers. Then they measure it "
    "without browsers for half that time: at least 2 s, at most 20 s.",
)
@click.option(
    "--feeds",
    type=WholeNumber(1, 1_000),
    default=BenchOptions.feeds,
    show_default=True,
    help="The number of tables of that console, and of the feeds that `fan_in` reads. The limits "
    "are for the default.",
)
@click.option(
    "--browsers",
    type=WholeNumber(0, 50),
    default=BenchOptions.browsers,
    show_default=True,
    help="The number of browsers that show the console.",
)
@click.option(
    "--plot",
    type=FILE,
    help="Write the plot of `reaction` to this SVG file (needs the extra `lab`).",
)
@click.pass_context
def command(
    ctx: click.Context,
    names: tuple[str, ...],
    as_json: bool,
    check: bool,
    small: bool,
    seconds: float,
    feeds: int,
    browsers: int,
    plot: Path | None,
) -> None:
    """Measure each FIGURE, or all, and compare each with the cost of a simpler task, its floor.

    A figure that needs a missing program, such as Chromium, is left out. One line names the figure
    and the program before anything is measured.
    """
    if plot is not None:
        if importlib.util.find_spec("matplotlib") is None:
            raise click.UsageError("--plot needs matplotlib: pip install 'dealtable[lab]'")
        if names and "reaction" not in names:
            raise click.UsageError("--plot draws what `reaction` measured, which is not asked for")
        require_writable(plot)
    bench_options.seconds, bench_options.feeds = seconds, feeds
    bench_options.browsers, bench_options.plot, bench_options.small = browsers, plot, small
    if small:
        for name, value in _SMALL_LOAD.items():
            if ctx.get_parameter_source(name) is ParameterSource.DEFAULT:
                setattr(bench_options, name, value)
    with handle_signals_as_ctrl_c():
        _print_figures(names, as_json, check)


def _print_figures(names: tuple[str, ...], as_json: bool, check: bool) -> None:
    known = load_figures()
    for name in names:
        if name not in known:
            raise click.BadParameter(f"no figure is called {name}: {', '.join(known)}")
    measured = []
    for asked in _select_measurable([known[name] for name in names or known]):
        for one in measure(asked):
            measured.append(one)
            if not as_json:
                click.echo(_format_figure(one))
    if as_json:
        click.echo(msgspec.json.encode(measured))
    if check and not all(one.ok for one in measured):
        raise SystemExit(1)


def _select_measurable(asked: list[BenchFigure]) -> list[BenchFigure]:
    """Return the figures of `asked` that this computer can measure. Print what the others need."""
    lacking = {one.name: what for one in asked if (what := one.find_missing()) is not None}
    lines = [f"{name}: not measured: {what}" for name, what in lacking.items()]
    if len(lacking) == len(asked):
        raise click.ClickException("; ".join(lines))
    for line in lines:
        click.echo(line, err=True)
    return [one for one in asked if one.name not in lacking]


def _format_figure(one: FigureResult) -> str:
    name = " ".join(filter(None, (one.figure, one.what)))
    aim = f", aim {one.aim}: {'met' if one.met else 'missed'}" if one.aim else ""
    verdict = "" if one.ok else f"  too much: at most {one.most:g} ×"
    return (
        f"{name:30} {_format_number(one.value):>12} {one.unit}, {one.times_floor:.3g} × its floor "
        f"of {_format_number(one.floor)}{aim}{verdict}"
    )


def _format_number(value: float) -> str:
    """Return a number as text: one decimal if it is at least 10, else three significant digits."""
    return f"{value:,.1f}" if value >= 10 else f"{value:.3g}"
