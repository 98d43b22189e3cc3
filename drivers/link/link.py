"""The reliable link to one board. Each command is done once, and each event received once.

The Link class owns the port, the one timer and the futures of callers. link_state.py decides what a
command or an event number means, and when a resend or a heartbeat is due. drivers/link/PROTOCOL.md
defines the rules.
"""

import asyncio
from collections.abc import Callable, Mapping

from drivers import board_identity
from drivers.board_events import BoardEvent, BoardKind, CardReadEvent
from drivers.errors import BoardRefused, BoardReset, DriverError, LineLost, SessionRenewed
from drivers.firmware import framing, protocol
from drivers.link import frames, link_state
from drivers.link.frames import BoardCommand, BoardReply, BoardResult, NoSession, Welcome
from drivers.link.link_state import (
    CommandQueue,
    EventArrival,
    EventSequence,
    LinkCounters,
    LinkLimits,
    LinkPhase,
    LinkTimers,
    PendingCommand,
)
from drivers.link.serial_port import LinkPort

# A STOP is not acknowledged, and a repeated STOP does no harm. Three copies for a noisy line.
_STOP_COPIES = 3
# A deadline this near counts as reached, because timers may fire a rounding error early.
_TIMER_TOLERANCE_S = 0.0005


class Link:
    """The host's side of the serial line to one board: it sends commands and receives events.

    `on_event` is called inside the read callback, once for each event, in order. A command sent
    there is on the line before the callback returns. An event whose `on_event` raises counts as
    received. `on_renewed` is called after a fault led to a new session, when every pending command
    has ended with SessionRenewed. The owner should then request STATUS and send its commands again.
    `on_refused` receives the refusal of a command from `send`. `on_down` is called once when an
    open link has failed for good: the port is closed, no timer is left, and every pending command
    ended with LineLost. open() may then be called again. `on_sent` is called when a command from
    `send` was written or is the next to be written. The five callbacks may be set at any time.

    `read_started_at` is the time at which the bytes of the present read callback arrived (seconds
    of the loop), or None outside a read callback. `welcome` is the WELCOME of the last session.

    `session_ids` returns random 32-bit numbers. `check` receives the WELCOME before any other frame
    of the board counts, and raises a DriverError to refuse the board:
    functools.partial(check_identity, expected=…).
    """

    def __init__(
        self,
        port: LinkPort,
        board: BoardKind,
        *,
        session_ids: Callable[[], int],
        limits: LinkLimits | None = None,
        check: Callable[[Welcome], None] = board_identity.check_protocol,
        on_event: Callable[[BoardEvent], None] = lambda event: None,
        on_renewed: Callable[[Welcome], None] = lambda welcome: None,
        on_refused: Callable[[BoardRefused], None] = lambda refused: None,
        on_down: Callable[[LineLost], None] = lambda error: None,
        on_sent: Callable[[BoardCommand], None] = lambda command: None,
    ) -> None:
        self.board: BoardKind = board
        self.on_event, self.on_renewed = on_event, on_renewed
        self.on_refused, self.on_down, self.on_sent = on_refused, on_down, on_sent
        self.read_started_at: float | None = None
        self.welcome: Welcome | None = None
        self._port, self._session_ids = port, session_ids
        self._limits = limits or LinkLimits()
        self._check = check
        self._decoder = framing.Decoder()
        self._counts = dict.fromkeys(LinkCounters.__struct_fields__, 0)
        self._phase = LinkPhase.CLOSED
        self._open_waiter: asyncio.Future[Welcome] | None = None
        self._is_open = False  # True after open() has returned. Only then are events passed on.
        self._end_reason: DriverError = LineLost(board, "the link is not open")
        self._journal_positions: tuple[Mapping[int, int], Mapping[int, int]] = ({}, {})
        self._session = 0
        self._renewal_reason = ""
        self._stop_pending = False
        self._events = EventSequence()
        self._acknowledged = 0
        self._commands = CommandQueue()
        self._timers = LinkTimers(self._limits)
        self._timer_handle: asyncio.TimerHandle | None = None
        self._handlers: dict[type, Callable[..., object]] = {
            BoardEvent: self._receive_event,
            CardReadEvent: self._receive_event,
            BoardReply: self._receive_reply,
            frames.AliveReport: lambda alive: self._is_reset(alive.boot),
            Welcome: self._receive_welcome,
            NoSession: self._receive_no_session,
        }

    # The methods that the owner calls.

    @property
    def is_up(self) -> bool:
        """Return True if the link has a session and is not requesting a new session."""
        return self._phase is LinkPhase.UP

    @property
    def last_event(self) -> int:
        """The number of the last event that was received in the board's present boot."""
        return self._events.seen

    @property
    def counters(self) -> LinkCounters:
        """The counters of this link since its creation."""
        noise = ("junk", "crc_errors", "oversize")
        return LinkCounters(**self._counts | {name: getattr(self._decoder, name) for name in noise})

    async def open(self, last_received: Mapping[int, int], kept: Mapping[int, int]) -> Welcome:
        """Open the port, begin a session with the board, and return the WELCOME of the session.

        `last_received` and `kept` give, by boot id, the number of the last event received and of
        the last event synced in the journal. No event is passed on before this method has returned
        to its awaiter. Raises PortMissing, PortBusy, LineLost, BoardReset (a known boot id with
        fewer events than were received of it) and the errors of `check`. The link is then closed.
        """
        if self._phase is not LinkPhase.CLOSED:
            raise RuntimeError("the link is open already")
        self._loop = asyncio.get_running_loop()
        self._journal_positions = (last_received, kept)
        self._is_open = self._stop_pending = False
        self._timers = LinkTimers(self._limits)
        self._decoder.feed(b"\x00")  # Remains of a lost line are not the beginning of a frame.
        self._port.open(self._on_readable, lambda why: self._fail(LineLost(self.board, why)))
        self._phase = LinkPhase.OPENING
        self._open_waiter = self._loop.create_future()
        self._begin_session()
        try:
            welcome = await self._open_waiter
        except asyncio.CancelledError:
            self.close()
            raise
        if self._phase is LinkPhase.CLOSED:  # Closed between the WELCOME and this line.
            raise self._end_reason
        self._is_open = True
        return welcome

    def send(self, command: BoardCommand) -> None:
        """Send `command` if a session is open, without waiting for the acknowledgement.

        The command is on the line at once, unless another is outstanding. Without a session it is
        dropped. on_renewed or on_down is called in that case.
        """
        if self._phase is LinkPhase.UP:
            self._enqueue(PendingCommand(command))
            self.on_sent(command)

    async def request(self, command: BoardCommand) -> BoardReply:
        """Send a command and return its acknowledgement.

        Raises BoardRefused, LineLost, or SessionRenewed if it is unknown whether the command was
        done. Cancelling the caller withdraws only a command that was not sent yet.
        """
        if self._phase in (LinkPhase.CLOSED, LinkPhase.OPENING):
            raise LineLost(self.board, "the link is not open")
        waiter: asyncio.Future[BoardReply] = self._loop.create_future()
        self._enqueue(PendingCommand(command, waiter))
        reply = await waiter
        if reply.result is not BoardResult.DONE:
            raise BoardRefused(self.board, command, reply.result)
        return reply

    def mark_kept(self, number: int, boot: int | None = None) -> None:
        """Allow the board to delete its events up to `number`, which are on the disk now.

        The next frame carries the number. If `boot` is not the present boot, the number is ignored.
        None means the present boot.
        """
        if boot is None or boot == self._events.boot:
            self._events = link_state.mark_kept(self._events, number)

    def stop(self) -> None:
        """Send STOP, so that the board stops all motion. Unfinished commands end with
        SessionRenewed.

        They must not be repeated after the STOP, so a new session is opened if there are any. A
        board without a session refuses a STOP. A STOP requested while the session is being opened
        is therefore sent once the session is open.
        """
        if self._phase in (LinkPhase.OPENING, LinkPhase.RENEWING):
            self._stop_pending = True
        if self._phase is not LinkPhase.UP:
            return
        self._write_stop()
        if self._commands.pending:
            self._stop_pending = True
            self._renew("a STOP overtook the command")

    def close(self) -> None:
        """Close the link and port. Pending commands end with LineLost. on_down is not called."""
        self._close_with(LineLost(self.board, "the link was closed"))

    # Incoming frames.

    def _on_readable(self, data: bytes) -> None:
        self.read_started_at = self._loop.time()
        try:
            self._receive(data)
        finally:
            self.read_started_at = None

    def _receive(self, data: bytes) -> None:
        heard = False
        for payload in self._decoder.feed(data):
            if (decoded := frames.decode_board_frame(payload, self.board)) is None:
                self._counts["malformed"] += 1
                continue
            session, frame = decoded
            if session != self._session:
                self._counts["foreign"] += 1
                continue
            heard = True
            self._handlers[type(frame)](frame)
            if self._phase is LinkPhase.CLOSED:
                return
        if not heard or self._phase is not LinkPhase.UP:
            return
        now = self._loop.time()
        self._timers.note_frame_received(now)
        if self._events.seen != self._acknowledged:
            self._timers.acknowledge_soon(now)
            self._arm()

    def _receive_event(self, event: BoardEvent) -> None:
        if self._phase is not LinkPhase.UP or not self._is_open or self._is_reset(event.boot):
            return  # The board repeats the event later.
        self._events, taken = link_state.receive_event(self._events, event.number)
        if taken is EventArrival.NEW:
            self.on_event(event)
        else:
            self._counts["duplicates" if taken is EventArrival.DUPLICATE else "gaps"] += 1
            self._acknowledged = -1  # The board lacks the last acknowledgement, so send it soon.

    def _receive_reply(self, reply: BoardReply) -> None:
        if self._phase is not LinkPhase.UP:
            return  # In this session nothing except the session itself was requested yet.
        self._commands, settled = link_state.complete_command(self._commands, reply.number)
        if settled is None:
            return
        self._timers.stop_reply_timer()
        self._send_next()
        if settled.waiter is None:
            if reply.result is not BoardResult.DONE:
                self.on_refused(BoardRefused(self.board, settled.command, reply.result))
        elif not settled.waiter.done():
            settled.waiter.set_result(reply)

    def _receive_no_session(self, refusal: NoSession) -> None:
        if self._phase is LinkPhase.UP and not self._is_reset(refusal.boot):
            self._handle_line_error("the board is in another session")

    def _receive_welcome(self, welcome: Welcome) -> None:
        if self._phase is LinkPhase.OPENING:
            self._receive_first_welcome(welcome)
        elif not self._is_reset(welcome.boot) and self._phase is LinkPhase.RENEWING:
            self.welcome = welcome
            self._on_session_up()
            self._fail_commands(SessionRenewed, self._renewal_reason)
            self.on_renewed(welcome)

    def _receive_first_welcome(self, welcome: Welcome) -> None:
        try:
            self._check(welcome)
            self._resume_events(welcome)
        except DriverError as error:
            self._fail(error)
            return
        self.welcome = welcome
        self._on_session_up()
        if self._open_waiter is not None and not self._open_waiter.done():
            self._open_waiter.set_result(welcome)

    def _resume_events(self, welcome: Welcome) -> None:
        last_taken, kept = self._journal_positions
        seen = last_taken.get(welcome.boot)
        # The port was opened again. No event is received twice.
        if self._events.boot == welcome.boot:
            seen = max(seen or 0, self._events.seen)
        if seen is not None and seen > welcome.events:
            raise BoardReset(self.board, welcome.boot, welcome.boot)
        self._events, lost = link_state.resume_sequence(
            welcome.boot, seen, kept.get(welcome.boot, 0), welcome.forgotten
        )
        self._counts["lost"] += lost

    def _is_reset(self, boot: int) -> bool:
        """Close the link and return True if `boot` shows a restart of the board, else False."""
        if self._phase is LinkPhase.OPENING or boot == self._events.boot:
            return False
        self._fail(BoardReset(self.board, self._events.boot, boot))
        return True

    # Outgoing frames.

    def _enqueue(self, pending: PendingCommand) -> None:
        self._commands = link_state.enqueue_command(self._commands, pending)
        if self._phase is LinkPhase.UP and self._commands.current is None:
            self._send_next()

    def _send_next(self) -> None:
        self._commands = link_state.start_next_command(self._commands)
        if self._commands.current is not None:
            self._timers.start_reply_timer(self._loop.time())
            self._send_current(self._commands.current)

    def _send_current(self, current: PendingCommand) -> None:
        self._transmit(current.command.kind, self._commands.last_number, current.command)

    def _transmit(self, kind: int, number: int = 0, command: BoardCommand | None = None) -> None:
        known = self._events
        self._port.write(
            frames.encode_host_frame(kind, self._session, number, known.seen, known.kept, command)
        )
        self._acknowledged = known.seen
        self._timers.note_frame_sent(self._loop.time())
        self._arm()

    def _send_hello(self) -> None:
        """Send HELLO, which requests a new session.

        The zero byte ends any earlier data on the line.
        """
        self._port.write(b"\x00" + frames.encode_host_frame(protocol.HELLO, self._session, 0, 0, 0))
        self._arm()

    def _write_stop(self) -> None:
        known = self._events
        frame = frames.encode_host_frame(protocol.STOP, self._session, 0, known.seen, known.kept)
        self._port.write(frame * _STOP_COPIES)

    # Sessions, and the steps after a fault: resend, new session, down.

    def _begin_session(self) -> None:
        before = self._session
        while self._session in (0, before):
            self._session = self._session_ids()
        self._timers.clear()
        self._timers.start_reply_timer(self._loop.time())
        self._send_hello()

    def _on_session_up(self) -> None:
        now = self._loop.time()
        self._phase = LinkPhase.UP
        self._counts["sessions"] += 1
        self._timers.stop_reply_timer()
        self._timers.note_frame_received(now)
        self._timers.note_session_open(now)
        if self._stop_pending:
            self._stop_pending = False
            self._write_stop()
        # Acknowledges the received events before the board repeats them.
        self._transmit(protocol.BEAT)

    def _resend(self) -> None:
        current = self._commands.current if self._phase is LinkPhase.UP else None
        if self._timers.restart_reply_timer(self._loop.time()):
            self._counts["resends"] += 1
            if current is not None:
                self._send_current(current)
            else:
                self._send_hello()
        elif current is not None:
            self._handle_line_error(f"no acknowledgement after {self._timers.resends} resends")
        else:
            self._fail(LineLost(self.board, "no answer to HELLO"))

    def _handle_line_error(self, why: str) -> None:
        """Request a new session because of `why`, an error of the line.

        Close the link if this error comes too soon after an earlier error.
        """
        if self._timers.begin_incident(self._loop.time()):
            self._renew(why)
        else:
            self._fail(LineLost(self.board, f"{why}, again after a new session"))

    def _renew(self, why: str) -> None:
        self._phase = LinkPhase.RENEWING
        self._renewal_reason = why
        self._begin_session()

    def _fail_commands(self, error: type[LineLost], why: str) -> None:
        pending, self._commands = self._commands.pending, CommandQueue()
        for command in pending:
            if command.waiter is not None and not command.waiter.done():
                command.waiter.set_exception(error(self.board, why))

    def _fail(self, error: DriverError) -> None:
        """Close the link because of `error`, and end every pending command with LineLost.

        open() raises `error` if it has not returned yet. Otherwise on_down is called if `error` is
        a LineLost.
        """
        was_open = self._phase is not LinkPhase.CLOSED and self._is_open
        self._close_with(error)
        if was_open and isinstance(error, LineLost):
            self.on_down(error)

    def _close_with(self, error: DriverError) -> None:
        if self._phase is LinkPhase.CLOSED:
            return
        self._phase = LinkPhase.CLOSED
        self._end_reason = error
        self._port.close()
        self._timers.clear()
        if self._timer_handle is not None:
            self._timer_handle.cancel()
            self._timer_handle = None
        if self._open_waiter is not None and not self._open_waiter.done():
            self._open_waiter.set_exception(error)
        self._fail_commands(LineLost, error.why if isinstance(error, LineLost) else str(error))

    # Time: one timer for the earliest deadline.

    def _arm(self) -> None:
        """Set the timer to the link's next deadline, unless the timer already fires earlier.
        A timer that fires too early is harmless.
        """
        at = self._timers.next_at()
        if self._timer_handle is not None:
            if self._timer_handle.when() <= at:
                return
            self._timer_handle.cancel()
        self._timer_handle = self._loop.call_at(at, self._on_timer)

    def _on_timer(self) -> None:
        self._timer_handle = None
        now = self._loop.time() + _TIMER_TOLERANCE_S
        if now >= self._timers.resend_at:
            self._resend()
        if now >= self._timers.silence_at:
            self._handle_line_error(f"nothing received for {self._limits.silence_ms} ms")
        if now >= self._timers.beat_at:
            self._transmit(protocol.BEAT)
        if self._phase is not LinkPhase.CLOSED:
            self._arm()
