"""A daemon killed after any entry of a match with a misdeal, a tray card and a tribute in it."""

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from controller.match.sheet import DealRow
from controller.match.state import GuandanMatch
from controller.rules.profile import Profile
from controller.trials.mortal import Death
from tests.crash.lives import Scene
from tests.crash.match_people import a_match
from tests.crash.test_kills import AWAY_S, BEHIND_S
from tests.match.table import INTL, varied

pytestmark = [pytest.mark.virtual, pytest.mark.timeout(3600), pytest.mark.slow]

FAULTS = ("wrong_pocket:at=20", "unreadable:at=60,times=4")
"""In the second deal: a misdeal, and in its next attempt a card that goes to the tray."""
KILLS = 400
OUTCOMES = ["ok", "misdeal", "ok"]


def two_deals() -> Profile:
    return varied(INTL, ending={"method": "deals", "deals": 2})


async def played(scene: Scene, *row: Death) -> GuandanMatch:
    """Play the match through these deaths; return it as the journal has it at its end."""
    script = a_match(FAULTS)
    try:
        for death in row:
            if await scene.live(script, death, profile=two_deals()):
                break
        else:
            assert await scene.live(script, profile=two_deals())
        scene.check()
        assert [outcome for _, outcome, _ in scene.outcomes() if outcome] == OUTCOMES
        return scene.match(two_deals())
    except BaseException as error:
        error.add_note(f"after {row}")
        raise
    finally:
        scene.sim.close()


def facts(match: GuandanMatch) -> list[object]:
    """What of a match depends neither on when somebody pressed nor on which cards he had."""
    rows: list[object] = [
        (row.deal, row.level, row.owner, row.result, row.cutter, row.cut, row.misdeals, row.levels)
        for row in match.sheet
        if isinstance(row, DealRow)
    ]
    return [*rows, match.standing, match.score, [one.signer for one in match.signatures]]


async def test_such_a_match_has_a_misdeal_a_tray_card_and_a_tribute(
    tmp_path: Path, runtime_dir: Path
) -> None:
    scene = Scene.new((), tmp_path / "scene", runtime_dir)
    match = await played(scene)
    first, second = (row for row in match.sheet if isinstance(row, DealRow))
    assert not first.tribute
    assert second.tribute
    assert second.misdeals == 1
    assert any(chained.entry.data.get("refed") for chained in scene.entries())


async def test_a_match_goes_on_wherever_its_daemon_was_killed(
    scale: Callable[[int], int], tmp_path: Path, runtime_dir: Path
) -> None:
    whole = Scene.new((), tmp_path / "whole", runtime_dir)
    expected = await played(whole)
    entries = len(whole.entries())
    committed = [each.entry.n for each in whole.entries() if each.entry.kind == "committed"]
    chance = random.Random("match kills")
    times = scale(KILLS)
    for number in range(times):
        entry = 1 + number * entries // times
        death = Death(entry, BEHIND_S[number % len(BEHIND_S)], chance.choice(AWAY_S))
        scene = Scene.new((), tmp_path / str(number), runtime_dir)
        ended = await played(scene, death)
        assert facts(ended) == facts(expected), death
        begun = sum(at < entry for at in committed)
        assert scene.commitments()[:begun] == whole.commitments()[:begun], death
