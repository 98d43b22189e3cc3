"""The same question in Big Two, where suits decide and nothing is wild (seed 002 A8–A9)."""

from controller.cards import SUITS, composition, face_text
from controller.rules.bigtwo.combos import (
    FIVES,
    KINDS,
    TWO,
    BigTwoCombo,
    beats,
    follows,
    readings,
)
from controller.rules.combos.articles import Reason
from controller.rules.combos.notation import Nonsense, Play, parse_play, play_text
from controller.rules.combos.ruling import Judged, Reading, Ruling, rule
from controller.rules.order import rank_text

PROFILE = "bigtwo-2017-002"
_DECK = composition(1, jokers=False)

_REASONS = {
    one.rule: one
    for one in (
        Reason("no_type", "these cards are no combination", "不是合理牌型", "002 A8"),
        Reason(
            "table_no_type",
            "what lies on the table is no combination",
            "台面的牌不是合理牌型",
            "002 A8",
        ),
        Reason("lead", "any combination may be led", "引牌可以出任意牌型", "002 A7"),
        Reason(
            "same_kind",
            "a play follows its own kind and number of cards",
            "须按照相同牌型、相同张数盖牌",
            "002 A7, A9.3",
        ),
        Reason(
            "by_card",
            "the 2 is highest, then A, K … 3; equal ranks by suit ♠ ♥ ♣ ♦",
            "2最大，其次A、K……3；点数相同比花色，黑桃>红桃>梅花>方块",
            "002 A9.1–3",
        ),
        Reason(
            "by_highest",
            "five cards of one kind compare by the card that decides, then by its suit",
            "同牌型以最大牌张点数比较，相同比花色",
            "002 A9.4",
            provisional=True,
        ),
        Reason(
            "by_kind",
            "straight flush, four and one, full house, flush, straight: in this order",
            "同花顺>铁枝>葫芦>同花>顺子",
            "002 A9.4 (provisional beside A7)",
            provisional=True,
        ),
        Reason(
            "greater", "a play must be higher than the one before", "盖牌必须大于台面的牌", "002 A7"
        ),
    )
}


def judge(play: str, on: str | None, declare: str | None) -> Ruling:
    """Return the ruling on `play` as a lead or on the play `on`. Raises Nonsense."""
    if declare is not None:
        raise Nonsense("nothing is declared in Big Two: a play has one reading")
    below = None if on is None else parse_play(on, None, _DECK, suits_decide=True)
    above = parse_play(play, None, _DECK, suits_decide=True, beside=below)
    table, lying = (None, None) if below is None else _judged(below)
    judged, combo = _judged(above)
    legal, why = _legal(combo, lying, leads=table is None)
    return rule(PROFILE, None, judged, table, legal, tuple(_REASONS[key] for key in why))


def _legal(
    combo: BigTwoCombo | None, lying: BigTwoCombo | None, *, leads: bool
) -> tuple[bool, list[str]]:
    """Return whether a play is legal, and the reasons beside what it is itself."""
    if combo is None:
        return False, []
    if leads:
        return True, ["lead"]
    if lying is None:
        return False, ["table_no_type"]
    return beats(combo, lying), _compared(combo, lying)


def _judged(play: Play) -> tuple[Judged, BigTwoCombo | None]:
    found = readings(play.faces)
    shown = tuple(map(_reading, found))
    judged = Judged(
        play=play_text(play),
        readings=shown,
        default=shown[0] if shown else None,
        counts_as=shown[0] if shown else None,
        declared=None,
        declaration_due=False,
        reasons=(_kind(found[0]) if found else _REASONS["no_type"],),
    )
    return judged, found[0] if found else None


def _kind(combo: BigTwoCombo) -> Reason:
    name = KINDS[combo.kind]
    return Reason(combo.kind, name.en, name.zh, name.article)


def _compared(challenger: BigTwoCombo, table: BigTwoCombo) -> list[str]:
    if not follows(challenger, table):
        return ["same_kind"]
    if challenger.kind != table.kind:
        why = "by_kind"
    else:
        why = "by_highest" if challenger.kind in FIVES else "by_card"
    return [why] if beats(challenger, table) else [why, "greater"]


def _reading(combo: BigTwoCombo) -> Reading:
    name = KINDS[combo.kind]
    return Reading(
        kind=combo.kind,
        en=name.en,
        zh=name.zh,
        cards=tuple(map(face_text, combo.faces)),
        decides=_deciding(combo),
        size=combo.size,
    )


def _deciding(combo: BigTwoCombo) -> str:
    """Return the card that decides within the kind, as people write it."""
    rank = 2 if combo.rank == TWO else combo.rank
    return SUITS[len(SUITS) - 1 - combo.suit] + rank_text(rank)
