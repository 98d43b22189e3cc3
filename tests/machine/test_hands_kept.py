"""Hands that were played stay shut until the profile opens them, and nobody forgets to."""

import asyncio
import json
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner
from nacl.public import PrivateKey

from controller.cli.open import command as open_command
from controller.journal.attempt_history import attempt_histories
from controller.journal.store import JournalStore
from controller.journal.verify import verify
from controller.keys.table_keys import create_client_keys
from controller.machine.attempts.released_hands import openable_attempts
from controller.machine.state.table_match import TableMatch
from controller.machine.state.table_state import PlayedAttempt
from controller.messages import MachinePhase, Role
from controller.roster import read_certificate
from sim.mechanics.mechanics_settings import MechanicsSettings
from sim.tables.daemon_death import DaemonDeath
from sim.tables.table_in_process import TableInProcess, run_table_in_process
from tests.crash.deaths import AWAY_S, BEHIND_S
from tests.crash.lives import Scene
from tests.crash.match_people import a_match
from tests.crash.people import practice
from tests.machine.opened_hands import A_WHILE_S, dealt, opening, played
from tests.machine.stages import MATCH, PAIRS, opened, ordered
from tests.machine.transferred_parts import taking
from tests.match.table import BIG_TWO, varied

pytestmark = pytest.mark.virtual
WHEN = ("deal_end", "match_end", "never")
KILLS = 200


class Hall:
    """Tables with a journal each. `keys` tells whose attempts' keys lie in memory."""

    def __init__(self, stack: AsyncExitStack, disk: Path, memory: Path) -> None:
        self._stack, self._disk, self._memory = stack, disk, memory

    async def table(self, when: str, name: str = "T01") -> TableInProcess:
        """Open a table."""
        for folder in (self.disk(name), self._memory / name):
            folder.mkdir(mode=0o700, exist_ok=True)
        at = await self._stack.enter_async_context(
            run_table_in_process(
                MechanicsSettings(),
                self._memory / name,
                store=JournalStore.open(self.disk(name)),
                state_dir=self.disk(name),
                table_id=name,
                profile=opening(when),
            )
        )
        await at.wait_for_phase(MachinePhase.EMPTY)
        return at

    def disk(self, name: str = "T01") -> Path:
        return self._disk / name

    def keys(self, name: str = "T01") -> list[str]:
        return left_in(self._memory / name)


@pytest.fixture
async def hall(tmp_path: Path, runtime_dir: Path) -> AsyncIterator[Hall]:
    async with AsyncExitStack() as stack:
        yield Hall(stack, tmp_path, runtime_dir)


def left_in(folder: Path) -> list[str]:
    """The files in a folder: keys, here."""
    return sorted(path.name for path in folder.iterdir())


def told(at: TableInProcess) -> list[tuple[str, int | None]]:
    """What the feed had of attempts' ends."""
    kinds = ("revealed", "record", "recalled", "sealed_to_chief")
    return [(event.kind, event.attempt) for event in at.events if event.kind in kinds]


async def one_deal(at: TableInProcess) -> None:
    """Play the first deal of a match."""
    await opened(at)
    await dealt(at)
    await played(at, "NWS")


async def test_the_hands_of_a_match_are_opened_at_its_end_and_not_before(hall: Hall) -> None:
    at = await hall.table("match_end")
    await one_deal(at)
    assert told(at) == [("revealed", 1)]
    assert hall.keys() == ["attempt-1.key"]
    await dealt(at)
    assert told(at) == [("revealed", 1)]
    await played(at, "NWS")
    assert at.states[-1].match.phase == "over"
    assert sorted(told(at)[1:]) == [("record", 1), ("record", 2), ("revealed", 2)]
    assert hall.keys() == []
    report = verify(hall.disk())
    assert report.findings == []
    assert [(one.grade, one.gates) for one in report.attempts] == [("hands", True)] * 2


async def test_what_is_opened_proves_the_deal_to_who_has_the_feed_alone(
    hall: Hall, tmp_path: Path
) -> None:
    at = await hall.table("deal_end")
    await one_deal(at)
    assert told(at) == [("revealed", 1), ("record", 1)]
    kept = tmp_path / "feed.jsonl"
    kept.write_bytes(b"".join(msgspec.json.encode(event) + b"\n" for event in at.events))
    report = verify(kept)
    assert (report.whole, report.findings) == (False, [])
    assert [(one.grade, one.gates) for one in report.attempts] == [("hands", True)]


