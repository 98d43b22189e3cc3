"""A walk: sensible people with somebody beside them who does anything, and what must always hold.

Its daemon may be killed, and lose its power, as often as the walk likes (tests/crash/lives.py).
"""

import asyncio
import gc
import random
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from itertools import count
from pathlib import Path
from typing import Any

from controller.cards import composition
from controller.commands.registry import COMMANDS
from controller.config import CardSetSection
from controller.deal import sequence as fair
from controller.faults import fault_catalogue
from controller.journal.entries import StorageFailed, public_event
from controller.machine.state.table_match import TableMatch, fold_match
from controller.messages import (
    ClientCommand,
    CommandReply,
    MachinePhase,
    PublicEvent,
    PublicState,
    Role,
)
from controller.rules.profile import Profile
from controller.seats import SEATS
from controller.vault.dealt_hands import dealt_hand
from sim.hardware_in_process import HardwareInProcess
from sim.mechanics.fault_menu import get_wear_level
from sim.mechanics.mechanics_settings import BACKS, MechanicsSettings, PhysicalSet
from sim.mechanics.truth import Truth
from sim.tables.daemon_death import DaemonDeath
from sim.tables.table_in_process import TableInProcess
from tests.crash.lives import SIGNERS, Scene
from tests.machine.disturber import Disturber
from tests.machine.sensible import Named, Sensible
from tests.match.table import BIG_TWO, INTL, B, H, N, from_level, timed, varied
from tests.matches.watch import leaks

ANSWER_S = 200.0
"""A command that has no answer by then will never have one."""
CALM_S = 1.5 * 3600.0
"""By then sensible people have brought their match to its end, once nobody disturbs them."""
TURNED_UP = frozenset({"TurnedUp", "HandsDealt", "Released"})
"""What happens in a match with a card that everybody sees."""
SILENCE_S = 10.0
"""After so long without a state on the feed its daemon is dead."""
PROFILES: tuple[Callable[[], Profile], ...] = (
    lambda: varied(INTL, ending={"method": "deals", "deals": 2}),
    lambda: timed(INTL, time_s=900),
    lambda: from_level("Q", INTL),
    lambda: varied(H, ending={"method": "deals", "deals": 2}),
    lambda: timed(N, time_s=600),
    lambda: varied(B, ending={"method": "timed_deals", "deals": 2}),
    lambda: varied(BIG_TWO),
)
"""The rulebooks that are walked through. Each is loaded where it is used."""


class BrokenWalk(AssertionError):
    """Something that must never be was so."""


