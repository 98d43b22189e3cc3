"""How `bench reaction` finds the message that decides on a card, and what it makes of its times."""

import os
import struct
from pathlib import Path

import pytest
from click.testing import CliRunner

from controller.cli import main
from drivers.firmware import protocol
from drivers.firmware.framing import Decoder
from sim.bench.echo_process import READ_FRAME, ROUTE_FRAME
from sim.bench.reaction_figures import block_median, draw_distribution, percentile
from sim.bench.reaction_plant import ROUTE_TIMEOUT_MS, HeldFrames, time_answer
from tests.peers.answering import Answering

pytestmark = pytest.mark.slow


def says(code: int, index: int, attempt: int = 1) -> bytes:
    header = struct.pack(protocol.BOARD_HEADER, protocol.EVENT, 7)
    return header + struct.pack(
        protocol.BODIES[protocol.EVENT], 5, 1, attempt, code, 1, 0, index, 0
    )


@pytest.mark.parametrize(
    "order", [(protocol.AT_READER, protocol.READ), (protocol.READ, protocol.AT_READER)]
)
def test_the_later_word_of_a_card_decides_whichever_board_says_it(order: tuple[int, int]) -> None:
    cards = HeldFrames()
    assert [cards.is_decided_by([says(code, 1)]) for code in order] == [False, True]


def test_a_word_that_is_said_again_decides_nothing() -> None:
    cards = HeldFrames()
    both = [says(protocol.AT_READER, 1), says(protocol.READ, 1)]
    assert cards.is_decided_by(both)
    assert not cards.is_decided_by(both)
    assert not cards.is_decided_by([says(protocol.AT_READER, 2), says(protocol.AT_READER, 2)])


def test_the_same_card_of_another_attempt_is_another_card() -> None:
    cards = HeldFrames()
    assert cards.is_decided_by([says(protocol.AT_READER, 1), says(protocol.READ, 1)])
    assert cards.is_decided_by([says(protocol.AT_READER, 1, 2), says(protocol.READ, 1, 2)])


def test_half_an_answer_has_taken_all_patience() -> None:
    ours, theirs = os.pipe()
    try:
        assert time_answer(theirs, ours, b"half", lambda said: said == b"a whole one") == (
            ROUTE_TIMEOUT_MS * 1000,
            b"half",
        )
    finally:
        os.close(ours)
        os.close(theirs)


def test_a_percentile_is_the_value_that_so_many_lie_below() -> None:
    values = [float(number) for number in range(100, 0, -1)]
    assert [percentile(values, percent) for percent in (50, 90, 99)] == [51, 91, 100]


def test_one_wild_block_of_five_says_nothing() -> None:
    rounds = [[10.0, 20.0]] * 40 + [[10.0, 9000.0]] * 10
    assert block_median(rounds, 1, 0, 99) == (20.0, 10.0)


def test_too_few_rounds_for_the_blocks_are_refused() -> None:
    with pytest.raises(ValueError, match="3 rounds are too few for 5 blocks"):
        block_median([[1.0, 1.0]] * 3, 1, 0, 50)


def test_a_peer_answers_an_event_with_a_route_as_long_as_the_floors() -> None:
    answer = Answering()(READ_FRAME)
    assert len(answer) == len(ROUTE_FRAME)
    assert [payload[0] for payload in Decoder().feed(answer)] == [protocol.ROUTE]


def test_the_same_times_are_drawn_as_the_same_picture_with_a_name_for_each_curve(
    tmp_path: Path,
) -> None:
    times = {"echo": [30.0, 31.0, 90.0], "plain": [60.0, 61.0, 200.0]}
    first, second = tmp_path / "1.svg", tmp_path / "2.svg"
    draw_distribution(times, first)
    draw_distribution(times, second)
    assert first.read_bytes() == second.read_bytes()
    assert all(f">{name}<" in first.read_text(encoding="utf-8") for name in times)


def test_a_plot_of_something_else_than_the_reaction_is_refused_before_it_is_measured(
    tmp_path: Path,
) -> None:
    told = CliRunner().invoke(main, ["bench", "fair", "--plot", str(tmp_path / "x.svg")])
    assert told.exit_code == 2
    assert "--plot draws what `reaction` measured" in told.stderr
