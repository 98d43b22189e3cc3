"""What the boards' words mean for an attempt: one table, no decisions.

Faces never come this way: the reader's events go to the vault.
"""

from collections.abc import Callable, Iterable

from controller.deal.ledger import OUTLETS
from controller.deal.sightings import (
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
from drivers.dealer import DealerStatus
from drivers.events import (
    BoardEvent,
    BoardEventCode,
    BoardStopReason,
    DealerMotor,
    FeedSource,
    JamPlace,
)

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
