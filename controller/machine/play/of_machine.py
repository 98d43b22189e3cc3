"""What the machine's entries mean to a match: its cut, its verdict, its release.

What it says of the next deal waits until that one is due (deal-ahead).
"""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from controller.journal.entries import Entry
from controller.machine.play.happening import caught_up, happened
from controller.machine.play.questions import NEXT_DEAL_PHASES
from controller.machine.play.values import DealAhead, Play, changed
from controller.match import events
from controller.match.events import MatchEvent
from controller.messages import Outcome


def apply_machine_entry(play: Play, entry: Entry) -> Play:
    """Take what the machine says of the present deal, or keep what it says of the next."""
    assert play.match is not None  # `fold` asks
    event = EVENT_OF_KIND[entry.kind](entry.data)
    if play.ahead is not None and play.ahead.deal == entry.deal:
        return caught_up(changed(play, ahead=_update_ahead(play.ahead, event)), entry.time)
    if entry.deal == play.match.deal and isinstance(event, events.Cut):
        return _cut(play, event, entry)
    if entry.deal == play.match.deal:
        after = happened(play, event, entry.time)
        released = entry.kind == "released"
        return changed(after, attempt=entry.attempt) if released else after
    next_one = entry.deal == play.match.deal + 1 and play.match.phase in NEXT_DEAL_PHASES
    return _keep_cut_ahead(play, event, entry.deal) if next_one else play


def _cut(play: Play, event: events.Cut, entry: Entry) -> Play:
    """Take the cut of the present deal; while the table is suspended it waits.

    One that was ordered while the deal was dealt ahead is that of whose turn it was then.
    """
    assert play.match is not None  # `fold` asks
    if play.match.suspended is not None:
        return _keep_cut_ahead(play, event, play.match.deal)
    due = () if play.match.duties is None else play.match.duties.cutters
    ahead = event.seat is not None and event.seat not in due
    return happened(play, msgspec.structs.replace(event, ahead=ahead), entry.time)


def _keep_cut_ahead(play: Play, event: MatchEvent, deal: int | None) -> Play:
    """Keep the cut of a deal that is not due yet; what came before it tells nothing."""
    if deal is None or not isinstance(event, events.Cut):
        return play
    cut = msgspec.structs.replace(event, ahead=True)
    return changed(play, ahead=DealAhead(deal=deal, cut=cut))


def _update_ahead(ahead: DealAhead, event: MatchEvent) -> DealAhead | None:
    """Return what is known of a deal dealt ahead after the machine's next word; None: no hands."""
    if isinstance(event, events.Dealt):
        return msgspec.structs.replace(ahead, dealt=event)
    return None


def _verdict(data: Mapping[str, Any]) -> MatchEvent:
    if Outcome(data["outcome"]) is Outcome.OK:
        return events.Dealt(at_ms=data["at_ms"])
    return _misdealt_event(data)


def _misdealt_event(data: Mapping[str, Any]) -> MatchEvent:
    return events.AttemptFailed(at_ms=data["at_ms"], reasons=tuple(data["reasons"]))


EVENT_OF_KIND: dict[str, Callable[[Mapping[str, Any]], MatchEvent]] = {
    "cut": lambda data: events.Cut(at_ms=data["at_ms"], seat=data.get("seat"), n=data["cut"]),
    "verdict": _verdict,
    "withdrawn": _misdealt_event,
    "released": lambda data: events.Released(
        at_ms=data["at_ms"], turned_to=data.get("leader"), turned_up=data.get("turned_up")
    ),
}
"""What an entry of the machine is to a match of the same deal."""
