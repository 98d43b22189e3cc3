"""The dealer board's own 27-lock: hands are lifted out only when this holds.

The machine decides with everything it knows; this is what the board can see by
itself, and it refuses RELEASE without it whatever it is told.
"""

from . import protocol

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .dealer import DealerCore

POCKET_SENSORS = ("pocket_0", "pocket_1", "pocket_2", "pocket_3")
TRAY_SENSORS = ("pocket_4", "tray_feed")
PATH_SENSORS = ("window", "exit")
ACCESS_SENSORS = ("lid", "estop")
SOURCE_SENSORS = ("hopper", "shuffler")


def is_lift_down(dealer: "DealerCore") -> bool:
    """Return whether the lift is seen fully down, and not up."""
    return dealer.all_see(("lift_down",)) and not dealer.any_sees(("lift",))


def is_path_clear(dealer: "DealerCore") -> bool:
    """Return whether pockets, tray, window and path are seen empty, and the lift is down."""
    return is_lift_down(dealer) and not dealer.any_sees(
        POCKET_SENSORS + TRAY_SENSORS + PATH_SENSORS
    )


def has_right_counts(dealer: "DealerCore") -> bool:
    """Return whether every card fed was landed, and each pocket got its number."""
    landed = dealer.landings.landed
    return (
        dealer.per_pocket > 0
        and landed[: protocol.TRAY] == [dealer.per_pocket] * protocol.TRAY
        and dealer.feeding.fed == dealer.landings.total()
        and not dealer.landings.has_flying()
        and not dealer.landings.strays
    )


def has_right_sensors(dealer: "DealerCore") -> bool:
    """Return whether hands lie in all pockets, nothing lies elsewhere, and nobody reaches in."""
    return dealer.all_see(POCKET_SENSORS) and not dealer.any_sees(
        SOURCE_SENSORS + TRAY_SENSORS + PATH_SENSORS + ACCESS_SENSORS
    )


def can_release(dealer: "DealerCore") -> bool:
    """Return whether this attempt's hands may be released."""
    return (
        dealer.is_in_attempt()
        and not dealer.release_forbidden
        and not dealer.events_lost
        and dealer.feeding.is_idle()
        and not dealer.feeding.open_doubles
        and has_right_counts(dealer)
        and has_right_sensors(dealer)
        and is_lift_down(dealer)
    )
