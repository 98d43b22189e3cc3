"""The simulation of many deals, in parts. Several processes can deal parts at the same time.

With a seed, the collected deals do not depend on the number of processes.
"""

import random
import traceback
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from importlib.metadata import version
from typing import Literal

import msgspec

from sim.lab.collected_deals import CollectedDeals, DealsSource, join_deals
from sim.lab.deal_chain import Entropy, deal_chain
from sim.worker_processes import WorkerPool

PART_DEALS = {"sequence": 500, "full": 10}
"""The number of deals in one part, by path.

The deals of a part are dealt one after the other.

Parts are small, so that results arrive often and every core has work.
"""


class CollectionPlan(msgspec.Struct, frozen=True, kw_only=True):
    """The plan of a collection: the number of deals, and the way in which they are dealt.

    `seed`: None uses the system's entropy. `again`: True deals other deals with the same seed, for
    a retest.
    """

    deals: int
    path: Literal["sequence", "full"] = "sequence"
    method: str = "fair"
    seed: int | None = None
    again: bool = False


class CollectionPart(msgspec.Struct, frozen=True):
    """One part of a collection, which one process deals. The first part has number 0."""

    plan: CollectionPlan
    number: int
    deals: int


class CollectionResult(msgspec.Struct, frozen=True):
    """The collected deals, and the errors that occurred.

    `deals`: the deals of all finished parts. `interrupted`: True if a user stopped the collection.
    `failed`: one line for each part that failed.
    """

    deals: CollectedDeals
    interrupted: bool
    failed: tuple[str, ...]


def plan_parts(plan: CollectionPlan) -> Iterator[CollectionPart]:
    """Yield the parts of a collection in order. The last part has the remaining deals."""
    size = PART_DEALS[plan.path]
    for number, begun in enumerate(range(0, plan.deals, size)):
        yield CollectionPart(plan, number, min(size, plan.deals - begun))


def collect_deals(
    plan: CollectionPlan,
    entropy: Entropy,
    *,
    jobs: int = 1,
    on_deals: Callable[[int], None] = lambda deals: None,
) -> CollectionResult:
    """Simulate the deals of `plan` in `jobs` processes, and return the deals and the errors.

    After a KeyboardInterrupt, the function returns the deals of the finished parts. `entropy` is
    the system's source of random bytes, for a plan without a seed. `on_deals` receives the number
    of deals of each finished part.
    """
    finished: dict[int, CollectedDeals] = {}
    failed: list[str] = []
    interrupted = False
    try:
        with closing(_deal_parts(plan, entropy, jobs)) as parts:
            for part, dealt in parts:
                if isinstance(dealt, CollectedDeals):
                    finished[part.number] = dealt
                    on_deals(len(dealt))
                else:
                    failed.append(dealt)
    except KeyboardInterrupt:
        interrupted = True
    there = [finished[number] for number in sorted(finished)]
    source = DealsSource(
        path=plan.path,
        method=plan.method,
        seed=plan.seed,
        asked=plan.deals,
        given_up=sum(part.source.given_up for part in there),
        passes=max((part.source.passes for part in there), default=0),
        version=version("dealtable"),
    )
    return CollectionResult(join_deals(there, source), interrupted, tuple(failed))


def _deal_parts(
    plan: CollectionPlan, entropy: Entropy, jobs: int
) -> Generator[tuple[CollectionPart, CollectedDeals | str]]:
    """Yield each part of `plan` with its deals, or with one line about the error that ended it.

    The parts are dealt in this process, or in `jobs` other processes.
    """
    if jobs == 1 or plan.deals <= PART_DEALS[plan.path]:
        for part in plan_parts(plan):
            yield part, _run_guarded(part, entropy)
        return
    calls = ((part, (part, entropy)) for part in plan_parts(plan))
    with WorkerPool(_run_guarded, jobs) as workers:
        for part, dealt in workers.results(calls):
            if dealt is None:
                yield part, "a process that dealt died"
                return
            yield part, dealt


def run_part(part: CollectionPart, entropy: Entropy) -> CollectedDeals:
    """Return the deals of one part of a collection, dealt in this process.

    The random numbers come from the plan's seed, or from `entropy` without a seed.
    """
    plan = part.plan
    if plan.seed is not None:
        name = f"lab {plan.seed} {'again ' * plan.again}{plan.path} {part.number}"
        entropy = random.Random(name).randbytes
    if plan.path == "sequence":
        return deal_chain(part.deals, plan.method, entropy, f"lab-{part.number}")
    from sim.lab.journal_deals import deal_life  # this import loads the simulator

    return deal_life(part.deals, entropy)


def _run_guarded(part: CollectionPart, entropy: Entropy) -> CollectedDeals | str:
    """Return the deals of `part`, or one line of text about the error that ended this part."""
    try:
        return run_part(part, entropy)
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        words = f"{type(error).__name__}: {error} ({where.name}, line {where.lineno})"
        return f"part {part.number}: {' '.join(words.split())}"
