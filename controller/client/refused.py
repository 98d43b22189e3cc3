"""A command refused before any machine has seen it: how large one may be, and the answer."""

from typing import Final

from controller.faults import fault
from controller.messages import CommandReply, Failure

MAX_COMMAND_BYTES: Final = 16_384
"""Bytes of a command. A message of more than `HARD_LARGEST` ends its connection unread."""
MAX_MESSAGE_BYTES: Final = 65_536


def refusal_reply(command_id: str, fault_name: str, **evidence: object) -> CommandReply:
    """Return the reply that refuses a command, in the words of the fault catalogue."""
    row = fault(fault_name)
    failure = Failure(
        code=fault_name,
        message=row.cause(evidence),
        action=row.action(evidence),
        message_zh=row.cause(evidence, "zh"),
        action_zh=row.action(evidence, "zh"),
    )
    return CommandReply(id=command_id, ok=False, error=failure)
