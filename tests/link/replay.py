"""The host of a recording: the sessions that it opened, and the commands that its owner gave."""

import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine, Iterable
from typing import Any

from msgspec import Struct

from drivers.board_events import BoardEvent, BoardKind
from drivers.errors import BoardRefused, DriverError, LineLost
from drivers.firmware import protocol
from drivers.link import frames
from drivers.link.frames import BlockSplitter, BoardCommand, BoardReply, HostFrame, Welcome
from drivers.link.link import Link
from drivers.link.link_state import LinkCounters, LinkLimits
from drivers.link.recording import Chunk, ChunkKind
from drivers.typed_boards import DealerBoard, ReaderBoard
from tests.link.replay_port import (
    FrameKey,
    ReplayPort,
    count_frame,
    frame_key,
    frame_name,
    split_host_frames,
)


class RecordedSession(Struct):
    """What is to be known of a session before it begins: who answered, and how far its host was.

    `refused`: that host closed the port instead of going on with who answered.
    """

    session: int
    boot: int | None = None
    seen: int | None = None
    kept: int = 0
    was_refused: bool = False


def find_sessions(chunks: list[Chunk], board: BoardKind) -> list[RecordedSession]:
    """Return the sessions that a recording's host opened, in order."""
    sessions: list[RecordedSession] = []
    host, heard = BlockSplitter(), BlockSplitter()
    for chunk in chunks:
        known = sessions[-1] if sessions else None
        if chunk.way == "opened":
            heard.reset()
        elif chunk.way == "closed" and known is not None:
            known.was_refused = known.boot is not None and known.seen is None
        elif chunk.way == "board" and known is not None:
            for block in heard.split(chunk.data):
                decoded = (
                    None if isinstance(block, str) else frames.decode_board_frame(block, board)
                )
                if decoded and decoded[0] == known.session and isinstance(decoded[1], Welcome):
                    known.boot = decoded[1].boot
        elif chunk.way == "host":
            for frame in split_host_frames(host, chunk.data):
                if frame.kind == protocol.HELLO:
                    if not sessions or sessions[-1].session != frame.session:
                        sessions.append(RecordedSession(frame.session))
                elif sessions and sessions[-1].seen is None:
                    sessions[-1].seen, sessions[-1].kept = frame.seen, frame.kept
    return sessions


def _configure(owner: Any, command: frames.ConfigureCommand) -> Coroutine[Any, Any, object]:
    """Change a setting by its name; one that no board has asks whether anything moves."""
    kind = frames.BOARD_KIND_IDS[owner.link.board]
    if command.setting in protocol.SETTINGS[kind]:
        name = protocol.SETTINGS[kind][command.setting][0]
        answering: Coroutine[Any, Any, object] = owner.configure(name, command.value)
        return answering
    if isinstance(owner, DealerBoard) and command == frames.ConfigureCommand(0, 0):
        return owner.is_moving()
    return owner.link.request(command)  # type: ignore[no-any-return]


REPEAT_COMMAND: dict[
    type[BoardCommand], Callable[[Any, Any], Coroutine[Any, Any, object] | None]
] = {
    frames.BeginCommand: lambda board, of: board.begin(of.attempt, of.cards, of.per),
    frames.ShuffleCommand: lambda dealer, of: dealer.shuffle(of.attempt, of.passes),
    frames.FeedCommand: lambda dealer, of: dealer.feed(of.attempt, of.source, of.upto),
    frames.RouteCommand: lambda dealer, of: dealer.route(of.attempt, of.index, of.pocket),
    frames.ReleaseCommand: lambda dealer, of: dealer.release(of.attempt),
    frames.RetractCommand: lambda dealer, of: dealer.retract(),
    frames.PurgeCommand: lambda dealer, of: dealer.purge(of.attempt),
    frames.SelftestCommand: lambda board, of: board.selftest(),
    frames.ConfigureCommand: _configure,
    frames.GetStatusCommand: lambda board, of: board.get_status(),
    frames.RereadCommand: lambda reader, of: reader.link.send(of),
    frames.LookCommand: lambda reader, of: reader.link.post(of),
}


