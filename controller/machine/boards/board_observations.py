"""The observations and faults that follow from the boards' events, status and refusals.

Faces never pass here. The events of the reader board go to the vault.
"""

from collections.abc import Callable, Coroutine, Iterable
from typing import Any, Final, TypeVar

from controller.deal.ledger import OUTLETS
from controller.deal.observations import (
    AttemptStopped,
    CardAtReader,
    CardGated,
    CardLanded,
    FinalCount,
    LandingMissed,
    Observation,
    ShufflerDone,
    SourceEmptied,
    StrayLanded,
)
from controller.faults import driver_error_fault
from drivers.board_events import (
    BoardEvent,
    BoardEventCode,
    BoardStopReason,
    DealerMotor,
    FeedSource,
    JamPlace,
)
from drivers.errors import BoardRefused, DriverError, SessionRenewed
from drivers.link.frames import BoardResult
from drivers.typed_boards import DealerBoard, DealerStatus

# The fault that a stop of the board becomes. The missing reasons end nothing: HOST and MEMORY_FULL
# are caused by this program, and a board that received nothing continues when it gets a command.
_STOP_FAULTS = {
    BoardStopReason.ESTOP: "ESTOP_PRESSED",
    BoardStopReason.LID: "LID_OPENED",
    BoardStopReason.JAM: "JAM",
    BoardStopReason.STALL: "STALL",
    BoardStopReason.SUPPLY: "SUPPLY_LOW",
    BoardStopReason.EDGES_LOST: "EDGES_LOST",
    BoardStopReason.DRIVE: "DRIVE_LOST",
}


class BoardObservations:
    """A converter from events of the dealer board to observations, for one attempt."""

    def __init__(self, attempt: int) -> None:
        self._attempt, self._doubled = attempt, 0

    def observation_of(self, event: BoardEvent) -> Observation | None:
        """Return the observation that follows from an event, or None if the event has no effect.

        Events of another attempt have none. A DOUBLE marks the event AT_READER of the same card.
        """
        if event.attempt != self._attempt:
            return None
        if event.code is BoardEventCode.DOUBLE:
            self._doubled = event.index
        read = _OBSERVERS.get(event.code)
        return None if read is None else read(event, event.index == self._doubled)


def final_count(status: DealerStatus, pulses: int, set_faults: tuple[str, ...]) -> FinalCount:
    """Return a FinalCount from the dealer's status, the reader's pulses and `set_faults`."""
    n, w, s, e, _ = status.landed
    return FinalCount(
        hopper_empty=not (status.sees_hopper or status.sees_shuffler),
        path_empty=not (status.sees_window or status.sees_path),
        tray_empty=not status.sees_tray,
        lift_down=status.lift_down and not status.lift_up,
        pockets_seen=status.sees_pockets,
        board_fed=status.fed,
        board_landed=(n, w, s, e),
        board_locked=status.locked,
        reader_pulses=pulses,
        set_faults=set_faults,
    )


def fault_place(reason: str, events: Iterable[BoardEvent]) -> dict[str, str]:
    """Return the place of the fault `reason`, as values for the placeholders in the fault's text.

    The last board event of this fault decides. Return {} if no event shows a location.
    """
    if reason == "DRIVE_LOST":
        drives = (event for event in events if event.code is BoardEventCode.DRIVE)
        away = [str(event.index) for event in drives if not event.place]
        return {"board": "dealer"} | ({"drive": away[-1]} if away else {})
    if reason == "ENGINE_LOST":
        return {"board": "reader"}
    code, places = _FAULT_PLACES.get(reason, (None, {}))
    told = [places[event.place] for event in events if event.code is code and event.place in places]
    return {"place": told[-1]} if told else {}


def _outlet(event: BoardEvent) -> str:
    # A gate between two pockets has no outlet, and no card may be there.
    return OUTLETS[event.place] if event.place < len(OUTLETS) else "nowhere"


def _on_jam(event: BoardEvent, _: bool) -> Observation:
    return LandingMissed(event.index) if event.place == JamPlace.LANDING else AttemptStopped("JAM")


def _on_stopped(event: BoardEvent, _: bool) -> Observation | None:
    reason = _STOP_FAULTS.get(BoardStopReason(event.place))
    return None if reason is None else AttemptStopped(reason)


