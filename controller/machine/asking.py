"""What the boards are asked, and what a refusal of theirs means."""

from collections.abc import Callable, Coroutine
from typing import Any, Final, TypeVar

from controller.faults import driver_error_fault
from drivers.dealer import DealerBoard, DealerStatus
from drivers.errors import BoardRefused, BoardResult, DriverError, SessionRenewed

_T = TypeVar("_T")
# Why a board does not begin, where its answer alone says it.
_REFUSAL_FAULTS = {
    BoardResult.LID_OPEN: "LID_OPENED",
    BoardResult.ESTOP: "ESTOP_PRESSED",
    BoardResult.NO_ENGINE: "ENGINE_LOST",
    BoardResult.SUPPLY_LOW: "SUPPLY_LOW",
    BoardResult.NO_DRIVE: "DRIVE_LOST",
}
MAX_BEGIN_RETRIES: Final = 10
BEGIN_RETRY_INTERVAL_S: Final = 0.2
"""How often a board is asked to begin once more, and how long after its refusal."""
_TRANSIENT_RESULTS: Final = frozenset({BoardResult.NOT_CLEAR, BoardResult.BUSY, BoardResult.MEMORY})
"""What may be over by the next look: a hand that goes, a motor that comes to its end."""


async def retry_once(command: Callable[[], Coroutine[Any, Any, _T]]) -> _T:
    """Do a command again once where its session ended: it says where to be, not what to do."""
    try:
        return await command()
    except SessionRenewed:
        return await command()


async def refusal_fault(
    refused: BoardRefused, dealer: DealerBoard, *, are_cards_fed: bool
) -> tuple[str, dict[str, bool | int]]:
    """Return the fault behind a board's refusal, and what its sensors saw for it.

    `dealt`: cards of the attempt were fed already, so that no pocket is to be empty.
    """
    if refused.result not in (BoardResult.NOT_CLEAR, BoardResult.NOT_LOCKED):
        return _REFUSAL_FAULTS.get(refused.result, "BOARD_REFUSED"), {}
    try:
        status = await retry_once(dealer.get_status)
    except DriverError as error:
        return driver_error_fault(error), {}
    if are_cards_fed:
        return "SENSOR_STUCK" if _is_contradiction(status, refused) else "BOARD_REFUSED", {}
    pockets_empty = not any(status.sees_pockets)
    seen: dict[str, bool | int] = {"pockets_empty": pockets_empty, "path_empty": status.is_clear}
    return obstruction(status) or "BOARD_REFUSED", seen


def is_transient(refused: BoardRefused, fault: str) -> bool:
    """Tell whether what a board did not begin for is gone: `why` names nothing that is there."""
    return fault == "BOARD_REFUSED" and refused.result in _TRANSIENT_RESULTS


def _is_contradiction(status: DealerStatus, refused: BoardRefused) -> bool:
    """Tell whether sensors say now what cannot be: the lift has not moved since it was seen down,
    and hands that were counted lie in all pockets and nowhere else.
    """
    down = status.lift_down and not status.lift_up
    if refused.result is BoardResult.NOT_CLEAR:
        return not down
    elsewhere = status.sees_hopper or status.sees_shuffler or status.sees_tray
    path = status.sees_window or status.sees_path
    return elsewhere or path or not (down and all(status.sees_pockets))


def can_reach_hands(status: DealerStatus) -> bool:
    """Tell whether players may have their hands: the lift is up, or left with a pocket empty."""
    return status.lift_up or not (status.lift_down or all(status.sees_pockets))


def lift_obstruction(status: DealerStatus) -> str | None:
    """Return why the lift is not down, as the catalogue names it; None where it is."""
    if any(status.sees_pockets):
        return "POCKET_NOT_EMPTY"
    if status.lift_down:
        return "SENSOR_STUCK" if status.lift_up else None
    return "STALL"


def obstruction(status: DealerStatus) -> str | None:
    """Return why a new attempt would find the machine not clear; None where it would not."""
    return lift_obstruction(status) or (None if status.is_clear else "PATH_NOT_CLEAR")
