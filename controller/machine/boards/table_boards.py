"""The connections to a table's two boards. A lost connection is opened again.

A board that is absent, silent or not the configured one is a fault, and the daemon continues to
run. A port is opened again only after `wait_reopenable` returns. Opening a port can reset a board,
so no card may be in the path.
"""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress

from controller.faults import driver_error_fault
from controller.journal.entries import StorageFailed
from controller.machine.attempts.attempt_run import AttemptRun
from controller.machine.attempts.released_hands import HandsWithPlayers
from controller.machine.boards.board_log import BoardLog
from controller.machine.state.table_state import shown_phase
from controller.machine.table_record import TableRecord
from controller.messages import ConnectedBoard, MachinePhase, ReaderTrigger, ReportedBoards
from drivers.board_events import BoardEvent, BoardEventCode, BoardKind, BoardStopReason
from drivers.errors import BoardRefused, DriverError, LineLost, Mismatch, PortBusy, PortMissing
from drivers.link.frames import Welcome
from drivers.link.link import Link
from drivers.typed_boards import DealerBoard

REOPEN_INTERVAL_S = 1.0
"""Wait before a wrong board is tried again, in seconds."""

FaultEvidence = Mapping[str, str]


class BoardConnection:
    """The connection to one board. A lost connection is opened again.

    `taken` returns, by boot id, the number of the last event that is on the disk.
    """

    def __init__(
        self, link: Link, port: str, boards: "TableBoards", taken: Callable[[], Mapping[int, int]]
    ) -> None:
        self.link = link
        self._port = port
        self._boards, self._taken = boards, taken
        self._line_lost = asyncio.Event()
        link.on_down = self._on_down

    async def keep_open(self) -> None:
        """Keep the serial line open until the task is cancelled."""
        try:
            while True:
                await self._open()
                await self._line_lost.wait()
                await self._boards.wait_reopenable()
        finally:
            self.link.close()

    async def _open(self) -> None:
        while True:
            self._line_lost.clear()
            try:
                welcome = await self.link.open(self._taken(), self._taken())
            except DriverError as error:
                self._report(error, absent=True)
                await asyncio.sleep(REOPEN_INTERVAL_S)
            else:
                self._boards.on_board_up(self.link.board, welcome)
                return

    def _on_down(self, error: LineLost) -> None:
        self._line_lost.set()
        self._report(error, absent=False)

    def _report(self, error: DriverError, *, absent: bool) -> None:
        name = driver_error_fault(error)
        if absent and name == "LINE_LOST":
            name = "BOARD_SILENT"  # The port exists, but no board answers.
        evidence = {"board": self.link.board, "port": self._port, "why": str(error)}
        if isinstance(error, Mismatch):
            evidence |= {"expected": error.expected, "found": error.found}
        elif isinstance(error, PortMissing | PortBusy):
            evidence["port"] = error.path
        self._boards.on_board_down(self.link.board, name, evidence)


