"""What may only be seen with the rest of it: kept back in the journal, then told, whatever comes.

Open hands of Big Two, a return that is shown with the other one, and tributes before they lie
on the table.
"""

import asyncio
import random
from collections.abc import AsyncIterator, Callable
from itertools import count
from pathlib import Path
from typing import Any

import msgspec
import pytest

from controller.cards import face_text
from controller.journal.entries import ChainedEntry, JournalEntry
from controller.journal.store import JournalStore
from controller.journal.verify import verify
from controller.journal.verify.disclosure import check_late_rows
from controller.messages import PublicMatch, PublicState, Role, Seat
from controller.rules.profile_files import load_profile
from controller.rules.tribute import tribute_choices
from sim.hardware_in_process import HardwareInProcess
from sim.mechanics.mechanics_settings import MechanicsSettings
from tests.guandan import load_guandan
from tests.match.table import BIG_TWO, INTL, N
from tests.matches.at_trial import AtTrial
from tests.matches.people import People
from tests.matches.script import Deal, Script

pytestmark = pytest.mark.virtual
Daemon = Callable[..., Any]
LEFT: dict[Seat, int] = {"N": 0, "W": 3, "S": 7, "E": 1}
BIG = load_profile(BIG_TWO)


@pytest.fixture
async def sim() -> AsyncIterator[HardwareInProcess]:
    """A table of Big Two whose boards and cards outlive the daemon."""
    boots = count(1)
    settings = MechanicsSettings(packs=BIG.deck.packs, jokers=BIG.deck.jokers)
    lasting = HardwareInProcess(settings, random.Random(1), boots=lambda: next(boots))
    yield lasting
    lasting.close()


@pytest.fixture
def daemon(table: Callable[..., Any], sim: HardwareInProcess, tmp_path: Path) -> Daemon:
    """Start a daemon on the same boards, journal and keys: `async with daemon(1) as trial`."""
    signers = {role: bytes([number]) * 32 for number, role in enumerate(Role)}

    def start(run: int) -> Any:
        store = JournalStore.open(tmp_path)
        return table(
            profile=BIG, store=store, state_dir=tmp_path, sim=sim, seed=run, signers=signers
        )

    return start


def doubling(state: PublicState) -> bool:
    return state.match.choices is not None and state.match.choices.asked == "doubling"


def asking(match: PublicMatch) -> bool:
    return match.choices is not None and match.choices.asked == "open_hand"


def half_returned(match: PublicMatch) -> bool:
    """Half of the returns after equal tributes are there; or the match is over."""
    paid = match.tribute
    return match.phase == "over" or (
        paid is not None and paid.equal and len(paid.given) == 1 and match.phase == "return"
    )


def entries(trial: Any, kind: str) -> list[JournalEntry]:
    chained: list[ChainedEntry] = list(trial.machine.record.journal.entries())
    return [each.entry for each in chained if each.entry.kind == kind]


def told(trial: Any) -> list[tuple[str, bool]]:
    """Who chose what, as far as the feed has told it."""
    found = []
    for event in trial.events:
        said = [event.data, *(one["event"] for one in event.data.get("told", ()))]
        found += [(one["seat"], one["yes"]) for one in said if one.get("event") == "Answered"]
    return found


async def answer(people: People, *seats: str, yes: bool = True) -> None:
    for seat in seats:
        await people.order(Role.TABLE, "answer", seat=seat, yes=yes)


def at_big_two(trial: Any) -> People:
    return People(AtTrial(trial), Script(BIG, (Deal(left=LEFT),) * 8))


async def test_nobody_hears_who_opens_his_hand_before_all_have_chosen(daemon: Daemon) -> None:
    async with daemon(1) as trial:
        people = at_big_two(trial)
        await people.play_until(asking)
        await answer(people, "N", "E", "S")
        assert told(trial) == []
        assert [entry.public for entry in entries(trial, "match_kept")] == [False] * 3
        choices = [state.match.choices for state in trial.states if state.match.choices]
        assert choices
        assert all(choice.opened == [] for choice in choices)
        await answer(people, "W", yes=False)
        await people.until(lambda state: bool(state.match.choices and state.match.choices.opened))
        assert set(told(trial)) == {("N", True), ("E", True), ("S", True), ("W", False)}
        assert people.match.choices is not None
        assert people.match.choices.opened == ["N", "S", "E"]


