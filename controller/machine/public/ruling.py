"""Rulings as anybody may know them: what is ruled on, by whom, and what still waits."""

from collections.abc import Iterable, Sequence

from controller.match.rulings import MatchRuling as Decision
from controller.match.rulings import is_unconfirmed
from controller.match.sheet import CorrectionRow
from controller.match.state import GuandanMatch
from controller.messages import PublicRuling, VerbalCorrection
from controller.rules.penalties.consequences import penalty_words
from controller.rules.penalties.offences import find_offence

MAX_CLOSED_RULINGS = 8
"""Closed rulings that stand in the public state; the others are on the score sheet."""


def public_rulings(rulings: Sequence[Decision]) -> list[PublicRuling]:
    """Return the rulings that wait for somebody, and the newest others, in their order."""
    closed = [ruling.id for ruling in rulings if not _is_waiting(ruling)]
    hidden = frozenset(closed[:-MAX_CLOSED_RULINGS])
    return rulings_in_words(ruling for ruling in rulings if ruling.id not in hidden)


def rulings_in_words(rulings: Iterable[Decision]) -> list[PublicRuling]:
    """Return rulings in words."""
    return [_ruling_in_words(ruling) for ruling in rulings]


def unconfirmed_corrections(match: GuandanMatch) -> list[VerbalCorrection]:
    """Return the corrections by the chief's word that he has still to confirm, by their rows."""
    return [
        VerbalCorrection(
            row=row.row, deal=row.deal, by=row.by, entered_by=row.entered_by, reason=row.reason
        )
        for row in match.sheet
        if isinstance(row, CorrectionRow)
        and row.entered_by is not None
        and row.ruling is None
        and match.spoken[row.row] is None
    ]


def _is_waiting(ruling: Decision) -> bool:
    return ruling.state == "proposed" or is_unconfirmed(ruling)


def _ruling_in_words(ruling: Decision) -> PublicRuling:
    charge, proposal = ruling.charge, ruling.proposal
    row = find_offence(charge.offence)
    penalty = penalty_words(proposal.penalty, proposal.effects)
    return PublicRuling(
        id=ruling.id,
        offence=charge.offence,
        offence_en=row.en,
        offence_zh=row.zh,
        deal=charge.deal,
        side=charge.side,
        seat=charge.seat,
        penalty=proposal.penalty,
        penalty_en=penalty.en,
        penalty_zh=penalty.zh,
        article=proposal.article,
        needs=proposal.needs,
        state=ruling.state,
        by=ruling.by,
        at_ms=ruling.at_ms,
        approved_by=ruling.approved_by,
        rejected_by=ruling.rejected_by,
        verbal=ruling.verbal,
        entered_by=ruling.entered_by,
        confirmed_by=ruling.confirmed_by,
        rejection_entered_by=ruling.rejection_entered_by,
    )