REPLAY_LIMITS = LinkLimits(resend_ms=(51, 101, 201, 401, 401), silence_ms=550)
"""A little longer than a link's own limits: a recorded host may have been late (provisional)."""
MAX_FINDINGS = 20
TOO_LATE = "too late"
# A host that has heard nothing for so long may close by itself.
_QUIET_US = 490_000
_FIRST_AND_RESENDS = 1 + len(REPLAY_LIMITS.resend_ms)
# What is said within so long of a read is said in it.
_ONE_READ_US = 5_000


class ReplayedCommand(Struct, frozen=True):
    """A command that the recording's host gave, and what became of it here.

    `outcome`: "done", "posted" (nobody waits for it, and it was not refused), "waiting" at the
    recording's end, TOO_LATE for one that came out of its row in the read that ended its session,
    or the error's name, with the result of a refusal. `found`: what it returned.
    """

    command: BoardCommand
    outcome: str
    result: object = None


class ReplayResult(Struct, frozen=True):
    """What drivers made of a recording. `ends` says how each opening failed or link was lost."""

    board: BoardKind
    events: tuple[BoardEvent, ...]
    commands: tuple[ReplayedCommand, ...]
    welcomes: tuple[Welcome, ...]
    ends: tuple[str, ...]
    counters: LinkCounters
    findings: tuple[str, ...]


async def replay(chunks: Iterable[Chunk], board: BoardKind) -> ReplayResult:
    """Play what was recorded at the line of `board` to its drivers; return what they made of it.

    The count `lost` of events that a journal never had is not in a recording: it is 0.
    """
    player = _RecordingPlayer([chunk for chunk in chunks if chunk.board == board], board)
    try:
        await player.play()
    finally:
        await player.close()
    return player.result()