async def test_what_was_kept_is_told_when_silence_ends_the_choice(daemon: Daemon) -> None:
    """Seed 002 A6: who says nothing in ten seconds says no."""
    async with daemon(1) as trial:
        people = at_big_two(trial)
        await people.play_until(asking)
        await answer(people, "N")
        await asyncio.sleep(0.2)
        assert told(trial) == []
        await people.until(doubling)
        await asyncio.sleep(0.2)
        assert told(trial) == [("N", True)]


async def test_the_next_daemon_keeps_what_was_kept_and_tells_it_in_its_time(
    daemon: Daemon, tmp_path: Path
) -> None:
    async with daemon(1) as trial:
        people = at_big_two(trial)
        await people.play_until(asking)
        await answer(people, "N", "E", "S")
    async with daemon(2) as trial:
        people = at_big_two(trial)
        await people.until(lambda state: asking(state.match))
        assert told(trial) == []
        assert people.match.waiting_for == ["W"]
        await answer(people, "W")
        await people.until(doubling)
        await asyncio.sleep(0.2)
        assert len(told(trial)) == 4
        assert len(entries(trial, "match_told")) == 1
    assert verify(tmp_path).findings == []


async def test_what_is_told_otherwise_than_it_was_kept_is_found(daemon: Daemon) -> None:
    async with daemon(1) as trial:
        people = at_big_two(trial)
        await people.play_until(asking)
        await answer(people, "N", "E", "S", "W")
        await asyncio.sleep(0.2)
        journal = [each.entry for each in trial.machine.record.journal.entries()]
    assert list(check_late_rows(journal)) == []
    (last,) = (entry for entry in journal if entry.kind == "match_told")
    changed = msgspec.to_builtins(last.data)
    changed["told"][0]["event"]["yes"] = False
    spoilt = [*journal, msgspec.structs.replace(last, data=changed)]
    (finding,) = check_late_rows(spoilt)
    assert "differ from the stored ones" in finding.what


async def test_a_tribute_is_not_judged_before_it_lies_there_nor_from_who_owes_none(
    table: Callable[..., Any],
) -> None:
    profile = load_guandan(INTL)
    async with table(profile=profile) as trial:
        people = People(AtTrial(trial), Script(profile, (Deal("NS"), Deal("NS"))))
        await people.play_until(lambda match: match.phase == "tribute")
        hands, level = people.dealt[-1].faces, 5
        best: dict[Seat, str] = {
            seat: face_text(next(iter(tribute_choices(profile, faces, level))))
            for seat, faces in hands.items()
        }
        codes = []
        for seat in ("W", "N"):
            reply = await people.ask(Role.REFEREE, "tribute", seat=seat, card=best[seat])
            codes.append(reply.error and reply.error.code)
        assert codes == ["NOT_LAID", "NOT_HIS_DUTY"]
        await people.play_until(lambda match: match.phase == "return")
        judged = await people.order(Role.REFEREE, "tribute", seat="W", card=best["W"])
        assert judged == {"right": True}
        wrong = face_text(next(face for face in hands["W"] if face_text(face) != best["W"]))
        judged = await people.order(Role.REFEREE, "tribute", seat="W", card=wrong)
        assert judged["right"] is False or wrong[1:] == best["W"][1:]
        told = str([event.data for event in trial.events if event.kind == "command"])
        assert best["W"] not in told


async def test_the_first_of_two_returns_is_not_seen_before_the_other(
    table: Callable[..., Any],
) -> None:
    """Seed 003 R4.5: after equal tributes returns decide who leads, so that they are told."""
    profile = load_profile(N)
    script = Script(profile, tuple(Deal(order) for order in ("NS", "EW") * 20))
    async with table(profile=profile, seed=2) as trial:  # its second deal has equal tributes
        people = People(AtTrial(trial), script)
        await people.play_until(half_returned)
        assert people.match.phase == "return", "forty deals without equal tributes"
        kept = entries(trial, "match_kept")
        assert [entry.data["event"] for entry in kept] == ["ReturnLaid"]
        of_deal = [event for event in trial.events if event.deal == people.match.deal]
        assert "ReturnLaid" not in str([event.data for event in of_deal])
        await people.play_until(lambda match: match.phase == "play")
        await asyncio.sleep(0.2)
        (event,) = (event for event in trial.events if event.kind == "match_told")
        assert event.data["told"] == [{"n": kept[0].n, "event": kept[0].data}]
