"""Checks that return why a command would be refused now. Nothing is executed here.

Both the actions (table_commands.py) and the offers call these checks, so both give the same reason.
Steps of a deal (start, cut, release) are not actions, because the deal waits for them.
`step_refusal` returns why the deal does not accept a step now. No request is sent to a board.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from controller.commands.table_arguments import CutArgs
from controller.machine.attempts.deal_cycle import DealCycle, DealSettings
from controller.machine.boards.table_boards import TableBoards
from controller.machine.commands.command_request import (
    CommandRefused,
    RequestedCommand,
    failure,
    failure_of,
)
from controller.machine.commands.match_commands import MatchCommands
from controller.machine.commands.opened_hands import OpenedHands
from controller.machine.commands.service_commands import ServiceCommands
from controller.machine.commands.table_transfers import TableTransfers
from controller.machine.table_calls import calling_seats
from controller.machine.table_record import TableRecord
from controller.match.match_events import ReleaseOrdered, SetCut
from controller.match.phase import BEFORE_RELEASE, phase_words
from controller.match.refusals import Refusal
from controller.messages import Failure, MachinePhase, Role
from controller.words import MACHINE_PHASE_WORDS, Words, quoted_words, roles_with_article

MACHINE_STEPS: Final = frozenset({"start_deal", "cut", "release"})


@dataclass(frozen=True, kw_only=True)
class CommandParts:
    """The parts of a machine that the handlers and checks of its commands use."""

    record: TableRecord
    table_boards: TableBoards
    deal_cycle: DealCycle
    match_commands: MatchCommands
    settings: DealSettings
    opened_hands: OpenedHands
    transfers: TableTransfers
    service_commands: ServiceCommands


class TableCommandChecks:
    """The checks that decide whether a command of the table is possible now.

    A check returns if the command may be carried out, and raises CommandRefused otherwise.
    """

    def __init__(self, parts: CommandParts) -> None:
        self._record, self._table_boards = parts.record, parts.table_boards
        self._deal_cycle, self._settings = parts.deal_cycle, parts.settings
        self._opened_hands, self._transfers = parts.opened_hands, parts.transfers
        match_commands = self._match_commands = parts.match_commands
        service = parts.service_commands
        self._checks: Mapping[str, Callable[[RequestedCommand], object]] = {
            "set_match": self._set_match,
            "start_match": self._start_match,
            "take_over": lambda asked: self._require_no_test(),
            "call": lambda asked: None,
            "attend": self._attend,
            "confirm": self._confirm,
            "hold": self._hold,
            "resume": self._resume,
            "recount": self._check_unseen,
            "replace_set": self.loadable_back,
            "clear_set": self._clear_set,
            "tribute": match_commands.hands_for_tribute,
            "return": match_commands.hands_for_return,
            "acknowledge": self._acknowledge,
            "clear_jam": self._clear_jam,
            "void": self._void,
            "open_hand": lambda asked: parts.opened_hands.require_openable(),
            "redeal": self._check_unseen,
            "adjust": self._adjust,
            "transfer": self._transfer,
            "selftest": lambda asked: service.require_no_test(),
            "calibrate": lambda asked: service.require_no_test(),
            "configure": lambda asked: service.require_no_attempt(),
        }

    def require(self, request: RequestedCommand) -> None:
        """Raise CommandRefused unless the requested action is possible now."""
        self._checks.get(request.cmd, self._match_commands.require_accepted)(request)

    def refusal_of(self, request: RequestedCommand) -> Failure | None:
        """Return why the requested action is refused now, or None if it is possible."""
        try:
            self.require(request)
            if request.cmd == "take_over":  # The document is checked when its parts arrive.
                self._transfers.require_arriving(request)
        except CommandRefused as refused:
            return refused.failure
        return None

    def has_check(self, cmd: str) -> bool:
        """Return whether this class has a check for `cmd`. The match checks all other commands."""
        return cmd in self._checks

    # The steps of a deal.

    def step_refusal(self, cmd: str, args: Any) -> Failure | None:
        """Return why a machine step (start, cut, release) is refused, or None if it is possible."""
        by_hand, pauses = self.dealt_by_hand_refusal(cmd), self._record.state.pauses
        if by_hand is None and pauses:
            return failure("PAUSED", found=roles_with_article(sorted(pauses)))
        return by_hand or self._step_refusals[cmd](self, args)

    def dealt_by_hand_refusal(self, cmd: str) -> Failure | None:
        """Return the refusal BY_HAND for a machine step if people deal by hand, otherwise None."""
        match = self._record.match_written.match
        by_hand = match is not None and match.by_hand and match.phase in BEFORE_RELEASE
        return failure("BY_HAND") if by_hand and cmd in MACHINE_STEPS else None

    def _start_refusal(self, args: Any) -> Failure | None:
        state, loaded = self._record.state, self._deal_cycle.loaded_set
        if state.phase is MachinePhase.COMMITTED and self._table_boards.run is not None:
            return None  # This start skips the cut.
        if self._deal_cycle.chief_key is None:
            return failure("NO_CHIEF")
        if self._deal_cycle.startable_deal is not None:
            return None
        if loaded.barred:
            return failure("SET_BARRED", found=loaded.id)
        match = self._record.match_written.match
        where = {} if match is None else {"found": phase_words(match.phase)}
        return failure("NO_DEAL_DUE", **where)

    def _cut_refusal(self, args: CutArgs) -> Failure | None:
        cutters = self._deal_cycle.cutters()
        if cutters and args.seat is not None and args.seat not in cutters:
            return failure_of(Refusal("NOT_HIS_DUTY", " / ".join(cutters)))
        if self._deal_cycle.is_practice or self._deal_cycle.is_ahead:
            return None  # The match does not have this deal, or not yet.
        seat = args.seat or next(iter(cutters), None)
        cut = SetCut(at_ms=self._record.clock(), seat=seat, n=args.n)
        return self._match_commands.events_refusal(cut)

    def _release_refusal(self, args: Any) -> Failure | None:
        if self._record.match_written.match is None or self._deal_cycle.is_practice:
            return None
        return self._match_commands.events_refusal(ReleaseOrdered(at_ms=self._record.clock()))

    _step_refusals: Mapping[str, Callable[["TableCommandChecks", Any], Failure | None]] = {
        "start_deal": _start_refusal,
        "cut": _cut_refusal,
        "release": _release_refusal,
    }

    # Calls.

    def _attend(self, request: RequestedCommand) -> None:
        seat = request.args.seat
        if not calling_seats(self._record, seat):
            raise CommandRefused(failure_of(Refusal("NOBODY_CALLS", seat or "")))

    def _confirm(self, request: RequestedCommand) -> None:
        if not self.is_call_withdrawal(request):
            self._match_commands.require_accepted(request)

    def is_call_withdrawal(self, request: RequestedCommand) -> bool:
        """Return whether a seat's green button was pressed to withdraw the seat's open call."""
        seat = request.args.seat
        by_player = request.signer.role is Role.TABLE and seat is not None
        return by_player and bool(calling_seats(self._record, seat))

    # A match, and what stops a table.

    def _require_no_test(self) -> None:
        if self._settings.is_test:
            raise CommandRefused(failure("TEST_MODE"))

    def _set_match(self, request: RequestedCommand) -> None:
        self._require_no_test()
        if self._table_boards.is_busy:
            raise CommandRefused(failure("MACHINE_BUSY"))
        self._match_commands.require_no_match()

    def _start_match(self, request: RequestedCommand) -> None:
        self._require_no_test()
        self._match_commands.require_accepted(request)

    def _hold(self, request: RequestedCommand) -> None:
        if request.args.area:
            self._match_commands.require_accepted(request)

    def _resume(self, request: RequestedCommand) -> None:
        if request.args.area or self.pauses_to_end(request)[1]:
            self._match_commands.require_accepted(request)

    def pauses_to_end(self, request: RequestedCommand) -> tuple[list[str], bool]:
        """Return the pauses that a `resume` ends, and whether the suspended match then continues.

        A pause is ended by the role that began it, or by the chief. Raises CommandRefused.
        """
        role, pauses = request.signer.role, self._record.state.pauses
        ended = [why for why in pauses if role is Role.CHIEF or why == role.value]
        match = self._record.match_written.match
        suspended = match is not None and match.suspended is not None
        claimed = match is not None and match.claimed is not None
        if not ended and pauses:
            raise CommandRefused(
                failure("NOT_YOUR_PAUSE", found=roles_with_article(sorted(pauses)))
            )
        if not ended and not suspended:
            raise CommandRefused(failure("NOT_SUSPENDED"))
        # A claimed count is ended only by its recount, even if a person resumes the table.
        goes_on = suspended and len(ended) == len(pauses) and not (claimed and ended)
        return ended, goes_on

    # A person who saw a hand of the present deal may not order a command that ends the deal.

    def _check_unseen(self, request: RequestedCommand) -> None:
        self._opened_hands.require_unseen(request)
        self._match_commands.require_accepted(request)

    def _adjust(self, request: RequestedCommand) -> None:
        if request.args.choice == "void_later":
            self._opened_hands.require_unseen(request)
        self._match_commands.require_accepted(request)

    def _transfer(self, request: RequestedCommand) -> None:
        """Raise CommandRefused if the match must stay here, or the signer may have seen a hand.

        The other table has no list of the viewed hands.
        """
        match = self._record.match_written.match
        if match is not None and match.is_deal_under_way:
            self._opened_hands.require_unseen(request)
        self._transfers.require_leaving(request)

    def _void(self, request: RequestedCommand) -> None:
        run = self._table_boards.run
        if run is None or run.is_released:
            found = quoted_words([self._table_boards.phase], MACHINE_PHASE_WORDS)
            expected = Words("an attempt whose hands are not out", "手牌尚未放行")
            raise CommandRefused(failure("WRONG_PHASE", found=found, expected=expected))
        if not self._deal_cycle.is_practice and not self._deal_cycle.is_ahead:
            self._opened_hands.require_unseen(request)

    # Sets and faults.

    def loadable_back(self, request: RequestedCommand) -> str:
        """Return the named set's back (A or B); raise CommandRefused if it may not be loaded."""
        name, state = request.args.set, self._record.state
        known = state.sets.get(name)
        back = known.back if known is not None else self._settings.sets.get(name, request.args.back)
        if back is None:
            names = ", ".join(sorted({*self._settings.sets, *state.sets}))
            raise CommandRefused(failure("NO_SUCH_SET", found=name, expected=names))
        if self._table_boards.run is not None:
            raise CommandRefused(failure("MACHINE_BUSY"))
        if state.set_in_play is not None and state.set_in_play.card_set == name:
            raise CommandRefused(failure("SET_OUT", found=name))
        return str(back)

    def _clear_set(self, request: RequestedCommand) -> None:
        sets, due = self._record.state.sets, self._deal_cycle.set_size
        if request.args.set not in sets:
            names = ", ".join(sorted(sets))
            raise CommandRefused(failure("NO_SUCH_SET", found=request.args.set, expected=names))
        if request.args.cards != due:
            raise CommandRefused(failure("SET_NOT_WHOLE", found=request.args.cards, expected=due))

    def _acknowledge(self, request: RequestedCommand) -> None:
        named, board = request.args.code, request.args.board or ""
        needs = {call.reason.upper() for call in self._record.match_written.match_calls}
        latched = self._record.raised_faults
        if (named, board) not in latched and named not in needs:
            known = ", ".join(sorted({name for name, _ in latched} | needs))
            expected = known or Words("none", "无")
            raise CommandRefused(failure("NOT_LATCHED", found=named, expected=expected))

    def _clear_jam(self, request: RequestedCommand) -> None:
        if not any(name == "JAM" for name, _ in self._record.raised_faults):
            raise CommandRefused(failure("NOT_LATCHED", found=Words("JAM", "“卡牌”")))
