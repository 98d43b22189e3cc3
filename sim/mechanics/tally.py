"""What the machine itself has done since cards were put into the hopper."""

from dataclasses import dataclass


@dataclass
class FillingTally:
    """Counts and times of one filling of the hopper.

    `filling`: how often cards were put into the hopper. `arrived`: how often something
    came to stand in the window (two cards stuck together are one arrival). `feeding_ms`: what
    the feeders' ways took together, by the machine's own time, for the cards that were picked.
    Times are the loop's, in seconds.
    """

    filling: int = 0
    arrived: int = 0
    landed: int = 0
    feeding_ms: float = 0.0
    first_feed_s: float | None = None
    last_landing_s: float | None = None

    def reset(self) -> None:
        """Begin anew: cards were put into the hopper."""
        self.filling += 1
        self.arrived = self.landed = 0
        self.feeding_ms = 0.0
        self.first_feed_s = self.last_landing_s = None
