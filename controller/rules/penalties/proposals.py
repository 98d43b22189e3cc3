"""Proposals of penalties, and the consequences of a penalty for the match.

The consequences are a closed set of values that the match applies. They do not include the cards on
the table. The remedy text of an offence (offences.toml) describes the procedure for the cards.
"""

from typing import Literal

import msgspec
from msgspec.structs import replace

from controller.messages import Seat, Side
from controller.rules.penalties.charges import Charge, lapse_article, lapse_reasons
from controller.rules.penalties.offences import catalogue_words, find_offence
from controller.rules.penalties.penalty_ladder import LegalPenalty, legal_penalties
from controller.rules.penalties.penalty_record import Penalty, PenaltyRecord
from controller.rules.profile import GuandanProfile
from controller.rules.ranks import level_change_words
from controller.seats import SIGNER_NAMES, other_side
from controller.words import Words


class DealLost(msgspec.Struct, frozen=True, gc=False, tag="deal_lost"):
    """The consequence that `side` loses this deal. It counts as R12 (seed 000 A15.3.3)."""

    side: Side


class LevelUp(msgspec.Struct, frozen=True, gc=False, tag="level_up"):
    """The consequence that `side` climbs by `steps` levels immediately.

    The deal keeps its level. Source: seed 003 R6.
    """

    side: Side
    steps: int


class LevelDown(msgspec.Struct, frozen=True, gc=False, tag="level_down"):
    """The consequence that `side` falls by `steps` levels immediately.

    The deal keeps its level. Source: seed 003 R6.3.
    """

    side: Side
    steps: int


class MatchLost(msgspec.Struct, frozen=True, gc=False, tag="match_lost"):
    """The consequence that `side` loses this match. Source: seed 000 A15.3.4."""

    side: Side


class PairDisqualified(msgspec.Struct, frozen=True, gc=False, tag="disqualified"):
    """The consequence that the pair `pair` is excluded from the tournament.

    Source: seed 000 A15.3.5, seed 004 rule D.
    """

    pair: str


class DeadHand(msgspec.Struct, frozen=True, gc=False, tag="dead_hand"):
    """The consequence that `seat` stops playing and finishes last. Source: seed 000 A18.4."""

    seat: Seat


class TurnLost(msgspec.Struct, frozen=True, gc=False, tag="turn_lost"):
    """The consequence that `seat` loses its turn once, or for a whole trick (圈).

    The seat may neither lead nor follow. Source: seed 000 A15.3.2.
    """

    seat: Seat
    whole_trick: bool


Consequence = DealLost | LevelUp | LevelDown | MatchLost | PairDisqualified | DeadHand | TurnLost

Consequences = tuple[Consequence, ...]
ProfileKeys = tuple[str, ...]


def consequences_of(
    profile: GuandanProfile, charge: Charge, legal_penalty: LegalPenalty
) -> tuple[Consequences, ProfileKeys]:
    """Return the consequences of `legal_penalty`, and the profile's keys that they depend on."""
    effects: Consequences = ()
    keys: ProfileKeys = ()
    if legal_penalty.penalty == "foul":
        effects, keys = _foul_consequences(profile, charge)
    elif legal_penalty.penalty == "match_forfeit":
        # The other side may keep its better score (seed 000 A15.3.4).
        effects = (MatchLost(charge.side),)
    elif legal_penalty.penalty == "disqualification":
        # The match is lost at the fixed score (seed 000 A15.3.5).
        effects = (MatchLost(charge.side), PairDisqualified(charge.pair))
    keys = (*legal_penalty.keys, *(key for key in keys if key not in legal_penalty.keys))
    if charge.seat is not None:
        if legal_penalty.dead_hand:
            effects = (*effects, DeadHand(charge.seat))
        if legal_penalty.turn_loss is not None:
            effects = (*effects, TurnLost(charge.seat, legal_penalty.turn_loss == "trick"))
    return effects, keys


def consequence_words(effect: Consequence, earlier: int | None = None) -> Words:
    """Return the text for `effect`, which is one consequence of a penalty.

    `earlier`: the number of the deal that the consequence is for, if a later deal is in progress.
    """
    name = str(effect.__struct_config__.tag)
    if earlier is not None and isinstance(effect, DealLost | DeadHand):
        name = f"earlier_{name}"
    if isinstance(effect, TurnLost) and effect.whole_trick:
        name = "trick_lost"
    said, text = msgspec.structs.asdict(effect) | {"deal": earlier}, catalogue_words("effect", name)
    told = {
        key: SIGNER_NAMES.get(value) or Words(str(value), str(value)) for key, value in said.items()
    }
    if isinstance(effect, LevelUp | LevelDown):
        told["levels"] = level_change_words(
            effect.steps if isinstance(effect, LevelUp) else -effect.steps
        )
    english, chinese = (
        {key: getattr(value, language) for key, value in told.items()} for language in ("en", "zh")
    )
    return Words(text.en.format(**english), text.zh.format(**chinese))


