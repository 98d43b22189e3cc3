"""The host of a recording: the sessions that it opened, and the commands that its owner gave."""

from collections.abc import Callable, Coroutine
from typing import Any

from msgspec import Struct

from drivers.dealer import DealerBoard
from drivers.events import BoardKind
from drivers.firmware import wire
from drivers.identity import Welcome
from drivers.link import frames
from drivers.link.frames import BoardCommand
from drivers.link.overheard import BlockSplitter
from drivers.link.recording import Chunk
from drivers.link.replay_port import split_host_frames


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
                if frame.kind == wire.HELLO:
                    if not sessions or sessions[-1].session != frame.session:
                        sessions.append(RecordedSession(frame.session))
                elif sessions and sessions[-1].seen is None:
                    sessions[-1].seen, sessions[-1].kept = frame.seen, frame.kept
    return sessions


def _configure(owner: Any, command: frames.ConfigureCommand) -> Coroutine[Any, Any, object]:
    """Change a setting by its name; one that no board has asks whether anything moves."""
    kind = frames.BOARD_KIND_IDS[owner.link.board]
    if command.setting in wire.SETTINGS[kind]:
        name = wire.SETTINGS[kind][command.setting][0]
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
