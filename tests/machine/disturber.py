"""Somebody who does anything at a table: commands of every kind, buttons, cards, faults, time.

Nothing of it is clever. What he says is often right, often a little wrong, and at times
nonsense; what he does with the cards is what a hand can reach.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from controller.commands.registry import COMMANDS
from controller.faults import fault_catalogue
from controller.messages import PublicState, Role, Seat
from controller.rules.penalties.offences import offence_catalogue as offences
from controller.seats import SEATS
from controller.signing.signed_commands import sign_document
from controller.signing.signed_heads import verify_key
from sim.hardware_in_process import BOARDS
from sim.mechanics.card_handling import OutOfReach
from sim.mechanics.fault_menu import MOTORS, PLACES, fault_menu, parse_fault
from sim.mechanics.sensors import DEALER_INPUTS
from sim.tables.table_in_process import TABLE_SIGN, TableInProcess
from tests.machine.sensible import out_of_hopper, put_away

VERIFY = verify_key(TABLE_SIGN).hex()

Args = dict[str, Any]
# What a table in process can carry out; nobody kills its daemon here.
_STRIKES = ("card", "set", "now", "line", "board")
_CARDS = ("SK", "DA", "D5", "H10", "BJ", "SJ", "C3", "XX", "H2")
_NAMES = ("chief", "Li Na", "referee", "somebody")
_WORDS = ("why not", "a card lay open", "they leave")
_SETS = ("S1", "S2", "S3")
_TIMES_S = (0.001, 0.02, 0.3, 1, 4, 15, 60, 240)
_PENALTIES = ("none", "warning", "violation", "foul", "match_forfeit", "disqualification")


class Disturber:
    """Draws what is done from `chance`, at a table whose walk gives commands by `give`."""

    def __init__(
        self, chance: random.Random, give: Callable[..., Awaitable[Any]], again: Callable[[], Any]
    ) -> None:
        self._chance, self._give, self._again = chance, give, again
        self._given: list[asyncio.Future[Any]] = []

    async def act(self, at: TableInProcess) -> str:
        """Do one thing, and return what it was."""
        deeds: tuple[tuple[int, Callable[[TableInProcess], Awaitable[str]]], ...] = (
            (40, self._command),
            (5, self._repeated),
            (12, self._press),
            (3, self._two_presses),
            (3, self._start),
            (4, self._lid),
            (3, self._estop),
            (8, self._fault),
            (10, self._cards),
            (2, self._board),
            (1, self._there_and_back),
            (12, self._time),
        )
        weights = [weight for weight, _ in deeds]
        (deed,) = self._chance.choices([deed for _, deed in deeds], weights)
        return await deed(at)

    # Commands.

    async def _command(self, at: TableInProcess) -> str:
        chance = self._chance
        cmd = chance.choice(sorted(COMMANDS))
        if cmd in ("transfer", "forfeit", "dealt_by_hand") and chance.random() < 0.7:
            cmd = "snapshot"
        args = self.args(cmd, at.states[-1])
        if chance.random() < 0.15:
            args = self._spoilt(args)
        roles = sorted(COMMANDS[cmd].roles) if chance.random() < 0.8 else list(Role)
        given = self._give(chance.choice(roles), cmd, about=self._about(at, cmd), **args)
        if chance.random() < 0.5:
            await given
        else:
            self._given.append(asyncio.ensure_future(given))
        return f"{cmd} {args}"

    def _about(self, at: TableInProcess, cmd: str) -> tuple[int | None, int | None] | None:
        if self._chance.random() < 0.85:
            return None
        deal = self._chance.choice((None, 0, 1, 2, 99))
        return deal, self._chance.choice((None, 1, 2, 77))

    def _spoilt(self, args: Args) -> Args:
        chance = self._chance
        spoilt = dict(args)
        if spoilt and chance.random() < 0.4:
            del spoilt[chance.choice(sorted(spoilt))]
        elif spoilt and chance.random() < 0.7:
            spoilt[chance.choice(sorted(spoilt))] = chance.choice((None, -1, "", [], {}, 10**9))
        else:
            spoilt["nonsense"] = 1
        return spoilt

    async def _repeated(self, at: TableInProcess) -> str:
        await self._again()
        return "the same command again"

    def args(self, cmd: str, state: PublicState) -> Args:
        """Return what somebody says with a command: forms are right, what they say may not be."""
        return SAID[cmd](self, state)

    def seat(self) -> Seat:
        """Draw a seat."""
        return self._chance.choice(SEATS)

    def pick(self, *choices: Any) -> Any:
        """Draw one of these."""
        return self._chance.choice(choices)

    def maybe(self, **args: Any) -> Args:
        """Draw which of these are said."""
        return {name: value for name, value in args.items() if self._chance.random() < 0.5}

    def by_word(self) -> Args:
        """Say whose word it is, or nothing."""
        if self._chance.random() < 0.6:
            return {}
        return {"verbal": True, "by": self.pick(*_NAMES)}

    def order(self) -> list[Seat]:
        """Draw who went out."""
        return self._chance.sample(SEATS, k=self.pick(2, 3, 3))

    def accused(self, state: PublicState) -> Args:
        """Draw a charge."""
        charge = {"offence": self.pick(*offences()), "seat": self.seat()}
        return charge | self.maybe(
            deal=self.pick(0, 1, 2),
            pointed_out_by=self.pick("N", "E", "referee", "clock"),
            pointed_out_when=self.pick("at_once", "later_trick", "later_deal"),
            harmed=True,
            acted_first=True,
        )

    def ruling(self, state: PublicState) -> str:
        """Draw a ruling, as it is called."""
        known = [one.id for one in state.match.rulings]
        return str(self.pick(*known, "R1", "R2"))

    def counts(self) -> dict[Seat, int]:
        """Draw four counts."""
        return {seat: self.pick(27, 27, 27, 27, 27, 26, 28, 13) for seat in SEATS}

    # Buttons and switches.

    async def _press(self, at: TableInProcess) -> str:
        for_s = self.pick(0.05, 0.15, 0.15, 1.2, 3)
        colour = self.pick("green", "green", "green", "red")
        seat = self.seat()
        await at.press(seat, colour, for_s=for_s)
        return f"press {seat} {colour} for {for_s}"

    async def _two_presses(self, at: TableInProcess) -> str:
        one, other = self._chance.sample(SEATS, k=2)
        await asyncio.gather(at.press(one, "green"), at.press(other, "green"))
        return f"press {one} and {other}"

    async def _start(self, at: TableInProcess) -> str:
        await at.press_start()
        return "press start"

    async def _lid(self, at: TableInProcess) -> str:
        at.sim.world.set_lid(not at.sim.world.lid_open)
        await asyncio.sleep(self.pick(0, 0.1, 2))
        return "lid"

    async def _estop(self, at: TableInProcess) -> str:
        at.sim.world.set_estop(not at.sim.world.estop)
        await asyncio.sleep(self.pick(0, 0.1, 2))
        return "e-stop"

    # The machine and its cards.

    async def _fault(self, at: TableInProcess) -> str:
        names = [name for name, entry in sorted(fault_menu().items()) if entry.strikes in _STRIKES]
        name = self._chance.choice(names)
        takes = fault_menu()[name].takes
        said = {
            "place": self.pick(*PLACES),
            "motor": self.pick(*MOTORS),
            "sensor": self.pick(*DEALER_INPUTS),
            "pocket": self.pick(0, 1, 2, 3),
            "times": self.pick(1, 2, 9),
            "clears_after": self.pick(0, 1, 2),
            "value": self.pick(0, 1),
            "board": self.pick(*BOARDS),
            "way": self.pick("to_board", "to_host"),
            "ms": self.pick(20, 200),
            "for_ms": self.pick(200, 2000),
        }
        fields = [f"{field}={said[field]}" for field in takes if field in said]
        if self._chance.random() < 0.6 and fault_menu()[name].strikes == "card":
            fields.append(f"at={self._chance.randint(1, 108)}")
        text = name + (":" + ",".join(fields) if fields else "")
        at.sim.world.add_fault(parse_fault(text))
        return f"fault {text}"

    async def _cards(self, at: TableInProcess) -> str:
        people = at.people
        deeds: tuple[Callable[[], Any], ...] = (
            people.take_hands,
            people.take_hands,
            people.lay_down,
            people.load,
            lambda: people.load(self.pick(*people.backs)),
            people.collect,
            lambda: people.collect(self.pick(*people.backs)),
            lambda: people.change_set(card_set=self.pick(*people.backs)),
            lambda: people.mix(self.pick(*people.backs), self.pick(1, 3, 20)),
            lambda: out_of_hopper(at),
            lambda: put_away(at),
            people.reload_hopper,
        )
        number = self._chance.randrange(len(deeds))
        try:
            done = deeds[number]()
            if done is not None:
                await done
        except OutOfReach as error:
            return f"cards {number}: {error}"
        return f"cards {number}"

    async def _board(self, at: TableInProcess) -> str:
        name = self._chance.choice(BOARDS)
        at.sim.kill(name)
        await asyncio.sleep(self.pick(0, 0.3, 3))
        at.sim.start(name)
        return f"power of {name}"

    async def _there_and_back(self, at: TableInProcess) -> str:
        """Let a match go to another table, and come back from there without a deal."""
        for table in ("T02", "T01"):
            reply = await self._give(Role.CHIEF, "transfer", table=table)
            if not reply.ok:
                return f"transfer: {reply.error.code}"
        part = 1
        while True:
            reply = await self._give(Role.OBSERVER, "document", part=part)
            if not reply.ok:
                return f"document: {reply.error.code}"
            names = ("digest", "sig", "part", "parts", "text")
            came = {name: reply.result[name] for name in names}
            taken = await self._give(Role.CHIEF, "take_over", **came, verify=VERIFY)
            if part == came["parts"]:
                return f"there and back: {taken.error and taken.error.code}"
            part += 1

    async def _time(self, at: TableInProcess) -> str:
        seconds = self.pick(*_TIMES_S)
        await asyncio.sleep(seconds)
        return f"{seconds} s"


def _nothing(who: Disturber, state: PublicState) -> Args:
    return {}


def _at_seat(who: Disturber, state: PublicState) -> Args:
    return {"seat": who.seat()}


def _with_reason(who: Disturber, state: PublicState) -> Args:
    return {"reason": who.pick(*_WORDS)}


SAID: Mapping[str, Callable[[Disturber, PublicState], Args]] = {
    "snapshot": _nothing,
    "events": lambda who, state: who.maybe(since=who.pick(0, 10, 10**6)),
    "sheet": _nothing,
    "document": lambda who, state: who.maybe(part=who.pick(1, 2, 900)),
    "rulings": lambda who, state: who.accused(state),
    "offers": lambda who, state: {"role": who.pick(*Role).value},
    "foresee": lambda who, state: {
        "cmd": who.pick("approve", "reject"),
        "args": {"ruling": who.pick("R1", "R2", "R99")},
    },
    "lost_time": _nothing,
    "seat": lambda who, state: {"seat": who.seat(), **who.maybe(person="Li Na")},
    "cut": lambda who, state: {"n": who.pick(1, 6, 40, 102, 107), **who.maybe(seat=who.seat())},
    "confirm": lambda who, state: who.maybe(seat=who.seat()),
    "out": _at_seat,
    "call": lambda who, state: {"seat": who.seat(), **who.maybe(reason="come here")},
    "attend": lambda who, state: who.maybe(seat=who.seat()),
    "claim_count": _at_seat,
    "answer": lambda who, state: {"seat": who.seat(), "yes": who.pick(True, False)},
    "choose": lambda who, state: {"payer": who.seat()},
    "set_match": lambda who, state: {
        "match_id": who.pick("X1", "X2", state.match.match or "X3"),
        "event": "Cup",
        "round": 1,
        "match_no": 1,
        "table_no": "1",
        "stage": who.pick("swiss", "knockout"),
        "pairs": {
            "NS": {"id": "P1", "name": "Plum", "players": {"N": "Nan", "S": "Sun"}},
            "EW": {"id": "P2", "name": "Pine", "players": {"E": "Eve", "W": "Wu"}},
        },
    },
    "start_match": _nothing,
    "start_deal": lambda who, state: who.pick(
        {}, {"uncut": True, "reason": "nobody is there"}, {"uncut": False}
    ),
    "release": _nothing,
    "hold": lambda who, state: {"reason": "look here", **who.maybe(area=who.pick(True, False))},
    "resume": lambda who, state: who.maybe(area=who.pick(True, False)),
    "recount": lambda who, state: {"counts": who.counts(), **who.maybe(found=True)},
    "replace_set": lambda who, state: {"set": who.pick(*_SETS), **who.maybe(back="A")},
    "clear_set": lambda who, state: {"set": who.pick(*_SETS), "cards": who.pick(108, 108, 52, 7)},
    "tribute": lambda who, state: {
        "seat": who.seat(),
        "card": who.pick(*_CARDS),
        **who.maybe(other=who.pick(*_CARDS)),
    },
    "return": lambda who, state: {"seat": who.seat(), "card": who.pick(*_CARDS)},
    "anti": lambda who, state: {"stands": who.pick(True, False)},
    "swap_returns": _nothing,
    "withdraw_out": _at_seat,
    "result": lambda who, state: {"order": who.order(), **who.maybe(ended_ms=state.match.at_ms)},
    "left": lambda who, state: {"left": {"N": 0, "W": 3, "S": 5, "E": who.pick(0, 7)}},
    "name_leader": _at_seat,
    "stop_deal": _with_reason,
    "call_clock": _at_seat,
    "warn": _at_seat,
    "add_time": lambda who, state: {"seconds": who.pick(0, 60, 3600)},
    "propose": lambda who, state: {
        **who.accused(state),
        **who.maybe(penalty=who.pick(*_PENALTIES[:4])),
    },
    "approve": lambda who, state: {
        "ruling": who.ruling(state),
        **who.maybe(penalty=who.pick(*_PENALTIES[:4])),
        **who.by_word(),
    },
    "reject": lambda who, state: {"ruling": who.ruling(state), **who.by_word()},
    "extra_deal": lambda who, state: {"reason": "equal", **who.by_word()},
    "adjust": lambda who, state: {
        "deal": who.pick(1, 2),
        "order": who.order(),
        "reason": "written wrongly",
        **who.maybe(choice=who.pick("from_now", "void_later", "stand")),
        **who.by_word(),
    },
    "redeal": lambda who, state: {"reason": who.pick(*_WORDS), **who.by_word()},
    "dealt_by_hand": _with_reason,
    "shuffled": _at_seat,
    "cut_by_hand": lambda who, state: who.pick({}, {"seat": who.seat(), "n": who.pick(6, 40)}),
    "turned_up": lambda who, state: {"card": who.pick(*_CARDS)},
    "hands_dealt": lambda who, state: who.maybe(
        turned_to=who.seat(), turned_up=who.pick("SK", "D3")
    ),
    "transfer": lambda who, state: {"table": who.pick("T01", "T02"), **who.by_word()},
    "take_over": lambda who, state: {
        "digest": "00" * 32,
        "verify": VERIFY,
        "sig": sign_document("00" * 32, TABLE_SIGN),
        "part": 1,
        "parts": 1,
        "text": "eNq",
    },
    "sign": lambda who, state: {
        "signer": who.pick(*state.match.signers, "NS", "N", "referee"),
        "person": who.pick(*_NAMES),
    },
    "acknowledge": lambda who, state: {
        "code": who.pick(*(row.name for row in state.alerts), *list(fault_catalogue())[:60]),
        **who.maybe(board=who.pick("dealer", "reader")),
    },
    "clear_jam": _nothing,
    "confirm_verbal": lambda who, state: who.pick(
        {"ruling": who.ruling(state)},
        *({"correction": one.row} for one in state.match.spoken),
        {"correction": 1},
    ),
    "forfeit": lambda who, state: {"side": who.pick("NS", "EW"), "reason": "they leave"},
    "void": _with_reason,
    "open_hand": lambda who, state: {"seat": who.seat(), "reason": "to see"},
    "selftest": _nothing,
    "configure": lambda who, state: {
        "board": who.pick("dealer", "reader"),
        "settings": who.pick({}, {"nonsense": 1}),
    },
    "calibrate": lambda who, state: {"board": who.pick("dealer", "reader")},
}
"""What is said with each command."""
