"""What a role may order now: as the table says it, and as it then answers who orders it."""

import asyncio
import random
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from controller.commands.registry import COMMANDS
from controller.machine.commands.command_offers import SIGNED_COMMANDS
from controller.machine.commands.command_processor import CommandProcessor
from controller.messages import CommandReply, MachinePhase, Offer, PublicState, Role
from controller.vault import dealt_hands
from sim.tables.table_in_process import TableInProcess
from tests.machine.disturber import Args
from tests.machine.stages import MATCH, PAIRS, STAGES, STEPS, deal_two_due, opened, ordered, refused
from tests.machine.tables import Tables
from tests.machine.walk import PROFILES, Walk

pytestmark = pytest.mark.virtual

WALKS = 100
MADE_UP = re.compile(
    r"another (set|table)|\b(A1|R1|JAM|Plum|Pine|Li Na|S5|SA)\b|: [NWSE]\b(?! /)|N 27"
)
"""What samples say (samples.py) and no table has; a single seat is the first that was tried."""
REFEREE, CHIEF, TABLE = Role.REFEREE, Role.CHIEF, Role.TABLE


async def offers(at: TableInProcess, role: Role) -> dict[str, Offer]:
    """Ask a table what a role may order."""
    reply = await at.send_command(Role.OBSERVER, "offers", role=role.value)
    assert reply.result is not None
    return {one.cmd: one for one in msgspec.convert(reply.result["offers"], list[Offer])}


def code(offer: Offer) -> str | None:
    """Why a command cannot be given."""
    return None if offer.refused is None else offer.refused.code


# -- what is told ------------------------------------------------------------------


@pytest.mark.parametrize("role", Role)
async def test_a_role_is_told_of_every_order_that_is_its_own_and_of_no_other(
    table: Tables, role: Role
) -> None:
    async with table() as at:
        await at.wait_for_phase(MachinePhase.EMPTY)
        told = await offers(at, role)
        assert list(told) == [cmd for cmd in SIGNED_COMMANDS if role in COMMANDS[cmd].roles]


async def test_before_a_match_is_laid_out_there_is_practice_and_nothing_to_rule_on(
    table: Tables,
) -> None:
    async with table() as at:
        await at.wait_for_phase(MachinePhase.EMPTY)
        told = await offers(at, REFEREE)
        assert code(told["start_deal"]) is None
        assert code(told["set_match"]) is None
        assert code(told["approve"]) == code(told["result"]) == "NO_MATCH"
        assert code(told["release"]) == "WRONG_PHASE"
        assert code(told["clear_jam"]) == "NOT_LATCHED"
        assert code((await offers(at, Role.TECHNICIAN))["selftest"]) is None


async def test_no_match_is_laid_out_while_practice_hands_are_under_way(table: Tables) -> None:
    async with table() as at:
        await at.wait_for_phase(MachinePhase.EMPTY)
        await ordered(at, REFEREE, "start_deal")
        await at.wait_for_phase(MachinePhase.COMMITTED)
        assert code((await offers(at, REFEREE))["set_match"]) == "MACHINE_BUSY"
        laid_out = {**MATCH, "stage": "swiss", "pairs": PAIRS}
        assert await refused(at, REFEREE, "set_match", **laid_out) == "MACHINE_BUSY"


async def test_no_match_is_laid_out_for_a_pair_that_is_disqualified_from_its_event(
    table: Tables,
) -> None:
    async with table() as at:
        await opened(at)
        laid_out = {**MATCH, "match_id": "M2", "stage": "swiss", "pairs": PAIRS}
        match = at.states[-1].match
        assert match is not None
        await ordered(
            at, CHIEF, "propose", offence="collusion", side="NS", penalty="disqualification"
        )
        await ordered(at, CHIEF, "approve", ruling="R1")
        for signer in ("NS", "EW", "referee"):
            await at.send_command(REFEREE, "sign", signer=signer, person=f"for {signer}")
        await at.wait_for_state(
            lambda state: state.match is not None and state.match.phase == "signed"
        )
        assert await refused(at, REFEREE, "set_match", **laid_out) == "PAIR_DISQUALIFIED"
        others = {side: {**pair, "id": f"other {side}"} for side, pair in PAIRS.items()}
        await ordered(at, REFEREE, "set_match", **laid_out | {"pairs": others})
        again = laid_out | {"match_id": "M3"}
        assert await refused(at, REFEREE, "set_match", **again) == "PAIR_DISQUALIFIED"
        elsewhere = again | {"event": "Autumn Cup"}
        await ordered(at, REFEREE, "set_match", **elsewhere)


