"""People who play a scripted match at a table, knowing what its feed says and what they see.

Whatever they do follows from the newest public state and a look at the table; how they reach
the buttons and the sockets is the table's affair (at_trial.py, at_hall.py).
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, Protocol

import msgspec

from controller.cards import face_text
from controller.commands.registry import COMMANDS
from controller.machine.panel_control import RELEASE_DELAY_MS
from controller.messages import (
    AttemptOutcome,
    CommandReply,
    MachinePhase,
    Offer,
    PublicEvent,
    PublicMatch,
    PublicState,
    Role,
    Seat,
    Side,
)
from controller.rules.ranks import parse_level, value_at_level
from controller.seats import SEATS, opponents, seats_of_side
from tests.answers import answer_once
from tests.match.people import meeting
from tests.matches.script import Deal, Hands, Script
from tests.waiting import until

MOST_MISDEALS = 6
"""Misdeals in one match after which something else is wrong."""
_FAILED = (AttemptOutcome.MISDEAL, AttemptOutcome.VOID)
_SET_WRONG = frozenset({"MISSING_CARD", "THIRD_COPY", "FOREIGN_BACK"})


class StuckError(AssertionError):
    """The match does not go on, whatever people do."""


@dataclass(frozen=True)
class Eyes:
    """What people see of the cards: where some lie."""

    lift_up: bool
    lift_down: bool
    in_pockets: bool
    in_hands: bool
    on_table: bool
    in_hopper: bool


class AtMatch(Protocol):
    """A table as people have it, with all that its feed told."""

    @property
    def states(self) -> list[PublicState]:
        """All states so far."""

    @property
    def events(self) -> list[PublicEvent]:
        """All events so far."""

    async def later(self) -> None:
        """Wait for something new of the feed."""

    async def ask(
        self, role: Role, cmd: str, about: tuple[int | None, int | None], args: dict[str, Any]
    ) -> CommandReply:
        """Give a command about a deal and an attempt, signed where it has to be."""

    async def eyes(self) -> Eyes:
        """Look at the table."""

    async def lift(self, *, is_up: bool) -> None:
        """Wait until the lift is up, or down with nothing in the pockets."""

    async def pockets(self) -> dict[Seat, tuple[int, ...]]:
        """Return what nobody can see: the faces that lie in the pockets."""

    async def press(self, seat: Seat) -> None:
        """Press a seat's green button."""

    async def hold(self, seat: Seat) -> None:
        """Hold a seat's green button until it counts as held."""

    async def start(self) -> None:
        """Press the start button."""

    async def hands(self, deed: str, *args: str) -> None:
        """Do something with the cards: take_hands, lay_down, load, collect, change_set."""

    async def lid(self, *, is_open: bool) -> None:
        """Open or close the lid."""

    async def fault(self, text: str) -> None:
        """Let something be wrong with machine or cards, as the simulator's menu has it."""


class Deed(NamedTuple):
    """Something that somebody does next. `is_shown`: the public state changes with it."""

    name: str
    do: Callable[[], Awaitable[Any]]
    is_shown: bool = True


