"""What a player declared his wild cards to be: a kind, ranks, or both (seed 000 A7.2–3)."""

import msgspec

from controller.rules.combos.combo import KINDS, Combo, Kind
from controller.rules.combos.notation import Nonsense, NotationError, parse_ranks, shown
from controller.rules.order import natural

_KINDS: dict[str, Kind] = {
    said: kind
    for kind, name in KINDS.items()
    for said in (kind.replace("_", ""), name.zh, *name.others)
}


class Declaration(msgspec.Struct, frozen=True, gc=False):
    """What was declared; what is None was left open. `ranks` are natural and sorted."""

    text: str
    kind: Kind | None
    ranks: tuple[int, ...] | None

    def allows(self, combo: Combo) -> bool:
        """Tell whether a reading is what was declared."""
        return (self.kind is None or combo.kind == self.kind) and (
            self.ranks is None or tuple(sorted(map(natural, combo.faces))) == self.ranks
        )


def parse_declaration(text: str) -> Declaration:
    """Return what was declared: "plate", "钢板", "34567" or "straight 34567".

    Suits in it count for nothing. Raises Nonsense, one line.
    """
    words = text.lower().replace("-", " ").replace("_", " ").split()
    for count in range(len(words), 0, -1):
        kind = _KINDS.get("".join(words[:count]))
        if kind:
            return Declaration(text, kind, _ranks(text, " ".join(words[count:])))
    ranks = _ranks(text, text)
    if ranks is None:
        raise Nonsense("the declaration is empty: name a kind or ranks, such as plate or 34567")
    return Declaration(text, None, ranks)


def _ranks(text: str, part: str) -> tuple[int, ...] | None:
    try:
        return tuple(sorted(parse_ranks(part))) or None
    except NotationError:
        kinds = ", ".join(name.en for name in KINDS.values())
        raise Nonsense(
            f'nobody can declare "{shown(text)}": write its ranks, such as 34567, or one of {kinds}'
        ) from None
