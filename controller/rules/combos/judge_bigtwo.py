"""The same question in Big Two, where suits decide and nothing is wild (seed 002 A8–A9)."""

from controller.cards import SUITS, composition, face_text
from controller.rules.bigtwo.combos import (
    BIG_TWO_KIND_NAMES,
    FIVE_CARD_KINDS,
    TWO_VALUE,
    BigTwoCombo,
    can_beat,
    can_follow,
    readings,
)
from controller.rules.combos.articles import CitedRule
from controller.rules.combos.articles_bigtwo import (
    cite_big_two_rule,
    cite_deciding_rule,
    cite_kind,
    cite_lead_rule,
)
from controller.rules.combos.notation import TypedPlay, parse_play, play_text
from controller.rules.combos.ruling import (
    ComboReading,
    JudgedPlay,
    LaidCard,
    PlayRuling,
    make_ruling,
)
from controller.rules.order import rank_text
from controller.rules.profile import BigTwoProfile

_DECK = composition(1, jokers=False)


def judge_big_two(profile: BigTwoProfile, play: str, on: str | None) -> PlayRuling:
    """Return the ruling on `play` as a lead or on the play `on`. Raises Nonsense."""
    below = None if on is None else parse_play(on, None, _DECK, suits_decide=True)
    above = parse_play(play, None, _DECK, suits_decide=True, other_play=below)
    table, lying = (None, None) if below is None else _judge_one_play(profile, below)
    judged, combo = _judge_one_play(profile, above)
    legal, reasons = _legality(profile, combo, lying, leads=table is None)
    return make_ruling(profile, None, judged, table, legal, reasons)


def _legality(
    profile: BigTwoProfile, combo: BigTwoCombo | None, lying: BigTwoCombo | None, *, leads: bool
) -> tuple[bool, tuple[CitedRule, ...]]:
    """Return whether a play is legal, and the reasons beside what it is itself."""
    if combo is None:
        return False, ()
    if leads:
        return True, (cite_lead_rule(profile),)
    if lying is None:
        return False, (cite_big_two_rule("table_no_type", profile),)
    return can_beat(combo, lying, profile.bigtwo.combos), _comparison_rules(profile, combo, lying)


def _judge_one_play(
    profile: BigTwoProfile, play: TypedPlay
) -> tuple[JudgedPlay, BigTwoCombo | None]:
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
        reasons=(cite_kind(found[0].kind) if found else cite_big_two_rule("no_type", profile),),
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


def _combo_reading(combo: BigTwoCombo) -> ComboReading:
    name = BIG_TWO_KIND_NAMES[combo.kind]
    return ComboReading(
        kind=combo.kind,
        en=name.en,
        zh=name.zh,
        cards=tuple(LaidCard(face_text(face)) for face in combo.faces),
        decides=_deciding_card_text(combo),
        size=combo.size,
    )


def _deciding_card_text(combo: BigTwoCombo) -> str:
    """Return the card that decides within the kind, as people write it."""
    rank = 2 if combo.rank == TWO_VALUE else combo.rank
    return SUITS[len(SUITS) - 1 - combo.suit] + rank_text(rank)
