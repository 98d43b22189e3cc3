"""What the machine's entries mean to a match: its cut, its verdict, its release.

What it says of the next deal waits until that one is due (deal-ahead).
"""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from controller.journal.entries import JournalEntry
from controller.machine.play.happening import apply_ahead, apply_event
from controller.machine.play.questions import NEXT_DEAL_PHASES
from controller.machine.play.values import DealAhead, TableMatch, with_changes
from controller.match import events
from controller.match.events import MatchEvent
from controller.messages import AttemptOutcome


def apply_machine_entry(play: TableMatch, entry: JournalEntry) -> TableMatch:
    """Take what the machine says of the present deal, or keep what it says of the next."""
    assert play.match is not None  # `fold` asks
    event = EVENT_OF_KIND[entry.kind](entry.data)
    if play.ahead is not None and play.ahead.deal == entry.deal:
        return apply_ahead(with_changes(play, ahead=_update_ahead(play.ahead, event)), entry.time)
    if entry.deal == play.match.deal and isinstance(event, events.SetCut):
        return _apply_cut(play, event, entry)
    if entry.deal == play.match.deal:
        after = apply_event(play, event, entry.time)
        released = entry.kind == "released"
        return with_changes(after, attempt=entry.attempt) if released else after
    next_one = entry.deal == play.match.deal + 1 and play.match.phase in NEXT_DEAL_PHASES
    return _keep_cut_ahead(play, event, entry.deal) if next_one else play


def _apply_cut(play: TableMatch, event: events.SetCut, entry: JournalEntry) -> TableMatch:
    """Take the cut of the present deal; while the table is suspended it waits.

    One that was ordered while the deal was dealt ahead is that of whose turn it was then.
    """
    assert play.match is not None  # `fold` asks
    if play.match.suspended is not None:
        return _keep_cut_ahead(play, event, play.match.deal)
    due = () if play.match.duties is None else play.match.duties.cutters
    ahead = event.seat is not None and event.seat not in due
    return apply_event(play, msgspec.structs.replace(event, ahead=ahead), entry.time)


def _keep_cut_ahead(play: TableMatch, event: MatchEvent, deal: int | None) -> TableMatch:
    """Keep the cut of a deal that is not due yet; what came before it tells nothing."""
    if deal is None or not isinstance(event, events.SetCut):
        return play
    cut = msgspec.structs.replace(event, ahead=True)
    return with_changes(play, ahead=DealAhead(deal=deal, cut=cut))


def _update_ahead(ahead: DealAhead, event: MatchEvent) -> DealAhead | None:
    """Return what is known of a deal dealt ahead after the machine's next word; None: no hands."""
    if isinstance(event, events.HandsDealt):
        return msgspec.structs.replace(ahead, dealt=event)
    return None


def _verdict_event(data: Mapping[str, Any]) -> MatchEvent:
    if AttemptOutcome(data["outcome"]) is AttemptOutcome.OK:
        return events.HandsDealt(at_ms=data["at_ms"])
    return _misdealt_event(data)


def _misdealt_event(data: Mapping[str, Any]) -> MatchEvent:
    return events.AttemptFailed(at_ms=data["at_ms"], reasons=tuple(data["reasons"]))


EVENT_OF_KIND: dict[str, Callable[[Mapping[str, Any]], MatchEvent]] = {
    "cut": lambda data: events.SetCut(at_ms=data["at_ms"], seat=data.get("seat"), n=data["cut"]),
    "verdict": _verdict_event,
    "withdrawn": _misdealt_event,
    "released": lambda data: events.HandsReleased(
        at_ms=data["at_ms"], turned_to=data.get("leader"), turned_up=data.get("turned_up")
    ),
}
"""What an entry of the machine is to a match of the same deal."""
