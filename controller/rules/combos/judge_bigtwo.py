"""The same question in Big Two, where suits decide and nothing is wild (seed 002 A8–A9)."""

from controller.cards import SUITS, composition, face_text
from controller.rules.bigtwo.combos import (
    FIVE_CARD_KINDS,
    KINDS,
    TWO,
    BigTwoCombo,
    beats,
    follows,
    readings,
)
from controller.rules.combos.articles import Reason
from controller.rules.combos.articles_bigtwo import cite_deciding_rule, kind, lead, reason
from controller.rules.combos.notation import Play, parse_play, play_text
from controller.rules.combos.ruling import JudgedPlay, Laid, Reading, Ruling, rule
from controller.rules.order import rank_text
from controller.rules.profile import BigTwoProfile

_DECK = composition(1, jokers=False)


def judge(profile: BigTwoProfile, play: str, on: str | None) -> Ruling:
    """Return the ruling on `play` as a lead or on the play `on`. Raises Nonsense."""
    below = None if on is None else parse_play(on, None, _DECK, suits_decide=True)
    above = parse_play(play, None, _DECK, suits_decide=True, beside=below)
    table, lying = (None, None) if below is None else _judge_one_play(profile, below)
    judged, combo = _judge_one_play(profile, above)
    legal, reasons = _legality(profile, combo, lying, leads=table is None)
    return rule(profile, None, judged, table, legal, reasons)


def _legality(
    profile: BigTwoProfile, combo: BigTwoCombo | None, lying: BigTwoCombo | None, *, leads: bool
) -> tuple[bool, tuple[Reason, ...]]:
    """Return whether a play is legal, and the reasons beside what it is itself."""
    if combo is None:
        return False, ()
    if leads:
        return True, (lead(profile),)
    if lying is None:
        return False, (reason("table_no_type", profile),)
    return beats(combo, lying, profile.bigtwo.combos), _comparison_rules(profile, combo, lying)


def _judge_one_play(profile: BigTwoProfile, play: Play) -> tuple[JudgedPlay, BigTwoCombo | None]:
    found = readings(play.faces, profile.bigtwo.combos)
    shown = tuple(map(_combo_reading, found))
    judged = JudgedPlay(
        play=play_text(play),
        bare=(),
        readings=shown,
        default=shown[0] if shown else None,
        counts_as=shown[0] if shown else None,
        declared=None,
        declaration_due=False,
        reasons=(kind(found[0].kind) if found else reason("no_type", profile),),
    )
    return judged, found[0] if found else None


def _comparison_rules(
    profile: BigTwoProfile, challenger: BigTwoCombo, table: BigTwoCombo
) -> tuple[Reason, ...]:
    kinds = {challenger.kind, table.kind}
    if not follows(challenger, table, profile.bigtwo.combos):
        return (
            reason("same_kind_of_five" if kinds <= set(FIVE_CARD_KINDS) else "same_kind", profile),
        )
    why = cite_deciding_rule(table.kind, profile) if len(kinds) == 1 else reason("by_kind", profile)
    if beats(challenger, table, profile.bigtwo.combos):
        return (why,)
    return why, reason("greater", profile)


def _combo_reading(combo: BigTwoCombo) -> Reading:
    name = KINDS[combo.kind]
    return Reading(
        kind=combo.kind,
        en=name.en,
        zh=name.zh,
        cards=tuple(Laid(face_text(face)) for face in combo.faces),
        decides=_deciding_card_text(combo),
        size=combo.size,
    )


def _deciding_card_text(combo: BigTwoCombo) -> str:
    """Return the card that decides within the kind, as people write it."""
    rank = 2 if combo.rank == TWO else combo.rank
    return SUITS[len(SUITS) - 1 - combo.suit] + rank_text(rank)
