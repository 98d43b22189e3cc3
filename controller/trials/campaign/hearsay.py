"""The judge of what was said: by the boards, into the journal, and on the feed. Pure.

What a board's core said must stand in the journal once, as it was said; what is public there
must have been on the feed once, in order. Each function yields what is wrong in lines of words.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence

from controller.journal.wire_group import LoggedBoardEvent
from controller.trials.campaign.boots import BoardRun, CoreEvent
from controller.trials.campaign.judge import shorten

DaemonEvents = tuple[Sequence[int], int]
"""What one run of the daemon told, by number, and how far its journal went at its end."""


def find_lost_events(
    boots: Iterable[BoardRun], journal: Iterable[LoggedBoardEvent]
) -> Iterator[str]:
    """Yield what a board said and the journal does not have, or has otherwise.

    A boot that died may have taken its last words with it, none that it was told to forget.
    """
    kept = _group_by_boot(journal)
    for boot in boots:
        known = kept.get(boot.boot, {})
        said = {one.number: one for one in boot.events}
        due = max(known, default=0) if not boot.is_alive else len(boot.events)
        missing = [n for n in range(1, max(due, boot.kept) + 1) if n not in known]
        if missing:
            yield f"{boot.board}: events {shorten(missing)} of {len(said)} are not in the journal"
        for number, events in known.items():
            if said.get(number) != _core_event(events[0]):
                yield f"{boot.board}: event {number} was {said.get(number)}, noted {events[0]}"


def find_doubled_events(
    boots: Iterable[BoardRun], journal: Iterable[LoggedBoardEvent]
) -> Iterator[str]:
    """Yield what the journal has twice, or of a boot that never was."""
    known = {boot.boot for boot in boots}
    for number, events in _group_by_boot(journal).items():
        if number not in known:
            yield f"the journal has events of a boot {number} that there never was"
        twice = [n for n, same in events.items() if len(same) > 1]
        if twice:
            yield f"{next(iter(events.values()))[0].board}: events {shorten(twice)} stand twice"


def find_lost_public(public: Collection[int], feeds: Sequence[DaemonEvents]) -> Iterator[str]:
    """Yield which public entries never were on the feed.

    `public`: their numbers in the journal; `feeds`: of each run of the daemon the
    numbers that it told, and how far its journal went at its end: what it had written and not
    yet told is no loss, whoever asks gets it.
    """
    told = {n for numbers, _ in feeds for n in numbers}
    untold = set(public) - told
    for numbers, wrote in feeds:
        untold -= set(range(max(numbers, default=0) + 1, wrote + 1))
    if untold:
        yield f"public entries {shorten(sorted(untold))} were not on the feed"
    if told - set(public):
        strangers = shorten(sorted(told - set(public)))
        yield f"the feed told {strangers}, which the journal does not have"


def find_doubled_public(feeds: Sequence[DaemonEvents]) -> Iterator[str]:
    """Yield what was on the feed twice, or out of order."""
    numbers = [n for told, _ in feeds for n in told]
    twice = sorted(n for n, times in Counter(numbers).items() if times > 1)
    if twice:
        yield f"events {shorten(twice)} were on the feed twice"
    elif numbers != sorted(numbers):
        yield "the feed's events came out of order"


def _group_by_boot(
    journal: Iterable[LoggedBoardEvent],
) -> dict[int, dict[int, list[LoggedBoardEvent]]]:
    found: dict[int, dict[int, list[LoggedBoardEvent]]] = {}
    for event in journal:
        found.setdefault(event.boot, {}).setdefault(event.number, []).append(event)
    return found


def _core_event(event: LoggedBoardEvent) -> CoreEvent:
    return CoreEvent(
        event.number,
        event.attempt,
        event.code,
        event.seen,
        event.landed,
        event.index,
        event.place,
    )
