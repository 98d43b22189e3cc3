"""Who gives an order: the name that answers for it, and the role that allows it."""

from typing import Any

import msgspec

from controller.match_arguments import VerbalArgs
from controller.messages import Role
from controller.signer_names import signer_text


class CommandSigner(msgspec.Struct, frozen=True, gc=False):
    """A key that gives an order: the name of its certificate, its role, and who has it in hand.

    `person` is null where he did not say.
    """

    name: str
    role: Role
    person: str | None = None

    @property
    def signed_text(self) -> str:
        """What rows and people read: the key's name, behind the person's where he said it."""
        return signer_text(self.name, self.person)

    def decided_by(self, args: VerbalArgs) -> str:
        """Return who decided: the chief where this one enters his word, else himself."""
        return args.by or self.signed_text

    def entered_by(self, args: VerbalArgs) -> str | None:
        """Return who entered a decision as the chief's word; None: it is his own who gives it."""
        return self.signed_text if args.verbal else None


class RequestedCommand(msgspec.Struct, frozen=True, gc=False):
    """What somebody wants: a command, its arguments (as the command takes them), and who he is.

    `key` is the one that signed it; None where nobody did: then it is only asked whether it could
    be given.
    """

    cmd: str
    args: Any
    signer: CommandSigner
    key: str | None = None
