"""How much of a table's feed was not taken, and why. Pure."""

import msgspec
from msgspec.structs import replace

from controller.console.lines.taken import MessageRejected


class RejectionCounts(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """What came on a table's feed and was not taken, since the console began.

    `other`: messages about another table, `other_table` the last one named; `heads`: signed heads
    that the table's key did not sign.
    """

    junk: int = 0
    other_version: int = 0
    other_tables: int = 0
    other_table: str = ""
    unsigned_heads: int = 0

    @property
    def messages(self) -> int:
        """How many messages were not taken, for whatever reason."""
        return self.junk + self.other_version + self.other_tables


def count_rejection(counts: RejectionCounts, wrong: MessageRejected) -> RejectionCounts:
    """Return the counts behind one more message that was not taken."""
    if wrong.reason == "other_table":
        return replace(
            counts, other_tables=counts.other_tables + 1, other_table=wrong.other_table[:24]
        )
    if wrong.reason == "other_version":
        return replace(counts, other_version=counts.other_version + 1)
    return replace(counts, junk=counts.junk + 1)
