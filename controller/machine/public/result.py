"""How a match ended, what it is worth and who signed that, as anybody may know it."""

from typing import Any

from controller.machine.public.waiting import signers_due
from controller.match.phase import MatchPhase
from controller.match.state import AnyMatch
from controller.messages import PublicScore, PublicVerdict, SheetSigner, Side
from controller.rules.ending import MatchVerdict as End
from controller.rules.score import MatchScore
from controller.rules.seats import SIDES
from controller.rules.standing import PerSide


def public_end(match: AnyMatch) -> dict[str, Any]:
    """Return how the match ended and who has signed; nobody is due before its end."""
    return {
        "verdict": None if match.verdict is None else public_verdict(match.verdict),
        "version": match.version,
        "signed": [SheetSigner(signer=one.signer, person=one.person) for one in match.signatures],
        "signers": list(signers_due(match)) if match.phase is MatchPhase.OVER else [],
    }


def public_verdict(end: End) -> PublicVerdict:
    """Return how a match ended, in words."""
    en, zh = _VERDICT_WORDS[end.how]
    return PublicVerdict(winner=end.winner, how=end.how, how_en=en, how_zh=zh)


_VERDICT_WORDS: dict[str, tuple[str, str]] = {
    "past_a": ("passed A", "过A"),
    "failures": ("the other side failed too often at A", "对方A未过次数已满"),
    "level": ("the higher level", "级数领先"),
    "first_to_reach": ("came to the level first", "先到该级"),
    "draw": ("draw", "平局"),
    "extra_deal": ("won the extra deal", "加打一副获胜"),
    "forfeit": ("the other side lost the match by a ruling", "对方本局判负"),
    "disqualified": ("the other pair was disqualified", "对方取消比赛资格"),
    "both_lost": ("both pairs lost the match", "双方判负"),
}


def public_score(score: MatchScore) -> PublicScore:
    """Return a match in points, with the provisional keys behind them."""
    return PublicScore(
        match_points=numbers_by_side(score.match_points),
        level_points=numbers_by_side(score.level_points),
        deal_points=numbers_by_side(score.deal_points),
        total=numbers_by_side(score.total),
        provisional=list(score.rests_on),
    )


def numbers_by_side(numbers: PerSide | None) -> dict[Side, int] | None:
    """Return two numbers by their sides; None where there are none."""
    return None if numbers is None else {side: numbers.of(side) for side in SIDES}
