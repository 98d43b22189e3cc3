"""A client's command as it comes off the network: what is one, and what is told to the rest."""

from typing import Annotated, Final

import msgspec

from controller.bridge import MAX_ARGUMENT_DEPTH, is_too_deep
from controller.client.refused import MAX_COMMAND_BYTES
from controller.messages import ClientCommand
from controller.words import Words

MAX_ID_CHARACTERS: Final = 128


class BadCommand(Exception):
    """What came cannot be taken as a command: what was found, and what a command has instead.

    `id` is the sender's, as far as one could be read.
    """

    def __init__(self, found: Words, expected: Words, command_id: str = "") -> None:
        super().__init__(f"{found.en}, expected {expected.en}")
        self.found = found
        self.expected = expected
        self.id = command_id


def parse_command(payload: bytes) -> ClientCommand:
    """Return the command in `payload`. Raises BadCommand."""
    if len(payload) > MAX_COMMAND_BYTES:
        size = len(payload)
        raise BadCommand(
            Words(f"{size} bytes", f"{size}字节"),
            Words(f"at most {MAX_COMMAND_BYTES}", f"至多{MAX_COMMAND_BYTES}字节"),
            _read_id(payload),
        )
    try:
        command = _COMMAND_DECODER.decode(payload)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as wrong:
        found = Words(str(wrong), "无法读出命令")
        raise BadCommand(
            found, Words("a command in JSON", "一条命令"), _read_id(payload)
        ) from wrong
    size = len(command.id)
    if not 0 < size <= MAX_ID_CHARACTERS:
        found = Words(f"an id of {size} characters", f"id 为{size}个字符")
        raise BadCommand(found, Words(f"1 to {MAX_ID_CHARACTERS}", f"1至{MAX_ID_CHARACTERS}个"))
    if is_too_deep(command.args):
        found = Words("arguments too deep within each other", "参数嵌套过深")
        raise BadCommand(
            found, Words(f"at most {MAX_ARGUMENT_DEPTH}", f"至多{MAX_ARGUMENT_DEPTH}层"), command.id
        )
    return command


class _CommandId(msgspec.Struct):
    id: Annotated[str, msgspec.Meta(max_length=MAX_ID_CHARACTERS)]


_COMMAND_DECODER: Final = msgspec.json.Decoder(ClientCommand)
_ID_DECODER: Final = msgspec.json.Decoder(_CommandId)


def _read_id(payload: bytes) -> str:
    try:
        return _ID_DECODER.decode(payload).id
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return ""
