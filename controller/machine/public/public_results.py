"""The public result of a match: how it ended, its points, rulings and signatures."""

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from controller.machine.public.awaited_seats import signers_due
from controller.match.match_state import AnyMatch, GuandanMatch, Meeting
from controller.match.phase import MatchPhase
from controller.match.rulings import MatchRuling as Decision
from controller.match.rulings import is_unconfirmed
from controller.match.sheet_rows import CorrectionRow
from controller.messages import (
    PublicPair,
    PublicRuling,
    PublicScore,
    PublicVerdict,
    SheetSigner,
    Side,
    VerbalCorrection,
)
from controller.rules.match_end import MatchScore
from controller.rules.match_end import MatchVerdict as End
from controller.rules.match_standing import PerSide
from controller.rules.penalties.offences import find_offence
from controller.rules.penalties.proposals import penalty_words
from controller.seats import SIDES


def copied_fields(source: msgspec.Struct, *names: str) -> dict[str, Any]:
    """Return the fields `names` of `source` as a dict, from which another value can be built."""
    return {name: getattr(source, name) for name in names}


def public_pairs(meeting: Meeting) -> dict[Side, PublicPair]:
    """Return the pairs of a match for the public state and the score sheet."""
    return {
        side: PublicPair(**copied_fields(pair, "id", "name", "players"))
        for side, pair in meeting.pairs.items()
    }


def public_end(match: AnyMatch) -> dict[str, Any]:
    """Return the public fields about the end of a match: winner, signatures, signers still due.

    `verdict` is None before the end of the match, and always None in Big Two.
    """
    return {
        "verdict": None if match.verdict is None else public_verdict(match.verdict),
        "version": match.version,
        "signed": [SheetSigner(signer=one.signer, person=one.person) for one in match.signatures],
        "signers": list(signers_due(match)) if match.phase is MatchPhase.OVER else [],
    }


def public_verdict(end: End) -> PublicVerdict:
    """Return the public form of the end of a match: the winner, and the reason in words."""
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
    """Return the points of a match, by side.

    `provisional` has the keys of the provisional rules on which the points depend.
    """
    names = ("match_points", "level_points", "deal_points", "total")
    points = {name: numbers_by_side(getattr(score, name)) for name in names}
    return PublicScore(**points, provisional=list(score.rests_on))


def numbers_by_side(numbers: PerSide | None) -> dict[Side, int] | None:
    """Return the numbers of both sides as a dict by side, or None if `numbers` is None."""
    return None if numbers is None else {side: numbers.of(side) for side in SIDES}


MAX_CLOSED_RULINGS = 8
"""The most closed rulings in the public state. They need no decision or confirmation."""


def public_rulings(rulings: Sequence[Decision]) -> list[PublicRuling]:
    """Return all rulings that need a decision or confirmation, and the newest other rulings.

    Of the other rulings, at most MAX_CLOSED_RULINGS are returned. The order stays unchanged.
    """
    closed = [
        ruling.id for ruling in rulings if ruling.state != "proposed" and not is_unconfirmed(ruling)
    ]
    hidden = frozenset(closed[:-MAX_CLOSED_RULINGS])
    return rulings_in_words(ruling for ruling in rulings if ruling.id not in hidden)


def rulings_in_words(rulings: Iterable[Decision]) -> list[PublicRuling]:
    """Return the public form of each ruling, with its offence and penalty in words."""
    return [_ruling_in_words(ruling) for ruling in rulings]


def unconfirmed_corrections(match: GuandanMatch) -> list[VerbalCorrection]:
    """Return the corrections that the chief decided verbally and must still confirm in writing."""
    return [
        VerbalCorrection(**copied_fields(row, "row", "deal", "by", "entered_by", "reason"))
        for row in match.sheet
        if isinstance(row, CorrectionRow)
        and row.entered_by is not None
        and row.ruling is None
        and match.spoken[row.row] is None
    ]


def _ruling_in_words(ruling: Decision) -> PublicRuling:
    charge, proposal = ruling.charge, ruling.proposal
    row = find_offence(charge.offence)
    penalty = penalty_words(proposal.penalty, proposal.effects)
    return PublicRuling(
        offence_en=row.en,
        offence_zh=row.zh,
        penalty_en=penalty.en,
        penalty_zh=penalty.zh,
        **copied_fields(charge, "offence", "deal", "side", "seat"),
        **copied_fields(proposal, "penalty", "article", "needs"),
        **copied_fields(ruling, "id", "state", "by", "at_ms", "verbal", "entered_by"),
        **copied_fields(ruling, "approved_by", "rejected_by", "confirmed_by"),
        rejection_entered_by=ruling.rejection_entered_by,
    )
