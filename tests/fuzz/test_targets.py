"""Every target holds: for the inputs that are kept, and for others made of them."""

import random
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fuzz.jsonlines import changed, crossed, lines_of
from tests.fuzz.targets import CORPUS, TARGETS, Target, corpus, function

EXAMPLES = {"orders": 10, "event_toml": 40, "entries": 60, "control": 60, "spoilt_file": 60}
USUALLY = 150
KEPT = [path for name in TARGETS for path in corpus(name)]


@pytest.mark.parametrize("name", TARGETS)
def test_an_input_that_is_kept_still_holds(subtests: pytest.Subtests, name: str) -> None:
    run = function(TARGETS[name])
    for path in corpus(name):
        with subtests.test(path.name):
            run(path.read_bytes())


def test_every_target_has_a_small_corpus_and_every_folder_is_one_s() -> None:
    assert {path.name for path in CORPUS.iterdir()} == set(TARGETS)
    assert all(corpus(name) for name in TARGETS)
    assert len(KEPT) < 200
    assert sum(path.stat().st_size for path in KEPT) < 300_000


def spoilt(data: bytes, chance: random.Random) -> bytes:
    """A few bytes of an input changed, put in or taken out."""
    made = bytearray(data)
    for _ in range(chance.choice((1, 2, 4, 8))):
        at = chance.randrange(len(made) + 1)
        deed = chance.randrange(4)
        if deed == 0:
            made[at:at] = chance.randbytes(chance.randrange(1, 9))
        elif deed == 1:
            del made[at : at + chance.randrange(1, 9)]
        elif deed == 2:
            made[at : at + 1] = bytes([chance.randrange(256)])
        else:
            made[at:at] = made[chance.randrange(len(made) + 1) :][:40]
    return bytes(made)


def made(target: Target, which: int, seed: int, times: int) -> bytes:
    """An input made of one that is kept."""
    chance = random.Random(seed)
    kept = corpus(target.name)
    data = kept[which % len(kept)].read_bytes()
    if target.lines and chance.random() < 0.8:
        if chance.random() < 0.2:
            data = crossed(data, chance.choice(kept).read_bytes(), chance)
        for _ in range(times):
            data = changed(data, chance)
    else:
        for _ in range(times):
            data = spoilt(data, chance)
    return data[: target.most]


@pytest.mark.parametrize("name", TARGETS)
def test_a_changed_input_holds(name: str, scale: Callable[[int], int]) -> None:
    target = TARGETS[name]
    run = function(target)
    examples = max(EXAMPLES.get(name, USUALLY), scale(10 * EXAMPLES.get(name, USUALLY)))

    @settings(max_examples=examples, suppress_health_check=list(HealthCheck))
    @given(st.integers(0, 1 << 10), st.integers(0, 1 << 32), st.integers(1, 5))
    def holds(which: int, seed: int, times: int) -> None:
        run(made(target, which, seed, times))

    holds()


@pytest.mark.parametrize("name", [name for name in TARGETS if name != "orders"])
def test_any_bytes_hold(name: str) -> None:
    run = function(TARGETS[name])

    @settings(max_examples=EXAMPLES.get(name, USUALLY), suppress_health_check=list(HealthCheck))
    @given(st.binary(max_size=200))
    def holds(data: bytes) -> None:
        run(data)

    holds()


@given(st.lists(st.recursive(st.none() | st.integers() | st.text(), st.lists)), st.integers(0, 99))
def test_changed_lines_are_lines(values: list[object], seed: int) -> None:
    data = b"\n".join(repr(value).encode(errors="replace") for value in values)
    data = changed(data, random.Random(seed))
    assert len(lines_of(data)) == len([line for line in data.split(b"\n") if line])
