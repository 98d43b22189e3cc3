"""The answers to a charge, in words: a penalty, and what the match does by it."""

from collections.abc import Iterable
from typing import Literal

import msgspec

from controller.rules.penalties.consequences import consequence_words, penalty_words
from controller.rules.penalties.proposals import PenaltyProposal
from controller.rules.penalties.records import Penalty
from controller.words import Words


class PenaltyChoice(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """One answer to a charge, in words: `effects` is what the match does by it.

    `article` None: the rulebook is silent, it is proposed.
    """

    penalty: Penalty
    en: str
    zh: str
    why_en: str
    why_zh: str
    needs: Literal["referee", "chief"]
    article: str | None
    provisional: bool
    loses_turn: bool
    effects: tuple[Words, ...]


def build_penalty_choices(
    proposals: Iterable[PenaltyProposal], earlier_deal: int | None = None
) -> tuple[PenaltyChoice, ...]:
    """Return the answers that a table gave to a charge, in words and in their order.

    `earlier`: the deal of the offence, where another deal is played now.
    """
    return tuple(build_penalty_choice(proposal, earlier_deal) for proposal in proposals)


def build_penalty_choice(
    proposal: PenaltyProposal, earlier_deal: int | None = None
) -> PenaltyChoice:
    """Return one answer in words."""
    text = penalty_words(proposal.penalty, proposal.effects)
    return PenaltyChoice(
        penalty=proposal.penalty,
        en=text.en,
        zh=text.zh,
        why_en=proposal.why_en,
        why_zh=proposal.why_zh,
        needs=proposal.needs,
        article=proposal.article,
        provisional=proposal.provisional,
        loses_turn=proposal.loses_turn,
        effects=tuple(consequence_words(effect, earlier_deal) for effect in proposal.effects),
    )
