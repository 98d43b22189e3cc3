"""A match in real processes that begins at one table, loses it in mid-deal and ends at a third."""

import asyncio
import re
from collections.abc import Callable
from contextlib import AsyncExitStack
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from controller.cards import parse_face
from controller.commands import COMMANDS
from controller.journal.store import STORE_NAME, Store, read_rows
from controller.journal.verify import verify
from controller.machine.sheet.view import sheet
from controller.match import events
from controller.match.phase import Phase as At
from controller.messages import Phase, Reply, Role, Seat, State
from controller.rules.order import value
from controller.rules.tribute import anti_stands, required_value
from controller.trials.hall import HallPlan, hall
from tests.machine.by_hand import PAID, RETURNED, drawn_by_hand, exchanged, match_at, played
from tests.machine.stages import MATCH, all_press, ordered
from tests.match.differences import differences, plain
from tests.match.people import meeting
from tests.match.table import INTL, Table
from tests.matches.at_hall import AtHall
from tests.matches.expected import comparable
from tests.processes.conftest import SPEED, Dealtable

pytestmark = pytest.mark.slow

PATIENCE_S = 60.0
GLANCE_S = 0.1
REFEREE, CHIEF, TABLE = Role.REFEREE, Role.CHIEF, Role.TABLE
NOT_YET = frozenset({"STALE", "WRONG_PHASE", "NO_DEAL_DUE", "MACHINE_BUSY", "BOARD_AWAY"})
Faces = dict[Seat, tuple[int, ...]]


class People(AtHall):
    """People at a running table who say a thing again where the table is not so far yet."""

    async def order(self, role: Role, cmd: str, /, **args: Any) -> Reply:
        """Give an order about what is present; return what the table says in the end."""
        async with asyncio.timeout(PATIENCE_S):
            while True:
                reply = await self.ask(role, cmd, self._present(cmd), args)
                if reply.error is None or reply.error.code not in NOT_YET:
                    return reply
                await asyncio.sleep(GLANCE_S)

    def _present(self, cmd: str) -> tuple[int | None, int | None]:
        machine, match = self.states[-1].machine, self.states[-1].match
        if COMMANDS[cmd].bound == "match":
            return match.deal, match.attempt
        return (machine.deal, machine.attempt) if COMMANDS[cmd].bound == "machine" else (None, None)

    async def until(self, fits: Callable[[State], bool]) -> State:
        """Wait for a state."""
        async with asyncio.timeout(PATIENCE_S):
            while not (self.states and fits(self.states[-1])):
                await self.later(1.0)
        return self.states[-1]

    async def opened(self) -> None:
        """Lay a match out and open it."""
        await self.until(lambda state: state.machine.phase is Phase.EMPTY)
        pairs = plain(meeting().pairs)
        await ordered(self, REFEREE, "set_match", **MATCH, stage="swiss", pairs=pairs)
        await all_press(self, "NWSE")
        await ordered(self, CHIEF, "start_match")

    async def cut(self) -> None:
        """Begin the deal that is due."""
        await self.until(lambda state: state.machine.phase is Phase.EMPTY)
        await ordered(self, REFEREE, "start_deal")
        await self.until(lambda state: state.machine.phase is Phase.COMMITTED)
        await ordered(self, TABLE, "cut", n=40)

    async def released(self) -> Faces:
        """Let the machine deal, take the hands and count them; return what lay in the pockets."""
        await self.cut()
        await self.until(lambda state: state.match.phase == "held")
        faces = await self.pockets()
        await ordered(self, REFEREE, "release")
        async with asyncio.timeout(PATIENCE_S):
            while not (await self.eyes()).lift_up:
                await self.later(GLANCE_S)
        await self.hands("take_hands")
        await all_press(self, "NWSE")
        await self.until(lambda state: state.match.phase not in ("count_check", "anti_check"))
        return faces

    async def paid(self) -> None:
        """Pay what the machine says."""
        for phase in ("tribute", "return"):
            while match_at(self).phase == phase:
                await all_press(self, "".join(match_at(self).waiting_for))
                await asyncio.sleep(GLANCE_S)


def by_machine(rules: Table, at: People, faces: Faces) -> Table:
    """The deal that was dealt so, by the pure rules, until it is played."""
    told = next(event.data for event in reversed(at.events) if event.kind == "released")
    rules.cut().does(
        events.Dealt, turned_to=told.get("leader"), turned_up=told.get("turned_up")
    ).released().counted()
    if rules.phase is not At.ANTI_CHECK:
        return rules
    exchange = rules.match.exchange
    assert exchange is not None
    stands = anti_stands(rules.rules, exchange.payers, faces)
    rules.does(events.AntiAnswered, stands=stands)
    if stands:
        return rules
    for seat in exchange.payers:
        rules.does(events.TributeLaid, seat=seat)
    level = rules.match.level
    due = {seat: required_value(rules.rules, faces[seat], level) for seat in exchange.payers}
    return rules.does(events.TributeValued, values=due).returned(None, None)


def by_hand(rules: Table) -> Table:
    """The deal that was drawn by hand, by the pure rules, until it is played."""
    rules.does(events.DealtByHand, reason="the machine is broken")
    rules.cut().does(events.Dealt).counted()
    if rules.phase is not At.ANTI_CHECK:
        return rules
    exchange = rules.match.exchange
    assert exchange is not None
    rules.does(events.AntiAnswered, stands=False)
    for seat in exchange.payers:
        rules.does(events.TributeLaid, seat=seat)
    level = rules.match.level
    laid = value(parse_face(PAID), level)
    rules.does(events.TributeValued, values=dict.fromkeys(exchange.payers, laid))
    given = value(parse_face(RETURNED), level)
    return rules.returned(given, given)