class _RecordingPlayer:
    """Goes through the recording of one line."""

    def __init__(self, chunks: list[Chunk], board: BoardKind) -> None:
        self._chunks, self._board = chunks, board
        self._sessions = find_sessions(chunks, board)
        self._sessions_begun = 0
        self._port = ReplayPort()
        self._events: list[BoardEvent] = []
        self._commands: list[ReplayedCommand] = []
        self._welcomes: list[Welcome] = []
        self._ends: list[str] = []
        self._findings: list[str] = []
        self._link = Link(
            self._port,
            board,
            session_ids=self._next_session,
            limits=REPLAY_LIMITS,
            check=self._check,
            on_event=self._events.append,
            on_renewed=self._welcomes.append,
            on_refused=self._note_refusal,
            on_down=lambda error: self._ends.append(type(error).__name__),
        )
        self._board_object = (
            DealerBoard(self._link) if board == "dealer" else ReaderBoard(self._link)
        )
        self._host_splitter, self._board_splitter = BlockSplitter(), BlockSplitter()
        self._recorded: Counter[FrameKey] = Counter()
        self._last: FrameKey = (0, 0, 0)
        self._number = 0
        self._acknowledged = (0, 0)
        self._received_us = self._board_sent_us = self._now_us = 0
        self._tasks: list[asyncio.Task[None]] = []
        self._chunk_handlers: dict[ChunkKind, Callable[[Chunk], Coroutine[Any, Any, None]]] = {
            "host": self._on_host_bytes,
            "board": self._on_board_bytes,
            "opened": self._on_opened,
            "closed": self._on_closed,
            "lost": self._on_lost,
        }

    async def play(self) -> None:
        """Play all of it."""
        loop = asyncio.get_running_loop()
        began_s = loop.time()
        for chunk in self._chunks:
            if chunk.way == "full":
                break
            if chunk.at_us != self._now_us:  # else they came together
                await _run_ready_tasks()
                await asyncio.sleep(max(0.0, began_s + chunk.at_us / 1_000_000 - loop.time()))
            self._now_us = chunk.at_us
            await self._chunk_handlers[chunk.way](chunk)
            # What it waited for is late, and so is all that follows.
            began_s = max(began_s, loop.time() - chunk.at_us / 1_000_000)
        await _run_ready_tasks()
        for key in self._port.counts.keys() - self._recorded.keys():
            if key[0] != protocol.BEAT:
                self._add_finding(
                    f"the host says {frame_name(key)}, which the recording does not have"
                )

    async def close(self) -> None:
        """Leave no task and no timer."""
        self._link.on_down = lambda error: None
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._link.close()

    def result(self) -> ReplayResult:
        """Return what the drivers made of it."""
        return ReplayResult(
            self._board,
            tuple(self._events),
            tuple(self._commands),
            tuple(self._welcomes),
            tuple(self._ends),
            self._link.counters,
            tuple(self._findings),
        )

    # What the recording has.

    async def _on_opened(self, chunk: Chunk) -> None:
        if self._port.is_open:
            self._add_finding("the host opens the port anew; here it is open")
            self._link.close()
        self._board_splitter.reset()
        self._received_us = chunk.at_us
        self._tasks.append(asyncio.ensure_future(self._open()))
        await _run_ready_tasks()

    async def _open(self) -> None:
        known = self._next_recorded()
        taken, kept = {}, {}
        if known is not None and known.boot is not None and known.seen is not None:
            taken, kept = {known.boot: known.seen}, {known.boot: known.kept}
        try:
            self._welcomes.append(await self._link.open(taken, kept))
        except DriverError as error:
            self._ends.append(type(error).__name__)

    async def _on_board_bytes(self, chunk: Chunk) -> None:
        for block in self._board_splitter.split(chunk.data):
            decoded = (
                None if isinstance(block, str) else frames.decode_board_frame(block, self._board)
            )
            if decoded is not None and decoded[0] == self._port.session:
                self._received_us = chunk.at_us
                if isinstance(decoded[1], BoardReply):
                    self._acknowledged = (decoded[0], decoded[1].number)
        self._board_sent_us = chunk.at_us
        if not self._port.is_open:
            self._add_finding("the board speaks to the host; here its port is closed")
        self._port.deliver(chunk.data)

    async def _on_host_bytes(self, chunk: Chunk) -> None:
        for frame in split_host_frames(self._host_splitter, chunk.data):
            self._number = count_frame(self._recorded, frame, self._number)
            if frame.kind != protocol.BEAT:
                self._last = frame_key(frame)
            if frame.kind != protocol.HELLO:
                self._link.mark_kept(frame.kept)
            await self._repeat_frame(frame)
            self._compare(frame)

    async def _on_lost(self, chunk: Chunk) -> None:
        self._port.drop_line(chunk.data.decode(errors="replace"))

    async def _on_closed(self, chunk: Chunk) -> None:
        """Close the link, unless it does so itself: without an answer, or soon after trouble."""
        kind, session, number = self._last
        beats = self._recorded[protocol.BEAT, session, 0]
        unanswered = (
            not beats if kind == protocol.HELLO else (session, number) != self._acknowledged
        )
        given_up = unanswered and self._recorded[self._last] >= _FIRST_AND_RESENDS
        silent = beats > 0 and chunk.at_us - self._received_us >= _QUIET_US
        patient = given_up or silent
        if self._port.is_open and patient:
            await self._port.wait_until(lambda: not self._port.is_open)
        self._link.close()

    # What its host said.

    async def _repeat_frame(self, frame: HostFrame) -> None:
        """See that the link says it: by itself, or because its owner does what that one did."""
        key = frame_key(frame)
        copies = self._recorded[key]
        if frame.kind == protocol.BEAT or self._port.counts[key] >= copies:
            return
        if frame.kind == protocol.STOP:
            self._board_object.stop()
        elif frame.command is not None and copies == 1 and self._has_session_ended(frame.session):
            self._commands.append(ReplayedCommand(frame.command, TOO_LATE))
            return
        elif frame.command is not None and copies == 1:
            await _run_ready_tasks()
            self._repeat_command(frame.command)
            await _run_ready_tasks()
        elif (frame.session, frame.number) != self._acknowledged:
            await self._port.wait_until(lambda: self._port.counts[key] >= copies)
        if not self._port.counts[key]:
            self._add_finding(f"the recording's host says {frame_name(key)}; here it is not said")

    def _has_session_ended(self, session: int) -> bool:
        """Tell whether the same read that let a waiting command go has ended its session."""
        over = not self._port.is_open or self._port.session != session
        return over and self._now_us - self._board_sent_us < _ONE_READ_US

    def _compare(self, frame: HostFrame) -> None:
        """Hold a frame against what the link here would say in its place.

        The first one of a session may have come between the events of one read.
        """
        key, taken = frame_key(frame), self._link.last_event
        later = frame.kind == protocol.BEAT and self._recorded[key] > 1
        if frame.kind == protocol.HELLO or not self._port.counts[key]:
            return
        if self._port.commands[key] != frame.command:
            self._add_finding(
                f"{frame_name(key)} says {frame.command}; here {self._port.commands[key]}"
            )
        if taken < frame.seen or (later and taken > frame.seen):
            self._add_finding(f"the recording's host has taken {frame.seen} events; here {taken}")

    def _repeat_command(self, command: BoardCommand) -> None:
        answering = REPEAT_COMMAND[type(command)](self._board_object, command)
        place = len(self._commands)
        if answering is None:
            self._commands.append(ReplayedCommand(command, "posted"))
            return
        self._commands.append(ReplayedCommand(command, "waiting"))
        self._tasks.append(asyncio.ensure_future(self._await_reply(place, command, answering)))

    async def _await_reply(
        self, place: int, command: BoardCommand, answering: Coroutine[Any, Any, object]
    ) -> None:
        try:
            self._commands[place] = ReplayedCommand(command, "done", await answering)
        except BoardRefused as refused:
            self._commands[place] = ReplayedCommand(command, f"Refused {refused.result.name}")
        except DriverError as error:
            self._commands[place] = ReplayedCommand(command, type(error).__name__)

    def _note_refusal(self, refused: BoardRefused) -> None:
        """Note the refusal of a command that nobody waits for."""
        posted = ReplayedCommand(refused.command, "posted")
        places = [at for at, each in enumerate(self._commands) if each == posted]
        if places:
            outcome = f"Refused {refused.result.name}"
            self._commands[places[-1]] = ReplayedCommand(refused.command, outcome)

    # Sessions.

    def _next_recorded(self) -> RecordedSession | None:
        return (
            self._sessions[self._sessions_begun]
            if self._sessions_begun < len(self._sessions)
            else None
        )

    def _next_session(self) -> int:
        upcoming = self._next_recorded()
        self._sessions_begun += 1
        if upcoming is not None:
            return upcoming.session
        self._add_finding(
            f"the host opens session {self._sessions_begun}, which the recording does not have"
        )
        return self._sessions_begun

    def _check(self, welcome: Welcome) -> None:
        if any(
            known.was_refused
            for known in self._sessions[self._sessions_begun - 1 : self._sessions_begun]
        ):
            raise LineLost(self._board, "the recording's host refused who answered")

    def _add_finding(self, what: str) -> None:
        if len(self._findings) < MAX_FINDINGS:
            self._findings.append(f"{self._now_us / 1_000_000:.6f} {self._board}: {what}")


async def _run_ready_tasks() -> None:
    """Let tasks run whose wait has ended."""
    for _ in range(3):
        await asyncio.sleep(0)