class Walk:
    """One table, its people, and all that was wrong so far."""

    def __init__(
        self,
        seed: object,
        profile: Profile,
        folder: Path,
        runtime_dir: Path,
        *,
        steps: int,
        ahead: bool = False,
        worn: str = "ideal",
        disturbed: float = 0.3,
        deaths: float = 0.0,
    ) -> None:
        self.seed, self.profile = seed, profile
        self.chance = random.Random(f"walk {seed}")
        self.steps, self.deaths, self.disturbed = steps, deaths, disturbed
        self.did: list[str] = []
        self.wrong: list[str] = []
        self.given: list[tuple[ClientCommand, CommandReply | None]] = []
        self.codes: Counter[str] = Counter()
        self.hands_out = 0
        self._ids = count(1)
        self._open: set[asyncio.Future[Any]] = set()
        self.ahead = ahead
        both = (CardSetSection(id="S1", back="A"), CardSetSection(id="S2", back="B"))
        self.card_sets = both if ahead else both[: self.chance.choice((1, 2))]
        self.sensible = Sensible(profile, self.chance, self.give)
        self.sensible.ahead = ahead
        self.disturber = Disturber(self.chance, self.give, self.again)
        self.scene = self._scene(folder, runtime_dir, worn)
        self._life: TableInProcess | None = None
        self._seen_at = 0.0
        self._checked = 0
        self.states: list[PublicState] = []
        self.calm_s: float | None = None
        self._was_up = False
        self.ended = False

    def _scene(self, folder: Path, runtime_dir: Path, worn: str) -> Scene:
        deck = self.profile.deck
        boots = count(1)
        settings = MechanicsSettings(
            packs=deck.packs,
            jokers=deck.jokers,
            sets=tuple(PhysicalSet(one.id, BACKS[one.back]) for one in self.card_sets),
            faults=get_wear_level(worn).rates,
            together=get_wear_level(worn).together,
        )
        chance = random.Random(f"mechanics {self.seed}")
        sim = HardwareInProcess(settings, chance, boots=lambda: next(boots))
        folder.mkdir(parents=True)
        scene = Scene(sim, folder, runtime_dir)
        scene.state_dir.mkdir()
        self._watch_lift(sim)
        return scene

    # What must hold of hands that go out.

    def _watch_lift(self, sim: HardwareInProcess) -> None:
        lift = sim.world.lift
        sense = lift._sense

        def sensed() -> None:
            if lift.is_up and not self._was_up:
                self._hands_up()
            self._was_up = lift.is_up
            sense()

        lift._sense = sensed  # type: ignore[method-assign]  # behind everybody's back

    def _hands_up(self) -> None:
        """See that what comes up is four right hands, as they were drawn and committed to."""
        truth, deck = self.scene.sim.world.truth(), self.profile.deck
        if not any(truth.pockets):
            return
        self.hands_out += 1
        sizes = [len(cards) for cards in truth.pockets]
        each = self.profile.hand
        if sizes != [each] * 4 + [0]:
            self.wrong.append(f"hands of {sizes} went out")
        faces = Counter(card.face for cards in truth.pockets for card in cards)
        due = composition(deck.packs, jokers=deck.jokers)
        if faces != Counter({face: n for face, n in enumerate(due) if n}):
            self.wrong.append("what went out is no whole set")
        if len({card.back for cards in truth.pockets for card in cards}) != 1:
            self.wrong.append("cards of two sets went out")
        if self._life is not None and self.scene.lives[-1].store.is_alive:
            self._as_bound(self._life, truth)

    def _as_bound(self, at: TableInProcess, truth: Truth) -> None:
        table = at.machine.table_boards
        run = (
            table.run
            if table.run is not None and table.run.is_released
            else table.hands_with_players.run
        )
        if run is None:
            self.wrong.append("hands went out that no attempt has")
            return
        if run.writer.is_key_lost:
            return
        for seat, cards in zip(SEATS, truth.pockets[:4], strict=True):
            dealt = dealt_hand(run.writer.vault, run.writer.sequence, seat)
            if sorted(dealt) != sorted(card.face for card in cards):
                self.wrong.append(f"{seat} got another hand than the vault bound")
        record = run.writer.build_record((), {})
        proofs = {one.attempt: one for one in at.states[-1].fairness}
        proof = proofs.get(run.number)
        if proof is None:
            self.wrong.append(f"hands of {run.number} went out, which has no proof")
            return
        bound = fair.hands_commitment(
            bytes.fromhex(proof.commitment),
            bytes.fromhex(record["nonce"]),
            bytes.fromhex(record["hands"]),
        )
        if proof.hands != bound.hex():
            self.wrong.append("the hands are not those that were bound")

    # Commands.

    async def give(
        self, role: Role, cmd: str, /, *, about: Any = None, **args: Any
    ) -> CommandReply:
        """Give a command, and see that it is answered as it should be."""
        at = self._life
        assert at is not None
        command = at.make_command(role, cmd, about=about, **args)
        named = ClientCommand(
            id=f"C{next(self._ids)}", cmd=cmd, deal=command.deal, attempt=command.attempt, args=args
        )
        return await self._sent(at, at.sign_command(named, SIGNERS[role]))

    async def again(self) -> None:
        """Give a command once more, under its id: it is answered as it was."""
        at = self._life
        acted = [(one, reply) for one, reply in self.given if reply is not None and reply.ok]
        if at is None or not acted:
            return
        command, before = self.chance.choice(acted[-200:])
        reply = await self._sent(at, command, known=True)
        if COMMANDS[command.cmd].signed and before is not None:
            same = (reply.ok, reply.result) == (before.ok, before.result)
            if not same and command.cmd != "take_over":
                self.wrong.append(f"{command.cmd} again: {reply} instead of {before}")

    async def _sent(
        self, at: TableInProcess, command: ClientCommand, known: bool = False
    ) -> CommandReply:
        life = self.scene.lives[-1]
        asked: asyncio.Future[CommandReply] = asyncio.ensure_future(at.lasting.submit(command))
        self._open.add(asked)
        asked.add_done_callback(self._open.discard)
        try:
            async with asyncio.timeout(ANSWER_S):
                reply = await asked
        except TimeoutError:
            if not life.store.is_alive:
                raise asyncio.CancelledError from None  # nobody is there to answer
            self.wrong.append(f"{command.cmd} {command.args} has no answer")
            raise BrokenWalk(self.wrong[-1]) from None
        except Exception as error:
            self.wrong.append(f"{command.cmd} {command.args}: {error!r}")
            raise
        code = "ok" if reply.ok else (reply.error.code if reply.error else "nothing")
        self.codes[f"{command.cmd} {code}"] += 1
        if code != "ok" and code not in fault_catalogue():
            self.wrong.append(f"{command.cmd} is refused with {code}")
        if not known:
            self.given.append((command, reply))
        return reply

    # The walk.

    async def run(self) -> None:
        """Walk to the end. Raises BrokenWalk, with the last steps as notes."""
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(self._never_retrieved)
        try:
            for life in range(1000):
                death = self._death() if self.steps > 0 and life < 40 else None
                self.did.append(f"life {life + 1} {death}")
                await self.scene.live(
                    self._act,
                    death,
                    profile=self.profile,
                    card_sets=self.card_sets,
                    deal_ahead=self.ahead,
                )
                if self.ended:
                    break
            self._at_end()
        except BaseException as error:
            for note in (f"seed {self.seed}", *self.did[-60:], *self.wrong[:5]):
                error.add_note(note)
            raise
        finally:
            self.scene.sim.close()
            gc.collect()
            await asyncio.sleep(0)
        self._nothing_wrong()

    def _death(self) -> DaemonDeath | None:
        if self.chance.random() >= self.deaths:
            return None
        wrote = self._last_entry()
        power = self.chance.random() < 0.4
        return DaemonDeath(
            wrote + self.chance.choice((3, 10, 40, 120, 300)),
            after_s=self.chance.choice((0.0, 0.0, 0.01, 0.4)),
            restart_after_s=self.chance.choice((0.2, 1.0, 30.0, 700.0)),
            power_lost=power,
            boards_reset=power and self.chance.random() < 0.5,
        )

    def _last_entry(self) -> int:
        if not self.scene.lives:
            return 0
        return sum(1 for _ in self.scene.entries())

    async def _act(self, scene: Scene, at: TableInProcess) -> None:
        """Live one life of the daemon."""
        self._life = at
        self._watch(at)
        await at.panel()
        await at.wait_for_state(lambda state: True)
        while True:
            self._nothing_wrong()
            if self.steps > 0:
                self.steps -= 1
                await self._step(at)
                if self.chance.random() < 0.02:
                    self._same_play(at)
            elif await self._calm(at):
                break
        await self._settled()
        self._same_play(at)
        self.ended = True

    async def _step(self, at: TableInProcess) -> None:
        if self.chance.random() < self.disturbed:
            self.did.append(await self.disturber.act(at))
            return
        await self._sensibly(at)

    async def _sensibly(self, at: TableInProcess) -> bool:
        now_s = asyncio.get_running_loop().time()
        named: Named | None = self.sensible.next(at, now_s)
        if named is not None:
            self.did.append(f"[{named[0]}]")
            await self.scene.with_hands(_ended(named[1]()))
        await asyncio.sleep(self.chance.choice((0.05, 0.3, 1.0)))
        return named is not None

    async def _calm(self, at: TableInProcess) -> bool:
        """Go on without anybody who disturbs; True: the match is signed."""
        now_s = asyncio.get_running_loop().time()
        if self.calm_s is None:
            self.calm_s = now_s
            at.sim.world.faults.clear()
            self.did.append("--- calm")
        match = at.states[-1].match
        if match.match is not None and match.phase == "signed":
            return True
        if now_s - self.calm_s > CALM_S:
            raise BrokenWalk(f"stuck: {where(at.states[-1])}; {seen(at)}")
        if now_s - self._seen_at > SILENCE_S:
            raise BrokenWalk("the daemon is silent")
        await self._sensibly(at)
        return False

    async def _settled(self) -> None:
        if self._open:
            await asyncio.wait(self._open, timeout=ANSWER_S)

    # What must always hold.

    def _watch(self, at: TableInProcess) -> None:
        publish, life = at.publish, self.scene.lives[-1]

        def watched(value: PublicState | PublicEvent) -> None:
            publish(value)
            if isinstance(value, PublicState) and life.store.is_alive:
                self._seen_at = asyncio.get_running_loop().time()
                self.states.append(value)
                self.wrong += [f"{what}: {where(value)}" for what in broken(value)]

        at.publish = watched  # type: ignore[method-assign]  # beside what lives.py hears

    def _same_play(self, at: TableInProcess) -> None:
        """See that the journal alone makes the match that is played."""
        record = at.machine.record
        if not self.scene.lives[-1].store.is_alive:
            return
        play = TableMatch()
        for item in record.journal.entries():
            play = fold_match(play, item.entry, self.profile)
        if play != record.match_committed:
            self.wrong.append("the journal's match is another one than the table's")

    def _nothing_wrong(self) -> None:
        if self.wrong:
            raise BrokenWalk("; ".join(self.wrong[:3]))

    def _never_retrieved(self, loop: asyncio.AbstractEventLoop, context: Mapping[str, Any]) -> None:
        error = context.get("exception")
        if not isinstance(error, StorageFailed):
            self.wrong.append(f"{context.get('message')}: {error!r}")

    def _at_end(self) -> None:
        entries = [item for item in self.scene.entries() if item.entry.public]
        events = [
            public_event(item, "T01", True)
            for item in entries
            if item.entry.data.get("event") not in TURNED_UP
        ]
        # Answers of a deal that is dealt again are told, and those of a match that came along.
        found = leaks(self.profile, self.states, events)
        self.wrong += [what for what in found if "answer" not in what][:3]
        self.scene.check()