def confirmed(rules: Table, order: str) -> Table:
    return rules.does(events.ResultEntered, order=tuple(order)).does(events.Confirmed, by="referee")


def journal(state_dir: Path) -> list[Any]:
    with read_rows(state_dir / STORE_NAME):
        store = Store.open(state_dir)
        try:
            return list(store.entries())
        finally:
            store.close()


@pytest.mark.timeout(240)
async def test_a_match_begins_at_one_table_loses_it_in_mid_deal_and_ends_at_a_third(
    tmp_path: Path, dealtable: Dealtable
) -> None:
    rules = Table(INTL).started()
    async with AsyncExitStack() as stack:
        plan = HallPlan(tmp_path / "hall", tables=3, speed=SPEED)
        tables = await stack.enter_async_context(hall(plan))
        first, second, third = [await stack.enter_async_context(People(each)) for each in tables]
        for at in (first, second, third):
            await at.until(lambda state: state.machine.phase is Phase.EMPTY)

        await first.opened()
        faces = await first.released()
        await played(first, "NS")
        confirmed(by_machine(rules, first, faces), "NS")
        await first.hands("lay_down")
        await first.hands("load")

        await first.cut()
        await first.until(lambda state: state.machine.fed > 10)
        await first.table.control.do("kill", board="dealer")
        lost = await first.until(lambda state: state.machine.phase is Phase.FAULT)
        rules.cut().does(events.Misdealt, reasons=tuple(lost.fairness[-1].reasons))
        for _ in range(2):
            await drawn_by_hand(first)
            await exchanged(first)
            await played(first, "NS")
            confirmed(by_hand(rules), "NS")

        moved = await dealtable(
            *("transfer", "--from", first.table.state_dir, "--to", second.table.state_dir)
        )
        assert moved.out == f"match M1 is at {second.table.id}, deal 4, phase cut\n", moved.err
        await second.until(lambda state: state.match.suspended == "transfer")
        await ordered(second, REFEREE, "resume")
        faces = await second.released()
        await second.paid()
        assert match_at(second).phase == "play"

        file = tmp_path / "match.json"
        where = ("--table", third.table.id, "--file", file)
        word = ("--as", "referee", "--by", "Chen Hua")
        gone = await dealtable("transfer", "--from", second.table.state_dir, *where, *word)
        left, there = gone.out.splitlines()
        assert left == f"match M1 left for {third.table.id}: it is in {file} now", gone.err
        assert re.fullmatch("there: --from-key [0-9a-f]{64} .*", there)
        other = ("--from-key", first.table.state_dir / "keys" / "table.key")
        wrong = await dealtable("transfer", "--file", file, "--to", third.table.state_dir, *other)
        assert (wrong.code, "is not signed by the key" in wrong.err) == (1, True)
        own = ("--from-key", second.table.state_dir / "keys" / "table.key")
        wrong = await dealtable("transfer", "--file", file, "--to", first.table.state_dir, *own)
        assert (wrong.code, wrong.err.split(":")[0].split(", ")[-1]) == (1, "OTHER_MATCH")
        for _ in range(2):
            to_third = ("--file", file, "--to", third.table.state_dir)
            moved = await dealtable("transfer", *to_third, *there.split()[1:3])
            assert moved.out == f"match M1 is at {third.table.id}, deal 4, phase play\n", moved.err
        await third.until(lambda state: state.match.suspended == "transfer")
        await ordered(third, REFEREE, "resume")
        await played(third, "NS")
        confirmed(by_machine(rules, second, faces), "NS")

        while match_at(third).phase != "over":
            faces = await third.released()
            await third.paid()
            await played(third, "NWS")
            confirmed(by_machine(rules, third, faces), "NWS")
            await third.hands("lay_down")
            await third.hands("load")
        while match_at(third).signers:
            signer = match_at(third).signers[0]
            await ordered(third, REFEREE, "sign", signer=signer, person=f"person {signer}")
            rules.does(events.Signed, signer=signer, person=f"person {signer}")
        await third.until(lambda state: state.match.phase == "signed")
        told = (await ordered(third, Role.OBSERVER, "sheet")).result
        assert told is not None
        by_word = "Chen Hua (chief, by word), entered by referee"
        assert [note["en"] for note in told["notes"]] == [
            f"moved from table {first.table.id} to table {second.table.id} (chief referee)",
            f"moved from table {second.table.id} to table {third.table.id} ({by_word})",
        ]
        pure = sheet(rules.state, table="T03", head="", rules_hash="")
        pure["notes"] = told["notes"]
        assert list(differences(comparable(told), comparable(plain(pure)))) == []
        by_hand_rows = [row["by_hand"] for row in told["deals"]]
        assert by_hand_rows == [False, True, True, *[False] * (len(by_hand_rows) - 3)]

        await second.hands("lay_down")
        await second.hands("load")
        await second.until(lambda state: state.fairness[-1].reveal is not None)
        await asyncio.sleep(1.0)
    journals = {table.id: journal(table.state_dir) for table in tables}
    for left, to in pairwise(table.id for table in tables):
        (went,) = [item for item in journals[left] if item.entry.kind == "transferred"]
        (came,) = [item for item in journals[to] if item.entry.kind == "taken_over"]
        assert (went.entry.data["to"], came.entry.data["table"]) == (to, left)
        assert came.entry.data["head"] == went.head.hex()
    (went,) = [item for item in journals[tables[0].id] if item.entry.kind == "transferred"]
    assert went.entry.data["to_head"] in [item.head.hex() for item in journals[tables[1].id]]
    for table in tables:
        assert verify(table.state_dir).findings == []
