"""Simulated people at a table who play one match after the other, as in a demo.

They receive the table's feed and observe the cards as people do. They do what is due next: take
seats, cut, take their hands, count, pay tribute, finish their hands in some order, confirm, sign.
Sometimes a player calls the referee. If no referee comes, the call is cancelled.
"""

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import Any, Final

import msgspec

from controller.client.client import BadMessage, Client, NoAnswer
from controller.commands.registry import COMMANDS
from controller.match.phase import MatchPhase as Stage
from controller.messages import AttemptOutcome, MachinePhase, PublicMatch, PublicState, Role
from controller.seats import SEATS
from sim.tables.table_processes import TableProcess

DurationRange = tuple[float, float]
TimedAction = tuple[DurationRange, Callable[[], Awaitable[object]]]
"""The time that people take before an action, in seconds at the reference pace, and the action."""

_AT_ONCE: Final[DurationRange] = (0.1, 0.3)
_PRESS: Final[DurationRange] = (0.3, 1.2)
_DURATIONS: Final[Mapping[Stage, DurationRange]] = {
    Stage.CUT: (1, 3),
    Stage.HELD: (1, 4),
    Stage.COUNT_CHECK: (1, 3),
    Stage.TRIBUTE: (1, 3),
    Stage.RETURN: (1, 3),
    Stage.PLAY: (8, 20),
}
"""Times much shorter than those of real people. A demo should not take ten minutes for a deal."""
_LOOK_INTERVAL_S: Final = 0.5
_CALL_CHANCE: Final = 0.15
"""The probability that a player calls the referee in a deal."""
_CALL_TIMEOUT_S: Final = 90.0
_CONFIRMED_STAGES: Final = (
    Stage.SETUP,
    Stage.COUNT_CHECK,
    Stage.TRIBUTE,
    Stage.RETURN,
    Stage.RESULT,
)
_FAILED: Final = (AttemptOutcome.MISDEAL, AttemptOutcome.VOID)
_SET_FAULTS: Final = frozenset({"MISSING_CARD", "THIRD_COPY", "FOREIGN_BACK", "HOPPER_NOT_EMPTY"})
_PAIRS: Final = ("兰 Orchid", "竹 Bamboo", "梅 Plum", "菊 Aster", "松 Pine", "荷 Lotus")
_FAMILY: Final = ("李", "王", "张", "刘", "陈", "杨", "赵", "黄", "周", "吴", "徐", "孙")
_GIVEN: Final = ("娜", "伟", "芳", "军", "敏", "强", "静", "磊", "洋", "艳", "勇", "杰")


