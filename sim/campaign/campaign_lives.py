"""The plans and reports of a campaign's simulated tables (lives), and the processes that run them.

A life is one simulated table that deals a number of deals. A campaign is many lives.
"""

import math
import re
import signal
import traceback
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import FrameType
from typing import Literal, NoReturn

import msgspec

from controller.host.toml_files import FileError
from sim.mechanics.fault_menu import (
    FaultError,
    SimulatedFault,
    WearLevel,
    get_wear_level,
    load_wear,
)
from sim.worker_processes import WorkerPool

FindingKind = Literal[
    "wrong_released",  # hands left the machine that were not four right hands as committed
    "wrong_blame",  # a reason or an alert that no active fault explains
    "events_lost",  # an event of a board that the journal does not have
    "events_doubled",  # an event that the journal or the feed has twice
    "unproved",  # `verify` has a finding
    "stuck",  # people did the required actions, and the table did not continue
    "crashed",  # the machine's own code raised
]
"""The kinds of findings that must never occur in a campaign.

Needless misdeals are counted separately.
"""


class MomentFault(msgspec.Struct, frozen=True):
    """A planned fault that strikes once, after a public event or a move of the machine.

    It strikes `after_ms` milliseconds after `after_event` first occurs. `after_event` is the kind
    of a public event, or the name of a move of the machine (NAMED_MOVES in life.py).
    """

    after_event: str
    fault: SimulatedFault
    after_ms: float = 0.0


class LifePlan(msgspec.Struct, frozen=True):
    """The plan of one simulated table (a life): the number of deals and the faults.

    Everything follows from `seed`. `seed` is CAMPAIGN.NUMBER, the argument of --replay. `journal`:
    the folder for the journal, None for a journal in memory. `moments`: faults in addition to those
    of the wear.
    """

    seed: str
    deals: int
    wear: WearLevel
    journal: Path | None = None
    moments: tuple[MomentFault, ...] = ()


class LifeFinding(msgspec.Struct, frozen=True):
    """One error of a simulated table (a life): the kind, the attempt and a line of text."""

    kind: FindingKind
    seed: str
    deal: int | None
    attempt: int | None
    words: str


class LifeAttempt(msgspec.Struct, frozen=True):
    """One attempt in the report of a simulated table (a life).

    `struck`: the active faults, as text (`jam:place=gate`). `reasons`: the names of the reason
    codes. `hands`: the actions that people had to do.
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
    """The report of one simulated table (a life): its attempts, findings and faults.

    `ended_s` is the loop's time at its end. `deals`: the number of completed deals. `strikes`: the
    number of strikes of each fault, with faults as in `LifeAttempt.struck`. A fault that
    stays strikes once and is active in many attempts. `left_behind`: the number of attempts with
    right hands in which an extra card was not detected because of a wrong sensor.
    """

    seed: str
    deals: int
    attempts: tuple[LifeAttempt, ...]
    findings: tuple[LifeFinding, ...]
    ended_s: float
    strikes: tuple[tuple[str, int], ...] = ()
    left_behind: int = 0


class CardHistory(msgspec.Struct, frozen=True):
    """The true history of one passage of a card through the window, from the simulation.

    `index`: its feed index, None if it was never fed. `readings`: the engine's answers, as
    (face, back, face_up, confidence). `gate`: the position of the gate as the card passed.
    `landed`: its final place, an outlet or a place in words. Times are the loop's. `faults`: the
    faults that struck it, as text.
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


LIFE_DEALS = 25
"""The number of deals of one life.

It is large enough for two misdeals in a row and a change of the set, and small enough to have lives
for every core.
"""

WEAR_LEVELS = ("ideal", "worn", "hostile")
"""The names of the wear levels of the menu, the mildest first."""

_SEED = re.compile(r"(\d+)\.([1-9]\d*)(?:\.([1-9]\d*))?", re.ASCII)


class CampaignPlan(msgspec.Struct, frozen=True):
    """The plan of a campaign: how many deals are simulated, and with which faults.

    Everything follows from `seed`. `faults`: the argument of --faults. `journal`: the folder in
    which each life's journal gets its own folder, None for journals in memory.
    """

    seed: int
    deals: int
    faults: str
    wear: WearLevel
    journal: Path | None = None


def plan_lives(plan: CampaignPlan) -> Iterator[LifePlan]:
    """Yield the plans of all simulated tables (lives) of a campaign in order.

    The last life has the remaining deals.
    """
    for number, begun in enumerate(range(0, plan.deals, LIFE_DEALS), start=1):
        deals = min(LIFE_DEALS, plan.deals - begun)
        yield plan_life(f"{plan.seed}.{number}", deals, plan.wear, plan.journal)


