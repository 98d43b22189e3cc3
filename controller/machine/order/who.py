"""Who gives an order: the name that answers for it, and the role that allows it."""

import msgspec

from controller.match_arguments import ByWord
from controller.messages import Role


class Who(msgspec.Struct, frozen=True, gc=False):
    """A person, or the key that stands for him. `name`: of the person, else of the certificate."""

    name: str
    role: Role

    def answers_for(self, said: ByWord) -> str:
        """Return who decided: the chief where this one enters his word, else himself."""
        return said.by or self.name
