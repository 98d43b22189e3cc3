"""What a player declared his wild cards to be: a kind, ranks, or both (seed 000 A7.2–3)."""

import re

import msgspec

from controller.rules.combos.combo import KINDS, Combo, Kind
from controller.rules.combos.nonsense import Nonsense, NotationError, shown
from controller.rules.combos.notation import parse_ranks
from controller.rules.combos.tokens import plain
from controller.rules.order import natural

_GAP = r"[\s_-]*"
_KINDS: dict[str, Kind] = {
    said.upper().replace(" ", ""): kind
    for kind, name in KINDS.items()
    for said in (name.en, name.zh, *name.others)
}
_NAMES = "|".join(
    _GAP.join(said.upper().split())
    for said in sorted(
        (said for name in KINDS.values() for said in (name.en, name.zh, *name.others)),
        key=len,
        reverse=True,
    )
)
_FIRST = re.compile(rf"\s*(?P<kind>{_NAMES})(?P<ranks>.*)", re.DOTALL)
_LAST = re.compile(rf"(?P<ranks>.*?)(?P<kind>{_NAMES})\s*", re.DOTALL)


class Declaration(msgspec.Struct, frozen=True, gc=False):
    """What was declared; what is None was left open. `ranks` are natural, as they were said."""

    kind: Kind | None
    ranks: tuple[int, ...] | None

    def allows(self, combo: Combo) -> bool:
        """Tell whether a reading is what was declared."""
        return (self.kind is None or combo.kind == self.kind) and (
            self.ranks is None or sorted(map(natural, combo.faces)) == sorted(self.ranks)
        )


def parse_declaration(text: str) -> Declaration:
    """Return what was declared: "plate", "钢板", "34567", "straight 34567" or "顺子34567".

    Suits in it count for nothing. Raises Nonsense, one line.
    """
    said = plain(text)
    found = _FIRST.fullmatch(said) or _LAST.fullmatch(said)
    ranks = _ranks(text, found["ranks"] if found else said)
    if found:
        return Declaration(_KINDS[re.sub(_GAP, "", found["kind"])], ranks)
    if ranks is None:
        raise Nonsense("the declaration is empty: name a kind or ranks, such as plate or 34567")
    return Declaration(None, ranks)


def _ranks(text: str, part: str) -> tuple[int, ...] | None:
    try:
        return parse_ranks(part) or None
    except NotationError:
        kinds = ", ".join(f"{name.en} {name.zh}" for name in KINDS.values())
        raise Nonsense(
            f'nobody can declare "{shown(text)}": write its ranks, such as 34567, or one of {kinds}'
        ) from None
