"""Held hands on their way out: the order, the lift, and what keeps it from rising.

Once the board may have heard that it is to lift, the hands count as out: then whatever
stops the lift only delays them.
"""

import asyncio
from collections.abc import Callable, Mapping

from controller.faults import driver_error_fault
from controller.machine.attempts.attempt_run import AttemptDeps, AttemptEnded, AttemptRun
from controller.machine.attempts.attempt_writer import LeadRule
from controller.machine.boards.board_observations import can_reach_hands, refusal_fault, retry_once
from controller.machine.commands.command_request import AcceptedCommand
from drivers.errors import BoardRefused, BoardResult, DriverError, LineLost

# What a board answers to a release that it knows nothing of any more.
_FORGOTTEN_RESULTS = (BoardResult.WRONG_ATTEMPT, BoardResult.NOT_LOCKED)
LIFT_RETRY_INTERVAL_S = 1.0
"""How long a lift may stand still before it is asked again."""
LIFT_TIMEOUT_S = 6.0
"""How long the lift may take in all before somebody is called: a board gives up after 5 s."""


class HandRelease:
    """The release of one attempt's held hands."""

    def __init__(self, deps: AttemptDeps, run: AttemptRun) -> None:
        self._deps, self._run = deps, run
        self._record = deps.binding.record
        self._loop = asyncio.get_running_loop()

    async def run(
        self,
        lead_rule: Callable[[], LeadRule],
        write_ordered: Callable[[], None],
        waiting_times: Callable[[], Mapping[str, int]],
    ) -> bool:
        """Wait for the order, then let the hands out; False where they may not go any more.

        `lead` is how the release says who leads, which is asked again with the order: of a deal
        that was dealt ahead nobody knows it before. `ordered` writes what follows from the order
        itself; `waited` tells how long people waited for it. Raises StorageFailed.
        """
        if self._run.writer.has("released"):
            return True
        order: AcceptedCommand | None = None
        try:
            self._require_lead(lead_rule())
            if not self._run.hands_out:
                order = await self._valid_command()
                self._require_lead(lead_rule(), order)
                order.write()  # first: what the order means to a match is nothing without it
                write_ordered()
                await self._record.sync()
                await self._begin_lift(order)
            await self._lift(order)
        except AttemptEnded as ended:
            await self._run.end(*ended.reasons)
            return False
        self._run.writer.write_released(lead_rule(), waiting_times())
        await self._record.sync()
        if order is not None:
            order.send_answer()
        return True

    async def _valid_command(self) -> AcceptedCommand:
        """Return an order that still holds in the moment in which it is acted on.

        It was asked when it came; the match may have moved since, by another's order.
        """
        while True:
            order = await self._run.until_stopped(self._next_command())
            vetoed = self._deps.processor.actions.step_refusal(order.message.cmd, order.args)
            if vetoed is None:
                return order
            order.refuse_with(vetoed)

    async def _next_command(self) -> AcceptedCommand:
        """Return an order to let the hands out that can be followed: the hopper is empty.

        The board's lock sees to that, too; but a set that was put back too early is no reason
        to void right hands.
        """
        while True:
            order = await self._deps.processor.wait_for("release")
            try:
                status = await retry_once(self._deps.dealer.get_status)
            except DriverError:
                return order  # what keeps the board away will tell
            except asyncio.CancelledError:
                why = self._run.stop_reason
                if why is not None:  # while the board was asked: no order stays unanswered
                    order.refuse(why)
                raise
            if not status.sees_hopper:
                return order
            order.refuse("SET_TOO_EARLY")

    def _require_lead(self, lead: LeadRule, command: AcceptedCommand | None = None) -> None:
        """Raise Ended where it has no faces any more to say who leads."""
        if self._run.writer.is_key_lost and lead != "none":
            if command is not None:
                command.refuse("POWER")
            raise AttemptEnded("POWER")

    async def _begin_lift(self, command: AcceptedCommand) -> None:
        """Have the lift start. Once the board may have heard it the hands count as out."""
        try:
            await self._run.until_stopped(retry_once(self._send_release))
        except LineLost:
            pass  # nobody knows whether the board heard it: asked again from here on
        except (AttemptEnded, DriverError) as error:
            raise AttemptEnded(await self._refuse_release(command, error)) from error
        self._run.hands_out = True

    async def _lift(self, command: AcceptedCommand | None) -> None:
        """See the lift up, asking again whatever stops it, until the board says that it is."""
        stuck: set[str] = set()
        begun_s = self._loop.time()
        while not self._run.lift_raised.done():
            await asyncio.wait({self._run.lift_raised}, timeout=LIFT_RETRY_INTERVAL_S)
            if self._loop.time() - begun_s > LIFT_TIMEOUT_S:
                stuck.add("STALL")
            try:
                await retry_once(self._send_release)
            except BoardRefused as refused:
                if refused.result in _FORGOTTEN_RESULTS:
                    reach = await self._can_reach_hands()
                    if reach:
                        break  # it forgot them once they were up: what is out stays out
                    if reach is None:
                        continue
                    raise AttemptEnded(await self._refuse_release(command, refused)) from refused
                stuck.add(await self._refusal_fault(refused))
                begun_s = self._loop.time()  # a lift that may not rise is not what sticks
            except DriverError as error:
                stuck.add(driver_error_fault(error))
                begun_s = self._loop.time()
            for name in sorted(stuck):
                self._record.raise_fault(name)
        for name in sorted(stuck):
            self._record.clear_fault(name)

    async def _can_reach_hands(self) -> bool | None:
        """Return whether players may have the hands; None: the dealer board does not answer."""
        try:
            return can_reach_hands(await retry_once(self._deps.dealer.get_status))
        except DriverError:
            return None

    async def _send_release(self) -> None:
        await self._deps.dealer.release(self._run.number)

    async def _refusal_fault(self, refused: BoardRefused) -> str:
        why, _ = await refusal_fault(refused, self._deps.dealer, are_cards_fed=True)
        return why

    async def _refuse_release(self, command: AcceptedCommand | None, error: Exception) -> str:
        """Answer a release that cannot be; return why."""
        if isinstance(error, AttemptEnded):
            reason = error.reasons[0]
        elif isinstance(error, BoardRefused) and error.result is BoardResult.WRONG_ATTEMPT:
            reason = "BOARD_RESET"  # it knows nothing of hands that it locked
        elif isinstance(error, BoardRefused):
            reason = await self._refusal_fault(error)
        else:
            reason = driver_error_fault(error)
        if command is not None:
            command.refuse(reason)
        return reason
