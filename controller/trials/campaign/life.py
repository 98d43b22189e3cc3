"""One table's life in virtual time: so many deals, whatever befalls them, and what came of it.

Everything follows from the plan's seed: the same plan gives the same report. Nothing of a life
outlives it: no task, no timer, no file but the journal that the plan asks for.
"""

import asyncio
import random
import shutil
import tempfile
from collections import Counter, defaultdict
from contextlib import suppress
from pathlib import Path

from controller.loggers import structlog
from controller.messages import Event, State
from controller.rules.rulebooks import load_profile
from controller.trials.campaign.blame import PossibleCauses, words
from controller.trials.campaign.chronicle import AttemptLog
from controller.trials.campaign.hands import People
from controller.trials.campaign.hearing import LifeEvidence
from controller.trials.campaign.house import House
from controller.trials.campaign.memory import TableStuck
from controller.trials.campaign.moments import MomentTrigger
from controller.trials.campaign.tape import Tape, tales
from controller.trials.campaign.values import (
    Finding,
    FindingKind,
    LifePlan,
    LifeReport,
    Onlooker,
)
from drivers.link.port import Port
from sim.inproc import BoardName
from sim.mechanics.faults import FaultStrike, menu
from sim.virtual import VirtualLoop

PROFILE = "international-000"
_IN_MEMORY = Path("/dev/shm")
SETTLE_S = 4.0
"""How long after its last deal a table may still say what its boards have to say."""


def run_life(plan: LifePlan, onlooker: Onlooker | None = None) -> LifeReport:
    """Live one life and judge it."""
    folder = Path(tempfile.mkdtemp(prefix="dt-", dir=_IN_MEMORY))
    try:
        # What a daemon says to its log is nobody's here: a full disk is what was asked for.
        unheard = structlog.testing.capture_logs()
        with unheard, asyncio.Runner(loop_factory=VirtualLoop) as runner:
            return runner.run(_live(plan, folder, onlooker))
    finally:
        shutil.rmtree(folder)


async def _live(plan: LifePlan, folder: Path, onlooker: Onlooker | None) -> LifeReport:
    return await _Life(plan, folder, onlooker).live()


class _Life:
    """One life while it is lived."""

    def __init__(self, plan: LifePlan, folder: Path, onlooker: Onlooker | None) -> None:
        self._plan, self._observer = plan, onlooker
        self._loop = asyncio.get_running_loop()
        self._findings: list[Finding] = []
        self._strike_counts: Counter[str] = Counter()
        self._card_faults: defaultdict[tuple[int, int], list[str]] = defaultdict(list)
        profile = load_profile(PROFILE)
        runtime_dir = folder / "run"
        runtime_dir.mkdir(mode=0o700)
        state_dir = plan.journal or folder / "state"
        state_dir.mkdir(parents=True, exist_ok=True)
        self._house = House(
            plan,
            profile,
            state_dir,
            runtime_dir,
            told=self._told,
            said=self._log,
            line=self._wrap_port,
        )
        world = self._house.sim.world
        self._tracker = Tape(world)
        self._moment_trigger = MomentTrigger(world, plan.moments)
        self._causes = PossibleCauses(world)
        self._attempts = AttemptLog(
            self._causes,
            self._loop.time,
            length=lambda: self._tracker.length,
            wrong=lambda told: self._add_finding("wrong_blame", told),
            at=self._at,
        )
        self._evidence = LifeEvidence(
            self._house, self._tracker, self._attempts, profile, self._add_finding
        )
        for struck in world.faults.struck:
            self._on_strike(struck)
        world.on_struck.append(self._on_strike)
        self._people = People(
            self._house,
            profile,
            random.Random(f"cuts {plan.seed}"),
            over=lambda: self._attempts.deals >= plan.deals,
            hand=self._on_hand,
            acted=self._causes.acted,
        )

    async def live(self) -> LifeReport:
        """Live it, then judge it."""
        self._loop.set_exception_handler(self._house.caught)
        people = asyncio.ensure_future(self._run_people())
        try:
            await self._house.run(people)
        finally:
            people.cancel()
            with suppress(asyncio.CancelledError):
                await people
            self._tracker.close()
            self._house.close()
        for crash in self._house.crashes:
            self._add_finding("crashed", crash)
        self._evidence.judge()
        return LifeReport(
            seed=self._plan.seed,
            deals=self._attempts.deals,
            attempts=self._attempts.attempts(),
            findings=tuple(self._findings),
            ended_s=self._loop.time(),
            strikes=tuple(sorted(self._strike_counts.items())),
            left_behind=self._evidence.left_behind,
        )

    async def _run_people(self) -> None:
        try:
            await self._people.work()
        except TableStuck as stuck:
            self._add_finding("stuck", str(stuck))
            return
        self._house.mend()
        await asyncio.sleep(SETTLE_S)

    # What happens in it.

    def _told(self, value: State | Event) -> None:
        if isinstance(value, State):
            self._people.see(value)
            return
        self._moment_trigger.told(value.kind)
        self._log(f"{value.kind} {_reasons_text(value)}".rstrip())
        deals = self._attempts.deals
        self._attempts.take(value)
        if self._attempts.deals > deals:
            self._people.new_deal()

    def _at(self, kind: str) -> None:
        """Look at the cards at a step of the attempt."""
        notes = self._attempts.present
        assert notes is not None
        if kind == "verdict":
            self._evidence.held(notes)
            if self._observer is not None:
                passages = self._tracker.passages(notes.since)
                told = tuple(tales(passages, self._card_faults))
                self._observer.cards(self._loop.time(), notes.deal, notes.attempt, told)

    def _on_strike(self, struck: FaultStrike) -> None:
        told = words(struck.fault)
        self._strike_counts[told] += 1
        self._causes.struck(struck)
        if menu()[struck.fault.name].strikes == "card":
            filling = self._house.sim.world.tally.filling
            self._card_faults[filling, struck.number].append(told)
        self._log(f"{told} strikes, card {struck.number}")

    def _on_hand(self, name: str) -> None:
        self._attempts.hand(name)
        self._log(f"people: {name}")

    def _wrap_port(self, board: BoardName, port: Port) -> Port:
        return port if self._observer is None else self._observer.line(board, port)

    def _log(self, told: str) -> None:
        if self._observer is not None:
            notes = self._attempts.present
            deal, attempt = (None, None) if notes is None else (notes.deal, notes.attempt)
            self._observer.told(self._loop.time(), deal, attempt, told)

    def _add_finding(self, kind: FindingKind, told: str, attempt: int | None = None) -> None:
        notes = self._attempts.present
        if attempt is not None:
            notes = next((one for one in self._attempts.notes if one.attempt == attempt), notes)
        deal, number = (None, None) if notes is None else (notes.deal, notes.attempt)
        self._findings.append(Finding(kind, self._plan.seed, deal, number, told))
        self._log(f"{kind}: {told}")


def _reasons_text(event: Event) -> str:
    data = event.data
    if event.kind == "fault":
        return str(data["name"])
    return " ".join([str(data.get("outcome", "")), *data.get("reasons", ())]).strip()
