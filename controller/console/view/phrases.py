"""Texts in English and Chinese: names, and functions that describe journal entries.

The Chinese terms are those of referees: 放行 is to release the hands, 一套牌 is a set, and 副 is a
deal.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any, Final

import msgspec

from controller.cards import face_text, parse_face
from controller.faults import fault_catalogue
from controller.rules.penalties.offences import find_offence
from controller.rules.profile_files import load_profile, profile_names
from controller.rules.ranks import BIG_JOKER_VALUE, LEVEL_VALUE, SMALL_JOKER_VALUE, rank_text
from controller.seats import SEAT_NAMES
from controller.words import Words, decided_by_words

NO_WORDS: Final = Words("", "")
CORRECTION_CHOICES: Final[Mapping[str, Words]] = {
    "from_now": Words("the corrected levels count from now on", "从现在起按更正后的级数"),
    "void_later": Words("the later deals are void", "其后各副作废"),
    "stand": Words("the result stays as it was", "维持原成绩"),
}
PLACE_NAMES: Final = (
    Words("UP", "上游"),
    Words("2ND", "二游"),
    Words("3RD", "三游"),
    Words("LAST", "下游"),
)
RESULT_CLASSES: Final[Mapping[str, Words]] = {
    "R12": Words("R12", "双下"),
    "R13": Words("R13", "上游和三游"),
    "R14": Words("R14", "上游和下游"),
}


def name_of(table: Mapping[str, Words], name: object) -> Words:
    """Return the words for `name` in the dictionary `table`, or `name` itself if it has none."""
    return table.get(str(name)) or Words(str(name), str(name))


@lru_cache(maxsize=64)
def rulebook_name(name: str) -> Words:
    """Return the title of a rulebook. An unknown name is returned unchanged."""
    if name not in profile_names():
        return Words(name, name)
    profile = load_profile(name)
    return Words(profile.title_en, profile.title_zh)


def join_words(named: Iterable[Words]) -> Words:
    """Join several texts with commas into one text, in each of the two languages."""
    told = tuple(named)
    return Words(", ".join(one.en for one in told), "、".join(one.zh for one in told))


def card_name(text: object) -> Words:
    """Return a card's name, for example ♠A or small joker. Unknown text stays unchanged."""
    try:
        face = face_text(parse_face(str(text)))
    except ValueError:
        return Words(str(text), str(text))
    return name_of(JOKERS, face)


JOKERS: Final[Mapping[str, Words]] = {
    "SJ": Words("small joker", "小王"),
    "BJ": Words("big joker", "大王"),
}


