"""Simulated people who play practice deals: they read a table's feed and send commands.

They have only the information that people have. The true result of a deal is read from the
mechanics afterwards, so that a wrong report of the table is found.
"""

from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import msgspec

from controller.cards import FACE_COUNT
from controller.client.client import Client
from controller.deal.ledger import SEATS
from controller.messages import AttemptOutcome, LandedCards, MachinePhase, PublicState, Role
from controller.rules.profile import Profile
from controller.seats import POCKETS
from sim.tables.table_processes import TableProcess

CUT = 41
_FAILED = (AttemptOutcome.MISDEAL, AttemptOutcome.VOID)
_SET_FAULTS = frozenset(
    {"COUNT_SHORT", "COUNT_OVER", "HOPPER_NOT_EMPTY", "MISSING_CARD", "THIRD_COPY", "FOREIGN_BACK"}
)
_LOOSE_CARD_FAULTS = frozenset({"PATH_NOT_CLEAR", "POCKET_NOT_EMPTY"})


class Misdeal(msgspec.Struct, frozen=True, kw_only=True):
    """An attempt that gave the players no hands: its outcome is a misdeal or void."""

    attempt: int
    outcome: AttemptOutcome
    reason: str
    reasons: list[str]


class DealResult(msgspec.Struct, frozen=True, kw_only=True):
    """The result of one deal: what the table published, and what the mechanics really did.

    `landed` is the number of cards in each outlet of the mechanics. `feeding_ms` is the feeder's
    total time for these cards, in the machine's own time. `wrong` describes the first error or is
    None.
    """

    table: str
    deal: int
    attempt: int
    outcome: AttemptOutcome
    fed: int
    landed: LandedCards
    misdeals: list[Misdeal]
    commitment: str
    seed: str
    cut: int | None
    wall_s: float
    feeding_ms: float
    wrong: str | None


class PracticePlayers:
    """A referee and four simulated players at one table, who play one deal after the other.

    `on_state` is called for every state that arrives.
    """

    def __init__(
        self,
        table: TableProcess,
        referee: Client,
        player: Client,
        on_state: Callable[[PublicState], None] = lambda state: None,
    ) -> None:
        self.table, self._referee, self._player = table, referee, player
        self._on_state = on_state
        self._state: PublicState | None = None

    async def play_deal(self) -> DealResult:
        """Play one deal, with redeals, until its seed and cut are published. Return its result."""
        before = self._state.counters.deals if self._state is not None else None
        misdeals: dict[int, Misdeal] = {}
        held: dict[str, Any] | None = None
        async for state in self._read_states():
            machine, proof = state.machine, state.fairness[-1] if state.fairness else None
            deal, attempt = machine.deal, machine.attempt
            before = state.counters.deals if before is None else before
            failed = proof if proof is not None and proof.outcome in _FAILED else None
            if failed is not None and failed.attempt not in misdeals:
                misdeals[failed.attempt] = Misdeal(
                    attempt=failed.attempt,
                    outcome=failed.outcome or AttemptOutcome.VOID,
                    reason=failed.reasons[0],
                    reasons=list(failed.reasons),
                )
                await self._clear_up(failed.reasons)
            if any(alert.name == "SET_BARRED" for alert in state.alerts):
                counted = {"set": machine.card_set, "cards": self.table.profile.deck.cards}
                await self._referee.ask("clear_set", counted)
            elif machine.phase is MachinePhase.FAULT and _LOOSE_CARD_FAULTS & {
                one.name for one in state.alerts
            }:
                await self._clear_up([])  # Cards moved again after they were cleared up.
            elif machine.phase is MachinePhase.EMPTY and state.counters.deals == before:
                await self._referee.ask("start_deal")
            elif machine.phase is MachinePhase.COMMITTED:
                await self._player.ask("cut", {"n": CUT}, deal=deal, attempt=attempt)
            elif machine.phase is MachinePhase.HELD:
                held = held or await self.table.control.request("truth")
                await self._referee.ask("release", deal=deal, attempt=attempt)
            elif machine.phase is MachinePhase.RELEASED:
                await self._handle_released_hands()
            elif proof is not None and proof.reveal is not None and held is not None:
                return _make_result(self.table, state, held, list(misdeals.values()))
        raise AssertionError("a feed does not end")

    def status_text(self) -> str:
        """Return the last known phase and alerts of the table as text."""
        if self._state is None:
            return "no state was received"
        alerts = ", ".join(alert.name for alert in self._state.alerts)
        phase = f"the machine is {self._state.machine.phase.value}"
        return f"{phase}, {alerts}" if alerts else phase

    async def _read_states(self) -> AsyncIterator[PublicState]:
        """Yield the last known state, then every state that arrives."""
        if self._state is not None:
            yield self._state
        async for message in self._player.feed():
            if message.topic.startswith("state/"):
                self._state = msgspec.json.decode(message.body, type=PublicState)
                self._referee.boot = self._state.boot  # all clients read this one feed
                self._on_state(self._state)
                yield self._state

    async def _handle_released_hands(self) -> None:
        """Take the hands if the lift is up. Otherwise put the players' cards into the hopper."""
        truth = await self.table.control.request("truth")
        if truth["lift_up"]:
            if any(truth["pockets"][:4]):
                await self.table.control.request("take_hands")
        elif any(truth["hands"]):
            await self.table.control.request("load")

    async def _clear_up(self, reasons: list[str]) -> None:
        """Put all cards into the hopper, or a new set if `reasons` include a fault of the set."""
        wrong_set = _SET_FAULTS & set(reasons)
        await self.table.control.request("change_set" if wrong_set else "collect")