class People:
    """Plays `script` at `table` to the last signature. `dealt` are the hands that were released."""

    def __init__(self, table: AtMatch, script: Script) -> None:
        self.table, self.script = table, script
        self.dealt: list[Hands] = []
        self._done: set[tuple[int, int]] = set()
        self._struck: set[tuple[int, int]] = set()
        self._cleared: set[int] = set()
        self._said = ""
        self._refused_at: int | None = None
        """How many states there were before the last order that was refused."""
        self._held_s: dict[int | None, float] = {}
        """When the hands of each attempt were first seen ready, by the loop's time."""

    # -- for acts --------------------------------------------------------------

    @property
    def state(self) -> PublicState:
        """The newest public state."""
        return self.table.states[-1]

    @property
    def match(self) -> PublicMatch:
        """The players' side of it."""
        return self.state.match

    async def order(self, role: Role, cmd: str, /, **args: Any) -> dict[str, Any]:
        """Give a command that is carried out, and return its answer."""
        reply = await self.ask(role, cmd, **args)
        assert reply.ok, f"{cmd} {args}: {reply.error}"
        return reply.result or {}

    async def ask(self, role: Role, cmd: str, **args: Any) -> CommandReply:
        """Give a command about what the state says is present, and see what came of it."""
        bound, known = COMMANDS[cmd].bound_to, self.state
        of_match = (known.match.deal, known.match.attempt)
        of_machine = (known.machine.deal, known.machine.attempt)
        meant = {"match": of_match, "machine": of_machine}.get(bound, (None, None))
        before, count = _seen(known), len(self.table.states)
        reply = await self.table.ask(role, cmd, meant, args)
        self._said = f"{cmd} {args}: {reply.error or reply.result}"
        if reply.ok and COMMANDS[cmd].signed:
            await self.changed(before)
        elif not reply.ok:
            self._refused_at = count
        return reply

    async def until(self, fits: Callable[[PublicState], bool]) -> PublicState:
        """Wait for a state of which `fits` holds."""
        while not (self.table.states and fits(self.state)):
            await self.table.later()
        return self.state

    async def confirms(self, seat: Seat) -> None:
        """Press a seat's green button once it is waited for; wait until it no longer is."""
        state = await self.until(lambda state: seat in state.match.waiting_for)
        phase = state.match.phase
        await self.table.press(seat)
        await self.until(
            lambda state: seat not in state.match.waiting_for or state.match.phase != phase
        )

    async def changed(self, before: object) -> None:
        """Wait until people see something else than `before`."""
        await self.until(lambda state: _seen(state) != before)

    async def _newer(self, count: int) -> None:
        """Wait for a state beyond the first `count`."""
        while len(self.table.states) <= count:
            await self.table.later()

    # -- the match -------------------------------------------------------------

    async def play(self) -> dict[str, Any]:
        """Play to the last signature; return the score sheet. Raises StuckError."""
        await self.play_until(lambda match: match.phase == "signed")
        return await self.order(Role.OBSERVER, "sheet")

    async def play_until(self, far: Callable[[PublicMatch], bool]) -> None:
        """Play on until the match is so `far`. Raises StuckError."""
        await self.until(lambda state: state.machine.phase is not MachinePhase.FAULT)
        while not far(self.match):
            count, before = len(self.table.states), _seen(self.state)
            self._refused_at = None
            due = await self._next(self.state)
            if due is None:
                await self._newer(count)
                continue
            self._said = due.name
            await due.do()
            if self._refused_at is not None:
                await self._newer(self._refused_at)
            elif due.is_shown:
                await self.changed(before)

    async def _next(self, state: PublicState) -> Deed | None:
        match = state.match
        if match.match is None:
            return self._told(Role.REFEREE, "set_match", **_laid_out(self.script))
        if match.phase == "held" and state.machine.phase is MachinePhase.HELD:
            await self._note_hands(state.machine.deal or 0, state.machine.attempt or 0)
        due = self._due(match)
        if due is not None:
            return due
        if match.suspended is not None:
            return None
        for call in state.calls:
            if call.reason == "added_time":
                return self._told(Role.REFEREE, "add_time", seconds=0)
        return await _PHASES[match.phase](self, state)

    def _due(self, match: PublicMatch) -> Deed | None:
        """Return what the script has for this moment beside the usual."""
        if match.suspended is not None or (match.phase == "play" and not match.led):
            return None
        for key, act in self.script.acts(match.deal or 0, match.phase):
            if key not in self._done:
                self._done.add(key)
                return Deed(f"act {key}", partial(act.do, self), is_shown=False)
        return None

    def _once(self, what: str) -> bool:
        """Tell whether the script has this for the present deal, and it was not done yet."""
        key = (self.match.deal or 0, -1)
        wanted = bool(getattr(self._deal, what)) and key not in self._done
        if wanted:
            self._done.add(key)
        return wanted

    @property
    def _deal(self) -> Deal:
        return self.script.deal(self.match.deal or 1)

    # Each phase: what somebody does next in it; None: nobody has to do anything.

    async def _setup(self, state: PublicState) -> Deed | None:
        if state.match.waiting_for:
            return self._pressed(state.match.waiting_for[0])
        return None if state.match.started else self._told(Role.CHIEF, "start_match")

    async def _cut(self, state: PublicState) -> Deed | None:
        machine, match, deal = state.machine, state.match, self._deal
        if machine.phase is MachinePhase.COMMITTED and machine.deal == match.deal:
            if deal.uncut:
                why = "nobody is there to cut"
                return self._told(Role.REFEREE, "start_deal", uncut=True, reason=why)
            return None if machine.counter is None else self._pressed(match.cutters[0])
        if machine.phase not in (MachinePhase.EMPTY, MachinePhase.FAULT):
            return None
        return await self._made_ready(state)

    async def _made_ready(self, state: PublicState) -> Deed | None:
        """Bring the cards to where the next deal can begin, then begin it."""
        failed = state.fairness[-1] if state.fairness else None
        if failed and failed.outcome in _FAILED and failed.attempt not in self._cleared:
            return Deed("clear up", lambda: self._clear_up(failed.attempt, failed.reasons))
        eyes = await self.table.eyes()
        if eyes.in_hands:
            return self._moved("lay_down")
        if eyes.lift_up and eyes.in_pockets:
            return self._moved("take_hands")
        if eyes.in_pockets or not eyes.lift_down:
            return self._lift(is_up=eyes.in_pockets)
        if eyes.on_table and not eyes.in_hopper:
            return self._moved("load")
        if any(alert.name == "SET_BARRED" for alert in state.alerts):
            counted = {"set": state.machine.card_set, "cards": self.script.profile.deck.cards}
            return self._told(Role.REFEREE, "clear_set", **counted)
        return Deed("start", self._start) if state.machine.phase is MachinePhase.EMPTY else None

    async def _start(self) -> None:
        """Press start as soon as the machine takes it, unless something else comes first."""
        before = _seen(self.state)
        await self._strike()
        await answer_once(
            self._start_is_offered, lambda offered: offered or _seen(self.state) != before
        )
        if _seen(self.state) == before:
            await self.table.start()

    async def _start_is_offered(self) -> bool:
        asked = {"role": Role.REFEREE.value}
        reply = await self.table.ask(Role.OBSERVER, "offers", (None, None), asked)
        assert reply.result is not None, reply.error
        offers = msgspec.convert(reply.result["offers"], list[Offer])
        return any(one.cmd == "start_deal" and one.refused is None for one in offers)

    async def _strike(self) -> None:
        """Let go wrong what the script has for this attempt."""
        deal = self.match.deal or 1
        for n, fault in enumerate(self.script.deal(deal).faults):
            if (deal, n) not in self._struck:
                self._struck.add((deal, n))
                await self.table.fault(fault)
                return

    async def _clear_up(self, attempt: int, reasons: list[str]) -> None:
        self._cleared.add(attempt)
        if len(self._cleared) > MOST_MISDEALS:
            raise StuckError(self._where("one misdeal after the other"))
        await self.table.hands("change_set" if _SET_WRONG & set(reasons) else "collect")
        await self._strike()

    async def _held(self, state: PublicState) -> Deed | None:
        machine = state.machine
        clock = state.match.clock
        if machine.phase is not MachinePhase.HELD or not state.match.waiting_for:
            return None
        if clock is not None and clock.deadline_ms is None and not clock.running:
            return None
        if self._deal.entered or self._deal.let_out:
            return self._told(Role.REFEREE, "release")
        return Deed("release", lambda: self._let_out(SEATS[(machine.deal or 0) % 4]))

    async def _let_out(self, seat: Seat) -> None:
        """Release the hands by a press. The table takes none before they were ready for a while."""
        loop = asyncio.get_running_loop()
        ready_s = self._held_s.setdefault(self.state.machine.attempt, loop.time())
        await until(lambda: loop.time() >= ready_s + RELEASE_DELAY_MS / 1000)
        if self.match.phase == "held":
            await self.table.press(seat)

    async def _note_hands(self, deal: int, attempt: int) -> None:
        if not any(hands.attempt == attempt for hands in self.dealt):
            self.dealt.append(Hands(deal, attempt, await self.table.pockets()))

    async def _count_check(self, state: PublicState) -> Deed | None:
        return await self._taken() or self._first_pressed(state)

    async def _taken(self) -> Deed | None:
        """Take the hands as soon as they are there; nobody does anything before."""
        eyes = await self.table.eyes()
        if eyes.in_hands:
            return None
        if eyes.lift_up and eyes.in_pockets:
            return self._moved("take_hands")
        return self._lift(is_up=True)

    async def _waited_for(self, state: PublicState) -> Deed | None:
        return self._first_pressed(state)

    async def _return(self, state: PublicState) -> Deed | None:
        tribute = state.match.tribute
        assert tribute is not None
        if tribute.choice_open and self._deal.chooses is not None:
            payer = tribute.payers[self._deal.chooses]
            return self._told(Role.TABLE, "choose", payer=payer)
        if not state.match.waiting_for:
            return None
        giver = state.match.waiting_for[0]
        profile: Any = self.script.profile
        if tribute.equal and profile.tribute.tie_leader == "smaller_return":
            card = face_text(lowest(self.dealt[-1], giver, state.match.level or "2"))
            return self._told(Role.REFEREE, "return", seat=giver, card=card)
        return self._pressed(giver)

    async def _choices(self, state: PublicState) -> Deed | None:
        taken = await self._taken()
        choices = state.match.choices
        if taken is not None or choices is None or not state.match.waiting_for:
            return taken
        seat = state.match.waiting_for[0]
        yes = seat in (self._deal.opens if choices.asked == "open_hand" else self._deal.doubles)
        return self._told(Role.TABLE, "answer", seat=seat, yes=yes)

    async def _play(self, state: PublicState) -> Deed | None:
        match, deal = state.match, self._deal
        taken = await self._taken()
        if taken is not None:
            return taken
        tribute = match.tribute
        if not match.led and tribute is not None and tribute.equal and self._once("swap"):
            return self._told(Role.REFEREE, "swap_returns")
        if not match.led and match.leader is not None:
            return self._pressed(match.leader)
        if match.game == "bigtwo":
            return self._told(Role.REFEREE, "left", left=deal.left)
        if deal.entered:
            return self._told(Role.REFEREE, "result", order=list(deal.order))
        if match.outs:
            return self._pressed(opponents(match.outs[0])[0])
        out = next(seat for seat in seats_of(deal.order) if seat not in match.order)
        return Deed(f"hold {out}", lambda: self.table.hold(out))

    async def _result(self, state: PublicState) -> Deed | None:
        match = state.match
        if self._deal.entered:
            return self._told(Role.REFEREE, "confirm")
        open_side: Side = "NS" if "NS" not in match.confirmed else "EW"
        return self._pressed(seats_of_side(open_side)[(match.deal or 0) % 2])

    async def _forfeit(self, state: PublicState) -> Deed | None:
        return self._told(Role.REFEREE, "name_leader", seat=self._deal.names)

    async def _match_check(self, state: PublicState) -> Deed | None:
        return self._told(Role.CHIEF, "extra_deal", reason="a winner is needed")

    async def _over(self, state: PublicState) -> Deed | None:
        signer = state.match.signers[0]
        return self._told(Role.REFEREE, "sign", signer=signer, person=f"person {signer}")

    async def _anti_check(self, state: PublicState) -> Deed | None:
        """Claim anti-tribute where it has to be claimed; else a machine knows (seed 003 R4.3)."""
        if not state.match.waiting_for:
            return None
        return self._told(Role.REFEREE, "anti", stands=True)

    async def _nothing(self, state: PublicState) -> Deed | None:
        return None

    # -- deeds -----------------------------------------------------------------

    def _first_pressed(self, state: PublicState) -> Deed | None:
        waiting = state.match.waiting_for
        return self._pressed(waiting[0]) if waiting else None

    def _pressed(self, seat: Seat) -> Deed:
        return Deed(f"press {seat}", lambda: self.table.press(seat))

    def _moved(self, deed: str) -> Deed:
        return Deed(deed, lambda: self.table.hands(deed), is_shown=False)

    def _lift(self, *, is_up: bool) -> Deed:
        return Deed("wait for the lift", lambda: self.table.lift(is_up=is_up), is_shown=False)

    def _told(self, role: Role, cmd: str, **args: Any) -> Deed:
        return Deed(f"{role} {cmd} {args}", lambda: self.ask(role, cmd, **args))

    def _where(self, what: str) -> str:
        match, machine = self.match, self.state.machine
        return (
            f"{what}; last: {self._said}; "
            f"machine {machine.phase} {machine.deal}.{machine.attempt}; "
            f"match {match.phase} deal {match.deal}: {match.next_en}; waiting {match.waiting_for}; "
            f"calls {[call.reason for call in self.state.calls]}; "
            f"alerts {[alert.name for alert in self.state.alerts]}"
        )


