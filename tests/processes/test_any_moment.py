"""Deals of real processes that are killed, stopped, unplugged and disturbed at random moments.

The simulated mechanics judge the hands when the lift is up. No process of the table can change
what they report.
"""

import asyncio
import json
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from controller.client.client import NoAnswer
from controller.deal import sequence as fair
from controller.journal.attempt_history import AttemptHistory, attempt_histories
from controller.journal.entries import ChainedEntry, walk_chain
from controller.journal.store import STORE_NAME, open_read_only
from controller.messages import AttemptOutcome
from controller.rules.profile import Profile
from controller.rules.profile_files import load_profile
from controller.seats import SEATS
from sim.people.practice_players import PracticePlayers, seat_players
from sim.tables.table_processes import HallPlan, TableProcess, run_simulator
from tests.processes.disturbances import Disturbances, start_relay_simulator
from tests.processes.people import FAST
from tests.processes.ports import free_ports
from tests.processes.program import Dealtable

Hands = tuple[tuple[int, ...], ...]
"""The faces of N, W, S and E, each hand sorted."""
AT_A_TIME = 2
"""How many disturbances are pending at a time."""
LOOK_INTERVAL_MS = 300
"""Of the simulator's clock. The lift is up for longer."""


class Lift:
    """Watches the lift of a table. `hands` are those that lay in the pockets each time it rose."""

    def __init__(self, table: TableProcess) -> None:
        self._table = table
        self._is_up = False
        self.hands: list[Hands] = []

    async def watch(self) -> None:
        """Watch until cancelled."""
        look = {"after_ms": LOOK_INTERVAL_MS, "do": "truth"}
        while True:
            (truth,) = await self._table.control.request("script", steps=[look])
            self.take(truth)

    def take(self, truth: dict[str, Any]) -> None:
        """Take what the mechanics report."""
        hands = tuple(tuple(sorted(card["face"] for card in hand)) for hand in truth["pockets"][:4])
        rose = truth["lift_up"] and not self._is_up and any(hands)
        self._is_up = truth["lift_up"] and (rose or self._is_up)
        if rose:
            self.hands.append(hands)


@pytest.mark.slow
async def test_no_wrong_hand_is_released_whatever_disturbs_processes_and_lines(
    tmp_path: Path, runtime_dir: Path, scale: Callable[[int], int], dealtable: Dealtable
) -> None:
    seed = random.Random().getrandbits(32)
    plan = HallPlan(tmp_path / "state", speed=FAST, port=free_ports(2))
    async with run_simulator(plan, runtime_dir, start_relay_simulator) as (table,):
        await table.start_daemon()
        lift, disturbances = Lift(table), Disturbances(table, random.Random(seed))
        beside = [
            asyncio.create_task(lift.watch()),
            asyncio.create_task(disturbances.keep_running()),
        ]
        try:
            await deal(table, lift, disturbances, scale(300))
        finally:
            for one in beside:
                one.cancel()
            await asyncio.gather(*beside, return_exceptions=True)
            report(f"seed {seed}: {len(lift.hands)} deals", disturbances)
            await table.stop_daemon()

    verified = json.loads((await dealtable("verify", table.state_dir, "--json")).out)
    assert verified["findings"] == []
    assert [hands for hands in lift.hands if not is_right(hands, plan.rules)] == []
    assert set(lift.hands) <= set(proved_hands(table))


async def deal(table: TableProcess, lift: Lift, disturbances: Disturbances, deals: int) -> None:
    """Deal until the lift rose `deals` times, with disturbances pending all the time."""
    pending: set[asyncio.Task[None]] = set()
    async with seat_players(table) as people:
        try:
            while len(lift.hands) < deals:
                pending = {one for one in pending if not is_over(one)}
                while len(pending) < AT_A_TIME:
                    pending.add(asyncio.create_task(disturbances.strike()))
                await deal_once(people)
        finally:
            for one in pending:
                one.cancel()
            await asyncio.gather(*pending, return_exceptions=True)
            sys.stderr.write(f"the table: {people.status_text()}\n")


async def deal_once(people: PracticePlayers) -> None:
    try:
        await people.play_deal()
    except NoAnswer:
        return  # the machine or its gateway is being started again


def is_over(disturbance: "asyncio.Task[None]") -> bool:
    """Return whether a disturbance is over. Raises the error that ended it."""
    if disturbance.done():
        disturbance.result()
    return disturbance.done()


def report(text: str, disturbances: Disturbances) -> None:
    kinds = Counter(each.partition(" behind")[0] for each in disturbances.struck)
    sys.stderr.write(f"{text}, {kinds}, the last ones: {disturbances.struck[-6:]}\n")


def is_right(hands: Hands, profile: Profile) -> bool:
    count = Counter(face for hand in hands for face in hand)
    composition = profile.deck.composition()
    is_whole = all(count[face] == copies for face, copies in enumerate(composition))
    return is_whole and [len(hand) for hand in hands] == [profile.hand] * 4


def proved_hands(table: TableProcess) -> Iterator[Hands]:
    """Yield the hands that the journal proves for each attempt that ended right."""
    with open_read_only(table.state_dir / STORE_NAME) as rows:
        chained = (each for each in walk_chain(rows) if isinstance(each, ChainedEntry))
        for attempt in attempt_histories(each.entry for each in chained).values():
            if attempt.outcome is AttemptOutcome.OK and attempt.data("record"):
                yield hands_of(attempt)


def hands_of(attempt: AttemptHistory) -> Hands:
    committed, revealed, record = (
        attempt.steps[kind].data for kind in ("committed", "revealed", "record")
    )
    faces = bytes.fromhex(record["hands"])
    pockets = fair.sequence(
        bytes.fromhex(committed["commitment"]),
        bytes.fromhex(revealed["seed"]),
        revealed["cut"],
        len(faces),
    )
    dealt = list(zip(faces, pockets, strict=True))
    return tuple(tuple(sorted(face for face, to in dealt if to == seat)) for seat in SEATS)


def test_hands_that_lack_a_card_or_have_it_twice_are_wrong() -> None:
    profile = load_profile("international-000")
    cards = [face for face, copies in enumerate(profile.deck.composition()) for _ in range(copies)]
    hands = [tuple(cards[at : at + 27]) for at in range(0, 108, 27)]
    assert is_right(tuple(hands), profile)
    assert not is_right((hands[0][:-1], *hands[1:]), profile)
    assert not is_right((hands[0][:-1], (*hands[1], hands[0][-1]), *hands[2:]), profile)
    assert not is_right(((*hands[0][:-1], hands[2][0]), *hands[1:]), profile)


def test_the_hands_are_taken_once_each_time_the_lift_rises(tmp_path: Path) -> None:
    profile = load_profile("international-000")
    table = TableProcess({"table": "T01", "control": ""}, tmp_path, tmp_path, profile)
    lift = Lift(table)
    card = [[{"face": 7}], [], [], [], []]
    for is_up, pockets in ((False, card), (True, card), (True, [[]] * 5), (True, card)):
        lift.take({"lift_up": is_up, "pockets": pockets})
    assert lift.hands == [((7,), (), (), ())]
    for is_up, pockets in ((False, [[]] * 5), (True, [[]] * 5), (True, card)):
        lift.take({"lift_up": is_up, "pockets": pockets})
    assert len(lift.hands) == 2
