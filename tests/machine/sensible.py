"""Sensible people at a table where anything may have happened: they look, and do what is due.

They know the newest public state and what can be seen of the cards, and nothing else: alerts,
calls and `waiting_for` tell them what to do. One deed at a time, the first that is due.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable, Iterator, Sequence
from functools import partial
from typing import Any

from controller.cards import composition
from controller.match.phase import BEFORE_RELEASE, DEAL_UNDER_WAY
from controller.messages import AttemptOutcome, MachinePhase, PublicState, Role
from controller.rules.profile import Profile
from controller.seats import SEATS
from sim.hardware_in_process import BOARDS
from sim.mechanics.card_handling import OutOfReach
from sim.mechanics.cards import PhysicalCard
from sim.mechanics.mechanics_settings import BACKS
from sim.mechanics.truth import Truth
from sim.tables.table_in_process import TableInProcess

Give = Callable[..., Awaitable[Any]]
"""Gives a command: role, name, arguments; returns the reply."""
Deed = Callable[[], Awaitable[object]]
Named = tuple[str, Deed]

_FAILED = (AttemptOutcome.MISDEAL, AttemptOutcome.VOID)
_IDLE = (MachinePhase.FAULT, MachinePhase.EMPTY)
_OWN_WAY = frozenset({"SET_BARRED", "SET_TOO_EARLY", "CUT_LATE", "JAM"})
"""Alerts that people answer by doing something else than saying that they saw them."""
_SENSORS = frozenset(
    {"LID_OPENED", "ESTOP_PRESSED", "SENSOR_STUCK", "STALL", "PATH_NOT_CLEAR", "POCKET_NOT_EMPTY"}
)
"""Alerts of something that a person's hand mends, if it is not mended already."""


