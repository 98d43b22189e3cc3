"""The collection of deals in parallel processes, in parts: `collect_deals`.

The deals of a seed do not depend on the number of processes.
"""

import importlib
import random
import traceback
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import version
from typing import Literal

import msgspec

from sim.lab.collected_deals import CollectedDeals, DealsSource, join_deals
from sim.lab.deal_chain import Entropy, deal_chain
from sim.worker_processes import WorkerPool

CollectionPath = Literal["sequence", "full"]

PART_DEALS = {"sequence": 500, "full": 10}
"""The number of deals of one part.

It is small enough for frequent progress and for enough parts for all cores.
"""


class CollectionPlan(msgspec.Struct, frozen=True, kw_only=True):
    """The plan of a collection.

    `seed` None: the system's entropy. `again`: new deals, for a retest.
    """

    deals: int
    path: CollectionPath = "sequence"
    method: str = "fair"
    seed: int | None = None
    again: bool = False


class CollectionPart(msgspec.Struct, frozen=True):
    """One part of a plan. Its number starts at 0."""

    plan: CollectionPlan
    number: int
    deals: int


class CollectionResult(msgspec.Struct, frozen=True):
    """The result of a collection: the complete parts, the interruption, and the failures."""

    deals: CollectedDeals
    interrupted: bool
    failed: tuple[str, ...]


def plan_parts(plan: CollectionPlan) -> Iterator[CollectionPart]:
    """Yield a plan's parts in order. The last part has the remaining deals."""
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
    """Collect the deals of a plan in `jobs` processes.

    A KeyboardInterrupt keeps the complete parts. `entropy` is the system's, used if the plan has no
    seed. `on_deals` receives the number of new deals.
    """
    queue = _PartQueue(plan_parts(plan), entropy, on_deals)
    try:
        if jobs == 1 or plan.deals <= PART_DEALS[plan.path]:
            queue.run_here()
        else:
            queue.run_in_processes(jobs)
    except KeyboardInterrupt:
        return queue.result(plan, interrupted=True)
    return queue.result(plan, interrupted=False)


def run_part(part: CollectionPart, entropy: Entropy) -> CollectedDeals:
    """Deal one part. Its randomness comes from the plan's seed, or else from `entropy`."""
    plan = part.plan
    if plan.seed is not None:
        name = f"lab {plan.seed} {'again ' * plan.again}{plan.path} {part.number}"
        entropy = random.Random(name).randbytes
    if plan.path == "sequence":
        return deal_chain(part.deals, plan.method, entropy, f"lab-{part.number}")
    full = importlib.import_module("sim.lab.journal_deals")  # needs the simulator
    deals = full.deal_life(part.deals, entropy)
    assert isinstance(deals, CollectedDeals)
    return deals


class _PartQueue:
    """The queue of parts: runs each part, and stores the results."""

    def __init__(
        self, todo: Iterator[CollectionPart], entropy: Entropy, saw: Callable[[int], None]
    ) -> None:
        self._parts, self._entropy, self._on_deals = todo, entropy, saw
        self._dealt: dict[int, CollectedDeals] = {}
        self._failed: list[str] = []

    def run_here(self) -> None:
        """Deal all parts in this process."""
        for part in self._parts:
            self._store(part, _run_guarded(part, self._entropy))

    def run_in_processes(self, jobs: int) -> None:
        """Deal all parts in other processes. Raises KeyboardInterrupt after these have ended."""
        calls = ((part, (part, self._entropy)) for part in self._parts)
        with WorkerPool(_run_guarded, jobs) as workers:
            for part, dealt in workers.results(calls):
                if dealt is None:
                    self._failed.append("a process that dealt died")
                    return
                self._store(part, dealt)

    def result(self, plan: CollectionPlan, *, interrupted: bool) -> CollectionResult:
        """Return the stored parts, joined in their order."""
        there: Sequence[CollectedDeals] = [self._dealt[number] for number in sorted(self._dealt)]
        source = DealsSource(
            path=plan.path,
            method=plan.method,
            seed=plan.seed,
            asked=plan.deals,
            given_up=sum(part.source.given_up for part in there),
            passes=max((part.source.passes for part in there), default=0),
            version=version("dealtable"),
        )
        return CollectionResult(join_deals(there, source), interrupted, tuple(self._failed))

    def _store(self, part: CollectionPart, dealt: CollectedDeals | str) -> None:
        if isinstance(dealt, str):
            self._failed.append(dealt)
            return
        self._dealt[part.number] = dealt
        self._on_deals(len(dealt))


def _run_guarded(part: CollectionPart, entropy: Entropy) -> CollectedDeals | str:
    """Return a part's deals, or a one-line error, so that the other parts continue."""
    try:
        return run_part(part, entropy)
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        words = f"{type(error).__name__}: {error} ({where.name}, line {where.lineno})"
        return f"part {part.number}: {' '.join(words.split())}"
