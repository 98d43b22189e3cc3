"""How fast the parts of the machine are, and what is wrong with it from the start."""

from dataclasses import dataclass

from sim.mechanics.faults import Fault


@dataclass(frozen=True)
class Settings:
    """The machine's figures; times in milliseconds at speed 1.

    One card takes about 100: feed 62, read 15, gate at most 15, pass 15; its flight
    of 40 goes on while the next card is fed. `speed` divides all of them, and
    nothing else: no board's limit, heartbeat or clock.
    """

    cards: int = 108
    back: int = 0
    speed: float = 1.0
    feed_ms: float = 62.0
    feed_spread_ms: float = 5.0
    read_ms: float = 15.0
    gate_ms: float = 15.0
    pass_ms: float = 15.0
    flight_ms: float = 40.0
    flight_spread_ms: float = 4.0
    shuffle_ms: float = 1000.0
    lift_ms: float = 1500.0
    faults: tuple[Fault, ...] = ()