async def test_hands_that_are_never_opened_leave_no_key_behind(hall: Hall) -> None:
    at = await hall.table("never")
    await one_deal(at)
    assert told(at) == [("revealed", 1)]
    assert hall.keys() == []
    await dealt(at)
    await played(at, "NWS")
    assert "record" not in {kind for kind, _ in told(at)}
    report = verify(hall.disk())
    assert report.findings == []
    assert [one.grade for one in report.attempts] == ["sequence"] * 2


async def test_a_match_that_is_lost_by_word_opens_its_hands(hall: Hall) -> None:
    at = await hall.table("match_end")
    await one_deal(at)
    await dealt(at)
    await ordered(at, Role.CHIEF, "forfeit", side="EW", reason="they leave")
    await asyncio.sleep(A_WHILE_S)
    assert {("record", 1), ("record", 2)} <= set(told(at))
    assert verify(hall.disk()).findings == []


async def test_hands_that_were_dealt_again_are_opened_once_and_at_once(hall: Hall) -> None:
    at = await hall.table("match_end")
    await opened(at)
    await dealt(at)
    await ordered(at, Role.CHIEF, "redeal", reason="a card lay open")
    await asyncio.sleep(A_WHILE_S)
    assert told(at) == [("recalled", 1), ("revealed", 1), ("record", 1)]
    assert hall.keys() == []
    await ordered(at, Role.CHIEF, "forfeit", side="EW", reason="they leave")
    await asyncio.sleep(A_WHILE_S)
    assert len(told(at)) == 3


async def test_a_deal_drawn_by_hand_has_nothing_to_open(hall: Hall) -> None:
    at = await hall.table("match_end")
    await one_deal(at)
    await ordered(at, Role.REFEREE, "dealt_by_hand", reason="the machine is away")
    await ordered(at, Role.CHIEF, "forfeit", side="EW", reason="they leave")
    await asyncio.sleep(A_WHILE_S)
    assert told(at) == [("revealed", 1), ("record", 1)]


async def test_a_match_that_goes_elsewhere_is_opened_when_the_next_one_begins_here(
    hall: Hall,
) -> None:
    at = await hall.table("match_end")
    await one_deal(at)
    await ordered(at, Role.CHIEF, "transfer", table="T02")
    await asyncio.sleep(A_WHILE_S)
    assert told(at) == [("revealed", 1)]
    next_one = {**MATCH, "match_id": "M2", "stage": "swiss", "pairs": PAIRS}
    await ordered(at, Role.REFEREE, "set_match", **next_one)
    await asyncio.sleep(A_WHILE_S)
    assert told(at) == [("revealed", 1), ("record", 1)]
    assert hall.keys() == []
    assert verify(hall.disk()).findings == []


async def test_a_match_that_comes_back_keeps_its_hands_shut_to_its_end(hall: Hall) -> None:
    at = await hall.table("match_end")
    await one_deal(at)
    for table in ("T02", "T01"):  # it never arrived there, and comes back
        await ordered(at, Role.CHIEF, "transfer", table=table)
    part = (await ordered(at, Role.OBSERVER, "document")).result
    assert part is not None
    await ordered(at, Role.CHIEF, "take_over", **taking(part))
    await asyncio.sleep(A_WHILE_S)
    assert at.states[-1].match.deal == 2
    assert told(at) == [("revealed", 1)]
    await ordered(at, Role.REFEREE, "resume")
    await dealt(at)
    await played(at, "NWS")
    assert {("record", 1), ("record", 2)} <= set(told(at))


@pytest.mark.parametrize("when", WHEN)
async def test_a_practice_deal_is_a_match_of_its_own(hall: Hall, when: str) -> None:
    at = await hall.table(when)
    await at.play_attempt()
    await at.return_hands()
    await asyncio.sleep(A_WHILE_S)
    shown = [("revealed", 1)] if when == "never" else [("revealed", 1), ("record", 1)]
    assert told(at) == shown
    assert hall.keys() == []


async def test_the_match_of_another_game_opens_its_hands_too(runtime_dir: Path) -> None:
    async with run_table_in_process(
        MechanicsSettings(), runtime_dir, profile=varied(BIG_TWO)
    ) as at:
        await at.play_attempt()
        await at.return_hands()
        await asyncio.sleep(A_WHILE_S)
        (record,) = [event for event in at.events if event.kind == "record"]
        assert len(bytes.fromhex(record.data["hands"])) == 52


# Restarts and power cuts.


async def ends(
    scene: Scene,
    script: Callable[[Scene, TableInProcess], Awaitable[None]],
    *row: DaemonDeath,
    chief: bytes | None = None,
) -> Any:
    """Play a match of two deals through these deaths; return its attempts."""
    options: dict[str, Any] = {"profile": opening("match_end"), "chief": chief}
    try:
        for death in row:
            if await scene.live(script, death, **options):
                break
        else:
            assert await scene.live(lingering(script), **options)
        scene.check()
        return attempt_histories(chained.entry for chained in scene.entries())
    except BaseException as error:
        error.add_note(f"after {row}")
        raise
    finally:
        scene.sim.close()


