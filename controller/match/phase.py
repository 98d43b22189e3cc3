"""The phases of a match, and what each is called where people see it."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from controller.words import Words, named


class Phase(StrEnum):
    """What a match waits for. A suspension lies over a phase and leaves it as it is."""

    SETUP = "setup"
    """The players, and the chief's start."""
    SHUFFLE = "shuffle"
    """A person's shuffling, where hands are drawn by hand."""
    CUT = "cut"
    TURNUP = "turnup"
    """A card turned up by a person, where hands are drawn by hand."""
    DEALING = "dealing"
    """Four right hands, from the machine or drawn."""
    HELD = "held"
    """The release of four right hands."""
    COUNT_CHECK = "count_check"
    """Four players' word that they hold what they should, or the end of the sorting time."""
    ANTI_CHECK = "anti_check"
    """Whether the payers hold both big jokers."""
    TRIBUTE = "tribute"
    RETURN = "return"
    CHOICES = "choices"
    """Open hands and doubling, in Big Two."""
    PLAY = "play"
    RESULT = "result"
    """A press of each side that the result is right."""
    FORFEIT = "forfeit"
    """Who leads next, named by the side that was given a deal."""
    MATCH_CHECK = "match_check"
    """The chief's word for an extra deal: the match needs a winner and has none."""
    OVER = "over"
    """The signatures."""
    SIGNED = "signed"


WORDS: Final[Mapping[str, Words]] = {
    Phase.SETUP: Words("players take their seats", "选手就位"),
    Phase.SHUFFLE: Words("shuffle by hand", "人工洗牌"),
    Phase.CUT: Words("cut", "请切牌"),
    Phase.TURNUP: Words("turn a card up", "翻牌"),
    Phase.DEALING: Words("dealing", "发牌中"),
    Phase.HELD: Words("hands ready to be taken", "牌已备好，待放行"),
    Phase.COUNT_CHECK: Words("count and sort", "清点理牌"),
    Phase.ANTI_CHECK: Words("anti-tribute is checked", "核对抗贡"),
    Phase.TRIBUTE: Words("tribute", "贡牌"),
    Phase.RETURN: Words("return", "还牌"),
    Phase.CHOICES: Words("open hand and doubling", "明牌与加倍"),
    Phase.PLAY: Words("play", "打牌中"),
    Phase.RESULT: Words("result to be confirmed", "成绩待确认"),
    Phase.FORFEIT: Words("deal forfeited: name a leader", "本副判负，请指定领出牌者"),
    Phase.MATCH_CHECK: Words("equal: an extra deal decides", "平级，待加打一副"),
    Phase.OVER: Words("score sheet to be signed", "记分表待签"),
    Phase.SIGNED: Words("signed", "已签名"),
}
"""Each phase in English and in Chinese."""


def called(*phases: Phase) -> Words:
    """Return phases as a refusal names them, in the order in which they are declared."""
    return named([phase.value for phase in Phase if phase in phases], WORDS)


BEFORE_RELEASE = frozenset({Phase.SHUFFLE, Phase.CUT, Phase.TURNUP, Phase.DEALING, Phase.HELD})
"""A deal is due and has not begun: a deal begins with the release of its hands."""

ENDED_PHASES = frozenset({Phase.OVER, Phase.SIGNED})
"""There is a verdict."""

AT_THE_TABLE = frozenset(
    {
        Phase.COUNT_CHECK,
        Phase.ANTI_CHECK,
        Phase.TRIBUTE,
        Phase.RETURN,
        Phase.CHOICES,
        Phase.PLAY,
        Phase.RESULT,
    }
)
"""A deal has begun and its row is not written."""