class MatchPlayers:
    """The simulated people at table `number` (0, 1, …): four players, a referee and a chief."""

    def __init__(
        self,
        table: TableProcess,
        number: int,
        clients: Mapping[Role, Client],
        chance: random.Random,
        speed: float,
        on_state: Callable[[PublicState], None],
    ) -> None:
        self._table, self._number, self._clients = table, number, clients
        self._chance, self._speed, self._on_state = chance, speed, on_state
        self._state: PublicState | None = None
        self._state_changed = asyncio.Event()
        self._round = 0
        self._cleared_attempts: set[int] = set()
        self._call_times_s: dict[int, float] = {}

    async def play(self) -> None:
        """Play one match after the other until cancelled."""
        listening = asyncio.create_task(self._listen())
        try:
            while True:
                state = self._state
                action = None if state is None else await self._next_action(state)
                if action is not None:
                    await asyncio.sleep(self._chance.uniform(*action[0]) / self._speed)
                    with suppress(NoAnswer):
                        await action[1]()
                # only a short wait, because cards can move without a new state
                self._state_changed.clear()
                with suppress(TimeoutError):
                    async with asyncio.timeout(_LOOK_INTERVAL_S):
                        await self._state_changed.wait()
        finally:
            listening.cancel()
            await asyncio.gather(listening, return_exceptions=True)

    async def _listen(self) -> None:
        display = self._clients[Role.TABLE]
        while True:
            try:
                message = await display.next_message()
            except BadMessage:
                continue
            self._state = msgspec.json.decode(message.body, type=PublicState)
            for client in self._clients.values():
                client.boot = self._state.boot
            self._on_state(self._state)
            self._state_changed.set()

    async def _next_action(self, state: PublicState) -> TimedAction | None:
        """Return the action that people do next, or None if nothing is due."""
        match = state.match
        last = state.fairness[-1] if state.fairness else None
        if last and last.outcome in _FAILED and last.attempt not in self._cleared_attempts:
            return _AT_ONCE, lambda: self._clear_up(last.attempt, last.reasons)
        if any(one.barred for one in state.sets):
            return _AT_ONCE, self._count_sets
        if match.match is None or match.phase == Stage.SIGNED:
            return _PRESS, self._set_up_match
        if (called := self._call_action(state)) is not None:
            return called
        if match.suspended is not None:
            return None
        stage = Stage(match.phase)
        pause = _DURATIONS.get(stage, _PRESS)
        if stage in _CONFIRMED_STAGES and match.waiting_for and await self._take_hands(state):
            seat = match.waiting_for[0]
            return pause, lambda: self._command(Role.TABLE, "confirm", seat=seat)
        return await self._stage_action(stage, state)

    async def _stage_action(self, stage: Stage, state: PublicState) -> TimedAction | None:
        match, machine = state.match, state.machine
        pause = _DURATIONS.get(stage, _PRESS)
        if stage is Stage.SETUP and not match.started:
            return pause, lambda: self._command(Role.CHIEF, "start_match")
        if stage is Stage.CUT and machine.phase is MachinePhase.COMMITTED and machine.cutters:
            seat, n = machine.cutters[0], self._chance.randrange(20, 89)
            return pause, lambda: self._command(Role.TABLE, "cut", n=n, seat=seat)
        if stage is Stage.CUT and machine.phase is MachinePhase.EMPTY:
            return await self._next_deal_action()
        if stage is Stage.HELD and machine.phase is MachinePhase.HELD:
            return pause, lambda: self._command(Role.REFEREE, "release")
        if stage is Stage.PLAY:
            return self._out_action(match)
        if stage is Stage.MATCH_CHECK:
            reason = "the levels are equal"
            return _PRESS, lambda: self._command(Role.CHIEF, "extra_deal", reason=reason)
        if stage is Stage.OVER and match.signers:
            signer = match.signers[0]
            person = f"{self._chance.choice(_FAMILY)}{self._chance.choice(_GIVEN)}"
            return _PRESS, lambda: self._command(Role.REFEREE, "sign", signer=signer, person=person)
        return None

    def _out_action(self, match: PublicMatch) -> TimedAction:
        """Return the action that reports that a random player has put down their last cards."""
        out = {*match.order, *match.outs}
        seat = self._chance.choice([one for one in SEATS if one not in out])
        pause = _DURATIONS[Stage.PLAY] if not out else _DURATIONS[Stage.TRIBUTE]
        return pause, lambda: self._command(Role.REFEREE, "out", seat=seat)

    async def _next_deal_action(self) -> TimedAction | None:
        """Return the action that loads the hopper, or starts a deal if there is nothing to load.

        Return None if no player has cards, but a pocket has cards or the lift is not down.
        """
        truth = await self._table.control.request("truth")
        if any(truth["hands"]):
            return _AT_ONCE, lambda: self._table.control.request("load")
        if any(truth["pockets"][:4]) or not truth["lift_down"]:
            return None
        if truth["table"] and not truth["hopper"]:
            return _PRESS, lambda: self._table.control.request("load")
        return _PRESS, lambda: self._command(Role.REFEREE, "start_deal")

    async def _take_hands(self, state: PublicState) -> bool:
        """Take any released hands in COUNT_CHECK. Return whether people may confirm this phase.

        In COUNT_CHECK they may confirm only if a player had cards before this call.
        """
        if state.match.phase != Stage.COUNT_CHECK:
            return True
        truth = await self._table.control.request("truth")
        if truth["lift_up"] and any(truth["pockets"][:4]):
            await self._table.control.request("take_hands")
        return any(truth["hands"])

    def _call_action(self, state: PublicState) -> TimedAction | None:
        """Return an action that calls the referee or ends an old call, or None if none is due."""
        now_s, match = asyncio.get_running_loop().time(), state.match
        attempt = match.attempt or 0
        if any(call.reason == "button" for call in state.calls):
            since_s = self._call_times_s.setdefault(attempt, now_s)
            if now_s - since_s > _CALL_TIMEOUT_S / self._speed:
                return _AT_ONCE, lambda: self._command(Role.REFEREE, "attend")
        elif match.phase == Stage.PLAY and attempt not in self._call_times_s:
            self._call_times_s[attempt] = now_s
            if self._chance.random() < _CALL_CHANCE:
                seat = self._chance.choice(SEATS)
                return _PRESS, lambda: self._command(Role.TABLE, "call", seat=seat)
        return None

    async def _clear_up(self, attempt: int, reasons: list[str]) -> None:
        self._cleared_attempts.add(attempt)
        wrong_set = _SET_FAULTS & set(reasons)
        await self._table.control.request("change_set" if wrong_set else "collect")

    async def _count_sets(self) -> None:
        assert self._state is not None
        cards = self._table.profile.deck.cards
        for one in self._state.sets:
            if one.barred:
                await self._command(Role.REFEREE, "clear_set", set=one.id, cards=cards)

    async def _set_up_match(self) -> None:
        """Set up the next match, between two pairs with random names."""
        self._round += 1
        first, second = self._chance.sample(_PAIRS, k=2)
        await self._command(
            Role.REFEREE,
            "set_match",
            match_id=f"{self._table.id}-R{self._round}",
            event="Demo Cup",
            round=self._round,
            match_no=self._number + 1,
            table_no=str(self._number + 1),
            stage="swiss",
            pairs={
                "NS": self._pair(2 * self._number + 1, first, "NS"),
                "EW": self._pair(2 * self._number + 2, second, "EW"),
            },
        )

    def _pair(self, number: int, name: str, seats: str) -> dict[str, Any]:
        names = self._chance.sample([f + g for f in _FAMILY for g in _GIVEN], k=2)
        return {"id": f"P{number}", "name": name, "players": dict(zip(seats, names, strict=True))}

    async def _command(self, role: Role, cmd: str, **args: Any) -> None:
        """Send the command `cmd` with the key of `role`, and ignore a refusal.

        A command about a deal names the present deal. It is refused if the table has changed.
        """
        state = self._state
        assert state is not None
        machine, match = state.machine, state.match
        about = {
            "machine": (machine.deal, machine.attempt),
            "match": (match.deal, match.attempt),
            "none": (None, None),
        }[COMMANDS[cmd].bound_to]
        await self._clients[role].ask(cmd, args, deal=about[0], attempt=about[1])


@asynccontextmanager
async def seat_match_players(
    table: TableProcess,
    number: int,
    speed: float,
    on_state: Callable[[PublicState], None] = lambda state: None,
    seed: int = 0,
) -> AsyncIterator[MatchPlayers]:
    """Connect simulated people to `table` for the `with` block, and yield their MatchPlayers.

    `seed` determines the names and the play. `speed` divides all pauses. Each state that arrives is
    passed to `on_state`.
    """
    chance = random.Random(f"{seed} {number}")
    async with AsyncExitStack() as stack:
        topics = {Role.TABLE: ("state/",), Role.REFEREE: (), Role.CHIEF: ()}
        clients = {
            role: await stack.enter_async_context(table.client(role, topics=prefixes))
            for role, prefixes in topics.items()
        }
        yield MatchPlayers(table, number, clients, chance, speed, on_state)
