"""A reader of bought parts: a serial barcode engine that looks at index-coded cards.

What is in doubt is unreadable: the tray gives the card another look.
"""

from collections.abc import Callable, Mapping, Sequence

from drivers.adapters.barcode_engine import BarcodeEngine, BarcodeScan, EnginePort
from drivers.firmware import protocol
from drivers.firmware.reader import NO_READ, ReaderCore

CodedCard = tuple[int, int]
"""What a code stands for: a face (0…53) and a back (wire.BACK_A or BACK_B)."""

ANSWER_MARGIN_MS = 20
"""What the core waits beyond the engine's own time, so that the engine's answer comes first."""

BARCODE_LIMITATIONS = (
    "that two boards count each card by themselves: the reader has no trigger wire, the machine "
    "asks it for each card",
    "to tell a card that lies face up: it shows no code and is unreadable",
    "that a look belongs to the card in the window where the engine answers later than late_ms",
    "to know a card's back otherwise than by its code",
)
"""What a reader of this kind cannot give, one line each (deploy/THREATS.md)."""


class BarcodeHal:
    """The reader board's HAL over a barcode engine. `codes` says what a code stands for.

    `say` hears when the engine went or is back. Nothing of it shows a face: neither what it says
    of itself nor an error.
    """

    kind = protocol.HAL_ADAPTER
    limitations: Sequence[str] = BARCODE_LIMITATIONS

    def __init__(
        self,
        uid: bytes,
        engine: BarcodeEngine,
        codes: Mapping[bytes, CodedCard],
        port: EnginePort,
        log: Callable[[str], None] = lambda line: None,
    ) -> None:
        self.uid = uid
        self._log = log
        self._codes, self._confidence = codes, engine.confidence
        self._scan = BarcodeScan(engine, port)
        self._is_engine_there = True  # until it is seen not to be
        self._now = 0
        self._shot = 0
        self._edges: list[tuple[int, str, int]] = []
        self._answers: list[tuple[int, ...]] = []

    def __repr__(self) -> str:
        """Say whose it is, and nothing of cards."""
        return f"BarcodeHal({self.uid.hex()})"

    def read(self, name: str) -> int:
        """Return the level of an input; a reader without a wire has none."""
        return 0

    def set(self, name: str, value: int) -> None:
        """Look for shot number `value`."""
        if name == "shoot":
            self._shot = value
            self._scan.begin(self._now)
            self._note_engine()

    def edges(self) -> list[tuple[int, str, int]]:
        """Return (t_ms, "engine", value) of each time that it went or came back."""
        edges, self._edges = self._edges, []
        return edges

    def answers(self) -> list[tuple[int, ...]]:
        """Return what the engine answered since last asked, each with its shot."""
        answers, self._answers = self._answers, []
        return answers

    def update(self, now_ms: int) -> None:
        """Collect what the engine said, and do what is due."""
        self._now = now_ms
        for line in self._scan.step(now_ms):
            self._answers.append((*self._decode_line(line), self._shot))
        self._note_engine()

    def sources(self) -> Sequence[int]:
        """Return the engine's descriptor, where it is there."""
        source = self._scan.source
        return () if source is None else (source,)

    def due_ms(self, now_ms: int) -> int:
        """Return when it wants to be stepped at the latest."""
        return now_ms if self._edges or self._answers else self._scan.due_ms()

    def stop(self) -> None:
        """End a look that goes on, and let go of the engine."""
        self._scan.close()

    def _decode_line(self, line: bytes | None) -> tuple[int, int, int, int]:
        coded = None if line is None else self._codes.get(line)
        return NO_READ if coded is None else (*coded, 0, self._confidence)

    def _note_engine(self) -> None:
        away = self._scan.away_reason
        there = away is None
        if there != self._is_engine_there:
            self._is_engine_there = there
            self._log("the engine is back" if there else f"the engine is away: {away}")
            self._edges.append((self._now, "engine", int(there)))


def make_barcode_reader(
    hal: BarcodeHal, engine: BarcodeEngine, boot: int, fw_hash: bytes, stored: bytes
) -> ReaderCore:
    """Return the reader board's own core over a barcode engine: asked, and as patient as it."""
    reader = ReaderCore(hal, boot, protocol.RESET_SOFT, fw_hash, stored)
    of_engine = {"asked": 1, "read_limit_ms": engine.limit_ms + ANSWER_MARGIN_MS}
    for setting, (name, *_) in protocol.READER_SETTINGS.items():
        if name in of_engine:
            reader.settings.change(setting, of_engine[name])
    return reader
