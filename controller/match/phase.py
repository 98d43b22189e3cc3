"""The phases of a match, and the names of these phases that people read."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from controller.words import Words, quoted_words


class MatchPhase(StrEnum):
    """The phase of a match, named after what the match waits for.

    A suspension does not change the phase.
    """

    SETUP = "setup"
    """The players, and the chief's start."""
    SHUFFLE = "shuffle"
    """A person's shuffling, where hands are drawn by hand."""
    CUT = "cut"
    TURNUP = "turnup"
    """A card turned up by a person, where hands are drawn by hand."""
    DEALING = "dealing"
    """Four complete hands, from the machine or drawn by people."""
    HELD = "held"
    """The release of four complete hands."""
    COUNT_CHECK = "count_check"
    """Four confirmed counts, or the end of the sorting time."""
    ANTI_CHECK = "anti_check"
    """The answer whether the payers have both big jokers."""
    TRIBUTE = "tribute"
    RETURN = "return"
    CHOICES = "choices"
    """Open hands and doubling, in Big Two."""
    PLAY = "play"
    RESULT = "result"
    """A press of each side that confirms the result."""
    FORFEIT = "forfeit"
    """The next leader, named by the side that was given a deal."""
    MATCH_CHECK = "match_check"
    """The chief's decision on an extra deal: the match needs a winner and has none."""
    OVER = "over"
    """The signatures."""
    SIGNED = "signed"


PHASE_WORDS: Final[Mapping[str, Words]] = {
    MatchPhase.SETUP: Words("players take their seats", "选手就位"),
    MatchPhase.SHUFFLE: Words("shuffle by hand", "人工洗牌"),
    MatchPhase.CUT: Words("cut", "请切牌"),
    MatchPhase.TURNUP: Words("turn a card up", "翻牌"),
    MatchPhase.DEALING: Words("dealing", "发牌中"),
    MatchPhase.HELD: Words("hands ready to be taken", "牌已备好，待放行"),
    MatchPhase.COUNT_CHECK: Words("count and sort", "清点理牌"),
    MatchPhase.ANTI_CHECK: Words("anti-tribute is checked", "核对抗贡"),
    MatchPhase.TRIBUTE: Words("tribute", "贡牌"),
    MatchPhase.RETURN: Words("return", "还牌"),
    MatchPhase.CHOICES: Words("open hand and doubling", "明牌与加倍"),
    MatchPhase.PLAY: Words("play", "打牌中"),
    MatchPhase.RESULT: Words("result to be confirmed", "成绩待确认"),
    MatchPhase.FORFEIT: Words("deal forfeited: name a leader", "本副判负，请指定领出牌者"),
    MatchPhase.MATCH_CHECK: Words("equal: an extra deal decides", "平级，待加打一副"),
    MatchPhase.OVER: Words("score sheet to be signed", "记分表待签"),
    MatchPhase.SIGNED: Words("signed", "已签名"),
}
"""Each phase in English and in Chinese."""


def phase_words(*phases: MatchPhase) -> Words:
    """Return the names of `phases` in quotation marks, for the text of a refusal.

    They are in the order of their declaration.
    """
    return quoted_words([phase.value for phase in MatchPhase if phase in phases], PHASE_WORDS)


BEFORE_RELEASE = frozenset(
    {MatchPhase.SHUFFLE, MatchPhase.CUT, MatchPhase.TURNUP, MatchPhase.DEALING, MatchPhase.HELD}
)
"""A deal is due and has not begun. A deal begins with the release of its hands."""

ENDED_PHASES = frozenset({MatchPhase.OVER, MatchPhase.SIGNED})
"""Phases with a verdict."""

DEAL_UNDER_WAY = frozenset(
    {
        MatchPhase.COUNT_CHECK,
        MatchPhase.ANTI_CHECK,
        MatchPhase.TRIBUTE,
        MatchPhase.RETURN,
        MatchPhase.CHOICES,
        MatchPhase.PLAY,
        MatchPhase.RESULT,
    }
)
"""Phases of a deal that has begun and whose row is not written."""
