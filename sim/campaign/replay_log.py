"""The log of a replay (one life that is run again): cards, people's actions, serial frames."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence

from controller.cards import face_text
from controller.seats import POCKETS
from drivers.firmware.protocol import BACK_A, BACK_B, FACES
from drivers.link.frame_text import read_frames, to_line
from drivers.link.recording import Chunk, MemoryRecording, RecordingPort
from drivers.link.serial_port import LinkPort
from sim.board_faults import BoardName
from sim.campaign.campaign_lives import CardHistory
from sim.campaign.campaign_report import align_columns
from sim.mechanics.window import FULL_CONFIDENCE

_BACKS = {BACK_A: "A", BACK_B: "B"}
_HEADINGS = (
    "index", "s", "card", "back", "of", "lay", "read as", "sent to", "gate at", "landed s",
    "lies in",
)  # fmt: skip


class ReplayLog:
    """A text log of everything that happened in a replay of one simulated table (a life).

    A campaign writes no such log. `deal` limits the log to one deal; None: all deals.
    """

    def __init__(self, deal: int | None = None) -> None:
        self._deal = deal
        self._attempt: tuple[int | None, int | None] = (None, None)
        self._lines: list[str] = []
        self._recording: MemoryRecording | None = None
        self._chunks_read = 0

    def wrap_port(self, board: BoardName, port: LinkPort) -> LinkPort:
        """Return a wrapper of `port` that records all bytes on the serial line of `board`."""
        if self._recording is None:
            self._recording = MemoryRecording(asyncio.get_running_loop().time)
        return RecordingPort(port, board, self._recording.add_chunk)

    def add_line(self, at_s: float, deal: int | None, attempt: int | None, words: str) -> None:
        """Add the line `words` about a fault, an action of people, a public event or a verdict.

        A line without a deal is logged with the last deal before it.
        """
        self._begin_attempt(deal, attempt)
        self._add(f"{at_s:11.3f}  {words}")

    def add_cards(
        self, at_s: float, deal: int, attempt: int, histories: tuple[CardHistory, ...]
    ) -> None:
        """Add a table with one line for each passage of a card through the window in an attempt."""
        self._begin_attempt(deal, attempt)
        self._add(f"{at_s:11.3f}  what each card did:")
        asked = [chunk for chunk in self._chunks()[self._chunks_read :] if chunk.way == "host"]
        self._chunks_read = len(self._chunks())
        routes: dict[int, str] = {}  # The host may repeat a route. The first one counts.
        for one in read_frames(asked):
            fields = dict(one.fields)
            if one.name == "ROUTE" and fields["attempt"] == attempt:
                pocket = str(fields["pocket"])
                routes.setdefault(int(fields["index"]), "tray" if pocket == "TRAY" else pocket)
        # Fed cards come in their order, then the cards that were never fed.
        tales = sorted(histories, key=lambda c: (c.index is None, c.index or 0, c.window_s or 0.0))
        told = [_history_cells(tale, routes) for tale in tales]
        for each in align_columns([_HEADINGS, *told]):
            self._add(f"  {each}".rstrip())

    def text(self) -> str:
        """Return the log as text for people."""
        return "".join(f"{each}\n" for each in self._lines)

    def frame_lines(self) -> Iterator[str]:
        """Yield a line for every frame that was on one of the serial lines, with its time."""
        for one in read_frames(self._chunks()):
            yield to_line(one, face_text)

    def _chunks(self) -> Sequence[Chunk]:
        return () if self._recording is None else self._recording.chunks

    def _begin_attempt(self, deal: int | None, attempt: int | None) -> None:
        now = (deal, attempt)
        if deal is not None and now != self._attempt:
            self._attempt = now
            self._add(f"deal {deal}, attempt {attempt or '–'}")

    def _add(self, words: str) -> None:
        if self._deal in (None, self._attempt[0]):
            self._lines.append(words)


def _history_cells(tale: CardHistory, routes: Mapping[int, str]) -> tuple[str, ...]:
    lies = _outlet_text(tale.landed) if isinstance(tale.landed, int) else tale.landed
    struck = f"  ← {', '.join(tale.faults)}" if tale.faults else ""
    return (
        "–" if tale.index is None else str(tale.index),
        _seconds_text(tale.window_s),
        f"{face_text(tale.face)} #{tale.card}",
        _BACKS.get(tale.back, "foreign"),
        tale.source,
        "face up" if tale.face_up else "face down",
        " ".join(map(_answer_text, tale.readings)) or "–",
        "–" if tale.index is None else routes.get(tale.index, "–"),
        _outlet_text(tale.gate),
        _seconds_text(tale.landed_s),
        f"{lies}{struck}",
    )


def _answer_text(answer: tuple[int, int, int, int]) -> str:
    """Return the engine's answer as text: the face, then confidence, back and side if unusual."""
    face, back, face_up, confidence = answer
    seen = face_text(face) if face < FACES else "?"
    doubt = "" if confidence == FULL_CONFIDENCE else f"({confidence})"
    return f"{seen}{doubt}{'' if back in _BACKS else ' foreign back'}{' face up' * face_up}"


def _outlet_text(outlet: int | None) -> str:
    return "–" if outlet is None else POCKETS[outlet]


def _seconds_text(at_s: float | None) -> str:
    return "–" if at_s is None else f"{at_s:.3f}"
