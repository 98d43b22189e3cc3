"""The commands of the match, and the events that its clocks and the vault cause.

A command is tried on the present match at once. If the match refuses it, the refusal is the answer.
If the match accepts it, it is written to the journal and then answered. The passing of time and the
answers of the vault are handled in the same way.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from controller.cards import Face, parse_face
from controller.commands.registry import BadArgs
from controller.commands.ruling_arguments import ChargeArgs
from controller.journal.entries import check_entry_data
from controller.machine.commands.command_events import events_of_command, meeting_of
from controller.machine.commands.command_request import (
    AcceptedCommand,
    CommandRefused,
    RequestedCommand,
    failure,
    failure_of,
)
from controller.machine.commands.ruling_commands import legal_rulings
from controller.machine.public.score_sheet import sheet_data
from controller.machine.state import table_match
from controller.machine.state.table_match import TableMatch, apply_event, dry_run
from controller.machine.table_record import TableRecord
from controller.match import match_events as events
from controller.match.match_effects import EventRefused
from controller.match.match_events import MatchEvent
from controller.match.match_state import GuandanMatch, Meeting
from controller.match.phase import MatchPhase
from controller.match.refusals import Refusal, RefusedError
from controller.match.timing import next_tick_ms
from controller.messages import Failure, Seat
from controller.rules.deal_result import FinishOrder
from controller.rules.penalties.penalty_record import PenaltyRecord as Brought
from controller.rules.penalties.penalty_record import pairs_disqualified
from controller.rules.profile import Profile
from controller.rules.regulations_page import profile_hash
from controller.rules.tribute import finish_owing_tribute, must_claim_anti_tribute
from controller.rules.tribute_returns import ReturnError, judge_return
from controller.vault import dealt_hands
from controller.vault.dealt_hands import DealtHands
from controller.words import Words


class MatchCommands:
    """The handlers of the match's commands and of the match's timer.

    They also answer the match's questions from the vault. `dealt` returns the hands that the
    players hold, or None if this machine does not know them.
    """

    def __init__(
        self, record: TableRecord, profile: Profile, dealt: Callable[[], DealtHands | None]
    ) -> None:
        self._record, self._profile, self._dealt_hands = record, profile, dealt
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None

    def events_refusal(self, *wanted: MatchEvent) -> Failure | None:
        """Return the match's first refusal of the events `wanted`, or None if it accepts all."""
        play = self._record.match_written
        for event, then in zip(wanted, (*wanted[1:], None), strict=True):
            for effect in dry_run(play, event)[1]:
                if isinstance(effect, EventRefused):
                    return failure_of(effect.refusal)
            if then is not None:
                play = apply_event(play, event)
        return None

    def require_accepted(self, request: RequestedCommand) -> None:
        """Raise CommandRefused unless the match would accept the requested command."""
        self._require_events(self.match_events(request))

    def _require_events(self, wanted: Sequence[MatchEvent]) -> None:
        refused = self.events_refusal(*wanted)
        if refused is not None:
            raise CommandRefused(refused)

    async def execute(self, command: AcceptedCommand, then: MatchEvent | None = None) -> None:
        """Write the match events that a command causes, and answer the command.

        `then` is one more event. It is written too if the match accepts it after the others. Raises
        CommandRefused.
        """
        wanted = self.match_events(command.request)
        if then is not None and self.events_refusal(*wanted, then) is None:
            wanted = (*wanted, then)
        self.write_events(*wanted)
        match = self._record.match_written.match
        assert match is not None  # The match has just accepted an event.
        told = {"phase": match.phase.value}
        for event in wanted:
            if isinstance(event, events.RulingProposed):
                drawn_up = event.proposal
                told |= {"ruling": event.id, "penalty": drawn_up.penalty, "needs": drawn_up.needs}
        await command.write_and_answer(told)

    def match_events(self, request: RequestedCommand) -> tuple[MatchEvent, ...]:
        """Return the events that a command causes in the present match. Raises CommandRefused."""
        match = self._record.match_written.match
        if match is None:
            raise CommandRefused(failure("NO_MATCH"))
        at_ms = self._record.clock()
        try:
            return events_of_command(request.cmd, request.args, request.signer, match, at_ms)
        except RefusedError as error:
            raise CommandRefused(failure_of(error.refusal)) from None

    def write_events(self, *wanted: MatchEvent) -> None:
        """Write the events `wanted`, or raise CommandRefused if the match refuses one of them."""
        self._require_events(wanted)
        for event in wanted:
            self._record.write_match(event)

    def require_no_match(self) -> None:
        """Raise CommandRefused while a match at this table has begun and is not signed yet."""
        match = self._record.match_written.match
        if match is not None and match.phase not in (MatchPhase.SIGNED, MatchPhase.SETUP):
            raise CommandRefused(failure("MATCH_OPEN", found=match.meeting.match_id))

    async def set_match(self, command: AcceptedCommand) -> None:
        """Begin a new match: write its entry `meeting`, and answer. Raises CommandRefused."""
        self.require_no_match()
        try:
            meeting, record = meeting_of(command.args)
            laid_out = meeting_data(self._profile, meeting, record)
            check_entry_data("meeting", dict(laid_out))
        except BadArgs as bad:
            wrong = failure("BAD_COMMAND", found=bad.found, expected=bad.expected)
            raise CommandRefused(wrong) from None
        except ValueError as error:
            found = Words(str(error), "日志无法容纳其内容")
            expected = Words("a record", "判罚记录")
            raise CommandRefused(failure("BAD_COMMAND", found=found, expected=expected)) from None
        self._require_admitted(meeting, record)
        self._record.write("meeting", laid_out)
        await command.write_and_answer({"match": meeting.match_id})

    def _require_admitted(self, meeting: Meeting, brought: Brought) -> None:
        """Raise CommandRefused if the record `brought` or this table has disqualified a pair."""
        out = pairs_disqualified(brought, meeting.event)
        here = table_match.disqualified_pairs(self._record.match_written)
        ids = [pair.id for pair in meeting.pairs.values()]
        pairs = [each for each in ids if each in out or (meeting.event, each) in here]
        if pairs:
            raise CommandRefused(failure("PAIR_DISQUALIFIED", found=" / ".join(pairs)))

    async def judge_tribute(self, command: AcceptedCommand) -> None:
        """Answer whether the card of the command `tribute` is right. Raises CommandRefused.

        If the hands are unknown, write the card into the journal without a check.
        """
        match, dealt = self._require_guandan(), self.hands_for_tribute(command.request)
        if dealt is None:
            await self._enter(command)
            return
        known = (dealt.vault, dealt.sequence, match.profile)
        seat, card = command.args.seat, _parse_card(command.args.card)
        right = dealt_hands.is_right_tribute(*known, seat, match.level, card)
        await command.write_and_answer({"right": right})

    async def judge_return(self, command: AcceptedCommand) -> None:
        """Answer whether the card of the command `return` may be given back. Raises CommandRefused.

        If the hands are unknown, write the card into the journal without a check.
        """
        match, known = self._require_guandan(), self.hands_for_return(command.request)
        if known is None:
            await self._enter(command)
            return
        dealt, owed, to = known
        rules, seat, card = match.profile, command.args.seat, _parse_card(command.args.card)
        try:
            verdict = dealt_hands.judge_return_card(
                dealt.vault, dealt.sequence, rules, owed, seat, to, match.level, card
            )
        except ReturnError:
            verdict = judge_return(rules, owed, seat, to, card, match.level)
        await command.write_and_answer(
            {"state": verdict.state, "key": verdict.key, "article": verdict.article}
        )

    def hands_for_tribute(self, request: RequestedCommand) -> DealtHands | None:
        """Return the dealt hands for the check of a tribute, or None if the vault has no hands.

        Without hands the match must accept the tribute without a check. Raises CommandRefused if
        neither is possible.
        """
        match, dealt = self._require_guandan(), self._known_hands()
        if dealt is None:
            self.require_accepted(request)
        else:
            _require_laid(match, request.args.seat)
        return dealt

    def hands_for_return(
        self, request: RequestedCommand
    ) -> tuple[DealtHands, FinishOrder, Seat] | None:
        """Return the hands, the finish order and the receiver for the check of a return card.

        Return None if the card cannot be checked and the match accepts it without a check. Raises
        CommandRefused if neither is possible.
        """
        match, dealt = self._require_guandan(), self._known_hands()
        settled = None if match.exchange is None else match.exchange.plan
        to = dict(settled.returns).get(request.args.seat) if settled is not None else None
        owed = finish_owing_tribute(match.profile, match.follows)
        decides = settled is not None and settled.leader is None
        if dealt is None or owed is None or to is None or decides:
            self.require_accepted(request)
            return None
        return dealt, owed, to

    async def _enter(self, command: AcceptedCommand) -> None:
        self.write_events(*self.match_events(command.request))
        await command.write_and_answer()

    def _known_hands(self) -> DealtHands | None:
        """Return the present deal's hands from the vault, or None if the vault has none."""
        match = self._record.match_written.match
        by_hand = match is None or match.by_hand
        return None if by_hand else self._dealt_hands()

    def score_sheet(self, table: str, head: bytes) -> dict[str, Any]:
        """Return the data of the present score sheet as a JSON object. Raises CommandRefused."""
        shown = self._record.match_committed
        if shown.match is None:
            raise CommandRefused(failure("NO_MATCH"))
        return sheet_data(shown.match, table=table, head=head.hex(), moves=shown.moves)

    def legal_rulings(self, args: ChargeArgs) -> dict[str, Any]:
        """Return the penalties that are possible for a charge. Raises CommandRefused."""
        match = self._require_guandan()
        try:
            found = legal_rulings(match, args, self._record.clock())
        except RefusedError as error:
            raise CommandRefused(failure_of(error.refusal)) from None
        return {"proposals": [msgspec.to_builtins(proposal) for proposal in found]}

    def on_match_changed(self) -> None:
        """Publish withheld events, enter the vault's answer about tributes, and set the timer."""
        self._record.publish_withheld()
        answer = self._vault_answer(self._record.match_written)
        if answer is not None and self.events_refusal(answer) is None:
            self._record.write_match(answer)
            self._record.journal.flush()
        self._set_timer()

    def close(self) -> None:
        """Cancel the timer of the match's next time limit."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _vault_answer(self, play: TableMatch) -> MatchEvent | None:
        """Return the event with which the vault answers about tributes, or None if none is due."""
        match, dealt = play.match, self._dealt_hands()
        if not isinstance(match, GuandanMatch) or dealt is None or match.by_hand:
            return None
        asked = match.exchange
        if asked is None or match.suspended is not None:
            return None
        at_ms, known = self._record.clock(), (dealt.vault, dealt.sequence, match.profile)
        if match.phase is MatchPhase.ANTI_CHECK:
            stands = dealt_hands.is_anti_tribute(*known, asked.payers)
            claimed = stands and must_claim_anti_tribute(match.profile)
            return None if claimed else events.AntiTributeAnswered(at_ms=at_ms, stands=stands)
        if match.phase is MatchPhase.TRIBUTE and set(asked.laid) == set(asked.payers):
            values = dealt_hands.required_tributes(*known, asked.payers, match.level)
            return events.TributeValued(at_ms=at_ms, values=values)
        return None

    def _set_timer(self) -> None:
        self.close()
        match = self._record.match_written.match
        due_ms = None if match is None else next_tick_ms(match)
        if due_ms is not None:
            self._timer = self._loop.call_at(self._record.clock.loop_time(due_ms), self._on_timer)

    def _on_timer(self) -> None:
        self._timer = None
        self._record.write_match(events.TimePassed(at_ms=self._record.clock()))
        self._record.journal.flush()

    def _require_guandan(self) -> GuandanMatch:
        match = self._record.match_written.match
        if not isinstance(match, GuandanMatch):
            raise CommandRefused(failure("NO_MATCH"))
        return match


def meeting_data(profile: Profile, meeting: Meeting, record: Brought) -> Mapping[str, Any]:
    """Return the data of the entry `meeting`, which begins a match."""
    return {
        "match": meeting.match_id,
        "meeting": msgspec.to_builtins(meeting),
        "record": msgspec.to_builtins(record),
        "profile": profile.name,
        "profile_hash": profile_hash(profile).hex(),
    }


def _require_laid(match: GuandanMatch, seat: Seat) -> None:
    """Raise CommandRefused unless a seat owes a tribute and has laid the card on the table.

    Before that, no person may ask about the seat's hand.
    """
    asked = match.exchange
    if asked is None or seat not in asked.payers:
        payers = " / ".join(asked.payers) if asked is not None else ""
        raise CommandRefused(failure_of(Refusal("NOT_HIS_DUTY", payers)))
    if seat not in asked.laid:
        raise CommandRefused(failure_of(Refusal("NOT_LAID", seat)))


def _parse_card(text: str) -> Face:
    try:
        return parse_face(text)
    except ValueError:
        raise CommandRefused(failure("NO_SUCH_CARD", found=text)) from None
