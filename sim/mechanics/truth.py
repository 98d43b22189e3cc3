"""The class `Truth`, which has the true position of every card at one moment.

The simulator compares it with the controller's claims.
"""

import msgspec

from sim.mechanics.cards import Cards


class Truth(msgspec.Struct, frozen=True):
    """The true positions of all cards and of the moving parts at one moment.

    `pockets`: N W S E tray. `path`: cards in a chute, falling or stuck. `hands`: cards that the
    players took out, N W S E, until they are laid down or loaded. `table`: cards that were played.
    `beside`: sets beside the machine, by name. `box`: cards out of play. A lift that is neither up
    nor down is between the two. Values for this filling of the hopper: `feeding_ms`, the feeders'
    time for the cards they picked, and times of the loop in seconds.
    """

    hopper: Cards
    shuffler: Cards
    feeder: Cards
    window: Cards
    path: Cards
    pockets: tuple[Cards, ...]
    floor: Cards
    hands: tuple[Cards, ...]
    table: Cards
    beside: dict[str, Cards]
    box: Cards
    gate: int | None
    lift_up: bool
    lift_down: bool
    lid_open: bool
    estop: bool
    passes: int
    arrived: int
    landed: int
    feeding_ms: float
    first_feed_s: float | None
    last_landing_s: float | None

    def all_cards(self) -> Cards:
        """Return every card, inside and outside the machine."""
        return (
            self.hopper
            + self.shuffler
            + self.feeder
            + self.window
            + self.path
            + sum(self.pockets, ())
            + self.floor
            + sum(self.hands, ())
            + self.table
            + sum(self.beside.values(), ())
            + self.box
        )

    def faces_in(self, pocket: int) -> tuple[int, ...]:
        """Return the faces of the cards in one pocket, from the bottom of the pile to its top."""
        return tuple(card.face for card in self.pockets[pocket])

    @property
    def mechanical_s(self) -> float | None:
        """The seconds from the first feed to the last landing, or None before both have
        occurred.
        """
        if self.first_feed_s is None or self.last_landing_s is None:
            return None
        return self.last_landing_s - self.first_feed_s