def plan_life(seed: str, deals: int, faults: WearLevel, journal: Path | None) -> LifePlan:
    """Return the plan of the simulated table (life) with the seed `seed`.

    `journal`: the folder for the journals of all lives, None for journals in memory.
    """
    return LifePlan(seed, deals, faults, None if journal is None else journal / seed)


def parse_replay(text: str) -> tuple[str, int | None]:
    """Split `text`, the argument of --replay, into a life's seed and a deal's number or None.

    `text` is CAMPAIGN.LIFE or CAMPAIGN.LIFE.DEAL, as in a finding. CAMPAIGN.LIFE is the seed. The
    number is None without DEAL: then all deals of the life are meant. Raises ValueError with a
    one-line message for people.
    """
    match = _SEED.fullmatch(text)
    if match is None:
        raise ValueError(
            f"{text} names no life: write CAMPAIGN.LIFE or CAMPAIGN.LIFE.DEAL, such as 1.37.4"
        )
    seed, number, deal = match.groups()
    return f"{int(seed)}.{number}", None if deal is None else int(deal)


def load_faults(text: str) -> WearLevel:
    """Return the wear level, a list of faults with their rates, that `text` names.

    `text` is the argument of --faults: the name of a wear level, or the path of a file with the
    same structure. Raises FileError with a one-line message for people.
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


LIFE_CPU_S = 600.0
"""The limit of CPU time for one life, in seconds: a hundred times the usual time."""

RunLife = Callable[[LifePlan], LifeReport]


class LifeTooLong(KeyboardInterrupt):
    """Error for a simulated table (life) that has used more than its limit of CPU time.

    The base class ensures that no handler of exceptions catches this.
    """


class LivesResult(msgspec.Struct, frozen=True):
    """The reports of the simulated tables (lives) that ended, in the order of their plans.

    `interrupted`: Ctrl-C ended the run.
    """

    reports: tuple[LifeReport, ...]
    interrupted: bool = False


def run_lives(
    plans: Iterable[LifePlan],
    run: RunLife,
    *,
    jobs: int,
    stop: bool = False,
    on_report: Callable[[LifeReport], None] = lambda report: None,
) -> LivesResult:
    """Run the simulated tables (lives) of `plans` in `jobs` processes, and return their reports.

    `run` is a function of a module, called in a worker. `on_report` receives each report when its
    life ends. With `stop`, the result ends with the first life, in the order of the plans, that has
    a finding. A KeyboardInterrupt ends all lives, and the result contains the lives that were
    complete.
    """
    reports: dict[int, LifeReport] = {}
    running: set[int] = set()
    last = math.inf
    interrupted = worker_died = False

    def next_calls() -> Iterator[tuple[tuple[int, LifePlan], tuple[RunLife, LifePlan]]]:
        for number, plan in enumerate(plans):
            if worker_died or number > last:
                return
            running.add(number)
            yield (number, plan), (run, plan)

    with WorkerPool(run_guarded, jobs) as workers:
        try:
            for (number, plan), report in workers.results(next_calls()):
                running.discard(number)
                if report is None:  # After a worker has died, no further life is started.
                    worker_died = True
                    report = _failure_report(plan, "crashed", "its process died")
                reports[number] = report
                if stop and report.findings:
                    last = min(last, number)
                on_report(report)
                if min(running, default=math.inf) > last:
                    break
        except KeyboardInterrupt:
            interrupted = True
    needed = (reports[number] for number in sorted(reports) if number <= last)
    return LivesResult(tuple(needed), interrupted)


def run_guarded(run: RunLife, plan: LifePlan) -> LifeReport:
    """Call `run(plan)` and return its report, or a report with a finding if the call fails.

    The call fails if it raises an exception, or after more than LIFE_CPU_S of CPU time. A worker
    process uses this function.
    """
    signal.signal(signal.SIGPROF, _on_cpu_timeout)
    # A life that is still cleaning up 10 s later is interrupted again.
    signal.setitimer(signal.ITIMER_PROF, LIFE_CPU_S, 10.0)
    try:
        return run(plan)
    except LifeTooLong:
        return _failure_report(plan, "stuck", f"took more than {LIFE_CPU_S:g} s of CPU time")
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        words = f"{type(error).__name__}: {error} ({where.name}, line {where.lineno})"
        return _failure_report(plan, "crashed", " ".join(words.split()))
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _failure_report(plan: LifePlan, kind: FindingKind, words: str) -> LifeReport:
    finding = LifeFinding(kind, plan.seed, None, None, words)
    return LifeReport(plan.seed, 0, (), (finding,), 0.0)


def _on_cpu_timeout(number: int, frame: FrameType | None) -> NoReturn:
    raise LifeTooLong
