"""`dealtable wire`: the frames in a recording of a table's serial lines, as text."""

from pathlib import Path

import click
import msgspec

from controller.cards import face_text
from controller.cli import CliError
from controller.cli.options import ANY_PATH
from drivers.board_events import BoardKind
from drivers.link import frame_text
from drivers.link.recording import RecordingError, RecordingHeader, read_recording

EPILOG = """\b
Examples:
  dealtable run --config table.toml --record wire.jsonl
  dealtable wire wire.jsonl
  dealtable wire wire.jsonl --board dealer | grep '\\[again\\]'
"""


@click.command(epilog=EPILOG)
@click.argument("path", metavar="FILE", type=ANY_PATH)
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line; the first: of what.")
@click.option("--faces", is_flag=True, help="Show the faces that were read; else they are hidden.")
@click.option("--board", type=click.Choice(["dealer", "reader"]), help="Only the line of one.")
def command(path: Path, as_json: bool, faces: bool, board: BoardKind | None) -> None:
    """Print the frames of a table's serial lines, from a FILE that `dealtable run --record` wrote.

    One line for each frame: seconds since the recording began, the board, > for a frame to the
    board or < for a frame from it, the frame and its fields, and marks. [again] marks a repeated
    frame, [too early] a frame that came too early, [strange session] one of another session,
    [silent for] the time without a frame from the board. Noise is reported but not shown.
    """
    face = face_text if faces else None
    try:
        with path.open("rb") as file:
            header, chunks = read_recording(file)
            click.echo(msgspec.json.encode(header) if as_json else _format_title(header))
            for one in frame_text.read_frames(
                each for each in chunks if board in (None, each.board)
            ):
                row = frame_text.to_json(one, face) if as_json else frame_text.to_line(one, face)
                click.echo(msgspec.json.encode(row) if as_json else row)
    except OSError as error:
        if error.filename is None:  # an error of the output
            raise
        raise CliError(f"{path}: {error.strerror}: name a recording") from error
    except RecordingError as error:
        raise CliError(f"{path}: {error}") from error


def _format_title(header: RecordingHeader) -> str:
    backend = "simulated boards" if header.simulated else "boards"
    boards = ", ".join(f"{name} {one.id} at {one.port}" for name, one in header.boards.items())
    return (
        f"table {header.table}, {backend}: {boards}; since {header.started}, "
        f"protocol {header.protocol}, dealtable {header.version}"
    )
