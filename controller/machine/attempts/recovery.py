"""Attempts that an earlier run of the daemon left unfinished.

A daemon that was killed leaves its attempts' keys in memory (runtime_dir). Then the same attempt is
resumed at its last step, with the same commitment. Its events pass through the same pure functions
again, the boards send the events that the journal does not have, and the next step follows. The
attempt is void if the boards cannot continue: BOARD_RESET if a board was reset and does not know
the attempt, RESTARTED if a board contradicts the journal. The record is then opened, as for every
void.

A power cut also destroys the keys. An attempt that was not held is void (POWER). Held hands are
still right if the dealer board kept its lock. They may be released if the release names no card. If
it must name one (the turned-up card, or the holder of the leading card), they are void (POWER).
Hands that are out stay out, but the machine cannot answer questions about them: the referee judges
tributes and returns of such a deal by eye. The machine can open none of these attempts.
`sealed_to_chief` on the feed states this. Only the chief can open the key in the entry `seed` (box
`for_chief`).
"""

import asyncio
import base64
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import takewhile
from typing import Final, Self

from controller.deal.attempt import Stage
from controller.deal.ledger import OUTLETS
from controller.journal.attempt_history import AttemptHistory, attempt_histories
from controller.journal.packed_board_events import LoggedBoardEvent, unpack_events
from controller.machine.attempts.attempt_run import AttemptRun
from controller.machine.attempts.attempt_start import AttemptDeps, AttemptEnded
from controller.machine.attempts.attempt_writer import AttemptBinding, AttemptWriter
from controller.machine.boards.board_observations import can_reach_hands
from controller.vault.sealing import AttemptKey, UnsealError
from drivers.board_events import Back, BoardEvent, BoardEventCode, CardReadEvent
from drivers.errors import DriverError
from drivers.typed_boards import DealerStatus, ReaderStatus


@dataclass(frozen=True)
class UnfinishedAttempt:
    """An unfinished attempt: its entries in the journal, and its key if the key still exists.

    `key` is None if it was lost with the power. `is_release_ordered` is True if a command to
    release its hands was accepted and not refused.
    """

    binding: AttemptBinding
    progress: AttemptHistory
    key: AttemptKey | None
    is_release_ordered: bool

    @classmethod
    def from_progress(
        cls, binding: AttemptBinding, progress: AttemptHistory, *, release_ordered: bool = False
    ) -> Self:
        """Return the attempt with the journal entries `progress`, and its key if a file has it."""
        raw = binding.key_files.read(progress.attempt)
        key = None if raw is None else AttemptKey(raw, binding.entropy)
        fits = key is not None and _is_key_of(key, progress)
        return cls(binding, progress, key if fits else None, release_ordered)

    def restore_writer(self) -> AttemptWriter:
        """Return a writer that appends this attempt's further entries to the journal."""
        return AttemptWriter.restore(self.binding, self.progress, self.key)

    def readable_events(self) -> list[BoardEvent]:
        """Return the board events up to the first event that cannot be decrypted.

        Nothing can be concluded from events after a gap.
        """
        return list(map(_board_event, takewhile(lambda each: each.is_open, self._wire_events())))

    def record_events(self) -> list[LoggedBoardEvent]:
        """Return all board events for the published record, or [] if one cannot be decrypted."""
        return list(self._wire_events()) if self.is_complete else []

    @property
    def is_complete(self) -> bool:
        """Return whether the board events are complete: every event can be decrypted."""
        return all(event.is_open for event in self._wire_events())

    def _wire_events(self) -> Iterator[LoggedBoardEvent]:
        unseal = None if self.key is None else self.key.unseal
        for entry in self.progress.wire_entries:
            yield from unpack_events(entry.data, entry.attempt, unseal)


def _is_unfinished(progress: AttemptHistory) -> bool:
    """Return whether an attempt must still write entries, for example its verdict or seed.

    An attempt without a commitment must write none.
    """
    steps = set(progress.steps)
    if "committed" not in steps or "sealed_to_chief" in steps:
        return False
    if "revealed" not in steps:
        return True
    gave_hands = "released" in steps and "recalled" not in steps
    return not gave_hands and "record" not in steps