def seats_of(order: str) -> tuple[Seat, ...]:
    """Return the seats of an order as it is written."""
    return tuple(seat for letter in order for seat in SEATS if seat == letter)


def lowest(hands: Hands, giver: Seat, level: str) -> int:
    """Return the card that a giver returns where it has to be told: his lowest."""
    grade = parse_level(level)
    return min(hands.faces[giver], key=lambda face: value_at_level(face, grade))


def _laid_out(script: Script) -> dict[str, Any]:
    of = meeting(script.stage)
    return {
        "match_id": of.match_id,
        "event": of.event,
        "round": of.round,
        "match_no": of.match_no,
        "table_no": of.table_no,
        "stage": of.stage,
        "pairs": {
            each: {"id": pair.id, "name": pair.name, "players": dict(pair.players)}
            for each, pair in of.pairs.items()
        },
    }


def _seen(state: PublicState) -> object:
    """Return what of a state makes people do something else: all but the time that passes."""
    known = state.match
    clock = None if known.clock is None else msgspec.structs.replace(known.clock, left_s=0)
    clocks = [msgspec.structs.replace(clock, left_s=0) for clock in known.clocks]
    match = msgspec.structs.replace(known, at_ms=None, clock=clock, clocks=clocks)
    machine = state.machine
    ready = machine.counter is not None
    alerts = [alert.name for alert in state.alerts]
    proof = state.fairness[-1] if state.fairness else None
    return match, machine.phase, machine.attempt, ready, state.calls, alerts, proof


_PHASES: dict[str, Callable[[People, PublicState], Awaitable[Deed | None]]] = {
    "setup": People._setup,
    "cut": People._cut,
    "dealing": People._nothing,
    "held": People._held,
    "count_check": People._count_check,
    "anti_check": People._anti_check,
    "tribute": People._waited_for,
    "return": People._return,
    "choices": People._choices,
    "play": People._play,
    "result": People._result,
    "forfeit": People._forfeit,
    "match_check": People._match_check,
    "over": People._over,
}
