"""The recording of a table's serial lines, from the moment in which no match can be hurt by it.

A recording shows hands. So the table says of itself that it is tested (`mode`), opens no match,
and one that has a match is not recorded.
"""

from pathlib import Path

from controller.config import TableConfig
from controller.loggers import structlog
from controller.match.phase import MatchPhase
from controller.match.state import AnyMatch
from drivers.events import BoardKind
from drivers.link.port import LinkPort, SerialPort
from drivers.link.recording import (
    ChunkKind,
    RecordedBoard,
    Recorder,
    RecordingError,
    RecordingHeader,
    RecordingPort,
    create_recording,
)

_log = structlog.get_logger("machine")


class SerialRecording:
    """What is kept of a machine's lines in the file `path`; None: nothing is, and it costs nothing.

    Its ports may be made before `begin`; what passes them until then is not kept.
    """

    def __init__(self, path: Path | None, config: TableConfig) -> None:
        self._path, self._config = path, config
        self._recorder: Recorder | None = None

    @property
    def is_requested(self) -> bool:
        """Tell whether lines are recorded, so that the table is tested, not played at."""
        return self._path is not None

    def port(self, board: BoardKind) -> LinkPort:
        """Return the port of a board, recorded where that is wanted."""
        section = self._config.dealer if board == "dealer" else self._config.reader
        port = SerialPort(section.port, section.baud)
        return RecordingPort(port, board, self._record_chunk) if self.is_requested else port

    def start(self, match: AnyMatch | None, *, version: str, started_at: str) -> None:
        """Begin, where it is wanted; `started` is the wall's stamp of now.

        Raises RecordingError while the table has a match open, and for a file among those that
        `dealtable bundle` takes along, or that cannot be made.
        """
        if self._path is None:
            return
        table = self._config.table
        if match is not None and match.phase is not MatchPhase.SIGNED:
            raise RecordingError(
                f"--record {self._path}: table {table.id} has match {match.meeting.match_id} "
                "open, and a recording shows hands: sign or transfer the match first"
            )
        if self._path.resolve().is_relative_to(table.state_dir.resolve()):
            raise RecordingError(
                f"--record {self._path}: what lies in the state directory is bundled and handed "
                "on, and a recording shows hands: name a file elsewhere"
            )
        try:
            file, path = create_recording(self._path)
        except OSError as error:
            raise RecordingError(
                f"--record {self._path}: {error.strerror}: name a file that can be made"
            ) from None
        dealer, reader = self._config.dealer, self._config.reader
        header = RecordingHeader(
            table=table.id,
            boards={
                "dealer": RecordedBoard(dealer.port, dealer.id, dealer.firmware),
                "reader": RecordedBoard(reader.port, reader.id, reader.firmware),
            },
            version=version,
            started=started_at,
            simulated=table.backend == "sim",
        )
        self._recorder = Recorder(file, header, on_ended=self._on_ended)
        _log.warning(
            "the serial lines are recorded: the file shows hands, so no match is opened",
            file=str(path),
        )

    def close(self) -> None:
        """Write what waits, and close the file."""
        if self._recorder is not None:
            self._recorder.close()

    def _record_chunk(self, board: BoardKind, way: ChunkKind, data: bytes) -> None:
        if self._recorder is not None:
            self._recorder.add_chunk(board, way, data)

    def _on_ended(self, why: str) -> None:
        _log.warning("the recording of the serial lines has ended", why=why)