def penalty_words(penalty: Penalty, effects: Consequences) -> Words:
    """Return the name of a penalty, or of the lost turn or dead hand if the penalty is "none".

    If the penalty is "none" and nothing is lost, its name is returned.
    """
    lost = []
    for effect in effects:
        if isinstance(effect, TurnLost):
            lost.append(catalogue_words("also", "trick" if effect.whole_trick else "turn"))
        elif isinstance(effect, DeadHand):
            lost.append(catalogue_words("also", "dead_hand"))
    if penalty != "none" or not lost:
        return catalogue_words("penalty", penalty)
    return Words(", ".join(one.en for one in lost), "，".join(one.zh for one in lost))


def _foul_consequences(profile: GuandanProfile, charge: Charge) -> tuple[Consequences, ProfileKeys]:
    """Return the consequences of a foul, and the keys of the profile that define them.

    They are a lost deal (seed 000 A15.3.3), or changes of level (seed 003 R6.2–3).
    """
    rules, side = profile.penalties, charge.side
    if find_offence(charge.offence).trait == "hidden" and rules.hidden == "levels":
        theirs, own = rules.hidden_levels
        effects = (LevelUp(other_side(side), theirs), LevelDown(side, own))
        return effects, ("penalties.hidden", "penalties.hidden_levels")
    if rules.foul == "level":
        effect = LevelUp(other_side(side), rules.foul_levels)
        return (effect,), ("penalties.foul", "penalties.foul_levels")
    return (DealLost(side),), ("penalties.foul",)


CHIEF_PENALTIES: frozenset[Penalty] = frozenset({"foul", "match_forfeit", "disqualification"})
"""Penalties that only the chief may give, under every article (seed 000 A15.2.2)."""

ProposalAuthority = Literal["referee", "chief"]


class PenaltyProposal(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A possible ruling on a charge (an accusation), which a person accepts or not.

    `needs`: the role that may give it. `article`: the article of the penalty, None if the rulebook
    has none. `provisional`: a part of the ruling is only proposed and in no rulebook. `effects`:
    the consequences that the match applies. `keys`: the rules of the profile that the ruling
    depends on.
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
    """Return proposals for all rulings that the rules allow for a charge, the usual one first.

    The usual one is the penalty of the ladder. A foul or a higher penalty needs the chief, and so
    does every choice except the first (seed 000 A15.2). If the right to a penalty may have lapsed,
    one of the choices is no penalty. A dispute about the lapse needs the chief. If the players
    settled the case and it is closed or recognised, the first choice is no penalty. Raises
    LookupError for an unknown offence.
    """
    found = legal_penalties(profile, record, charge)
    if charge.settled_by_players and profile.penalties.settled_by_players == "closed":
        return (_settled_proposal(profile, charge, "settled_closed"),)
    if charge.settled_by_players == "recognised":
        waived = _settled_proposal(profile, charge, "settled_recognised")
        # Seed 000 A15.3.6. The required role does not change: a foul and a choice need the chief.
        text, article = catalogue_words("why", "settled_recognised"), profile.article(SETTLED_KEY)
        accepted = _ladder_proposals(
            profile,
            charge,
            tuple(
                replace(
                    one,
                    why=Words(f"{text.en}: {one.why.en}", f"{text.zh}：{one.why.zh}"),
                    article=", ".join(known for known in (article, one.article) if known) or None,
                    keys=(SETTLED_KEY, *one.keys),
                )
                for one in found
            ),
        )
        return (waived, *(one for one in accepted if one.penalty != "none" or one.effects))
    proposals = _ladder_proposals(profile, charge, found)
    reasons = lapse_reasons(charge)
    if not reasons:
        return proposals
    # The right to a penalty may have lapsed (seed 000 A15.3.8).
    articles = [lapse_article(profile, reason) for reason in reasons]
    known = ", ".join(article for article in articles if article)
    way = LegalPenalty(penalty="none", article=known or None, why=catalogue_words("why", "lapsed"))
    return (*proposals, _make_proposal(profile, charge, way, chief=charge.lapse_disputed))


def discretionary_proposal(
    profile: GuandanProfile, charge: Charge, penalty: Penalty
) -> PenaltyProposal:
    """Return a proposal with the penalty that the chief chose freely. Source: seed 000 A15.3.7."""
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
    """Return a proposal to give no penalty, because the players settled the case.

    Source: seed 000 A15.3.6, 004 rule B.
    """
    article = profile.article(SETTLED_KEY)
    way = LegalPenalty(
        penalty="none", article=article, why=catalogue_words("why", why), keys=(SETTLED_KEY,)
    )
    return _make_proposal(profile, charge, way, chief=False)


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
    """Return one line about the penalty `way`: its reason, its name and its article.

    If there is no article, the line states that the penalty is only a proposal.
    """
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
