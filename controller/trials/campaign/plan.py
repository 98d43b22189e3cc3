"""The lives of a campaign: which there are, and which faults they meet."""

import re
from collections.abc import Iterator
from pathlib import Path

import msgspec

from controller.tomlfile import FileError
from controller.trials.campaign.values import LifePlan
from sim.mechanics.faults import FaultError, WearLevel, get_wear_level, load_wear

LIFE_DEALS = 25
"""Deals of one life: long enough for two misdeals in a row and a change of the set, and many
enough lives for every core.
"""

WEAR_LEVELS = ("ideal", "worn", "hostile")
"""The wear levels that the menu has by name, the mildest first."""

_SEED = re.compile(r"(\d+)\.([1-9]\d*)(?:\.([1-9]\d*))?", re.ASCII)


class CampaignPlan(msgspec.Struct, frozen=True):
    """What was asked for: so many deals under these faults; all of it follows from `seed`.

    `faults` is what --faults said; `journal` the folder in which each life's journal gets a
    folder of its own, None for journals in memory.
    """

    seed: int
    deals: int
    faults: str
    wear: WearLevel
    journal: Path | None = None


class ReplayRequest(msgspec.Struct, frozen=True):
    """One life of a campaign, run again; `deal`: to the end of that deal, None for all of it."""

    seed: int
    number: int
    deal: int | None

    @property
    def life_seed(self) -> str:
        """The life's own seed."""
        return f"{self.seed}.{self.number}"


def plan_lives(plan: CampaignPlan) -> Iterator[LifePlan]:
    """Yield a campaign's lives in their order: the last one has the deals that are left."""
    for number, begun in enumerate(range(0, plan.deals, LIFE_DEALS), start=1):
        deals = min(LIFE_DEALS, plan.deals - begun)
        yield plan_life(f"{plan.seed}.{number}", deals, plan.wear, plan.journal)


def plan_life(seed: str, deals: int, faults: WearLevel, journal: Path | None) -> LifePlan:
    """Return the plan of the life with this seed; `journal` is the folder of all lives."""
    return LifePlan(seed, deals, faults, None if journal is None else journal / seed)


def parse_replay(text: str) -> ReplayRequest:
    """Read `CAMPAIGN.LIFE` or `CAMPAIGN.LIFE.DEAL`, as a finding names it.

    Raises ValueError with one line for people.
    """
    match = _SEED.fullmatch(text)
    if match is None:
        raise ValueError(
            f"{text} names no life: write CAMPAIGN.LIFE or CAMPAIGN.LIFE.DEAL, such as 1.37.4"
        )
    seed, number, deal = match.groups()
    return ReplayRequest(int(seed), int(number), None if deal is None else int(deal))


def load_faults(text: str) -> WearLevel:
    """Return the faults that --faults names: a wear level, or a file of the same shape.

    Raises FileError with one line for people.
    """
    if text in WEAR_LEVELS:
        return get_wear_level(text)
    path = Path(text)
    if not path.exists():
        raise FileError(f"no faults are called {text}: {', '.join(WEAR_LEVELS)}, or a TOML file")
    try:
        return load_wear(path)
    except FaultError as error:
        raise FileError(str(error)) from None
