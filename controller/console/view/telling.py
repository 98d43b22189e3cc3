"""What the tellers of a table's entries are made of: lines in both languages, words for values."""

from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from controller.console.view import called
from controller.console.view.called import join_words, name_of
from controller.faults import fault_catalogue
from controller.rules.order import BIG_JOKER_VALUE, LEVEL_VALUE, SMALL_JOKER_VALUE, rank_text
from controller.rules.seat_words import SEAT_NAMES
from controller.signer_names import decided_by_words
from controller.words import Words


class DealContext(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """What was told of the present deal so far. `outs`: who is out, in turn.

    `whole`: it was told from its beginning, so that places are known. `by_hand`: no machine
    tells of its cut and its hands. `charged`: the deal of each ruling's offence, by the ruling's
    id: a ruling may be decided in a later deal.
    """

    whole: bool = False
    by_hand: bool = False
    outs: tuple[str, ...] = ()
    charged: Mapping[str, int] = {}


EventData = Mapping[str, Any]
DescribeEvent = Callable[[EventData, DealContext], Words]


def fault_words(names: Any) -> Words:
    """Return the causes of faults in one line; one that nobody knows as it is called."""
    return join_words(_cause(str(name)) for name in names)


def _cause(name: str) -> Words:
    row = fault_catalogue().get(name)
    return Words(name, name) if row is None else Words(row.cause(), row.cause(language="zh"))


def value_words(counts: Any) -> Words:
    """Return a card's value: a rank, the level's, or a joker."""
    named = _VALUES.get(counts)
    if named is not None:
        return named
    rank = rank_text(counts) if isinstance(counts, int) and 2 <= counts <= 14 else str(counts)
    return Words(rank, rank)


_VALUES: Final = {
    LEVEL_VALUE: Words("the level card", "级牌"),
    SMALL_JOKER_VALUE: Words("small joker", "小王"),
    BIG_JOKER_VALUE: Words("big joker", "大王"),
}


def constant_line(en: str, zh: str) -> DescribeEvent:
    """Return a teller that says the same of every entry."""
    return lambda data, before: Words(en, zh)


def seat_line(en: str, zh: str) -> DescribeEvent:
    """Return a teller with the seat in its line."""

    def tell(data: EventData, before: DealContext) -> Words:
        who = name_of(SEAT_NAMES, data.get("seat"))
        return Words(en.format(seat=who.en), zh.format(seat=who.zh))

    return tell


def reason_line(en: str, zh: str, field: str = "reason") -> DescribeEvent:
    """Return a teller with a reason, and who answers for it where that is said."""

    def tell(data: EventData, before: DealContext) -> Words:
        why, by = data.get(field, ""), decided_by_words(data.get("by", ""), data.get("entered_by"))
        said = Words(f" ({by.en})", f"（{by.zh}）") if by.en else by
        return Words(f"{en}: {why}{said.en}", f"{zh}：{why}{said.zh}")

    return tell


def add_leader(words: Words, seat: Any, turned_up: Any) -> Words:
    """Return a line with who leads, by which card, where that is known."""
    if seat is None:
        return words
    who = name_of(SEAT_NAMES, seat)
    if turned_up is None:
        return Words(f"{words.en}, {who.en} leads", f"{words.zh}，{who.zh}先出")
    card = called.card_name(turned_up)
    return Words(
        f"{words.en}; {card.en}, {who.en} leads", f"{words.zh}；翻牌{card.zh}，{who.zh}先出"
    )


def template_line(en: str, zh: str, **tables: Mapping[str, Words]) -> DescribeEvent:
    """Return a teller that fills a line with the data's fields, words of `tables` for theirs."""

    def tell(data: EventData, before: DealContext) -> Words:
        named = {name: name_of(table, data.get(name)) for name, table in tables.items()}
        named |= (
            {"by": decided_by_words(data["by"], data.get("entered_by"))} if "by" in data else {}
        )
        own = {name: shorten(value) for name, value in data.items() if name not in named}
        return Words(
            en.format(**own, **{name: words.en for name, words in named.items()}),
            zh.format(**own, **{name: words.zh for name, words in named.items()}),
        )

    return tell


def shorten(value: Any) -> Any:
    """Return a long hash by its beginning, anything else as it is."""
    return f"{value[:8]}…" if isinstance(value, str) and len(value) == 64 else value
