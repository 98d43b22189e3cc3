"""Lives that need no table: what a worker runs in place of one."""

import os
from collections.abc import Iterator
from itertools import count
from pathlib import Path

from sim.campaign.campaign_lives import LifeAttempt, LifeFinding, LifePlan, LifeReport
from sim.mechanics.fault_menu import WearLevel
from tests.waiting import wait_until


def plans(number: int, folder: Path | None = None) -> list[LifePlan]:
    """Return so many lives of one deal; `folder` is where they meet."""
    return [LifePlan(f"1.{n}", 1, WearLevel(), folder) for n in range(1, number + 1)]


def number_of(plan: LifePlan) -> int:
    """Return a life's number."""
    return int(plan.seed.partition(".")[2])


def fine(plan: LifePlan) -> LifeReport:
    """Live without a finding."""
    return LifeReport(plan.seed, plan.deals, (), (), 1.0)


def slow_at_first(plan: LifePlan) -> LifeReport:
    """Live without a finding, the first one longer than all others together."""
    if number_of(plan) == 1:
        sum(range(20_000_000))
    return fine(plan)


def third_and_later_wrong(plan: LifePlan) -> LifeReport:
    """Have a finding in every life from the third on."""
    if number_of(plan) < 3:
        return fine(plan)
    finding = LifeFinding("stuck", plan.seed, 1, 1, "it stands still")
    return LifeReport(plan.seed, plan.deals, (), (finding,), 1.0)


def first_last(plan: LifePlan) -> LifeReport:
    """Have the same findings, the fourth life's well behind the third's, and before the first."""
    assert plan.journal is not None
    number = number_of(plan)
    if number in (1, 4):
        wait_until((plan.journal / {1: "4", 4: "3"}[number]).exists)
        sum(range(20_000_000))
    (plan.journal / str(number)).touch()
    return third_and_later_wrong(plan)


def raising(plan: LifePlan) -> LifeReport:
    """Raise in the second life."""
    if number_of(plan) == 2:
        raise LookupError("nobody\nhome")
    return fine(plan)


def dying(plan: LifePlan) -> LifeReport:
    """Take the process along in the second life."""
    if number_of(plan) == 2:
        os._exit(9)
    return fine(plan)


def endless(plan: LifePlan) -> LifeReport:
    """Never come to an end, and swallow every exception that one may swallow."""
    for _ in count():
        try:
            sum(range(1000))
        except Exception:
            continue
    return fine(plan)


def attempts(*told: LifeAttempt) -> LifeReport:
    """Return the report of a life with these attempts."""
    return LifeReport("1.1", len({each.deal for each in told}), told, (), 1.0)


def attempt(deal: int, number: int, outcome: str = "ok", **more: object) -> LifeAttempt:
    """Return an attempt to which nothing happened but what is said."""
    plain: dict[str, object] = {
        "deal": deal, "attempt": number, "outcome": outcome, "reasons": (), "struck": (),
        "alerts": (), "hands": (), "needless": False, "referee": False,
    }  # fmt: skip
    return LifeAttempt(**(plain | more))  # type: ignore[arg-type]  # a test says what it means


def interrupting(after: int) -> Iterator[LifePlan]:
    """Yield lives, and Ctrl-C behind so many."""
    yield from plans(after)
    raise KeyboardInterrupt
