"""A referee's question on combinations: what is this play, is it legal on that one, and why."""

from controller.cards import SUITS, Face, composition, face_text
from controller.rules.combos import judge_bigtwo
from controller.rules.combos.articles import SEEDS, reason
from controller.rules.combos.combo import KINDS, Combo
from controller.rules.combos.compare import beats
from controller.rules.combos.declare import parse_declaration
from controller.rules.combos.explain import because, chosen, compared
from controller.rules.combos.near import why_none
from controller.rules.combos.notation import Nonsense, Play, parse_play, play_text, shown
from controller.rules.combos.patterns import PLAIN
from controller.rules.combos.recognise import contained, declaration_due, readings
from controller.rules.combos.ruling import Containing, Judged, Reading, Ruling, rule
from controller.rules.order import LEVEL_VALUE, is_joker, is_wild, natural, rank_text

PROFILES = (*SEEDS, judge_bigtwo.PROFILE)
"""The profiles that can be asked."""

_DECK = composition(2, jokers=True)


def judge(
    profile: str,
    level: int | None,
    play: str,
    on: str | None = None,
    declare: str | None = None,
    on_declare: str | None = None,
) -> Ruling:
    """Return the ruling on `play` as a lead, or on the play `on` that lies on the table.

    `profile` is the name of one, `level` a natural rank (2…14; Big Two has none). Plays
    are as notation.py reads them, declarations as declare.py does. Raises Nonsense.
    """
    if profile == judge_bigtwo.PROFILE:
        return judge_bigtwo.judge(play, on, declare or on_declare)
    level = _level(profile, level)
    below = None if on is None else parse_play(on, level, _DECK)
    above = parse_play(play, level, _DECK, beside=below)
    table, lying = (None, None) if below is None else _judged(profile, level, below, on_declare)
    judged, combo = _judged(profile, level, above, declare)
    legal, why = _legal(combo, lying, leads=table is None)
    reasons = tuple(reason(key, profile) for key in why)
    return rule(profile, rank_text(level), judged, table, legal, reasons)


def judge_contained(profile: str, level: int | None, play: str) -> Containing:
    """Return the kinds that an exposed play contains (seed 000 A16.3.1). Raises Nonsense."""
    if profile == judge_bigtwo.PROFILE:
        raise Nonsense("what a wrong lead contains is asked in Guandan alone (000 A16.3.1)")
    level = _level(profile, level)
    cards = parse_play(play, level, _DECK)
    kinds = contained(cards.faces, level)
    why = reason("contained", profile)
    return Containing(
        profile=profile,
        level=rank_text(level),
        play=play_text(cards),
        kinds=kinds,
        en=", ".join(KINDS[kind].en for kind in kinds),
        zh="、".join(KINDS[kind].zh for kind in kinds),
        reasons=(why,),
        provisional=why.provisional,
    )


def _level(profile: str, level: int | None) -> int:
    """Return the level of a profile of Guandan. Raises Nonsense."""
    if profile not in SEEDS:
        raise Nonsense(f'profile "{shown(profile)}": expected one of {", ".join(PROFILES)}')
    if level not in PLAIN:
        raise Nonsense("which level is played? give it: 2…10, J, Q, K or A")
    return level


def _legal(
    combo: Combo | None, lying: Combo | None, *, leads: bool
) -> tuple[bool, tuple[str, ...]]:
    """Return whether a play is legal, and the rules that say so beside what it is itself."""
    if combo is None:
        return False, ()
    if leads:
        return True, ("lead",)
    if lying is None:
        return False, ("table_no_type",)
    return beats(combo, lying), tuple(compared(combo, lying))


def _judged(
    profile: str, level: int, play: Play, declare: str | None
) -> tuple[Judged, Combo | None]:
    found = readings(play.faces, level)
    declaration = None if declare is None else parse_declaration(declare)
    left = found if declaration is None else tuple(filter(declaration.allows, found))
    combo = left[0] if left else None
    if combo is not None:
        why = [*because(combo, play, level), *chosen(left, found, declaration)]
    else:
        why = ["not_as_declared" if found else why_none(play.faces, level)]
    shown = {one: _reading(one, play, level) for one in found}
    judged = Judged(
        play=play_text(play),
        readings=tuple(shown.values()),
        default=shown[found[0]] if found else None,
        counts_as=shown[combo] if combo else None,
        declared=declare,
        declaration_due=declaration_due(found),
        reasons=tuple(reason(key, profile) for key in why),
    )
    return judged, combo


def _reading(combo: Combo, play: Play, level: int) -> Reading:
    name = KINDS[combo.kind]
    return Reading(
        kind=combo.kind,
        en=name.en,
        zh=name.zh,
        cards=_laid(combo, play, level),
        decides=_decides(combo, level),
        size=combo.size,
    )


def _laid(combo: Combo, play: Play, level: int) -> tuple[str, ...]:
    """Return the cards as they count, those in brackets that stand for them.

    A card shows no suit where it was written without one, or stands for any suit.
    """
    wild = [face_text(face) for face in play.faces if is_wild(face, level)]
    stand_ins = list(combo.wild)
    written = [face for face, bare in zip(play.faces, play.bare, strict=True) if not bare]
    laid: list[str] = []
    for face in reversed(combo.faces):
        if face in stand_ins:
            stand_ins.remove(face)
            own = face_text(face)
            if own != wild[0]:
                own = own if combo.kind == "straight_flush" else own.lstrip("".join(SUITS))
                own = f"{own}({wild[0]})"
            laid.append(own)
        else:
            laid.append(_shown(face, written))
    return tuple(reversed(laid))


def _shown(face: Face, written: list[Face]) -> str:
    if face in written:
        written.remove(face)
        return face_text(face)
    return rank_text(natural(face))


def _decides(combo: Combo, level: int) -> str:
    if combo.rank == LEVEL_VALUE:
        return rank_text(level)
    if is_joker(combo.faces[0]):
        return face_text(combo.faces[0])
    return rank_text(combo.rank)