@pytest.mark.parametrize(
    ("penalty", "event", "barred"),
    [
        ("disqualification", MATCH["event"], True),
        ("disqualification", "Autumn Cup", False),
        ("match_forfeit", MATCH["event"], False),
    ],
)
async def test_a_pair_brings_its_disqualification_to_the_tables_of_its_event(
    table: Tables, penalty: str, event: str, barred: bool
) -> None:
    entry = {
        "offence": "collusion", "seat": None, "person": None, "pair": PAIRS["NS"]["id"],
        "side": "NS", "event": event, "round": 1, "match": "M0", "deal": 1, "at_ms": 0,
        "penalty": penalty, "article": "A15.3.5",
    }  # fmt: skip
    async with table() as at:
        await at.wait_for_phase(MachinePhase.EMPTY)
        laid_out: dict[str, Any] = {**MATCH, "stage": "swiss", "pairs": PAIRS, "record": [entry]}
        reply = await at.send_command(REFEREE, "set_match", **laid_out)
        told = None if reply.error is None else reply.error.code
        assert told == ("PAIR_DISQUALIFIED" if barred else None)


async def test_what_is_refused_is_told_in_both_languages(table: Tables) -> None:
    async with table() as at:
        await at.wait_for_phase(MachinePhase.EMPTY)
        told = (await offers(at, CHIEF))["start_match"].refused
        assert told is not None
        assert told.message
        assert told.action
        assert told.message_zh
        assert told.action_zh


async def test_a_seat_is_named_as_long_as_it_can_act(table: Tables) -> None:
    async with table() as at:
        await STAGES["count_check"](at)
        assert (await offers(at, TABLE))["confirm"].seats == ["N", "W", "S", "E"]
        await ordered(at, TABLE, "confirm", seat="W")
        told = (await offers(at, TABLE))["confirm"]
        assert told.seats == ["N", "S", "E"]
        assert told.refused is None
        assert told.seatless is False


async def test_a_referee_confirms_for_both_sides_once_there_is_a_result(table: Tables) -> None:
    async with table() as at:
        await STAGES["result"](at)
        told = (await offers(at, REFEREE))["confirm"]
        assert (told.seats, told.seatless) == (["N", "W", "S", "E"], True)


async def test_what_takes_the_chief_a_referee_is_offered_as_his_word(table: Tables) -> None:
    async with table() as at:
        await STAGES["play, before the first lead"](at)
        told = await offers(at, REFEREE)
        assert (code(told["redeal"]), told["redeal"].by_word) == (None, True)
        assert told["hold"].by_word is False
        assert (await offers(at, CHIEF))["redeal"].by_word is False


async def test_a_ruling_is_offered_to_those_who_may_decide_it(table: Tables) -> None:
    async with table() as at:
        await STAGES["play, after the first lead"](at)
        assert code((await offers(at, CHIEF))["approve"]) == "NO_SUCH_RULING"
        await ordered(at, CHIEF, "propose", offence="other", seat="W", penalty="foul")
        assert code((await offers(at, CHIEF))["approve"]) is None
        told = (await offers(at, REFEREE))["approve"]
        assert (code(told), told.by_word) == (None, True)


async def test_a_player_who_calls_is_offered_to_whoever_can_go_there(table: Tables) -> None:
    async with table() as at:
        await STAGES["due"](at)
        assert code((await offers(at, REFEREE))["attend"]) == "NOBODY_CALLS"
        await ordered(at, TABLE, "call", seat="S")
        told = (await offers(at, REFEREE))["attend"]
        assert (told.seats, told.seatless) == (["S"], True)


async def test_a_refusal_names_nothing_that_only_a_sample_said(table: Tables) -> None:
    async with table() as at:
        for stage, step in STEPS.items():
            await step(at)
            for role in Role:
                for cmd, offer in (await offers(at, role)).items():
                    told = "" if offer.refused is None else offer.refused.message
                    assert cmd == "clear_jam" or not MADE_UP.search(told), (stage, cmd, told)


async def test_a_refusal_names_what_the_table_has(table: Tables) -> None:
    async with table() as at:
        await STAGES["result"](at)
        why = (await offers(at, REFEREE))["take_over"].refused
        assert why is not None
        assert str(MATCH["match_id"]) in why.message


# -- it is only asked --------------------------------------------------------------


def _secret(*args: object, **named: object) -> None:
    raise AssertionError("the vault was asked")


