"""A whole match through real processes, and everything that anybody could have seen of it.

At full scale the match is a whole one, from 2 on. What is not looked into carries faces by its
nature: the serial lines, the simulator's control socket, and memory of machine and simulator.
"""

import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from controller.match.phase import MatchPhase
from controller.rules.profile_files import load_profile
from sim.tables.table_processes import HallPlan
from tests.match.table import INTL
from tests.matches.people import People
from tests.matches.script import Deal, Script
from tests.peek import onlooker as at
from tests.peek.evidence import Evidence, search
from tests.peek.onlooker import Onlooker, Plan, audience
from tests.peek.overheard import (
    CLIENT,
    MACHINE_SOCKET,
    NETWORK,
    PINS,
    SECOND_GATEWAY,
    WRAPPED,
    overheard,
)
from tests.peek.truth import Before, secrets_of

pytestmark = pytest.mark.slow

FROM_KING = '[levels]\nstart = "K"'
WHOLE = ("NS", "NS", "NS", "NS", "EW", "EW", "EW", "EW", "NS", "NS")
THROUGH_A = ("NS", "EW", "NS", "NS")
EACH = ("pockets", "seed", "key", "cards", "nonce", "hands")
PLACES = {
    *(MACHINE_SOCKET, SECOND_GATEWAY, CLIENT, NETWORK, PINS),
    *(at.MEMORY, at.FILES, at.JOURNAL, at.RUNTIME, at.LOGS),
    *(at.METRICS, at.BUNDLE, at.SHEETS, at.SCREENS, at.ENDPOINTS),
}
UNREAD = "unreadable:times=3,face=10"
"""A card that goes into the tray and is fed again, before anybody looks."""


def event_file(folder: Path) -> Path:
    """Write the regulations of an event whose matches begin at the king."""
    event = folder / "event.toml"
    about = f'profile = "{INTL}"\ntitle_en = "Cup"\ntitle_zh = "杯赛"\norganizer = "Club"\n'
    event.write_text(about + FROM_KING + "\n", encoding="utf-8")
    return event


async def test_nothing_is_seen_of_a_match_before_it_may_be(
    tmp_path: Path, scale: Callable[[int], int]
) -> None:
    whole = scale(len(WHOLE)) == len(WHOLE)
    event = None if whole else event_file(tmp_path)
    orders = WHOLE if whole else THROUGH_A
    deals = tuple(Deal(order, entered=n > 0, faults=(UNREAD,)) for n, order in enumerate(orders))
    evidence = Evidence()
    plan = HallPlan(tmp_path / "state", speed=at.PACE, profile=INTL, event=event)
    async with overheard(plan, evidence) as table:
        await table.start("machine")
        await table.start("gateway")
        todo = Plan(bundle=2, killed=3, hand_opened=2)
        async with audience(table, tmp_path), Onlooker(table, tmp_path, todo) as people:
            await People(people, Script(load_profile(INTL, event), deals)).play()
            people.glance()
            await people.print_sheet()
            await people.scrape()
        await table.end("gateway", signal.SIGABRT)
        await table.end("machine")
        people.look_at_files()

    secrets = secrets_of(table.state_dir, evidence, people.truths, Before(people.before))
    looked_for = {secret.what for secret in secrets}
    assert {f"{what} of attempt {n}" for what in EACH for n in range(1, 5)} <= looked_for
    assert set(evidence.sizes()) == PLACES
    assert people.memory.samples > at.GLANCES * len(deals)
    assert all(seen.hopper for seen in people.truths.values())  # it was looked at in mid-deal
    verdicts = [event.data for event in people.events if event.kind == "verdict"]
    by_tray = [data for data in verdicts if data["outcome"] == "ok" and data["refed"]]
    assert len(by_tray) >= len(deals) - 1  # the machine may die behind that card
    said = b"".join(each.data for each in evidence.exhibits if each.place == at.LOGS)
    assert said.count(b"Fatal Python error: Aborted") >= 2
    assert search(evidence, secrets) == []


async def test_a_machine_that_fails_in_mid_deal_tells_nothing_whatever_it_says(
    tmp_path: Path,
) -> None:
    """It says the `repr` of every value that it has, and ends with a trace; then it goes on."""
    event = event_file(tmp_path)
    deals = tuple(Deal(order, let_out=True, entered=True) for order in THROUGH_A)
    evidence = Evidence()
    plan = HallPlan(tmp_path / "state", speed=at.PACE, profile=INTL, event=event)
    async with overheard(plan, evidence, WRAPPED) as table:
        await table.start("machine")
        await table.start("gateway")
        todo = Plan(killed=1, by=signal.SIGUSR2)
        async with Onlooker(table, tmp_path, todo) as people:
            playing = People(people, Script(load_profile(INTL, event), deals))
            await playing.play_until(lambda match: match.deal == 2)
            await playing.play_until(lambda match: match.phase == MatchPhase.PLAY.value)
        await table.end("gateway")
        await table.end("machine")
        people.look_at_files()

    said = b"".join(each.data for each in evidence.exhibits if each.place == at.LOGS)
    assert b"RuntimeError: as told" in said
    assert b"AttemptWriter" in said
    assert b"Vault(attempt=1, cards=" in said
    secrets = secrets_of(table.state_dir, evidence, people.truths, Before(people.before))
    assert "cards of attempt 1" in {secret.what for secret in secrets}
    assert search(evidence, secrets) == []
