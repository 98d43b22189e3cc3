"""What a proof is made of, taken out of an attempt's entries: of the right kind, or Unproved."""

from typing import Any

from controller.journal.fold import AttemptHistory
from controller.journal.verify.findings import CommitmentContext


class UnprovableError(Exception):
    """An entry does not hold what a proof is made of; `n` is its number."""

    def __init__(self, n: int, what: str) -> None:
        super().__init__(what)
        self.n = n


def commitment_context_of(progress: AttemptHistory) -> CommitmentContext:
    """Return what the commitment says that it is bound to. Raises Unproved."""
    return CommitmentContext(
        table_key=text_field(progress, "committed", "table_key"),
        match=text_field(progress, "committed", "match"),
        deal=progress.steps["committed"].deal,
        attempt=progress.attempt,
        profile_hash=hex_field(progress, "committed", "profile_hash").hex(),
        set=text_field(progress, "committed", "set"),
    )


def deck_of(progress: AttemptHistory) -> tuple[int, bool, int]:
    """Return packs, jokers and cards of the attempt's set. Raises Unproved."""
    found = _typed_field(progress, "committed", "deck", dict)
    packs, jokers, cards = (found.get(name) for name in ("packs", "jokers", "cards"))
    if type(packs) is int and type(jokers) is bool and type(cards) is int:
        if 1 <= packs <= 4 and cards == packs * (52 + 2 * jokers):
            return packs, jokers, cards
        raise UnprovableError(
            progress.steps["committed"].n, f"no set of {packs} packs has {cards} cards"
        )
    raise UnprovableError(progress.steps["committed"].n, "its deck has no packs, jokers and cards")


def cut_of(progress: AttemptHistory) -> int | None:
    """Return the revealed cut. Raises Unproved."""
    cut = progress.steps["revealed"].data.get("cut")
    if cut is None or (type(cut) is int and cut >= 0):
        return cut
    raise UnprovableError(progress.steps["revealed"].n, "its cut is no number")


def hex_field(progress: AttemptHistory, kind: str, name: str, size: int | None = 32) -> bytes:
    """Return bytes that stand as lower-case hex; `size` of them unless it is None.

    Raises Unproved.
    """
    told = text_field(progress, kind, name)
    try:
        found = bytes.fromhex(told)
    except ValueError:
        found = b""
    if found.hex() != told or len(found) != (len(found) if size is None else size):
        raise UnprovableError(progress.steps[kind].n, f"its {name} is no hex of the right length")
    return found


def text_field(progress: AttemptHistory, kind: str, name: str) -> str:
    """Return a text of an entry's data. Raises Unproved."""
    return str(_typed_field(progress, kind, name, str))


def has_open_hands(progress: AttemptHistory) -> bool:
    """Tell whether the bound hands stand open."""
    record = progress.data("record") or {}
    return "held" in progress.steps and bool(record.get("nonce") and record.get("hands"))


def _typed_field(progress: AttemptHistory, kind: str, name: str, form: type) -> Any:
    entry = progress.steps[kind]
    value = entry.data.get(name)
    if not isinstance(value, form):
        raise UnprovableError(entry.n, f"{kind} has no {name}")
    return value