_FAULT_PLACES: dict[str, tuple[BoardEventCode, dict[int, str]]] = {
    "JAM": (BoardEventCode.JAM, {place: place.name.lower() for place in JamPlace}),
    "STALL": (
        BoardEventCode.STALL,
        {
            DealerMotor.FEED: "feeder",
            DealerMotor.PASS: "window",
            DealerMotor.GATE: "gate",
            DealerMotor.SHUFFLE: "shuffler",
            DealerMotor.LIFT: "lift",
        },
    ),
}
"""The board event of each fault, and the names of its places in the fault catalogue."""
_OBSERVERS: dict[BoardEventCode, Callable[[BoardEvent, bool], Observation | None]] = {
    BoardEventCode.SHUFFLED: lambda event, _: ShufflerDone(),
    BoardEventCode.AT_READER: lambda event, doubled: CardAtReader(event.index, doubled),
    BoardEventCode.GATE: lambda event, _: CardGated(event.index, _outlet(event)),
    BoardEventCode.LANDED: lambda event, _: CardLanded(event.index, _outlet(event)),
    BoardEventCode.STRAY: lambda event, _: StrayLanded(_outlet(event)),
    BoardEventCode.HOPPER_EMPTY: lambda event, _: SourceEmptied(
        tray=event.place == FeedSource.TRAY
    ),
    BoardEventCode.JAM: _on_jam,
    BoardEventCode.STALL: lambda event, _: AttemptStopped("STALL"),
    BoardEventCode.STOPPED: _on_stopped,
    BoardEventCode.LID: lambda event, _: AttemptStopped("LID_OPENED") if event.place else None,
    BoardEventCode.ENGINE: lambda event, _: None if event.place else AttemptStopped("ENGINE_LOST"),
}


_T = TypeVar("_T")
# The fault of a refused BEGIN, if the board's answer alone shows it.
_REFUSAL_FAULTS = {
    BoardResult.LID_OPEN: "LID_OPENED",
    BoardResult.ESTOP: "ESTOP_PRESSED",
    BoardResult.NO_ENGINE: "ENGINE_LOST",
    BoardResult.SUPPLY_LOW: "SUPPLY_LOW",
    BoardResult.NO_DRIVE: "DRIVE_LOST",
}
MAX_BEGIN_RETRIES: Final = 10
BEGIN_RETRY_INTERVAL_S: Final = 0.2
"""Wait before a refused BEGIN is repeated, in seconds."""
_TRANSIENT_RESULTS: Final = frozenset({BoardResult.NOT_CLEAR, BoardResult.BUSY, BoardResult.MEMORY})
"""Results that may soon change: a hand moves out of the way, or a motor stops."""


async def retry_once(command: Callable[[], Coroutine[Any, Any, _T]]) -> _T:
    """Send a command and return its answer. Send it once more if the serial session was renewed.

    Commands are absolute, so this is safe.
    """
    try:
        return await command()
    except SessionRenewed:
        return await command()


async def refusal_fault(
    refused: BoardRefused, dealer: DealerBoard, *, are_cards_fed: bool
) -> tuple[str, dict[str, bool | int]]:
    """Return the fault that explains a board's refusal, and sensor values as the fault's evidence.

    `are_cards_fed` is True if the attempt has fed cards, so that the pockets need not be empty.
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
    """Return whether the refusal of a BEGIN is transient: the board may accept BEGIN soon.

    `fault` is the result of `refusal_fault`: BOARD_REFUSED if no obstacle is left.
    """
    return fault == "BOARD_REFUSED" and refused.result in _TRANSIENT_RESULTS


def _is_contradiction(status: DealerStatus, refused: BoardRefused) -> bool:
    """Return whether the sensors show anything else than four hands on a lowered lift.

    With right hands, all pockets have cards, and no other place has any. If the refusal is
    NOT_CLEAR, only the lift is checked.
    """
    down = status.lift_down and not status.lift_up
    if refused.result is BoardResult.NOT_CLEAR:
        return not down
    elsewhere = status.sees_hopper or status.sees_shuffler or status.sees_tray
    path = status.sees_window or status.sees_path
    return elsewhere or path or not (down and all(status.sees_pockets))


def can_reach_hands(status: DealerStatus) -> bool:
    """Return whether players can reach their hands.

    They can if the lift is up, or if it is between its ends and a pocket is empty.
    """
    return status.lift_up or not (status.lift_down or all(status.sees_pockets))


def lift_obstruction(status: DealerStatus) -> str | None:
    """Return the fault of the lift or its pockets, or None if the lift is down and empty."""
    if any(status.sees_pockets):
        return "POCKET_NOT_EMPTY"
    if status.lift_down:
        return "SENSOR_STUCK" if status.lift_up else None
    return "STALL"


def obstruction(status: DealerStatus) -> str | None:
    """Return the fault that prevents a new attempt now, or None if lift and card path are clear."""
    return lift_obstruction(status) or (None if status.is_clear else "PATH_NOT_CLEAR")
