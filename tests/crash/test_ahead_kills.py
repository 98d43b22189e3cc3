"""A daemon killed behind any entry while one deal is played and the next one is dealt."""

import random
from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest

from controller.cards import composition
from controller.config import CardSet
from controller.messages import State
from controller.trials.foursome import Foursome, Mischief, Pauses
from controller.trials.inproc import Trial
from controller.trials.mortal import Death
from sim.inproc import InprocTable
from sim.mechanics.settings import BACKS, Settings
from sim.mechanics.settings import CardSet as PhysicalSet
from sim.mechanics.truth import Truth
from tests.crash.lives import Scene
from tests.crash.test_kills import AWAY_S, BEHIND_S

pytestmark = [pytest.mark.virtual, pytest.mark.timeout(3600), pytest.mark.slow]

TWO_SETS = (CardSet(id="S1", back="A"), CardSet(id="S2", back="B"))
BACK_OF = {one.id: BACKS[one.back] for one in TWO_SETS}
WHOLE = [face for face, n in enumerate(composition(2, jokers=True)) for _ in range(n)]
DEALS = 3
ENTRIES = 190
"""About as many entries as the three deals have, where nobody dies."""
KILLS = 300


class Lasting(Foursome):
    """People who outlive their daemons, and finish what their hands have begun."""

    scene: Scene
    releases: list[tuple[int | None, int | None]]
    wrong: list[str]

    async def collect(self, card_set: str | None) -> None:
        """Lay the cards back, whatever becomes of the daemon meanwhile."""
        await self.scene.with_hands(super().collect(card_set))

    def see(self, state: State, truth: Truth) -> None:
        """Look at the hands as they come up: one whole set of one back, no others about."""
        cards = sum(truth.pockets[:4], ())
        self.releases.append((state.machine.deal, state.machine.attempt))
        if sorted(card.face for card in cards) != WHOLE or len({card.back for card in cards}) > 1:
            self.wrong.append(f"{state.machine}: no whole set")
        if any(truth.hands):
            self.wrong.append(f"{state.machine}: other hands are held")


def two_sets(folder: Path, runtime_dir: Path, seed: int) -> Scene:
    """Set a table up with two sets."""
    boots = count(1)
    sets = tuple(PhysicalSet(one.id, BACKS[one.back]) for one in TWO_SETS)
    sim = InprocTable(Settings(sets=sets), random.Random(seed), boots=lambda: next(boots))
    folder.mkdir()
    scene = Scene(sim, folder, runtime_dir)
    scene.state_dir.mkdir()
    return scene


async def played(folder: Path, runtime_dir: Path, seed: int, *row: Death) -> Lasting:
    """Play three deals of a match through these deaths."""
    scene = two_sets(folder, runtime_dir, seed)
    known: list[Lasting] = []

    async def play(scene: Scene, at: Trial) -> None:
        at._orders = 100_000 * len(scene.lives)  # nobody's ids come twice
        if not known:
            pauses = Pauses(play=(20, 40), count=(2, 5), load=(1, 3))
            mischief = Mischief(claims=0.2, redeals=0.1)
            chance = random.Random(seed)
            known.append(Lasting(at, chance, ahead=True, pauses=pauses, mischief=mischief))
            known[0].releases, known[0].wrong, known[0].scene = [], [], scene
            known[0]._on_hands = known[0].see
        people = known[0]
        people.at = at
        await at.until(lambda state: state.machine.phase != "fault" or bool(state.alerts))
        if at.states[-1].match.phase in ("idle", "setup"):
            await people.sit_down("M1")
        await at.until(lambda state: bool(state.match.deal))
        while (at.states[-1].match.deal or 0) <= DEALS:
            await people.play(1)

    try:
        for death in (*row, None):
            done = await scene.live(play, death, card_sets=TWO_SETS, deal_ahead=True)
            if done:
                break
        scene.check()
        assert known[0].wrong == []
    except BaseException as error:
        error.add_note(f"seed {seed}, after {row}")
        raise
    finally:
        scene.sim.close()
    return known[0]


async def test_nothing_is_mixed_up_whenever_the_daemon_dies(
    scale: Callable[[int], int], tmp_path: Path, runtime_dir: Path
) -> None:
    chance = random.Random("ahead")
    for number in range(scale(KILLS)):
        death = Death(chance.randrange(20, ENTRIES), chance.choice(BEHIND_S), chance.choice(AWAY_S))
        people = await played(tmp_path / str(number), runtime_dir, number, death)
        assert len(people.releases) >= DEALS


async def test_nothing_is_mixed_up_when_the_power_fails(
    scale: Callable[[int], int], tmp_path: Path, runtime_dir: Path
) -> None:
    chance = random.Random("ahead and dark")
    for number in range(scale(KILLS)):
        death = Death(
            chance.randrange(20, ENTRIES),
            chance.choice(BEHIND_S),
            chance.choice(AWAY_S),
            power=True,
            reset=chance.random() < 0.5,
        )
        people = await played(tmp_path / str(number), runtime_dir, number, death)
        assert len(people.releases) >= DEALS
