"""How long people waited for a deal's hands: the match's sum, and the machine's release has it.

A home of its own, because the machine's state and the match know nothing of each other.
"""

from collections.abc import Mapping
from typing import Any

import msgspec


class WaitingTimes(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """How long people waited for a deal's hands, and the hands for people, in milliseconds.

    `due_to_ready_ms`: from the moment when the deal was due, 0 where its hands were ready by
    then; a deal whose hands were out is due again with its redeal. `ready_to_button_ms`: from
    the moment when it was due and its hands ready, to the order that lets them out.
    """

    due_to_ready_ms: int
    ready_to_button_ms: int


def read_waiting_times(released: Mapping[str, Any]) -> WaitingTimes | None:
    """Return what the data of a release says of it; practice deals do not say it."""
    try:
        return msgspec.convert(released, WaitingTimes)
    except msgspec.ValidationError:
        return None
