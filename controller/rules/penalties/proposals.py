"""The ladder of penalties: what an offence leads to, as proposals that a person decides on.

Seed 000 A11.5, A12, A15–A19, A21; 003 R6; 004 B–D. Nothing here applies a penalty. What
happened before is counted from the record of the pair (records.py); what happens with the
cards is the remedy of the offence (offences.py).
"""

from typing import Literal

import msgspec

from controller.rules.penalties.charges import Charge, lapse_article, lapse_reasons
from controller.rules.penalties.consequences import Consequence, TurnLost, consequences_of
from controller.rules.penalties.ladder import LegalPenalty, legal_penalties
from controller.rules.penalties.offences import catalogue_words, find_offence
from controller.rules.penalties.records import Penalty, PenaltyRecord
from controller.rules.profile import GuandanProfile
from controller.words import Words

CHIEF_PENALTIES: frozenset[Penalty] = frozenset({"foul", "match_forfeit", "disqualification"})
"""What only the chief may give, whatever article it comes from (seed 000 A15.2.2)."""

ProposalAuthority = Literal["referee", "chief"]


class PenaltyProposal(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One legal answer to a charge; a person makes it a ruling.

    `needs`: who may. `article`: where the penalty stands, None where the rulebook is silent.
    `provisional`: something of it is proposed and in no rulebook. `effects`: what the match
    acts on. `keys`: the rules of the profile it rests on.
    """

    penalty: Penalty
    loses_turn: bool
    needs: ProposalAuthority
    article: str | None
    provisional: bool
    effects: tuple[Consequence, ...]
    why_en: str
    why_zh: str
    keys: tuple[str, ...] = ()


def propose_penalties(
    profile: GuandanProfile, record: PenaltyRecord, charge: Charge
) -> tuple[PenaltyProposal, ...]:
    """Return the legal answers to a charge: first what the ladder says, then the others.

    A foul and more is the chief's, and so is every choice but the first (seed 000 A15.2).
    Where the right to a penalty may have lapsed, no penalty is among the choices; a dispute
    about that is the chief's. What the players settled is closed, or recognised: then no
    penalty comes first. Raises LookupError for an offence that there is not.
    """
    found = legal_penalties(profile, record, charge)
    if charge.settled_by_players and profile.penalties.settled_by_players == "closed":
        return (_settled_proposal(profile, charge, "settled_closed"),)
    if charge.settled_by_players == "recognised":
        waived = _settled_proposal(profile, charge, "settled_recognised")
        accepted = _ladder_proposals(profile, charge, _accepted_penalties(profile, found))
        return (waived, *(one for one in accepted if one.penalty != "none" or one.effects))
    return (*_ladder_proposals(profile, charge, found), *_lapse_proposals(profile, charge))


def discretionary_proposal(
    profile: GuandanProfile, charge: Charge, penalty: Penalty
) -> PenaltyProposal:
    """Return a penalty that the chief gives at his discretion (seed 000 A15.3.7)."""
    row, text = find_offence(charge.offence), catalogue_words("why", "discretion")
    article = "A15.3.7" if profile.penalties.catalogue == "000" else None
    way = LegalPenalty(
        penalty=penalty,
        article=article,
        why=Words(text.en.format(offence=row.en), text.zh.format(offence=row.zh)),
        turn_loss="trick" if penalty == "violation" else None,
    )
    return _make_proposal(profile, charge, way, chief=True)


SETTLED_KEY = "penalties.settled_by_players"


def _ladder_proposals(
    profile: GuandanProfile, charge: Charge, found: tuple[LegalPenalty, ...]
) -> tuple[PenaltyProposal, ...]:
    disputed = charge.lapse_disputed and bool(lapse_reasons(charge))
    return tuple(
        _make_proposal(profile, charge, way, chief=disputed or number > 0)
        for number, way in enumerate(found)
    )


def _settled_proposal(
    profile: GuandanProfile, charge: Charge, why: Literal["settled_closed", "settled_recognised"]
) -> PenaltyProposal:
    """Answer without a penalty what the players settled (seed 000 A15.3.6, 004 rule B)."""
    article = profile.article(SETTLED_KEY)
    way = LegalPenalty(
        penalty="none", article=article, why=catalogue_words("why", why), keys=(SETTLED_KEY,)
    )
    return _make_proposal(profile, charge, way, chief=False)


def _accepted_penalties(
    profile: GuandanProfile, found: tuple[LegalPenalty, ...]
) -> tuple[LegalPenalty, ...]:
    """Return the ladder's answers as what the players accepted and the referee recognised.

    Seed 000 A15.3.6. Who may give it stays as it was: a foul and a choice are the chief's.
    """
    text, article = catalogue_words("why", "settled_recognised"), profile.article(SETTLED_KEY)
    return tuple(
        msgspec.structs.replace(
            one,
            why=Words(f"{text.en}: {one.why.en}", f"{text.zh}：{one.why.zh}"),
            article=", ".join(known for known in (article, one.article) if known) or None,
            keys=(SETTLED_KEY, *one.keys),
        )
        for one in found
    )


def _lapse_proposals(profile: GuandanProfile, charge: Charge) -> tuple[PenaltyProposal, ...]:
    """Offer that nothing is done, because the right to a penalty has lapsed (A15.3.8)."""
    reasons = lapse_reasons(charge)
    if not reasons:
        return ()
    articles = [lapse_article(profile, reason) for reason in reasons]
    known = ", ".join(article for article in articles if article)
    way = LegalPenalty(penalty="none", article=known or None, why=catalogue_words("why", "lapsed"))
    return (_make_proposal(profile, charge, way, chief=charge.lapse_disputed),)


def _make_proposal(
    profile: GuandanProfile, charge: Charge, way: LegalPenalty, *, chief: bool
) -> PenaltyProposal:
    effects, keys = consequences_of(profile, charge, way)
    unsaid = way.article is None or any(profile.article(key) is None for key in keys)
    return PenaltyProposal(
        penalty=way.penalty,
        loses_turn=any(isinstance(effect, TurnLost) for effect in effects),
        needs="chief" if chief or way.needs_chief or way.penalty in CHIEF_PENALTIES else "referee",
        article=way.article,
        provisional=unsaid or way.gap is not None,
        effects=effects,
        why_en=_reason_line(way, "en"),
        why_zh=_reason_line(way, "zh"),
        keys=keys,
    )


def _reason_line(way: LegalPenalty, language: Literal["en", "zh"]) -> str:
    """Say in one line why, what, and where it stands or that it is proposed."""
    colon, comma, opening, closing = _PUNCTUATION[language]
    also = ["dead_hand"] if way.dead_hand else []
    also += [way.turn_loss] if way.turn_loss else []
    said = [catalogue_words("also", name) for name in also]
    if way.penalty != "none" or not said:
        said = [catalogue_words("penalty", way.penalty), *said]
    silent = way.gap or ("silent" if way.article is None else None)
    where = [way.article] if way.article else []
    if silent is not None:
        where.append(getattr(catalogue_words("why", silent), language))
    what = comma.join(getattr(text, language) for text in said)
    return f"{getattr(way.why, language)}{colon}{what}{opening}{comma.join(where)}{closing}"


_PUNCTUATION = {"en": (": ", ", ", " (", ")"), "zh": ("：", "，", "（", "）")}
