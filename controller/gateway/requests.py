"""A client's command as it comes off the network: what is one, and what is told to the rest."""

from typing import Annotated, Final

import msgspec

from controller.bridge import DEEPEST, is_deep
from controller.client.refused import LARGEST
from controller.messages import Command

LONGEST_ID: Final = 128


class BadCommand(Exception):
    """What came cannot be taken as a command: what was found, and what a command has instead.

    `id` is the sender's, as far as one could be read.
    """

    def __init__(self, found: str, expected: str, command_id: str = "") -> None:
        super().__init__(f"{found}, expected {expected}")
        self.found = found
        self.expected = expected
        self.id = command_id


def parse(payload: bytes) -> Command:
    """Return the command in `payload`. Raises BadCommand."""
    if len(payload) > LARGEST:
        raise BadCommand(f"{len(payload)} bytes", f"at most {LARGEST}", _id_in(payload))
    try:
        command = _COMMAND.decode(payload)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as wrong:
        raise BadCommand(str(wrong), "a command in JSON", _id_in(payload)) from wrong
    size = len(command.id)
    if not 0 < size <= LONGEST_ID:
        raise BadCommand(f"an id of {size} characters", f"1 to {LONGEST_ID}")
    if is_deep(command.args):
        raise BadCommand("arguments too deep within each other", f"at most {DEEPEST}", command.id)
    return command


class _HasId(msgspec.Struct):
    id: Annotated[str, msgspec.Meta(max_length=LONGEST_ID)]


_COMMAND: Final = msgspec.json.Decoder(Command)
_ID: Final = msgspec.json.Decoder(_HasId)


def _id_in(payload: bytes) -> str:
    try:
        return _ID.decode(payload).id
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return ""