class DealContext(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """Facts about the present deal, from earlier entries. `outs`: seats without cards, in order.

    `whole`: the entries begin with the deal, so places are known. `by_hand`: the deal is dealt by
    hand, so no entry of the machine describes its cut and its hands. `charged`: the deal of each
    ruling's offence by the ruling's id, because a ruling may be decided in a later deal.
    """

    whole: bool = False
    by_hand: bool = False
    outs: tuple[str, ...] = ()
    charged: Mapping[str, int] = {}


EventData = Mapping[str, Any]
DescribeEvent = Callable[[EventData, DealContext], Words]


def fault_words(names: Any) -> Words:
    """Return the causes of the named faults in one line. An unknown name stays unchanged."""
    return join_words(fault_cause(str(name)) for name in names)


def fault_cause(name: str, evidence: Mapping[str, Any] | None = None) -> Words:
    """Return the text of a fault's cause with its evidence. An unknown name stays unchanged."""
    row = fault_catalogue().get(name)
    return (
        Words(name, name) if row is None else Words(row.cause(evidence), row.cause(evidence, "zh"))
    )


def offence_words(name: str) -> Words:
    """Return the text of an offence by its name. An unknown name is returned unchanged."""
    try:
        row = find_offence(name)
    except LookupError:
        return Words(name, name)
    return Words(row.en, row.zh)


def value_words(counts: Any) -> Words:
    """Return the words for the card value `counts`: a rank, the level card, or a joker."""
    if (named := _VALUES.get(counts)) is not None:
        return named
    rank = rank_text(counts) if isinstance(counts, int) and 2 <= counts <= 14 else str(counts)
    return Words(rank, rank)


_VALUES: Final = {
    LEVEL_VALUE: Words("the level card", "级牌"),
    SMALL_JOKER_VALUE: Words("small joker", "小王"),
    BIG_JOKER_VALUE: Words("big joker", "大王"),
}


def constant_line(en: str, zh: str) -> DescribeEvent:
    """Return a function that returns the same line for every entry."""
    return lambda data, before: Words(en, zh)


def seat_line(en: str, zh: str) -> DescribeEvent:
    """Return a function that replaces {seat} in a text by the event's seat."""
    return template_line(en, zh, seat=SEAT_NAMES)


def reason_line(en: str, zh: str) -> DescribeEvent:
    """Return a function that adds an event's reason and the decider's name, if known, to a text."""

    def tell(data: EventData, before: DealContext) -> Words:
        why = data.get("reason", "")
        by = decided_by_words(data.get("by", ""), data.get("entered_by"))
        said = Words(f" ({by.en})", f"（{by.zh}）") if by.en else by
        return Words(f"{en}: {why}{said.en}", f"{zh}：{why}{said.zh}")

    return tell


def leader_line(en: str, zh: str, field: str = "turned_to") -> DescribeEvent:
    """Return a function that adds an event's leader and, if known, the turned-up card to a text.

    `field`: the event's field with the leader. Without a leader, the text is unchanged.
    """

    def tell(data: EventData, before: DealContext) -> Words:
        seat, turned_up = data.get(field), data.get("turned_up")
        if seat is None:
            return Words(en, zh)
        who = name_of(SEAT_NAMES, seat)
        if turned_up is None:
            return Words(f"{en}, {who.en} leads", f"{zh}，{who.zh}先出")
        card = card_name(turned_up)
        return Words(f"{en}; {card.en}, {who.en} leads", f"{zh}；翻牌{card.zh}，{who.zh}先出")

    return tell


WordsOf = Mapping[str, Words] | Callable[[Any], Words]
"""The words for the values of a field: a table, or a function of the value."""


def template_line(en: str, zh: str, **fields: WordsOf) -> DescribeEvent:
    """Return a function that replaces each {field} in a text by the event's value of that field.

    `fields`: the words for the values of some fields. Other fields are inserted as they are.
    """

    def tell(data: EventData, before: DealContext) -> Words:
        named = {
            name: words(data.get(name)) if callable(words) else name_of(words, data.get(name))
            for name, words in fields.items()
        }
        if "by" in data and "by" not in named:
            named["by"] = decided_by_words(data["by"], data.get("entered_by"))
        return Words(
            en.format(**{**data, **{name: words.en for name, words in named.items()}}),
            zh.format(**{**data, **{name: words.zh for name, words in named.items()}}),
        )

    return tell


def words_if(en: str, zh: str, otherwise: Words = NO_WORDS) -> Callable[[Any], Words]:
    """Return a function that returns `en` and `zh` for a true value, and else `otherwise`."""
    return lambda value: Words(en, zh) if value else otherwise


def optional_words(en: str, zh: str, words_of: Callable[[Any], Words]) -> Callable[[Any], Words]:
    """Return a function that replaces {} in a text by a value's words. None and "" give no text."""

    def tell(value: Any) -> Words:
        if value in (None, ""):
            return NO_WORDS
        words = words_of(value)
        return Words(en.format(words.en), zh.format(words.zh))

    return tell


def cut_words(cards: object, seat: object) -> Words:
    """Return how many cards were cut, and by which seat if it is known."""
    if seat is None:
        return Words(f"cut at {cards} cards", f"切牌{cards}张")
    who = name_of(SEAT_NAMES, seat)
    return Words(f"{who.en} cut {cards} cards", f"{who.zh}切{cards}张")


def shorten(value: Any) -> Words:
    """Return the first 8 of the 64 characters of a hash, or any other value unchanged."""
    short = f"{value[:8]}…" if isinstance(value, str) and len(value) == 64 else str(value)
    return Words(short, short)
