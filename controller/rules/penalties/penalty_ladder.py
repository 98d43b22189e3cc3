"""The legal penalties for a charge, which depend on earlier penalties in the record.

An offence has a ladder of penalties, one step for each repetition. Earlier penalties can raise the
penalty further. legal_penalties() is the entry point. The functions that begin with `count_` count
earlier offences.
"""

from collections.abc import Callable, Iterable
from typing import Literal

import msgspec
from msgspec.structs import replace

from controller.rules.penalties.charges import Charge
from controller.rules.penalties.offences import (
    ArticleByCatalogue,
    Offence,
    OffenceLadder,
    OffenceTrait,
    PenaltyOption,
    TurnLoss,
    catalogue_words,
    find_offence,
    offence_catalogue,
)
from controller.rules.penalties.penalty_record import (
    CountScope,
    Penalty,
    PenaltyRecord,
    earlier_entries,
)
from controller.rules.profile import GuandanProfile
from controller.words import Words

EarlierCount = Callable[[PenaltyRecord, Charge, Offence], int | None]
"""The number of earlier cases, or None if the rung does not apply to the offence."""


def count_violations(record: PenaltyRecord, charge: Charge, row: Offence) -> int | None:
    """Return how often the pair already got the penalty "violation" in this tournament round.

    Return None if the charge is for the pair's first disturbance in this round. The penalty is then
    not raised. For a later disturbance, the earlier disturbances count too. Seed 000 A15.3.3 ①:
    the limit is the second violation or disturbance.
    """
    before = earlier_entries(record, charge, "pair", "round")
    disturbs = row.trait == "disturbance"
    if disturbs and all(entry.offence != row.id for entry in before):
        return None
    return sum(
        entry.penalty == "violation" or (disturbs and entry.offence == row.id) for entry in before
    )


def count_warnings_out_of_turn(record: PenaltyRecord, charge: Charge, row: Offence) -> int | None:
    """Return how often the side was already warned for play out of turn in this deal.

    Return None if the charge is for another kind of offence. After a foul for the same offence, the
    count begins again at 0. Source: seed 003 R6.2.
    """
    if row.trait != "out_of_turn":
        return None
    such = {one.id for one in offence_catalogue().values() if one.trait == row.trait}
    since = 0
    for entry in earlier_entries(record, charge, "side", "deal"):
        if entry.penalty == "foul" and entry.offence == row.id:
            since = 0
        since += entry.penalty == "warning" and entry.offence in such
    return since


def count_hidden_cards(record: PenaltyRecord, charge: Charge, row: Offence) -> int | None:
    """Return how often the side hid cards earlier in this match.

    Return None if the charge is for another kind of offence. Source: seed 003 R6.3.
    """
    if row.trait != "hidden":
        return None
    return sum(
        entry.offence == row.id for entry in earlier_entries(record, charge, "side", "match")
    )


def counter_of_penalty(
    penalty: Penalty, counted: Literal["pair", "side"], scope: CountScope
) -> EarlierCount:
    """Return a function that counts how often a pair or side got `penalty` earlier in `scope`."""

    def count(record: PenaltyRecord, charge: Charge, row: Offence) -> int:
        return sum(
            entry.penalty == penalty for entry in earlier_entries(record, charge, counted, scope)
        )

    return count


HARM_ARTICLES: ArticleByCatalogue = {"000": "A15.3.3②"}
"""The articles for a foul without a ladder: a plain and grave act that harmed the other side."""