async def _ended(work: Awaitable[object]) -> None:
    await work


def where(state: PublicState) -> str:
    """Say in a line how a table stands."""
    machine, match = state.machine, state.match
    return (
        f"machine {machine.phase} {machine.deal}.{machine.attempt} set {machine.card_set} "
        f"out {machine.set_out} pauses {machine.pauses}; match {match.match} {match.phase} "
        f"{match.deal}.{match.attempt}: {match.next_en}; waiting {match.waiting_for}; "
        f"suspended {match.suspended}; claimed {match.claimed}; by hand {match.by_hand}; "
        f"calls {[(call.reason, call.seat) for call in state.calls]}; "
        f"alerts {[row.name for row in state.alerts]}"
    )


def seen(at: TableInProcess) -> str:
    """Say in a line where the cards lie."""
    truth = at.sim.world.truth()
    return (
        f"hopper {len(truth.hopper)} shuffler {len(truth.shuffler)} feeder {len(truth.feeder)} "
        f"window {len(truth.window)} path {len(truth.path)} "
        f"pockets {[len(one) for one in truth.pockets]} floor {len(truth.floor)} "
        f"hands {[len(one) for one in truth.hands]} table {len(truth.table)} "
        f"beside { {name: len(pile) for name, pile in truth.beside.items()} } "
        f"lift {truth.lift_up} {truth.lift_down} lid {truth.lid_open} estop {truth.estop}"
    )


def broken(state: PublicState) -> list[str]:
    """Return what does not hold in a public state."""
    machine, match = state.machine, state.match
    laid = match.match is not None
    out = machine.set_out is not None
    holds: dict[str, bool] = {
        "a released machine has a set out": machine.phase is not MachinePhase.RELEASED or out,
        "hands that the match has are of an attempt": match.attempt is None or laid,
        "what happens next is said": not laid or bool(match.next_en and match.next_zh),
        "one attempt at most is open": sum(one.outcome is None for one in state.fairness) <= 1,
        "attempts are numbered forward": [one.attempt for one in state.fairness]
        == sorted({one.attempt for one in state.fairness}),
        "held hands have their proof": machine.phase is not MachinePhase.HELD
        or (state.fairness[-1].hands is not None and state.fairness[-1].outcome == "ok"),
        "match held means machine held": match.phase != "held"
        or match.by_hand
        or machine.phase in (MachinePhase.HELD, MachinePhase.RELEASED, MachinePhase.FAULT),
        "nobody waits while the table is suspended": match.suspended is None
        or match.phase == "setup"
        or not match.waiting_for,
    }
    return [what for what, true in holds.items() if not true]