def lingering(
    script: Callable[[Scene, TableInProcess], Awaitable[None]],
) -> Callable[[Scene, TableInProcess], Awaitable[None]]:
    """Return people who stay a while when all is done."""

    async def play(scene: Scene, at: TableInProcess) -> None:
        await script(scene, at)
        await asyncio.sleep(A_WHILE_S)

    return play


@pytest.mark.slow
async def test_hands_are_opened_wherever_the_daemon_died(
    tmp_path: Path, runtime_dir: Path, scale: Callable[[int], int]
) -> None:
    whole = Scene.new((), tmp_path / "whole", runtime_dir)
    found = await ends(whole, lingering(a_match()))
    assert [set(one.steps) >= {"revealed", "record"} for one in found.values()] == [True, True]
    last = len(whole.entries())
    chance, times = random.Random("hands kept"), scale(KILLS)
    records = [each.entry.n for each in whole.entries() if each.entry.kind in ("record", "match")]
    deaths = [1 + number * last // times for number in range(times)]
    for number, entry in enumerate((*deaths, *records[-6:])):
        death = DaemonDeath(entry, BEHIND_S[number % len(BEHIND_S)], chance.choice(AWAY_S))
        scene = Scene.new((), tmp_path / str(number), runtime_dir)
        found = await ends(scene, lingering(a_match()), death)
        assert [set(one.steps) >= {"revealed", "record"} for one in found.values()] == [True, True]
        assert left_in(runtime_dir) == []
        report = verify(scene.state_dir)
        assert [one.grade for one in report.attempts] == ["hands", "hands"], death


async def test_what_the_power_took_is_left_to_the_chief_and_the_rest_is_opened(
    tmp_path: Path, runtime_dir: Path
) -> None:
    key = create_client_keys(tmp_path / "hall", "chief", Role.CHIEF).with_suffix(".key_secret")
    unseal = read_certificate(key).unseal
    assert unseal is not None
    chief = bytes(PrivateKey(unseal).public_key)
    whole = Scene.new((), tmp_path / "whole", runtime_dir)
    await ends(whole, lingering(a_match()), chief=chief)
    (_, second) = (each.entry.n for each in whole.entries() if each.entry.kind == "committed")
    scene = Scene.new((), tmp_path / "dark", runtime_dir)
    dark = DaemonDeath(second - 2, 0.0, 1.0, power_lost=True)
    found = await ends(scene, lingering(a_match()), dark, chief=chief)
    assert "sealed_to_chief" in found[1].steps
    assert "record" not in found[1].steps
    assert found[1].steps["sealed_to_chief"].n > found[1].steps["revealed"].n
    assert "record" in found[max(found)].steps
    assert verify(scene.state_dir).findings == []
    words = [str(scene.state_dir), "--attempt", "1", "--key", str(key)]
    said = CliRunner().invoke(open_command, words)
    assert (said.exit_code, said.output.count("\n")) == (0, 1), said.output
    assert found[1].steps["revealed"].data["seed"] in said.output
    told = json.loads(CliRunner().invoke(open_command, [*words, "--json"]).stdout)
    assert len(bytes.fromhex(told["record"]["hands"])) == 108


async def test_a_key_that_nothing_waits_for_is_removed_at_the_next_start(
    tmp_path: Path, runtime_dir: Path
) -> None:
    scene = Scene.new((), tmp_path / "scene", runtime_dir)
    assert await scene.live(practice(1))
    for name in ("attempt-1.key", ".attempt-2.key", "attempt-77.key"):
        (runtime_dir / name).write_bytes(bytes(32))
    assert await scene.live(lingering(practice(1)))
    scene.sim.close()
    assert left_in(runtime_dir) == []


# The decision by itself.


def one(number: int, match: str = "M1", *, over: bool = True) -> PlayedAttempt:
    return PlayedAttempt(
        attempt=number, deal=number, match=match, rules_hash="", first_entry=1, is_over=over
    )


def test_hands_whose_seed_is_not_out_are_not_due() -> None:
    assert openable_attempts([one(1, over=False)], TableMatch(), "deal_end", "practice") == ()
    assert openable_attempts([one(1)], TableMatch(), "deal_end", "practice") == (one(1),)


def test_never_is_never_in_practice_too() -> None:
    assert openable_attempts([one(1, "practice")], TableMatch(), "never", "practice") == ()
