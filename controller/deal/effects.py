"""What an attempt asks for: motions, second looks, and its end."""

import msgspec


class Value(msgspec.Struct, frozen=True, gc=False):
    """Something to do."""


class Shuffle(Value, frozen=True):
    """Run the shuffler."""

    passes: int


class Feed(Value, frozen=True):
    """Feed up to and with this index."""

    upto: int
    tray: bool = False


class Route(Value, frozen=True):
    """Let the card at the hold point pass to this outlet."""

    index: int
    outlet: str


class Reread(Value, frozen=True):
    """Read the card at the hold point once more."""

    index: int


class AwaitLook(Value, frozen=True):
    """Start the 300 ms in which AT_READER and READ of one index must meet."""

    index: int


class Check(Value, frozen=True):
    """Ask both boards and the vault, and answer with a Settled."""


class HoldHands(Value, frozen=True):
    """Four right hands: the 27-lock holds."""


class RefuseHands(Value, frozen=True):
    """Stop the boards; the attempt is over for these reasons."""

    reasons: tuple[str, ...]


Effect = Shuffle | Feed | Route | Reread | AwaitLook | Check | HoldHands | RefuseHands
