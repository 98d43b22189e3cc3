"""What a table's own feed says of a situation, beside what its page shows."""

from typing import Any

from tests.matches.people import People as Players


def happened(playing: Players, event: str) -> list[dict[str, Any]]:
    """Return what the feed told of one kind of a match's events, oldest first."""
    events = playing.table.events
    return [e.data for e in events if e.kind == "match" and e.data["event"] == event]


def orders_given(playing: Players) -> set[str]:
    """Return the commands that stand in the table's public entries."""
    return {e.data["cmd"] for e in playing.table.events if e.kind == "command"}
