"""The judging of plays that people type: whether a play is legal, and why.

judge_play() judges plays of Guandan and of Big Two. judge_contained_kinds() is for wrong leads in
Guandan.
"""

from controller.cards import SUITS, composition, face_text
from controller.rules.combos import big_two_combos
from controller.rules.combos.card_tokens import QuestionError
from controller.rules.combos.combo_reasons import (
    bare_notes,
    broken_rule,
    contained_kinds_as_written,
    contained_notes,
    prefer_kind_on_table,
    rules_of_choice,
    rules_of_comparison,
    rules_of_kind,
)
from controller.rules.combos.combo_rules import cite_rule
from controller.rules.combos.guandan_combos import (
    COMBO_NAMES,
    SUIT_RANKS,
    Combo,
    can_beat,
    must_be_declared,
    readings,
)
from controller.rules.combos.play_notation import (
    ComboDeclaration,
    TypedPlay,
    parse_declaration,
    parse_play,
    play_text,
)
from controller.rules.combos.play_ruling import (
    ComboReading,
    ContainedKinds,
    DeclaredCombo,
    JudgedPlay,
    LaidCard,
    PlayRuling,
    make_ruling,
)
from controller.rules.profile import BigTwoProfile, Profile
from controller.rules.profile_files import load_profile
from controller.rules.ranks import LEVEL_VALUE, is_joker, is_wild, natural_rank, rank_text


def show_reading(combo: Combo, play: TypedPlay, level: int) -> ComboReading:
    """Return the reading `combo` of `play` as texts for people, with the cards in order."""
    name = COMBO_NAMES[combo.kind]
    if combo.rank == LEVEL_VALUE or not is_joker(combo.faces[0]):
        decides = rank_text(level if combo.rank == LEVEL_VALUE else combo.rank)
    else:
        decides = face_text(combo.faces[0])
    return ComboReading(
        kind=combo.kind,
        en=name.en,
        zh=name.zh,
        cards=_laid_cards(combo, play, level),
        decides=decides,
        size=combo.size,
    )


_JOKER_TEXTS = {16: "SJ", 17: "BJ"}


def show_declaration(declaration: ComboDeclaration | None) -> DeclaredCombo | None:
    """Return a player's declaration in words of both languages, or None if there is none."""
    if declaration is None:
        return None
    kind = COMBO_NAMES[declaration.kind] if declaration.kind else None
    ranks = (
        None
        if declaration.ranks is None
        else tuple(_JOKER_TEXTS.get(rank) or rank_text(rank) for rank in declaration.ranks)
    )
    said = " ".join(ranks or ())
    return DeclaredCombo(
        kind=declaration.kind,
        ranks=ranks,
        en=f"{kind.en} {said}".rstrip() if kind else said,
        zh=f"{kind.zh} {said}".rstrip() if kind else said,
    )


def bare_card_texts(play: TypedPlay) -> tuple[str, ...]:
    """Return the rank, as text, of each card of `play` that a person typed without a suit."""
    return tuple(
        rank_text(natural_rank(face))
        for face, bare in zip(play.faces, play.bare, strict=True)
        if bare
    )


def _laid_cards(combo: Combo, play: TypedPlay, level: int) -> tuple[LaidCard, ...]:
    """Return the cards of a combination in order; a wild card shows the card that it replaces.

    A wild card that can be itself takes the last such place.
    """
    wild = next((face_text(face) for face in play.faces if is_wild(face, level)), "")
    stand_ins = list(combo.wild_faces)
    written = [face for face, bare in zip(play.faces, play.bare, strict=True) if not bare]
    laid: list[LaidCard] = []
    for face in reversed(combo.faces):
        own = face_text(face)
        if face in stand_ins:
            stand_ins.remove(face)
            any_suit = combo.kind != "straight_flush"
            replaced = own.lstrip("".join(SUITS)) if any_suit else own
            laid.append(LaidCard(wild, None if own == wild else replaced))
        elif face in written:
            written.remove(face)
            laid.append(LaidCard(own))
        else:
            laid.append(LaidCard(rank_text(natural_rank(face))))
    return tuple(reversed(laid))


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
    """Return whether `play` may follow the play `on`, or may be led if `on` is None, with reasons.

    `profile`: a loaded profile, or the name of a rulebook. `level`: a natural rank (2…14, None in
    Big Two). `declare` and `on_declare`: the players' declarations of the two plays. Plays and
    declarations are written as play_notation.py reads them. Raises QuestionError, and ProfileError
    for an unknown name.
    """
    profile = load_profile(profile) if isinstance(profile, str) else profile
    if isinstance(profile, BigTwoProfile):
        if level is not None:
            raise QuestionError(
                "no level is played in Big Two: leave it out", "锄大地不打级：请去掉级数"
            )
        if declare is not None or on_declare is not None:
            raise QuestionError(
                "nothing is declared in Big Two: a play has one reading",
                "锄大地没有牌型说明：一手牌只有一种读法",
            )
        return big_two_combos.judge_big_two(profile, play, on)
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
    """Return the kinds of combination that the cards of the wrong lead `play` can form.

    All cards together form no combination. Raises as `judge_play` does. Source: seed 000 A16.3.1.
    """
    profile = load_profile(profile) if isinstance(profile, str) else profile
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


def _require_level(level: int | None) -> int:
    """Return `level`, or raise QuestionError if it is not a rank from 2 to 14."""
    if level not in SUIT_RANKS:
        raise QuestionError(
            "which level is played? give it: 2…10, J, Q, K or A",
            "打几？请给出级数：2…10、J、Q、K 或 A",
        )
    return level


def _wild_cards_left(level: int, *plays: TypedPlay | None) -> int:
    """Return how many of the two wild cards are in none of the `plays`. None is no play."""
    shown = sum(is_wild(face, level) for play in plays if play for face in play.faces)
    return max(0, _WILDS - shown)


def _legality(
    combo: Combo | None, lying: Combo | None, *, leads: bool
) -> tuple[bool, tuple[str, ...]]:
    """Return whether `combo` may be led or played on `lying`, and the keys of the deciding rules.

    The rules that make the cards a combination are not included. `lying`: the combination on the
    table. `leads`: no play is on the table.
    """
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
