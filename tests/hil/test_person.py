"""A person at a terminal: told one thing at a time, in both languages, and taken at his word."""

import asyncio
import os
import tty
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import pytest

from hil_tests.harness.bench_operator import BELL, BenchOperator, OperatorTerminal, RunStopped
from hil_tests.harness.features import BENCH_FEATURES, Feature
from hil_tests.harness.hands import StepSkipped, load_steps
from tests.waiting import until


class Screen:
    """The other end of a person's terminal."""

    def __init__(self) -> None:
        self.master, self.slave = os.openpty()
        tty.setraw(self.slave)
        os.set_blocking(self.master, False)
        self.path = Path(os.ttyname(self.slave))

    async def read(self, end: str = "> ") -> str:
        """Return what was shown since the last time, up to the end of a question."""
        shown = ""

        def look() -> bool:
            nonlocal shown
            with suppress(BlockingIOError):
                shown += os.read(self.master, 1 << 16).decode()
            return shown.endswith(end)

        await until(look)
        return shown

    def type(self, line: str) -> None:
        os.write(self.master, f"{line}\n".encode())

    def close(self) -> None:
        for fd in (self.master, self.slave):
            os.close(fd)


@pytest.fixture
async def screen() -> AsyncIterator[Screen]:
    shown = Screen()
    yield shown
    shown.close()


@pytest.fixture
def noted() -> list[str]:
    return []


@pytest.fixture
async def person(screen: Screen, noted: list[str]) -> AsyncIterator[BenchOperator]:
    terminal = OperatorTerminal(screen.path)
    yield BenchOperator(terminal, BENCH_FEATURES, noted.append)
    terminal.close()


async def test_a_step_is_told_in_both_languages_and_done_once_enter_was_pressed(
    screen: Screen, person: BenchOperator, noted: list[str]
) -> None:
    doing = asyncio.ensure_future(person.do_step("take_one_card"))
    shown = await screen.read()
    for word in ("do take_one_card", "抽走任意一张牌", "Take any one card", "skip WHY", "stop"):
        assert word in shown, word
    assert not doing.done()
    assert noted == []
    screen.type("")
    await doing
    assert noted == ["do take_one_card"]


async def test_questions_come_one_at_a_time_and_each_answer_is_its_own(
    screen: Screen, person: BenchOperator, noted: list[str]
) -> None:
    async def both() -> None:
        await person.do_step("open_lid")
        await person.do_step("close_lid")

    doing = asyncio.ensure_future(both())
    first = await screen.read()
    assert "open_lid" in first
    assert "close_lid" not in first
    screen.type("")
    assert "close_lid" in await screen.read()
    assert not doing.done()
    screen.type("")
    await doing
    assert noted == ["do open_lid", "do close_lid"]


async def test_what_was_typed_before_a_question_was_asked_answers_nothing(
    screen: Screen, person: BenchOperator
) -> None:
    doing = asyncio.ensure_future(person.do_step("open_lid"))
    await screen.read()
    screen.type("")
    screen.type("")
    await doing
    doing = asyncio.ensure_future(person.do_step("close_lid"))
    await screen.read()
    assert not doing.done(), "an Enter too many answers the next question"
    screen.type("")
    await doing


async def test_skip_skips_with_the_persons_reason_and_stop_ends_the_run(
    screen: Screen, person: BenchOperator, noted: list[str]
) -> None:
    screen_says = {
        "skip no tape": (StepSkipped, "no tape"),
        "skip": (StepSkipped, "could not do it"),
    }
    for words, (kind, told) in screen_says.items():
        doing = asyncio.ensure_future(person.do_step("hold_feeder"))
        await screen.read()
        screen.type(words)
        with pytest.raises(kind, match=told):
            await doing
    doing = asyncio.ensure_future(person.do_step("hold_feeder"))
    await screen.read()
    screen.type("stop")
    with pytest.raises(RunStopped, match="ended the run"):
        await doing
    assert noted == []


async def test_a_person_is_readied_before_a_signal_and_types_nothing_after_it(
    screen: Screen, person: BenchOperator
) -> None:
    doing = asyncio.ensure_future(person.prepare_step("open_lid"))
    shown = await screen.read()
    assert "ready open_lid" in shown
    assert "At the signal" in shown
    assert BELL not in shown
    assert not doing.done()
    screen.type("")
    await doing
    await person.signal_step("open_lid")
    shown = await screen.read(end="\n")
    assert BELL in shown
    assert "NOW" in shown
    assert not shown.rstrip().endswith(">")


async def test_counts_are_asked_for_until_they_are_four_numbers(
    screen: Screen, person: BenchOperator, noted: list[str]
) -> None:
    doing = asyncio.ensure_future(person.count_hands())
    for words in ("27 27 27", "27 27 27 x", "27 27 27 26"):
        await screen.read()
        screen.type(words)
    assert await doing == (27, 27, 27, 26)
    assert noted[-1] == "count hands: 27 27 27 26"


async def test_what_a_bench_lacks_is_asked_of_nobody(screen: Screen, noted: list[str]) -> None:
    has: frozenset[Feature] = BENCH_FEATURES - {"lid"}
    person = BenchOperator(OperatorTerminal(screen.path), has, noted.append)
    with pytest.raises(StepSkipped, match="lacks lid: "):
        await person.do_step("open_lid")
    with pytest.raises(StepSkipped, match="lacks lid: "):
        await person.prepare_step("open_lid")
    with pytest.raises(StepSkipped, match="lacks lid: "):
        await person.signal_step("open_lid")
    for nobody_can in (person.read_truth(), person.read_faults(), person.cause_fault("jam")):
        with pytest.raises(StepSkipped):
            await nobody_can
    asked = asyncio.ensure_future(person.do_step("take_one_card"))
    assert (await screen.read()).startswith("\n== do take_one_card ==")
    screen.type("")
    await asked


async def test_a_terminal_that_goes_away_ends_the_run(
    screen: Screen, person: BenchOperator
) -> None:
    doing = asyncio.ensure_future(person.do_step("open_lid"))
    await screen.read()
    os.close(screen.master)
    screen.master = os.dup(screen.slave)
    with pytest.raises((RunStopped, OSError)):
        await doing


def test_a_step_says_what_a_person_does_in_chinese_and_english() -> None:
    for name, step in load_steps().items():
        assert any("\u4e00" <= letter <= "\u9fff" for letter in step.zh), name
        assert not any("\u4e00" <= letter <= "\u9fff" for letter in step.en), name
        assert step.en.endswith(tuple("abcdefghijklmnopqrstuvwxyz)")), name
        assert set(step.needs) <= BENCH_FEATURES, name
