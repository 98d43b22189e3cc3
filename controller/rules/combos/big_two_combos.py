"""The combinations of Big Two: which one a play forms, and which of two plays is higher.

If ranks are equal, suits decide (seed 002 A9.1). The cards of a play form at most one combination,
because there are no wild cards and the seed has no declarations.
"""

from collections import Counter
from collections.abc import Sequence
from functools import cache
from typing import Literal

import msgspec

from controller.cards import RANKS, SMALL_JOKER, SUITS, Face, composition, face_text
from controller.host import toml_files
from controller.rules.big_two import BigTwoComboRules
from controller.rules.combos.combo_rules import CitedRule
from controller.rules.combos.play_notation import TypedPlay, parse_play, play_text
from controller.rules.combos.play_ruling import (
    ComboReading,
    JudgedPlay,
    LaidCard,
    PlayRuling,
    make_ruling,
)
from controller.rules.profile import BigTwoProfile
from controller.rules.ranks import natural_rank, rank_text
from controller.words import Words

BigTwoKind = Literal[
    "single", "pair", "triple", "straight", "flush", "full_house", "four_one", "straight_flush"
]
FIVE_CARD_KINDS: tuple[BigTwoKind, ...] = (
    "straight",
    "flush",
    "full_house",
    "four_one",
    "straight_flush",
)
"""The kinds of five cards, low to high (seed 002 A9.4)."""

TWO_VALUE = 15
"""The value of a 2 among singles. It is higher than an ace (seed 002 A9.2)."""

USUAL_COMBO_RULES = BigTwoComboRules(
    a_low=True,
    two_in_straights=True,
    straights_by="natural",
    full_house_by="triple",
    four_one_by="four",
    five_cards="one_class",
)
"""The rules that apply if the caller passes no table of a profile: those of bigtwo-2017-002."""


class BigTwoKindName(msgspec.Struct, frozen=True, gc=False):
    """The names of a kind of combination, its number of cards, and the article that defines it."""

    en: str
    zh: str
    size: int
    article: str


BIG_TWO_KIND_NAMES: dict[BigTwoKind, BigTwoKindName] = {
    "single": BigTwoKindName("single", "单牌", 1, "002 A8.1"),
    "pair": BigTwoKindName("pair", "对子", 2, "002 A8.2"),
    "triple": BigTwoKindName("triple", "三张", 3, "002 A8.3"),
    "straight": BigTwoKindName("straight", "顺子", 5, "002 A8.4"),
    "flush": BigTwoKindName("flush", "同花", 5, "002 A8.5"),
    "full_house": BigTwoKindName("full house", "葫芦", 5, "002 A8.6"),
    "four_one": BigTwoKindName("four of a kind and one", "铁枝", 5, "002 A8.7"),
    "straight_flush": BigTwoKindName("straight flush", "同花顺", 5, "002 A8.8"),
}


class BigTwoCombo(msgspec.Struct, frozen=True, gc=False):
    """A combination of Big Two, with the rank and suit by which it is compared with another.

    `faces` are its cards from low to high. `rank` and `suit` belong to the card that decides within
    the kind: 3…14 for 3…A, 15 for a 2 (in a straight: the rank of its place). Suits: ♦ 0, ♣ 1, ♥ 2,
    ♠ 3.
    """

    kind: BigTwoKind
    rank: int
    suit: int
    faces: tuple[Face, ...]

    @property
    def size(self) -> int:
        """Return the number of cards in the combination."""
        return len(self.faces)


def single_value(face: Face) -> tuple[int, int]:
    """Return the value of a single card: its rank (3 lowest, 2 highest), then its suit.

    Suits: ♦ 0, ♣ 1, ♥ 2, ♠ 3. Source: seed 002 A9.1–2.
    """
    rank = natural_rank(face)
    return (TWO_VALUE if rank == 2 else rank), len(SUITS) - 1 - face // len(RANKS)


def readings(
    cards: Sequence[Face], combos: BigTwoComboRules = USUAL_COMBO_RULES
) -> tuple[BigTwoCombo, ...]:
    """Return the combination that the cards form, as a tuple of one, or () if they form none.

    A pack of 52 cards has no joker and no face twice. A play with a joker or with equal faces is
    therefore no combination.
    """
    if len(set(cards)) != len(cards) or any(face >= SMALL_JOKER for face in cards):
        return ()
    laid = tuple(sorted(cards, key=single_value))
    if len(laid) == 5:
        combo = _read_five_cards(laid, combos)
        return (combo,) if combo else ()
    kinds: dict[int, BigTwoKind] = {1: "single", 2: "pair", 3: "triple"}
    if len(laid) not in kinds or len({natural_rank(face) for face in laid}) != 1:
        return ()
    return (_combo(kinds[len(laid)], laid, laid),)


