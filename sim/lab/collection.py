"""The collection of deals in parts, on all processor cores.

With a seed, the collected deals do not depend on the number of processes.
"""

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
"""The number of deals in one part, dealt one after the other.

Parts are small, so that results arrive often and every core has work.
"""


class CollectionPlan(msgspec.Struct, frozen=True, kw_only=True):
    """The request for a collection of deals.

    `seed`: None uses the system's entropy. `again`: True deals other deals with the same seed, for
    a retest.
    """

    deals: int
    path: CollectionPath = "sequence"
    method: str = "fair"
    seed: int | None = None
    again: bool = False


class CollectionPart(msgspec.Struct, frozen=True):
    """One part of a plan. The first part has number 0."""

    plan: CollectionPlan
    number: int
    deals: int


class CollectionResult(msgspec.Struct, frozen=True):
    """The result of a collection.

    `deals`: the deals of all finished parts. `interrupted`: True if a user stopped the collection.
    `failed`: one line for each part that failed.
    """

    deals: CollectedDeals
    interrupted: bool
    failed: tuple[str, ...]


def plan_parts(plan: CollectionPlan) -> Iterator[CollectionPart]:
    """Yield the parts of a plan in order. The last part has the remaining deals."""
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

    After a KeyboardInterrupt, the function returns the deals of the finished parts. `entropy` is
    the system's source of random bytes, for a plan without a seed. `on_deals` receives the number
    of deals of each finished part.
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
    """Deal one part.

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


class _PartQueue:
    """The parts that are still to deal, and the results of the finished parts."""

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
        """Deal all parts in other processes.

        Raises KeyboardInterrupt after these processes have ended.
        """
        calls = ((part, (part, self._entropy)) for part in self._parts)
        with WorkerPool(_run_guarded, jobs) as workers:
            for part, dealt in workers.results(calls):
                if dealt is None:
                    self._failed.append("a process that dealt died")
                    return
                self._store(part, dealt)

    def result(self, plan: CollectionPlan, *, interrupted: bool) -> CollectionResult:
        """Return the collected deals, in the order of the parts."""
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
    """Return the deals of a part, or one line with the error. The other parts continue."""
    try:
        return run_part(part, entropy)
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        words = f"{type(error).__name__}: {error} ({where.name}, line {where.lineno})"
        return f"part {part.number}: {' '.join(words.split())}"
