"""The card loop: it passes observations to the pure attempt, and the resulting effects to boards.

The loop runs inside the read callbacks of the serial ports. It writes its answer before that
callback returns.

This module must not import the vault or the cards. It receives observations and verdicts, never
board events, so no value here can contain a face.
"""

import asyncio
from collections.abc import Callable
from typing import Any

from controller.deal import observations as todo
from controller.deal.attempt import AttemptState, Stage, new_attempt, send_to_tray, step
from controller.deal.ledger import OUTLETS, TRAY
from controller.deal.observations import AttemptStopped, CardGated, LookOverdue, Observation
from drivers.board_events import FeedSource, Outlet
from drivers.link import frames

_MOTIONS = (todo.ShuffleCards, todo.FeedCards, todo.RouteCard, todo.RereadCard, todo.AwaitLook)
"""Effects that are postponed while the table is paused. The end of an attempt is not postponed."""
_OUTLET_CODES = dict(zip(OUTLETS, Outlet, strict=True))
LOOK_TIMEOUT_S = 0.3
"""Longest wait for the second board when only one board has reported a card. After it the counts of
both boards are compared. If they agree, the card goes to the tray.
"""


class CardLoop:
    """The loop that routes the cards of one attempt.

    It passes observations to the pure attempt and carries out its effects. `dealer` and `reader`
    write a command to their board. `stop_motion` stops all motion.

    `on_count_due` is called when the last card has landed. The caller answers with
    `observe(FinalCount)`. `on_look_overdue` is called with the index of a card that only one board
    has reported for `look_timeout_s`. The caller answers with `give_up_look`, or stops the attempt.
    `on_end` is called once, when the hands are held or the attempt is refused. `on_change` is
    called after every observation.

    While `is_replaying` is True, effects are discarded: an attempt of an earlier run receives its
    past observations until `end_replay`. While the loop is paused, no card is moved.
    """

    def __init__(
        self,
        number: int,
        sequence: str,
        passes: int,
        *,
        dealer: Callable[[frames.BoardCommand], None],
        reader: Callable[[frames.BoardCommand], None],
        stop_motion: Callable[[], None],
        on_count_due: Callable[[], None],
        on_look_overdue: Callable[[int], None],
        on_end: Callable[[AttemptState], None],
        on_change: Callable[[], None],
        look_timeout_s: float = LOOK_TIMEOUT_S,
    ) -> None:
        self.number = number
        self.attempt = new_attempt(sequence, passes)
        self.is_replaying = False
        self._is_paused = False
        self._dealer, self._reader, self._stop_motion = dealer, reader, stop_motion
        self._on_count_due, self._on_end, self._on_change = on_count_due, on_end, on_change
        self._on_look_overdue, self._look_timeout_s = on_look_overdue, look_timeout_s
        self._loop = asyncio.get_running_loop()
        self._look_timer: asyncio.TimerHandle | None = None
        self._effect_handlers: dict[type[Any], Callable[[Any], None]] = {
            todo.ShuffleCards: lambda e: dealer(frames.ShuffleCommand(number, e.passes)),
            todo.FeedCards: self._feed,
            todo.RouteCard: self._route,
            todo.RereadCard: lambda e: reader(frames.RereadCommand(number, e.index)),
            todo.AwaitLook: self._await_look,
            todo.RequestFinalCount: lambda e: on_count_due(),
            todo.HoldHands: lambda e: self._end(),
            todo.RefuseHands: lambda e: self._end(),
        }

    def observe_board(self, observation: Observation) -> None:
        """Pass an observation from the dealer board to the attempt. A replay discards effects."""
        (self._replay if self.is_replaying else self.observe)(observation)

    def observe(self, observation: Observation) -> None:
        """Pass an observation to the attempt, and carry out the resulting effects."""
        self.attempt, effects = step(self.attempt, observation)
        for effect in () if self.is_replaying else effects:
            if not (self._is_paused and isinstance(effect, _MOTIONS)):
                self._effect_handlers[type(effect)](effect)
        self._on_change()

    def stop(self, reason: str) -> None:
        """End the attempt because of the fault `reason`."""
        self.observe(AttemptStopped(reason))

    def is_look_overdue(self, index: int) -> bool:
        """Return whether one of the two boards has not reported card `index` by the time limit.

        Return False while a new wait runs (for a second look) and while the table is paused. The
        counts are compared again afterwards.
        """
        if self._look_timer is not None or self._is_paused:
            return False
        early = self.attempt.early_verdict
        newest = self.attempt.ledger.cards[-1:]
        waits = any(card.index == index and card.route is None for card in newest)
        return waits or (early is not None and early.index == index)

    def give_up_look(self, index: int) -> None:
        """Send card `index` to the tray, and stop the wait for the second board's report."""
        self.observe(LookOverdue(index))

    def pause(self) -> None:
        """Stop all motion until `resume` is called."""
        self._is_paused = True
        self.close()
        self._stop_motion()

    def resume(self) -> None:
        """End the pause, and send both boards the commands that the attempt needs now."""
        self._is_paused = False
        self.resend_targets()

    def resend_targets(self) -> None:
        """Send both boards again all commands that the attempt needs in its present state.

        This is necessary after a new session, and after a board stopped because it received
        nothing. Commands are absolute, so a board does not repeat what it has done. A paused table
        stays paused.
        """
        attempt = self.attempt
        if self.is_replaying or self._is_paused:
            return
        if attempt.stage is Stage.SHUFFLING:
            self._dealer(frames.ShuffleCommand(self.number, attempt.passes))
        if attempt.stage not in (Stage.DEALING, Stage.REFEEDING):
            return
        self._feed(todo.FeedCards(attempt.upto, tray=attempt.stage is Stage.REFEEDING))
        if attempt.early_verdict is not None:
            self._await_look(todo.AwaitLook(attempt.early_verdict.index))
            return
        for card in attempt.ledger.cards[-1:]:
            if card.route is None:
                self._reader(frames.RereadCommand(self.number, card.index))
                self._await_look(todo.AwaitLook(card.index))
            elif card.gated is None:
                self._route(todo.RouteCard(card.index, card.route))

    def _replay(self, observation: Observation) -> None:
        """Pass an observation of an earlier run to the attempt, without any command to a board.

        The journal contains what the sensors saw, but not that a wait ended. So a card that went to
        the tray without a route must have been overdue.
        """
        if isinstance(observation, CardGated) and observation.outlet == TRAY:
            card = self.attempt.ledger.card(observation.index)
            if card is not None and card.route is None:
                self.observe(LookOverdue(card.index))
        self.observe(observation)

    def adopt_route(self, index: int, outlet: str) -> bool:
        """Adopt `outlet`, to which the board has routed card `index`, as the card's route.

        Return False for a wrong route: only the attempt's own route and the tray are right. A board
        keeps the first route that it received for the card in the window. The earlier run may have
        stopped the wait for the card's look, and then the card goes to the tray.
        """
        card = self.attempt.ledger.card(index)
        if card is None or card.gated is not None or card.route == outlet:
            return card is not None
        if outlet != TRAY:
            return False
        if card.route is None:
            self.observe(LookOverdue(index))
        else:
            self.attempt = send_to_tray(self.attempt, index)
        return True

    def end_replay(self) -> None:
        """End the replay, and carry out the effects that the attempt needs in its present state."""
        self.is_replaying = False
        attempt = self.attempt
        if attempt.stage is Stage.ENDED:
            self._end()
        elif attempt.stage is Stage.CHECKING:
            self._on_count_due()
        else:
            self.resend_targets()

    def close(self) -> None:
        """Cancel the timer that limits the wait for the second board's report on a card."""
        if self._look_timer is not None:
            self._look_timer.cancel()
            self._look_timer = None

    def _feed(self, feed: todo.FeedCards) -> None:
        source = FeedSource.TRAY if feed.tray else FeedSource.HOPPER
        self._dealer(frames.FeedCommand(self.number, source, feed.upto))

    def _route(self, route: todo.RouteCard) -> None:
        self._dealer(frames.RouteCommand(self.number, route.index, _OUTLET_CODES[route.outlet]))
        self.close()

    def _await_look(self, wait: todo.AwaitLook) -> None:
        self.close()
        self._look_timer = self._loop.call_later(
            self._look_timeout_s, self._on_look_timeout, wait.index
        )

    def _on_look_timeout(self, index: int) -> None:
        self._look_timer = None
        self._on_look_overdue(index)

    def _end(self) -> None:
        if self.attempt.stage is Stage.ENDED:
            self._stop_motion()
        self.close()
        self._on_end(self.attempt)