def can_beat(
    challenger: BigTwoCombo, on_table: BigTwoCombo, combos: BigTwoComboRules = USUAL_COMBO_RULES
) -> bool:
    """Return True if `challenger` has a kind that may follow `on_table`, and is higher."""
    return can_follow(challenger, on_table, combos) and compare_key(challenger) > compare_key(
        on_table
    )


def can_follow(
    challenger: BigTwoCombo, on_table: BigTwoCombo, combos: BigTwoComboRules = USUAL_COMBO_RULES
) -> bool:
    """Return True if the kind of `challenger` may follow the kind of `on_table`.

    A kind may follow itself. If `five_cards` is "one_class", five cards may follow any five. A9.4
    ranks the kinds, against the wording of A7 (provisional). Source: seed 002 A7, A9.3.
    """
    if combos.five_cards == "one_class" and challenger.kind in FIVE_CARD_KINDS:
        return on_table.kind in FIVE_CARD_KINDS
    return challenger.kind == on_table.kind


def compare_key(combo: BigTwoCombo) -> tuple[int, int, int]:
    """Return a sort key: the higher combination has the greater key. The key has the kind (only for
    five cards), then the rank and the suit of the deciding card.
    """
    place = FIVE_CARD_KINDS.index(combo.kind) if combo.kind in FIVE_CARD_KINDS else 0
    return place, combo.rank, combo.suit


