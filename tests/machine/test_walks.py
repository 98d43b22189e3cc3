"""Long walks of a whole table: whatever anybody does, nothing wrong goes out and it goes on."""

import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from controller.commands import COMMANDS
from controller.rules.profile import Profile
from tests.machine.disturber import SAID
from tests.machine.walk import Walk
from tests.match.table import BIG_TWO, INTL, B, H, N, from_level, timed, varied

pytestmark = [pytest.mark.virtual, pytest.mark.timeout(7200), pytest.mark.slow]

WALKS = 150
PROFILES: tuple[Callable[[], Profile], ...] = (
    lambda: varied(INTL, ending={"method": "deals", "deals": 2}),
    lambda: timed(INTL, time_s=900),
    lambda: from_level("Q", INTL),
    lambda: varied(H, ending={"method": "deals", "deals": 2}),
    lambda: timed(N, time_s=600),
    lambda: varied(B, ending={"method": "timed_deals", "deals": 2}),
    lambda: varied(BIG_TWO),
)


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
