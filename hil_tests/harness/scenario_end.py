"""Checks after every scenario: no unexpected alerts or counters, valid journal, table at rest."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from controller.faults import fault
from controller.journal.entries import JournalError
from controller.journal.verify import verify
from controller.messages import PublicEvent, PublicState
from hil_tests.harness.table_daemon import LINE_COUNTERS

TIMING_COUNTERS: frozenset[str] = frozenset(
    {"resends", "duplicates", "foreign", "gaps", "sessions"}
)
"""Counters that a slow computer moves without a fault. Ignored if processes share it."""

_REST_POSITIONS = {"lid_open": False, "estop": False, "lift_up": False, "lift_down": True}
"""Positions of lid, e-stop and lift at rest."""


def unexpected_alerts(
    states: list[PublicState], events: list[PublicEvent], expected: set[str]
) -> list[str]:
    """Return a line for each alert of a scenario that was not expected.

    `events` also contain alerts that came and went between two states.
    """
    seen = {event.data["name"]: _alert_cause(event) for event in events if event.kind == "fault"}
    seen |= {alert.name: alert.cause for state in states for alert in state.alerts}
    return [
        f"unexpected alert {name}: {cause}" for name, cause in seen.items() if name not in expected
    ]


def _alert_cause(event: PublicEvent) -> str:
    return fault(event.data["name"]).cause(event.data.get("evidence"))


def unexplained_counters(
    numbers: Mapping[str, float], explained: frozenset[str], *, is_time_shared: bool
) -> list[str]:
    """Return a line for each counter of a line that moved without a reason.

    `explained` are the counters that the scenario disturbs; "all" means every counter.
    `is_time_shared` is True if simulated boards share their computer with other programs.
    """
    passed = explained | (TIMING_COUNTERS if is_time_shared else frozenset())
    if "all" in passed:
        return []
    return [
        f"{name} board: {counter} moved by {moved:g}"
        for key, moved in numbers.items()
        for counter, _, name in [key.partition(" ")]
        if counter in LINE_COUNTERS and moved and counter not in passed
    ]


def misplaced_cards(truth: Mapping[str, Any], cards: int) -> list[str]:
    """Return the cards of a set of `cards` that are not in the hopper of the mechanics."""
    places = ("shuffler", "feeder", "window", "path", "floor", "table")
    found = [f"{len(truth[place])} cards: {place}" for place in places if truth[place]]
    for what in ("pockets", "hands"):
        lying = sum(map(len, truth[what]))
        if lying:
            found.append(f"{lying} cards: {what}")
    if len(truth["hopper"]) != cards:
        found.append(f"{len(truth['hopper'])} cards in the hopper, expected {cards}")
    found += [
        f"{what}: {truth[what]}" for what, right in _REST_POSITIONS.items() if truth[what] != right
    ]
    return found


def active_faults(faults: Mapping[str, Any]) -> list[str]:
    """Return the simulator's faults that are still in force (`faults` of sim/CONTROL.md)."""
    return [f"still in force: {one['fault']['name']}" for one in faults["in_force"]]


def journal_findings(state_dir: Path) -> list[str]:
    """Return the findings of `verify` in a journal."""
    try:
        return [str(finding) for finding in verify(state_dir).findings]
    except JournalError as error:
        return [str(error)]
