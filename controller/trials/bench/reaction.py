"""What lies between a card's event and its route, at tables with more and more on."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import click

from controller.trials.bench.registry import (
    FigureUnit,
    FigureValue,
    bench_options,
    choose_size,
    valued_figure,
)
from controller.trials.hall import HallError
from controller.trials.reaction.measured import PERCENTS, Samples, block_median, collect_samples
from controller.trials.reaction.peers import PeerProgram, find_peers
from controller.trials.reaction.variants import (
    ALL_ON,
    BUSY_GATEWAY,
    FULL_GC,
    PLAIN,
    SLOW_FSYNC,
    TableVariant,
    find_compiler,
)

_DEALS: Final = 7
_HOGGED_DEALS: Final = 4
_FEW_DEALS: Final = 1
_FEW_PERCENTS: Final = (50,)
"""A deal has too few cards for the others."""
_AIM_RATIOS: Final = {
    (PLAIN, 50): 1.85,
    (PLAIN, 90): 1.7,
    (PLAIN, 99): 2.0,
    (ALL_ON, 50): 2.1,
    (ALL_ON, 90): 1.9,
    (ALL_ON, 99): 2.5,
    (SLOW_FSYNC, 99): 2.5,
    (BUSY_GATEWAY, 50): 1.8,
}
_AIM_GC: Final = 1.5
_DOCUMENTED: Final = 2.4
_DOCUMENTED_BESIDE: Final = 1.2
"""A whole table over a program that does nothing but answer; far less over one that polls."""


@valued_figure("reaction")
def measure_reaction() -> list[FigureValue]:
    """From a card's event to its route on the line, against a process that echoes bytes."""
    quiet = [PLAIN, ALL_ON, SLOW_FSYNC, FULL_GC]
    if find_compiler() is None:
        click.echo("reaction: no C compiler, so no slow fsync: install gcc", err=True)
        quiet.remove(SLOW_FSYNC)
    beside = find_peers()
    percents = choose_size(PERCENTS, _FEW_PERCENTS)
    samples = _run_reactions(quiet, choose_size(_DEALS, _FEW_DEALS), beside)
    found = _against_floor(quiet, samples, percents)
    at = quiet.index(ALL_ON) + 1
    full_gc = quiet.index(FULL_GC) + 1
    found.append(_value(_over_text(FULL_GC, ALL_ON), samples, full_gc, at, percents[-1], _AIM_GC))
    found += _against_peers(quiet, beside, samples)
    if bench_options.plot is not None:
        _draw(
            ["echo", *(one.name for one in quiet), *(one.name for one in beside)],
            samples,
            bench_options.plot,
        )
    hogged = _run_reactions([BUSY_GATEWAY], choose_size(_HOGGED_DEALS, _FEW_DEALS))
    return [*found, *_against_floor([BUSY_GATEWAY], hogged, percents[:2])]


def _run_reactions(
    variants: list[TableVariant], deals: int, beside: Sequence[PeerProgram] = ()
) -> Samples:
    try:
        return collect_samples(variants, deals, beside)
    except HallError as error:
        raise click.ClickException(f"reaction: {error}") from error


def _draw(names: Sequence[str], samples: Samples, file: Path) -> None:
    from controller.trials.reaction.plot import draw_distribution

    columns = zip(*samples, strict=True)
    try:
        draw_distribution(dict(zip(names, columns, strict=True)), file)
    except OSError as error:
        raise click.ClickException(f"{file}: {error.strerror}") from error


def _against_floor(
    variants: list[TableVariant], samples: Samples, percents: Sequence[int]
) -> list[FigureValue]:
    return [
        _value(variant.name, samples, at, 0, percent, _AIM_RATIOS.get((variant, percent)))
        for at, variant in enumerate(variants, 1)
        for percent in percents
    ]


def _against_peers(
    variants: list[TableVariant], beside: Sequence[PeerProgram], samples: Samples
) -> list[FigureValue]:
    """Return what a route from the dealing loop costs, in multiples of each peer's answer."""
    at = variants.index(PLAIN) + 1
    return [
        _value(_over_text(PLAIN, peer), samples, at, over, 50, None, _DOCUMENTED_BESIDE)
        for over, peer in enumerate(beside, len(variants) + 1)
    ]


def _over_text(one: TableVariant, other: TableVariant | PeerProgram) -> str:
    return f"{one.name} over {other.name}"


def _value(
    what: str,
    samples: Samples,
    at: int,
    over: int,
    percent: int,
    aim: float | None,
    documented: float = _DOCUMENTED,
) -> FigureValue:
    value, floor = block_median(samples, at, over, percent)
    return FigureValue(
        what=f"{what}, p{percent}",
        value=value,
        floor=floor,
        unit=FigureUnit.US,
        documented=documented,
        aim=aim,
    )
