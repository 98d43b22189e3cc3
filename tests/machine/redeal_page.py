"""REDEAL.md: written from the observed results, and read again."""

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
"""Every stage of a deal. `begin` is between the cut and the shuffler, and takes no time."""
REASONS = [row.name for row in fault_catalogue().values() if row.code < 300]
LEAD_DUE = AFTER[:4]
"""The stages at which hands are released and no card was led."""

_HEAD = """\
# What happens when a deal goes wrong

This page shows what the table does if a deal goes wrong, for each reason and each stage of a deal.
A test played each row of the tables in the second deal of a match. It used a whole simulated table
in one process, and observed this table from outside. `tests/machine/test_redeal_table.py` plays
each row again. This command writes the page:

    python -m tests.pages write controller/deal/REDEAL.md

*An attempt* is one try at dealing a deal. In every row the deal number, the level, the results and
the tribute of the match stay the same. After a misdeal the same deal gets another attempt, with the
next attempt number. Nothing else changes.

The columns:

**Stages.** At `committed` the table waits for the cut. `begin` is between the cut and the first
motion. `shuffling`, `dealing` and `held` follow. At `held` the hands are complete and locked in the
machine. After the release the stages are the phases of the match.

**Outcome.**

- *misdeal*: the attempt ended, and the cards prove the reason.
- *void*: the attempt ended, and the record has no evidence of the reason. A withdrawn deal counts
  as void for every reason, because its hands were right when they were counted.
- *withdrawn*: the hands were held, and they will not be released.
- *recalled*: the hands were released, and they are dealt again.

**Reasons in the journal.** The reasons in the entry that ends the attempt. This entry is `verdict`,
`withdrawn` or `recalled`.

**Set.** If the set of cards is *barred*, it may be used again only after a full count
(`clear_set`).

**Record.** *published*: seed, cut, all board events and hands are on the feed. *sealed to the
chief*: a power failure destroyed the attempt's key, so only the chief referee can open the record.

**Next.** This column has the steps of people until the next attempt begins, in this order.
`acknowledge`, `replace_set`, `clear_set` and `start_deal` are commands. *Cards back* means that
people put all cards back into the hopper. If `start_deal` is not among the steps, the next attempt
begins automatically. After two attempts in a row without right hands, the table calls a referee
(TWO_MISDEALS). Then the third attempt begins only after `start_deal`.
"""
_COLUMNS = (
    *("reason", "cause", "stages", "outcome", "reasons in the journal", "set", "record"),
    "decided by",
)
_ROW = re.compile(r"^\| (.+) \|$")


def text_of(seen: Iterable[Seen]) -> str:
    """Return the page of the observed results."""
    rows = sorted(seen, key=_place)
    lines = [_HEAD, "## Results", "", _line((*_COLUMNS, "next")), _rule(9)]
    merged: dict[Seen, list[str]] = {}
    for row in rows:
        merged.setdefault(row._replace(stage=""), []).append(row.stage)
    for row, stages in merged.items():
        lines.append(_line((row.reason, row.how, "; ".join(stages), *row[3:])))
    lines += ["", "## Impossible pairs", "", _line(("reasons", "stages", "why")), _rule(3)]
    for (where, why), reasons in _cannot(rows).items():
        lines.append(_line(("; ".join(reasons), "; ".join(where), why)))
    return "\n".join(lines) + "\n"


def rows_of(page: str) -> list[Seen]:
    """Return the results of a page, a row for each stage."""
    table = page.partition("## Results")[2].partition("##")[0]
    found = [match[1].split(" | ") for match in map(_ROW.match, table.splitlines()) if match]
    return [
        Seen(stage, reason, how, *rest)
        for reason, how, stages, *rest in found[2:]
        for stage in stages.split("; ")
    ]


def cannot_of(page: str) -> list[tuple[str, str]]:
    """Return the impossible pairs of reason and stage of a page."""
    table = page.partition("## Impossible pairs")[2]
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
        return "this stage takes no time: the vault answers when the fourth count is confirmed"
    if stage in AFTER:
        return _AFTER.get(reason, _OUT)
    if stage == "begin" and reason in _ANY_TIME:
        return "this stage takes no time: an event belongs to the stage before or after it"
    return _BEFORE[reason]


_OUT = "the cards are with the players, and the machine does not detect them"
_AFTER = {
    "COUNT_WRONG": "after the first lead there is no redeal, and a claim is refused",
    "BOARD_REFUSED": "the machine sends its boards no command",
    "RESTARTED": "released hands do not depend on a board",
    "NOT_NEEDED": "released hands are played, or a command orders that they are dealt again",
}
_ANY_TIME = {
    *("LID_OPENED", "ESTOP_PRESSED", "LINE_LOST", "BOARD_RESET", "STOPPED", "POWER", "RESTARTED"),
    *("ORDERED", "NOT_NEEDED"),
}
_FED = "cards are counted and read only during dealing, and held hands were counted before"
_BEFORE = {
    **dict.fromkeys(
        (
            *("COUNT_SHORT", "COUNT_OVER", "HOPPER_NOT_EMPTY", "MISSING_CARD", "THIRD_COPY"),
            *("FOREIGN_BACK", "FACE_UP", "UNREADABLE", "TRAY_FULL", "DOUBLE_FEED", "PULSE_COUNT"),
            *("NOT_LANDED", "BOARD_REFUSED"),
        ),
        _FED,
    ),
    "PATH_NOT_CLEAR": "the path is checked only when the boards begin, and at the count",
    "POCKET_NOT_EMPTY": "the pockets are checked only when the boards begin",
    "WRONG_POCKET": (
        "a board reports landings only in an attempt, and no attempt has begun on the board"
    ),
    "EVENT_LOST": (
        "a board reports events only in an attempt, and no attempt has begun on the board"
    ),
    "SENSOR_STUCK": "the sensors are compared with the cards only at the count, and for the lift",
    "JAM": "no card is on its way",
    "SUPPLY_LOW": "the board refuses to begin, and it reports a supply drop only in an attempt",
    "ENGINE_LOST": (
        "the reader refuses to begin without its engine, and held hands were read before"
    ),
    "DRIVE_LOST": (
        "the board refuses to begin without a drive, and it reports a lost drive only in an attempt"
    ),
    "EDGES_LOST": "a board reports lost edges only in an attempt",
    "STALL": "no motor turns, and a stuck shuffler is reported as a JAM",
    "BOARD_RESET": (
        "no board has begun the attempt, and for a board that does not answer the reason "
        "is LINE_LOST"
    ),
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
    """Play every row and return the page of the results. This takes minutes."""
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