async def test_to_ask_changes_nothing_and_opens_no_vault(
    table: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with table() as at:
        for stage, step in STEPS.items():
            await step(at)
            record = at.machine.record
            before = record.match_written, record.state, record.journal.last_number
            for name in (
                "is_right_tribute",
                "judge_return_card",
                "is_anti_tribute",
                "required_tributes",
            ):
                monkeypatch.setattr(dealt_hands, name, _secret)
            for role in Role:
                at.machine.offers.answer_for(role)
            monkeypatch.undo()
            assert (record.match_written, record.state, record.journal.last_number) == before, stage


async def test_other_cards_make_no_other_offers(table: Tables) -> None:
    stages = ("committed", "dealing", "held", "count_check", "tribute")
    told: list[dict[str, Any]] = []
    for seed in (0, 1, 2):
        told.append({})
        async with table(seed=seed) as at:
            for stage, step in STEPS.items():
                await step(at)
                if stage in stages:
                    told[-1][stage] = [await offers(at, role) for role in Role]
                if stage == stages[-1]:
                    break
    assert told[0] == told[1] == told[2]


async def test_ten_who_ask_are_one_question_until_something_happens(
    table: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[object] = []
    real = CommandProcessor.refusal_of

    def counted(desk: CommandProcessor, order: Any) -> Any:
        asked.append(order)
        return real(desk, order)

    monkeypatch.setattr(CommandProcessor, "refusal_of", counted)
    async with table() as at:
        await opened(at)
        await offers(at, REFEREE)
        first = len(asked)
        for _ in range(9):
            await offers(at, REFEREE)
        assert len(asked) == first > 0
        await ordered(at, TABLE, "call", seat="N")
        await offers(at, REFEREE)
        assert len(asked) > first


# -- and it is so ------------------------------------------------------------------

OF_A_VALUE = frozenset(
    {
        "BAD_COMMAND",
        "ILLEGAL_CUT",
        "MUCH_TIME",
        "NOT_BEGUN",
        "NOT_LEGAL",
        "NO_FINISH_ORDER",
        "NO_SUCH_CARD",
        "NO_CARD_OF_HIS",
        "NO_SUCH_DEAL",
        "NO_SUCH_RULING",
        "NO_SUCH_SET",
        "NOT_LATCHED",
        "NOT_OPEN",
        "NOT_VERBAL",
        "NO_SIGNER",
        "OTHER_SIDE",
        "PAIR_DISQUALIFIED",
        "RETURN_IS_RIGHT",
        "IT_ENDED_A_DEAL",
        "SET_NOT_WHOLE",
        "SET_OUT",
        "TURNED_TO_MISSING",
        "TURN_AGAIN",
        "TWICE",
        "VALUES_MISSING",
        "VALUE_NEEDED",
        "WRONG_COUNTS",
    }
)
"""What is refused for what was said: another ruling, set or deal, another card or order."""
OF_A_SEAT = frozenset({"NOT_HIS_DUTY", "NOT_LAID", "NOT_A_REFEREE", "NO_CLOCK", "SEAT_TAKEN"})
"""What is refused of one seat, or without one, where another seat has another reason."""
OF_A_PERSON = frozenset({"OPENED_BY_YOU", "NEEDS_CHIEF"})
"""What is refused for whom it is: he saw a hand, or this one of several is the chief's."""
OF_A_BOARD = frozenset(
    {"BOARD_AWAY", "BOARD_REFUSED", "SET_TOO_EARLY", "STILL_THERE", "LINE_LOST", "LID_OPENED"}
)
"""What only a board can say, or says meanwhile."""
DEAL_STEPS = ("start_deal", "cut", "release")


class Asking(Walk):
    """A walk in which somebody asks what he may order, and then orders it."""

    def __init__(self, seed: int, folder: Path, runtime_dir: Path) -> None:
        profile = PROFILES[seed % len(PROFILES)]()
        chance = random.Random(f"asking {seed}")
        super().__init__(
            f"asking {seed}",
            profile,
            folder,
            runtime_dir,
            steps=400,
            ahead=chance.random() < 0.4,
            disturbed=0.2,
            deaths=0.3 if chance.random() < 0.3 else 0.0,
        )
        self.compared: Counter[str] = Counter()
        # A sensor that sees nothing asks for nobody's hand, and the walk would wait for ever.
        self.disturber._fault = self.disturber._time  # type: ignore[method-assign]

    async def _step(self, at: TableInProcess) -> None:
        if self.chance.random() < 0.5:
            await super()._step(at)
            return
        await self._settled()
        await self._ask(at)

    async def _ask(self, at: TableInProcess) -> None:
        role = self.chance.choice((TABLE, REFEREE, REFEREE, CHIEF, CHIEF, Role.TECHNICIAN))
        told = msgspec.convert(at.machine.offers.answer_for(role)["offers"], list[Offer])
        open_ = [one for one in told if one.refused is None and one.cmd not in _ENDS]
        shut = [one for one in told if one.refused is not None]
        offer = self.chance.choice(open_ if self.chance.random() < 0.4 and open_ else shut or open_)
        args, seat = self._said(offer, role, at.states[-1])
        if args is None:
            return
        moment = _moments(at)
        now = moment()
        at_act: list[object] = []
        _watch_act(at, lambda: at_act.append(moment()))
        self.did.append(f"{role} asks for {offer.cmd} {args}: {code(offer)}")
        present = at.machine.processor.current_deal(offer.cmd)
        giving = asyncio.ensure_future(self.give(role, offer.cmd, about=present, **args))
        done, _ = await asyncio.wait({giving}, timeout=5)
        if not done or any(then != now for then in at_act) or not at_act:
            return  # a lift on its way, or something else happened in between
        self._compare(offer, args, seat, giving.result())

    def _said(self, offer: Offer, role: Role, state: PublicState) -> tuple[Args | None, str | None]:
        """Return what a sensible person says with a command, and the seat that he names."""
        cmd = offer.cmd
        args = {**self.disturber.args(cmd, state)}
        for name in ("verbal", "by", "area", "choice", "ended_ms"):
            args.pop(name, None)
        if offer.by_word:
            args |= {"verbal": True, "by": "Chen"}
        if cmd == "start_deal":
            args = {"uncut": True, "reason": "nobody may cut"}
        if cmd == "open_hand" and role is CHIEF:
            return None, None  # who has seen a hand may do less from then on
        if "card" in args:
            args["card"] = self.chance.choice(("SK", "D5"))
        if "other" in args:
            args["other"] = "SK"
        if cmd in ("approve", "reject"):
            args.pop("penalty", None)
        if cmd == "propose":
            args.pop("penalty", None)
        if cmd == "transfer":
            args["table"] = "T02"
        return args, args.get("seat", args.get("payer"))

    def _compare(self, offer: Offer, args: Args, seat: str | None, reply: CommandReply) -> None:
        found = None if reply.error is None else reply.error.code
        allowed = OF_A_VALUE | OF_A_PERSON | OF_A_BOARD
        if offer.seats is not None:
            could = seat in offer.seats if seat is not None else bool(offer.seatless)
        else:
            could = offer.refused is None
        self.compared[f"{offer.cmd} {'open' if could else 'shut'}"] += 1
        if could and found is not None and found not in allowed:
            self.wrong.append(f"{offer.cmd} {args} was offered, and refused with {found}")
        if not could and found is None and reply.result != {"missing": []}:
            self.wrong.append(f"{offer.cmd} {args} was not offered ({code(offer)}), and taken")
        allowed |= OF_A_SEAT if offer.seats is not None else frozenset()
        if offer.seatless is not None and seat is None:
            return  # what is told is why no seat can
        if not could and offer.refused is not None and found not in {None, code(offer)} | allowed:
            self.wrong.append(f"{offer.cmd} {args} is refused with {found}, not {code(offer)}")


_ENDS = frozenset({"forfeit", "transfer", "sign", "take_over"})
"""What would end the walk before it came anywhere."""


def _moments(at: TableInProcess) -> Callable[[], object]:
    """Return what tells one moment of a table from another."""
    machine = at.machine
    record = machine.record

    def moment() -> object:
        return (
            id(record.match_written),
            id(record.state),
            record.raised_faults,
            machine._unjournalled_state(),
        )

    return moment


def _watch_act(at: TableInProcess, seen: Callable[[], None]) -> None:
    """Call `seen` in the moment in which the next order is looked at."""
    processor, checks = at.machine.processor, at.machine.processor.checks
    real_act, real_veto = processor.action_for, type(checks).step_refusal

    def act(cmd: str) -> Any:
        found = real_act(cmd)
        if found is None:
            return None

        async def looked(order: Any) -> None:
            seen()
            await found(order)

        return looked

    def veto(cmd: str, args: Any) -> Any:
        seen()
        return real_veto(checks, cmd, args)

    processor.action_for = act
    checks.step_refusal = veto  # type: ignore[method-assign]


@pytest.mark.slow
async def test_what_is_offered_is_taken_and_what_is_not_is_refused_as_it_was_told(
    scale: Callable[[int], int], tmp_path: Path, runtime_dir: Path
) -> None:
    compared: Counter[str] = Counter()
    for seed in range(scale(WALKS)):
        walk = Asking(seed, tmp_path / str(seed), runtime_dir)
        await walk.run()
        compared += walk.compared
    assert sum(compared.values()) > 50 * scale(WALKS)
    assert len([said for said in compared if said.endswith("open")]) > len(SIGNED_COMMANDS) / 4


async def test_a_match_is_opened_by_the_chief_and_by_nobody_twice(table: Tables) -> None:
    async with table() as at:
        await deal_two_due(at)
        assert code((await offers(at, CHIEF))["start_match"]) == "WRONG_PHASE"
        assert code((await offers(at, CHIEF))["set_match"]) == "MATCH_OPEN"
