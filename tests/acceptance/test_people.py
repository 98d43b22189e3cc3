"""People at a terminal: asked, answering, and not there."""

import asyncio
import os
import select
import sys
from collections.abc import Iterator
from contextlib import closing

import msgspec
import pytest

from controller.acceptance.selftest_figures import SelftestFigures
from controller.acceptance.selftest_run import run_selftest
from controller.acceptance.selftest_session import SelftestSession
from controller.cli.maintenance import TerminalOperator
from sim.mechanics.mechanics_settings import MechanicsSettings
from tests.acceptance.at_machine import (
    LOOK_S,
    ROUND,
    bench_at,
    card_set,
    hands,
    in_virtual_time,
    pins,
    table_of,
)


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """A terminal that stands where this program's input is; what is written there is typed."""
    typing, seen = os.openpty()
    try:
        with closing(os.fdopen(seen, closefd=False)) as stdin:
            monkeypatch.setattr(sys, "stdin", stdin)
            yield typing
    finally:
        os.close(typing)
        os.close(seen)


async def answered(people: TerminalOperator, terminal: int, typed: str) -> bool:
    """Return what a step gives where this is typed once the question is there."""
    doing = asyncio.ensure_future(people.do("cover", "pocket_N"))
    await asyncio.sleep(0)
    os.write(terminal, typed.encode())
    return await doing


def test_what_was_typed_before_a_question_was_asked_answers_nothing(terminal: int) -> None:
    async def asked_twice() -> list[bool]:
        people = TerminalOperator()
        first = await answered(people, terminal, "\n\n\n")
        os.write(terminal, b"\n")
        select.select([sys.stdin], [], [])  # it has arrived before the question is asked
        return [first, await answered(people, terminal, "skip\n")]

    assert asyncio.run(asked_twice()) == [True, False]


@pytest.mark.parametrize(("typed", "done"), [("\n", True), ("skip\n", False), ("跳过\n", False)])
def test_somebody_is_asked_in_both_languages_and_answers(
    terminal: int, capsys: pytest.CaptureFixture[str], typed: str, done: bool
) -> None:
    assert asyncio.run(answered(TerminalOperator(), terminal, typed)) is done
    said = capsys.readouterr().err
    assert "放一张牌挡住：北家牌槽传感器" in said
    assert "Lay one card before the pocket sensor, north" in said


def test_the_signal_rings_and_waits_for_nobody(capsys: pytest.CaptureFixture[str]) -> None:
    asyncio.run(TerminalOperator().signal("press_estop"))
    said = capsys.readouterr().err
    assert "\a" in said
    assert "NOW! 送牌过程中按下急停 Press the emergency stop" in said


def test_without_a_terminal_nobody_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    with open(os.devnull) as nowhere:
        monkeypatch.setattr(sys, "stdin", nowhere)
        assert asyncio.run(TerminalOperator().do("open_lid")) is False
        assert asyncio.run(TerminalOperator().prepare("press_estop")) is False


def test_a_reader_without_a_trigger_wire_is_tested_with_its_own_limits() -> None:
    async def asked() -> SelftestFigures:
        with table_of(MechanicsSettings()) as table:
            with bench_at(table) as bench:
                await bench.open()
                await bench.reader.configure("asked", 1)
            pinned = msgspec.structs.replace(pins()["reader"], is_polled=True)
            with bench_at(table, pinned, pins()["dealer"]) as bench:
                await bench.open()
                assert bench.reader.is_polled
                figures = SelftestFigures(reader_is_polled=bench.reader.is_polled)
                of = SelftestSession(bench, hands(table), figures, card_set(), LOOK_S)
                await run_selftest(of, ROUND)
                return figures

    figures = in_virtual_time(asked())
    short = {one.name for one in figures.all_figures() if one.verdict != "pass"}
    assert short <= {"line_trouble"}  # a second session at a board says two events again
    [pace] = [one for one in figures.all_figures() if one.name == "cards_per_s"]
    assert pace.warn == 1.5
