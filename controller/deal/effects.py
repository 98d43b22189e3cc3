"""What an attempt asks for: motions, second looks, and its end."""

import msgspec


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
