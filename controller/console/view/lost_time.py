"""The time that a table lost, as a referee reads it: why it stood still, in his words."""

from collections.abc import Mapping
from typing import Any

from controller.words import reason_words


def lost_time_with_reasons(answer: Mapping[str, Any]) -> dict[str, Any]:
    """Return a table's answer to `lost_time` with the words of each stop's reason beside it."""
    stops = [
        stop | {"words": reason_words(str(stop.get("reason")))} for stop in answer.get("stops", ())
    ]
    return {**answer, "stops": stops}
