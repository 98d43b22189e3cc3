"""Attempts that an earlier run of the daemon left open, taken up where they stand.

    for run in left_open(fixtures):         # boards' events are theirs from here on
        await agree(run, looks)             # what the boards say decides whether it goes on
        await play(run)                     # as any other attempt

What becomes of each stands in left_over.py.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import suppress
from typing import Final

from controller.deal.attempt import Stage
from controller.deal.ledger import OUTLETS
from controller.machine.asking import can_reach_hands
from controller.machine.attempt_run import AttemptDeps, AttemptEnded, AttemptRun
from controller.machine.left_over import UnfinishedAttempt, unfinished_attempts
from drivers.dealer import DealerStatus
from drivers.errors import DriverError
from drivers.events import BoardEvent, BoardEventCode
from drivers.reader import ReaderStatus as ReaderStatus

BOARD_EVENTS_TIMEOUT_S: Final = 5.0
"""Time for the boards to report the events that the earlier run of the daemon missed."""
StatusPoll = Callable[[], AsyncIterator[DealerStatus]]
"""Yields the dealer board's status, again and again, whenever both boards are there."""


def read_unfinished(deps: AttemptDeps) -> tuple[AttemptRun, ...]:
    """Return the attempts that the journal leaves open, the oldest first.

    Ask before the boards speak: what they send again belongs to these.
    """
    return tuple(
        AttemptRun.restore(deps, UnfinishedAttempt.read(deps.binding, number))
        for number in unfinished_attempts(deps.binding.record)
    )


async def compare_with_boards(run: AttemptRun, poll_statuses: StatusPoll) -> None:
    """Let an attempt follow what its boards say; it is broken where they cannot go on.

    Returns at once where the boards have no say: for hands that are out, and for an
    attempt that has ended. If an open lid has already broken the attempt, the boards still have
    TOLD_S to report their events, so that the verdict counts the cards in the pockets.
    """
    if not run.needs_boards:
        run.replay(())
        return
    try:
        dealer, reader = await run.until_stopped(_wait_for_all_events(run, poll_statuses))
    except AttemptEnded:
        if run.is_complete and not run.writer.is_held:
            with suppress(TimeoutError):
                async with asyncio.timeout(BOARD_EVENTS_TIMEOUT_S):
                    await _wait_for_all_events(run, poll_statuses)
            run.replay(ordered_events(run.all_events))
        return
    run.replay(ordered_events(run.all_events))
    reason = disagreement(run, dealer, reader)
    if reason is not None:
        run.stop(reason)


async def _wait_for_all_events(
    run: AttemptRun, poll_statuses: StatusPoll
) -> tuple[DealerStatus, ReaderStatus]:
    """Return what both boards say of themselves once every event before that has come."""
    while True:
        async for dealer in poll_statuses():
            try:
                reader = await run.deps.reader.get_status()
            except DriverError:
                continue
            behind = (
                run.deps.dealer.link.last_event < dealer.events
                or run.deps.reader.link.last_event < reader.events
            )
            if not behind:
                return dealer, reader


def ordered_events(events: Iterable[BoardEvent]) -> Iterator[BoardEvent]:
    """Yield both boards' events in an order in which they can have happened.

    Told again, each board's come in their own order, but one board's may all come before
    the other's. A card crosses the gate only after its looks; nothing else depends on both.
    """
    looks: deque[BoardEvent] = deque()
    moves: deque[BoardEvent] = deque()
    for event in events:
        (looks if event.board == "reader" else moves).append(event)
    for move in moves:
        while move.code is BoardEventCode.GATE and looks and looks[0].index <= move.index:
            yield looks.popleft()
        yield move
    yield from looks


def disagreement(run: AttemptRun, dealer: DealerStatus, reader: ReaderStatus) -> str | None:
    """Return why the boards cannot go on with an attempt; None where they can.

    Where a card was routed by the earlier run, that route is the card's from here on.
    """
    book, boards = run.writer, (dealer.attempt, reader.attempt)
    if book.is_held:
        if run.hands_out and can_reach_hands(dealer):
            return None
        if dealer.attempt < run.number:
            return "BOARD_RESET"
        lifting = run.hands_out and not dealer.lift_down
        same = dealer.attempt == run.number and (dealer.locked or lifting)
        return None if same else "RESTARTED"
    if max(boards) > run.number:
        return "RESTARTED"
    if not book.has("begun"):
        return None
    if min(boards) < run.number:
        return "BOARD_RESET"
    dealing = run.card_loop
    if dealing is None or dealing.attempt.stage is Stage.ENDED:
        return None  # the cards themselves said what was wrong
    lost = len(dealing.attempt.ledger.cards) < dealer.fed
    known = dealer.route is None or dealing.adopt_route(dealer.holding, OUTLETS[dealer.route])
    return "RESTARTED" if lost or not known else None
