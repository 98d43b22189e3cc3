"""The command processor: it checks who may give a command and when. Each command acts once.

A command may come from any client. It leaves as an `AcceptedCommand`. Either an action executes it
at once, or it waits for the step of the machine that needs it. The executor writes the effect into
the journal before it answers. A command that acted or was refused is never executed again, even if
an attacker stored its bytes: this run knows its id, and another run has another `boot`.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final, Protocol

import msgspec

from controller.commands.registry import COMMANDS, PANEL_KEY, role_or_phase_refusal
from controller.host.loggers import RefusalLogLimiter, structlog
from controller.host.printable_text import escape_unprintable, shorten
from controller.journal.entries import StorageFailed
from controller.machine.commands.command_request import (
    DONE,
    AcceptedCommand,
    CommandRefused,
    CommandSigner,
    CompletedCommands,
    RequestedCommand,
    content_hash,
    failure,
    parse_command,
    row_content_hash,
)
from controller.machine.table_record import TableRecord
from controller.messages import ClientCommand, CommandReply, Failure, Fairness, MachinePhase, Role
from controller.roster import NotAdmitted, Roster
from controller.signing.signed_commands import BadSignature, check_command
from controller.words import MACHINE_PHASE_WORDS, Words, quoted_words

_log = structlog.get_logger("machine")
EARLY_PRESS_TIMEOUT_S: Final = 1.0
"""Longest wait of a press until the machine has polled its sensors, in seconds (provisional)."""
_DEFERRABLE_PRESSES: Final = frozenset({"start_deal"})
_MAX_KEY_CHARS = 64
"""Characters of a key in the log. A real key is not longer."""

CommandAction = Callable[[AcceptedCommand], Awaitable[None]]
ReadCommand = Callable[[Any], dict[str, Any]]
"""A command that changes nothing: arguments in, answer out. Raises CommandRefused."""


class CommandChecks(Protocol):
    """The checks that the command processor needs for a command."""

    def step_refusal(self, cmd: str, args: Any) -> Failure | None:
        """Return why a machine step (start, cut, release) is refused, or None if it is possible."""

    def dealt_by_hand_refusal(self, cmd: str) -> Failure | None:
        """Return the refusal BY_HAND for a machine step if people deal by hand, otherwise None."""

    def refusal_of(self, request: RequestedCommand) -> Failure | None:
        """Return why a command that is no machine step is refused, or None if it is possible."""


class CommandProcessor:
    """The part of a machine that checks commands and passes them to the code that executes them.

    `boot` is the id of this run of the daemon: signed commands are valid only for it. `phase`
    returns the phase that people see. `read_commands` has the commands that change nothing.
    `refused_counts` counts the signed commands that are refused because of key, signature, role or
    run. `action_for` returns the function that carries out a command, or None for a step of the
    machine. `action_for` and `checks` are set before the first command comes. `completed` has the
    results of the commands of this run.
    """

    action_for: Callable[[str], CommandAction | None]
    checks: CommandChecks

    def __init__(
        self,
        record: TableRecord,
        roster: Roster,
        table_key: str,
        *,
        boot: str,
        phase: Callable[[], MachinePhase],
        read_commands: Mapping[str, ReadCommand],
        refused_counts: Counter[str] | None = None,
    ) -> None:
        self._record = record
        self._roster = roster
        self._table_key = table_key
        self._phase = phase
        self._read_commands = read_commands
        self.boot = boot
        self.completed = CompletedCommands()
        self._refused_counts = Counter() if refused_counts is None else refused_counts
        self._refusal_log = RefusalLogLimiter()
        self._press_count = 0
        # A button press that came too early and was refused, and its time by the loop's clock.
        self._kept_press: tuple[ClientCommand, float] | None = None
        self._waiting_steps: dict[str, asyncio.Future[AcceptedCommand]] = {}
        self._pending: dict[tuple[str, str], AcceptedCommand] = {}
        self._action_tasks: set[asyncio.Future[None]] = set()

    async def submit(self, command: ClientCommand) -> CommandReply:
        """Execute a client's command, and return the answer. Never raise for a bad command."""
        try:
            return CommandReply(id=command.id, ok=True, result=await self._execute(command))
        except CommandRefused as refused:
            why = refused.failure
        except StorageFailed as error:
            why = failure("STORAGE_FAILED", found=str(error))
        except Exception as error:  # The client must get an answer.
            _log.exception(
                "order failed", cmd=command.cmd, id=escape_unprintable(shorten(command.id))
            )
            why = failure("NOT_CARRIED_OUT", found=type(error).__name__)
        return CommandReply(id=command.id, ok=False, error=why)

    def submit_press(self, cmd: str, **args: object) -> None:
        """Submit the command of a pressed button at the table, if it is possible now.

        A press needs no role, because the program decides what it means. A start that is pressed
        while the machine polls its sensors is kept for EARLY_PRESS_TIMEOUT_S.
        """
        self._press_count += 1
        command = ClientCommand(
            id=f"{self.boot}-{self._press_count}", cmd=cmd, key=PANEL_KEY, args=args
        )
        try:
            if self._phase() not in COMMANDS[cmd].phases:
                raise CommandRefused(failure("WRONG_PHASE", **self._current_phase()))
            self._dispatch(command, CommandSigner(PANEL_KEY, Role.TABLE)).answer.add_done_callback(
                _ignore_answer
            )
        except CommandRefused:
            if cmd in _DEFERRABLE_PRESSES:
                self._kept_press = command, asyncio.get_running_loop().time()

    async def wait_for(self, *names: str) -> AcceptedCommand:
        """Wait for the next command with one of the `names`, and return it."""
        early = self._take_kept_press(names)
        if early is not None:
            return early
        taker: asyncio.Future[AcceptedCommand] = asyncio.get_running_loop().create_future()
        for name in names:
            self._waiting_steps[name] = taker
        try:
            return await taker
        except asyncio.CancelledError:
            if taker.done() and not taker.cancelled():  # The command came too late.
                taker.result().refuse("WRONG_PHASE", **self._current_phase())
            raise
        finally:
            for name in names:
                if self._waiting_steps.get(name) is taker:
                    del self._waiting_steps[name]

    def _take_kept_press(self, names: Sequence[str]) -> AcceptedCommand | None:
        """Remove the stored press of START; return its command if it is possible now, else None."""
        early, self._kept_press = self._kept_press, None
        if early is None or early[0].cmd not in names:
            return None
        command, pressed_s = early
        order = AcceptedCommand(
            command, CommandSigner(PANEL_KEY, Role.TABLE), parse_command(command), self._record
        )
        late = asyncio.get_running_loop().time() - pressed_s > EARLY_PRESS_TIMEOUT_S
        if late or self.checks.step_refusal(command.cmd, order.args) is not None:
            return None
        order.answer.add_done_callback(_ignore_answer)
        return order

    async def _execute(self, command: ClientCommand) -> dict[str, Any]:
        reading = self._read_commands.get(command.cmd)
        if reading is not None:
            return reading(parse_command(command))
        if command.cmd not in COMMANDS:
            found = escape_unprintable(shorten(command.cmd))
            raise CommandRefused(failure("UNKNOWN_COMMAND", found=found))
        who = self._signer(command)
        signed = (command.key or "", command.id)
        if self._known_content(signed) not in (None, content_hash(command)):
            raise self._reject_used_id(command, who)
        known = self._known_answer(signed)
        if isinstance(known, Failure):
            raise CommandRefused(known)
        if known is not None:
            return known
        order = self._pending.get(signed) or self._start(command, who, signed)
        return await asyncio.shield(order.answer)

    def _known_content(self, signed: tuple[str, str]) -> bytes | None:
        """Return the content hash of the command with this key and id, or None if it is new."""
        if signed in self._pending:
            return content_hash(self._pending[signed].message)
        row = self._record.state.answers.get(signed)
        return self.completed.content_of(*signed) if row is None else row_content_hash(row)

    def _reject_used_id(self, command: ClientCommand, signer: CommandSigner) -> CommandRefused:
        """Return the refusal of a command with an id that another command already has.

        Write it once into the journal.
        """
        if command.boot != self.boot:
            return self._reject(command, failure("OTHER_RUN"), signer.name)
        why = failure("ID_TAKEN", found=escape_unprintable(shorten(command.id)))
        key = command.key or ""
        # It is stored under an id of its own, so that it counts as a command of its key.
        other = msgspec.structs.replace(command, id=f"{command.id} {content_hash(command).hex()}")
        if self.completed.answer_of(key, other.id) is None and not self.completed.is_full(key):
            AcceptedCommand(command, signer, None, self._record).write_refusal(why)
            self.completed.remember(other, why)
        return self._reject(command, why, signer.name)

    def _known_answer(self, signed: tuple[str, str]) -> dict[str, Any] | Failure | None:
        """Return the stored answer for this key and command id, or None if no answer is stored."""
        known = self._record.state.answers.get(signed)
        if known is not None:
            return failure(known["refused"]) if "refused" in known else dict(known["result"])
        found = self.completed.answer_of(*signed)
        if isinstance(found, str):
            return failure("ORDER_OVER" if found == DONE else found)
        return found

    def _start(
        self, command: ClientCommand, signer: CommandSigner, signed: tuple[str, str]
    ) -> AcceptedCommand:
        """Begin to execute a command whose id was not used in this run. Raises CommandRefused."""
        if command.boot != self.boot:
            raise self._reject(command, failure("OTHER_RUN"), signer.name)
        if self.completed.is_full(signed[0]):
            raise self._reject(command, failure("TOO_MANY_ORDERS"), signer.name)
        try:
            self._require_current(command, signer)
            order = self._dispatch(command, signer)
        except CommandRefused as refused:
            self.completed.remember(command, refused.failure)
            raise
        self._pending[signed] = order
        order.answer.add_done_callback(lambda answer: self._on_answered(signed, answer))
        return order

    def _on_answered(self, signed: tuple[str, str], answer: asyncio.Future[dict[str, Any]]) -> None:
        """Store the answer of a command. It is never executed again, even if it failed."""
        command = self._pending.pop(signed).message
        error = asyncio.CancelledError() if answer.cancelled() else answer.exception()
        refused = error.failure if isinstance(error, CommandRefused) else None
        self.completed.remember(command, answer.result() if error is None else refused)

    def _signer(self, command: ClientCommand) -> CommandSigner:
        """Return a command's signer; raise CommandRefused for a wrong key, signature or role."""
        client = self._roster.look_up_signing_key(command.key)
        if isinstance(client, NotAdmitted):
            why = failure(client.code, **client.evidence)
            if client.name and self._has_valid_signature(command):  # The key may be a renewed one.
                self.completed.remember(command, why)
            raise self._reject(command, why, client.name)
        assert client.role is not None  # Every admitted client has a role.
        if not self._has_valid_signature(command):
            raise self._reject(command, failure("BAD_SIGNATURE"), client.name)
        if client.role not in COMMANDS[command.cmd].roles:
            why = role_or_phase_refusal(command.cmd, client.role, self._phase()) or failure(
                "WRONG_ROLE"
            )
            self.completed.remember(command, why)
            raise self._reject(command, why, client.name)
        return CommandSigner(client.name, client.role, command.person)

    def _has_valid_signature(self, command: ClientCommand) -> bool:
        try:
            check_command(command, self._table_key)
        except BadSignature:
            return False
        return True

    def _reject(self, command: ClientCommand, why: Failure, name: str) -> CommandRefused:
        """Count and log the refusal `why` of a command, and return it as an exception."""
        self._refused_counts[why.code] += 1
        key = escape_unprintable(shorten(command.key or "(none)", _MAX_KEY_CHARS))
        unsaid = self._refusal_log.allow_line(key, asyncio.get_running_loop().time())
        if unsaid is not None:
            more = {"name": name} if name else {}
            more |= {"refused_meanwhile": str(unsaid)} if unsaid else {}
            _log.warning("order refused", key=key, why=why.code, cmd=command.cmd, **more)
        return CommandRefused(why)

    def refusal_of(self, request: RequestedCommand) -> Failure | None:
        """Return why the requested command would be refused now, or None if it is possible.

        No board is asked. Nothing is executed or published.
        """
        why = self._phase_refusal(request.cmd, request.signer.role)
        if why is not None:
            return why
        if self.action_for(request.cmd) is not None:
            return self.checks.refusal_of(request)
        return self._step_refusal(request.cmd, request.args)

    @property
    def awaited_steps(self) -> frozenset[str]:
        """Return the machine steps (start, cut, release) for which the machine now waits."""
        return frozenset(name for name, taker in self._waiting_steps.items() if not taker.done())

    def _phase_refusal(self, cmd: str, role: Role) -> Failure | None:
        refused = role_or_phase_refusal(cmd, role, self._phase())
        if refused is not None and refused.code == "WRONG_PHASE":
            refused = self.checks.dealt_by_hand_refusal(cmd) or refused
        return refused

    def _step_refusal(self, cmd: str, args: Any) -> Failure | None:
        """Return why a machine step is refused, or None if it is possible and awaited."""
        refused = self.checks.step_refusal(cmd, args)
        if refused is None and cmd not in self.awaited_steps:  # Its step was given up.
            return failure("WRONG_PHASE", **self._current_phase())
        return refused

    def _current_phase(self) -> dict[str, Words]:
        """Return the present phase in words, as evidence for a refusal."""
        return {
            "found": quoted_words([self._phase()], MACHINE_PHASE_WORDS),
            "expected": Words("a moment", "下一步骤"),
        }

    def _require_current(self, command: ClientCommand, signer: CommandSigner) -> None:
        refused = self._phase_refusal(command.cmd, signer.role)
        if refused is not None:
            raise CommandRefused(refused)
        present = self.current_deal(command.cmd)
        meant = (command.deal, command.attempt)
        if present is not None and meant != present:
            proofs = self._record.state.proofs
            now, then = _deal_words(*present, proofs), _deal_words(*meant, proofs)
            raise CommandRefused(failure("STALE", expected=now, found=then))

    def current_deal(self, cmd: str) -> tuple[int | None, int | None] | None:
        """Return the deal and the attempt that `cmd` must name, or None if it must name neither."""
        state, play = self._record.state, self._record.match_written
        if COMMANDS[cmd].bound_to == "machine":
            return state.deal, state.attempt
        if COMMANDS[cmd].bound_to == "match" and play.match is not None:
            return play.match.deal, play.attempt
        return None

    def _dispatch(self, command: ClientCommand, signer: CommandSigner) -> AcceptedCommand:
        """Pass a command to its action, or a machine step to the code that waits for this step.

        Raises CommandRefused.
        """
        order = AcceptedCommand(command, signer, parse_command(command), self._record)
        act = self.action_for(command.cmd)
        if act is not None:
            acting = asyncio.ensure_future(self._run_action(act, order))
            self._action_tasks.add(acting)
            acting.add_done_callback(lambda done: self._on_action_done(order, acting))
            return order
        vetoed = self._step_refusal(command.cmd, order.args)
        if vetoed is not None:
            raise CommandRefused(vetoed)
        taker = self._waiting_steps[command.cmd]
        for name in [name for name, waiting in self._waiting_steps.items() if waiting is taker]:
            del self._waiting_steps[name]
        taker.set_result(order)
        return order

    async def _run_action(self, act: CommandAction, command: AcceptedCommand) -> None:
        """Carry out a command, or raise CommandRefused if its phase, deal or attempt has changed.

        Another command may have acted since it came. A press at the table is not checked.
        """
        if command.message.key != PANEL_KEY:
            self._require_current(command.message, command.signer)
        await act(command)

    def _on_action_done(self, command: AcceptedCommand, acting: asyncio.Future[None]) -> None:
        """If an action ended with an error, answer its command with this error."""
        self._action_tasks.discard(acting)
        if acting.cancelled():
            command.answer.cancel()
            return
        error = acting.exception()
        if isinstance(error, CommandRefused):
            command.refuse_with(error.failure)
        elif error is not None and not command.answer.done():
            command.answer.set_exception(error)


def _ignore_answer(answer: asyncio.Future[dict[str, Any]]) -> None:
    """Read an answer that no code awaits, because asyncio would report its error otherwise."""
    if not answer.cancelled():
        answer.exception()


def _deal_words(deal: int | None, attempt: int | None, proofs: Sequence[Fairness]) -> Words:
    """Return a text that names a deal and its attempt by the numbers that people use.

    `attempt` is None if no hands are out. An attempt that is not in `proofs` is named
    by its own number.
    """
    if deal is None:
        return Words("no deal", "无")
    if attempt is None:
        return Words(f"deal {deal} before its hands are out", f"手牌未放行的第{deal}副")
    known = (one.of_deal for one in proofs if (one.deal, one.attempt) == (deal, attempt))
    number = next(known, None)
    if number is None:
        return Words(f"deal {deal} (attempt no. {attempt})", f"第{deal}副（发牌编号{attempt}）")
    return Words(f"deal {deal}, attempt {number}", f"第{deal}副（本台第{number}次发牌）")
