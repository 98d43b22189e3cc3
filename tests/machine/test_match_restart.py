"""A daemon killed in a match, behind any of its entries: the next one goes on with the same match.

People keep asking for what they asked for, under the same ids; the cards stay where they are.
"""

import asyncio
import random
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from controller.journal.entries import Entry
from controller.machine import play as at_play
from controller.machine.play import Play
from controller.match import events
from controller.match.reducer import replayed
from controller.match.state import GuandanMatch
from controller.messages import Phase, Role, Seat, State
from controller.rules.rulebooks import load_profile
from controller.rules.tribute import anti_stands, required_value
from controller.trials.inproc import Trial
from controller.trials.mortal import Death
from controller.vault.exchange import hand
from tests.crash.lives import Scene
from tests.machine.stages import MATCH, PAIRS
from tests.match.table import INTL

pytestmark = [pytest.mark.virtual, pytest.mark.timeout(900), pytest.mark.slow]
GLANCE_S = 0.2
PATIENCE_S = 900.0
DEALS = 2
"""The second one is after a double-down: two tributes, two returns."""
ENTRIES = 122
"""As many as such a match has, or a few more; a death behind the last is none."""
FULL = 1_000
SEED = 2
"""Of the cards: the first match with it has no anti-tribute."""
BEHIND_S = (0.0, 0.0, 0.02, 0.3)
AWAY_S = (0.0, 1.0, 20.0)
OF_THE_MATCH = ("match", "meeting", "command")


async def play(scene: Scene, at: Trial) -> None:
    """Play two deals, each by what is due as the state tells it."""
    await scene.repeat(at)
    async with asyncio.timeout(PATIENCE_S):
        while (at.machine.record.play.match is None) or at.states[-1].match.deal != DEALS + 1:
            await asyncio.sleep(GLANCE_S)
            if at.states:
                await _act(scene, at, at.states[-1])


async def _act(scene: Scene, at: Trial, state: State) -> None:
    match, machine = state.match, state.machine
    if match.match is None:
        if machine.phase is Phase.EMPTY:
            said = {**MATCH, "stage": "swiss", "pairs": PAIRS}
            await scene.order(at, "lay out", Role.REFEREE, "set_match", **said)
    elif match.phase == "setup" and not match.waiting_for:
        await scene.order(at, "open", Role.CHIEF, "start_match")
    elif match.phase in ("setup", "count_check", "tribute", "return"):
        await _taken(scene, at)
        for seat in match.waiting_for:
            what = f"{match.phase} {match.deal} {seat}"
            await scene.order(at, what, Role.TABLE, "confirm", seat=seat)
    elif match.phase == "cut":
        await _cut(scene, at, state)
    elif match.phase == "held" and machine.phase is Phase.HELD:
        await scene.order(at, f"release {match.deal}", Role.REFEREE, "release")
    elif match.phase == "play":
        what = f"result {match.deal}"
        await scene.order(at, what, Role.REFEREE, "result", order=["N", "S"])
    elif match.phase == "result":
        await scene.order(at, f"confirm {match.deal}", Role.REFEREE, "confirm")


async def _taken(scene: Scene, at: Trial) -> None:
    truth = scene.sim.world.truth()
    if truth.lift_up and any(truth.pockets[:4]):
        at.people.take_hands()


async def _cut(scene: Scene, at: Trial, state: State) -> None:
    machine, truth = state.machine, scene.sim.world.truth()
    if machine.phase is Phase.EMPTY:
        if any(truth.hands):
            at.lay_down()
        if not truth.hopper and truth.lift_down:
            await at.load()
        await scene.order(at, f"start {state.match.deal}", Role.REFEREE, "start_deal")
    elif machine.phase is Phase.COMMITTED and machine.deal == state.match.deal:
        await scene.order(at, f"cut {machine.attempt}", Role.TABLE, "cut", n=40)


def folded(scene: Scene) -> Play:
    """The match as the journal alone has it."""
    found, profile = Play(), load_profile(INTL)
    for item in scene.entries():
        found = at_play.fold(found, item.entry, profile)
    return found


def told(play: Play) -> list[str]:
    """What happened in a match, but for the passing of time."""
    return [type(event).__name__ for event in play.log if not isinstance(event, events.Ticked)]


async def played(scene: Scene, *row: Death) -> Play:
    """Play through these deaths; assert what must hold, and return the match at the end."""
    try:
        lives: list[Play] = []

        async def script(scene: Scene, at: Trial) -> None:
            lives.append(at.machine.record.play)
            try:
                await play(scene, at)
            finally:
                lives.append(at.machine.record.shown)  # what anybody came to know

        for death in row:
            if await scene.live(script, death):
                break
        else:
            assert await scene.live(script)
        scene.check()
        _check_times([item.entry for item in scene.entries()])
        end = folded(scene)
        for earlier, later in pairwise([*lives, end]):
            # Each life takes up what the one before left, and nothing is lost or told anew.
            assert later.log[: len(earlier.log)] == earlier.log
        match = end.match
        assert isinstance(match, GuandanMatch)
        assert replayed(match.profile, match.meeting, match.record, end.log) == match
        return end
    except BaseException as error:
        error.add_note(f"after {row}")
        raise
    finally:
        scene.sim.close()


def _check_times(entries: list[Entry]) -> None:
    """The table's clock only goes forward, over all lives."""
    times = [entry.data["at_ms"] for entry in entries if "at_ms" in entry.data]
    assert times == sorted(times)


