"""What an attempt can see: events of the boards and the vault, without a face.

A card is an index here, and its look a verdict.
"""

from enum import StrEnum

import msgspec


class LookOutcome(StrEnum):
    """The vault's verdict on one card, all that routing ever learns of it."""

    ACCEPT = "accept"
    REREAD = "reread"
    TRAY = "tray"


class ObservationBase(msgspec.Struct, frozen=True, gc=False):
    """Something that was seen."""


class BothBegan(ObservationBase, frozen=True):
    """Both boards opened the attempt: pockets, path and tray were seen empty."""


class ShufflerDone(ObservationBase, frozen=True):
    """The shuffler finished its passes."""


class CardAtReader(ObservationBase, frozen=True):
    """A card stands in the window; `doubled`: the sensor saw two at once."""

    index: int
    doubled: bool = False


class CardVerdict(ObservationBase, frozen=True):
    """The vault looked at a card; `why` names the fault where it did not accept."""

    index: int
    look: LookOutcome
    why: str | None = None


class LookOverdue(ObservationBase, frozen=True):
    """300 ms passed and only one of AT_READER and READ came for this index."""

    index: int


class CardGated(ObservationBase, frozen=True):
    """A card crossed the gate towards `outlet`, as the gate's own sensor says."""

    index: int
    outlet: str


class CardLanded(ObservationBase, frozen=True):
    """A card landed inside the window behind its own gate event."""

    index: int
    outlet: str


class StrayLanded(ObservationBase, frozen=True):
    """Something landed where no card was due."""

    outlet: str


class SourceEmptied(ObservationBase, frozen=True):
    """The hopper, or the tray where `tray`, has no card left and the path is clear."""

    tray: bool = False


class LandingMissed(ObservationBase, frozen=True):
    """A card crossed the gate and was not seen to land in its window."""

    index: int


class AttemptStopped(ObservationBase, frozen=True):
    """The attempt cannot go on for a reason outside the cards: a name of the fault catalogue."""

    reason: str


class FinalCount(ObservationBase, frozen=True, kw_only=True):
    """What boards and vault say once the last card has landed.

    Sensors are levels seen now; `board_*` and `reader_*` are the boards' own
    totals of this attempt; `set_faults` is the vault's verdict on the set, as
    names of the fault catalogue.
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
    """Something to do."""


class ShuffleCards(AttemptEffectBase, frozen=True):
    """Run the shuffler."""

    passes: int


class FeedCards(AttemptEffectBase, frozen=True):
    """Feed up to and with this index."""

    upto: int
    tray: bool = False


class RouteCard(AttemptEffectBase, frozen=True):
    """Let the card at the hold point pass to this outlet."""

    index: int
    outlet: str


class RereadCard(AttemptEffectBase, frozen=True):
    """Read the card at the hold point once more."""

    index: int


class AwaitLook(AttemptEffectBase, frozen=True):
    """Start the 300 ms in which AT_READER and READ of one index must meet."""

    index: int


class RequestFinalCount(AttemptEffectBase, frozen=True):
    """Ask both boards and the vault, and answer with a Settled."""


class HoldHands(AttemptEffectBase, frozen=True):
    """Four right hands: the 27-lock holds."""


class RefuseHands(AttemptEffectBase, frozen=True):
    """Stop the boards; the attempt is over for these reasons."""

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
