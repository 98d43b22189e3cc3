"""The first steps of an attempt: the commitment, the cut, and the command BEGIN to both boards.

These steps wait for people and for boards. Each wait ends when the attempt is stopped.
"""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from controller.deal.attempt import AttemptState
from controller.faults import driver_error_fault
from controller.machine.attempts.attempt_writer import AttemptBinding, AttemptWriter
from controller.machine.boards.board_log import BoardLog
from controller.machine.boards.board_observations import (
    BEGIN_RETRY_INTERVAL_S,
    MAX_BEGIN_RETRIES,
    is_transient,
    refusal_fault,
    retry_once,
)
from controller.machine.commands.command_processor import CommandProcessor
from controller.machine.commands.command_request import AcceptedCommand, uncut_reason
from controller.messages import Seat
from controller.words import Words
from drivers.errors import BoardRefused, DriverError
from drivers.link.frames import BoardResult
from drivers.typed_boards import DealerBoard, ReaderBoard

_T = TypeVar("_T")


@dataclass(frozen=True)
class AttemptDeps:
    """The parts of the table that every attempt uses.

    `first_cutter` returns the seat that cuts, if a seat must. `cut_timeout_s` is the longest wait
    for a cut. `look_timeout_s` is the longest wait for the second board when only one board has
    reported a card.
    """

    binding: AttemptBinding
    board_log: BoardLog
    dealer: DealerBoard
    reader: ReaderBoard
    processor: CommandProcessor
    first_cutter: Callable[[], Seat | None]
    cut_timeout_s: float
    look_timeout_s: float
    on_change: Callable[[], None]


class AttemptEnded(Exception):
    """The exception for the end of an attempt without hands. `reasons` are names of faults."""

    def __init__(self, *reasons: str) -> None:
        super().__init__(*reasons)
        self.reasons = reasons


class AttemptStart:
    """The first part of an attempt, up to the entry `begun`. AttemptRun has the other parts."""

    def __init__(self, deps: AttemptDeps, book: AttemptWriter) -> None:
        self.writer = book
        self.number = book.number
        self.deps = self._deps = deps
        self._record = deps.binding.record
        self._profile = deps.binding.profile
        self._loop = asyncio.get_running_loop()
        self._stop_reason: asyncio.Future[str] = self._loop.create_future()
        self._final_state: asyncio.Future[AttemptState] = self._loop.create_future()
        self._final_count: dict[str, Any] = {}
        # The fault of the count: no command was refused.
        self._refusal_text = f"{BoardResult.NOT_LOCKED.name} (dealer)"

    async def commit(self, start_command: AcceptedCommand | None, uncut: str | None) -> None:
        """Publish the commitment, and then answer `start_command`, if a command began the deal.

        `uncut` is the referee's reason to deal without a cut, or None. Raises StorageFailed.
        """
        self.writer.write_committed()
        if start_command is not None:
            said = {} if uncut is None else {"uncut": uncut}
            start_command.write({"deal": self.writer.deal, "attempt": self.number} | said)
        await self._record.sync()
        if start_command is not None:
            start_command.send_answer()

    async def take_cut(self, uncut: str | None) -> None:
        """Wait for the cut and write its entry. If `uncut` is given, write this reason at once.

        `uncut` is the referee's reason for a deal without a cut. A referee may also skip the cut
        during the wait. Raises AttemptEnded, StorageFailed.
        """
        if uncut is not None:
            self.writer.write_cut(None, uncut)
            await self._record.sync()
            return
        cutter = self._deps.first_cutter()
        asked = {} if cutter is None else {"pocket": cutter}
        limit_s = self._deps.cut_timeout_s
        late = self._loop.call_later(limit_s, self._record.raise_fault, "CUT_LATE", asked)
        try:
            while not await self._take_one_cut():
                pass
        finally:
            late.cancel()
            self._record.clear_fault("CUT_LATE")

    async def _take_one_cut(self) -> bool:
        """Wait for `cut` or `start_deal`. Return whether it was accepted and its cut written."""
        order = await self.until_stopped(self._deps.processor.wait_for("cut", "start_deal"))
        vetoed = self._deps.processor.checks.step_refusal(order.message.cmd, order.args)
        if vetoed is not None:  # the match moved between the order and this moment
            order.refuse_with(vetoed)
            return False
        if order.message.cmd == "start_deal":
            cut, seat, reason = None, None, uncut_reason(order)
            if reason is None:
                due = Words("uncut=true and a reason", "不切牌（uncut=true）并写明理由")
                order.refuse("BAD_COMMAND", found=Words("no reason", "未写理由"), expected=due)
                return False
        else:
            cut, seat, reason = order.args.n, order.args.seat or self._deps.first_cutter(), None
            legal = self._profile.cuts()
            if cut not in legal:
                order.refuse("BAD_COMMAND", found=f"n={cut}", expected=f"{legal[0]}…{legal[-1]}")
                return False
        self.writer.write_cut(cut, reason, seat)
        order.write({"cut": cut})
        await self._record.sync()
        order.send_answer()
        return True

    async def begin(self) -> None:
        """Send BEGIN to both boards, then write `begun`. Raises AttemptEnded, StorageFailed."""
        cards, hand = self._profile.deck.cards, self._profile.hand
        try:
            for board in (self._deps.reader, self._deps.dealer):
                await self._begin_board(partial(board.begin, self.number, cards, hand))
        except DriverError as error:
            raise AttemptEnded(driver_error_fault(error)) from error
        self._require_running()
        self.writer.write_begun()
        await self._record.sync()

    def _require_running(self) -> None:
        """Raise AttemptEnded if the attempt was stopped, or if the card loop has ended it."""
        if self._stop_reason.done():
            raise AttemptEnded(self._stop_reason.result())
        if self._final_state.done():
            raise AttemptEnded(*self._final_state.result().reasons)

    async def until_stopped(self, work: Coroutine[Any, Any, _T]) -> _T:
        """Return the result of `work`, or raise AttemptEnded if the attempt is stopped first.

        If the attempt is stopped already, `work` is not begun.
        """
        if self._stop_reason.done():
            work.close()
            raise AttemptEnded(self._stop_reason.result())
        waiting = self._loop.create_task(work)
        both: set[asyncio.Future[Any]] = {waiting, self._stop_reason}
        try:
            await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
            if waiting.done():
                return waiting.result()
        finally:
            waiting.cancel()
        raise AttemptEnded(self._stop_reason.result())

    async def _begin_board(self, begin: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Send BEGIN to one board with `begin`, and wait until the board accepts it.

        Repeat the command if it was refused but the board may accept it soon. Raises AttemptEnded,
        DriverError.
        """
        for left in reversed(range(MAX_BEGIN_RETRIES + 1)):
            try:
                await self.until_stopped(retry_once(begin))
                return
            except BoardRefused as refused:
                why = await self._refusal_fault(refused, are_cards_fed=False)
                if not left or not is_transient(refused, why):
                    raise AttemptEnded(why) from refused
            await self.until_stopped(asyncio.sleep(BEGIN_RETRY_INTERVAL_S))

    async def _refusal_fault(self, refused: BoardRefused, *, are_cards_fed: bool) -> str:
        """Return the fault that explains why a board refused a command.

        Also store the refusal's text and the sensor values, as evidence.
        """
        self._refusal_text = f"{refused.result.name} ({refused.board})"
        why, self._final_count = await refusal_fault(
            refused, self._deps.dealer, are_cards_fed=are_cards_fed
        )
        return why
