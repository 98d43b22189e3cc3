"""What a player declared his wild cards to be: a kind, ranks, or both (seed 000 A7.2–3)."""

import re

import msgspec

from controller.rules.combos.combo import COMBO_NAMES, Combo, ComboKind
from controller.rules.combos.nonsense import NotationError, QuestionError, printable_text
from controller.rules.combos.notation import parse_ranks
from controller.rules.combos.tokens import RANK_PATTERN, SUIT_PATTERN, normalise_text
from controller.rules.levels import ACE
from controller.rules.order import natural_rank

_GAP = r"[\s_-]*"
_KINDS_BY_NAME: dict[str, ComboKind] = {
    said.upper().replace(" ", ""): kind
    for kind, name in COMBO_NAMES.items()
    for said in (name.en, name.zh, *name.others)
}
_NAME_PATTERN = "|".join(
    _GAP.join(said.upper().split())
    for said in sorted(
        (said for name in COMBO_NAMES.values() for said in (name.en, name.zh, *name.others)),
        key=len,
        reverse=True,
    )
)
_RANGE_PATTERN = "[-~\u2010-\u2015\u2212\u301c]+|[至到]|TO"
"""Dashes of every keyboard; the wide ones are narrow in text that is `plain`."""
_ENDS_PATTERN = re.compile(
    rf"[\s:,]*(?:从|從|FROM)?\s*(?:{SUIT_PATTERN})?(?P<low>{RANK_PATTERN})(?:{SUIT_PATTERN})?"
    rf"\s*(?:{_RANGE_PATTERN})\s*(?:{SUIT_PATTERN})?(?P<high>{RANK_PATTERN})(?:{SUIT_PATTERN})?[\s:,]*"
)
_CARDS_PER_RANK: dict[ComboKind, int] = {"tube": 2, "plate": 3}
"""How many cards of each rank a kind of sequence has, where it is not one."""
_LOW_ACE = 1
_KIND_FIRST_PATTERN = re.compile(rf"\s*(?P<kind>{_NAME_PATTERN})(?P<ranks>.*)", re.DOTALL)
_KIND_LAST_PATTERN = re.compile(rf"(?P<ranks>.*?)(?P<kind>{_NAME_PATTERN})\s*", re.DOTALL)


class ComboDeclaration(msgspec.Struct, frozen=True, gc=False):
    """What was declared; what is None was left open. `ranks` are natural, as they were said."""

    kind: ComboKind | None
    ranks: tuple[int, ...] | None

    def allows(self, combo: Combo) -> bool:
        """Tell whether a reading is what was declared."""
        return (self.kind is None or combo.kind == self.kind) and (
            self.ranks is None or sorted(map(natural_rank, combo.faces)) == sorted(self.ranks)
        )


def parse_declaration(text: str, cards: int) -> ComboDeclaration:
    """Return what a play of so many cards was declared to be.

    "plate", "钢板", "34567", "3-7", "straight 34567" or "顺子：从3到7". Suits in it count for
    nothing.
    Raises Nonsense, one line; also where it names another number of ranks than there are cards.
    """
    said = normalise_text(text)
    found = _KIND_FIRST_PATTERN.fullmatch(said) or _KIND_LAST_PATTERN.fullmatch(said)
    kind = _KINDS_BY_NAME[re.sub(_GAP, "", found["kind"])] if found else None
    part = found["ranks"] if found else said
    ranks = _ranks_of_range(part, kind, cards) or _listed_ranks(text, part)
    if kind is None and ranks is None:
        raise QuestionError(
            "the declaration is empty: name a kind or ranks, such as plate or 34567",
            "没有说明内容：请写牌型或点数，如 钢板 或 34567",
        )
    if ranks is not None and len(ranks) != cards:
        raise QuestionError(
            f'"{printable_text(text)}" names {len(ranks)} of {cards} cards: write the rank of '
            "each, such as 34567, or from which to which, such as 3-7",
            f"“{printable_text(text)}”说明了{len(ranks)}张，而这手牌有{cards}张："
            "请逐张写出点数，如 34567，或写从几到几，如 3-7",
        )
    return ComboDeclaration(kind, ranks)


def _ranks_of_range(part: str, kind: ComboKind | None, cards: int) -> tuple[int, ...] | None:
    """Return the ranks of a sequence that is named by its two ends; None: it is not."""
    ends = _ENDS_PATTERN.fullmatch(part)
    if ends is None:
        return None
    (low,), (high,) = parse_ranks(ends["low"]), parse_ranks(ends["high"])
    if low == high:
        return None
    if low == ACE and high < ACE:
        low = _LOW_ACE
    row = range(min(low, high), max(low, high) + 1)
    each = _CARDS_PER_RANK.get(kind, 1) if kind else cards // len(row) or 1
    return tuple(ACE if rank == _LOW_ACE else rank for rank in row for _ in range(each))


def _listed_ranks(text: str, part: str) -> tuple[int, ...] | None:
    try:
        return parse_ranks(part) or None
    except NotationError:
        kinds = ", ".join(f"{name.en} {name.zh}" for name in COMBO_NAMES.values())
        raise QuestionError(
            f'nobody can declare "{printable_text(text)}": write its ranks, such as 34567, '
            f"or one of {kinds}",
            f"不能说明为“{printable_text(text)}”：请写点数，如 34567，或写下列牌型之一："
            f"{'、'.join(name.zh for name in COMBO_NAMES.values())}",
        ) from None
