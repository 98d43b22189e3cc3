"""Readings and declarations of Guandan as a ruling shows them."""

from controller.cards import SUITS, Face, face_text
from controller.rules.combos.combo import COMBO_NAMES, Combo
from controller.rules.combos.declare import ComboDeclaration
from controller.rules.combos.notation import TypedPlay
from controller.rules.combos.ruling import ComboReading, DeclaredCombo, LaidCard
from controller.rules.order import LEVEL_VALUE, is_joker, is_wild, natural_rank, rank_text


def show_reading(combo: Combo, play: TypedPlay, level: int) -> ComboReading:
    """Return a reading of a play, its cards as they are laid."""
    name = COMBO_NAMES[combo.kind]
    return ComboReading(
        kind=combo.kind,
        en=name.en,
        zh=name.zh,
        cards=_laid_cards(combo, play, level),
        decides=_deciding_rank_text(combo, level),
        size=combo.size,
    )


def show_declaration(declaration: ComboDeclaration | None) -> DeclaredCombo | None:
    """Return a declaration with its words in both languages."""
    if declaration is None:
        return None
    kind = COMBO_NAMES[declaration.kind] if declaration.kind else None
    ranks = (
        None if declaration.ranks is None else tuple(map(_rank_or_joker_text, declaration.ranks))
    )
    said = " ".join(ranks or ())
    return DeclaredCombo(
        kind=declaration.kind,
        ranks=ranks,
        en=f"{kind.en} {said}".rstrip() if kind else said,
        zh=f"{kind.zh} {said}".rstrip() if kind else said,
    )


def bare_card_texts(play: TypedPlay) -> tuple[str, ...]:
    """Return the cards that were written without a suit."""
    return tuple(
        rank_text(natural_rank(face))
        for face, bare in zip(play.faces, play.bare, strict=True)
        if bare
    )


def _laid_cards(combo: Combo, play: TypedPlay, level: int) -> tuple[LaidCard, ...]:
    """Return the cards as they count. A wild card is itself, where it can be, in the last place."""
    wild = [face_text(face) for face in play.faces if is_wild(face, level)]
    stand_ins = list(combo.wild_faces)
    written = [face for face, bare in zip(play.faces, play.bare, strict=True) if not bare]
    laid: list[LaidCard] = []
    for face in reversed(combo.faces):
        if face in stand_ins:
            stand_ins.remove(face)
            laid.append(_laid_wild_card(face, wild[0], any_suit=combo.kind != "straight_flush"))
        else:
            laid.append(LaidCard(_card_text(face, written)))
    return tuple(reversed(laid))


def _laid_wild_card(face: Face, wild: str, *, any_suit: bool) -> LaidCard:
    own = face_text(face)
    if own == wild:
        return LaidCard(wild)
    return LaidCard(wild, own.lstrip("".join(SUITS)) if any_suit else own)


def _card_text(face: Face, written: list[Face]) -> str:
    if face in written:
        written.remove(face)
        return face_text(face)
    return rank_text(natural_rank(face))


def _deciding_rank_text(combo: Combo, level: int) -> str:
    if combo.rank == LEVEL_VALUE:
        return rank_text(level)
    if is_joker(combo.faces[0]):
        return face_text(combo.faces[0])
    return rank_text(combo.rank)


def _rank_or_joker_text(rank: int) -> str:
    jokers = {16: "SJ", 17: "BJ"}
    return jokers.get(rank) or rank_text(rank)