class LegalPenalty(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """A penalty that the rules allow, with its reason.

    `gap`: the part that no rulebook states, None if there is no such part. `keys`: the rules of the
    profile that the penalty depends on.
    """

    penalty: Penalty
    article: str | None
    why: Words
    keys: tuple[str, ...] = ()
    turn_loss: TurnLoss | None = None
    dead_hand: bool = False
    needs_chief: bool = False
    gap: Literal["silent", "scope_silent"] | None = None


def legal_penalties(
    profile: GuandanProfile, record: PenaltyRecord, charge: Charge
) -> tuple[LegalPenalty, ...]:
    """Return all penalties that the rules allow for a charge.

    The first is the penalty of the ladder, raised as the record requires. The others follow. Raises
    LookupError for an offence that is not in the catalogue.
    """
    row = find_offence(charge.offence)
    step = _step_penalties(profile, record, charge, row)
    ladder, *others = _BY_TRAIT.get(row.trait, _add_direct_foul)(profile, charge, row, step)
    found = [*reversed(_raised_by_record(profile, record, charge, ladder)), ladder]
    for other in others:
        found += [other, *_raised_by_record(profile, record, charge, other)]
    return _first_of_each_penalty(found)


def _first_of_each_penalty(found: Iterable[LegalPenalty]) -> tuple[LegalPenalty, ...]:
    once: dict[Penalty, LegalPenalty] = {}
    for one in found:
        once.setdefault(one.penalty, one)
    return tuple(once.values())


def _step_penalties(
    profile: GuandanProfile, record: PenaltyRecord, charge: Charge, row: Offence
) -> tuple[LegalPenalty, ...]:
    """Return the penalties of the ladder step that applies to the charged offence.

    The step follows from earlier offences in the record, or a clock has set it in the charge.
    """
    ladder = row.ladder(profile.penalties.catalogue)
    at, number = _reached_step(record, charge, row, ladder)
    template = "counted"
    if ladder.scope == "occasion":
        template = "once" if charge.step is None else "step"
    party = catalogue_words("counted", ladder.counted_for_step(at))
    scope, text = catalogue_words("scope", ladder.scope), catalogue_words("why", template)
    why = Words(
        text.en.format(offence=row.en, number=number, counted=party.en, scope=scope.en),
        text.zh.format(offence=row.zh, number=number, counted=party.zh, scope=scope.zh),
    )
    # Without a count, the scope of the count does not matter.
    counted = at > 0 and charge.step is None
    unsaid = counted and profile.penalties.catalogue not in row.scope_articles
    return tuple(
        _penalty_from_option(profile, row, option, why, unsaid) for option in ladder.steps[at]
    )


def _reached_step(
    record: PenaltyRecord, charge: Charge, row: Offence, ladder: OffenceLadder
) -> tuple[int, int]:
    """Return the index of the ladder step to apply, and the number of this offence (from 1)."""

    def nth(at: int) -> int:
        before = earlier_entries(record, charge, ladder.counted_for_step(at), ladder.scope)
        return 1 + sum(entry.offence == row.id for entry in before)

    times = [charge.step or nth(at) for at in range(len(ladder.steps))]
    reached = max(at for at, number in enumerate(times) if number > at)
    return reached, times[reached]


def _penalty_from_option(
    profile: GuandanProfile, row: Offence, option: PenaltyOption, why: Words, unsaid: bool
) -> LegalPenalty:
    if option.key is not None:
        article = profile.article(option.key)
    else:
        articles = row.articles if option.articles is None else option.articles
        article = articles.get(profile.penalties.catalogue)
    keys = [option.key] if option.key is not None else []
    turn_loss: TurnLoss | None
    match option.loses:
        case "out_of_turn_skips" | "delay_skips" as key:
            turn_loss = "trick" if getattr(profile.penalties, key) == "trick" else "turn"
            keys.append(f"penalties.{key}")
        case lost:
            turn_loss = lost
    return LegalPenalty(
        penalty=option.penalty,
        article=article,
        why=why,
        keys=tuple(keys),
        turn_loss=turn_loss,
        dead_hand=option.dead_hand,
        needs_chief=option.chief,
        gap=_rulebook_gap(article, unsaid),
    )


def _rulebook_gap(article: str | None, unsaid: bool) -> Literal["silent", "scope_silent"] | None:
    if article is None:
        return "silent"
    return "scope_silent" if unsaid else None


# -- rules from keys of the profile, in addition to the catalogue --------------


LegalPenalties = tuple[LegalPenalty, ...]


def _add_direct_foul(
    profile: GuandanProfile, charge: Charge, row: Offence, step: LegalPenalties
) -> LegalPenalties:
    article = HARM_ARTICLES.get(profile.penalties.catalogue)
    why, gap = _offence_reason("harmed", row), _rulebook_gap(article, False)
    foul = LegalPenalty(penalty="foul", article=article, why=why, gap=gap)
    return _put_foul_first_if_harmed(charge, row, foul, step)


def _put_foul_first_if_harmed(
    charge: Charge, row: Offence, foul: LegalPenalty, step: LegalPenalties
) -> LegalPenalties:
    """Return the penalties `step`, with `foul` first if the offence is a direct foul and did harm.

    Source: seed 000 A15.3.3 ②.
    """
    return _first_of_each_penalty((foul, *step)) if charge.harmed and row.direct_foul else step


def _hidden_card_penalties(
    profile: GuandanProfile, charge: Charge, row: Offence, step: LegalPenalties
) -> LegalPenalties:
    """Return the penalties `step` for hiding cards, changed as the profile's rulebook requires.

    Under seed 000 hiding is a foul if it did harm. Other texts have a fixed penalty, which
    does not depend on harm. Seed 003 R6.3: levels. Seed 004 D: disqualification. Under such a text
    there is no warning and no violation.
    """
    how = profile.penalties.hidden
    named = _penalty_from_key(profile, _HIDDEN_CARD_PENALTY[how], "penalties.hidden", step[0].why)
    if how != "foul":
        return _first_of_each_penalty(
            (named, *(one for one in step if one.penalty not in _LESSER_PENALTIES))
        )
    foul = replace(named, why=_offence_reason("harmed", row))
    step = tuple(named if one.penalty == "foul" else one for one in step)
    return _put_foul_first_if_harmed(charge, row, foul, step)


_HIDDEN_CARD_PENALTY: dict[str, Penalty] = {
    "foul": "foul",
    "levels": "foul",
    "disqualified": "disqualification",
}
_LESSER_PENALTIES: frozenset[Penalty] = frozenset({"none", "warning", "violation"})


def _late_penalties(
    profile: GuandanProfile, charge: Charge, row: Offence, step: LegalPenalties
) -> LegalPenalties:
    why = _offence_reason(f"late_{profile.clocks.late_then}", row)
    if profile.clocks.late_then == "default":
        return (_penalty_from_key(profile, "match_forfeit", "clocks.late_then", why),)
    return tuple(replace(one, why=why) for one in step)


_BY_TRAIT: dict[
    OffenceTrait | None, Callable[[GuandanProfile, Charge, Offence, LegalPenalties], LegalPenalties]
] = {"hidden": _hidden_card_penalties, "late": _late_penalties}


def _penalty_from_key(
    profile: GuandanProfile, penalty: Penalty, key: str, why: Words
) -> LegalPenalty:
    article = profile.article(key)
    return LegalPenalty(
        penalty=penalty, article=article, why=why, keys=(key,), gap=_rulebook_gap(article, False)
    )


def _offence_reason(template: str, row: Offence) -> Words:
    text = catalogue_words("why", template)
    return Words(text.en.format(offence=row.en), text.zh.format(offence=row.zh))


# -- effect of the record -----------------------------------------------------


class LadderRung(msgspec.Struct, frozen=True):
    """A rule: the penalty `below` becomes the higher penalty `above` after enough repetitions.

    `limit`: the key of the profile with the number of repetitions. `count` counts earlier cases.
    """

    below: Penalty
    above: Penalty
    limit: str
    count: EarlierCount


LADDER_RUNGS = (
    LadderRung("warning", "foul", "out_of_turn_warnings_to_foul", count_warnings_out_of_turn),
    LadderRung("violation", "foul", "violations_to_foul", count_violations),
    LadderRung("foul", "match_forfeit", "hidden_to_loss", count_hidden_cards),
    LadderRung(
        "foul", "match_forfeit", "fouls_to_forfeit", counter_of_penalty("foul", "side", "match")
    ),
    LadderRung(
        "match_forfeit",
        "disqualification",
        "forfeits_to_disqualify",
        counter_of_penalty("match_forfeit", "pair", "event"),
    ),
)
"""The rungs from the lowest to the highest. A raised penalty can reach the next rung."""


def _raised_by_record(
    profile: GuandanProfile, record: PenaltyRecord, charge: Charge, one: LegalPenalty
) -> tuple[LegalPenalty, ...]:
    """Return the higher penalties that replace `one` because of earlier penalties, lowest first.

    The result is empty if the penalty is not raised.
    """
    raised: tuple[LegalPenalty, ...] = ()
    penalty, row = one.penalty, find_offence(charge.offence)
    for rung in LADDER_RUNGS:
        limit: int = getattr(profile.penalties, rung.limit)
        before = rung.count(record, charge, row) if limit and rung.below == penalty else None
        if before is not None and before + 1 >= limit:
            text = catalogue_words("why", rung.limit)
            why = Words(text.en.format(number=before + 1), text.zh.format(number=before + 1))
            key = f"penalties.{rung.limit}"
            raised = (*raised, _penalty_from_key(profile, rung.above, key, why))
            penalty = rung.above
    return raised
