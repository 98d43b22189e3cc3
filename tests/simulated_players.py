"""Four players and a referee at a table in this process, who play whole matches.

They have the public state and observe the machine as people do. They take the time that people
take (`PlayerDurations`), in virtual seconds. They also load and count the sets, and clear up after
faults.
"""

import asyncio
import random
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import msgspec

from controller.cards import composition
from controller.match.phase import BEFORE_RELEASE, DEAL_UNDER_WAY
from controller.match.phase import MatchPhase as Stage
from controller.match.sheet_writing import sheet_signers
from controller.messages import (
    AttemptOutcome,
    MachinePhase,
    PublicMachine,
    PublicMatch,
    PublicState,
    Role,
    Seat,
)
from controller.seats import SEATS
from sim.mechanics.card_handling import OutOfReach, PeopleAtMachine
from sim.mechanics.cards import PhysicalCard
from sim.mechanics.truth import Truth
from sim.tables.table_in_process import TableInProcess

PAIRS = {
    "NS": {"id": "1", "name": "Plum", "players": {"N": "Nan", "S": "Sun"}},
    "EW": {"id": "2", "name": "Bamboo", "players": {"E": "Eve", "W": "Wu"}},
}
LOOK_INTERVAL_S = 0.5
"""The interval at which people check whether the table waits for something."""
DEAL_TIMEOUT_S = 6 * 3600.0
"""A deal that takes longer than this is considered stuck."""
_FAILED = (AttemptOutcome.MISDEAL, AttemptOutcome.VOID)
_NEEDS_FACES = (Stage.ANTI_CHECK, Stage.TRIBUTE, Stage.RETURN)
_MAX_LOOKS = 20
"""After this many checks at one stage, people conclude that the machine has no answer."""
_LOADABLE = (MachinePhase.EMPTY, MachinePhase.RELEASED)
_ENDED = (Stage.OVER, Stage.SIGNED)
_DurationRange = tuple[float, float]


class PlayerDurations(msgspec.Struct, frozen=True, kw_only=True):
    """The minimum and maximum times in seconds that people take for each action.

    All are provisional.

    `start`: to press start. `cut`: to choose the cut. `release`: to request the hands. `take`: to
    lift the hands out. `load`: to square up a set and put it into the hopper. `count`: to count and
    sort 27 cards. `exchange`: to give a card of tribute or return. `play`: to play the cards.
    `confirm`: a side confirms the result.
    """

    start: _DurationRange = (1, 3)
    cut: _DurationRange = (2, 6)
    release: _DurationRange = (3, 8)
    take: _DurationRange = (2, 4)
    load: _DurationRange = (8, 20)
    count: _DurationRange = (20, 45)
    exchange: _DurationRange = (3, 10)
    play: _DurationRange = (360, 600)
    confirm: _DurationRange = (2, 6)


class PlayerMistakes(msgspec.Struct, frozen=True, kw_only=True):
    """The probability of each kind of mistake in a deal. `claims`: a player claims a wrong count.

    `redeals`: the chief orders a redeal. `mixed`: people mix the cards of two sets.
    """

    claims: float = 0.0
    redeals: float = 0.0
    mixed: float = 0.0


