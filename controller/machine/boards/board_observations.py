"""What the boards' words mean for an attempt: one table, no decisions.

Faces never come this way: the reader's events go to the vault.
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
from drivers.errors import BoardRefused, BoardResult, DriverError, SessionRenewed
from drivers.typed_boards import DealerBoard, DealerStatus

# Why a stop of the board ends the attempt; the ones missing here end nothing by themselves:
# HOST and MEMORY_FULL are ours, and a board that missed its host goes on when told to.
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
    """What the dealer board's events tell one attempt, in the order in which they came."""

    def __init__(self, attempt: int) -> None:
        self._attempt, self._doubled = attempt, 0

    def observation_of(self, event: BoardEvent) -> Observation | None:
        """Return what an event tells the attempt; None: nothing, or it is another one's.

        A DOUBLE says something of the card behind it.
        """
        if event.attempt != self._attempt:
            return None
        if event.code is BoardEventCode.DOUBLE:
            self._doubled = event.index
        read = _OBSERVERS.get(event.code)
        return None if read is None else read(event, event.index == self._doubled)


def final_count(status: DealerStatus, pulses: int, set_faults: tuple[str, ...]) -> FinalCount:
    """Return the final count: what the dealer board says and sees, the reader board's pulses,
    and the vault's verdict on the set."""
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
    """Return the place that a board named last with what became this reason, as evidence for
    the fault catalogue; nothing where it named none."""
    if reason == "DRIVE_LOST":
        away = [
            event.index
            for event in events
            if event.code is BoardEventCode.DRIVE and not event.place
        ]
        return {"board": "dealer", "drive": str(away[-1])} if away else {"board": "dealer"}
    if reason == "ENGINE_LOST":
        return {"board": "reader"}
    code, places = _FAULT_PLACES.get(reason, (None, {}))
    told = [places[event.place] for event in events if event.code is code and event.place in places]
    return {"place": told[-1]} if told else {}


def _outlet(event: BoardEvent) -> str:
    # A gate that is between two pockets has no outlet: no card may be where it is.
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
"""The event that becomes a reason, and its places in the catalogue's words."""
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