def _is_key_of(key: AttemptKey, progress: AttemptHistory) -> bool:
    """Return whether `key` can decrypt the seed of this attempt."""
    try:
        key.unseal(base64.b64decode(progress.steps["seed"].data["box"]))
    except (UnsealError, KeyError, ValueError):
        return False
    return True


def _board_event(event: LoggedBoardEvent) -> BoardEvent:
    """Convert a board event of the journal into the driver's type BoardEvent."""
    of, code, look = (event.board, event.boot), BoardEventCode(event.code), event.look
    at = (event.seen, event.landed, event.index, event.place)
    told = (*of, event.number, event.attempt, code, *at)
    if look is None:
        return BoardEvent(*told)
    return CardReadEvent(*told, look.face, Back(look.back), bool(look.face_up), look.confidence)


BOARD_EVENTS_TIMEOUT_S: Final = 5.0
"""Time for the boards to send the events that the earlier run of the daemon did not receive."""
StatusPoll = Callable[[], AsyncIterator[DealerStatus]]
"""A function that yields the dealer board's status repeatedly, while both boards are connected."""


def _restore_attempt(deps: AttemptDeps, unfinished: UnfinishedAttempt) -> AttemptRun:
    """Return an AttemptRun that continues an attempt of an earlier run of the daemon.

    It collects its boards' events from now on. It does not handle them before `replay`.
    """
    run = AttemptRun(deps, unfinished.restore_writer())
    run.collects_events = True
    # The release was ordered, so the board may have begun it.
    run.hands_out = unfinished.is_release_ordered and run.writer.is_held
    if run.writer.outcome is not None:
        run.cards_at_rest.set()
    for event in unfinished.readable_events():
        run.on_event(event)
    run.is_complete = unfinished.is_complete
    if run.needs_boards and not (run.writer.is_held or unfinished.is_complete):
        run.stop("RESTARTED")
    return run


def read_unfinished(deps: AttemptDeps) -> tuple[AttemptRun, ...]:
    """Return an AttemptRun for each unfinished attempt in the journal, oldest first.

    Call this before the boards are opened, because the boards then send events of these attempts
    again.
    """
    entries = [chained.entry for chained in deps.binding.record.journal.entries()]
    commands = (one for one in entries if one.kind == "command" and one.data["cmd"] == "release")
    ordered = {one.attempt: "refused" not in one.data for one in commands}  # The last one counts.
    return tuple(
        _restore_attempt(
            deps,
            UnfinishedAttempt.from_progress(
                deps.binding, progress, release_ordered=ordered.get(number, False)
            ),
        )
        for number, progress in attempt_histories(entries).items()
        if _is_unfinished(progress)
    )


async def compare_with_boards(run: AttemptRun, poll_statuses: StatusPoll) -> None:
    """Replay an attempt's board events, and stop the attempt if the boards cannot continue it.

    Return at once if the boards do not matter: for hands that are out, and for an attempt that has
    ended. Otherwise wait until the boards have reported all events. If an open lid has already
    stopped the attempt, the boards still have BOARD_EVENTS_TIMEOUT_S to report their events, so
    that the verdict counts the cards in the pockets.
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
    """Wait until all earlier events of both boards have arrived, and return both boards' status."""
    while True:
        async for dealer in poll_statuses():
            try:
                reader = await run.deps.reader.get_status()
            except DriverError:
                continue
            moves, looks = run.deps.dealer.link.last_event, run.deps.reader.link.last_event
            if moves >= dealer.events and looks >= reader.events:
                return dealer, reader


def ordered_events(events: Iterable[BoardEvent]) -> Iterator[BoardEvent]:
    """Yield the events of both boards in an order in which they can have happened.

    When the boards send events again, the events of each board are in order, but all events of one
    board may come before those of the other. A card passes the gate only after its looks. Nothing
    else depends on both boards.
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
    """Return the fault that prevents the boards from continuing the attempt, or None if they can.

    If the earlier run routed the card at the window, that route is adopted.
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
        return None  # The fault is found from the cards themselves.
    lost = len(dealing.attempt.ledger.cards) < dealer.fed
    known = dealer.route is None or dealing.adopt_route(dealer.holding, OUTLETS[dealer.route])
    return "RESTARTED" if lost or not known else None
