"""What the boards are asked, and what a refusal of theirs means."""

from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from controller.faults import fault_name
from drivers.dealer import Dealer
from drivers.errors import DriverError, Refused, Result, SessionRenewed

_T = TypeVar("_T")
# Why a board does not begin, where its answer alone says it.
_REFUSALS = {Result.LID_OPEN: "LID_OPENED", Result.ESTOP: "ESTOP_PRESSED"}


async def absolute(command: Callable[[], Coroutine[Any, Any, _T]]) -> _T:
    """Do a command again once where its session ended: it says where to be, not what to do."""
    try:
        return await command()
    except SessionRenewed:
        return await command()


async def why_refused(
    refused: Refused, dealer: Dealer, *, held: bool
) -> tuple[str, dict[str, bool | int]]:
    """Return the fault behind a board's refusal, and what its sensors saw for it.

    `held`: the hands of the attempt were right already.
    """
    if refused.result is not Result.NOT_CLEAR:
        return _REFUSALS.get(refused.result, "BOARD_REFUSED"), {}
    if held:
        return "SENSOR_STUCK", {}  # of a lift that has lowered nothing and is not seen down
    try:
        status = await absolute(dealer.status)
    except DriverError as error:
        return fault_name(error), {}
    pockets_empty = not any(status.sees_pockets)
    seen: dict[str, bool | int] = {"pockets_empty": pockets_empty, "path_empty": status.clear}
    return "PATH_NOT_CLEAR" if pockets_empty else "POCKET_NOT_EMPTY", seen
