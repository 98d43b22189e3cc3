"""Who gives an order: the name that answers for it, and the role that allows it."""

import re
from typing import Final

import msgspec

from controller.match_arguments import ByWord
from controller.messages import Role


class Who(msgspec.Struct, frozen=True, gc=False):
    """A key that gives an order: the name of its certificate, its role, and who has it in hand.

    `person` is null where he did not say.
    """

    name: str
    role: Role
    person: str | None = None

    @property
    def by(self) -> str:
        """What rows and people read: the key's name, behind the person's where he said it."""
        return self.name if self.person is None else f"{self.person} ({self.name})"

    def answers_for(self, said: ByWord) -> str:
        """Return who decided: the chief where this one enters his word, else himself."""
        return said.by or self.by


def names_in(by: str) -> frozenset[str]:
    """Return the names, of a person and of a key, in what `Who.by` says."""
    both = _BOTH.fullmatch(by)
    return frozenset((by,) if both is None else both.groups())


_BOTH: Final = re.compile(r"([^()]+) \(([^()]+)\)")
"""Neither name has brackets."""