class Sensible:
    """The four players, their referee, the chief and who looks after the cards."""

    def __init__(self, profile: Profile, chance: random.Random, give: Give) -> None:
        self._profile, self._chance, self._give = profile, chance, give
        self._size = profile.deck.cards
        self._tried: dict[object, float] = {}
        self._cleared: set[int] = set()
        self._matches = 0
        self._releasing: asyncio.Future[Any] | None = None
        self.ahead = False

    def next(self, at: TableInProcess, now_s: float) -> Named | None:
        """Return what somebody does next; None: nobody has to do anything."""
        state, truth = at.states[-1], at.sim.world.truth()
        for part in (self._switches, self._said, self._cards, self._played):
            for name, deed in part(at, state, truth):
                tried_s = self._tried.get(name)
                if tried_s is None or now_s - tried_s >= self._patience(name):
                    self._tried[name] = now_s
                    return name, deed
        return None

    def _patience(self, name: str) -> float:
        return 20.0 if name.startswith("mend") else 2.0

    # Switches and boards.

    def _switches(self, at: TableInProcess, state: PublicState, truth: Truth) -> Iterator[Named]:
        if truth.estop:
            yield "release the e-stop", _done(lambda: at.sim.world.set_estop(False))
        if truth.lid_open:
            yield "close the lid", _done(lambda: at.sim.world.set_lid(False))
        for board in BOARDS:
            if not at.sim.has_power(board):
                yield f"power {board}", _done(partial(at.sim.start, board))
        for row in state.alerts:
            if row.name == "BOARD_SILENT":
                yield f"replug {row.since}", _done(lambda: _replug(at))

    # What the state says.

    def _said(self, at: TableInProcess, state: PublicState, truth: Truth) -> Iterator[Named]:
        match = state.match
        if state.machine.pauses:
            yield self._told(Role.CHIEF, "resume")
        for row in state.alerts:
            if row.name == "JAM" and state.machine.phase is MachinePhase.FAULT:
                yield "free the jam", lambda: self._collect(at, state)
                yield self._told(Role.REFEREE, "clear_jam")
            if row.name in _SENSORS:
                yield f"mend {row.name}", lambda: self._mend(at, state)
            if row.name not in _OWN_WAY:
                yield self._told(Role.REFEREE, "acknowledge", code=row.name)
        if match.match is None:
            return
        if match.claimed is not None:
            counts = dict.fromkeys(SEATS, self._profile.hand)
            if match.phase == "return" and match.tribute is not None:
                for one in match.tribute.payments:
                    counts[one.giver] -= 1
                    counts[one.to] += 1
                for back in match.tribute.returns:
                    if back.giver in match.tribute.given:
                        counts[back.giver] -= 1
                        counts[back.to] += 1
            yield self._told(Role.CHIEF, "recount", counts=counts)
        elif match.suspended is not None:
            yield self._told(Role.CHIEF, "resume")
        if match.area_stop is not None:
            yield self._told(Role.CHIEF, "resume", area=True)
        for call in state.calls:
            if (call.seat is not None and call.reason == call.words_en) or (
                call.reason == "button" and call.seat is not None
            ):
                yield f"press {call.seat}", partial(at.press, call.seat, "green")
            elif call.reason == "added_time":
                yield self._told(Role.REFEREE, "add_time", seconds=0)
            else:
                yield self._told(Role.REFEREE, "acknowledge", code=call.reason.upper())
        for ruling in match.rulings:
            if ruling.state == "proposed":
                cmd = self._chance.choice(("approve", "reject"))
                yield self._told(Role.CHIEF, cmd, ruling=ruling.id)
            elif ruling.verbal and ruling.confirmed_by is None:
                yield self._told(Role.CHIEF, "confirm_verbal", ruling=ruling.id)
        for word in match.spoken:
            yield self._told(Role.CHIEF, "confirm_verbal", correction=word.row)

    # The cards.

    def _cards(self, at: TableInProcess, state: PublicState, truth: Truth) -> Iterator[Named]:
        machine, match = state.machine, state.match
        playing = match.phase in DEAL_UNDER_WAY and not match.by_hand
        in_pockets = any(truth.pockets[:4])
        idle = machine.phase in _IDLE
        if truth.lift_up and in_pockets:
            yield "take the hands", _done(at.people.take_hands)
            return
        if not playing and (any(truth.hands) or truth.table):
            yield "lay the cards away", _done(lambda: put_away(at))
            return
        proof = state.fairness[-1] if state.fairness else None
        failed = proof is not None and proof.outcome in _FAILED
        about = any(truth.pockets) or truth.path or truth.window or truth.feeder or truth.floor
        if idle and about and (failed or not playing):
            yield "collect", lambda: self._collect(at, state)
        lies_within = truth.shuffler and not truth.hopper
        uncleared = proof is not None and proof.attempt not in self._cleared
        if idle and failed and (uncleared or lies_within):
            yield "collect", lambda: self._collect(at, state)
        if any(row.name == "SET_TOO_EARLY" for row in state.alerts):
            yield "take the set out", _done(lambda: out_of_hopper(at))
        for known in state.sets:
            if known.barred and known.id != machine.set_out:
                back = BACKS[known.back]
                yield (f"count {known.id}", partial(self._count, at, known.id, back))
        may_load = idle or (machine.phase is MachinePhase.RELEASED and (self.ahead or not playing))
        if not may_load:
            return
        if machine.card_set not in at.people.backs:
            yield self._told(Role.REFEREE, "replace_set", set=next(iter(at.people.backs)))
            return
        if match.phase in DEAL_UNDER_WAY and not (self.ahead and not match.by_hand):
            return
        due = at.people.backs[machine.card_set]
        if truth.hopper and _mostly(truth.hopper) != due and idle:
            yield "change the set", lambda: self._changed(at, machine.card_set or "")
        elif not truth.hopper and not truth.shuffler and not truth.feeder:
            yield "load", lambda: self._load(at, machine.card_set or "")

    async def _collect(self, at: TableInProcess, state: PublicState) -> None:
        name = state.machine.card_set
        self._cleared |= {one.attempt for one in state.fairness}
        await at.people.collect(name if name in at.people.backs else None)

    async def _mend(self, at: TableInProcess, state: PublicState) -> None:
        """See to the sensors; free what sticks."""
        at.sim.world.dealer.unstick_all()
        if state.machine.phase is MachinePhase.FAULT:
            await self._collect(at, state)
        for motor in at.sim.world.motors.values():
            motor.free()

    async def _changed(self, at: TableInProcess, name: str) -> None:
        out_of_hopper(at)
        await self._load(at, name)

    async def _load(self, at: TableInProcess, name: str) -> None:
        pile = at.people.beside[name]
        if len(pile) != self._size:
            pile[:] = at.sim.world.new_set(self._size, at.people.backs[name], self._profile_faces)
        try:
            at.people.load(name)
        except OutOfReach:
            put_away(at)

    @property
    def _profile_faces(self) -> int:
        return 54 if self._profile.deck.jokers else 52

    async def _count(self, at: TableInProcess, name: str, back: int) -> None:
        """Count a set; one that is not whole is thrown away for a new one."""
        people, world = at.people, at.sim.world
        lies_in = bool(world.hopper) and _mostly(world.hopper) == back
        pile = world.hopper if lies_in else people.beside.get(name, people.box)
        due = [
            face
            for face, n in enumerate(
                composition(self._profile.deck.packs, jokers=self._profile.deck.jokers)
            )
            for _ in range(n)
        ]
        whole = sorted(card.face for card in pile) == due
        if not whole or {card.back for card in pile} != {back}:
            pile[:] = world.new_set(self._size, back, self._profile_faces)
            world.hopper_changed()
        await self._give(Role.REFEREE, "clear_set", set=name, cards=self._size)

    # The match.

    def _played(self, at: TableInProcess, state: PublicState, truth: Truth) -> Iterator[Named]:
        match = state.match
        if match.match is None or match.phase == "signed":
            yield from self._between(state, truth)
        elif match.suspended is not None and match.phase != "setup":
            return
        elif match.by_hand and match.phase in BEFORE_RELEASE:
            yield from self._by_hand(state)
        elif match.phase in ("cut", "dealing", "held"):
            yield from self._dealt(state, truth)
        elif match.phase in _AT_TABLE:
            yield from _AT_TABLE[match.phase](self, state)
        if self.ahead and match.phase in DEAL_UNDER_WAY and not match.by_hand:
            yield from self._dealt(state, truth)

    def _between(self, state: PublicState, truth: Truth) -> Iterator[Named]:
        """Lay the next match out; a practice deal that is on its way is given up first."""
        machine = state.machine
        if machine.phase not in (*_IDLE, MachinePhase.RELEASED):
            yield self._told(Role.CHIEF, "void", reason="a match comes")
        elif machine.phase is MachinePhase.RELEASED:
            return
        yield "lay a match out", self._lay_out

    async def _lay_out(self) -> None:
        self._matches += 1
        draw = self._chance.randrange(10**6)
        said = {"event": "Cup", "round": 1, "match_no": 1, "table_no": "7", "stage": "swiss"}
        pairs = {
            "NS": {"id": "1", "name": "Plum", "players": {"N": "Nan", "S": "Sun"}},
            "EW": {"id": "2", "name": "Bamboo", "players": {"E": "Eve", "W": "Wu"}},
        }
        await self._give(
            Role.REFEREE, "set_match", match_id=f"M{self._matches}-{draw}", pairs=pairs, **said
        )

    def _dealt(self, state: PublicState, truth: Truth) -> Iterator[Named]:
        machine, match = state.machine, state.match
        if machine.phase is MachinePhase.COMMITTED:
            least, most = match.cut_range or (10, 20)
            n = self._chance.randint(least, most)
            yield self._told(Role.TABLE, "cut", n=n)
        elif machine.phase is MachinePhase.HELD and match.phase == "held":
            yield "release", self._release
        elif machine.phase in (MachinePhase.EMPTY, MachinePhase.RELEASED) and (
            truth.hopper or truth.shuffler
        ):
            yield self._told(Role.REFEREE, "start_deal")

    async def _release(self) -> None:
        """Order the hands out, and do not wait: a lift may be stuck, and somebody mend it."""
        self._releasing = asyncio.ensure_future(self._give(Role.REFEREE, "release"))

    def _by_hand(self, state: PublicState) -> Iterator[Named]:
        match = state.match
        duties = match.hand_duties
        if match.phase == "shuffle":
            seat = duties.shufflers[0] if duties and duties.shufflers else "N"
            yield self._told(Role.REFEREE, "shuffled", seat=seat)
        elif match.phase == "cut":
            n = (match.cut_range or (10, 20))[0]
            yield self._told(Role.REFEREE, "cut_by_hand", seat=match.cutters[0], n=n)
        elif match.phase == "turnup":
            yield self._told(Role.REFEREE, "turned_up", card=self._chance.choice(("SK", "D9")))
        elif match.phase == "dealing":
            yield self._told(Role.REFEREE, "hands_dealt", turned_to="E")
            yield self._told(Role.REFEREE, "hands_dealt")
            yield self._told(Role.REFEREE, "hands_dealt", turned_to="E", turned_up="D3")

    def _pressed(self, state: PublicState) -> Iterator[Named]:
        for seat in state.match.waiting_for:
            yield self._told(Role.TABLE, "confirm", seat=seat)

    def _setup(self, state: PublicState) -> Iterator[Named]:
        yield from self._pressed(state)
        yield self._told(Role.CHIEF, "start_match")

    def _anti(self, state: PublicState) -> Iterator[Named]:
        yield self._told(Role.REFEREE, "anti", stands=self._chance.random() < 0.3)

    def _tribute(self, state: PublicState) -> Iterator[Named]:
        yield from self._pressed(state)
        tribute = state.match.tribute
        if tribute is None or set(tribute.laid) != set(tribute.payers):
            return
        other = {"other": "C9"} if len(tribute.payers) > 1 else {}
        yield self._told(Role.REFEREE, "tribute", seat=tribute.payers[0], card="DA", **other)

    def _return(self, state: PublicState) -> Iterator[Named]:
        tribute = state.match.tribute
        if tribute is not None and tribute.choice_open:
            yield self._told(Role.TABLE, "choose", payer=tribute.payers[0])
        yield from self._pressed(state)
        for seat in state.match.waiting_for:
            card = self._chance.choice(("D5", "C6"))
            yield (
                f"return of {seat}",
                partial(self._give, Role.REFEREE, "return", seat=seat, card=card),
            )

    def _choices(self, state: PublicState) -> Iterator[Named]:
        for seat in state.match.waiting_for:
            yield self._told(Role.TABLE, "answer", seat=seat, yes=False)

    def _play(self, state: PublicState) -> Iterator[Named]:
        match = state.match
        if not match.led:
            yield from self._pressed(state)
        if match.game == "bigtwo":
            yield self._told(Role.REFEREE, "left", left={"N": 0, "W": 3, "S": 5, "E": 7})
            return
        order = list(match.order)
        rest = [seat for seat in SEATS if seat not in order and seat not in match.dead]
        self._chance.shuffle(rest)
        order = (order + rest)[:3]
        if set(order[:2]) in ({"N", "S"}, {"E", "W"}):
            order = order[:2]
        yield (f"result {match.deal}", lambda: self._give(Role.REFEREE, "result", order=order))

    def _result(self, state: PublicState) -> Iterator[Named]:
        if not state.match.waiting_for:
            yield self._told(Role.REFEREE, "stop_deal", reason="time was up")
        yield self._told(Role.REFEREE, "confirm")

    def _forfeit(self, state: PublicState) -> Iterator[Named]:
        for seat in state.match.waiting_for:
            yield self._told(Role.REFEREE, "name_leader", seat=seat)

    def _match_check(self, state: PublicState) -> Iterator[Named]:
        yield self._told(Role.CHIEF, "extra_deal", reason="a winner is needed")

    def _over(self, state: PublicState) -> Iterator[Named]:
        for signer in state.match.signers:
            yield self._told(Role.REFEREE, "sign", signer=signer, person=f"for {signer}")

    def _told(self, role: Role, cmd: str, **args: Any) -> Named:
        shown = " ".join(f"{name}={value}" for name, value in args.items() if name != "n")
        return f"{cmd} {shown}", lambda: self._give(role, cmd, **args)


