"""What a ruling on combinations says: values that become JSON, the same for both card games."""

import msgspec

from controller.rules.combos.articles import Reason


class Value(msgspec.Struct, frozen=True, gc=False):
    """A part of a ruling."""


class Reading(Value, frozen=True):
    """One combination that a play may be.

    `cards`: as they count and as they are laid, with "♥J(♥2)" for a wild ♥2 that stands
    for ♥J; `decides`: the rank that decides inside the kind, as people write it.
    """

    kind: str
    en: str
    zh: str
    cards: tuple[str, ...]
    decides: str
    size: int


class Judged(Value, frozen=True):
    """One play: everything it may be, and what it is.

    `default` counts where nothing is declared, `counts_as` after the declaration; either
    is None where the cards are nothing. `due`: the player had to declare.
    """

    play: str
    readings: tuple[Reading, ...]
    default: Reading | None
    counts_as: Reading | None
    declared: str | None
    declaration_due: bool
    reasons: tuple[Reason, ...]


class Ruling(Value, frozen=True):
    """Whether `play` is legal on `table`, or as a lead where that is None, and why.

    `provisional`: some reason of it is in no article of the profile's rulebook.
    """

    profile: str
    level: str | None
    table: Judged | None
    play: Judged
    legal: bool
    en: str
    zh: str
    reasons: tuple[Reason, ...]
    provisional: bool


class Containing(Value, frozen=True):
    """The kinds that an exposed play contains, of which its player has to lead the one named."""

    profile: str
    level: str
    play: str
    kinds: tuple[str, ...]
    en: str
    zh: str
    reasons: tuple[Reason, ...]
    provisional: bool


def rule(
    profile: str,
    level: str | None,
    play: Judged,
    table: Judged | None,
    legal: bool,
    reasons: tuple[Reason, ...],
) -> Ruling:
    """Return the ruling with its one sentence in both languages."""
    en, zh = _sentence(play, table, legal)
    everything = (*(table.reasons if table else ()), *play.reasons, *reasons)
    return Ruling(
        profile=profile,
        level=level,
        table=table,
        play=play,
        legal=legal,
        en=en,
        zh=zh,
        reasons=reasons,
        provisional=any(one.provisional for one in everything),
    )


def reading_text(reading: Reading, chinese: bool = False) -> str:
    """Return a reading as people say it: "straight 4 5 6 7 8(♥2)"."""
    return f"{reading.zh if chinese else reading.en} {' '.join(reading.cards)}"


def _sentence(play: Judged, table: Judged | None, legal: bool) -> tuple[str, str]:
    for judged in (table, play):
        if judged and judged.counts_as is None:
            what = "is no combination", "不是合理牌型"
            if judged.default:
                what = f"is no {judged.declared}", f"不能算{judged.declared}"
            return f"not legal: {judged.play} {what[0]}", f"不合法：{judged.play} {what[1]}"
    assert play.counts_as is not None  # the loop above has answered otherwise
    en, zh = reading_text(play.counts_as), reading_text(play.counts_as, chinese=True)
    if table is None or table.counts_as is None:
        return f"legal: {en}", f"合法：{zh}"
    on_en, on_zh = reading_text(table.counts_as), reading_text(table.counts_as, chinese=True)
    if legal:
        return f"legal: {en} beats {on_en}", f"合法：{zh} 可压 {on_zh}"
    return f"not legal: {en} does not beat {on_en}", f"不合法：{zh} 压不住 {on_zh}"
