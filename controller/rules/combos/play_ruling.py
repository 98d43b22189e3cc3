"""The parts of a play ruling (the answer whether a play is legal), as values that become JSON."""

import msgspec

from controller.rules.combos.combo_rules import CitedRule
from controller.rules.profile import Profile


class RulingPart(msgspec.Struct, frozen=True, gc=False):
    """The base class of all parts of a play ruling."""


class LaidCard(RulingPart, frozen=True):
    """One card of a play as text. A wild card also has the text of the card that it replaces.

    `stands_for`: the card that this wild card replaces, else None. Neither text has a suit if the
    card was written without one, or if it stands for any suit.
    """

    card: str
    stands_for: str | None = None

    def __str__(self) -> str:
        """Return a text such as "♠7", or "8(♥2)" for the wild card ♥2 that replaces an 8."""
        return self.card if self.stands_for is None else f"{self.stands_for}({self.card})"


class ComboReading(RulingPart, frozen=True):
    """One combination that the cards of a play can form, as texts for people.

    `cards`: in the order in which they count and are laid. `decides`: the rank that decides between
    two combinations of this kind.
    """

    kind: str
    en: str
    zh: str
    cards: tuple[LaidCard, ...]
    decides: str
    size: int


class DeclaredCombo(RulingPart, frozen=True):
    """The combination that a player declared: kind, ranks, or both, and a text for people."""

    kind: str | None
    ranks: tuple[str, ...] | None
    en: str
    zh: str


class JudgedPlay(RulingPart, frozen=True):
    """One play, with all combinations that its cards can form, and the combination that is judged.

    `bare`: the cards that were written without a suit. `default`: the combination that counts
    without a declaration. `counts_as`: the combination that counts after the declaration. Each is
    None if the cards do not form it. `declaration_due`: the player had to declare.
    """

    play: str
    bare: tuple[str, ...]
    readings: tuple[ComboReading, ...]
    default: ComboReading | None
    counts_as: ComboReading | None
    declared: DeclaredCombo | None
    declaration_due: bool
    reasons: tuple[CitedRule, ...]


class PlayRuling(RulingPart, frozen=True, tag_field="type", tag="ruling"):
    """The answer to the question whether a play is legal, with the reasons.

    `table`: the play that `play` must beat, None if `play` is a lead. `event`: the tournament with
    regulations that override the rulebook. `provisional`: at least one reason is in no article of
    the rulebook or the regulations.
    """

    profile: str
    event: str | None
    level: str | None
    table: JudgedPlay | None
    play: JudgedPlay
    legal: bool
    en: str
    zh: str
    reasons: tuple[CitedRule, ...]
    provisional: bool


class ContainedKinds(RulingPart, frozen=True, tag_field="type", tag="containing"):
    """The kinds of combination in the cards of an illegal lead. An opponent selects one kind."""

    profile: str
    event: str | None
    level: str
    play: str
    bare: tuple[str, ...]
    kinds: tuple[str, ...]
    en: str
    zh: str
    reasons: tuple[CitedRule, ...]
    provisional: bool


def make_ruling(
    profile: Profile,
    level: str | None,
    play: JudgedPlay,
    table: JudgedPlay | None,
    legal: bool,
    reasons: tuple[CitedRule, ...],
) -> PlayRuling:
    """Return a play ruling with the given parts, and its result as a sentence in both languages."""
    en, zh = _ruling_sentence(play, table, legal)
    everything = (*(table.reasons if table else ()), *play.reasons, *reasons)
    return PlayRuling(
        profile=profile.name,
        event=profile.event.title_en if profile.event else None,
        level=level,
        table=table,
        play=play,
        legal=legal,
        en=en,
        zh=zh,
        reasons=reasons,
        provisional=any(one.provisional for one in everything),
    )


def reading_text(reading: ComboReading, chinese: bool = False) -> str:
    """Return a combination and its cards as text, for example "straight 4 5 6 7 8(♥2)"."""
    return f"{reading.zh if chinese else reading.en} {' '.join(map(str, reading.cards))}"


def _ruling_sentence(play: JudgedPlay, table: JudgedPlay | None, legal: bool) -> tuple[str, str]:
    for judged in (table, play):
        if judged and judged.counts_as is None:
            what = "is no combination", "不是合理牌型"
            if judged.default and judged.declared:
                what = f"is no {judged.declared.en}", f"不能算{judged.declared.zh}"
            return f"not legal: {judged.play} {what[0]}", f"不合法：{judged.play} {what[1]}"
    assert play.counts_as is not None  # The loop above has returned in the other case.
    en, zh = reading_text(play.counts_as), reading_text(play.counts_as, chinese=True)
    if table is None or table.counts_as is None:
        return f"legal: {en}", f"合法：{zh}"
    on_en, on_zh = reading_text(table.counts_as), reading_text(table.counts_as, chinese=True)
    if legal:
        return f"legal: {en} beats {on_en}", f"合法：{zh} 可压 {on_zh}"
    return f"not legal: {en} does not beat {on_en}", f"不合法：{zh} 压不住 {on_zh}"
