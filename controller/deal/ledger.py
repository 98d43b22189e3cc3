"""The ledger of one attempt: the place, the route and the landing of each card that was fed.

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
    """The ledger's account of one fed card, or of a double feed (two cards fed as one)."""

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
        """Return the index of the card as text, never its pocket."""
        return f"Card(index={self.index})"

    def __rich_repr__(self) -> list[tuple[str, object]]:
        """Return only the index, so that the library `rich` does not print the pocket."""
        return [("index", self.index)]


class Ledger(msgspec.Struct, frozen=True, kw_only=True):
    """The accounts of all fed cards of an attempt, and the places that need a card from the tray.

    These places are in `open_places`. The last place in this tuple gets a card first.
    """

    expected: int
    cards: tuple[LedgerCard, ...] = ()
    open_places: tuple[int, ...] = ()

    def __repr__(self) -> str:
        """Return as text how many cards were fed, refed and expected, but not their pockets."""
        return f"Ledger(fed={self.fed}, refed={self.refed}, expected={self.expected})"

    def __rich_repr__(self) -> list[tuple[str, object]]:
        """Return only `fed` and `refed`, so that the library `rich` does not print the pockets."""
        return [("fed", self.fed), ("refed", self.refed)]

    def card(self, index: int) -> LedgerCard | None:
        """Return the account of card `index`, or None if this card has not come to the window."""
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
        """Return {outlet: number of cards in it} for the four pockets and the tray."""
        seen = Counter(card.landed for card in self.cards)
        return {seat: seen[seat] for seat in SEATS} | {TRAY: self.in_tray}

    def places(self) -> dict[int, int]:
        """Return {feed index: place in the sequence} of all cards that landed in a pocket."""
        return {card.index: card.place for card in self.cards if card.landed in SEATS}

    def count_tray_rounds(self, place: int) -> int:
        """Return how many cards from the tray were fed for `place`, a place of the sequence."""
        return sum(card.from_tray and card.place == place for card in self.cards)


def with_card(ledger: Ledger, index: int, *, from_tray: bool, doubled: bool) -> Ledger | None:
    """Return the ledger with a new account of card `index`, or None if no such card can come now.

    The card has just come to the window. It cannot come if `index` is not the next index, or if the
    sequence has no place left for it. `doubled` is True if the sensor detected two cards at once.
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
    """Return the ledger with some fields of card `index` changed to the values in `fields`."""
    card = replace(ledger.cards[index - 1], **fields)
    cards = (*ledger.cards[: index - 1], card, *ledger.cards[index:])
    return replace(ledger, cards=cards)


def with_landing(ledger: Ledger, index: int, outlet: str) -> Ledger:
    """Return the ledger after card `index` landed in `outlet`, a pocket or the tray.

    If the outlet is the tray, the place of the card becomes open.
    """
    after = with_fields(ledger, index, landed=outlet)
    if outlet != TRAY:
        return after
    return replace(after, open_places=(*after.open_places, after.cards[index - 1].place))


def with_unreached_places(ledger: Ledger) -> Ledger:
    """Return the ledger with all places for which the hopper fed no card added to `open_places`.

    After a double feed the hopper feeds fewer cards than there are places. Cards from the tray fill
    the unreached places last.
    """
    unreached = range(ledger.expected, ledger.fed, -1)
    return replace(ledger, open_places=(*unreached, *ledger.open_places))
