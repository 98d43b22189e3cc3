"""Long walks of a whole table: whatever anybody does, nothing wrong goes out and it goes on."""

import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from controller.commands.registry import COMMANDS
from tests.machine.disturber import SAID
from tests.machine.walk import PROFILES, Walk

pytestmark = [pytest.mark.virtual, pytest.mark.slow]

WALKS = 150


def test_every_command_is_given_by_somebody() -> None:
    assert set(SAID) == set(COMMANDS)


async def test_whatever_people_do_right_hands_go_out_and_the_match_is_signed(
    scale: Callable[[int], int], tmp_path: Path, runtime_dir: Path
) -> None:
    answers: Counter[str] = Counter()
    out = 0
    for seed in range(scale(WALKS)):
        chance = random.Random(f"walks {seed}")
        walk = Walk(
            seed,
            PROFILES[seed % len(PROFILES)](),
            tmp_path / str(seed),
            runtime_dir,
            steps=400,
            ahead=chance.random() < 0.4,
            worn=chance.choice(("ideal", "ideal", "worn", "hostile")),
            disturbed=chance.choice((0.1, 0.3, 0.5)),
            deaths=chance.choice((0.0, 0.0, 0.5, 1.0)),
        )
        await walk.run()
        answers += walk.codes
        out += walk.hands_out
    # The walks went somewhere: most commands were carried out at least once, and hands came.
    done = {said.split()[0] for said in answers if said.endswith(" ok")}
    assert out > scale(WALKS)
    assert len(done) > len(COMMANDS) / 3
