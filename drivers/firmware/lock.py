"""The dealer board's own 27-lock: hands are lifted out only when this holds.

The machine decides with everything it knows; this is what the board can see by
itself, and it refuses RELEASE without it whatever it is told.
"""

from . import wire

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .dealer import Dealer

POCKETS = ("pocket_0", "pocket_1", "pocket_2", "pocket_3")
TRAY = ("pocket_4", "tray_feed")
PATH = ("window", "exit")
HANDS = ("lid", "estop")
SOURCES = ("hopper", "shuffler")


def lift_down(dealer: "Dealer") -> bool:
    """Return whether the lift is seen fully down, and not up."""
    return dealer.all_see(("lift_down",)) and not dealer.any_sees(("lift",))


def is_path_clear(dealer: "Dealer") -> bool:
    """Return whether pockets, tray, window and path are seen empty, and the lift is down."""
    return lift_down(dealer) and not dealer.any_sees(POCKETS + TRAY + PATH)


def has_right_counts(dealer: "Dealer") -> bool:
    """Return whether every card fed was landed, and each pocket got its number."""
    landed = dealer.landings.landed
    return (
        dealer.per > 0
        and landed[: wire.TRAY] == [dealer.per] * wire.TRAY
        and dealer.feeding.fed == dealer.landings.total()
        and not dealer.landings.has_flying()
        and not dealer.landings.strays
    )


def has_right_sensors(dealer: "Dealer") -> bool:
    """Return whether hands lie in all pockets, nothing lies elsewhere, and nobody reaches in."""
    return dealer.all_see(POCKETS) and not dealer.any_sees(SOURCES + TRAY + PATH + HANDS)


def holds(dealer: "Dealer") -> bool:
    """Return whether this attempt's hands may be released."""
    return (
        dealer.is_in_attempt()
        and not dealer.spoiled
        and not dealer.overflowed
        and dealer.feeding.at_rest()
        and not dealer.feeding.open_doubles
        and has_right_counts(dealer)
        and has_right_sensors(dealer)
        and lift_down(dealer)
    )