class SimulatedPlayers:
    """The simulated people at one table.

    `chance` decides their times and the player who finishes first. `chance` decides their times and
    the player who finishes first.

    With `deal_ahead`, the set that is not in play is dealt while the other set is played.
    `on_hands` receives the truth of the mechanics just before the players take their hands.
    """

    def __init__(
        self,
        trial: TableInProcess,
        chance: random.Random,
        *,
        deal_ahead: bool,
        durations: PlayerDurations,
        mistakes: PlayerMistakes | None = None,
        on_hands: Callable[[PublicState, Truth], None] = lambda state, truth: None,
    ) -> None:
        self.table, self._chance = trial, chance
        self._durations, self._deal_ahead = durations, deal_ahead
        self._mistakes = mistakes or PlayerMistakes()
        self._on_hands = on_hands
        self._cleared_attempts: set[int] = set()
        self._set_in_hands: str | None = None
        self._stage: tuple[int | None, str] | None = None
        self._looks = 0
        self._world = trial.sim.world

    @property
    def match(self) -> PublicMatch:
        """The match in the last state of the table."""
        return self.table.states[-1].match

    @property
    def machine(self) -> PublicMachine:
        """The machine in the last state of the table."""
        return self.table.states[-1].machine

    async def begin_match(self, match_id: str) -> None:
        """Set up a match, take the seats, and start the match."""
        await self.table.wait_for_state(lambda state: state.machine.phase is MachinePhase.EMPTY)
        said = {"event": "Cup", "round": 1, "match_no": 1, "table_no": "1", "stage": "swiss"}
        await self._command(Role.REFEREE, "set_match", match_id=match_id, pairs=PAIRS, **said)
        for seat in SEATS:
            await self._command(Role.TABLE, "confirm", seat=seat)
        await self._command(Role.CHIEF, "start_match")

    async def play(self, deals: int) -> int:
        """Play `deals` deals, or fewer if the match ends before. Return how many were played.

        Raises TimeoutError if the table is stuck.
        """
        played = 0
        looking = asyncio.ensure_future(self._attend_machine())
        try:
            while played < deals and self.match.phase not in _ENDED:
                async with asyncio.timeout(DEAL_TIMEOUT_S):
                    await self._play_deal()
                played += 1
        finally:
            looking.cancel()
            await asyncio.gather(looking, return_exceptions=True)
        return played

    async def sign(self) -> None:
        """End the match if it is not over, and sign its score sheet."""
        if self.match.phase not in _ENDED:
            await self._command(Role.CHIEF, "forfeit", side="EW", reason="they leave")
        match = self.table.machine.record.match_written.match
        assert match is not None  # the match is signed and stays until the next match
        for signer in sheet_signers(match):
            await self._command(Role.REFEREE, "sign", signer=signer, person=f"for {signer}")
        await self._clear_up()

    # The players.

    async def _play_deal(self) -> None:
        deal = self.match.deal
        upset = self._draw_mistake()
        while self.match.deal == deal and self.match.phase not in _ENDED:
            self._put_set_away()
            stage = self.match.phase
            truth = self._world.truth()
            if truth.lift_up and any(truth.pockets[:4]):
                await self._take_hands()
            elif stage is Stage.HELD and self.machine.phase is MachinePhase.HELD:
                await self._wait(self._durations.release)
                await self._command(Role.REFEREE, "release")
            elif stage in DEAL_UNDER_WAY and upset and self._chance.random() < 0.25:
                await upset()
                upset = None
            elif self.match.claimed is not None or self.match.suspended is not None:
                await self._recount()
            elif stage in _NEEDS_FACES and self._is_stuck(stage):
                await self._command(Role.CHIEF, "redeal", reason="the machine knows no faces")
            elif stage is Stage.COUNT_CHECK:
                await self._press_for_each(self._durations.count, "confirm")
            elif stage in (Stage.TRIBUTE, Stage.RETURN):
                await self._exchange()
            elif stage is Stage.PLAY:
                await self._play_cards()
            elif stage is Stage.RESULT:
                await self._press_for_each(self._durations.confirm, "confirm")
            await asyncio.sleep(LOOK_INTERVAL_S)
            self._put_set_away()

    def _is_stuck(self, stage: str) -> bool:
        """Return True if too many checks have found the match at the same `stage`.

        This happens after a power cut, because the machine has no faces of the cards then.
        """
        same = self._stage == (self.match.attempt, stage)
        self._looks = self._looks + 1 if same else 0
        self._stage = (self.match.attempt, stage)
        return self._looks > _MAX_LOOKS

    def _draw_mistake(self) -> Callable[[], Any] | None:
        """Draw a mistake with this deal's hands. Return the function that makes it, or None."""
        draw, share = self._chance.random(), self._mistakes
        if draw < share.claims:
            return lambda: self._command(Role.TABLE, "claim_count", seat=self._chance.choice(SEATS))
        if draw < share.claims + share.redeals:
            return lambda: self._command(Role.CHIEF, "redeal", reason="a card lay open")
        return self._mix if draw < share.claims + share.redeals + share.mixed else None

    async def _mix(self) -> None:
        """Mix a few cards of one set into the other, if people can reach both sets."""
        with suppress(OutOfReach):
            self._people.mix(self._chance.choice(sorted(self._people.beside)), 3)

    async def _take_hands(self) -> None:
        """Take the hands that are on the lift. A card left in a pocket is taken later."""
        await self.table.wait_for_state(lambda state: state.machine.set_out is not None)
        self._set_in_hands = self.machine.set_out
        if all(self._world.truth().pockets[:4]):
            self._on_hands(self.table.states[-1], self._world.truth())
        await self._wait(self._durations.take)
        self._people.take_hands()

    def _put_set_away(self) -> None:
        """Put the set away when its deal is over and its cards are no longer evidence."""
        if self.match.phase in DEAL_UNDER_WAY or self._set_in_hands is None:
            return
        self.table.lay_down()
        self._people.gather(self._set_in_hands)
        self._set_in_hands = None

    async def _recount(self) -> None:
        """Answer a player's claim of a wrong count. The chief may do this for any claim."""
        await self._wait(self._durations.count)
        if self.match.claimed is not None:
            await self._command(Role.CHIEF, "recount", counts={"N": 26, "W": 27, "S": 27, "E": 27})

    async def _press_for_each(self, pause: _DurationRange, cmd: str) -> None:
        """Send a command once for every seat that the match waits for."""
        await self._wait(pause)
        for seat in self.match.waiting_for:
            await self._command(Role.TABLE, cmd, seat=seat)

    async def _exchange(self) -> None:
        tribute = self.match.tribute
        if tribute is not None and tribute.choice_open:
            await self._command(Role.TABLE, "choose", payer=tribute.payers[0])
        await self._press_for_each(self._durations.exchange, "confirm")

    async def _play_cards(self) -> None:
        deal, order = self.match.deal, self._chance.sample(SEATS, k=4)
        await self._wait(self._durations.play)
        for seat in order:
            if (self.match.deal, self.match.phase) != (deal, Stage.PLAY):
                return
            await self._command(Role.REFEREE, "out", seat=seat)

    # The machine and the sets.

    async def _attend_machine(self) -> None:
        """Operate the machine in a loop: load cards, press start, cut and clear up."""
        while True:
            await self._clear_up()
            truth = self._world.truth()
            hopper_free = not (truth.hopper or truth.shuffler or truth.feeder)
            early = self._deal_ahead and self.match.phase in DEAL_UNDER_WAY
            if self.machine.phase is MachinePhase.COMMITTED:
                await self._cut()
            elif self.machine.phase not in _LOADABLE:
                pass
            elif hopper_free and self._may_load():
                await self._load()
            elif not hopper_free and (early or self.match.phase in BEFORE_RELEASE):
                await self._wait(self._durations.start)
                await self._command(Role.REFEREE, "start_deal")
            await asyncio.sleep(LOOK_INTERVAL_S)

    def _may_load(self) -> bool:
        """Return True if the set that the machine needs is beside it and is no longer evidence."""
        due = self.machine.card_set
        return due != self._set_in_hands and bool(self._people.beside.get(due or ""))

    async def _load(self) -> None:
        await self._wait(self._durations.load)
        card_set = self.machine.card_set
        if self.machine.phase in _LOADABLE and self._may_load():
            with suppress(OutOfReach):
                self._people.load(card_set)

    async def _cut(self) -> None:
        await self._wait(self._durations.cut)
        seat: Seat | None = next(iter(self.machine.cutters), None)
        if self.machine.phase is MachinePhase.COMMITTED:
            await self._command(Role.TABLE, "cut", n=self._chance.randrange(6, 103), seat=seat)

    async def _clear_up(self) -> None:
        """Collect the cards of an attempt without hands, and count every set that is barred."""
        proof = self.table.states[-1].fairness[-1] if self.table.states[-1].fairness else None
        failed = proof is not None and proof.outcome in _FAILED
        if failed and proof is not None and self._has_loose_cards(proof.attempt):
            self._cleared_attempts.add(proof.attempt)
            await asyncio.sleep(1)
            await self.collect(self.machine.card_set)
        for card_set in self.table.states[-1].sets:
            if card_set.barred and card_set.id != self._set_in_hands:
                await self._count_set(card_set.id)

    def _has_loose_cards(self, attempt: int) -> bool:
        """Return True if the cards of this attempt, which gave no hands, must be collected."""
        lie_about = self.machine.phase is MachinePhase.FAULT and any(self._world.truth().pockets)
        return attempt not in self._cleared_attempts or lie_about

    async def collect(self, card_set: str | None) -> None:
        """Open the lid, and put all cards of this set that are in the machine into the hopper."""
        await self._people.collect(card_set)

    async def _count_set(self, card_set: str) -> None:
        """Count all cards of a set. Replace an incomplete set by a new one."""
        lies_in = card_set == self.machine.card_set and bool(self._world.hopper)
        pile = self._world.hopper if lies_in else self._people.beside[card_set]
        if not pile:
            return
        if not self._is_whole(pile, card_set):
            self._people.box.extend(pile)
            pile.clear()
            pile.extend(self._world.new_set(108, self._people.backs[card_set], 54))
            self._world.hopper_changed()
        await self._command(Role.REFEREE, "clear_set", set=card_set, cards=108)

    def _is_whole(self, pile: list[PhysicalCard], card_set: str) -> bool:
        faces = sorted(card.face for card in pile)
        due = [face for face, n in enumerate(composition(2, jokers=True)) for _ in range(n)]
        backs = {card.back for card in pile}
        return faces == due and backs == {self._people.backs[card_set]}

    @property
    def _people(self) -> PeopleAtMachine:
        return self.table.people

    async def _command(self, role: Role, cmd: str, **args: Any) -> Any:
        answer = await self.table.send_command(role, cmd, **args)
        await asyncio.sleep(0.1)
        return answer

    async def _wait(self, span: _DurationRange) -> None:
        await asyncio.sleep(self._chance.uniform(*span))