@asynccontextmanager
async def seat_players(
    table: TableProcess, on_state: Callable[[PublicState], None] = lambda state: None
) -> AsyncIterator[PracticePlayers]:
    """Connect simulated people to `table` for the `with` block, and yield their PracticePlayers."""
    async with AsyncExitStack() as stack:
        referee = await stack.enter_async_context(table.client(Role.REFEREE))
        player = await stack.enter_async_context(table.client(Role.TABLE, topics=("state/",)))
        yield PracticePlayers(table, referee, player, on_state)


def _make_result(
    table: TableProcess, state: PublicState, truth: dict[str, Any], misdeals: list[Misdeal]
) -> DealResult:
    proof = state.fairness[-1]
    assert proof.reveal is not None
    landed = {pocket: len(cards) for pocket, cards in zip(POCKETS, truth["pockets"], strict=True)}
    return DealResult(
        table=table.id,
        deal=proof.deal,
        attempt=proof.attempt,
        outcome=AttemptOutcome.OK,
        fed=state.machine.fed,
        landed=msgspec.convert(landed, LandedCards),
        misdeals=misdeals,
        commitment=proof.commitment,
        seed=proof.reveal.seed,
        cut=proof.reveal.cut,
        wall_s=round(truth["last_landing_s"] - truth["first_feed_s"], 4),
        feeding_ms=round(truth["feeding_ms"], 3),
        wrong=_find_mismatch(table.profile, state, truth, landed),
    )


def _find_mismatch(
    profile: Profile, state: PublicState, truth: dict[str, Any], landed: dict[str, int]
) -> str | None:
    """Return a text about a wrong report or wrong hands in the machine, or None if all is right."""
    reported = state.machine.landed
    if reported is None or msgspec.to_builtins(reported) != landed:
        return f"the table reports {reported}, the mechanics have {landed}"
    faces = Counter(card["face"] for pocket in truth["pockets"] for card in pocket)
    if tuple(faces[face] for face in range(FACE_COUNT)) != profile.deck.composition():
        return f"the hands are not a complete set of {profile.deck.cards} cards"
    if {len(truth["pockets"][seat]) for seat in range(len(SEATS))} != {profile.hand}:
        return f"the hands do not have {profile.hand} cards each: {landed}"
    return None
