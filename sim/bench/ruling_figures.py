"""Figures of rulings on plays with wild cards."""

from collections import Counter

from controller.cards import composition
from controller.rules.combos.combo_judge import judge_play
from controller.rules.combos.guandan_combos import contained_kinds, readings
from controller.rules.combos.play_notation import parse_play
from controller.rules.ranks import natural_rank
from sim.bench.figure_registry import (
    FigureUnit,
    FigureValue,
    time_in_turns_us,
    timed_figure,
    valued_figure,
)

_LAID, _PLAYED = "KK66 ♥2", "♦789T ♥2"
_TURNS = 10
_ROUNDS = 15
_AIM_S = 0.005
"""The aim for one ruling, in seconds."""
_SET = composition(2, jokers=True)
_TEN_CARD_PLAYS = tuple(
    parse_play(text, 2, _SET).faces
    for text in (
        "99999999 ♥2♥2",
        "♠3456789T ♥2♥2",
        "33445566 ♥2♥2",
        "333444 SJ BJ ♥2♥2",
    )
)
"""Plays of ten cards, two of them wild: equal ranks, a straight flush, pairs, and mixed."""


def _plays_alone() -> None:
    for _ in range(_TURNS):
        parse_play(_LAID, 2, _SET)
        parse_play(_PLAYED, 2, _SET)


@timed_figure("ruling", floor=_plays_alone, documented=5.0, per=_TURNS)
def rule_on_plays() -> None:
    """A ruling on two plays with a wild card each, aim 5 ms, against parsing the text."""
    for _ in range(_TURNS):
        judge_play("international-000", 2, _PLAYED, _LAID)


@valued_figure("rulings")
def measure_rulings() -> list[FigureValue]:
    """Rulings a second on two plays with a wild card each, against parsing the text."""
    value_us, floor_us = time_in_turns_us(rule_on_plays, _plays_alone, _TURNS, _ROUNDS)
    return [
        FigureValue(
            value=1e6 / value_us,
            floor=1e6 / floor_us,
            unit=FigureUnit.PER_S,
            documented=5.0,
            aim_value=1 / _AIM_S,
        )
    ]


def _ranks_alone() -> None:
    for faces in _TURNS * _TEN_CARD_PLAYS:
        Counter(map(natural_rank, faces))


@timed_figure("readings", floor=_ranks_alone, documented=250.0, per=_TURNS * len(_TEN_CARD_PLAYS))
def read_plays() -> None:
    """All readings and kinds of ten cards, two wild, aim 20 ms, against counting ranks."""
    for faces in _TURNS * _TEN_CARD_PLAYS:
        readings(faces, 2)
        contained_kinds(faces, 2)
