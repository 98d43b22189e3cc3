"""Every spelling is read back, wherever a run begins and whatever stands beside it."""

import random
from collections.abc import Callable

import pytest

from tests.peek.evidence import Evidence, search
from tests.peek.hidden import Hidden
from tests.peek.runs import a_run, patterns
from tests.peek.spellings import Spelling, spellings

ALL = list(spellings())


@pytest.mark.parametrize("kind", ["cards", "letters", "numbers", "key"])
def test_every_spelling_of_a_shortest_run_is_found_in_other_bytes(
    kind: str, scale: Callable[[int], int]
) -> None:
    chance = random.Random("spellings")
    missed = []
    for each in ALL:
        if each.kind == kind:
            for _ in range(scale(150)):
                missed += _missed(each, chance)
    assert missed == []


def _missed(spelling: Spelling, chance: random.Random) -> list[str]:
    run = a_run(spelling.kind, chance)
    evidence = Evidence()
    around = ('{"planted":"', '"}') if spelling.is_text else ("\0" * 8, "\0" * 8)
    before, behind = (each.encode() for each in around)
    junk = bytes(chance.choices(range(256), k=chance.randrange(40)))
    evidence.add("here", "", junk + before + spelling.write(run) + behind + junk)
    found = search(evidence, [Hidden("it", patterns(spelling.kind, run))])
    return [] if found else [f"{spelling.name}: {run}"]


def test_nothing_is_found_in_what_has_nothing_to_do_with_it() -> None:
    chance = random.Random("others")
    evidence = Evidence()
    for each in ALL:
        evidence.add("here", each.name, each.write(a_run(each.kind, chance)))
    evidence.add("here", "noise", chance.randbytes(1 << 20) + bytes(1 << 16))
    secrets = [
        Hidden(kind, patterns(kind, a_run(kind, chance))) for kind in ("cards", "letters", "key")
    ]
    assert search(evidence, secrets) == []
