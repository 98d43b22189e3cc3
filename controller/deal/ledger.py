"""The ledger of cards: where each card of an attempt was seen, and nothing else.

Totals are derived from the ledger and never counted separately. A ledger is a value, and each
observation makes a new one. Places: index i from the hopper has place i. The place of a card that
lands in the tray becomes open. Cards that are fed again from the tray take the open places, from
the last to the first, and then the places that no index reached, in order (PROOF.md, 5). So no
verdict on a card moves another card.
"""

from collections import Counter

import msgspec
from msgspec.structs import replace

SEATS = ("N", "W", "S", "E")
TRAY = "tray"
OUTLETS = (*SEATS, TRAY)
# At most 6 cards and two rounds of the tray, then a misdeal.
MAX_TRAY_CARDS = 6
MAX_TRAY_ROUNDS = 2


class LedgerCard(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The record of one fed card in the ledger, or of two cards that were fed together."""

    index: int
    place: int
    from_tray: bool = False
    doubled: bool = False
    read: bool = False
    why: str | None = None
    route: str | None = None
    gated: str | None = None
    landed: str | None = None

    def __repr__(self) -> str:
        """Return the index of the card, never its pocket."""
        return f"Card(index={self.index})"

    def __rich_repr__(self) -> list[tuple[str, object]]:
        """Return only the index to the library `rich`, which would otherwise print every field."""
        return [("index", self.index)]


class Ledger(msgspec.Struct, frozen=True, kw_only=True):
    """The account of all cards that an attempt has fed, and of the places still open in the
    sequence.

    The open places form a stack: the last one is filled next.
    """

    expected: int
    cards: tuple[LedgerCard, ...] = ()
    open_places: tuple[int, ...] = ()

    def __repr__(self) -> str:
        """Return the number of fed cards, never a pocket."""
        return f"Ledger(fed={self.fed}, refed={self.refed}, expected={self.expected})"

    def __rich_repr__(self) -> list[tuple[str, object]]:
        """Return only two numbers to the library `rich`, which would otherwise print every
        field.
        """
        return [("fed", self.fed), ("refed", self.refed)]

    def card(self, index: int) -> LedgerCard | None:
        """Return the card with this number in the feeding order, or None if it did not come to
        the window.
        """
        return self.cards[index - 1] if 0 < index <= len(self.cards) else None

    @property
    def fed(self) -> int:
        """Return the number of cards from the hopper that came to the window."""
        return [card.from_tray for card in self.cards].count(False)

    @property
    def refed(self) -> int:
        """Return the number of cards from the tray that came to the window."""
        return [card.from_tray for card in self.cards].count(True)

    @property
    def in_tray(self) -> int:
        """Return the number of cards in the tray.

        This is the number of landings there, minus the cards that were fed from there. A doubled
        index brought two cards, unless the hopper gave its full number anyway. Then the double was
        a false alarm.
        """
        doubles = [card.doubled for card in self.cards].count(True)
        landed = [card.landed for card in self.cards].count(TRAY)
        return landed + min(doubles, self.expected - self.fed) - self.refed

    def count_landed(self) -> dict[str, int]:
        """Return how many cards landed in each pocket and in the tray."""
        seen = Counter(card.landed for card in self.cards)
        return {seat: seen[seat] for seat in SEATS} | {TRAY: self.in_tray}

    def places(self) -> dict[int, int]:
        """Return, for each card that landed in a pocket, its place in the sequence, by feed
        index.
        """
        return {card.index: card.place for card in self.cards if card.landed in SEATS}

    def count_tray_rounds(self, place: int) -> int:
        """Return how many times a card for this place of the sequence was fed from the tray."""
        return sum(card.from_tray and card.place == place for card in self.cards)


def with_card(ledger: Ledger, index: int, *, from_tray: bool, doubled: bool) -> Ledger | None:
    """Return the ledger after a card came to the window, or None if the sequence has no place
    for it.
    """
    aside = ledger.open_places
    if not from_tray:
        place = index
    elif aside:
        *rest, place = aside
        aside = tuple(rest)
    else:
        return None
    if index != len(ledger.cards) + 1 or not 1 <= place <= ledger.expected:
        return None
    card = LedgerCard(index=index, place=place, from_tray=from_tray, doubled=doubled)
    return replace(ledger, cards=(*ledger.cards, card), open_places=aside)


def with_fields(ledger: Ledger, index: int, **fields: str | bool | None) -> Ledger:
    """Return the ledger with other values in the fields of one known card."""
    card = replace(ledger.cards[index - 1], **fields)
    cards = (*ledger.cards[: index - 1], card, *ledger.cards[index:])
    return replace(ledger, cards=cards)


def with_landing(ledger: Ledger, index: int, outlet: str) -> Ledger:
    """Return the ledger after a card landed in `outlet`.

    The place of a card in the tray becomes open.
    """
    after = with_fields(ledger, index, landed=outlet)
    if outlet != TRAY:
        return after
    return replace(after, open_places=(*after.open_places, after.cards[index - 1].place))


def with_unreached_places(ledger: Ledger) -> Ledger:
    """Return the ledger after the hopper became empty.

    The places that no index reached then wait for cards of the tray. They are filled last.
    """
    unreached = range(ledger.expected, ledger.fed, -1)
    return replace(ledger, open_places=(*unreached, *ledger.open_places))
