"""Which penalties are legal for a charge: the ladder's first, then the others.

An offence has steps of its own (offences.toml); above them stand the rungs that every
offence can reach: a second violation is a foul, a third foul loses the match, a second lost
match expels. How often is too often is the profile's.
"""

from collections.abc import Iterable
from typing import Literal

import msgspec

from controller.rules import counts
from controller.rules.charges import Charge
from controller.rules.offences import (
    Articles,
    Loses,
    Offence,
    Option,
    Own,
    Words,
    offence,
    words,
)
from controller.rules.profile import GuandanProfile
from controller.rules.records import Penalty, Record, earlier

HARMED: Articles = {"000": "A15.3.3②"}
"""Where a foul without a ladder stands: what was plain, grave and harmed the other side."""


class Legal(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """A legal penalty, and why. `proposed`: what of it no rulebook says, None for nothing.

    `key`: the profile's rule it rests on.
    """

    penalty: Penalty
    article: str | None
    why: Words
    key: str | None = None
    loses: Loses | None = None
    dead_hand: bool = False
    chief: bool = False
    proposed: Literal["silent", "scope_silent"] | None = None


def legal(profile: GuandanProfile, record: Record, charge: Charge) -> tuple[Legal, ...]:
    """Return the legal penalties: the ladder's, raised as the record asks, then the others.

    Raises LookupError for an offence that is not in the catalogue.
    """
    row = offence(charge.offence)
    step = _by_trait(profile, row, _step(profile, record, charge, row))
    if charge.harmed and row.direct_foul:
        step = _each_once((_direct_foul(profile, row), *step))
    ladder, *others = step
    found = [*reversed(_raised(profile, record, charge, ladder)), ladder]
    for other in others:
        found += [other, *_raised(profile, record, charge, other)]
    return _each_once(found)


def _each_once(found: Iterable[Legal]) -> tuple[Legal, ...]:
    once: dict[Penalty, Legal] = {}
    for one in found:
        once.setdefault(one.penalty, one)
    return tuple(once.values())


def _step(
    profile: GuandanProfile, record: Record, charge: Charge, row: Offence
) -> tuple[Legal, ...]:
    """Return the options of the offence's own step, counted from the record or by a clock."""
    ladder = row.ladder(profile.penalties.catalogue)
    same = [entry for entry in _before(record, charge, ladder) if entry.offence == row.id]
    number = charge.step or len(same) + 1
    why = _why(row, ladder, charge, number)
    unsaid = bool(same) and profile.penalties.catalogue not in row.scope_articles
    options = ladder.steps[min(number, len(ladder.steps)) - 1]
    return tuple(_option(profile, row, option, why, unsaid) for option in options)


def _before(record: Record, charge: Charge, ladder: Own) -> Record:
    return earlier(record, charge, ladder.counted, ladder.scope)


def _option(
    profile: GuandanProfile, row: Offence, option: Option, why: Words, unsaid: bool
) -> Legal:
    if option.key is not None:
        article = profile.article(option.key)
    else:
        articles = row.articles if option.articles is None else option.articles
        article = articles.get(profile.penalties.catalogue)
    return Legal(
        penalty=option.penalty,
        article=article,
        why=why,
        key=option.key,
        loses=option.loses,
        dead_hand=option.dead_hand,
        chief=option.chief,
        proposed=_proposed(article, unsaid),
    )


def _proposed(article: str | None, unsaid: bool) -> Literal["silent", "scope_silent"] | None:
    if article is None:
        return "silent"
    return "scope_silent" if unsaid else None


def _why(row: Offence, ladder: Own, charge: Charge, number: int) -> Words:
    template = "counted"
    if ladder.scope == "occasion":
        template = "once" if charge.step is None else "step"
    counted, scope = words("counted", ladder.counted), words("scope", ladder.scope)
    text = words("why", template)
    return Words(
        text.en.format(offence=row.en, number=number, counted=counted.en, scope=scope.en),
        text.zh.format(offence=row.zh, number=number, counted=counted.zh, scope=scope.zh),
    )


# -- what a key of the profile says beside the catalogue ----------------------


def _by_trait(profile: GuandanProfile, row: Offence, step: tuple[Legal, ...]) -> tuple[Legal, ...]:
    if row.trait == "hidden":
        penalty = _HIDDEN[profile.penalties.hidden]
        first = _keyed(profile, penalty, "penalties.hidden", step[0].why)
        return _each_once((first, *step))
    if row.trait == "late":
        why = _named(f"late_{profile.clocks.late_then}", row)
        if profile.clocks.late_then == "default":
            return (_keyed(profile, "match_forfeit", "clocks.late_then", why),)
        return tuple(msgspec.structs.replace(one, why=why) for one in step)
    return step


_HIDDEN: dict[str, Penalty] = {
    "foul": "foul",
    "levels": "foul",
    "disqualified": "disqualification",
}


def _keyed(profile: GuandanProfile, penalty: Penalty, key: str, why: Words) -> Legal:
    article = profile.article(key)
    return Legal(
        penalty=penalty, article=article, why=why, key=key, proposed=_proposed(article, False)
    )


def _direct_foul(profile: GuandanProfile, row: Offence) -> Legal:
    article = HARMED.get(profile.penalties.catalogue)
    return Legal(
        penalty="foul",
        article=article,
        why=_named("harmed", row),
        proposed=_proposed(article, False),
    )


def _named(template: str, row: Offence) -> Words:
    text = words("why", template)
    return Words(text.en.format(offence=row.en), text.zh.format(offence=row.zh))


# -- what the record makes of it ----------------------------------------------


class Rung(msgspec.Struct, frozen=True):
    """`below`, once too often by the profile's `limit`, is `above`."""

    below: Penalty
    above: Penalty
    limit: str
    count: counts.Count


RUNGS = (
    Rung("warning", "foul", "out_of_turn_warnings_to_foul", counts.warnings_out_of_turn),
    Rung("violation", "foul", "violations_to_foul", counts.violations),
    Rung("foul", "match_forfeit", "hidden_to_loss", counts.hidden),
    Rung("foul", "match_forfeit", "fouls_to_forfeit", counts.given("foul", "side", "match")),
    Rung(
        "match_forfeit",
        "disqualification",
        "forfeits_to_disqualify",
        counts.given("match_forfeit", "pair", "event"),
    ),
)
"""From the lowest to the highest; one that was climbed leads to the next."""


def _raised(
    profile: GuandanProfile, record: Record, charge: Charge, one: Legal
) -> tuple[Legal, ...]:
    """Return what a penalty is raised to by what happened before, lowest first."""
    raised: tuple[Legal, ...] = ()
    penalty, row = one.penalty, offence(charge.offence)
    for rung in RUNGS:
        limit: int = getattr(profile.penalties, rung.limit)
        before = rung.count(record, charge, row) if limit and rung.below == penalty else None
        if before is not None and before + 1 >= limit:
            raised = (*raised, _climbed(profile, rung, before + 1))
            penalty = rung.above
    return raised


def _climbed(profile: GuandanProfile, rung: Rung, number: int) -> Legal:
    text = words("why", rung.limit)
    why = Words(text.en.format(number=number), text.zh.format(number=number))
    return _keyed(profile, rung.above, f"penalties.{rung.limit}", why)