def put_away(at: TableInProcess) -> None:
    """Lay what the players hold and what lies on the table beside the machine, by backs."""
    people = at.people
    people.lay_down()
    _sorted(at, people.table)


def out_of_hopper(at: TableInProcess) -> None:
    """Take the cards out of the hopper and lay them beside the machine, by backs."""
    _sorted(at, at.sim.world.hopper)
    at.sim.world.hopper_changed()


def _sorted(at: TableInProcess, pile: list[PhysicalCard]) -> None:
    people = at.people
    for card in pile:
        names = [name for name, back in people.backs.items() if back == card.back]
        (people.beside[names[0]] if names else people.box).append(card)
    pile.clear()


def _mostly(pile: Sequence[PhysicalCard]) -> int:
    backs = [card.back for card in pile]
    return max(set(backs), key=backs.count)


def _replug(at: TableInProcess) -> None:
    for board in BOARDS:
        at.sim.kill(board)
        at.sim.start(board)


def _done(act: Callable[[], object]) -> Deed:
    async def deed() -> None:
        act()

    return deed


_AT_TABLE: dict[str, Callable[[Sensible, PublicState], Iterator[Named]]] = {
    "setup": Sensible._setup,
    "count_check": Sensible._pressed,
    "anti_check": Sensible._anti,
    "tribute": Sensible._tribute,
    "return": Sensible._return,
    "choices": Sensible._choices,
    "play": Sensible._play,
    "result": Sensible._result,
    "forfeit": Sensible._forfeit,
    "match_check": Sensible._match_check,
    "over": Sensible._over,
}
