"""What a campaign is made of: lives of tables, what came of each, and what must never be."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, Protocol

import msgspec

from controller.host.toml_files import FileError
from drivers.link.serial_port import LinkPort
from sim.board_faults import BoardName
from sim.mechanics.fault_menu import (
    FaultError,
    SimulatedFault,
    WearLevel,
    get_wear_level,
    load_wear,
)

FindingKind = Literal[
    "wrong_released",  # hands left the machine that were not four right hands as committed
    "wrong_blame",  # a reason or an alert that no fault then active accounts for
    "events_lost",  # a board said it, the journal does not have it
    "events_doubled",  # the journal or the feed has it twice
    "unproved",  # `verify` has a finding
    "stuck",  # people did what they were told, and the table did not go on
    "crashed",  # the machine's own code raised
]
"""What must not happen once in a campaign; `needless` misdeals are counted beside it."""


class MomentFault(msgspec.Struct, frozen=True):
    """A fault that strikes `after_ms` behind something: a public event by its kind, or a move by
    its name (moments.py); once, the first time.
    """

    after_event: str
    fault: SimulatedFault
    after_ms: float = 0.0


class LifePlan(msgspec.Struct, frozen=True):
    """One table's life: so many deals, with these faults; all of it follows from `seed`.

    `seed` is CAMPAIGN.NUMBER, what --replay takes. `journal`: the folder that its journal is
    written to, None for one in memory. `moments`: faults beside those of the wear.
    """

    seed: str
    deals: int
    wear: WearLevel
    journal: Path | None = None
    moments: tuple[MomentFault, ...] = ()


class LifeFinding(msgspec.Struct, frozen=True):
    """Something that must not be, at one attempt of one life, in one line of words."""

    kind: FindingKind
    seed: str
    deal: int | None
    attempt: int | None
    words: str


class LifeAttempt(msgspec.Struct, frozen=True):
    """How one attempt ended: `struck` are the faults active in it, in the menu's words
    (`jam:place=gate`), `reasons` the codes by name, `hands` what people had to do for it.
    """

    deal: int
    attempt: int
    outcome: Literal["ok", "misdeal", "void"]
    reasons: tuple[str, ...]
    struck: tuple[str, ...]
    alerts: tuple[str, ...]
    hands: tuple[str, ...]
    needless: bool
    referee: bool


class LifeReport(msgspec.Struct, frozen=True):
    """What came of one life; `ended_s` is the loop's time at its end.

    `deals` is how many were dealt to their end. `strikes`: how often each fault struck, in the
    words of `Attempt.struck`; one that stays in force struck once and is active in many attempts.
    `left_behind`: in how many attempts the hands were right, and a card that the set has too many
    lay where a sensor that lies did not see it.
    """

    seed: str
    deals: int
    attempts: tuple[LifeAttempt, ...]
    findings: tuple[LifeFinding, ...]
    ended_s: float
    strikes: tuple[tuple[str, int], ...] = ()
    left_behind: int = 0


class CardHistory(msgspec.Struct, frozen=True):
    """What one physical card did in one attempt, from the mechanics' side.

    `index` is its feed index, None where it was never fed; `looks` what the reader saw of it,
    as (face, back, face_up, confidence); `gate` where the gate stood as it passed, `landed` where
    it lies (an outlet, or a place in words); times are the loop's. `faults` are the words of those
    that struck it.
    """

    index: int | None
    card: int
    face: int
    back: int
    face_up: bool
    source: str
    readings: tuple[tuple[int, int, int, int], ...]
    gate: int | None
    landed: int | str
    faults: tuple[str, ...]
    window_s: float | None
    landed_s: float | None


class LifeObserver(Protocol):
    """Who watches one life, to tell it; a campaign has none. Whatever it is told is a value."""

    def wrap_port(self, board: BoardName, port: LinkPort) -> LinkPort:
        """Return the host's end of a line that the daemon shall use; a tape may sit on it."""

    def add_line(self, at_s: float, deal: int | None, attempt: int | None, words: str) -> None:
        """Take one line: a fault that struck, a person's hand, a public event, a verdict."""

    def add_cards(
        self, at_s: float, deal: int, attempt: int, histories: tuple[CardHistory, ...]
    ) -> None:
        """Take what each card did, at the end of an attempt."""


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
