"""What an attempt can see: events of the boards and the vault, without a face.

A card is an index here, and its look a verdict. The file also has the effects of an attempt.
"""

from enum import StrEnum

import msgspec


class LookOutcome(StrEnum):
    """The vault's verdict on one card. The routing code receives nothing else about a face."""

    ACCEPT = "accept"
    REREAD = "reread"
    TRAY = "tray"


class ObservationBase(msgspec.Struct, frozen=True, gc=False):
    """The base class of all observations of an attempt."""


class BothBegan(ObservationBase, frozen=True):
    """Both boards began the attempt, after they detected that pockets, path and tray were empty."""


class ShufflerDone(ObservationBase, frozen=True):
    """The shuffler has finished all its passes."""


class CardAtReader(ObservationBase, frozen=True):
    """A card is in the window. `doubled` is True if the sensor detected two cards at once."""

    index: int
    doubled: bool = False


class CardVerdict(ObservationBase, frozen=True):
    """The vault has judged a look at a card. `why` names the fault if the card was not accepted."""

    index: int
    look: LookOutcome
    why: str | None = None


class LookOverdue(ObservationBase, frozen=True):
    """The timeout of a card has passed, but only one of AT_READER and READ has arrived."""

    index: int


class CardGated(ObservationBase, frozen=True):
    """The sensor after the gate detected a card on its way to `outlet`."""

    index: int
    outlet: str


class CardLanded(ObservationBase, frozen=True):
    """A card landed in time after it passed the gate."""

    index: int
    outlet: str


class StrayLanded(ObservationBase, frozen=True):
    """A card was detected in `outlet` although none was expected in it."""

    outlet: str


class SourceEmptied(ObservationBase, frozen=True):
    """The hopper is empty, or the tray if `tray` is True, and the path is clear."""

    tray: bool = False


class LandingMissed(ObservationBase, frozen=True):
    """A card passed the gate, and its landing was not detected in time."""

    index: int


class AttemptStopped(ObservationBase, frozen=True):
    """The attempt must end for a reason that is not about cards.

    The reason is a name of the fault catalogue.
    """

    reason: str


class FinalCount(ObservationBase, frozen=True, kw_only=True):
    """The counts that boards and vault report after the last card has landed.

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
    """The base class of all effects of an attempt."""


class ShuffleCards(AttemptEffectBase, frozen=True):
    """Run the shuffler."""

    passes: int


class FeedCards(AttemptEffectBase, frozen=True):
    """Feed the cards up to index `upto`, from the tray if `tray`, otherwise from the hopper."""

    upto: int
    tray: bool = False


class RouteCard(AttemptEffectBase, frozen=True):
    """Send the card in the window to this outlet (a pocket or the tray)."""

    index: int
    outlet: str


class RereadCard(AttemptEffectBase, frozen=True):
    """Read the card in the window again."""

    index: int


class AwaitLook(AttemptEffectBase, frozen=True):
    """Start the timeout in which both AT_READER and READ of one card must arrive."""

    index: int


class RequestFinalCount(AttemptEffectBase, frozen=True):
    """Query both boards and the vault, and pass their answers back as a FinalCount."""


class HoldHands(AttemptEffectBase, frozen=True):
    """Hold four right hands, because all conditions of the 27-lock are true."""


class RefuseHands(AttemptEffectBase, frozen=True):
    """Stop the boards, because the attempt ends without hands for these reasons."""

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
