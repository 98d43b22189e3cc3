"""The dealer board's own 27-lock, the condition for lifting the hands.

The machine process decides with all its data. This lock uses only the board's sensors and counts.
Without it, RELEASE is always refused.
"""

from . import protocol

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .dealer_machine import DealerMachine

POCKET_SENSORS = ("pocket_0", "pocket_1", "pocket_2", "pocket_3")
TRAY_SENSORS = ("pocket_4", "tray_feed")
PATH_SENSORS = ("window", "exit")
ACCESS_SENSORS = ("lid", "estop")
SOURCE_SENSORS = ("hopper", "shuffler")


def is_lift_down(dealer: "DealerMachine") -> bool:
    """Return whether both sensors of the lift report that it is fully down."""
    return dealer.all_see(("lift_down",)) and not dealer.any_sees(("lift",))


def is_path_clear(dealer: "DealerMachine") -> bool:
    """Return whether path, pockets and tray are empty, and the lift is down."""
    return is_lift_down(dealer) and not dealer.any_sees(
        POCKET_SENSORS + TRAY_SENSORS + PATH_SENSORS
    )


def has_right_counts(dealer: "DealerMachine") -> bool:
    """Return whether all fed cards landed, each pocket received `dealer.per_pocket` cards, and no
    card was a stray. Return False before the first BEGIN.
    """
    landed = dealer.landings.landed
    return (
        dealer.per_pocket > 0
        and landed[: protocol.TRAY] == [dealer.per_pocket] * protocol.TRAY
        and dealer.feeding.fed == dealer.landings.total()
        and not dealer.landings.has_flying()
        and not dealer.landings.strays
    )


def has_right_sensors(dealer: "DealerMachine") -> bool:
    """Return whether each pocket has cards, no other sensor detects a card, the lid is closed, and
    the e-stop is not pressed.
    """
    return dealer.all_see(POCKET_SENSORS) and not dealer.any_sees(
        SOURCE_SENSORS + TRAY_SENSORS + PATH_SENSORS + ACCESS_SENSORS
    )


def can_release(dealer: "DealerMachine") -> bool:
    """Return whether the board's 27-lock permits the release: all its conditions are true."""
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
