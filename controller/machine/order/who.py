"""Who gives an order: the name that answers for it, and the role that allows it."""

from typing import Any

import msgspec

from controller.match_arguments import VerbalArgs
from controller.messages import Role
from controller.signer_names import signed_by


class CommandSigner(msgspec.Struct, frozen=True, gc=False):
    """A key that gives an order: the name of its certificate, its role, and who has it in hand.

    `person` is null where he did not say.
    """

    name: str
    role: Role
    person: str | None = None

    @property
    def by(self) -> str:
        """What rows and people read: the key's name, behind the person's where he said it."""
        return signed_by(self.name, self.person)

    def decided_by(self, said: VerbalArgs) -> str:
        """Return who decided: the chief where this one enters his word, else himself."""
        return said.by or self.by

    def enters(self, said: VerbalArgs) -> str | None:
        """Return who entered a decision as the chief's word; None: it is his own who gives it."""
        return self.by if said.verbal else None


class Asked(msgspec.Struct, frozen=True, gc=False):
    """What somebody wants: a command, its arguments (as the command takes them), and who he is.

    `key` is the one that signed it; None where nobody did: then it is only asked whether it could
    be given.
    """

    cmd: str
    args: Any
    who: CommandSigner
    key: str | None = None