class TableBoards:
    """The two boards of a table, the running attempt, and the attempt whose hands the players have.

    `run` is the present attempt, up to its release. `unfinished_runs` are attempts of an earlier
    run of the daemon that wait for their turn. `ready` is set while both boards are connected and
    right. `event_listener` receives every event too, while a technician tests the boards.
    """

    def __init__(
        self,
        record: TableRecord,
        dealer: DealerBoard,
        board_log: BoardLog,
        on_change: Callable[[], None],
    ) -> None:
        self._record, self._dealer, self._board_log = record, dealer, board_log
        self._on_change = on_change
        self._welcomes: dict[BoardKind, Welcome] = {}
        self._dealer_boot: int | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._faults: dict[BoardKind, str] = {}
        self.event_listener: Callable[[BoardEvent], None] | None = None
        self.ready = asyncio.Event()
        self.run: AttemptRun | None = None
        self.unfinished_runs: list[AttemptRun] = []
        self.hands_with_players = HandsWithPlayers(record)

    # Events of the boards.

    def on_board_up(self, board: BoardKind, welcome: Welcome) -> None:
        """Record that `board` is connected and is the right board, and clear this board's faults.

        The board is stopped first, because a command of another session may still be in progress.
        """
        if board == "dealer":
            self._dealer.stop()
            if self._dealer_boot not in (None, welcome.boot):
                # Its lock and its counts were lost with the restart.
                self.stop_attempt("BOARD_RESET")
            self._dealer_boot = welcome.boot
        self._welcomes[board] = welcome
        name = self._faults.pop(board, None)
        if name is not None:
            self._record.clear_fault(name, board)
        for left_over, of in self._record.raised_faults:
            if of == board:
                self._record.clear_fault(left_over, of)
        if len(self._welcomes) == 2:
            self.ready.set()
            self._on_change()

    def on_board_down(self, board: BoardKind, name: str, evidence: FaultEvidence) -> None:
        """Raise the fault `name` of `board`, a lost or wrong board. The attempt may end."""
        was_up = self._welcomes.pop(board, None) is not None
        self.ready.clear()
        known = self._faults.get(board)
        if known is not None and known != name:
            self._record.clear_fault(known, board)
        self._faults[board] = name
        self._record.raise_fault(name, dict(evidence))
        if self.run is not None and was_up:
            self.run.on_line_lost(name)

    def on_session_renewed(self) -> None:
        """Send both boards all commands that the running attempt needs in its present state."""
        if self.run is not None:
            self.run.resend_targets()

    def on_refused(self, refused: BoardRefused) -> None:
        """Pass to the running attempt a board's refusal for which no code waits."""
        if self.run is not None:
            self.run.on_refused(refused)

    def stop_attempt(self, reason: str) -> None:
        """End the running attempt, if there is one, because of the fault `reason`."""
        if self.run is not None:
            self.run.stop(reason)

    def pause(self) -> None:
        """Stop the running attempt's cards where they are. Nothing is lost."""
        if self.run is not None:
            self.run.pause()

    def resume(self) -> None:
        """End the pause of the running attempt, so that its cards move again."""
        if self.run is not None:
            self.run.resume()

    def on_event(self, event: BoardEvent) -> None:
        """Pass an event to unclosed attempts, listener and log, inside the port's read callback."""
        for run in self._runs():
            run.on_event(event)
        if self.event_listener is not None:
            self.event_listener(event)
        self._log_event(event)

    def _log_event(self, event: BoardEvent) -> None:
        """Add an event to the board log, and update the faults ENGINE_LOST and DRIVE_LOST.

        These faults are a reading engine and a motor drive that do not answer. If a board stopped
        because of this program, make the board continue.
        """
        self._board_log.add(event)
        if event.code is BoardEventCode.ENGINE and event.place:
            self._record.clear_fault("ENGINE_LOST", "reader")
        elif event.code is BoardEventCode.ENGINE and not event.index:
            # An engine that does not answer a self-test may only have seen an empty window.
            self._record.raise_fault("ENGINE_LOST", {"board": "reader"})
        elif event.code is BoardEventCode.DRIVE and event.place:
            self._record.clear_fault("DRIVE_LOST", "dealer")
        elif event.code is BoardEventCode.DRIVE:
            self._record.raise_fault("DRIVE_LOST", {"board": "dealer", "drive": str(event.index)})
        if event.code is not BoardEventCode.STOPPED:
            return
        if event.place == BoardStopReason.HOST_SILENT:
            self.on_session_renewed()
        elif event.place == BoardStopReason.MEMORY_FULL:
            room = asyncio.get_running_loop().create_task(self._free_board_memory())
            self._tasks.add(room)
            room.add_done_callback(self._tasks.discard)

    async def _free_board_memory(self) -> None:
        """Put all board events on the disk, so that the boards may delete them and continue."""
        with suppress(StorageFailed):  # The journal reports the failure itself.
            await self._board_log.sync()
            self.on_session_renewed()

    def seal_of(self, attempt: int) -> Callable[[bytes], bytes] | None:
        """Return the function that encrypts the faces of an attempt, or None if its key is lost."""
        for run in self._runs():
            if run.number == attempt and not run.writer.is_key_lost:
                return run.writer.seal
        return None

    @property
    def is_busy(self) -> bool:
        """Return whether an attempt is running, or the players have the hands of an attempt."""
        return self.run is not None or self.hands_with_players.run is not None

    def _runs(self) -> Iterator[AttemptRun]:
        """Yield every attempt that is not closed yet. Each handles its own events."""
        for run in (self.run, self.hands_with_players.run, *self.unfinished_runs):
            if run is not None:
                yield run

    async def wait_reopenable(self) -> None:
        """Wait until no card of the running attempt moves, so that a port may be opened again."""
        if self.run is not None:
            await self.run.cards_at_rest.wait()

    async def shut_down(self, limit_s: float) -> None:
        """End the running attempt because the daemon stops. Held hands stay held.

        Wait `limit_s` seconds at most for the attempt's last entry.
        """
        if self.run is not None and not self.run.cards_at_rest.is_set():
            self.run.stop("STOPPED")
            with suppress(TimeoutError):
                async with asyncio.timeout(limit_s):
                    await self.run.cards_at_rest.wait()

    @property
    def known_attempts(self) -> list[int]:
        """Return the newest attempt number that each connected board has stored."""
        return [welcome.attempt for welcome in self._welcomes.values()]

    @property
    def firmware(self) -> ReportedBoards:
        """Return each board's firmware, and whether a wire or a message triggers the reader."""
        up = {
            board: ConnectedBoard(version=one.firmware, hash=one.firmware_hash, hal=one.hal)
            for board, one in self._welcomes.items()
        }
        trigger: ReaderTrigger | None = None
        if "reader" in up:
            trigger = "asked" if self._welcomes["reader"].asked else "wire"
        return ReportedBoards(dealer=up.get("dealer"), reader=up.get("reader"), trigger=trigger)

    @property
    def phase(self) -> MachinePhase:
        """Return the phase that people see, which is FAULT if a fault stops the machine."""
        return shown_phase(self._record.state, boards_up=self.ready.is_set())
