"""Collecting deals over all cores, in parts that are kept as they come.

What is collected from a seed does not depend on how many processes collect it.
"""

import importlib
import random
import traceback
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import version
from typing import Literal

import msgspec

from controller.trials.lab.chain import Entropy, deal_chain
from controller.trials.lab.data import Deals, Source, joined
from controller.trials.workers import Workers

Path = Literal["sequence", "full"]

PART_DEALS = {"sequence": 500, "full": 10}
"""Deals of one part, dealt one after the other: few enough to come often, and for every core."""


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked for. `seed` None: the system's entropy; `again`: fresh deals, for a retest."""

    deals: int
    path: Path = "sequence"
    method: str = "fair"
    seed: int | None = None
    again: bool = False


class Part(msgspec.Struct, frozen=True):
    """One part of a plan, from 0."""

    plan: Plan
    number: int
    deals: int


class CollectionResult(msgspec.Struct, frozen=True):
    """What came of it: all parts that were over, whether somebody broke it off, and what failed."""

    deals: Deals
    interrupted: bool
    failed: tuple[str, ...]


def parts(plan: Plan) -> Iterator[Part]:
    """Yield a plan's parts in their order: the last one has the deals that are left."""
    size = PART_DEALS[plan.path]
    for number, begun in enumerate(range(0, plan.deals, size)):
        yield Part(plan, number, min(size, plan.deals - begun))


def collect(
    plan: Plan, entropy: Entropy, *, jobs: int = 1, saw: Callable[[int], None] = lambda deals: None
) -> CollectionResult:
    """Collect what a plan asks for in `jobs` processes. A KeyboardInterrupt keeps what is there.

    `entropy` is the system's, used where the plan has no seed; `saw` takes how many deals came.
    """
    queue = _PartQueue(parts(plan), entropy, saw)
    try:
        if jobs == 1 or plan.deals <= PART_DEALS[plan.path]:
            queue.run_here()
        else:
            queue.run_in_processes(jobs)
    except KeyboardInterrupt:
        return queue.collected(plan, interrupted=True)
    return queue.collected(plan, interrupted=False)


def run_part(part: Part, entropy: Entropy) -> Deals:
    """Deal one part: its chances come from the plan's seed, or else from `entropy`."""
    plan = part.plan
    if plan.seed is not None:
        name = f"lab {plan.seed} {'again ' * plan.again}{plan.path} {part.number}"
        entropy = random.Random(name).randbytes
    if plan.path == "sequence":
        return deal_chain(part.deals, plan.method, entropy, f"lab-{part.number}")
    full = importlib.import_module("controller.trials.lab.full")  # needs the simulator
    deals = full.deal_life(part.deals, entropy)
    assert isinstance(deals, Deals)
    return deals


class _PartQueue:
    """Has the next part dealt, and keeps those that are there."""

    def __init__(self, todo: Iterator[Part], entropy: Entropy, saw: Callable[[int], None]) -> None:
        self._parts, self._entropy, self._on_deals = todo, entropy, saw
        self._seen: dict[int, Deals] = {}
        self._failed: list[str] = []

    def run_here(self) -> None:
        """Deal all parts in this process."""
        for part in self._parts:
            self._keep(part, _run_guarded(part, self._entropy))

    def run_in_processes(self, jobs: int) -> None:
        """Deal all parts in other processes. Raises KeyboardInterrupt once they are ended."""
        calls = ((part, (part, self._entropy)) for part in self._parts)
        with Workers(_run_guarded, jobs) as workers:
            for part, dealt in workers.results(calls):
                if dealt is None:
                    self._failed.append("a process that dealt died")
                    return
                self._keep(part, dealt)

    def collected(self, plan: Plan, *, interrupted: bool) -> CollectionResult:
        """Return what is there, in the order of the parts."""
        there: Sequence[Deals] = [self._seen[number] for number in sorted(self._seen)]
        source = Source(
            path=plan.path,
            method=plan.method,
            seed=plan.seed,
            asked=plan.deals,
            given_up=sum(part.source.given_up for part in there),
            passes=max((part.source.passes for part in there), default=0),
            version=version("dealtable"),
        )
        return CollectionResult(joined(there, source), interrupted, tuple(self._failed))

    def _keep(self, part: Part, dealt: Deals | str) -> None:
        if isinstance(dealt, str):
            self._failed.append(dealt)
            return
        self._seen[part.number] = dealt
        self._on_deals(len(dealt))


def _run_guarded(part: Part, entropy: Entropy) -> Deals | str:
    """Return a part's deals, or in one line why there are none: the others go on."""
    try:
        return run_part(part, entropy)
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        words = f"{type(error).__name__}: {error} ({where.name}, line {where.lineno})"
        return f"part {part.number}: {' '.join(words.split())}"
