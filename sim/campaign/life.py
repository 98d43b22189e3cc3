"""The function `run_life`, which runs one simulated table (a life) and judges its results.

`MomentTrigger` triggers planned faults after a public event or a move of the machine.
"""

import asyncio
import random
import shutil
import tempfile
from collections import Counter, defaultdict
from contextlib import suppress
from pathlib import Path

from controller.host.loggers import structlog
from controller.messages import PublicEvent, PublicState
from controller.rules.profile_files import load_profile
from sim.campaign.attempt_log import AttemptLog, PossibleCauses, fault_text
from sim.campaign.campaign_lives import FindingKind, LifeFinding, LifePlan, LifeReport, MomentFault
from sim.campaign.campaign_people import CampaignPeople, TableStuck
from sim.campaign.ground_truth import CardTracker, card_histories
from sim.campaign.life_evidence import LifeEvidence
from sim.campaign.replay_log import ReplayLog
from sim.campaign.table_host import TableHost
from sim.mechanics.fault_menu import FaultStrike, fault_menu
from sim.mechanics.world import World
from sim.virtual_loop import VirtualLoop

NAMED_MOVES = {
    ("shuffler", 1): "drawn in",
    ("lift_down", 0): "lift leaves",
    ("lift", 1): "lift up",
    ("lift", 0): "lift comes",
    ("lift_down", 1): "lift down",
}
"""Names of moves for faults at a moment, by the sensor and its level."""


class MomentTrigger:
    """An object that triggers each planned fault when its `after_event` has occurred."""

    def __init__(self, world: World, moments: tuple[MomentFault, ...]) -> None:
        self._world, self._pending = world, list(moments)
        self._loop = asyncio.get_running_loop()
        if moments:
            world.dealer.observe(self._on_sensor)

    def notify(self, name: str) -> None:
        """Schedule the planned faults that wait for `name`, because `name` has just occurred.

        `name` is the kind of a public event, or the name of a move in NAMED_MOVES.
        """
        for moment in [one for one in self._pending if one.after_event == name]:
            self._pending.remove(moment)
            self._loop.call_later(moment.after_ms / 1000, self._world.add_fault, moment.fault)

    def _on_sensor(self, sensor: str, value: int) -> None:
        move = NAMED_MOVES.get((sensor, value))
        if move is not None:
            self.notify(move)


PROFILE = "international-000"
_IN_MEMORY = Path("/dev/shm")
SETTLE_S = 4.0
"""The time after the last deal during which a table may still receive events of its boards."""


def run_life(plan: LifePlan, observer: ReplayLog | None = None) -> LifeReport:
    """Run one simulated table (a life), judge its results, and return its report."""
    folder = Path(tempfile.mkdtemp(prefix="dt-", dir=_IN_MEMORY))
    try:
        # The daemon's log output is dropped here: for example, a full disk is intended.
        unheard = structlog.testing.capture_logs()
        with unheard, asyncio.Runner(loop_factory=VirtualLoop) as runner:
            return runner.run(_run_life(plan, folder, observer))
    finally:
        shutil.rmtree(folder)


async def _run_life(plan: LifePlan, folder: Path, observer: ReplayLog | None) -> LifeReport:
    return await _Life(plan, folder, observer).run()


