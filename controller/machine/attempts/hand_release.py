"""The release of held hands: the command, the lift, and everything that can stop the lift.

As soon as the board may have received the command to lift, the hands count as out. From then on, an
obstacle only delays them.
"""

import asyncio
from collections.abc import Callable, Mapping

from controller.faults import driver_error_fault
from controller.machine.attempts.attempt_run import AttemptRun
from controller.machine.attempts.attempt_start import AttemptDeps, AttemptEnded
from controller.machine.attempts.attempt_writer import LeadRule
from controller.machine.boards.board_observations import can_reach_hands, refusal_fault, retry_once
from controller.machine.commands.command_request import AcceptedCommand
from drivers.errors import BoardRefused, DriverError, LineLost
from drivers.link.frames import BoardResult

# Answers of a board that no longer has the attempt of a release.
_FORGOTTEN_RESULTS = (BoardResult.WRONG_ATTEMPT, BoardResult.NOT_LOCKED)
LIFT_RETRY_INTERVAL_S = 1.0
"""Wait before a RELEASE is repeated, in seconds."""
LIFT_TIMEOUT_S = 6.0
"""Longest time of a lift before the fault STALL is raised. A board stops trying after 5 s."""


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
        """Wait for a release command and release the hands; return False if the attempt ends first.

        Return True after the release. `lead_rule` returns how the entry `released` names the
        leader. It is called again after the command, because the leader of a deal dealt ahead is
        not known before. `write_ordered` writes the match's event for the command. `waiting_times`
        returns how long people waited. Raises StorageFailed.
        """
        if self._run.writer.has("released"):
            return True
        order: AcceptedCommand | None = None
        try:
            self._require_lead(lead_rule())
            if not self._run.hands_out:
                order = await self._valid_command()
                self._require_lead(lead_rule(), order)
                order.write()  # The command's row must come before its effects on the match.
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
        """Wait for release commands, and return the first one that can still be carried out.

        The command was checked on arrival, but another command may have changed the match since.
        """
        while True:
            order = await self._run.until_stopped(self._next_command())
            vetoed = self._deps.processor.checks.step_refusal(order.message.cmd, order.args)
            if vetoed is None:
                return order
            order.refuse_with(vetoed)

    async def _next_command(self) -> AcceptedCommand:
        """Wait for a release command that comes while the hopper is empty, and return it.

        Refuse the commands that come while the hopper has cards. The board's lock checks this too.
        But a set that was put back too early must not void right hands.
        """
        while True:
            order = await self._deps.processor.wait_for("release")
            try:
                status = await retry_once(self._deps.dealer.get_status)
            except DriverError:
                return order  # The board's answer will show the obstacle.
            except asyncio.CancelledError:
                why = self._run.stop_reason
                # Every command gets an answer, also if the attempt ended while the board was asked.
                if why is not None:
                    order.refuse(why)
                raise
            if not status.sees_hopper:
                return order
            order.refuse("SET_TOO_EARLY")

    def _require_lead(self, lead: LeadRule, command: AcceptedCommand | None = None) -> None:
        """Refuse `command` and raise AttemptEnded if the lost key is needed to name the leader."""
        if self._run.writer.is_key_lost and lead != "none":
            if command is not None:
                command.refuse("POWER")
            raise AttemptEnded("POWER")

    async def _begin_lift(self, command: AcceptedCommand) -> None:
        """Start the lift with a RELEASE; if this fails, refuse `command` and raise AttemptEnded.

        If the board may have received the RELEASE, the hands count as out.
        """
        try:
            await self._run.until_stopped(retry_once(self._send_release))
        except LineLost:
            # It is not known whether the board received the command, so it is repeated from here
            # on.
            pass
        except (AttemptEnded, DriverError) as error:
            raise AttemptEnded(await self._refuse_release(command, error)) from error
        self._run.hands_out = True

    async def _lift(self, command: AcceptedCommand | None) -> None:
        """Repeat RELEASE until the lift is up; raise AttemptEnded if the board lost the hands."""
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
                    try:
                        status = await retry_once(self._deps.dealer.get_status)
                    except DriverError:
                        continue
                    if can_reach_hands(status):
                        # The board lost the hands after they were up. Hands that are out stay out.
                        break
                    raise AttemptEnded(await self._refuse_release(command, refused)) from refused
                stuck.add(await self._refusal_fault(refused))
                begun_s = self._loop.time()  # The time of a lift that must not rise does not count.
            except DriverError as error:
                stuck.add(driver_error_fault(error))
                begun_s = self._loop.time()
            for name in sorted(stuck):
                self._record.raise_fault(name)
        for name in sorted(stuck):
            self._record.clear_fault(name)

    async def _send_release(self) -> None:
        await self._deps.dealer.release(self._run.number)

    async def _refusal_fault(self, refused: BoardRefused) -> str:
        why, _ = await refusal_fault(refused, self._deps.dealer, are_cards_fed=True)
        return why

    async def _refuse_release(self, command: AcceptedCommand | None, error: Exception) -> str:
        """Refuse `command` because of `error`, and return the fault that explains the error."""
        if isinstance(error, AttemptEnded):
            reason = error.reasons[0]
        elif not isinstance(error, BoardRefused):
            reason = driver_error_fault(error)
        elif error.result is BoardResult.WRONG_ATTEMPT:
            reason = "BOARD_RESET"  # The board does not know the hands that it locked.
        else:
            reason = await self._refusal_fault(error)
        if command is not None:
            command.refuse(reason)
        return reason
