"""Figures of campaigns: the speed of deals in virtual time."""

import json
import subprocess
import sys

from controller.deal.sequence import sequence
from controller.rules.profile_files import load_profile
from sim.bench.bare_table import mechanical_s
from sim.bench.figure_registry import FigureUnit, FigureValue, choose_size, time_s, valued_figure
from sim.mechanics.mechanics_settings import MechanicsSettings

_JOBS = 2
_LIFE = 25
_LIVES_A_JOB, _SMALL_LIVES_A_JOB = 3, 1
_BARE = 10


@valued_figure("campaign")
def measure_campaigns() -> list[FigureValue]:
    """Attempts and cards a second of campaigns on two cores, against boards and card loop only."""
    profile = load_profile("international-000")
    order = sequence(bytes(32), bytes(32), None, profile.deck.cards)
    bare_s = time_s(
        lambda: [mechanical_s(MechanicsSettings(), profile, order) for _ in range(_BARE)] and None
    )
    attempts_per_s = _JOBS * _BARE / bare_s
    return [
        FigureValue(
            what="hostile, attempts",
            value=_measure_attempts_per_s("hostile"),
            floor=attempts_per_s,
            unit=FigureUnit.PER_S,
            documented=3.5,
            aim_value=20,
        ),
        FigureValue(
            what="ideal, cards",
            value=_measure_attempts_per_s("ideal") * profile.deck.cards,
            floor=attempts_per_s * profile.deck.cards,
            unit=FigureUnit.PER_S,
            documented=2.5,
            aim_value=2500,
        ),
    ]


def _measure_attempts_per_s(faults: str) -> float:
    deals = _LIFE * choose_size(_LIVES_A_JOB, _SMALL_LIVES_A_JOB) * _JOBS
    told = b""

    def run() -> None:
        nonlocal told
        words = ("campaign", "--deals", str(deals), "--faults", faults, "--jobs", str(_JOBS))
        told = subprocess.run(
            [sys.executable, "-m", "controller.cli", *words, "--json"],
            check=True,
            stdout=subprocess.PIPE,
        ).stdout

    took_s = time_s(run)
    attempts: int = json.loads(told)["attempts"]
    return attempts / took_s
