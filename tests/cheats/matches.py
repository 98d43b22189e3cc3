"""Machines that cheat in a match: hands dealt again, kept from view, or dealt by other rules."""

from dataclasses import replace
from typing import Any

from controller.machine.attempts.attempt_run import AttemptRun
from controller.machine.attempts.attempt_writer import AttemptBinding, AttemptPlan, AttemptWriter
from controller.machine.attempts.released_hands import HandsWithPlayers, UnopenedHands
from controller.machine.commands.command_request import RequestedCommand
from controller.machine.commands.opened_hands import OpenedHands
from controller.rules.profile_files import load_profile
from tests.cheats.changed import BOOK, HANDS_KEPT, HANDS_OUT, OPENED_HANDS, RUN, VICTIM, Cheat
from tests.cheats.evenings import LOOKED_AT, TWO_MATCHES


class RecallsUnasked(HandsWithPlayers):
    """Says of a deal that was played that its hands are dealt again."""

    async def close(self) -> None:
        """Recall what nobody asked to be dealt again."""
        run = self.run
        if run is None or run.number != VICTIM:
            await super().close()
            return
        await run.recall("ORDERED")
        self.run = self._deal = self._close_task = None
        self._record.on_match()


class KeepsHandsFromView(UnopenedHands):
    """Opens no hands of a match, whatever its rules say."""

    def on_match_changed(self) -> None:
        """Show nothing."""


class ShowsHandsEarly(UnopenedHands):
    """Opens the hands of a deal while its match goes on."""

    @property
    def _opening_rule(self) -> str:
        return "deal_end"


class OtherRules(AttemptWriter):
    """Commits to other rules than the match was laid out for, and keeps to them."""

    def __init__(self, bound_to: AttemptBinding, plan: AttemptPlan, *rest: Any) -> None:
        if plan.number == VICTIM:
            bound_to = replace(bound_to, profile=load_profile("bcta-004"))
        super().__init__(bound_to, plan, *rest)


class VoidsByItself(AttemptRun):
    """Says of right hands that somebody ordered them to be void."""

    async def _deal(self) -> tuple[str, ...]:
        reasons = await super()._deal()
        return ("ORDERED",) if self.number == VICTIM and not reasons else reasons


class MayLookAndRedeal(OpenedHands):
    """Lets whoever opened a hand have it dealt again."""

    def require_unseen(self, request: RequestedCommand) -> None:
        """Forbid nothing."""


CHEATS = (
    Cheat(
        name="a look at a hand, and its redeal",
        gains="the chief has hands dealt again that he looked at and does not like",
        parts={OPENED_HANDS: MayLookAndRedeal},
        evening=LOOKED_AT,
        found="a person who opened a hand cannot have it dealt again",
        on_feed="a person who opened a hand cannot have it dealt again",
    ),
    Cheat(
        name="a deal recalled that nobody asked for",
        gains="a played deal counts for nothing, and is dealt again",
        parts={HANDS_OUT: RecallsUnasked},
        evening=TWO_MATCHES,
        found="no person ordered a redeal",
        on_feed=None,
        unseen="a listener who missed an event cannot tell that nobody ordered it",
    ),
    Cheat(
        name="a void that nobody ordered",
        gains="right hands that it does not like are dealt again, by nobody's word",
        parts={RUN: VoidsByItself},
        evening=TWO_MATCHES,
        found="no person ordered a redeal",
        on_feed=None,
        unseen="a listener who missed an event cannot tell that nobody ordered it",
    ),
    Cheat(
        name="hands that are kept from view",
        gains="nobody sees which cards lay at which place",
        parts={HANDS_KEPT: KeepsHandsFromView},
        evening=TWO_MATCHES,
        found="its match is over: its record is not open",
        on_feed=None,
        unseen="a listener may have missed it: the report says that its hands are not open",
    ),
    Cheat(
        name="hands that are shown too early",
        gains="who watches the feed learns how a side holds its cards back",
        parts={HANDS_KEPT: ShowsHandsEarly},
        evening=TWO_MATCHES,
        found="hands were shown too early",
        on_feed="hands were shown too early",
    ),
    Cheat(
        name="other rules than the match's",
        gains="the deal is held to rules that the match was not laid out for",
        parts={BOOK: OtherRules},
        evening=TWO_MATCHES,
        found="it was dealt under other rules",
        on_feed="it was dealt under other rules",
    ),
)