@pytest.fixture
def scene(tmp_path: Path, runtime_dir: Path) -> Callable[[int], Scene]:
    """Set a table up, one for each number."""
    return lambda number: Scene.new((), tmp_path / f"scene{number}", runtime_dir, SEED)


async def test_a_match_has_the_entries_that_a_daemon_is_killed_behind(
    scene: Callable[[int], Scene],
) -> None:
    at = scene(0)
    end = await played(at)
    kinds = [item.entry.kind for item in at.entries()]
    assert 0.8 * ENTRIES <= len(kinds) <= ENTRIES
    assert told(end).count("TributeLaid") == 2
    assert set(OF_THE_MATCH) <= set(kinds)


async def test_killed_behind_any_entry_the_same_match_goes_on(
    scene: Callable[[int], Scene], scale: Callable[[int], int]
) -> None:
    undisturbed = told(await played(scene(0)))
    chance, times = random.Random("match deaths"), scale(FULL)
    for number in range(times):
        entry = 1 + number * ENTRIES // times
        death = Death(entry, BEHIND_S[number % len(BEHIND_S)], chance.choice(AWAY_S))
        end = await played(scene(number + 1), death)
        assert _same(told(end), undisturbed), (death, told(end))


def _same(one: list[str], other: list[str]) -> bool:
    """Whether the same happened, but for what the cards of another attempt make different."""
    dealt = [name for name in one if name not in _MAY_DIFFER]
    return dealt == [name for name in other if name not in _MAY_DIFFER]


_MAY_DIFFER = ("TributeLaid", "TributeValued", "ReturnLaid", "ReleaseOrdered")
"""An order to release that was torn off its event behind it is carried out all the same."""


async def test_several_deaths_in_one_match(
    scene: Callable[[int], Scene], scale: Callable[[int], int]
) -> None:
    undisturbed = told(await played(scene(0)))
    for number in range(scale(200)):
        chance, entry, row = random.Random(f"row {number}"), 0, []
        for _ in range(chance.randint(3, 8)):
            entry += chance.choice((1, 5, 20, 40))
            row.append(Death(entry, chance.choice(BEHIND_S), chance.choice(AWAY_S)))
        assert _same(told(await played(scene(number + 1), *row)), undisturbed)


@pytest.mark.parametrize("seat", [1, 2])
async def test_the_vault_answers_for_a_tribute_after_a_restart(
    scene: Callable[[int], Scene], seat: int
) -> None:
    """Killed when the first, and when the second payer has laid his card."""
    first = scene(0)
    await played(first)
    laid = [item.entry.n for item in first.entries() if item.entry.data.get("event") == LAID]
    assert len(laid) == 2  # by its seed anti-tribute does not stand here
    at = scene(1)
    hands: dict[Seat, tuple[int, ...]] = {}

    async def noting(scene: Scene, at: Trial) -> None:
        playing = asyncio.ensure_future(play(scene, at))
        try:
            while not playing.done():
                await asyncio.wait({playing}, timeout=GLANCE_S)
                out = at.machine.table.out.dealt()
                if out is not None and at.states[-1].match.deal == DEALS:
                    seats: tuple[Seat, ...] = ("N", "W", "S", "E")
                    known = (out.vault, out.sequence)
                    hands.update({each: tuple(hand(*known, each)) for each in seats})
            playing.result()
        finally:
            playing.cancel()

    try:
        assert not await at.live(noting, Death(laid[seat - 1], 0.0, 1.0))
        assert await at.live(noting)
        at.check()
        end = folded(at)
        match = end.match
        assert isinstance(match, GuandanMatch)
        (valued,) = [each for each in end.log if isinstance(each, events.TributeValued)]
        level = 5
        assert not anti_stands(match.profile, ("E", "W"), hands)
        assert valued.values == {
            each: required_value(match.profile, hands[each], level) for each in valued.values
        }
        entries = [item.entry for item in at.entries()]
        boots = {entry.boot for entry in entries if entry.data.get("event") == "TributeValued"}
        assert boots == {entries[-1].boot}
    finally:
        at.sim.close()


async def test_after_a_power_cut_the_referee_says_what_no_vault_knows_any_more(
    scene: Callable[[int], Scene],
) -> None:
    """The hands are out, and their key went: anti-tribute and tributes are the referee's."""
    first = scene(0)
    await played(first)
    counted = [item.entry.n for item in first.entries() if item.entry.data.get("event") == COUNTED]
    at = scene(1)

    async def by_referee(scene: Scene, at: Trial) -> None:
        async def seen(phase: str) -> None:
            await at.until(lambda state: state.match.phase == phase)

        async with asyncio.timeout(PATIENCE_S):
            await at.until(lambda state: any(a.name == "HANDS_UNKNOWN" for a in state.alerts))
            for each in list(at.states[-1].match.waiting_for):
                await scene.order(at, f"counts {each}", Role.TABLE, "confirm", seat=each)
            await seen("anti_check")
            await scene.order(at, "anti", Role.REFEREE, "anti", stands=False)
            for each in ("E", "W"):
                await scene.order(at, f"lays {each}", Role.TABLE, "confirm", seat=each)
            await seen("tribute")
            said = {"seat": "E", "card": "HA", "other": "DK"}
            await scene.order(at, "tribute", Role.REFEREE, "tribute", **said)
            await seen("return")
            await play(scene, at)
            await at.until(lambda state: not state.alerts)

    try:
        assert not await at.live(play, Death(counted[-1], 0.0, 1.0, power=True))
        assert await at.live(by_referee)
        at.check()
    finally:
        at.sim.close()


LAID, COUNTED = "TributeLaid", "Counted"
