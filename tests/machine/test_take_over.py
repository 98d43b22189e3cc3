"""What an attempt is told of its past: in which order, and what a dead daemon had decided."""

import random
from collections.abc import Iterator
from itertools import groupby
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.deal.attempt import Stage
from controller.deal.observations import (
    BothBegan,
    CardAtReader,
    CardGated,
    CardLanded,
    CardVerdict,
    LookOutcome,
    ShufflerDone,
)
from controller.machine.attempts.card_loop import CardLoop
from controller.machine.attempts.recovery import ordered_events
from drivers.board_events import BoardEvent, BoardEventCode, BoardKind
from drivers.link import frames

pytestmark = pytest.mark.virtual
SEQUENCE = "NWSE" * 27
TRAY = 4


class Boards:
    """Two lines that nobody listens to: what was said on them."""

    def __init__(self) -> None:
        self.said: list[Any] = []
        self.ends: list[Any] = []

    def dealing(self) -> CardLoop:
        """Return an attempt that is told of its past, with the first card in the window."""
        dealing = CardLoop(
            1,
            SEQUENCE,
            3,
            dealer=self.said.append,
            reader=self.said.append,
            stop_motion=lambda: self.said.append("stop"),
            on_count_due=lambda: None,
            on_look_overdue=lambda index: None,
            on_end=self.ends.append,
            on_change=lambda: None,
        )
        dealing.is_replaying = True
        for seen in (BothBegan(), ShufflerDone(), CardAtReader(1)):
            dealing.observe(seen)
        return dealing


@pytest.fixture
def boards() -> Boards:
    return Boards()


def event(board: BoardKind, code: BoardEventCode, index: int, place: int = 0) -> BoardEvent:
    return BoardEvent(board, 1, 1, 1, code, 0, 0, index, place)


def routes(said: list[Any]) -> list[tuple[int, int]]:
    return [(each.index, each.pocket) for each in said if isinstance(each, frames.RouteCommand)]


async def test_an_attempt_that_is_told_of_its_past_says_nothing_to_the_boards(
    boards: Boards,
) -> None:
    dealing = boards.dealing()
    dealing.observe(CardVerdict(1, LookOutcome.ACCEPT))
    dealing.resend_targets()
    assert boards.said == []
    dealing.end_replay()
    dealing.close()
    assert routes(boards.said) == [(1, 0)]


async def test_a_card_that_went_to_the_tray_without_a_look_had_waited_for_it_in_vain(
    boards: Boards,
) -> None:
    dealing = boards.dealing()
    dealing.observe_board(CardGated(1, "tray"))
    dealing.observe_board(CardLanded(1, "tray"))
    assert dealing.attempt.stage is Stage.DEALING
    assert dealing.attempt.ledger.open_places == (1,)


async def test_a_card_that_was_sent_to_the_tray_goes_there_though_its_look_came_since(
    boards: Boards,
) -> None:
    dealing = boards.dealing()
    dealing.observe(CardVerdict(1, LookOutcome.ACCEPT))
    assert dealing.adopt_route(1, "tray")
    dealing.end_replay()
    assert routes(boards.said) == [(1, TRAY)]
    dealing.observe(CardGated(1, "tray"))
    dealing.observe(CardLanded(1, "tray"))
    assert dealing.attempt.stage is Stage.DEALING
    assert dealing.attempt.ledger.open_places == (1,)
    dealing.close()


async def test_a_card_without_a_look_that_was_sent_to_the_tray_goes_there(boards: Boards) -> None:
    dealing = boards.dealing()
    assert dealing.adopt_route(1, "tray")
    dealing.end_replay()
    dealing.close()
    assert routes(boards.said) == [(1, TRAY)]


@pytest.mark.parametrize("outlet", ["W", "S", "E"])
async def test_a_card_that_a_board_sends_to_another_pocket_is_not_adopted(
    boards: Boards, outlet: str
) -> None:
    dealing = boards.dealing()
    dealing.observe(CardVerdict(1, LookOutcome.ACCEPT))
    assert not dealing.adopt_route(1, outlet)


async def test_a_card_that_waits_for_its_look_is_looked_at_again(boards: Boards) -> None:
    dealing = boards.dealing()
    dealing.end_replay()
    assert any(isinstance(each, frames.RereadCommand) for each in boards.said)
    dealing.close()


async def test_an_attempt_that_its_past_has_ended_ends_at_once(boards: Boards) -> None:
    dealing = boards.dealing()
    dealing.observe(CardGated(1, "W"))
    assert boards.ends == []
    dealing.end_replay()
    assert [attempt.reasons for attempt in boards.ends] == [("EVENT_LOST",)]
    assert "stop" in boards.said


def card(index: int) -> Iterator[BoardEvent]:
    yield event("dealer", BoardEventCode.AT_READER, index)
    yield event("reader", BoardEventCode.READ, index)
    yield event("dealer", BoardEventCode.GATE, index)
    yield event("dealer", BoardEventCode.LANDED, index)


@given(cards=st.integers(1, 30), seed=st.integers())
def test_looks_come_before_the_gate_whichever_board_was_heard_first(cards: int, seed: int) -> None:
    happened = [each for index in range(1, cards + 1) for each in card(index)]
    by_board = {
        board: [each for each in happened if each.board == board] for board in ("dealer", "reader")
    }
    turns = [each.board for each in happened]
    random.Random(seed).shuffle(turns)
    heard = [by_board[board].pop(0) for board in turns]
    told = list(ordered_events(heard))
    assert sorted(map(repr, told)) == sorted(map(repr, happened))
    for _, run in groupby(sorted(told, key=lambda each: each.index), key=lambda each: each.index):
        codes = [each.code for each in run]
        assert (
            codes.index(BoardEventCode.READ)
            < codes.index(BoardEventCode.GATE)
            < codes.index(BoardEventCode.LANDED)
        )
