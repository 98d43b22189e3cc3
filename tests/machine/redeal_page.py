"""REDEAL.md: written from what was seen, and read again."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterable, Iterator
from functools import partial
from importlib import resources
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from controller.faults import fault_catalogue
from sim.memory_folders import memory_folder
from sim.virtual_loop import VirtualLoop
from tests.machine.redeals import (
    CLAIMED,
    CLAIMS,
    REDEALS,
    VOID,
    Seen,
    after_release,
    before_release,
    claimed,
    ordered_again,
)
from tests.machine.troubles import AFTER, BEFORE, TROUBLES, Ground

PAGE = Path(str(resources.files("controller.deal").joinpath("REDEAL.md")))
STAGES = (*BEFORE, "anti_check", *AFTER)
"""Every stage of a deal. `begin`: between the cut and the shuffler, no moment long."""
REASONS = [row.name for row in fault_catalogue().values() if row.code < 300]
LEAD_DUE = AFTER[:4]
"""The stages at which hands are released and no card was led."""

_HEAD = """\
# What happens when a deal goes wrong

Each row was played at a whole table in process, in the second deal of a match, and looked at from
outside; tests/machine/test_redeal_table.py plays each again. The page is generated with

    python -m tests.pages write controller/deal/REDEAL.md

Stages: `committed` waits for the cut, `begin` is between the cut and the first motion, then
`shuffling`, `dealing` and `held` hands; behind the release the phases of the match.
In every row the match keeps its deal number, its level, its results and whose tribute is due: a
misdeal is another attempt of the same deal, under the next number, and nothing else.

