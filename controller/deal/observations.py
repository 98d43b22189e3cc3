"""What an attempt can see: events of the boards and the vault, without a face.

A card is an index here, and its look a verdict. The file also has the effects of an attempt.
"""

from enum import StrEnum

import msgspec


class LookOutcome(StrEnum):
    """The vault's verdict on one card, which is all that the routing code receives."""

    ACCEPT = "accept"
    REREAD = "reread"
    TRAY = "tray"


class ObservationBase(msgspec.Struct, frozen=True, gc=False):
    """One observation."""


class BothBegan(ObservationBase, frozen=True):
    """Both boards opened the attempt: pockets, path and tray were seen empty."""


class ShufflerDone(ObservationBase, frozen=True):
    """The shuffler finished its passes."""


class CardAtReader(ObservationBase, frozen=True):
    """A card is in the window. `doubled`: the sensor saw two cards at once."""

    index: int
    doubled: bool = False


class CardVerdict(ObservationBase, frozen=True):
    """The vault judged a card. `why` names the fault if the card was not accepted."""

    index: int
    look: LookOutcome
    why: str | None = None


class LookOverdue(ObservationBase, frozen=True):
    """The timeout passed, and only one of AT_READER and READ came for this index."""

    index: int


class CardGated(ObservationBase, frozen=True):
    """A card crossed the gate towards `outlet`, by the gate's own sensor."""

    index: int
    outlet: str


class CardLanded(ObservationBase, frozen=True):
    """A card landed in time after its own gate event."""

    index: int
    outlet: str


class StrayLanded(ObservationBase, frozen=True):
    """A card landed where none was due."""

    outlet: str


class SourceEmptied(ObservationBase, frozen=True):
    """The hopper (or the tray if `tray`) has no card left, and the path is clear."""

    tray: bool = False


class LandingMissed(ObservationBase, frozen=True):
    """A card crossed the gate and was not seen to land in time."""

    index: int


class AttemptStopped(ObservationBase, frozen=True):
    """The attempt must end for a reason outside the cards: a name of the fault catalogue."""

    reason: str


class FinalCount(ObservationBase, frozen=True, kw_only=True):
    """The reports of boards and vault after the last card has landed.

    Sensors are present levels. `board_*` and `reader_*` are the boards' own totals of this attempt.
    `set_faults` is the vault's verdict on the set, as names of the fault catalogue.
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
    """One effect of an attempt."""


class ShuffleCards(AttemptEffectBase, frozen=True):
    """Run the shuffler."""

    passes: int


class FeedCards(AttemptEffectBase, frozen=True):
    """Feed up to and including this index."""

    upto: int
    tray: bool = False


class RouteCard(AttemptEffectBase, frozen=True):
    """Pass the card at the hold point to this outlet."""

    index: int
    outlet: str


class RereadCard(AttemptEffectBase, frozen=True):
    """Read the card at the hold point again."""

    index: int


class AwaitLook(AttemptEffectBase, frozen=True):
    """Start the timeout in which AT_READER and READ of one index must both come."""

    index: int


class RequestFinalCount(AttemptEffectBase, frozen=True):
    """Ask both boards and the vault, and answer with a FinalCount."""


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
