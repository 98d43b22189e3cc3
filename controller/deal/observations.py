"""The observations (inputs) and the effects (outputs) of an attempt, all without a face.

Observations come from the boards and the vault. A card is only an index here, without a face.
"""

from enum import StrEnum

import msgspec


class LookOutcome(StrEnum):
    """The vault's verdict after a look: accept the card, read it again, or send it to the tray.

    The code that routes cards receives nothing else about a face.
    """

    ACCEPT = "accept"
    REREAD = "reread"
    TRAY = "tray"


class ObservationBase(msgspec.Struct, frozen=True, gc=False):
    """The base class of all observations of an attempt."""


class BothBegan(ObservationBase, frozen=True):
    """Both boards began the attempt. Before this, pockets, tray and path were empty."""


class ShufflerDone(ObservationBase, frozen=True):
    """The shuffler has finished all its passes."""


class CardAtReader(ObservationBase, frozen=True):
    """A card is in the window. `doubled` is True if the sensor detected two cards at once."""

    index: int
    doubled: bool = False


class CardVerdict(ObservationBase, frozen=True):
    """The vault's verdict on card `index`. `why` names the fault if the card is not accepted."""

    index: int
    look: LookOutcome
    why: str | None = None


class LookOverdue(ObservationBase, frozen=True):
    """Only one of the events AT_READER and READ of card `index` arrived within the time limit."""

    index: int


class CardGated(ObservationBase, frozen=True):
    """The sensor after the gate detected card `index` on its way to `outlet`."""

    index: int
    outlet: str


class CardLanded(ObservationBase, frozen=True):
    """Card `index` landed in `outlet` within the time limit after it passed the gate."""

    index: int
    outlet: str


class StrayLanded(ObservationBase, frozen=True):
    """A card was detected in `outlet`, where no card was expected."""

    outlet: str


class SourceEmptied(ObservationBase, frozen=True):
    """The hopper (the tray, if `tray` is True) is empty, and no card is on the path."""

    tray: bool = False


class LandingMissed(ObservationBase, frozen=True):
    """Card `index` passed the gate, but no sensor detected its landing within the time limit."""

    index: int


class AttemptStopped(ObservationBase, frozen=True):
    """The attempt must end for a reason outside the cards, for example a stalled motor.

    The reason is a name of the fault catalogue.
    """

    reason: str


class FinalCount(ObservationBase, frozen=True, kw_only=True):
    """The sensors' state, the boards' counts and the set's faults, after the last card has landed.

    The sensors show the present state. `board_*` and `reader_*` are the boards' own totals of this
    attempt. `set_faults` is the vault's verdict on the set, as names of the fault catalogue.
    """

    hopper_empty: bool
    path_empty: bool
    tray_empty: bool
    lift_down: bool
    pockets_seen: tuple[bool, bool, bool, bool]
    board_fed: int
    board_landed: tuple[int, int, int, int]
    board_locked: bool
    reader_pulses: int
    set_faults: tuple[str, ...]


Observation = (
    BothBegan
    | ShufflerDone
    | CardAtReader
    | CardVerdict
    | LookOverdue
    | CardGated
    | CardLanded
    | StrayLanded
    | SourceEmptied
    | LandingMissed
    | FinalCount
    | AttemptStopped
)


class AttemptEffectBase(msgspec.Struct, frozen=True, gc=False):
    """The base class of all effects: actions that the card loop carries out for an attempt."""


class ShuffleCards(AttemptEffectBase, frozen=True):
    """Run the shuffler for `passes` passes over the set."""

    passes: int


class FeedCards(AttemptEffectBase, frozen=True):
    """Feed cards up to index `upto`, from the tray if `tray` is True, else from the hopper."""

    upto: int
    tray: bool = False


class RouteCard(AttemptEffectBase, frozen=True):
    """Send card `index`, which is in the window, to `outlet` (a pocket or the tray)."""

    index: int
    outlet: str


class RereadCard(AttemptEffectBase, frozen=True):
    """Read card `index`, which is in the window, again."""

    index: int


class AwaitLook(AttemptEffectBase, frozen=True):
    """Start the time limit within which both AT_READER and READ of card `index` must arrive."""

    index: int


class RequestFinalCount(AttemptEffectBase, frozen=True):
    """Request the boards' final counts and the vault's verdict on the set, as one FinalCount."""


class HoldHands(AttemptEffectBase, frozen=True):
    """Hold the hands in the machine: they are right, and the 27-lock allows their release."""


class RefuseHands(AttemptEffectBase, frozen=True):
    """Stop the boards, because the attempt failed. `reasons` has the names of the faults."""

    reasons: tuple[str, ...]


AttemptEffect = (
    ShuffleCards
    | FeedCards
    | RouteCard
    | RereadCard
    | AwaitLook
    | RequestFinalCount
    | HoldHands
    | RefuseHands
)