class _Life:
    """One simulated table (a life), its people, and the evidence for its judgement."""

    def __init__(self, plan: LifePlan, folder: Path, observer: ReplayLog | None) -> None:
        self._plan, self._observer = plan, observer
        self._loop = asyncio.get_running_loop()
        self._findings: list[LifeFinding] = []
        self._strike_counts: Counter[str] = Counter()
        self._card_faults: defaultdict[tuple[int, int], list[str]] = defaultdict(list)
        runtime_dir = folder / "run"
        runtime_dir.mkdir(mode=0o700)
        state_dir = plan.journal or folder / "state"
        state_dir.mkdir(parents=True, exist_ok=True)
        self._host = TableHost(
            plan,
            load_profile(PROFILE),
            state_dir,
            runtime_dir,
            on_published=self._on_published,
            log=self._log,
            wrap_port=(lambda board, port: port) if observer is None else observer.wrap_port,
        )
        world = self._host.sim.world
        self._tracker = CardTracker(world)
        self._moment_trigger = MomentTrigger(world, plan.moments)
        self._causes = PossibleCauses(world)
        self._attempts = AttemptLog(
            self._causes,
            self._loop.time,
            count_passages=lambda: self._tracker.passage_count,
            on_unexplained=lambda told: self._add_finding("wrong_blame", told),
            on_step=self._on_step,
        )
        self._evidence = LifeEvidence(self._host, self._tracker, self._attempts, self._add_finding)
        for struck in world.faults.past_strikes:
            self._on_strike(struck)
        world.strike_listeners.append(self._on_strike)
        self._people = CampaignPeople(
            self._host,
            random.Random(f"cuts {plan.seed}"),
            is_over=lambda: self._attempts.deals >= plan.deals,
            on_hand=self._on_hand,
            on_action=self._causes.add_action,
        )

    async def run(self) -> LifeReport:
        """Run the simulated table (life), judge its results, and return its report."""
        self._loop.set_exception_handler(self._host.handle_loop_error)
        people = asyncio.ensure_future(self._run_people())
        try:
            await self._host.run(people)
        finally:
            people.cancel()
            with suppress(asyncio.CancelledError):
                await people
            self._tracker.close()
            self._host.close()
        for crash in self._host.crashes:
            self._add_finding("crashed", crash)
        self._evidence.judge_life()
        return LifeReport(
            seed=self._plan.seed,
            deals=self._attempts.deals,
            attempts=self._attempts.ended_attempts(),
            findings=tuple(self._findings),
            ended_s=self._loop.time(),
            strikes=tuple(sorted(self._strike_counts.items())),
            left_behind=self._evidence.left_behind,
        )

    async def _run_people(self) -> None:
        try:
            await self._people.run()
        except TableStuck as stuck:
            self._add_finding("stuck", str(stuck))
            return
        self._host.mend()
        await asyncio.sleep(SETTLE_S)

    # Events of the life.

    def _on_published(self, value: PublicState | PublicEvent) -> None:
        if isinstance(value, PublicState):
            self._people.observe(value)
            return
        self._moment_trigger.notify(value.kind)
        data = value.data
        ended = (data.get("outcome", ""), *data.get("reasons", ()))
        told = data["name"] if value.kind == "fault" else " ".join(map(str, ended)).strip()
        self._log(f"{value.kind} {told}".rstrip())
        deals = self._attempts.deals
        self._attempts.apply(value)
        if self._attempts.deals > deals:
            self._people.new_deal()

    def _on_step(self, kind: str) -> None:
        """Record the card positions if `kind`, the step of the attempt, is "verdict".

        In a replay, also log the passages of the cards.
        """
        notes = self._attempts.current
        assert notes is not None
        if kind == "verdict":
            self._evidence.record_verdict(notes)
            if self._observer is not None:
                passages = self._tracker.passages(notes.first_passage)
                cards = tuple(card_histories(passages, self._card_faults))
                self._observer.add_cards(self._loop.time(), notes.deal, notes.attempt, cards)

    def _on_strike(self, struck: FaultStrike) -> None:
        words = fault_text(struck.fault)
        self._strike_counts[words] += 1
        self._causes.add_strike(struck)
        if fault_menu()[struck.fault.name].strikes == "card":
            self._card_faults[self._host.sim.world.tally.filling, struck.number].append(words)
        self._log(f"{words} strikes, card {struck.number}")

    def _on_hand(self, name: str) -> None:
        self._attempts.note_hand(name)
        self._log(f"people: {name}")

    def _log(self, words: str) -> None:
        if self._observer is not None:
            notes = self._attempts.current
            deal, attempt = (None, None) if notes is None else (notes.deal, notes.attempt)
            self._observer.add_line(self._loop.time(), deal, attempt, words)

    def _add_finding(self, kind: FindingKind, words: str, attempt: int | None = None) -> None:
        notes = self._attempts.current
        if attempt is not None:
            notes = next((one for one in self._attempts.notes if one.attempt == attempt), notes)
        deal, number = (None, None) if notes is None else (notes.deal, notes.attempt)
        self._findings.append(LifeFinding(kind, self._plan.seed, deal, number, words))
        self._log(f"{kind}: {words}")
