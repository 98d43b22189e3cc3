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

If a deal goes wrong, the result depends on the reason, its cause and the stage of the deal. This
page shows these results. A row can have several stages with the same result. A test makes all this
happen at a simulated table, in the second deal of a match (`tests/machine/test_redeal_table.py`).
This command writes the page: `python -m tests.pages write controller/deal/REDEAL.md`.

The words of this page:

- *An attempt* is one try at dealing a deal. *The boards* are the machine's two circuit boards. *A
  drive* is the electronics of one motor. *The engine* is the part of the reader board that reads
  cards. *The computer* runs the daemon (the table's program). The boards have another power supply
  than the computer. *The path* is the way of a card from the window (the place under the reader) to
  a pocket or the tray. At *the final count*, after the last card, the daemon compares its own count
  of the cards with both boards' counts and sensors.
- **Reason**: the name of the fault that ends an attempt. The same cause can have another reason at
  another stage. In the last rows this column has *a claimed count* in place of a fault: before the
  first lead, a player claims that a hand has a wrong number of cards. Then the hands are counted.
  After a second claim by the same pair, only the chief referee may enter the counts.
- **Cause**: what the test made happen.
- **Stages.** At `committed` the table waits for the cut. At `begin` the boards get the command to
  begin. At `shuffling` and `dealing` the cards move. At `held` the hands are complete and locked
  in the machine. At all later stages the players have the hands. At `count_check` the players count
  them. At `anti_check` the match checks whether tribute is due. At `tribute` the losers give cards,
  and at `return` they get cards back. Then `play` and `result` follow.
- **Outcome.** *misdeal*: the attempt ended for a reason that the cards can prove. *void*: the
  attempt ended for another reason. *withdrawn*: held hands will not be released. Withdrawn hands
  have passed the final count, so the outcome is always void. *recalled*: released hands are dealt
  again. *hands stay held*, *hands stay released*: the attempt did not end. *refused*: the command
  changed nothing. The error code of the refusal follows.
- **Reasons in the journal**: the reasons in the row that ends the attempt (`verdict`, `withdrawn`
  or `recalled`). A dash in this or a later column means that the attempt did not end.
- **Set.** A *barred* set of cards may be used again only after a count of all its cards
  (`clear_set`). *the same*: the set is not barred, and the next attempt uses it again.
- **Record.** *published*: the feed has the seed, the cut and all board events of the attempt. If
  its hands were held, the feed has their faces too. *sealed to the chief*: a power failure
  destroyed the attempt's key. So this data is not published, and only the chief can decrypt it.
- **Decided by**: the machine, or the role that may decide whether the attempt ends.
- **Next**: what people do, in this order, until the next attempt begins. `acknowledge`,
  `replace_set`, `clear_set` and `start_deal` are commands. *cards back*: people put all cards back
  into the hopper. *another set*: they put another set into the hopper. FOREIGN_BACK bars all sets
  with another back too, so the other set also needs `clear_set`. *board back*: the board answers
  again. *at once*: people do nothing. *dealt by hand*: people deal, so no attempt follows. If
  `start_deal` is not in the list, the next attempt begins automatically.

After an attempt that ended, the table makes another attempt at the same deal, with the next attempt
number. If people deal by hand, the table makes no other attempt. The deal number, the level, the
results and the tribute of the match stay the same in every row. If two attempts in a row end as
misdeal or void, the table calls a referee (fault TWO_MISDEALS). Then the third attempt begins only
after `start_deal`.
"""
_COLUMNS = ("reason", "cause", "stages", "outcome", "reasons in the journal", "set", "record")
_ROW = re.compile(r"^\| (.+) \|$")
_PAIR_COLUMNS = ("reasons", "stages", "why")
_IMPOSSIBLE = "At these stages of a deal, no attempt of the test can end for these reasons."


def text_of(seen: Iterable[Seen]) -> str:
    """Return the page of the observed results."""
    rows = sorted(seen, key=_place)
    lines = [_HEAD, "## Results", "", _line((*_COLUMNS, "decided by", "next")), _rule(9)]
    merged: dict[Seen, list[str]] = {}
    for row in rows:
        merged.setdefault(row._replace(stage=""), []).append(row.stage)
    for row, stages in merged.items():
        lines.append(_line((row.reason, row.how, "; ".join(stages), *row[3:])))
    lines += ["", "## Impossible pairs", "", _IMPOSSIBLE, "", _line(_PAIR_COLUMNS), _rule(3)]
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
        return "this stage takes no time: it ends when the fourth player confirms the count"
    if stage in AFTER:
        return _AFTER.get(reason, _OUT)
    if stage == "begin" and reason in _ANY_TIME:
        return "this stage takes no time, so such an event happens at the stage before or after it"
    return _BEFORE[reason]


_OUT = "the players have the cards, so no fault of a sensor or motor can end the attempt"
_AFTER = {
    "COUNT_WRONG": "after the first lead the table refuses a claim, so this reason cannot follow",
    "BOARD_REFUSED": "the hands are already released, so the board has nothing to refuse",
    "RESTARTED": "the hands are already released, so the state of a board has no effect on them",
    "NOT_NEEDED": "the hands are released, so the table refuses the command `dealt_by_hand`",
}
_ANY_TIME = {
    *("LID_OPENED", "ESTOP_PRESSED", "LINE_LOST", "BOARD_RESET", "STOPPED", "POWER", "RESTARTED"),
    *("ORDERED", "NOT_NEEDED"),
}
_FED = "cards are read and counted only at `dealing`; at `held` the hands have passed this count"
_BEFORE = {
    **dict.fromkeys(
        (
            *("COUNT_SHORT", "COUNT_OVER", "HOPPER_NOT_EMPTY", "MISSING_CARD", "THIRD_COPY"),
            *("FOREIGN_BACK", "FACE_UP", "UNREADABLE", "TRAY_FULL", "DOUBLE_FEED", "PULSE_COUNT"),
            "NOT_LANDED",
        ),
        _FED,
    ),
    "BOARD_REFUSED": "the test opens the release lock only before the final count of `dealing`",
    "PATH_NOT_CLEAR": "the path is checked only at `begin`, and at the final count of `dealing`",
    "POCKET_NOT_EMPTY": "the pockets are checked for old cards only at `begin`",
    "WRONG_POCKET": "no attempt has begun on the board, so the board reports no landing",
    "EVENT_LOST": "no attempt has begun on the board, so the board reports no events",
    "SENSOR_STUCK": "the final count uses all sensors; at `held` only the lift's sensor is checked",
    "JAM": "no card moves, so no card can be stuck",
    "SUPPLY_LOW": "a board reports a voltage drop only in an attempt, or when it refuses to begin",
    "ENGINE_LOST": "at `committed` the engine is not needed yet; at `held` all cards were read",
    "DRIVE_LOST": "a board reports a lost drive only in an attempt, or when it refuses to begin",
    "EDGES_LOST": "a board reports lost sensor signals only in an attempt",
    "STALL": "before `dealing` only the shuffler turns, and a stall of the shuffler is a JAM",
    "BOARD_RESET": (
        "no board has begun the attempt yet, so a restart does no harm; if the board does not "
        "answer, the reason is LINE_LOST"
    ),
    "COUNT_WRONG": "the players do not have the hands yet, so people cannot count the hands",
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