def _read_five_cards(laid: tuple[Face, ...], combos: BigTwoComboRules) -> BigTwoCombo | None:
    run = _sequence_order(laid, combos)
    flush = len({face // len(RANKS) for face in laid}) == 1
    if run:
        deciding = run[-1:] if combos.straights_by == "natural" else laid
        return _combo("straight_flush" if flush else "straight", run, deciding)
    if flush:
        return _combo("flush", laid, laid)
    (rank, most), *_ = Counter(map(natural_rank, laid)).most_common()
    many = tuple(face for face in laid if natural_rank(face) == rank)
    few = tuple(face for face in laid if natural_rank(face) != rank)
    if most == 4:
        return _combo("four_one", many + few, many if combos.four_one_by == "four" else laid)
    if most == 3 and len({natural_rank(face) for face in few}) == 1:
        by_triple = combos.full_house_by == "triple"
        return _combo("full_house", many + few, many if by_triple else laid)
    return None


def _sequence_order(laid: tuple[Face, ...], combos: BigTwoComboRules) -> tuple[Face, ...] | None:
    """Return the five cards `laid` in the order of a straight, or None if they form no straight.

    A straight has no A and 2 in the middle.
    """
    rising = tuple(sorted(laid, key=natural_rank))
    ranks = [natural_rank(face) for face in rising]
    if ranks == [2, 3, 4, 5, 14]:
        return (rising[-1], *rising[:-1]) if combos.a_low else None
    if ranks != list(range(ranks[0], ranks[0] + 5)):
        return None
    return rising if ranks[0] != 2 or combos.two_in_straights else None


def _combo(kind: BigTwoKind, faces: tuple[Face, ...], deciding: tuple[Face, ...]) -> BigTwoCombo:
    """Return a combination of `faces`, with the rank and suit of the highest card in `deciding`.

    If only the last card of a straight decides, it is never a 2 or a low ace.
    """
    rank, suit = max(map(single_value, deciding))
    return BigTwoCombo(kind, rank, suit, faces)


class _BigTwoRule(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    """The text of one rule of Big Two, and the article that contains it.

    `key`: the profile's key that decides the rule.
    """

    en: str
    zh: str
    article: str
    key: str | None = None


class _BigTwoRules(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    rule: dict[str, _BigTwoRule]
    deciding: dict[str, dict[str, Words]]


@cache
def _rules_file() -> _BigTwoRules:
    return toml_files.read_resource("controller.rules.combos", "big_two_rules.toml", _BigTwoRules)


_KEY_OF_KIND: dict[BigTwoKind, str] = {
    "straight": "straights_by",
    "straight_flush": "straights_by",
    "full_house": "full_house_by",
    "four_one": "four_one_by",
}


def cite_big_two_rule(rule: str, profile: BigTwoProfile) -> CitedRule:
    """Return the rule that has the key `rule`, with its text and source under `profile`.

    Raises KeyError for an unknown key.
    """
    return _cite(rule, _rules_file().rule[rule], profile)


def cite_deciding_rule(kind: BigTwoKind, profile: BigTwoProfile) -> CitedRule:
    """Return the rule by which two plays of the kind `kind` are compared."""
    if kind not in _KEY_OF_KIND:
        return cite_big_two_rule("by_highest" if kind in FIVE_CARD_KINDS else "by_card", profile)
    key = _KEY_OF_KIND[kind]
    text = _rules_file().deciding[key][getattr(profile.bigtwo.combos, key)]
    stated = _BigTwoRule(text.en, text.zh, "A9.4", f"bigtwo.combos.{key}")
    return _cite("by_highest", stated, profile)


def _cite(rule: str, stated: _BigTwoRule, profile: BigTwoProfile) -> CitedRule:
    holder = face_text(profile.bigtwo.lead.face())
    en, zh = (words.replace("{holder}", holder) for words in (stated.en, stated.zh))
    if profile.event and stated.key in profile.event.settled:
        return CitedRule(rule, en, zh, profile.event.title_en)
    article = f"{profile.text} {stated.article}"
    if stated.key is not None and profile.article(stated.key) is None:
        return CitedRule(rule, en, zh, f"{article} (provisional)", provisional=True)
    return CitedRule(rule, en, zh, article)


_DECK = composition(1, jokers=False)


def judge_big_two(profile: BigTwoProfile, play: str, on: str | None) -> PlayRuling:
    """Return whether `play` may follow the play `on`, or may be led if `on` is None, with reasons.

    Raises QuestionError.
    """
    below = None if on is None else parse_play(on, None, _DECK, suits_decide=True)
    above = parse_play(play, None, _DECK, suits_decide=True, other_play=below)
    table, lying = (None, None) if below is None else _judge_one_play(profile, below)
    judged, combo = _judge_one_play(profile, above)
    legal, reasons = False, tuple[CitedRule, ...]()
    if combo is not None and table is None:
        rule = "first_lead" if profile.bigtwo.lead.must_include else "lead"
        legal, reasons = True, (cite_big_two_rule(rule, profile),)
    elif combo is not None and lying is None:
        reasons = (cite_big_two_rule("table_no_type", profile),)
    elif combo is not None and lying is not None:
        legal = can_beat(combo, lying, profile.bigtwo.combos)
        reasons = _comparison_rules(profile, combo, lying)
    return make_ruling(profile, None, judged, table, legal, reasons)


def _judge_one_play(
    profile: BigTwoProfile, play: TypedPlay
) -> tuple[JudgedPlay, BigTwoCombo | None]:
    found = readings(play.faces, profile.bigtwo.combos)
    reason, shown = cite_big_two_rule("no_type", profile), None
    if found:
        combo = found[0]
        name = BIG_TWO_KIND_NAMES[combo.kind]
        reason = CitedRule(combo.kind, name.en, name.zh, name.article)
        rank = 2 if combo.rank == TWO_VALUE else combo.rank
        shown = ComboReading(
            kind=combo.kind,
            en=name.en,
            zh=name.zh,
            cards=tuple(LaidCard(face_text(face)) for face in combo.faces),
            decides=SUITS[len(SUITS) - 1 - combo.suit] + rank_text(rank),
            size=combo.size,
        )
    judged = JudgedPlay(
        play=play_text(play),
        bare=(),
        readings=(shown,) if shown else (),
        default=shown,
        counts_as=shown,
        declared=None,
        declaration_due=False,
        reasons=(reason,),
    )
    return judged, found[0] if found else None


def _comparison_rules(
    profile: BigTwoProfile, challenger: BigTwoCombo, table: BigTwoCombo
) -> tuple[CitedRule, ...]:
    kinds = {challenger.kind, table.kind}
    if not can_follow(challenger, table, profile.bigtwo.combos):
        return (
            cite_big_two_rule(
                "same_kind_of_five" if kinds <= set(FIVE_CARD_KINDS) else "same_kind", profile
            ),
        )
    why = (
        cite_deciding_rule(table.kind, profile)
        if len(kinds) == 1
        else cite_big_two_rule("by_kind", profile)
    )
    if can_beat(challenger, table, profile.bigtwo.combos):
        return (why,)
    return why, cite_big_two_rule("greater", profile)