Outcome: a *misdeal* is proved by the cards, a *void* has no evidence in its record; *withdrawn* are
hands that were held already, *recalled* hands that were out. Record: *opened*: seed, cut, all
board events and hands are on the feed; *the chief's*: its key went with the power, so that the
chief alone can open it. The set: *barred* means that it is dealt with again only after a full
count (`clear_set`). Next: what people do until the next attempt begins, in that order; it begins
automatically, if the last column is not `start_deal`. After two attempts in a row without right
hands a referee is called (TWO_MISDEALS) and the third begins by `start_deal` alone.
A withdrawn deal counts as void, whatever the reason: its hands were right when they were counted.
"""
_COLUMNS = ("reason", "how", "stages", "outcome", "on the record", "set", "record", "decided by")
_ROW = re.compile(r"^\| (.+) \|$")


def text_of(seen: Iterable[Seen]) -> str:
    """Return the page of the observed results."""
    rows = sorted(seen, key=_place)
    lines = [_HEAD, "## What was seen", "", _line((*_COLUMNS, "next")), _rule(9)]
    merged: dict[Seen, list[str]] = {}
    for row in rows:
        merged.setdefault(row._replace(stage=""), []).append(row.stage)
    for row, stages in merged.items():
        lines.append(_line((row.reason, row.how, "; ".join(stages), *row[3:])))
    lines += ["", "## Pairs that cannot be", "", _line(("reasons", "stages", "why")), _rule(3)]
    for (where, why), reasons in _cannot(rows).items():
        lines.append(_line(("; ".join(reasons), "; ".join(where), why)))
    return "\n".join(lines) + "\n"


def rows_of(page: str) -> list[Seen]:
    """Return the results of a page, a row for each stage."""
    table = page.partition("## What was seen")[2].partition("##")[0]
    found = [match[1].split(" | ") for match in map(_ROW.match, table.splitlines()) if match]
    return [
        Seen(stage, reason, how, *rest)
        for reason, how, stages, *rest in found[2:]
        for stage in stages.split("; ")
    ]


def cannot_of(page: str) -> list[tuple[str, str]]:
    """Return the impossible pairs of reason and stage of a page."""
    table = page.partition("## Pairs that cannot be")[2]
    found = [match[1].split(" | ") for match in map(_ROW.match, table.splitlines()) if match]
    return [
        (reason, stage)
        for reasons, stages, _ in found[2:]
        for reason in reasons.split("; ")
        for stage in stages.split("; ")
    ]


def _cannot(rows: Iterable[Seen]) -> dict[tuple[tuple[str, ...], str], list[str]]:
    """Return reasons by the stages at which they cannot be, and why."""
    rows = tuple(rows)
    found: dict[tuple[tuple[str, ...], str], list[str]] = {}
    for reason in REASONS:
        for why, stages in why_not(reason, rows).items():
            found.setdefault((tuple(stages), why), []).append(reason)
    return found


def why_not(reason: str, rows: Iterable[Seen]) -> dict[str, list[str]]:
    """Return the stages at which a reason is impossible, by the sentence with the explanation."""
    met = {row.stage for row in rows if reason in (row.reason, *row.why.split(", "))}
    found: dict[str, list[str]] = {}
    for stage in STAGES:
        if stage not in met:
            found.setdefault(_sentence(reason, stage), []).append(stage)
    return found


def _sentence(reason: str, stage: str) -> str:
    if stage == "anti_check":
        return "no moment long: the vault answers as soon as the fourth count is confirmed"
    if stage in AFTER:
        return _AFTER.get(reason, _OUT)
    if stage == "begin" and reason in _ANY_TIME:
        return "this stage takes no time: an event belongs to the stage before or after it"
    return _BEFORE[reason]


_OUT = "the cards are with the players: the machine sees none of them"
_AFTER = {
    "COUNT_WRONG": "from the first lead on there is no redeal: a claim is refused",
    "BOARD_REFUSED": "the machine asks its boards for nothing",
    "RESTARTED": "hands that are out need no board",
    "NOT_NEEDED": "hands that are out are played, or dealt again by order",
}
_ANY_TIME = {
    *("LID_OPENED", "ESTOP_PRESSED", "LINE_LOST", "BOARD_RESET", "STOPPED", "POWER", "RESTARTED"),
    *("ORDERED", "NOT_NEEDED"),
}
_FED = "cards are counted and read while they are dealt; held hands were counted"
_BEFORE = {
    **dict.fromkeys(
        (
            *("COUNT_SHORT", "COUNT_OVER", "HOPPER_NOT_EMPTY", "MISSING_CARD", "THIRD_COPY"),
            *("FOREIGN_BACK", "FACE_UP", "UNREADABLE", "TRAY_FULL", "DOUBLE_FEED", "PULSE_COUNT"),
            *("NOT_LANDED", "BOARD_REFUSED"),
        ),
        _FED,
    ),
    "PATH_NOT_CLEAR": "the path is looked at as the boards begin and at the count",
    "POCKET_NOT_EMPTY": "the pockets are looked at as the boards begin",
    "WRONG_POCKET": "a board reports landings only in its attempt, which it has not begun",
    "EVENT_LOST": "a board reports no event of an attempt that it has not begun",
    "SENSOR_STUCK": "sensors are held against the cards at the count and at the lift",
    "JAM": "no card is on its way",
    "SUPPLY_LOW": "a board refuses to begin, and reports a supply drop only in its attempt",
    "ENGINE_LOST": "a board refuses to begin without its engine; hands that are held were read",
    "DRIVE_LOST": "a board refuses to begin without a drive, and reports it in its attempt only",
    "EDGES_LOST": "a board reports lost edges only in its attempt",
    "STALL": "no motor turns; a stuck shuffler is reported as a JAM",
    "BOARD_RESET": "no board has begun the attempt: a board that was away is LINE_LOST",
    "COUNT_WRONG": "no player has a hand to count",
}


class Row(NamedTuple):
    """One row of the page. `play` plays it. `first`: this is the first stage of what happens."""

    reason: str
    how: str
    stage: str
    play: Callable[[Ground], Awaitable[Seen]]
    first: bool


def rows_to_play() -> Iterator[Row]:
    """Yield each row of the page.

    A claim that is refused is refused however it would go: other claims have fewer stages. The
    chief's void of a held deal is among the troubles.
    """
    for trouble in TROUBLES:
        for stage in trouble.stages:
            play = before_release if stage in BEFORE else after_release
            first = stage == trouble.stages[0]
            played = partial(play, trouble=trouble, stage=stage)
            yield Row(trouble.reason, trouble.how, stage, played, first)
    for claim in CLAIMS:
        stages: tuple[str, ...] = ("held", *AFTER) if claim is CLAIMS[0] else LEAD_DUE
        for stage in stages:
            played = partial(claimed, claim=claim, stage=stage)
            yield Row(CLAIMED, claim.how, stage, played, stage == stages[0])
    for how in REDEALS:
        stages = AFTER if how == VOID else ("held", *AFTER)
        for stage in stages:
            played = partial(ordered_again, how=how, stage=stage)
            yield Row("ORDERED", how, stage, played, stage == stages[0])


def page() -> str:
    """Play every row; return the page of what was seen. This takes minutes."""
    return text_of(map(_played, rows_to_play()))


def _played(row: Row) -> Seen:
    with (
        memory_folder() as runtime_dir,
        TemporaryDirectory() as disk,
        asyncio.Runner(loop_factory=VirtualLoop) as runner,
    ):
        ground = Ground(runtime_dir, Path(disk))
        return runner.run(row.play(ground))  # type: ignore[arg-type]  # each is a coroutine


def _place(row: Seen) -> tuple[int, str, int]:
    first = REASONS.index(row.reason) if row.reason in REASONS else len(REASONS)
    return first, row.how, STAGES.index(row.stage)


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _rule(columns: int) -> str:
    return _line(["---"] * columns)
