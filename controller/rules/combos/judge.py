"""A referee's question on combinations: what is this play, is it legal on that one, and why."""

from functools import cache

from controller.cards import composition
from controller.rules.combos import judge_bigtwo
from controller.rules.combos.articles import cite_rule
from controller.rules.combos.bare import bare_notes, contained_kinds_as_written, contained_notes
from controller.rules.combos.combo import COMBO_NAMES, Combo
from controller.rules.combos.compare import can_beat
from controller.rules.combos.declare import parse_declaration
from controller.rules.combos.explain import (
    prefer_kind_on_table,
    rules_of_choice,
    rules_of_comparison,
    rules_of_kind,
)
from controller.rules.combos.near import broken_rule
from controller.rules.combos.nonsense import QuestionError
from controller.rules.combos.notation import TypedPlay, parse_play, play_text
from controller.rules.combos.patterns import SUIT_RANKS
from controller.rules.combos.recognise import must_be_declared, readings
from controller.rules.combos.ruling import ContainedKinds, JudgedPlay, PlayRuling, make_ruling
from controller.rules.combos.showing import bare_card_texts, show_declaration, show_reading
from controller.rules.order import is_wild, rank_text
from controller.rules.profile import BigTwoProfile, Profile
from controller.rules.rulebooks import load_profile

_DECK = composition(2, jokers=True)
_WILDS = 2


def judge_play(
    profile: Profile | str,
    level: int | None,
    play: str,
    on: str | None = None,
    declare: str | None = None,
    on_declare: str | None = None,
) -> PlayRuling:
    """Return the ruling on `play` as a lead, or on the play `on` that lies on the table.

    `profile`: one that was loaded, or the name of a rulebook; `level`: a natural rank
    (2…14; None in Big Two). Plays are as notation.py reads them, declarations as declare.py
    does. Raises Nonsense, and ProfileError for a name that is none.
    """
    profile = _loaded_profile(profile)
    if isinstance(profile, BigTwoProfile):
        _refuse_level(level)
        if declare is not None or on_declare is not None:
            raise QuestionError(
                "nothing is declared in Big Two: a play has one reading",
                "锄大地没有牌型说明：一手牌只有一种读法",
            )
        return judge_bigtwo.judge_big_two(profile, play, on)
    level = _require_level(level)
    below = None if on is None else parse_play(on, level, _DECK)
    above = parse_play(play, level, _DECK, other_play=below)
    hearts = _wild_cards_left(level, above, below)
    table, lying = (
        (None, None)
        if below is None
        else _judge_one_play(profile, level, below, on_declare, hearts)
    )
    judged, combo = _judge_one_play(profile, level, above, declare, hearts, lying)
    legal, why = _legality(combo, lying, leads=table is None)
    reasons = tuple(cite_rule(key, profile, level) for key in why)
    return make_ruling(profile, rank_text(level), judged, table, legal, reasons)


def judge_contained_kinds(profile: Profile | str, level: int | None, play: str) -> ContainedKinds:
    """Return the kinds that an exposed play contains (seed 000 A16.3.1). Raises as `judge`."""
    profile = _loaded_profile(profile)
    if isinstance(profile, BigTwoProfile):
        raise QuestionError(
            "what a wrong lead contains is asked in Guandan alone (000 A16.3.1)",
            "出错牌含有哪些牌型，只在掼蛋中判定（000 A16.3.1）",
        )
    level = _require_level(level)
    cards = parse_play(play, level, _DECK)
    kinds = contained_kinds_as_written(cards, level)
    notes = contained_notes(cards, kinds, level, _wild_cards_left(level, cards))
    reasons = tuple(cite_rule(key, profile, level) for key in ("contained", *notes))
    return ContainedKinds(
        profile=profile.name,
        event=profile.event.title_en if profile.event else None,
        level=rank_text(level),
        play=play_text(cards),
        bare=bare_card_texts(cards),
        kinds=kinds,
        en=", ".join(COMBO_NAMES[kind].en for kind in kinds),
        zh="、".join(COMBO_NAMES[kind].zh for kind in kinds),
        reasons=reasons,
        provisional=any(one.provisional for one in reasons),
    )


@cache
def _load_once(name: str) -> Profile:
    return load_profile(name)


def _loaded_profile(profile: Profile | str) -> Profile:
    return _load_once(profile) if isinstance(profile, str) else profile


def _require_level(level: int | None) -> int:
    """Return the level of a question on Guandan. Raises Nonsense."""
    if level not in SUIT_RANKS:
        raise QuestionError(
            "which level is played? give it: 2…10, J, Q, K or A",
            "打几？请给出级数：2…10、J、Q、K 或 A",
        )
    return level


def _refuse_level(level: int | None) -> None:
    if level is not None:
        raise QuestionError(
            "no level is played in Big Two: leave it out", "锄大地不打级：请去掉级数"
        )


def _wild_cards_left(level: int, *plays: TypedPlay | None) -> int:
    """Return how many wild cards no play shows."""
    shown = sum(is_wild(face, level) for play in plays if play for face in play.faces)
    return max(0, _WILDS - shown)


def _legality(
    combo: Combo | None, lying: Combo | None, *, leads: bool
) -> tuple[bool, tuple[str, ...]]:
    """Return whether a play is legal, and the rules that say so beside what it is itself."""
    if combo is None:
        return False, ()
    if leads:
        return True, ("lead",)
    if lying is None:
        return False, ("table_no_type",)
    return can_beat(combo, lying), tuple(rules_of_comparison(combo, lying))


def _judge_one_play(
    profile: Profile,
    level: int,
    play: TypedPlay,
    declare: str | None,
    hearts: int,
    table: Combo | None = None,
) -> tuple[JudgedPlay, Combo | None]:
    found = readings(play.faces, level)
    declaration = None if declare is None else parse_declaration(declare, len(play.faces))
    if declaration is None:
        left = prefer_kind_on_table(found, table)
    else:
        left = tuple(filter(declaration.allows, found))
    combo = left[0] if left else None
    if combo is not None:
        why = [*rules_of_kind(combo, level), *rules_of_choice(left, found, declaration, table)]
    else:
        why = ["not_as_declared" if found else broken_rule(play.faces, level)]
    why += bare_notes(play, combo, level, hearts)
    shown = {one: show_reading(one, play, level) for one in found}
    judged = JudgedPlay(
        play=play_text(play),
        bare=bare_card_texts(play),
        readings=tuple(shown.values()),
        default=shown[found[0]] if found else None,
        counts_as=shown[combo] if combo else None,
        declared=show_declaration(declaration),
        declaration_due=must_be_declared(found),
        reasons=tuple(cite_rule(key, profile, level) for key in why),
    )
    return judged, combo
